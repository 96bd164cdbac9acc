//! Rules in plain English.
//!
//! A rule becomes a [`Formula`]: claims about terms, with negations moved to the claims. The formula is simplified, and
//! then said. What has no sure words has none: the rest of a rule is not said without it.

mod claim;
mod formula;
mod read;
mod say;

use crate::parse::parse;
use crate::release::Language;
use kubeshape_schema::Release;

/// The maximum length of a rule that is said in words, in bytes. The words of longer rules are no easier to read.
const MAX_RULE: usize = 2_000;

/// The maximum length of the words, in bytes.
const MAX_WORDS: usize = 1_000;

/// The maximum nesting of claims in a formula.
const MAX_NESTING: usize = 12;

/// Returns what a rule of `x-kubernetes-validations` demands, in plain English with names and values as Markdown code;
/// `None` if it does not parse, or if it cannot be said with certainty.
///
/// `self` is "the value", and its fields have their names. The words have at most 1,000 bytes, and no line break.
///
/// # Example
/// ```
/// use kubeshape_cel::words;
/// let said = |rule| words(rule).unwrap_or_default();
/// assert_eq!(said("self == oldSelf"), "The value cannot be changed.");
/// assert_eq!(said("self.min <= self.max"), "`min` must be at most `max`.");
/// assert_eq!(said("has(self.name) != has(self.selector)"), "Exactly one of `name` and `selector` must be set.");
/// assert_eq!(
///     said("self.type != 'Exact' || self.value.startsWith('/')"),
///     r#"If `type` is `"Exact"`, `value` must start with `"/"`."#,
/// );
/// assert_eq!(words("self.name.format([1]) == 'a'"), None);
/// ```
pub fn words(rule: &str) -> Option<String> {
    if rule.len() > MAX_RULE {
        return None;
    }
    let parsed = parse(rule, &Language::from(Release::NEWEST)).ok()?;
    let formula = read::formula(&parsed.expr)?.simplified();
    let said = say::sentences(&formula)?;
    (said.len() <= MAX_WORDS).then_some(said)
}
