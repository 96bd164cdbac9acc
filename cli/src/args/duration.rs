//! Times on the command line.

use std::time::Duration;

/// `500ms`, `10s`, `5m`, `1h`, or seconds
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a time, as in 500ms, 10s, 5m or 1h".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u32 = number.parse().map_err(|_| wrong())?;
    let number = u64::from(number);
    let time = match unit {
        "ms" => Duration::from_millis(number),
        "" | "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number * 60),
        "h" => Duration::from_secs(number * 3600),
        _ => return Err(wrong()),
    };
    if time.is_zero() { Err("expected a time greater than zero".to_owned()) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, ms) in [("500ms", 500), ("10s", 10_000), ("10", 10_000), ("5m", 300_000), ("1h", 3_600_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)));
        }
        for text in ["", "s", "0", "0s", "-1s", "1d", "1.5s", "99999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
