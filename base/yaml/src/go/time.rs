//! Times as `time.Parse(time.RFC3339, …)` reads them and `metav1.Time` writes them.

use super::escape::GoQuoted;

use std::fmt;

/// A point in time in seconds since 1970-01-01T00:00:00Z; `metav1.Time` has no fractions.
///
/// # Example: reading and printing
/// ```
/// use kubeshape_yaml::go::Time;
/// let time = Time::parse("2000-01-01T01:00:00.5+01:00").unwrap();
/// assert_eq!(time, Time(946_684_800));
/// assert_eq!(time.to_string(), "2000-01-01T00:00:00Z");
/// assert_eq!(Time::parse("2000-02-30T00:00:00Z"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// The first moment of year 1, Go's zero time. It is written as null.
    pub const ZERO: Time = Time(-62_135_596_800);

    /// Reads an RFC 3339 time as Go does, without fractions of a second. Returns `None` for other strings.
    pub fn parse(text: &str) -> Option<Time> {
        let mut rest = Digits(text.as_bytes());
        let year = rest.number(4)?;
        rest.byte(b"-")?;
        let month = rest.number(2).filter(|month| (1..=12).contains(month))?;
        rest.byte(b"-")?;
        let day = rest.number(2).filter(|day| (1..=days_of(year, month)).contains(day))?;
        rest.byte(b"T")?;
        // Go accepts an hour of one digit.
        let hour = rest.number(2).or_else(|| rest.number(1)).filter(|hour| *hour < 24)?;
        rest.byte(b":")?;
        let minute = rest.number(2).filter(|minute| *minute < 60)?;
        rest.byte(b":")?;
        let second = rest.number(2).filter(|second| *second < 60)?;
        if rest.byte(b".,").is_some() {
            rest.number(1)?;
            while rest.number(1).is_some() {}
        }
        let offset = match rest.byte(b"Z+-")? {
            b'Z' => 0,
            sign => {
                let hours = rest.number(2).filter(|hours| *hours <= 24)?;
                rest.byte(b":")?;
                let minutes = rest.number(2).filter(|minutes| *minutes <= 60)?;
                (hours * 3600 + minutes * 60) * if sign == b'+' { 1 } else { -1 }
            }
        };
        let seconds = days_before(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
        rest.0.is_empty().then_some(Time(seconds))
    }
}

/// The unread rest of a string.
struct Digits<'t>(&'t [u8]);

impl Digits<'_> {
    /// Reads a number of exactly this many digits. Reads nothing if there are fewer.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (head, rest) = self.0.split_at_checked(digits)?;
        let number = head
            .iter()
            .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))?;
        self.0 = rest;
        Some(number)
    }

    /// Reads one of these bytes.
    fn byte(&mut self, any: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        any.contains(first).then(|| {
            self.0 = rest;
            *first
        })
    }
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days since 1970-01-01. Years begin in March here, so that the leap day is the last day.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, in_era) = (year.div_euclid(400), year.rem_euclid(400));
    let in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719_468
}

/// Returns year, month and day of a number of days since 1970-01-01.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, in_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let march = (5 * in_year + 2) / 153;
    let day = in_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

impl Time {
    /// Year, month, day, hour, minute and second.
    fn parts(self) -> [i64; 6] {
        let (year, month, day) = date_of(self.0.div_euclid(86_400));
        let second = self.0.rem_euclid(86_400);
        [year, month, day, second / 3600, second / 60 % 60, second % 60]
    }

    /// Returns the time in UTC, as [`Display`](fmt::Display) prints it. Returns `None` if the year does not have four
    /// digits.
    ///
    /// # Example
    /// ```
    /// use kubeshape_yaml::go::Time;
    /// assert_eq!(Time(0).text().as_ref().map(|text| &text[..]), Some(&b"1970-01-01T00:00:00Z"[..]));
    /// ```
    pub fn text(self) -> Option<[u8; 20]> {
        const DIGITS: &[u8; 10] = b"0123456789";
        let parts = self.parts();
        let mut text = *b"0000-00-00T00:00:00Z";
        let digit = |n: i64| usize::try_from(n).ok().and_then(|n| DIGITS.get(n % 10)).copied().unwrap_or(b'0');
        let (year, rest) = (parts[0], &parts[1..]);
        if !(0..=9999).contains(&year) {
            return None;
        }
        for (place, power) in text.iter_mut().zip([1000, 100, 10, 1]) {
            *place = digit(year / power);
        }
        for (part, places) in rest.iter().zip(text[5..].chunks_mut(3)) {
            if let [tens, ones, ..] = places {
                (*tens, *ones) = (digit(part / 10), digit(*part));
            }
        }
        Some(text)
    }
}

impl fmt::Display for Time {
    /// Prints the time in UTC: `2000-01-01T00:00:00Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [year, month, day, hour, minute, second] = self.parts();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// Returns the error of `time.Parse` for a string that does not match a layout: a day, or a second with or without a
/// zone.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::time::parse_error;
/// assert_eq!(parse_error("2000-02-30", "2006-01-02"), "parsing time \"2000-02-30\": day out of range");
/// ```
pub fn parse_error(text: &str, layout: &str) -> String {
    const ZONE: &str = "Z07:00";
    let quoted = GoQuoted(text);
    let cannot = |rest: &str, part: &str| {
        let (layout, rest, part) = (GoQuoted(layout), GoQuoted(rest), GoQuoted(part));
        format!("parsing time {quoted} as {layout}: cannot parse {rest} as {part}")
    };
    let parts = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05"];
    let has_clock = layout.contains('T');
    let mut rest = text;
    for part in parts.into_iter().take(if has_clock { parts.len() } else { 5 }) {
        let digits = rest.bytes().take(part.len()).take_while(u8::is_ascii_digit).count();
        let length = match part {
            "15" if digits == 1 => 1,
            part if part.len() > 1 && digits < part.len() => return cannot(rest, part),
            part if part.len() == 1 && !rest.starts_with(part) => return cannot(rest, part),
            part => part.len(),
        };
        let number = rest[..length].parse::<u32>().unwrap_or(0);
        let (name, most) = match part {
            "01" => ("month", 12),
            "02" => ("day", 31),
            "15" => ("hour", 23),
            "04" => ("minute", 59),
            "05" => ("second", 59),
            _ => ("", u32::MAX),
        };
        if number > most || (number == 0 && part == "01") {
            return format!("parsing time {quoted}: {name} out of range");
        }
        rest = &rest[length..];
    }
    if has_clock && layout.ends_with(ZONE) {
        match rest.strip_prefix('Z') {
            Some(extra) => rest = extra,
            None => return cannot(rest, ZONE),
        }
    } else if has_clock && let Some(fraction) = rest.strip_prefix(['.', ',']) {
        let end = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if end > 0 {
            rest = &fraction[end..];
        }
    }
    if rest.is_empty() {
        format!("parsing time {quoted}: day out of range")
    } else {
        format!("parsing time {quoted}: extra text: {}", GoQuoted(rest))
    }
}

/// Reads a duration in nanoseconds, as Go's `time.ParseDuration`. Returns `None` if it is not a duration, or too long.
///
/// # Example
/// ```
/// use kubeshape_yaml::go::time::parse_duration;
/// assert_eq!(parse_duration("-1m1.5s"), Some(-61_500_000_000));
/// assert_eq!(parse_duration("1"), None);
/// ```
pub fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut value: u64 = 0;
        for b in rest[..whole].bytes() {
            value = value.checked_mul(10)?.checked_add(u64::from(b - b'0')).filter(|v| *v <= 1 << 63)?;
        }
        rest = &rest[whole..];
        let (mut fraction, mut scale, mut digits) = (0u64, 1.0f64, 0);
        if let Some(after) = rest.strip_prefix('.') {
            digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let mut overflow = false;
            for b in after[..digits].bytes() {
                if overflow {
                    continue;
                }
                match fraction.checked_mul(10).and_then(|f| f.checked_add(u64::from(b - b'0'))).filter(|f| *f < 1 << 63)
                {
                    Some(next) => {
                        fraction = next;
                        scale *= 10.0;
                    }
                    None => overflow = true,
                }
            }
            rest = &after[digits..];
        }
        if whole == 0 && digits == 0 {
            return None;
        }
        let unit_length = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
        let unit: u64 = match &rest[..unit_length] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        rest = &rest[unit_length..];
        if value > (1 << 63) / unit {
            return None;
        }
        value *= unit;
        if fraction > 0 {
            #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
            let part = (fraction as f64 * (unit as f64 / scale)) as u64;
            value = value.checked_add(part).filter(|v| *v <= 1 << 63)?;
        }
        total = total.checked_add(value).filter(|t| *t <= 1 << 63)?;
    }
    if negative {
        // Only -2^63 is allowed, not 2^63.
        return Some(0i64.wrapping_sub_unsigned(total));
    }
    i64::try_from(total).ok()
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn times_are_those_of_go() {
        let right = [
            "2006-01-02T15:04:05Z",
            "2006-01-02T15:04:05.123456789012Z",
            "2006-01-02T15:04:05,1+24:60",
            "2006-01-02T5:04:05-07:00",
            "2000-02-29T00:00:00Z",
        ];
        let wrong = [
            "",
            "2006-01-02",
            "2006-01-02t15:04:05Z",
            "2006-01-02T15:04:05z",
            "2006-01-02T15:04:60Z",
            "2006-01-02T24:04:05Z",
            "1900-02-29T00:00:00Z",
            "2006-13-02T15:04:05Z",
            "2006-01-02T15:04:05",
            "2006-01-02T15:04:05.Z",
            "2006-01-02T15:04:05+25:00",
            "2006-01-02T15:04:05Z ",
            "206-01-02T15:04:05Z",
        ];
        for text in right {
            assert!(Time::parse(text).is_some(), "{text}");
        }
        for text in wrong {
            assert!(Time::parse(text).is_none(), "{text}");
        }
    }
}
