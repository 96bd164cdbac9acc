//! Escapes of single characters.

use super::{Mistake, RegexErrorKind};

/// Reads the escape at the start of `text`, which starts with a backslash. Returns the code point and the rest. The
/// code point may be a surrogate.
pub(super) fn escape(text: &str) -> Result<(u32, &str), Mistake<'_>> {
    let mut chars = text.chars();
    chars.next();
    let Some(c) = chars.next() else { return Err((RegexErrorKind::TrailingBackslash, "")) };
    let rest = chars.as_str();
    let refused = |rest: &str| Err((RegexErrorKind::Escape, &text[..text.len() - rest.len()]));
    match c {
        // A single digit other than zero would be a back-reference.
        '1'..='7' if !rest.starts_with(|c| matches!(c, '0'..='7')) => refused(rest),
        '0'..='7' => {
            let more = rest.bytes().take(2).take_while(|b| matches!(b, b'0'..=b'7')).count();
            let digits = &text[1..text.len() - rest.len() + more];
            let value = digits.bytes().fold(0, |sum, b| sum * 8 + u32::from(b - b'0'));
            Ok((value, &rest[more..]))
        }
        'x' => match hex(rest) {
            Ok(read) => Ok(read),
            Err(rest) => refused(rest),
        },
        'a' => Ok((7, rest)),
        'f' => Ok((12, rest)),
        'n' => Ok((10, rest)),
        'r' => Ok((13, rest)),
        't' => Ok((9, rest)),
        'v' => Ok((11, rest)),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok((u32::from(c), rest)),
        _ => refused(rest),
    }
}

/// Reads the digits after `\x`: two, or any number of them in braces. The error is the part that was not read.
fn hex(text: &str) -> Result<(u32, &str), &str> {
    let mut chars = text.chars();
    match chars.next() {
        None => return Err(""),
        Some('{') => {}
        Some(first) => {
            let second = chars.next().and_then(|c| c.to_digit(16));
            let (Some(high), Some(low)) = (first.to_digit(16), second) else { return Err(chars.as_str()) };
            return Ok((high * 16 + low, chars.as_str()));
        }
    }
    let mut value = None;
    while let Some(c) = chars.next() {
        if c == '}' {
            return value.map(|value| (value, chars.as_str())).ok_or(chars.as_str());
        }
        let next = c.to_digit(16).map(|digit| value.unwrap_or(0) * 16 + digit);
        match next {
            Some(next) if next <= u32::from(char::MAX) => value = Some(next),
            _ => return Err(chars.as_str()),
        }
    }
    Err("")
}
