//! Expressions that match as Go's do, in linear time.
//!
//! The crate `regex` does the matching. Its language is nearly Go's; [`translate`] rewrites the differences: in Go,
//! classes are ASCII classes, `[` and `&` have no meaning inside a class, escapes may be octal, and a brace that begins
//! no repetition is a literal.

use super::{RegexError, check};
use regex::{Regex, RegexBuilder};
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// The maximum size of a compiled expression in bytes.
pub const COMPILED_SIZE: usize = 10 << 20;
/// Go's limit of nesting, with a reserve for levels that the translation adds.
pub(super) const NESTING: u32 = 1100;

/// Why an expression was not compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// Go rejects it, too.
    Invalid(RegexError),
    /// Go accepts it, but it would take more than [`COMPILED_SIZE`] bytes here.
    TooLarge,
    /// All expressions of a definition together would take too much memory.
    TooMany,
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CompileError::Invalid(error) => error.fmt(f),
            CompileError::TooLarge => f.write_str("the compiled expression takes more than 10 MiB"),
            CompileError::TooMany => f.write_str("the patterns of the definition take too much memory together"),
        }
    }
}

impl std::error::Error for CompileError {}

/// Compiles a pattern of Go. The expression finds the same strings as Go's `regexp.MatchString`; its groups have no
/// names.
///
/// # Errors
/// Go rejects the pattern, or it is too large.
///
/// # Example: classes are those of ASCII
/// ```
/// use kubeshape_structural::regex;
/// let digits = regex::compile(r"^\d+$")?;
/// assert!(digits.is_match("12"));
/// assert!(!digits.is_match("١٢"));
/// # Ok::<(), regex::CompileError>(())
/// ```
pub fn compile(pattern: &str) -> Result<Regex, CompileError> {
    check(pattern).map_err(CompileError::Invalid)?;
    RegexBuilder::new(&translate(pattern))
        .size_limit(COMPILED_SIZE)
        .nest_limit(NESTING)
        .build()
        .map_err(|_| CompileError::TooLarge)
}

/// Returns the expression of the crate `regex` that [`compile`] compiles for a pattern of Go.
///
/// # Errors
/// Go rejects the pattern.
pub fn translated(pattern: &str) -> Result<String, RegexError> {
    check(pattern)?;
    Ok(translate(pattern))
}

const DIGIT: &str = "0-9";
const SPACE: &str = r"\t\n\x0c\r\x20";
const WORD: &str = "0-9A-Za-z_";

/// Returns the expression in the language of the crate `regex`. Go must accept the pattern.
pub(super) fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => escape(&mut rest, &mut out, false),
            '[' => class(&mut rest, &mut out),
            '(' => group(&mut rest, &mut out),
            '{' if repeats(rest.clone()) => out.push('{'),
            '{' | ']' => literal(c, &mut out),
            '}' if !closes_repetition(&out) => literal(c, &mut out),
            c => out.push(c),
        }
    }
    out
}

fn literal(c: char, out: &mut String) {
    if c.is_ascii_alphanumeric() || !c.is_ascii() {
        out.push(c);
    } else {
        let _ = write!(out, "\\x{{{:x}}}", u32::from(c));
    }
}

/// Returns whether `n}`, `n,}` or `n,m}` follows a brace.
fn repeats(rest: Peekable<Chars<'_>>) -> bool {
    let text: String = rest.take_while(|c| *c == ',' || c.is_ascii_digit() || *c == '}').collect();
    let Some((counts, _)) = text.split_once('}') else { return false };
    let (least, most) = counts.split_once(',').unwrap_or((counts, ""));
    !least.is_empty() && !most.contains(',')
}

/// Returns whether the output ends with an open repetition.
fn closes_repetition(out: &str) -> bool {
    let counts = out.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',');
    counts.len() < out.len() && counts.ends_with('{') && !counts.ends_with("\\{")
}

/// Removes the names of groups. Flags and plain groups stay.
fn group(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('(');
    let mut ahead = rest.clone();
    if ahead.next() != Some('?') {
        return;
    }
    let named = match ahead.next() {
        Some('<') => true,
        Some('P') => ahead.next() == Some('<'),
        _ => false,
    };
    if named && ahead.any(|c| c == '>') {
        *rest = ahead;
    }
}

/// Translates what follows a backslash.
fn escape(rest: &mut Peekable<Chars<'_>>, out: &mut String, in_class: bool) {
    let Some(c) = rest.next() else { return };
    let mut set = |negated: bool, members: &str| {
        let _ = match (in_class, negated) {
            (true, false) => write!(out, "{members}"),
            (_, true) => write!(out, "[^{members}]"),
            (false, false) => write!(out, "[{members}]"),
        };
    };
    match c {
        'd' | 'D' => set(c == 'D', DIGIT),
        's' | 'S' => set(c == 'S', SPACE),
        'w' | 'W' => set(c == 'W', WORD),
        'b' if !in_class => out.push_str("(?-u:\\b)"),
        'B' if !in_class => out.push_str("(?-u:\\B)"),
        'A' | 'z' if !in_class => {
            out.push('\\');
            out.push(c);
        }
        'p' | 'P' => property(c == 'P', rest, out),
        'Q' if !in_class => {
            while let Some(c) = rest.next() {
                if c == '\\' && rest.peek() == Some(&'E') {
                    rest.next();
                    return;
                }
                literal(c, out);
            }
        }
        // Go ignores the end of a quotation that was not begun.
        'E' if !in_class => {}
        c => literal(single(c, rest), out),
    }
}

/// Translates `\pL`, `\p{Greek}`, `\p{^Greek}` after the letter.
fn property(negated: bool, rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    let mut name = String::new();
    match rest.next() {
        Some('{') => name.extend(rest.by_ref().take_while(|c| *c != '}')),
        Some(c) => name.push(c),
        None => {}
    }
    let (inverted, name) = name.strip_prefix('^').map_or((false, name.as_str()), |name| (true, name));
    let letter = if negated == inverted { 'p' } else { 'P' };
    let _ = match name {
        // The crate has no short form.
        "Any" => write!(out, "\\{letter}{{any}}"),
        name => write!(out, "\\{letter}{{{name}}}"),
    };
}

/// Returns the character of an escape, after its first character.
fn single(c: char, rest: &mut Peekable<Chars<'_>>) -> char {
    let code = match c {
        'a' => 7,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        'x' => {
            let digits: String = match rest.next() {
                Some('{') => rest.by_ref().take_while(|c| *c != '}').collect(),
                Some(first) => [Some(first), rest.next()].into_iter().flatten().collect(),
                None => String::new(),
            };
            u32::from_str_radix(&digits, 16).unwrap_or(u32::MAX)
        }
        '0'..='7' => {
            let mut code = u32::from(c) - 48;
            for _ in 0..2 {
                let Some(digit) = rest.next_if(|c| matches!(c, '0'..='7')) else { break };
                code = code * 8 + (u32::from(digit) - 48);
            }
            code
        }
        c => return c,
    };
    // Go accepts the codes of half surrogate pairs, which are not in any string.
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Translates a class after its opening bracket.
fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut first = true;
    while let Some(c) = rest.next() {
        if c == ']' && !first {
            break;
        }
        first = false;
        if c == '[' && rest.peek() == Some(&':') && named_class(rest, out) {
            continue;
        }
        if c == '\\' && rest.peek().is_some_and(|c| matches!(c, 'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'p' | 'P')) {
            escape(rest, out, true);
            continue;
        }
        literal(member(c, rest), out);
        let mut ahead = rest.clone();
        if ahead.next() == Some('-') && ahead.peek().is_some_and(|c| *c != ']') {
            *rest = ahead;
            out.push('-');
            if let Some(c) = rest.next() {
                literal(member(c, rest), out);
            }
        }
    }
    out.push(']');
}

/// Translates `[:alpha:]` after the first bracket. If it is not a class, reads nothing and returns `false`.
fn named_class(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> bool {
    let mut ahead = rest.clone();
    ahead.next();
    let name: String = ahead.by_ref().take_while(|c| *c != ':').collect();
    let letters = name.strip_prefix('^').unwrap_or(&name);
    if ahead.next() != Some(']') || letters.is_empty() || !letters.bytes().all(|b| b.is_ascii_lowercase()) {
        return false;
    }
    let _ = write!(out, "[:{name}:]");
    *rest = ahead;
    true
}

/// Translates a member of a class after its first character.
fn member(c: char, rest: &mut Peekable<Chars<'_>>) -> char {
    match c {
        '\\' => rest.next().map_or('\\', |c| single(c, rest)),
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::{CompileError, compile};

    #[test]
    fn expressions_match_as_in_go() {
        for (pattern, yes, no) in [
            (r"^\d$", "1", "١"),
            (r"^\w$", "_", "é"),
            (r"^\s$", "\t", "\u{b}"),
            (r"\bé", "aé", "é"),
            (r"a\Bb", "ab", "a b"),
            (r"^[[]$", "[", "]"),
            (r"^[]a]+$", "]a", "b"),
            (r"^[a&&b]+$", "a&b", "c"),
            (r"^[a~~b]+$", "a~b", "c"),
            (r"^[\w-]+$", "a-b", "."),
            (r"^[-a]$", "-", "b"),
            (r"^[a-]$", "-", "b"),
            (r"^[+--]+$", "+,-", "."),
            (r"^[^[:alpha:]]$", "1", "a"),
            (r"^[[:^digit:]]$", "a", "1"),
            (r"^a{,2}$", "a{,2}", "aa"),
            (r"^a{2}}$", "aa}", "aa"),
            (r"^a{2,}]$", "aaa]", "aaa"),
            (r"^\x{e9}\101\n$", "éA\n", "éA"),
            (r"^\Qa.b\E+$", "a.bb", "acb"),
            (r"^(?P<n>a)(?<n1>b)$", "ab", "a"),
            (r"^(?P<n>a)(?P<m>b)$", "ab", "a"),
            (r"^\p{^Greek}\PL$", "a1", "α1"),
            (r"^(?i)k$", "\u{212a}", "x"),
            (r"^\<\>\-\_\@$", "<>-_@", "<>"),
            (r"(?m)^b$", "a\nb", "ab"),
            (r"^.$", "é", "\n"),
            (r"^[\D]$", "a", "1"),
            (r"^[^\D]$", "1", "a"),
            ("^a$", "a", "a\n"),
            ("(?s)^.$", "\n", ""),
        ] {
            let regex = compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert!(regex.is_match(yes), "{pattern} {yes:?} {regex}");
            assert!(!regex.is_match(no), "{pattern} {no:?} {regex}");
        }
    }

    #[test]
    fn invalid_patterns_give_the_error_of_go() {
        let error = compile("(?=a)").expect_err("Perl's syntax");
        assert_eq!(error.to_string(), "error parsing regexp: invalid or unsupported Perl syntax: `(?=`");
    }

    #[test]
    fn sizes_are_bounded() {
        assert_eq!(compile(r"(\pL{30}){33}(\pL{30}){33}(\pN\pL\pS){333}").err(), Some(CompileError::TooLarge));
    }
}
