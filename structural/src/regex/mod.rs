//! Regular expressions of Go: [`check`] gives Go's error for an invalid string, [`compile`] builds an expression that
//! matches, and [`Texts`] finds strings that some expressions match and others do not.
//!
//! The API server compiles every `pattern` with Go's `regexp` package. Its language is that of RE2: no back-references,
//! no look-around, and repetition up to a limit. The check builds no program. It follows
//! Go 1.26 (`regexp/syntax` with Perl flags), including where this release differs from others:
//!
//! - group names may repeat;
//! - names of scripts with an underscore (`\p{Old_Italic}`) and `SignWriting` are rejected.
//!
//! Limits on the size of the whole expression are computed from the source of the expression. Go computes them after it
//! has merged common prefixes of alternatives. So Go accepts a few expressions that this check rejects as too large.
//! They have several kilobytes and are nested a thousand deep or repeated thousands of times.

mod class;
mod compile;
mod escape;
mod limits;
mod names;
mod parse;
mod room;
mod size;
mod texts;

pub use compile::{COMPILED_SIZE, CompileError, compile, translated};
pub use room::{MAX_KEPT, Room};
pub use size::compiled_size;
use std::fmt;
pub use texts::{STATES, Texts, Undecided};

/// What is wrong with an expression, as Go's `syntax.ErrorCode` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegexErrorKind {
    /// `[z-a]`, `[[:word:]` without such a class, `\p{Unknown}`
    CharRange,
    /// `\y`
    Escape,
    /// `(?P<a-b>c)`
    NamedCapture,
    /// `(?=a)`
    PerlOperator,
    /// `a**`
    NestedRepeat,
    /// `a{1001}`
    RepeatSize,
    /// `[a`
    MissingBracket,
    /// `(a`
    MissingParen,
    /// `*a`
    MissingArgument,
    /// `a\`
    TrailingBackslash,
    /// `a)`
    UnexpectedParen,
    /// More than 1000 nested operators.
    NestingDepth,
    /// Too large after repetitions are expanded.
    Large,
}

impl RegexErrorKind {
    /// Returns Go's message.
    pub fn text(self) -> &'static str {
        match self {
            RegexErrorKind::CharRange => "invalid character class range",
            RegexErrorKind::Escape => "invalid escape sequence",
            RegexErrorKind::NamedCapture => "invalid named capture",
            RegexErrorKind::PerlOperator => "invalid or unsupported Perl syntax",
            RegexErrorKind::NestedRepeat => "invalid nested repetition operator",
            RegexErrorKind::RepeatSize => "invalid repeat count",
            RegexErrorKind::MissingBracket => "missing closing ]",
            RegexErrorKind::MissingParen => "missing closing )",
            RegexErrorKind::MissingArgument => "missing argument to repetition operator",
            RegexErrorKind::TrailingBackslash => "trailing backslash at end of expression",
            RegexErrorKind::UnexpectedParen => "unexpected )",
            RegexErrorKind::NestingDepth => "expression nests too deeply",
            RegexErrorKind::Large => "expression too large",
        }
    }
}

/// Why Go rejects a regular expression. `Display` prints Go's error message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexError {
    /// What is wrong.
    pub kind: RegexErrorKind,
    /// The part of the expression that Go quotes.
    pub expression: String,
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.kind.text(), self.expression)
    }
}

impl std::error::Error for RegexError {}

/// Checks that Go's `regexp.Compile` would compile a pattern. The time is linear in the length of the pattern, and the
/// check does not recurse.
///
/// # Errors
/// The first mistake, with Go's message: a bad class, escape, group name or repetition, a missing or unexpected
/// bracket,
/// or an expression that is too deep or too large.
///
/// # Example
/// ```
/// use kubeshape_structural::regex;
/// assert!(regex::check(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$").is_ok());
/// let error = regex::check("(?=a)").unwrap_err();
/// assert_eq!(error.to_string(), "error parsing regexp: invalid or unsupported Perl syntax: `(?=`");
/// ```
pub fn check(pattern: &str) -> Result<(), RegexError> {
    parse::check(pattern).map_err(|(kind, expression)| RegexError { kind, expression: expression.to_owned() })
}

/// A mistake and the part of the expression that Go quotes.
type Mistake<'p> = (RegexErrorKind, &'p str);
