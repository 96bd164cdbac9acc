//! Field selectors (upstream: `fields.ParseSelector`).

use kubeshape_yaml::go::escape::GoQuoted;

/// A selector such as `metadata.name=a,spec.color!=red`.
///
/// # Example
/// ```
/// use kubeshape_objects::select::FieldSelector;
///
/// let selector = FieldSelector::parse(r"metadata.name=a,spec.color!=a\,b")?;
/// assert_eq!(selector.fields().collect::<Vec<_>>(), ["metadata.name", "spec.color"]);
/// assert!(selector.matches(|field| if field == "metadata.name" { "a".to_owned() } else { "c".to_owned() }));
/// assert!(!selector.matches(|field| if field == "metadata.name" { "a".to_owned() } else { "a,b".to_owned() }));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    field: String,
    value: String,
    equal: bool,
}

/// A field that cannot be used to select objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("field label not supported: {0}")]
pub struct UnsupportedField(pub String);

impl FieldSelector {
    /// Reads a selector. An empty one selects everything.
    ///
    /// # Errors
    /// A term has no operator, or an escape is invalid. The message is the server's.
    pub fn parse(text: &str) -> Result<FieldSelector, String> {
        let mut terms = Vec::new();
        for term in split(text) {
            if term.is_empty() {
                continue;
            }
            let invalid = || format!("invalid selector: {}; can't understand {}", GoQuoted(text), GoQuoted(term));
            let (field, value, equal) = operator(term).ok_or_else(invalid)?;
            terms.push(Term { field: field.to_owned(), value: unescaped(value)?, equal });
        }
        Ok(FieldSelector { terms })
    }

    /// Returns whether everything is selected.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the fields in the selector.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| term.field.as_str())
    }

    /// Returns the value that the selector requires for a field, if any.
    pub fn required(&self, field: &str) -> Option<&str> {
        let mut terms = self.terms.iter();
        terms.find(|term| term.equal && term.field == field).map(|term| term.value.as_str())
    }

    /// Returns whether an object with these fields is selected.
    pub fn matches(&self, field: impl Fn(&str) -> String) -> bool {
        self.terms.iter().all(|term| (field(&term.field) == term.value) == term.equal)
    }
}

/// Splits at commas that are not escaped.
fn split(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

fn operator(term: &str) -> Option<(&str, &str, bool)> {
    for (at, _) in term.char_indices() {
        let rest = &term[at..];
        for (operator, equal) in [("!=", false), ("==", true), ("=", true)] {
            if let Some(value) = rest.strip_prefix(operator) {
                return Some((&term[..at], value, equal));
            }
        }
    }
    None
}

/// Removes the backslashes of a value (upstream: `fields.UnescapeValue`).
fn unescaped(value: &str) -> Result<String, String> {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => out.push(c),
                Some(c) => {
                    let sequence = format!("\\{c}");
                    return Err(format!("invalid field selector: invalid escape sequence: {sequence}"));
                }
                None => return Err("invalid field selector: invalid escape sequence: \\".to_owned()),
            },
            c @ (',' | '=') => {
                return Err(format!("invalid field selector: unescaped character in value: {c}"));
            }
            c => out.push(c),
        }
    }
    Ok(out)
}
