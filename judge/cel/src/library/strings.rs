//! Functions on strings. Positions count characters.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]
// The casts are of numbers that are not negative.
#![allow(clippy::cast_sign_loss)]

use crate::limits::MAX_TEXT;
use crate::release::{Change, Language};
use crate::value::{Text, Value, print};

/// Returns the error of a call that would build a string of more than [`MAX_TEXT`] bytes.
pub(crate) fn too_long(function: &str) -> String {
    format!("{function}: a text has at most {MAX_TEXT} bytes")
}

fn out_of_range<'a>(index: i64) -> Value<'a> {
    Value::error(format!("index out of range: {index}"))
}

fn slice(text: &str, start: usize, end: usize) -> &str {
    if text.is_ascii() {
        return &text[start..end];
    }
    let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(i, _)| i);
    &text[at(start)..at(end)]
}

fn within(index: i64, length: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|index| *index <= length)
}

pub(crate) fn char_at<'a>(text: &Text<'a>, index: i64) -> Value<'a> {
    let length = crate::value::chars(text);
    match within(index, length) {
        Some(at) if at == length => Value::text(""),
        Some(at) => Value::String(text.part(slice(text, at, at + 1))),
        None => out_of_range(index),
    }
}

pub(crate) fn index_of<'a>(text: &str, part: &str, offset: i64) -> Value<'a> {
    if part.is_empty() {
        return Value::Int(offset);
    }
    if offset < 0 {
        return out_of_range(offset);
    }
    let length = crate::value::chars(text);
    let Some(from) = within(offset, length).filter(|from| *from < length) else { return Value::Int(-1) };
    let rest = slice(text, from, length);
    Value::Int(rest.find(part).map_or(-1, |at| (from + crate::value::chars(&rest[..at])) as i64))
}

/// Returns the error of an older release about the offset of `indexOf` or `lastIndexOf`. Without an offset, the functions
/// begin at the first or the last character. The release is asked only if the answer depends on it.
pub(crate) fn refused_offset<'a>(
    text: &str,
    part: &str,
    offset: Option<i64>,
    is_last: bool,
    language: &Language,
) -> Option<Value<'a>> {
    let length = crate::value::chars(text) as i64;
    let begin = offset.unwrap_or(if is_last { length - 1 } else { 0 });
    let change = match begin {
        _ if part.is_empty() => return None,
        0.. if begin >= length => Change::OffsetsAfterEnd,
        ..0 if offset.is_none() => Change::LastIndexInEmpty,
        _ => return None,
    };
    (!language.has(change)).then(|| out_of_range(begin))
}

pub(crate) fn last_index_of<'a>(text: &str, part: &str, offset: Option<i64>) -> Value<'a> {
    let length = crate::value::chars(text);
    if part.is_empty() {
        return Value::Int(offset.unwrap_or(length as i64));
    }
    if offset.is_none() && text.len() < part.len() {
        return Value::Int(-1);
    }
    let offset = offset.unwrap_or(length as i64 - 1);
    if offset < 0 {
        return out_of_range(offset);
    }
    if offset >= length as i64 {
        return Value::Int(-1);
    }
    let part_length = crate::value::chars(part);
    if part_length > length {
        return Value::Int(-1);
    }
    let last = (offset as usize).min(length - part_length);
    let searched = slice(text, 0, last + part_length);
    Value::Int(searched.rfind(part).map_or(-1, |at| crate::value::chars(&searched[..at]) as i64))
}

pub(crate) fn substring<'a>(text: &Text<'a>, start: i64, end: Option<i64>) -> Value<'a> {
    let length = crate::value::chars(text);
    if let Some(end) = end
        && start > end
    {
        return Value::error(format!("invalid substring range. start: {start}, end: {end}"));
    }
    let Some(from) = within(start, length) else { return out_of_range(start) };
    let end = end.unwrap_or(length as i64);
    match within(end, length) {
        Some(to) => Value::String(text.part(slice(text, from, to))),
        None => out_of_range(end),
    }
}

/// Does `replace` with at most `most` replacements; all of them if `most` is negative.
pub(crate) fn replace<'a>(text: &str, old: &str, new: &str, most: i64) -> Value<'a> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if new.len() > old.len() {
        // An empty string is found before each character and at the end.
        let found = if old.is_empty() { crate::value::chars(text) + 1 } else { text.matches(old).count() };
        let longer = found.min(most).saturating_mul(new.len() - old.len());
        if text.len().saturating_add(longer) > MAX_TEXT {
            return Value::error(too_long("replace"));
        }
    }
    Value::text(text.replacen(old, new, most))
}

/// Splits into at most `most` parts; all of them if `most` is negative.
pub(crate) fn split<'a>(text: &Text<'a>, separator: &str, most: i64) -> Value<'a> {
    let part = |part: &str| Value::String(text.part(part));
    if most == 0 {
        return Value::list(Vec::new());
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if separator.is_empty() {
        let mut parts = Vec::new();
        let mut rest: &str = text;
        while let Some(c) = rest.chars().next() {
            if parts.len() + 1 == most {
                parts.push(part(rest));
                break;
            }
            parts.push(part(&rest[..c.len_utf8()]));
            rest = &rest[c.len_utf8()..];
        }
        return Value::list(parts);
    }
    Value::list(text.splitn(most, separator).map(part).collect())
}

pub(crate) fn join<'a>(list: &Value<'a>, separator: &str) -> Value<'a> {
    let Value::List(list) = list else { return Value::no_such_overload() };
    let mut out = String::new();
    for (i, item) in list.iter().enumerate() {
        if i > 0 {
            out.push_str(separator);
        }
        match item.as_str() {
            Some(text) => out.push_str(text),
            None => return Value::error(format!("join: invalid input: {}", print::plain(&item))),
        }
        if out.len() > MAX_TEXT {
            return Value::error(too_long("join"));
        }
    }
    Value::text(out)
}

/// Go's `unicode.IsSpace`.
fn is_space(c: char) -> bool {
    c.is_whitespace()
}

pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
