//! What a scalar means: the resolution of go-yaml's second version, which Kubernetes uses.

use crate::Kind;
use crate::go::base64;
use crate::go::number::{self, Number};

/// The tags that change how a scalar is read. All others are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    None,
    Str,
    Int,
    Float,
    Bool,
    Null,
    Timestamp,
    Binary,
    Merge,
    Other,
}

impl Tag {
    /// Returns the tag with this full name (`tag:yaml.org,2002:str`).
    pub(crate) fn of(name: &str) -> Tag {
        match name.strip_prefix("tag:yaml.org,2002:") {
            Some("str") => Tag::Str,
            Some("int") => Tag::Int,
            Some("float") => Tag::Float,
            Some("bool") => Tag::Bool,
            Some("null") => Tag::Null,
            Some("timestamp") => Tag::Timestamp,
            Some("binary") => Tag::Binary,
            Some("merge") => Tag::Merge,
            _ => Tag::Other,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Tag::None => "",
            Tag::Str => "!!str",
            Tag::Int => "!!int",
            Tag::Float => "!!float",
            Tag::Bool => "!!bool",
            Tag::Null => "!!null",
            Tag::Timestamp => "!!timestamp",
            Tag::Binary => "!!binary",
            Tag::Merge => "!!merge",
            Tag::Other => "another tag",
        }
    }
}

/// The value of a scalar, before its conversion to JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Timestamp,
    Str,
}

impl Value {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) | Value::Uint(_) => "integer",
            Value::Float(_) => "float",
            Value::Timestamp => "timestamp",
            Value::Str => "text",
        }
    }

    /// Returns the kind of the value in a tape.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(false) => Kind::False,
            Value::Bool(true) => Kind::True,
            Value::Int(_) | Value::Uint(_) => Kind::Int,
            Value::Float(n) => match number::normal(n) {
                Number::Float(_) => Kind::Float,
                _ => Kind::Int,
            },
            Value::Timestamp | Value::Str => Kind::Str,
        }
    }
}

/// Returns the number of a plain scalar. A float whose JSON form is integral (`1.0`, `1e3`) is an integer, because
/// Kubernetes reads it from JSON.
pub(crate) fn number_of(text: &str) -> Option<Number> {
    match plain(text) {
        Value::Int(n) => Some(Number::Int(n)),
        Value::Uint(n) => Some(Number::Uint(n)),
        Value::Float(n) if n.is_finite() => Some(number::normal(n)),
        _ => None,
    }
}

/// Classes of the first byte of a plain scalar, which say what the scalar can be.
pub(crate) const TEXT: u8 = 0;
const WORD: u8 = 1;
const DIGIT: u8 = 2;
const SIGN: u8 = 3;
const DOT: u8 = 4;

/// Class by first byte. Only scalars that do not begin with [`TEXT`] can be anything but a string.
pub(crate) const FIRST: [u8; 256] = {
    let mut table = [TEXT; 256];
    let words = b"yYnNtTfFoO~";
    let mut i = 0;
    while i < words.len() {
        table[words[i] as usize] = WORD;
        i += 1;
    }
    let mut digit = b'0';
    while digit <= b'9' {
        table[digit as usize] = DIGIT;
        digit += 1;
    }
    table[b'+' as usize] = SIGN;
    table[b'-' as usize] = SIGN;
    table[b'.' as usize] = DOT;
    table
};

/// Returns the kind of a plain scalar without a tag; it may be empty. Infinite and not-a-number floats are
/// [`Kind::Float`].
#[inline]
pub(crate) fn plain_kind(text: &[u8]) -> Kind {
    match text.first() {
        None => Kind::Null,
        Some(first) if FIRST[*first as usize] == TEXT => Kind::Str,
        Some(_) => plain_kind_slow(text),
    }
}

#[inline(never)]
fn plain_kind_slow(text: &[u8]) -> Kind {
    match FIRST[text[0] as usize] {
        WORD if text.len() > 5 => Kind::Str,
        // The most frequent numbers. They are integers in any base.
        DIGIT if text.len() <= 15 && text.iter().all(u8::is_ascii_digit) => Kind::Int,
        _ => std::str::from_utf8(text).map_or(Kind::Str, |text| plain(text).kind()),
    }
}

/// The value of a plain scalar without a tag.
pub(crate) fn plain(text: &str) -> Value {
    let Some(first) = text.as_bytes().first() else {
        return Value::Null;
    };
    let class = FIRST[*first as usize];
    if class == TEXT {
        return Value::Str;
    }
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        "~" | "null" | "Null" | "NULL" => return Value::Null,
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Value::Float(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY),
        _ => {}
    }
    match class {
        DOT if text.contains('_') => dotted(text).map_or(Value::Str, Value::Float),
        DOT => decimal(text).map_or(Value::Str, Value::Float),
        DIGIT | SIGN => number(text),
        _ => Value::Str,
    }
}

/// Integers in any base, floats, both with underscores anywhere.
fn number(text: &str) -> Value {
    // Longer numbers overflow, but leading zeros and fractions may be long.
    let without;
    let text = if text.contains('_') {
        without = text.replace('_', "");
        without.as_str()
    } else {
        text
    };
    if let Some(value) = integer(text) {
        return value;
    }
    if let Some(value) = decimal(text) {
        return Value::Float(value);
    }
    // go-yaml's second attempt at binary numbers accepts a sign after the prefix.
    if let Some(digits) = text.strip_prefix("0b") {
        return signed(digits, 2).or_else(|| unsigned(digits, 2)).unwrap_or(Value::Str);
    }
    Value::Str
}

/// Reads an integer in the base of its prefix.
fn integer(text: &str) -> Option<Value> {
    let (negative, rest, sign) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..], true),
        b'+' => (false, &text[1..], true),
        _ => (false, text, false),
    };
    let bytes = rest.as_bytes();
    let (base, digits) = match (bytes.first()?, bytes.get(1)) {
        (b'0', Some(b'x' | b'X')) => (16, &rest[2..]),
        (b'0', Some(b'o' | b'O')) => (8, &rest[2..]),
        (b'0', Some(b'b' | b'B')) => (2, &rest[2..]),
        (b'0', Some(_)) => (8, &rest[1..]),
        _ => (10, rest),
    };
    let value = magnitude(digits, base)?;
    match (negative, i64::try_from(value)) {
        (false, Ok(n)) => Some(Value::Int(n)),
        (true, Ok(n)) => Some(Value::Int(-n)),
        (true, Err(_)) => (value == 1 << 63).then_some(Value::Int(i64::MIN)),
        (false, Err(_)) => (!sign).then_some(Value::Uint(value)),
    }
}

fn signed(digits: &str, base: u32) -> Option<Value> {
    i64::from_str_radix(digits, base).ok().map(Value::Int)
}

fn unsigned(digits: &str, base: u32) -> Option<Value> {
    magnitude(digits, base).map(Value::Uint)
}

/// Reads at least one digit and nothing else. Returns `None` if the number overflows.
fn magnitude(digits: &str, base: u32) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for digit in digits.chars() {
        let digit = digit.to_digit(base)?;
        value = value.checked_mul(u64::from(base))?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// Reads a float without whole digits. Here underscores must be between digits.
fn dotted(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let fine = (0..bytes.len()).all(|at| bytes[at] != b'_' || (digit(at.checked_sub(1)) && digit(Some(at + 1))));
    if fine { decimal(&text.replace('_', "")) } else { None }
}

/// Reads a decimal float. Returns `None` if it overflows.
fn decimal(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let digits = |at: &mut usize| {
        let from = *at;
        while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
            *at += 1;
        }
        *at - from
    };
    let whole = digits(&mut at);
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        if digits(&mut at) == 0 && whole == 0 {
            return None;
        }
    } else if whole == 0 {
        return None;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        if digits(&mut at) == 0 {
            return None;
        }
    }
    if at != bytes.len() {
        return None;
    }
    text.parse().ok().filter(|n: &f64| n.is_finite())
}

/// Returns the value of a scalar with a tag, or why it has none.
pub(crate) fn tagged(tag: Tag, text: &str) -> Result<Value, Value> {
    let value = plain(text);
    let value = if tag == Tag::Timestamp || (tag == Tag::Int && value == Value::Str) {
        if moment(text).is_some() { Value::Timestamp } else { value }
    } else {
        value
    };
    match (tag, value) {
        (Tag::Str | Tag::Binary | Tag::Merge | Tag::Other, _) => Ok(Value::Str),
        (Tag::None, value)
        | (Tag::Int, value @ (Value::Int(_) | Value::Uint(_)))
        | (Tag::Float, value @ Value::Float(_))
        | (Tag::Bool, value @ Value::Bool(_))
        | (Tag::Null, value @ Value::Null)
        | (Tag::Timestamp, value @ Value::Timestamp) => Ok(value),
        #[allow(clippy::cast_precision_loss)]
        (Tag::Float, Value::Int(n)) => Ok(Value::Float(n as f64)),
        (_, value) => Err(value),
    }
}

/// A date or a point in time, as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment<'t> {
    date: [u32; 3],
    clock: [u32; 3],
    /// The digits behind the seconds.
    fraction: &'t [u8],
    /// The minutes to UTC.
    offset: i32,
}

impl Moment<'_> {
    /// Returns the moment as Go's `time.Time` prints it as JSON, if it can: zones of a day and more have no form.
    pub(crate) fn print(self) -> Option<String> {
        let ([year, month, day], [hour, minute, second]) = (self.date, self.clock);
        let mut out = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        // Go has nanoseconds, and drops zeros at the end.
        let fraction = &self.fraction[..self.fraction.len().min(9)];
        let length = fraction.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
        if length > 0 {
            out.push('.');
            out.extend(fraction[..length].iter().map(|digit| char::from(*digit)));
        }
        if self.offset == 0 {
            out.push('Z');
            return Some(out);
        }
        let (sign, minutes) = (if self.offset < 0 { '-' } else { '+' }, self.offset.unsigned_abs());
        (minutes < 24 * 60).then(|| format!("{out}{sign}{:02}:{:02}", minutes / 60, minutes % 60))
    }
}

/// Reads a date or a point in time, in the four forms that go-yaml knows.
pub(crate) fn moment(text: &str) -> Option<Moment<'_>> {
    let mut rest = text.as_bytes();
    let year = digits(&mut rest, 4, 4)?;
    eat(&mut rest, b"-").then_some(())?;
    let month = digits(&mut rest, 1, 2)?;
    eat(&mut rest, b"-").then_some(())?;
    let day = digits(&mut rest, 1, 2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => return None,
    };
    if day == 0 || day > days {
        return None;
    }
    let mut out = Moment { date: [year, month, day], clock: [0; 3], fraction: &[], offset: 0 };
    if rest.is_empty() {
        return Some(out);
    }
    let zoned = if eat(&mut rest, b"T") || eat(&mut rest, b"t") {
        true
    } else if eat(&mut rest, b" ") {
        while eat(&mut rest, b" ") {}
        false
    } else {
        return None;
    };
    let hour = digits(&mut rest, 1, 2).filter(|hour| *hour < 24)?;
    eat(&mut rest, b":").then_some(())?;
    let minute = digits(&mut rest, 1, 2).filter(|minute| *minute < 60)?;
    eat(&mut rest, b":").then_some(())?;
    let second = digits(&mut rest, 1, 2).filter(|second| *second < 60)?;
    out.clock = [hour, minute, second];
    if rest.len() > 1 && matches!(rest[0], b'.' | b',') && rest[1].is_ascii_digit() {
        let length = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        (out.fraction, rest) = rest[1..].split_at(length);
    }
    if zoned && !eat(&mut rest, b"Z") {
        let is_west = !eat(&mut rest, b"+");
        if is_west && !eat(&mut rest, b"-") {
            return None;
        }
        let hours = digits(&mut rest, 2, 2).filter(|hours| *hours <= 24)?;
        eat(&mut rest, b":").then_some(())?;
        let minutes = digits(&mut rest, 2, 2).filter(|minutes| *minutes <= 60)?;
        let offset = i32::try_from(hours * 60 + minutes).ok()?;
        out.offset = if is_west { -offset } else { offset };
    }
    rest.is_empty().then_some(out)
}

fn eat(rest: &mut &[u8], what: &[u8]) -> bool {
    rest.strip_prefix(what).is_some_and(|behind| {
        *rest = behind;
        true
    })
}

fn digits(rest: &mut &[u8], least: usize, most: usize) -> Option<u32> {
    let mut n = 0;
    let mut value = 0;
    while n < most && n < rest.len() && rest[n].is_ascii_digit() {
        value = value * 10 + u32::from(rest[n] - b'0');
        n += 1;
    }
    *rest = &rest[n..];
    (n >= least).then_some(value)
}

/// The string form of a key.
#[derive(Debug, PartialEq)]
pub(crate) enum Key {
    /// The text as written.
    Text,
    /// Another value, converted to this string.
    Other(String),
    /// Kubernetes has no string for it.
    Refused(&'static str),
}

/// Returns the string to which Kubernetes converts a key with this value.
pub(crate) fn key(value: Value) -> Key {
    match value {
        Value::Str | Value::Timestamp => Key::Text,
        Value::Bool(true) => Key::Other("true".into()),
        Value::Bool(false) => Key::Other("false".into()),
        Value::Int(n) => Key::Other(n.to_string()),
        Value::Float(n) => Key::Other(number::key_text(n)),
        Value::Null => Key::Refused("null"),
        Value::Uint(_) => Key::Refused("an integer above 9223372036854775807"),
    }
}

/// Decodes base64 as Go's standard encoding does. Bytes that are not UTF-8 become U+FFFD each.
pub(crate) fn binary(text: &str) -> Option<String> {
    let out = base64::decode(text)?;
    let mut text = String::with_capacity(out.len());
    for chunk in out.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\u{FFFD}'));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_and_numbers_resolve_as_go_yaml_v2_resolves_them() {
        for (text, value) in [
            ("yes", Value::Bool(true)),
            ("tRue", Value::Str),
            ("0o17", Value::Int(15)),
            ("08", Value::Float(8.0)),
            ("0b-101", Value::Int(-5)),
            ("-0b101", Value::Int(-5)),
            ("+18446744073709551615", Value::Float(18_446_744_073_709_551_615.0)),
            ("18446744073709551615", Value::Uint(u64::MAX)),
            ("-9223372036854775808", Value::Int(i64::MIN)),
            ("1:30", Value::Str),
            ("-", Value::Str),
            (".", Value::Str),
            (".e1", Value::Str),
            ("1e999", Value::Str),
            ("0x", Value::Str),
        ] {
            assert_eq!(plain(text), value, "{text}");
        }
    }

    #[test]
    fn base64_needs_its_padding_and_skips_line_breaks() {
        assert_eq!(binary("aGVs\nbG8=").as_deref(), Some("hello"));
        assert_eq!(binary("aGVsbG8"), None);
        assert_eq!(binary("aGVsbG8=="), None);
        assert_eq!(binary("/w==").as_deref(), Some("\u{FFFD}"));
    }

    #[test]
    fn timestamps_are_the_four_known_forms() {
        for yes in ["2001-12-14", "2001-2-3T4:5:6Z", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.1"] {
            assert!(moment(yes).is_some(), "{yes}");
        }
        for no in ["2001-13-01", "2001-02-30", "01-01-01", "2001-12-14 21:59:43 -5", "2001-12-14T21:59:43"] {
            assert!(moment(no).is_none(), "{no}");
        }
    }
}
