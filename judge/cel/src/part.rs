//! Finds the part of an expression that a message is about.

use std::ops::Range;

/// Returns the byte offset of a line (from 1) and a column (from 0, in characters).
fn offset(source: &str, (line, column): (i32, i32)) -> Option<usize> {
    let (line, column) = (usize::try_from(line - 1).ok()?, usize::try_from(column).ok()?);
    let start = match line {
        0 => 0,
        line => source.match_indices('\n').nth(line - 1)?.0 + 1,
    };
    let rest = &source[start..];
    let at = rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at);
    Some(start + at)
}

/// Returns the range of the name, literal or operator at a location. The location of a call is its parenthesis and that
/// of a field its dot: for these, the range is that of the name of the function or of the field.
pub(crate) fn at(source: &str, place: (i32, i32)) -> Option<Range<usize>> {
    let at = offset(source, place)?;
    let rest = &source[at..];
    let name = |text: &str| text.bytes().take_while(|byte| is_word(*byte)).count();
    let bytes = rest.as_bytes();
    Some(match bytes.first() {
        None => at..at,
        Some(b'(') => {
            let before = source[..at].trim_end();
            let length = before.bytes().rev().take_while(|byte| is_word(*byte)).count();
            if length == 0 { at..at + 1 } else { before.len() - length..before.len() }
        }
        Some(b'.') => {
            let inner = rest[1..].trim_start_matches(|c: char| c == '?' || c.is_whitespace());
            let (start, length) = (source.len() - inner.len(), name(inner));
            if length == 0 { at..at + 1 } else { start..start + length }
        }
        Some(_) => {
            let length = literal(rest).unwrap_or_else(|| match (name(rest), bytes) {
                (0, [a, b, ..])
                    if matches!([*a, *b], [b'&', b'&'] | [b'|', b'|'] | [b'=' | b'!' | b'<' | b'>', b'=']) =>
                {
                    2
                }
                (0, _) => rest.chars().next().map_or(0, char::len_utf8),
                (length, _) => length,
            });
            at..at + length
        }
    })
}

/// Returns the range of the name of a field, at a location or after it.
pub(crate) fn field(source: &str, place: (i32, i32), field: &str) -> Option<Range<usize>> {
    let from = offset(source, place)?;
    let is_name = |start: &usize| {
        let before = source[..*start].trim_end_matches(|c: char| c == '?' || c.is_whitespace());
        let behind = source.as_bytes().get(start + field.len());
        before.ends_with('.') && !behind.is_some_and(|byte| is_word(*byte))
    };
    let start = source[from..].match_indices(field).map(|(at, _)| from + at).find(is_name)?;
    Some(start..start + field.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the length of a string or bytes literal at the beginning of a string. An unterminated literal ends with its
/// line.
fn literal(text: &str) -> Option<usize> {
    let string = Literal::of(text)?;
    Some(string.end)
}

/// A string or bytes literal.
struct Literal {
    is_raw: bool,
    /// The range between the quotes.
    inner: Range<usize>,
    end: usize,
}

impl Literal {
    fn of(text: &str) -> Option<Literal> {
        let prefix = text.bytes().take_while(|byte| matches!(byte, b'r' | b'R' | b'b' | b'B')).count();
        let quote = text[prefix..].chars().next().filter(|c| prefix <= 2 && matches!(c, '\'' | '"'))?;
        let is_raw = text[..prefix].contains(['r', 'R']);
        let triple = quote.to_string().repeat(3);
        let quote = if text[prefix..].starts_with(&triple) { &triple } else { &triple[..1] };
        let start = prefix + quote.len();
        let mut rest = &text[start..];
        while let Some(c) = rest.chars().next() {
            let at = text.len() - rest.len();
            if rest.starts_with(quote) {
                return Some(Literal { is_raw, inner: start..at, end: at + quote.len() });
            }
            if c == '\n' && quote.len() == 1 {
                return Some(Literal { is_raw, inner: start..at, end: at });
            }
            rest = &rest[c.len_utf8()..];
            if c == '\\' && !is_raw {
                rest = rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
            }
        }
        Some(Literal { is_raw, inner: start..text.len(), end: text.len() })
    }
}

/// Returns the range of the first unknown escape sequence in a string literal.
pub(crate) fn unknown_escape(source: &str) -> Option<Range<usize>> {
    let mut at = 0;
    let mut is_in_name = false;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(literal) = Literal::of(rest).filter(|_| !is_in_name) {
            let inner = &rest[literal.inner.clone()];
            if let Some(escape) = unknown(inner).filter(|_| !literal.is_raw) {
                let start = at + literal.inner.start;
                return Some(start + escape.start..start + escape.end);
            }
            at += literal.end;
        } else {
            is_in_name = c.is_ascii_alphanumeric() || c == '_';
            at += c.len_utf8();
        }
    }
    None
}

/// Returns the range of the first unknown escape sequence between quotes.
fn unknown(inner: &str) -> Option<Range<usize>> {
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            continue;
        }
        let (_, escaped) = chars.next()?;
        if !matches!(
            escaped,
            'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' | '\'' | '"' | '`' | '?' | 'x' | 'X' | 'u' | 'U' | '0'..='3'
        ) {
            return Some(at..at + 1 + escaped.len_utf8());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str, column: i32) -> &str {
        at(source, (1, column)).map_or("nowhere", |range| &source[range])
    }

    #[test]
    fn a_part_is_a_name_a_literal_or_an_operator() {
        assert_eq!(found("self.a > 1", 4), "a");
        assert_eq!(found("self. ? b", 4), "b");
        assert_eq!(found("has(self.a)", 3), "has");
        assert_eq!(found("(1)", 0), "(");
        assert_eq!(found("é && b", 2), "&&");
        assert_eq!(found("a <= b", 2), "<=");
        assert_eq!(found("a - b", 2), "-");
        assert_eq!(found("'éa", 0), "'éa");
        assert_eq!(found("'\\é' + b", 0), "'\\é'");
        assert_eq!(found("'\\", 0), "'\\");
        assert_eq!(found("'é\\'' + 1", 0), "'é\\''");
        assert_eq!(found("rb'''a'b''' + 1", 0), "rb'''a'b'''");
        assert_eq!(found("12u", 0), "12u");
        assert_eq!(found("a", 1), "");
        assert_eq!(at("a\nbc", (2, 0)), Some(2..4));
        assert_eq!(at("a", (-1, -1)), None);
        assert_eq!(field("has(self.a1) || self.a", (1, 3), "a"), Some(21..22));
    }

    #[test]
    fn an_unknown_escape_is_found_in_strings_only() {
        let found = |source: &'static str| unknown_escape(source).map(|range| &source[range]);
        assert_eq!(found(r"self.matches('^a\d+')"), Some(r"\d"));
        assert_eq!(found(r"self.matches('\t\\d\x41\.')"), Some(r"\."));
        assert_eq!(found(r"self.matches(r'\d') && bar'\s' == ''"), None);
        assert_eq!(found(r"'''it's \é'''"), Some(r"\é"));
        assert_eq!(found("1 // '\\d'\n + 'a\\w'"), Some(r"\w"));
        assert_eq!(found(r"\d"), None);
    }
}
