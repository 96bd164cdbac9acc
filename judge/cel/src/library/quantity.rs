//! Quantities, such as `1.5Gi`.

// Lengths and sizes are far below the largest int.
#![allow(clippy::cast_possible_wrap)]
// The casts are of numbers that are not negative.
#![allow(clippy::cast_sign_loss)]

use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;
use std::fmt;

/// A quantity (`resource.Quantity` of apimachinery).
#[derive(Clone, Debug)]
pub struct Quantity {
    unscaled: BigInt,
    /// The value is `unscaled * 10^exponent`.
    exponent: i32,
    /// Whether upstream stores it as a big decimal, which it does not treat as an integer.
    big: bool,
    format: Format,
    text: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    DecimalExponent,
    BinarySi,
    DecimalSi,
}

const WRONG: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC: &str = "unable to parse numeric part of quantity";
const SUFFIX: &str = "unable to parse quantity's suffix";

fn power(base: u32, exponent: u32) -> BigInt {
    BigInt::from(base).pow(exponent)
}

fn suffix(text: &str) -> Option<(u32, i32, Format)> {
    let decimal = |exponent| Some((10, exponent, Format::DecimalSi));
    let binary = |exponent| Some((2, exponent, Format::BinarySi));
    match text {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => {
            let exponent = text.strip_prefix(['e', 'E'])?;
            let exponent: i64 = exponent.parse().ok()?;
            Some((10, exponent as i32, Format::DecimalExponent))
        }
    }
}

/// The maximum distance of the exponents of two numbers that are added. Upstream has no bound: it writes all digits,
/// which can take hours.
const MAX_DISTANCE: u32 = 100_000;

const TOO_FAR: &str = "the exponents of the quantities are too far apart";

impl Quantity {
    /// Parses a quantity.
    ///
    /// # Errors
    /// Returns upstream's message about the error.
    pub fn parse(text: &str) -> Result<Quantity, &'static str> {
        if text.is_empty() {
            return Err(WRONG);
        }
        if text == "0" {
            return Ok(Quantity::of(BigInt::ZERO, 0, false, Format::DecimalSi, Some(text)));
        }
        let bytes = text.as_bytes();
        let positive = bytes[0] != b'-';
        let mut at = usize::from(matches!(bytes[0], b'-' | b'+'));
        let run = |from: usize, test: fn(u8) -> bool| from + bytes[from..].iter().take_while(|b| test(**b)).count();
        at = run(at, |b| b == b'0');
        let end = run(at, |b| b.is_ascii_digit());
        let mut number = &text[at..end];
        if end == text.len() && number.is_empty() {
            number = "0";
        }
        if number.is_empty() {
            number = "0";
        }
        at = end;
        let mut fraction = "";
        if bytes.get(at) == Some(&b'.') {
            let end = run(at + 1, |b| b.is_ascii_digit());
            fraction = &text[at + 1..end];
            at = end;
        }
        let value = &text[..at];
        let start = at;
        at = run(at, |b| b"eEinumkKMGTP".contains(&b));
        at += usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
        at = run(at, |b| b.is_ascii_digit());
        if at != text.len() {
            return Err(WRONG);
        }
        let (base, exponent, mut format) = suffix(&text[start..]).ok_or(SUFFIX)?;
        let (precision, mut scale, mut mantissa);
        (scale, mantissa) = (0i32, 1i64);
        if base == 10 {
            scale = exponent;
            precision = 18 - (number.len() + fraction.len()) as i64;
        } else if fraction.is_empty() {
            mantissa = 1 << exponent;
            precision = 15 - number.len() as i64 - i64::from(exponent * 3 / 10) - 1;
        } else {
            precision = -1;
        }
        if precision >= 0 {
            scale = scale.saturating_sub(fraction.len() as i32);
            if scale >= -9 {
                // This number of digits does not overflow.
                let digits = number.bytes().chain(fraction.bytes());
                let value = digits.fold(0i64, |value, digit| value * 10 + i64::from(digit - b'0'));
                if let Some(result) = value.checked_mul(mantissa) {
                    let result = if positive { result } else { -result };
                    let keep = if format == Format::BinarySi {
                        exponent % 10 == 0 && value & 7 != 0
                    } else {
                        let rounded = number.len() + fraction.len() >= 3 && value % 1000 == 0;
                        scale % 3 == 0 && !rounded && !number.starts_with('0')
                    };
                    return Ok(Quantity::of(result.into(), scale, false, format, keep.then_some(text)));
                }
            }
        }
        let digits: String = value.chars().filter(|c| *c != '.' && *c != '+').collect();
        let mut unscaled: BigInt = digits.parse().map_err(|_| NUMERIC)?;
        let mut scale = -(fraction.len() as i32);
        if base == 10 {
            scale = scale.saturating_add(exponent);
        } else {
            unscaled *= power(2, exponent.unsigned_abs());
        }
        if scale > MAX_DISTANCE as i32 {
            return Err(TOO_FAR);
        }
        let negative = unscaled.sign() == Sign::Minus;
        let mut amount = Quantity::of(if negative { -unscaled } else { unscaled }, scale, true, format, None);
        if amount.unscaled != BigInt::ZERO {
            amount.round_up(-9);
        }
        if format == Format::BinarySi {
            let most = Quantity::of(i64::MAX.into(), 0, true, format, None);
            if amount.cmp(&most) == Ordering::Greater {
                amount = most;
            }
            let one = Quantity::of(1.into(), 0, true, format, None);
            if amount.unscaled != BigInt::ZERO && amount.cmp(&one) == Ordering::Less {
                format = Format::DecimalSi;
            }
        }
        amount.format = format;
        if negative {
            amount.unscaled = -amount.unscaled;
        }
        Ok(amount)
    }

    fn of(unscaled: BigInt, exponent: i32, big: bool, format: Format, text: Option<&str>) -> Quantity {
        Quantity { unscaled, exponent, big, format, text: text.map(str::to_owned) }
    }

    pub(crate) fn of_int(value: i64) -> Quantity {
        Quantity::of(value.into(), 0, false, Format::DecimalExponent, None)
    }

    /// Returns the quantity with no digits below an exponent, rounded away from zero: `RoundUp`.
    ///
    /// # Example
    /// ```
    /// use kubeshape_cel::Quantity;
    /// assert_eq!(Quantity::parse("1500u").unwrap().rounded_up(-3).to_string(), "2m");
    /// assert_eq!(Quantity::parse("1.5Gi").unwrap().rounded_up(-3).to_string(), "1536Mi");
    /// ```
    #[must_use]
    pub fn rounded_up(mut self, exponent: i32) -> Quantity {
        if self.exponent < exponent {
            self.round_up(exponent);
            self.text = None;
        }
        self
    }

    /// Returns whether two quantities have the same value, in any notation.
    pub fn is_same(&self, other: &Quantity) -> bool {
        self.cmp(other) == Ordering::Equal
    }

    /// Returns the nearest floating-point number, after rounding to thousandths away from zero.
    pub fn approximate(&self) -> f64 {
        let rounded = self.clone().rounded_up(-3);
        let digits = rounded.unscaled.to_string();
        format!("{digits}e{}", rounded.exponent).parse().unwrap_or(f64::MAX)
    }

    /// Compares the values of two quantities.
    pub fn compare(&self, other: &Quantity) -> Ordering {
        self.cmp(other)
    }

    /// Rounds away from zero to an exponent. Returns whether the result is exact.
    fn round_up(&mut self, exponent: i32) -> bool {
        if self.exponent > exponent {
            self.unscaled *= power(10, (self.exponent - exponent) as u32);
            self.exponent = exponent;
            return true;
        }
        let divisor = power(10, exponent.abs_diff(self.exponent).min(self.digits() + 1));
        let (quotient, rest) = (&self.unscaled / &divisor, &self.unscaled % &divisor);
        let exact = rest == BigInt::ZERO;
        let away = if exact {
            0
        } else if rest.sign() == Sign::Minus {
            -1
        } else {
            1
        };
        self.unscaled = quotient + away;
        self.exponent = exponent;
        exact
    }

    /// Returns -1, 0 or 1: whether the quantity is negative, zero or positive.
    pub fn sign(&self) -> i64 {
        match self.unscaled.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }

    /// Returns an upper bound of the number of decimal digits of the unscaled number; the bound is at most one too
    /// high.
    pub(crate) fn digits(&self) -> u32 {
        // log10(2) lies between 0.30102 and 0.30103.
        u32::try_from(self.unscaled.bits() * 30_103 / 100_000).unwrap_or(u32::MAX - 1) + 1
    }

    /// Compares the values of two quantities.
    #[expect(clippy::should_implement_trait, reason = "quantities that are written differently are not equal")]
    pub fn cmp(&self, other: &Quantity) -> Ordering {
        let signs = self.unscaled.sign().cmp(&other.unscaled.sign());
        if signs != Ordering::Equal || self.unscaled == BigInt::ZERO {
            return signs;
        }
        // Numbers of very different sizes are compared without writing all digits: exponents can be large.
        let most = |quantity: &Quantity| i64::from(quantity.digits()) + i64::from(quantity.exponent);
        let (a, b) = (most(self), most(other));
        if a.abs_diff(b) > 2 {
            return if self.unscaled.sign() == Sign::Minus { b.cmp(&a) } else { a.cmp(&b) };
        }
        if self.exponent == other.exponent {
            return self.unscaled.cmp(&other.unscaled);
        }
        let least = self.exponent.min(other.exponent);
        let small = |quantity: &Quantity| {
            let factor = 10i128.checked_pow(quantity.exponent.abs_diff(least))?;
            i128::from(i64::try_from(&quantity.unscaled).ok()?).checked_mul(factor)
        };
        if let (Some(a), Some(b)) = (small(self), small(other)) {
            return a.cmp(&b);
        }
        let a = &self.unscaled * power(10, self.exponent.abs_diff(least));
        let b = &other.unscaled * power(10, other.exponent.abs_diff(least));
        a.cmp(&b)
    }

    /// Returns the value if it is a whole number of 64 bits.
    pub fn as_int(&self) -> Option<i64> {
        if self.big || self.exponent < 0 {
            return None;
        }
        if self.unscaled == BigInt::ZERO {
            return Some(0);
        }
        if self.exponent > 18 {
            return None;
        }
        i64::try_from(&self.unscaled * power(10, self.exponent as u32)).ok()
    }

    pub(crate) fn as_float(&self) -> f64 {
        // Both round to the nearest number.
        #[allow(clippy::cast_precision_loss)]
        let base: f64 = match i64::try_from(&self.unscaled) {
            Ok(small) => small as f64,
            Err(_) => self.unscaled.to_string().parse().unwrap_or(f64::NAN),
        };
        if self.exponent == 0 {
            return base;
        }
        let power: f64 = format!("1e{}", self.exponent).parse().unwrap_or(f64::NAN);
        base * power
    }

    /// Returns the sum or the difference.
    ///
    /// # Errors
    /// The exponents are too far apart.
    pub fn add(&self, other: &Quantity, subtract: bool) -> Result<Quantity, &'static str> {
        let zero = self.unscaled == BigInt::ZERO;
        let format = if zero { other.format } else { self.format };
        let least = if self.big || other.big {
            self.exponent.min(other.exponent)
        } else if other.unscaled == BigInt::ZERO {
            self.exponent
        } else if zero {
            other.exponent
        } else {
            self.exponent.min(other.exponent)
        };
        let scaled = |quantity: &Quantity| {
            let distance = if quantity.exponent > least { quantity.exponent.abs_diff(least) } else { 0 };
            match distance {
                _ if quantity.unscaled == BigInt::ZERO => Ok(BigInt::ZERO),
                0..=MAX_DISTANCE => Ok(&quantity.unscaled * power(10, distance)),
                _ => Err(TOO_FAR),
            }
        };
        if let Some(sum) = self.add_small(other, subtract, least) {
            return Ok(Quantity { unscaled: sum.into(), exponent: least, big: false, format, text: None });
        }
        let (a, b) = (scaled(self)?, scaled(other)?);
        let unscaled = if subtract { a - b } else { a + b };
        Ok(Quantity { unscaled, exponent: least, big: true, format, text: None })
    }

    /// Adds in 64 bits, as a multiple of ten to the power `least`: `int64Amount.Add`. Returns `None` if Go needs more
    /// bits. Go's `Sub` adds the negative number, which for the smallest number is that number itself.
    fn add_small(&self, other: &Quantity, subtract: bool, least: i32) -> Option<i64> {
        if self.big || other.big {
            return None;
        }
        let (a, b) = (i64::try_from(&self.unscaled).ok()?, i64::try_from(&other.unscaled).ok()?);
        let b = if subtract { b.wrapping_neg() } else { b };
        let scaled = |number: i64, exponent: i32| number.checked_mul(10i64.checked_pow(exponent.abs_diff(least))?);
        match (a, b) {
            (_, 0) => Some(a),
            (0, _) => Some(b),
            _ => scaled(a, self.exponent)?.checked_add(scaled(b, other.exponent)?),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        if self.unscaled == BigInt::ZERO {
            return f.write_str("0");
        }
        let mut format = self.format;
        let mut rounded = self.clone();
        if format == Format::BinarySi {
            let small = Quantity::of(1024.into(), 0, false, format, None);
            let minus = Quantity::of((-1024).into(), 0, false, format, None);
            let inside = self.cmp(&minus) == Ordering::Greater && self.cmp(&small) == Ordering::Less;
            if inside || !rounded.round_up(0) {
                format = Format::DecimalSi;
            }
        }
        if format == Format::BinarySi {
            let (mut amount, mut times) = (rounded.unscaled, 0);
            let factor = BigInt::from(1024);
            while &amount % &factor == BigInt::ZERO {
                amount /= &factor;
                times += 1;
            }
            let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(times).copied().unwrap_or("");
            return write!(f, "{amount}{suffix}");
        }
        let (mut amount, mut exponent) = (self.unscaled.clone(), self.exponent);
        let ten = BigInt::from(10);
        while &amount % &ten == BigInt::ZERO {
            amount /= &ten;
            exponent += 1;
        }
        while exponent % 3 != 0 {
            amount *= &ten;
            exponent -= 1;
        }
        if format == Format::DecimalExponent {
            return if exponent == 0 { write!(f, "{amount}") } else { write!(f, "{amount}e{exponent}") };
        }
        let suffix = match exponent {
            -9 => "n",
            -6 => "u",
            -3 => "m",
            3 => "k",
            6 => "M",
            9 => "G",
            12 => "T",
            15 => "P",
            18 => "E",
            _ => "",
        };
        write!(f, "{amount}{suffix}")
    }
}
