//! Numbers: JSON literals as Go's libraries read and write them, and `%v` of a float.

use std::fmt::{self, Write};

/// A number, distinguished by its JSON literal.
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
/// use kubeshape_yaml::{Number, go::number::from_json_literal};
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

/// Returns the length of the JSON number literal at the front, and whether it has neither fraction nor exponent.
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

/// Returns the number that the JSON literal of `n` has.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
pub(crate) fn normal(n: f64) -> Number {
    if n.fract() != 0.0 || !n.is_finite() {
        return Number::Float(n);
    }
    if n.abs() <= 9_007_199_254_740_992.0 {
        return Number::Int(n as i64);
    }
    // The literal has the shortest digits that identify the double, filled up with zeros. It is not the exact value of
    // the double.
    let mut literal = Vec::with_capacity(24);
    write_json(n, &mut literal);
    std::str::from_utf8(&literal).ok().and_then(from_json_literal).unwrap_or(Number::Float(n))
}

/// Appends a double as Go's `encoding/json` prints it: the shortest digits that read back as the same double, with an
/// exponent below 1e-6 and from 1e21 on. Infinities and not-a-number are printed as `null`.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::number::write_json;
/// let mut out = Vec::new();
/// for n in [0.1, 1e20, 1e21, 1e-7, -0.0, 1.0] {
///     write_json(n, &mut out);
///     out.push(b' ');
/// }
/// assert_eq!(out, b"0.1 100000000000000000000 1e+21 1e-7 -0 1 ");
/// ```
pub fn write_json(n: f64, out: &mut Vec<u8>) {
    use std::io::Write as _;
    if !n.is_finite() {
        out.extend_from_slice(b"null");
        return;
    }
    let size = n.abs();
    let from = out.len();
    // Writing into a vector cannot fail.
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let _ = write!(out, "{n:e}");
        round_to_even(n, &mut out[from..]);
        if let Some(at) = out[from..].iter().position(|b| *b == b'e')
            && out.get(from + at + 1) != Some(&b'-')
        {
            out.insert(from + at + 1, b'+');
        }
    } else {
        let _ = write!(out, "{n}");
        round_to_even(n, &mut out[from..]);
    }
}

/// Returns the shortest digits that read back as the same double, with an exponent: `1.5e3`.
pub fn scientific(n: f64) -> String {
    rounded(n, format!("{n:e}"))
}

/// Returns the shortest digits that read back as the same double, without an exponent.
fn decimal(n: f64) -> String {
    rounded(n, n.to_string())
}

fn rounded(n: f64, text: String) -> String {
    let mut bytes = text.into_bytes();
    round_to_even(n, &mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}

/// Changes the last of the shortest digits as Go chooses it. If a double is exactly between two of the shortest
/// decimals, Rust prints the larger one, and Go the even one.
///
/// Such a double has exactly one more digit after the dot than its shortest form.
fn round_to_even(n: f64, text: &mut [u8]) {
    let exponent_at = text.iter().position(|byte| *byte == b'e');
    let (digits, exponent) = text.split_at(exponent_at.unwrap_or(text.len()));
    let Some(dot) = digits.iter().position(|byte| *byte == b'.') else { return };
    let last = digits.len() - 1;
    let exponent = exponent.get(1..).and_then(|exponent| std::str::from_utf8(exponent).ok()?.parse::<i32>().ok());
    let Ok(after_dot) = i32::try_from(last - dot) else { return };
    let after_dot = after_dot - exponent.unwrap_or_default();
    // A double of at most 15 digits is never between two shorter forms, and larger powers lose digits.
    if last < 15 || text[last].is_multiple_of(2) || !(0..1000).contains(&after_dot) {
        return;
    }
    let power = 2.0_f64.powi(after_dot);
    if (n * power).fract() == 0.0 || (n * power * 2.0).fract() != 0.0 {
        return;
    }
    text[last] -= 1;
    let reads_back = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()) == Some(n);
    text[last] += u8::from(!reads_back);
}

/// Appends a signed integer in decimal.
///
/// # Example
/// ```
/// let mut out = Vec::new();
/// kubeshape_yaml::go::number::write_int(-42, &mut out);
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
/// kubeshape_yaml::go::number::write_uint(u64::MAX, &mut out);
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

/// Appends a double as json-iterator prints it: as [`write_json`] does, but with at least two digits in an exponent.
/// Infinities and not-a-number are printed as `null`.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::number::write_iterator;
/// let mut out = Vec::new();
/// for n in [80.0, 0.25, 1e21, 1e-7] {
///     write_iterator(n, &mut out);
///     out.push(b' ');
/// }
/// assert_eq!(out, b"80 0.25 1e+21 1e-07 ");
/// ```
pub fn write_iterator(n: f64, out: &mut Vec<u8>) {
    // Most numbers are integers, even in field sets, which store them as floats.
    #[expect(clippy::cast_possible_truncation, reason = "the bound is that of integers which a double holds exactly")]
    if n.abs() < 9_007_199_254_740_992.0 && n.fract() == 0.0 && (n != 0.0 || n.is_sign_positive()) {
        write_int(n as i64, out);
        return;
    }
    if write_decimal(n, out) {
        return;
    }
    let from = out.len();
    write_json(n, out);
    if let [.., sign @ (b'-' | b'+'), digit] = out[from..]
        && out[from..].contains(&b'e')
    {
        out.truncate(out.len() - 2);
        out.extend_from_slice(&[sign, b'0', digit]);
    }
}

/// Writes a number that has few digits. Returns whether it did.
///
/// Two different numbers of at most 15 digits are never the same double. So if the division, which rounds to the
/// nearest double, gives the number back, no other digits are as few.
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "both are below 10^15, and not negative")]
fn write_decimal(n: f64, out: &mut Vec<u8>) -> bool {
    let size = n.abs();
    if !(1e-3..1e9).contains(&size) {
        return false;
    }
    let mut power = 1_u32;
    for digits in 1..=6 {
        power *= 10;
        let scaled = (size * f64::from(power) + 0.5) as u64;
        if ((scaled as f64) / f64::from(power)).to_bits() != size.to_bits() {
            continue;
        }
        if n < 0.0 {
            out.push(b'-');
        }
        write_uint(scaled / u64::from(power), out);
        let from = out.len();
        // The leading one preserves zeros, and makes room for the dot.
        write_uint(scaled % u64::from(power) + u64::from(power), out);
        debug_assert_eq!(out.len(), from + digits + 1);
        out[from] = b'.';
        return true;
    }
    false
}

/// A double as Go's `%v` prints it: the exponent form from 1e6 on and below 1e-4, with at least two digits of exponent.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::number::General;
/// assert_eq!(General(999_999.5).to_string(), "999999.5");
/// assert_eq!(General(3e9).to_string(), "3e+09");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct General(pub f64);

impl fmt::Display for General {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let General(n) = *self;
        if n.is_nan() {
            f.write_str("NaN")
        } else if n.is_infinite() {
            f.write_str(if n > 0.0 { "+Inf" } else { "-Inf" })
        } else {
            write_general(&decimal(n), &scientific(n), f)
        }
    }
}

/// Writes a finite number that has these two forms, such as `1500` and `1.5e3`.
fn write_general(decimal: &str, scientific: &str, f: &mut impl Write) -> fmt::Result {
    let (digits, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        f.write_str(decimal)
    } else {
        write!(f, "{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    }
}

/// Returns the string that a float has as a key: the shortest digits of its single-precision value.
pub(crate) fn key_text(n: f64) -> String {
    let n = n as f32;
    if n.is_nan() {
        return ".nan".into();
    }
    if n.is_infinite() {
        return if n > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = write_general(&n.to_string(), &format!("{n:e}"), &mut text);
    text
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
    // The literals are these doubles exactly, with all their digits.
    #[allow(clippy::excessive_precision)]
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
            // Between two of the shortest decimals, the even one is used.
            (1_938_086_409_437_998.25, "1938086409437998.2"),
            (-1_938_086_409_437_998.75, "-1938086409437998.8"),
            (82_027_406_517_468.125, "82027406517468.12"),
            // One of the two is another double.
            (5.960_464_477_539_063e-8, "5.960464477539063e-8"),
            (9.007_199_254_740_993e15, "9007199254740992"),
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
