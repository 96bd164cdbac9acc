//! Dates, times and durations.

/// Checks `2006-01-02`, for a day that exists.
pub(super) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let number = |range: std::ops::Range<usize>| {
        let digits = &text.as_bytes()[range];
        digits.iter().all(u8::is_ascii_digit).then(|| digits.iter().fold(0u32, |n, b| n * 10 + u32::from(b - b'0')))
    };
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else { return false };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Checks a date, `t` and a time with a zone. Text after another `t` is ignored, and any character may precede the
/// fraction of a second.
pub(super) fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_time(time)
}

/// Checks `15:04:05.999z`, or an offset instead of `z`.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let pair = |at: usize, most: u8| {
        matches!(bytes.get(at..at + 2), Some([a, b]) if a.is_ascii_digit() && b.is_ascii_digit()
            && (a - b'0') * 10 + (b - b'0') <= most)
    };
    let colons = bytes.get(2) == Some(&b':') && bytes.get(5) == Some(&b':');
    if !(colons && pair(0, 23) && pair(3, 59) && pair(6, 59)) {
        return false;
    }
    let rest = &text[8..];
    if is_zone(rest) {
        return true;
    }
    let mut behind = rest.chars();
    // Go's class `.` matches everything but a newline.
    if behind.next().is_none_or(|c| c == '\n') {
        return false;
    }
    let zone = behind.as_str().trim_start_matches(|c: char| c.is_ascii_digit());
    zone.len() < behind.as_str().len() && is_zone(zone)
}

fn is_zone(text: &str) -> bool {
    matches!(text.as_bytes(), [b'z'])
        || matches!(text.as_bytes(), [b'+' | b'-', a, b, b':', c, d]
            if [a, b, c, d].iter().all(|b| b.is_ascii_digit()))
}

/// Checks a duration for Go, or any number with a unit anywhere in the string.
pub(super) fn is_duration(text: &str) -> bool {
    kubeshape_yaml::go::time::parse_duration(text).is_some() || has_duration(text)
}

/// The units of a duration. All names but the last must be equal to the unit; the unit may begin with the last one.
const UNITS: [&[&str]; 8] = [
    &["ns", "nano"],
    &["us", "µs", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

fn has_duration(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == 'µ';
    let blank = |c: char| matches!(c, '\t' | '\n' | '\u{c}' | '\r' | ' ');
    let mut found = false;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let from = &rest[start..];
        let behind = from.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &from[..from.len() - behind.len()];
        let unit = behind.trim_start_matches(blank);
        let after = unit.trim_start_matches(is_letter);
        let unit = unit[..unit.len() - after.len()].to_lowercase();
        rest = behind;
        if unit.is_empty() {
            continue;
        }
        if digits.parse::<i64>().is_err() {
            return false;
        }
        rest = after;
        found |= UNITS
            .iter()
            .any(|names| names.contains(&unit.as_str()) || names.last().is_some_and(|last| unit.starts_with(last)));
    }
    found
}
