//! Escapes names of properties for expressions.

use crate::parse::RESERVED;
use std::borrow::Cow;

/// Other words of the grammar that cannot be names.
const LITERALS: [&str; 4] = ["true", "false", "null", "in"];

/// Returns whether a name is a reserved word.
pub fn is_reserved(name: &str) -> bool {
    LITERALS.contains(&name) || RESERVED.contains(&name)
}

/// Returns whether an expression can contain the name without escapes: an identifier that is not
/// [reserved](is_reserved).
pub fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !is_reserved(name)
}

/// Returns the name by which a rule reaches a property; `None` if it cannot.
///
/// # Example
/// ```
/// use kubeshape_cel::escape::{escape, unescape};
/// assert_eq!(escape("my-field").as_deref(), Some("my__dash__field"));
/// assert_eq!(unescape("__namespace__").as_deref(), Some("namespace"));
/// assert!(matches!(escape("size"), Some(std::borrow::Cow::Borrowed("size"))));
/// assert_eq!(escape("1st"), None);
/// ```
pub fn escape(name: &str) -> Option<Cow<'_, str>> {
    let (mut is_plain, mut last) = (true, b'.');
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {}
            b'_' => is_plain &= last != b'_',
            b'.' | b'-' | b'/' => is_plain = false,
            _ => return None,
        }
        last = byte;
    }
    if name.bytes().next().is_none_or(|first| first.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(Cow::Owned(format!("__{name}__")));
    }
    if is_plain {
        return Some(Cow::Borrowed(name));
    }
    let mut out = String::with_capacity(name.len() + 16);
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("__") {
            out.push_str("__underscores__");
            rest = after;
            continue;
        }
        match c {
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            c => out.push(c),
        }
        rest = &rest[1..];
    }
    Some(Cow::Owned(out))
}

/// Returns the property for a name in a rule; `None` if no property has this name.
pub fn unescape(name: &str) -> Option<Cow<'_, str>> {
    let mut out = String::new();
    let mut rest = name;
    while let Some((before, word, after)) = sequence(rest) {
        let text = match word {
            "underscores" => "__",
            "dot" => ".",
            "dash" => "-",
            "slash" => "/",
            word if is_reserved(word) && word.len() + 4 == name.len() => return Some(Cow::Borrowed(word)),
            _ => return None,
        };
        out.push_str(before);
        out.push_str(text);
        rest = after;
    }
    if rest.len() == name.len() {
        return Some(Cow::Borrowed(name));
    }
    out.push_str(rest);
    Some(Cow::Owned(out))
}

/// Returns whether a name in a rule means a property, or one whose name begins with it and continues with a character
/// that must be escaped: `a__dash__b` for `a`, because `self.a-b` is parsed as a difference.
pub fn is_written_for(name: &str, property: &str) -> bool {
    unescape(name).is_some_and(|own| {
        own.strip_prefix(property).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '/']))
    })
}

/// Splits at the first escape sequence: a word without underscores between two double underscores.
fn sequence(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + text[from..].find("__")?;
        let word = &text[start + 2..];
        match word.find('_') {
            Some(length) if length > 0 && word[length..].starts_with("__") => {
                return Some((&text[..start], &word[..length], &word[length + 2..]));
            }
            None => return None,
            Some(_) => from = start + 1,
        }
    }
}
