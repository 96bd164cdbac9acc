//! Durations and timestamps, parsed and printed like Go.

use super::Value;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use kubeshape_yaml::go::escape::GoQuoted;
use std::cmp::Ordering;
use std::fmt::Write;

/// A timestamp, with the offset of the zone in which it was written.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Seconds since 1970 in UTC.
    pub seconds: i64,
    /// Nanoseconds within the second.
    pub nanos: u32,
    /// The offset of the zone in which it is printed, in seconds east of UTC.
    pub offset: i32,
}

/// 0001-01-01T00:00:00Z
const MIN_SECONDS: i64 = -62_135_596_800;
/// 9999-12-31T23:59:59Z
const MAX_SECONDS: i64 = 253_402_300_799;
const NANOS: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

impl PartialEq for Timestamp {
    fn eq(&self, other: &Timestamp) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Timestamp) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Timestamp) -> Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

/// A date and a time of day.
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    /// From 0.
    pub(crate) day_of_year: i64,
    /// From 0 for Sunday.
    pub(crate) weekday: i64,
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Timestamp {
    /// Returns a timestamp in UTC, or an error if it is outside the years 1 to 9999.
    pub(crate) fn of_seconds<'a>(seconds: i64) -> Value<'a> {
        Timestamp { seconds, nanos: 0, offset: 0 }.checked()
    }

    fn checked<'a>(self) -> Value<'a> {
        if (MIN_SECONDS..=MAX_SECONDS).contains(&self.seconds) {
            Value::Timestamp(self)
        } else {
            Value::error("timestamp overflow")
        }
    }

    /// Returns the date and time in a zone with this offset.
    pub(crate) fn civil(self, offset: i32) -> Civil {
        let local = self.seconds.saturating_add(i64::from(offset));
        let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let part = (5 * day_of_year + 2) / 153;
        let month = if part < 10 { part + 3 } else { part - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Civil {
            year,
            month,
            day: day_of_year - (153 * part + 2) / 5 + 1,
            hour: time / 3600,
            minute: time / 60 % 60,
            second: time % 60,
            day_of_year: days - days_from_civil(year, 1, 1),
            weekday: (days + 4).rem_euclid(7),
        }
    }

    fn date_time(self, separator: char) -> String {
        let at = self.civil(self.offset);
        let mut out = String::with_capacity(35);
        digits(&mut out, at.year, 4);
        for (mark, part) in [('-', at.month), ('-', at.day), (separator, at.hour), (':', at.minute), (':', at.second)] {
            out.push(mark);
            digits(&mut out, part, 2);
        }
        if self.nanos > 0 {
            let digits = format!("{:09}", self.nanos);
            let _ = write!(out, ".{}", digits.trim_end_matches('0'));
        }
        out
    }

    /// Prints it in Go's format `RFC3339Nano`.
    pub(crate) fn rfc3339(self) -> String {
        let mut out = self.date_time('T');
        if self.offset == 0 {
            out.push('Z');
        } else {
            let minutes = self.offset / 60;
            let sign = if minutes < 0 { '-' } else { '+' };
            let _ = write!(out, "{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60);
        }
        out
    }

    /// Prints it like Go's `%v`.
    pub(crate) fn go(self) -> String {
        let mut out = self.date_time(' ');
        if self.offset == 0 {
            out.push_str(" +0000 UTC");
        } else {
            let minutes = self.offset / 60;
            let sign = if minutes < 0 { '-' } else { '+' };
            let zone = format!("{sign}{:02}{:02}", minutes.abs() / 60, minutes.abs() % 60);
            let _ = write!(out, " {zone} {zone}");
        }
        out
    }

    /// Prints it in UTC.
    pub fn to_utc(self) -> String {
        Timestamp { offset: 0, ..self }.rfc3339()
    }

    /// Parses a timestamp like Go parses RFC 3339. Returns an error value if it is outside the years 1 to 9999.
    pub(crate) fn parse(text: &str) -> Option<Value<'static>> {
        let mut reader = Reader { rest: text };
        let year = reader.digits(4)?;
        reader.expect('-')?;
        let month = reader.digits(2)?;
        reader.expect('-')?;
        let day = reader.digits(2)?;
        reader.expect('T')?;
        let hour = reader.one_or_two()?;
        reader.expect(':')?;
        let minute = reader.digits(2)?;
        reader.expect(':')?;
        let second = reader.digits(2)?;
        let nanos = reader.fraction();
        let offset = reader.zone()?;
        if !(1..=12).contains(&month)
            || day < 1
            || day > days_in(year, month)
            || hour > 23
            || minute > 59
            || second > 59
        {
            return None;
        }
        let seconds = days_from_civil(year, month, day) * DAY + hour * 3600 + minute * 60 + second - i64::from(offset);
        Some(Timestamp { seconds, nanos, offset }.checked())
    }

    /// Parses a date, `2006-01-02`, as midnight.
    pub(crate) fn parse_date(text: &str) -> Option<Timestamp> {
        let mut reader = Reader { rest: text };
        let year = reader.digits(4)?;
        reader.expect('-')?;
        let month = reader.digits(2)?;
        reader.expect('-')?;
        let day = reader.digits(2)?;
        if !reader.rest.is_empty() || !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
            return None;
        }
        Some(Timestamp { seconds: days_from_civil(year, month, day) * DAY, nanos: 0, offset: 0 })
    }

    /// Parses a date and time as strfmt does: RFC 3339, also with lower-case letters, and without zone or seconds.
    pub(crate) fn parse_date_time(text: &str) -> Option<Timestamp> {
        match Timestamp::parse(&text.to_ascii_uppercase()) {
            Some(Value::Timestamp(at)) => Some(at),
            _ => None,
        }
    }
}

/// Writes a number that is not negative with at least `width` digits.
fn digits(out: &mut String, number: i64, width: u32) {
    if number >= 10 || width > 1 {
        digits(out, number / 10, width.saturating_sub(1));
    }
    out.push(char::from(b'0' + number.rem_euclid(10) as u8));
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn digits(&mut self, count: usize) -> Option<i64> {
        let text = self.rest.get(..count).filter(|text| text.bytes().all(|b| b.is_ascii_digit()))?;
        self.rest = &self.rest[count..];
        text.parse().ok()
    }

    fn one_or_two(&mut self) -> Option<i64> {
        self.digits(2).or_else(|| self.digits(1))
    }

    fn expect(&mut self, c: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }

    fn fraction(&mut self) -> u32 {
        let Some(after) = self.rest.strip_prefix(['.', ',']) else { return 0 };
        let count = after.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return 0;
        }
        let digits: String = after[..count].chars().chain(std::iter::repeat('0')).take(9).collect();
        self.rest = &after[count..];
        digits.parse().unwrap_or(0)
    }

    fn zone(&mut self) -> Option<i32> {
        if self.rest == "Z" {
            return Some(0);
        }
        let sign = match self.rest.as_bytes().first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.rest = &self.rest[1..];
        let hours = self.digits(2)?;
        self.expect(':')?;
        let minutes = self.digits(2)?;
        if !self.rest.is_empty() || hours > 24 || minutes > 60 {
            return None;
        }
        i32::try_from(sign * (hours * 60 + minutes) * 60).ok()
    }
}

/// Returns a timestamp. Protobuf accepts timestamps that CEL's `timestamp()` refuses.
pub(super) fn proto_timestamp<'a>(seconds: i64, nanos: i32) -> Value<'a> {
    let carry = i64::from(nanos.div_euclid(1_000_000_000));
    let nanos = nanos.rem_euclid(1_000_000_000).unsigned_abs();
    Value::Timestamp(Timestamp { seconds: seconds.wrapping_add(carry), nanos, offset: 0 })
}

/// Returns a duration, limited to the longest possible one.
pub(super) fn proto_duration<'a>(seconds: i64, nanos: i32) -> Value<'a> {
    let total = seconds.checked_mul(1_000_000_000).and_then(|total| total.checked_add(i64::from(nanos)));
    Value::Duration(total.unwrap_or(if seconds < 0 { i64::MIN } else { i64::MAX }))
}

/// Adds nanoseconds to a timestamp.
pub(crate) fn add<'a>(at: Timestamp, nanos: i64) -> Value<'a> {
    let total = i128::from(at.seconds) * i128::from(NANOS) + i128::from(at.nanos) + i128::from(nanos);
    let Ok(seconds) = i64::try_from(total.div_euclid(i128::from(NANOS))) else {
        return Value::error("integer overflow");
    };
    let nanos = total.rem_euclid(i128::from(NANOS)) as u32;
    Timestamp { seconds, nanos, offset: at.offset }.checked()
}

/// Returns the nanoseconds from `b` to `a`.
pub(crate) fn between(a: Timestamp, b: Timestamp) -> Option<i64> {
    let seconds = a.seconds.checked_sub(b.seconds)?.checked_mul(NANOS)?;
    seconds.checked_add(i64::from(a.nanos) - i64::from(b.nanos))
}

/// Prints a duration in seconds, like CEL.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn seconds_text(nanos: i64) -> String {
    let seconds = (nanos / NANOS) as f64 + (nanos % NANOS) as f64 / 1e9;
    format!("{seconds}s")
}

/// Prints a duration like Go's `time.Duration`.
pub(crate) fn go_duration(nanos: i64) -> String {
    let magnitude = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let fraction = |value: u64, digits: usize| {
        let scale = 10u64.pow(digits as u32);
        let rest = format!("{:0digits$}", value % scale);
        let rest = rest.trim_end_matches('0');
        if rest.is_empty() { (value / scale).to_string() } else { format!("{}.{rest}", value / scale) }
    };
    if magnitude == 0 {
        return "0s".to_owned();
    }
    if magnitude < 1_000 {
        return format!("{sign}{magnitude}ns");
    }
    if magnitude < 1_000_000 {
        return format!("{sign}{}µs", fraction(magnitude, 3));
    }
    if magnitude < 1_000_000_000 {
        return format!("{sign}{}ms", fraction(magnitude, 6));
    }
    let (hours, minutes) = (magnitude / 3_600_000_000_000, magnitude / 60_000_000_000 % 60);
    let seconds = fraction(magnitude % 60_000_000_000, 9);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// Returns the offset of a zone, `Europe/Berlin` or `+01:00`, at a timestamp; or Go's error.
pub(crate) fn offset_of(at: Timestamp, zone: &str) -> Result<i32, String> {
    let Some(colon) = zone.find(':') else {
        if zone.is_empty() || zone == "UTC" {
            return Ok(0);
        }
        let unknown = || format!("unknown time zone {zone}");
        if zone.contains("..") || zone.starts_with(['/', '\\']) {
            return Err("time: invalid location name".to_owned());
        }
        if zone == "Local" {
            return Ok(0);
        }
        let found: TimeZone = TimeZoneDatabase::bundled().get(zone).map_err(|_| unknown())?;
        let seconds = at.seconds.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
        let moment = jiff::Timestamp::new(seconds, 0).map_err(|_| unknown())?;
        let offset: Offset = found.to_offset(moment);
        return Ok(offset.seconds());
    };
    let number = |text: &str| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!("strconv.Atoi: parsing {}: invalid syntax", GoQuoted(text)));
        }
        text.parse::<i64>().map_err(|_| format!("strconv.Atoi: parsing {}: value out of range", GoQuoted(text)))
    };
    let hours = number(&zone[..colon])?;
    let minutes = number(&zone[colon + 1..])?;
    let minutes = if zone.starts_with('-') { hours * 60 - minutes } else { hours * 60 + minutes };
    Ok(i32::try_from(minutes.wrapping_mul(60)).unwrap_or(0))
}
