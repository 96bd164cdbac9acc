//! `string.format`: its clauses, their checks and their output.

use super::strings::too_long;
use crate::limits::MAX_TEXT;
use crate::types::Type;
use crate::value::{PANIC, Value, convert, print};
use kubeshape_yaml::go::number;

/// A clause of a format string.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Clause {
    String,
    Decimal,
    Fixed(usize),
    Scientific(usize),
    Binary,
    Hex(bool),
    Octal,
}

/// The default number of digits after the decimal point.
const PRECISION: usize = 6;
/// The maximum number of digits after the decimal point. More would only cost memory.
const MAX_PRECISION: usize = 100_000;

/// A piece of a format string.
pub(crate) enum Piece<'t> {
    Text(&'t str),
    Clause(Clause),
}

/// Calls `each` with the pieces of a format string and the index of the argument. `count` is the number of arguments.
/// An incomplete clause is reported before a missing argument only if `checked` (no arguments are known).
pub(crate) fn walk(
    format: &str,
    count: usize,
    checked: bool,
    each: &mut dyn FnMut(Piece<'_>, usize) -> Result<(), String>,
) -> Result<usize, String> {
    let mut rest = format;
    let mut used = 0;
    while let Some(percent) = rest.find('%') {
        each(Piece::Text(&rest[..percent]), used)?;
        rest = &rest[percent..];
        if let Some(after) = rest.strip_prefix("%%") {
            each(Piece::Text("%"), used)?;
            rest = after;
            continue;
        }
        if used >= count && !(checked && rest.len() == 1) {
            return Err(format!("index {used} out of range"));
        }
        if rest.len() == 1 {
            return Err("unexpected end of string".to_owned());
        }
        let (clause, after) =
            clause(&rest[1..]).map_err(|error| format!("could not parse formatting clause: {error}"))?;
        // Errors that end upstream's evaluation have no prefix.
        let formatting =
            |error: String| if error.starts_with(PANIC) { error } else { format!("error during formatting: {error}") };
        each(Piece::Clause(clause), used).map_err(formatting)?;
        rest = after;
        used += 1;
    }
    each(Piece::Text(rest), used)?;
    Ok(used)
}

fn clause(text: &str) -> Result<(Clause, &str), String> {
    let wrong = |error: &str| Err(format!("error while parsing precision: {error}"));
    let (mut precision, mut rest) = (PRECISION, text);
    if let Some(after) = text.strip_prefix('.') {
        let end = after.bytes().take_while(u8::is_ascii_digit).count();
        if end == after.len() {
            return wrong("could not find end of precision specifier");
        }
        let digits = &after[..end];
        precision = match digits.parse::<i64>().map(usize::try_from) {
            Ok(Ok(precision)) if precision <= MAX_PRECISION => precision,
            Ok(_) => return wrong(&format!("{digits} digits: there are at most {MAX_PRECISION}")),
            Err(_) => {
                let problem = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
                return wrong(&format!(
                    "error while converting precision to integer: strconv.Atoi: parsing {}: {problem}",
                    print::quoted(digits)
                ));
            }
        };
        rest = &after[end..];
    }
    let byte = rest.bytes().next().unwrap_or(b'%');
    let found = match byte {
        b's' => Clause::String,
        b'd' => Clause::Decimal,
        b'f' => Clause::Fixed(precision),
        b'e' => Clause::Scientific(precision),
        b'b' => Clause::Binary,
        b'x' => Clause::Hex(false),
        b'X' => Clause::Hex(true),
        b'o' => Clause::Octal,
        other => return Err(format!("unrecognized formatting clause \"{}\"", char::from(other))),
    };
    Ok((found, &rest[1..]))
}

impl Clause {
    /// Returns the message about a value of a type that the clause does not accept.
    pub(crate) fn refusal(self, ty: &str) -> String {
        let takes = match self {
            Clause::String => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and \
                 timestamps"
            }
            Clause::Decimal => "decimal clause can only be used on integers",
            Clause::Fixed(_) => "fixed-point clause can only be used on doubles",
            Clause::Scientific(_) => "scientific clause can only be used on doubles",
            Clause::Binary => "only integers and bools can be formatted as binary",
            Clause::Hex(_) => "only integers, byte buffers, and strings can be formatted as hex",
            Clause::Octal => "octal clause can only be used on integers",
        };
        format!("{takes}, was given {ty}")
    }

    /// Returns whether the clause accepts values of a type. Strings are accepted because they may name special doubles.
    pub(crate) fn takes(self, ty: &Type) -> bool {
        let ty = match ty {
            Type::Dyn => return true,
            Type::Wrapper(inner) => inner,
            other => other,
        };
        match self {
            Clause::String => matches!(
                ty,
                Type::List(_)
                    | Type::Map(_)
                    | Type::Int
                    | Type::Uint
                    | Type::Double
                    | Type::Bool
                    | Type::String
                    | Type::Timestamp
                    | Type::Bytes
                    | Type::Duration
                    | Type::Type(_)
                    | Type::Null
            ),
            Clause::Decimal | Clause::Octal => matches!(ty, Type::Int | Type::Uint),
            Clause::Fixed(_) | Clause::Scientific(_) => matches!(ty, Type::Double | Type::String),
            Clause::Binary => matches!(ty, Type::Int | Type::Uint | Type::Bool),
            Clause::Hex(_) => matches!(ty, Type::Int | Type::Uint | Type::String | Type::Bytes),
        }
    }
}

/// Formats the arguments.
pub(crate) fn format<'a>(format: &str, args: &[Value<'a>]) -> Value<'a> {
    let mut out = String::with_capacity(format.len() + 16 * args.len());
    let result = walk(format, args.len(), false, &mut |piece, index| match piece {
        Piece::Text(text) => push(&mut out, text),
        Piece::Clause(Clause::String) => string(&args[index], &mut out),
        Piece::Clause(clause) => push(&mut out, &one(clause, &args[index])?),
    });
    match result {
        Ok(_) => Value::text(out),
        Err(error) => Value::error(error),
    }
}

fn push(out: &mut String, text: &str) -> Result<(), String> {
    if out.len() + text.len() > MAX_TEXT {
        return Err(too_long("format"));
    }
    out.push_str(text);
    Ok(())
}

/// Pads a string on the left to at least `width` characters.
fn aligned(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(crate::value::chars(text));
    " ".repeat(blanks) + text
}

fn one(clause: Clause, value: &Value<'_>) -> Result<String, String> {
    let refused = || clause.refusal(value.type_of().name());
    let special = |text: &str| matches!(text, "NaN" | "Infinity" | "-Infinity");
    Ok(match (clause, value) {
        (Clause::Decimal, Value::Int(i)) => i.to_string(),
        (Clause::Decimal, Value::Uint(u)) => u.to_string(),
        (Clause::Fixed(precision), Value::Double(d)) => fixed(*d, precision),
        // Upstream uses the precision as a width.
        (Clause::Scientific(width), Value::Double(d)) => aligned(&scientific(*d, PRECISION), width),
        (Clause::Fixed(_), Value::String(text)) if special(text) => {
            fixed(convert::parse_double(text).unwrap_or(f64::NAN), 0)
        }
        (Clause::Scientific(width), Value::String(text)) if special(text) => {
            aligned(&fixed(convert::parse_double(text).unwrap_or(f64::NAN), 0), width)
        }
        (Clause::Binary, Value::Int(i)) => signed(*i, &format!("{:b}", i.unsigned_abs())),
        (Clause::Binary, Value::Uint(u)) => format!("{u:b}"),
        (Clause::Binary, Value::Bool(b)) => u8::from(*b).to_string(),
        (Clause::Octal, Value::Int(i)) => signed(*i, &format!("{:o}", i.unsigned_abs())),
        (Clause::Octal, Value::Uint(u)) => format!("{u:o}"),
        (Clause::Hex(upper), value) => {
            let text = match value {
                Value::Int(i) => signed(*i, &format!("{:x}", i.unsigned_abs())),
                Value::Uint(u) => format!("{u:x}"),
                Value::String(text) => hex(text.as_bytes()),
                Value::Bytes(bytes) => hex(bytes),
                _ => return Err(refused()),
            };
            if upper { text.to_uppercase() } else { text }
        }
        _ => return Err(refused()),
    })
}

fn signed(value: i64, digits: &str) -> String {
    if value < 0 { format!("-{digits}") } else { digits.to_owned() }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    out
}

fn string(value: &Value<'_>, out: &mut String) -> Result<(), String> {
    match value {
        Value::List(list) => {
            push(out, "[")?;
            for (i, item) in list.iter().enumerate() {
                push(out, if i > 0 { ", " } else { "" })?;
                nested(&item, out)?;
            }
            push(out, "]")
        }
        Value::Map(map) => {
            let mut entries = Vec::with_capacity(map.len());
            for (key, value) in map.walk() {
                let key = match &key {
                    Value::String(text) => print::quoted(text),
                    Value::Bool(_) | Value::Int(_) | Value::Uint(_) => print::plain(&key),
                    // A field that the schema does not know: upstream has no key for it.
                    Value::Null => return Err(format!("{PANIC}invalid memory address or nil pointer dereference")),
                    other => {
                        return Err(format!("no formatting function for map key of type {}", other.type_of().name()));
                    }
                };
                entries.push((key, value));
            }
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            push(out, "{")?;
            for (i, (key, value)) in entries.iter().enumerate() {
                push(out, if i > 0 { ", " } else { "" })?;
                push(out, key)?;
                push(out, ":")?;
                nested(value, out)?;
            }
            push(out, "}")
        }
        Value::Null => push(out, "null"),
        Value::String(text) => push(out, text),
        Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::Bool(_)
        | Value::Timestamp(_)
        | Value::Bytes(_)
        | Value::Duration(_)
        | Value::Type(_) => match convert::convert(value, &Type::String) {
            Value::String(text) => push(out, &text),
            other => Err(format!("could not convert argument {} to string", print::quoted(&print::plain(&other)))),
        },
        other => Err(Clause::String.refusal(other.type_of().name())),
    }
}

/// Formats a value inside a list or a map.
fn nested(value: &Value<'_>, out: &mut String) -> Result<(), String> {
    let quoted = |value: &Value<'_>| {
        let mut text = String::new();
        string(value, &mut text).map(|()| print::quoted(&text))
    };
    let text = match value {
        Value::Int(_) | Value::Uint(_) => print::plain(value),
        Value::String(text) => print::quoted(text),
        Value::Bytes(_) => format!("b{}", quoted(value)?),
        Value::Timestamp(_) => format!("timestamp({})", quoted(value)?),
        Value::Duration(_) => format!("duration({})", quoted(value)?),
        Value::Double(d) if d.is_nan() => "\"NaN\"".to_owned(),
        Value::Double(d) if d.is_infinite() => format!("\"{}Inf\"", if *d > 0.0 { '+' } else { '-' }),
        Value::Double(d) => format!("{d:.6}"),
        Value::List(_) | Value::Map(_) | Value::Bool(_) | Value::Null | Value::Type(_) => return string(value, out),
        other => return Err(format!("no formatting function for {}", other.type_of().name())),
    };
    push(out, &text)
}

/// Returns the digits of a double and the position of its decimal point: `0.d1d2… * 10^point`.
fn decimal(value: f64) -> (Vec<u8>, i32) {
    let text = number::scientific(value.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    (digits, exponent.parse::<i32>().unwrap_or(0) + 1)
}

/// Rounds to `keep` digits, halves to even.
fn round(digits: &mut Vec<u8>, keep: usize, point: &mut i32) {
    if keep >= digits.len() {
        return;
    }
    let rest = &digits[keep..];
    let half = rest[0] == 5 && rest[1..].iter().all(|d| *d == 0);
    let up = rest[0] > 5 || (rest[0] == 5 && !half) || (half && keep > 0 && digits[keep - 1] % 2 == 1);
    digits.truncate(keep);
    if !up {
        return;
    }
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
    *point += 1;
}

fn not_finite(value: f64) -> Option<String> {
    if value.is_nan() {
        return Some("NaN".to_owned());
    }
    value.is_infinite().then(|| if value > 0.0 { "∞".to_owned() } else { "-∞".to_owned() })
}

/// Prints a double with a fixed number of digits, as Go's `x/text` prints it in English: exact to the last digit.
fn fixed(value: f64, precision: usize) -> String {
    if let Some(text) = not_finite(value) {
        return text;
    }
    // No double has more digits after the point.
    let exact = precision.min(1_074);
    let digits = format!("{:.exact$}", value.abs());
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut out = String::with_capacity(digits.len() + whole / 3 + 1);
    if value.is_sign_negative() {
        out.push('-');
    }
    for (i, digit) in digits[..whole].chars().enumerate() {
        if i > 0 && (whole - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(&digits[whole..]);
    out.extend(std::iter::repeat_n('0', precision - exact));
    out
}

/// Prints a double with an exponent, as Go's `x/text` prints it in English.
fn scientific(value: f64, precision: usize) -> String {
    const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if let Some(text) = not_finite(value) {
        return text;
    }
    let (mut digits, mut point) = decimal(value);
    round(&mut digits, precision + 1, &mut point);
    let exponent = if value == 0.0 { 0 } else { point - 1 };
    let mut out = String::new();
    if value.is_sign_negative() {
        out.push('-');
    }
    let digit = |i: usize| char::from(digits.get(i).copied().unwrap_or(0) + b'0');
    out.push(digit(0));
    if precision > 0 {
        out.push('.');
        out.extend((1..=precision).map(digit));
    }
    out.push_str("×10");
    if exponent < 0 {
        out.push('⁻');
    }
    for c in format!("{:02}", exponent.abs()).bytes() {
        out.push(SUPERSCRIPTS[usize::from(c - b'0')]);
    }
    out
}
