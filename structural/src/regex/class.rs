//! Character classes: `[…]`, `[:alpha:]`, `\d`, `\p{Greek}`.

use super::escape::escape;
use super::names;
use super::{Mistake, RegexErrorKind};

/// Reads the class at the start of `text`, which starts with `[`. Returns the rest.
pub(super) fn bracket(text: &str) -> Result<&str, Mistake<'_>> {
    let mut at = &text[1..];
    at = at.strip_prefix('^').unwrap_or(at);
    let mut first = true;
    while first || !at.starts_with(']') {
        // Directly after the opening, ] is a literal.
        first = false;
        if let Some(rest) = named(at)? {
            at = rest;
        } else if let Some(rest) = unicode(at)? {
            at = rest;
        } else if let Some(rest) = perl(at) {
            at = rest;
        } else {
            let (low, rest) = character(at, text)?;
            let range = at;
            at = rest;
            // Before the closing ], - is a literal.
            if at.len() >= 2 && at.starts_with('-') && !at.starts_with("-]") {
                let (high, rest) = character(&at[1..], text)?;
                at = rest;
                if high < low {
                    return Err((RegexErrorKind::CharRange, &range[..range.len() - at.len()]));
                }
            }
        }
    }
    Ok(&at[1..])
}

fn character<'p>(text: &'p str, class: &'p str) -> Result<(u32, &'p str), Mistake<'p>> {
    let mut chars = text.chars();
    match chars.next() {
        None => Err((RegexErrorKind::MissingBracket, class)),
        Some('\\') => escape(text),
        Some(c) => Ok((u32::from(c), chars.as_str())),
    }
}

/// Reads `[:alpha:]`, if `text` starts with something of that form.
fn named(text: &str) -> Result<Option<&str>, Mistake<'_>> {
    let Some(inner) = text.strip_prefix("[:") else { return Ok(None) };
    let Some(end) = inner.find(":]") else { return Ok(None) };
    let name = inner[..end].strip_prefix('^').unwrap_or(&inner[..end]);
    if names::is_posix(name) { Ok(Some(&inner[end + 2..])) } else { Err((RegexErrorKind::CharRange, &text[..end + 4])) }
}

/// Reads `\d` and the like, if `text` starts with one.
pub(super) fn perl(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('\\')?;
    rest.strip_prefix(|c| matches!(c, 'd' | 'D' | 's' | 'S' | 'w' | 'W'))
}

/// Reads `\pL` or `\p{Greek}`, if `text` starts with `\p` or `\P`.
pub(super) fn unicode(text: &str) -> Result<Option<&str>, Mistake<'_>> {
    let Some(rest) = text.strip_prefix("\\p").or_else(|| text.strip_prefix("\\P")) else { return Ok(None) };
    let (name, written) = if let Some(inner) = rest.strip_prefix('{') {
        match inner.find('}') {
            None => return Err((RegexErrorKind::CharRange, text)),
            Some(end) => (&inner[..end], &text[..end + 4]),
        }
    } else {
        let length = rest.chars().next().map_or(0, char::len_utf8);
        (&rest[..length], &text[..length + 2])
    };
    if names::is_unicode(name.strip_prefix('^').unwrap_or(name)) {
        Ok(Some(&text[written.len()..]))
    } else {
        Err((RegexErrorKind::CharRange, written))
    }
}
