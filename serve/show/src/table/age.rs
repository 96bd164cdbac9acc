//! Ages.

use kubeshape_yaml::go::Time;

/// The longest duration that Go has, in seconds.
const LONGEST: i64 = i64::MAX / 1_000_000_000;

/// Returns the age of a time in the format of `kubectl get` (upstream: `metatable.ConvertToHumanReadableDateType`).
///
/// # Example
/// ```
/// use kubeshape_show::table::age;
/// use kubeshape_yaml::go::Time;
/// let now = Time::parse("2030-01-01T12:00:00Z").unwrap();
/// assert_eq!(age("2029-12-30T08:00:00Z", now), "2d4h");
/// assert_eq!(age("2030-01-01T12:01:00Z", now), "<invalid>");
/// assert_eq!(age("yesterday", now), "<invalid>");
/// assert_eq!(age("", now), "<unknown>");
/// ```
pub fn age(text: &str, now: Time) -> String {
    if matches!(text, "" | "null") {
        return "<unknown>".to_owned();
    }
    match Time::parse(text) {
        None => "<invalid>".to_owned(),
        Some(Time::ZERO) if !has_fraction(text) => "<unknown>".to_owned(),
        Some(time) => {
            let seconds = now.0.saturating_sub(time.0);
            // Go rounds towards zero.
            let seconds = if has_fraction(text) && seconds > 0 { seconds - 1 } else { seconds };
            duration(seconds.clamp(-LONGEST, LONGEST))
        }
    }
}

/// Returns whether a time has a fraction of a second.
fn has_fraction(text: &str) -> bool {
    let Some((_, fraction)) = text.split_once(['.', ',']) else { return false };
    // Go's resolution is nanoseconds.
    fraction.bytes().take_while(u8::is_ascii_digit).take(9).any(|digit| digit != b'0')
}

/// Formats a duration in seconds with two or three significant digits (upstream: `duration.HumanDuration`).
pub(super) fn duration(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    let with_rest = |whole: i64, unit: &str, rest: i64, small: &str| match rest {
        0 => format!("{whole}{unit}"),
        rest => format!("{whole}{unit}{rest}{small}"),
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => with_rest(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => with_rest(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => with_rest(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => with_rest(years, "y", days % 365, "d"),
        _ => format!("{years}y"),
    }
}

#[cfg(test)]
mod tests {
    use super::{age, duration};
    use kubeshape_yaml::go::Time;

    #[test]
    fn durations_have_two_or_three_significant_digits() {
        for (seconds, expected) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (10_799, "179m"),
            (10_800, "3h"),
            (28_799, "7h59m"),
            (172_799, "47h"),
            (172_800, "2d"),
            (691_199, "7d23h"),
            (691_200, "8d"),
            (63_071_999, "729d"),
            (63_072_000, "2y"),
            (252_287_999, "7y364d"),
            (252_288_000, "8y"),
        ] {
            assert_eq!(duration(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn fractions_are_rounded_as_in_go() {
        let now = Time::parse("2000-01-01T00:00:10Z").expect("a time");
        for (text, expected) in [
            ("2000-01-01T00:00:08.5Z", "1s"),
            ("2000-01-01T00:00:10.5Z", "0s"),
            ("2000-01-01T00:00:11.5Z", "0s"),
            ("2000-01-01T00:00:12Z", "<invalid>"),
            ("0001-01-01T00:00:00Z", "<unknown>"),
            ("0002-01-01T00:00:00Z", "292y"),
        ] {
            assert_eq!(age(text, now), expected, "{text}");
        }
    }
}
