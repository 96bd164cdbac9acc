//! Numbers as they come out of Kubernetes' YAML to JSON conversion.

use crate::resolve::{self, Value};

/// A number in the form that its JSON literal has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A literal without fraction and exponent that fits a signed 64-bit integer.
    Int(i64),
    /// A literal without fraction and exponent that only fits an unsigned 64-bit integer.
    Uint(u64),
    /// Any other number.
    Float(f64),
}

impl Number {
    /// The number as a double.
    #[allow(clippy::cast_precision_loss)]
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Uint(n) => n as f64,
            Number::Float(n) => n,
        }
    }
}

/// Reads a JSON number literal: `1` is an integer, `1.0` and `1e3` are not.
///
/// # Example
/// ```
/// use kubeshape_yaml::{Number, number::from_json_literal};
/// assert_eq!(from_json_literal("-7"), Some(Number::Int(-7)));
/// assert_eq!(from_json_literal("1.0"), Some(Number::Float(1.0)));
/// assert_eq!(from_json_literal("01"), None);
/// ```
pub fn from_json_literal(text: &str) -> Option<Number> {
    let (end, integral) = json_literal(text.as_bytes())?;
    if end != text.len() {
        return None;
    }
    if integral {
        if let Ok(n) = text.parse() {
            return Some(Number::Int(n));
        }
        if let Ok(n) = text.parse() {
            return Some(Number::Uint(n));
        }
    }
    text.parse().ok().filter(|n: &f64| n.is_finite()).map(Number::Float)
}

/// The length of the JSON number literal at the front, and whether it has neither fraction nor exponent.
pub(crate) fn json_literal(bytes: &[u8]) -> Option<(usize, bool)> {
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let digits = |at: &mut usize| {
        let from = *at;
        while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
            *at += 1;
        }
        *at > from
    };
    match bytes.get(at)? {
        b'0' => at += 1,
        _ => {
            if !digits(&mut at) {
                return None;
            }
        }
    }
    let mut integral = true;
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        integral = false;
        if !digits(&mut at) {
            return None;
        }
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        integral = false;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        if !digits(&mut at) {
            return None;
        }
    }
    Some((at, integral))
}

/// Reads a plain YAML scalar that was resolved to a number. A float whose JSON form is integral
/// (`1.0`, `1e3`) is an integer, because it has passed through JSON when anyone sees it.
///
/// # Example
/// ```
/// use kubeshape_yaml::{Number, number::from_yaml_scalar};
/// assert_eq!(from_yaml_scalar("0x1F"), Some(Number::Int(31)));
/// assert_eq!(from_yaml_scalar("1e3"), Some(Number::Int(1000)));
/// assert_eq!(from_yaml_scalar("1.5"), Some(Number::Float(1.5)));
/// assert_eq!(from_yaml_scalar("1:30"), None);
/// ```
pub fn from_yaml_scalar(text: &str) -> Option<Number> {
    match resolve::plain(text) {
        Value::Int(n) => Some(Number::Int(n)),
        Value::Uint(n) => Some(Number::Uint(n)),
        Value::Float(n) if n.is_finite() => Some(normal(n)),
        _ => None,
    }
}

/// The number that the JSON literal of `n` is.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
pub(crate) fn normal(n: f64) -> Number {
    if n.fract() != 0.0 || !n.is_finite() {
        return Number::Float(n);
    }
    if n.abs() <= 9_007_199_254_740_992.0 {
        return Number::Int(n as i64);
    }
    // The literal has the shortest digits that name the double, filled up with zeros: it is not the
    // double's exact value.
    let mut literal = Vec::with_capacity(24);
    write_json(n, &mut literal);
    std::str::from_utf8(&literal).ok().and_then(from_json_literal).unwrap_or(Number::Float(n))
}

/// Appends a double as Go's `encoding/json` prints it: the shortest digits that read back, with an
/// exponent below 1e-6 and from 1e21 on. What JSON has no literal for is printed as `null`.
///
/// # Example
/// ```
/// use kubeshape_yaml::number::write_json;
/// let mut out = Vec::new();
/// for n in [0.1, 1e20, 1e21, 1e-7, -0.0, 1.0] {
///     write_json(n, &mut out);
///     out.push(b' ');
/// }
/// assert_eq!(out, b"0.1 100000000000000000000 1e+21 1e-7 -0 1 ");
/// ```
pub fn write_json(n: f64, out: &mut Vec<u8>) {
    use std::io::Write;
    if !n.is_finite() {
        out.extend_from_slice(b"null");
        return;
    }
    let size = n.abs();
    // Writing into a vector cannot fail.
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let from = out.len();
        let _ = write!(out, "{n:e}");
        if let Some(at) = out[from..].iter().position(|b| *b == b'e')
            && out.get(from + at + 1) != Some(&b'-')
        {
            out.insert(from + at + 1, b'+');
        }
    } else {
        let _ = write!(out, "{n}");
    }
}

/// Appends a signed integer in decimal.
///
/// # Example
/// ```
/// let mut out = Vec::new();
/// kubeshape_yaml::number::write_int(-42, &mut out);
/// assert_eq!(out, b"-42");
/// ```
pub fn write_int(n: i64, out: &mut Vec<u8>) {
    if n < 0 {
        out.push(b'-');
    }
    write_uint(n.unsigned_abs(), out);
}

/// Appends an unsigned integer in decimal.
///
/// # Example
/// ```
/// let mut out = Vec::new();
/// kubeshape_yaml::number::write_uint(u64::MAX, &mut out);
/// assert_eq!(out, b"18446744073709551615");
/// ```
pub fn write_uint(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// The text that a float has as a key: the shortest digits of its single-precision value.
pub(crate) fn key_text(n: f64) -> String {
    let n = n as f32;
    if n.is_nan() {
        return ".nan".into();
    }
    if n.is_infinite() {
        return if n > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    let scientific = format!("{n:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        format!("{n}")
    } else {
        format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(n: f64) -> String {
        let mut out = Vec::new();
        write_json(n, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn doubles_print_as_go_prints_them() {
        for (n, text) in [
            (1e-6, "0.000001"),
            (9.9e-7, "9.9e-7"),
            (1.5e300, "1.5e+300"),
            (6.02e23, "6.02e+23"),
            (123_456_789.125, "123456789.125"),
            (-1e21, "-1e+21"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
        ] {
            assert_eq!(json(n), text);
        }
    }

    #[test]
    fn integral_doubles_are_the_integer_that_their_literal_names() {
        assert_eq!(normal(1e18), Number::Int(1_000_000_000_000_000_000));
        assert_eq!(normal(1e19), Number::Uint(10_000_000_000_000_000_000));
        assert_eq!(normal(9_223_372_036_854_775_808.0), Number::Uint(9_223_372_036_854_776_000));
        assert_eq!(normal(1e20), Number::Float(1e20));
        assert_eq!(normal(-0.0), Number::Int(0));
    }

    #[test]
    fn float_keys_have_the_shortest_single_precision_text() {
        for (n, text) in [
            (1.5, "1.5"),
            (100_000.0, "100000"),
            (1e6, "1e+06"),
            (1_234_567.5, "1.2345675e+06"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e39, ".inf"),
            (-0.0, "-0"),
        ] {
            assert_eq!(key_text(n), text);
        }
    }

    #[test]
    fn integers_print_in_decimal() {
        let mut out = Vec::new();
        write_int(i64::MIN, &mut out);
        out.push(b' ');
        write_uint(0, &mut out);
        assert_eq!(out, b"-9223372036854775808 0");
    }
}
