//! Which texts are regular expressions for Go, and what Go says of those that are not.
//!
//! The API server compiles every `pattern` with Go's `regexp` package, whose language is that of RE2:
//! no back-references, no look-around, bounded repetition. This module checks the language only and
//! builds no program. It follows Go 1.26 (`regexp/syntax` with Perl flags), including what differs from
//! other releases:
//!
//! - group names may repeat;
//! - names of scripts with an underscore (`\p{Old_Italic}`) and `SignWriting` are refused.
//!
//! Bounds on the size of the whole expression are computed from the text as written. Go computes them
//! after merging what alternatives have in common, so that it takes a few expressions of several
//! kilobytes, nested a thousand deep or repeated thousands of times, that this check holds for too large.

mod class;
mod escape;
mod limits;
mod names;
mod parse;

use std::fmt;

/// What is wrong with an expression (upstream: `syntax.ErrorCode`).
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
    /// Too large once repetitions are written out.
    Large,
}

impl RegexErrorKind {
    /// Go's words for it.
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

/// Why a text is no regular expression for Go. Shown, it reads as Go's error does.
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

/// Checks that Go would compile a pattern (upstream: `regexp.Compile`). Takes time in proportion to the
/// pattern's length and recurses nowhere.
///
/// # Errors
/// The first mistake, in Go's words.
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
