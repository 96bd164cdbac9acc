//! The type of an unquoted YAML scalar in go-yaml 3, which writes and reads the YAML of `Any`.
//!
//! Its rules are not those of Kubernetes' own reader (go-yaml 2): here `yes` is a string and `0o17` a number.

/// The type of an unquoted scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Null,
    True,
    False,
    Int,
    Float,
    Timestamp,
    Text,
}

/// Returns the type of an unquoted scalar.
pub(super) fn tag(text: &str) -> Tag {
    let Some(first) = text.bytes().next() else {
        return Tag::Null;
    };
    match first {
        b'~' | b'n' | b'N' if matches!(text, "~" | "null" | "Null" | "NULL") => Tag::Null,
        b't' | b'T' if matches!(text, "true" | "True" | "TRUE") => Tag::True,
        b'f' | b'F' if matches!(text, "false" | "False" | "FALSE") => Tag::False,
        b'.' => {
            let named = matches!(text, ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF");
            if named || (separates(text) && float(&without_underscores(text)).is_some()) {
                Tag::Float
            } else {
                Tag::Text
            }
        }
        b'+' | b'-' | b'0'..=b'9' => number(text),
        _ => Tag::Text,
    }
}

/// Returns the type of a string that begins with a sign or a digit.
fn number(text: &str) -> Tag {
    if matches!(&text[1..], ".inf" | ".Inf" | ".INF") && !text.as_bytes()[0].is_ascii_digit() {
        return Tag::Float;
    }
    if timestamp(text) {
        return Tag::Timestamp;
    }
    if integer(text).is_some() {
        Tag::Int
    } else if float(&without_underscores(text)).is_some() {
        Tag::Float
    } else {
        Tag::Text
    }
}

/// Returns whether every underscore is between two digits. Only numbers that begin with a point are that strict.
fn separates(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    (0..bytes.len()).all(|at| bytes[at] != b'_' || (at > 0 && digit(at - 1) && digit(at + 1)))
}

fn without_underscores(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}

/// Returns the value of an integer in any base that fits 64 bits, signed or unsigned.
pub(super) fn integer(text: &str) -> Option<i128> {
    let plain = without_underscores(text);
    let (sign, digits) = match plain.as_bytes().first()? {
        b'-' => (-1, &plain[1..]),
        b'+' => (1, &plain[1..]),
        _ => (1, &plain[..]),
    };
    let signed = digits.len() < plain.len();
    let prefix = digits.get(..2).map(str::to_ascii_lowercase);
    let (base, rest) = match prefix.as_deref() {
        Some("0b") if digits.len() > 2 => (2, &digits[2..]),
        Some("0o") if digits.len() > 2 => (8, &digits[2..]),
        Some("0x") if digits.len() > 2 => (16, &digits[2..]),
        _ if digits == "0" => (10, digits),
        _ if digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    // Binary and octal numbers may have a second sign after a lower-case prefix.
    let (sign, rest) = match rest.as_bytes().first() {
        Some(mark @ (b'-' | b'+')) if !signed && matches!(&digits[..2], "0b" | "0o") => {
            (if *mark == b'-' { -1 } else { 1 }, &rest[1..])
        }
        _ => (sign, rest),
    };
    if rest.is_empty() || !rest.bytes().all(|b| char::from(b).is_digit(base)) {
        return None;
    }
    let value = sign * i128::from_str_radix(rest, base).ok()?;
    let most = if rest.len() + 2 < digits.len() || signed { i128::from(i64::MAX) } else { i128::from(u64::MAX) };
    (value >= i128::from(i64::MIN) && value <= most).then_some(value)
}

/// Returns the value of a decimal number with or without fraction and exponent.
pub(super) fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(unsigned);
    let mut rest = &unsigned[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        if whole + length == 0 {
            return None;
        }
        rest = &fraction[length..];
    } else if whole == 0 {
        return None;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if exponent.is_empty() || digits(exponent) < exponent.len() {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    text.parse().ok().filter(|n: &f64| n.is_finite())
}

/// Returns whether a string is a date (`2001-1-1`), an RFC 3339 time, or one with a blank and without zone.
fn timestamp(text: &str) -> bool {
    let mut rest = Rest(text.as_bytes());
    let Some(year) = rest.fixed(4) else {
        return false;
    };
    let date = (|| {
        rest.byte(b'-')?;
        let month = rest.short().filter(|n| (1..=12).contains(n))?;
        rest.byte(b'-')?;
        let day = rest.short()?;
        (1..=days(year, month)).contains(&day).then_some(())
    })();
    if date.is_none() {
        return false;
    }
    if rest.0.is_empty() {
        return true;
    }
    let zone = matches!(rest.0[0], b'T' | b't');
    if zone {
        rest.0 = &rest.0[1..];
    } else if rest.0[0] == b' ' {
        while let Some(behind) = rest.0.strip_prefix(b" ") {
            rest.0 = behind;
        }
    } else {
        return false;
    }
    rest.clock().is_some() && (!zone || rest.zone().is_some()) && rest.0.is_empty()
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The unread rest of a timestamp.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn byte(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    /// Reads exactly this many digits.
    fn fixed(&mut self, digits: usize) -> Option<u32> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        number.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0')))
    }

    /// Reads one or two digits.
    fn short(&mut self) -> Option<u32> {
        let two = self.0.get(1).is_some_and(u8::is_ascii_digit);
        self.fixed(if two { 2 } else { 1 })
    }

    /// Reads hours, minutes, seconds and a fraction of a second.
    fn clock(&mut self) -> Option<()> {
        self.short().filter(|n| *n < 24)?;
        self.byte(b':')?;
        self.short().filter(|n| *n < 60)?;
        self.byte(b':')?;
        self.short().filter(|n| *n < 60)?;
        if let [b'.' | b',', digit, ..] = self.0
            && digit.is_ascii_digit()
        {
            let digits = self.0[1..].iter().take_while(|b| b.is_ascii_digit()).count();
            self.0 = &self.0[1 + digits..];
        }
        Some(())
    }

    fn zone(&mut self) -> Option<()> {
        if self.0.first() == Some(&b'Z') {
            return self.byte(b'Z');
        }
        self.0 = self.0.strip_prefix(b"+").or_else(|| self.0.strip_prefix(b"-"))?;
        self.fixed(2).filter(|n| *n <= 24)?;
        self.byte(b':')?;
        self.fixed(2).filter(|n| *n <= 60)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_read_as_another_type_are_detected() {
        for (texts, expected) in [
            (&["", "~", "null", "Null", "NULL"][..], Tag::Null),
            (&["true", "True", "TRUE"], Tag::True),
            (&["false", "False", "FALSE"], Tag::False),
            (&["1", "0", "-0", "+1", "017", "0x1F", "0X1f", "-0x1", "0o17", "0b11", "0b-1", "1_000", "1_"], Tag::Int),
            (&["18446744073709551615", "-9223372036854775808"], Tag::Int),
            (
                &["18446744073709551616", "-9223372036854775809", "1e3", "1.", ".5", "-.5E+1", "09", "1_0.5", ".1_0"],
                Tag::Float,
            ),
            (&[".nan", ".inf", "-.inf", "+.INF", ".NaN"], Tag::Float),
            (
                &["2001-1-1", "2001-01-01", "2001-01-01T10:00:00Z", "2001-1-1t1:2:3.5+01:00", "2001-01-01  1:2:3,5"],
                Tag::Timestamp,
            ),
            (
                &[
                    "yes", "no", "on", "off", "y", "n", "<<", "=", "1e", "0x", "0b", "12:30:45", "+", "-", ".", "..",
                    "._1", ".1_", "1e400",
                ],
                Tag::Text,
            ),
            (
                &["2001-13-1", "2001-2-29", "2001-01-01T10:00:00", "2001-1-1 1:2", "20011-1-1", "0x1g", "08x", "é"],
                Tag::Text,
            ),
        ] {
            for text in texts {
                assert_eq!(tag(text), expected, "{text}");
            }
        }
    }
}
