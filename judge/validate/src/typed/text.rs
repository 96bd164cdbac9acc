//! Texts with a special format.

use crate::object::time_error;
use kubeshape_yaml::go::Time;
use kubeshape_yaml::go::escape::GoQuoted;

/// Returns where Go's `base64.StdEncoding` stops with an error, if it does. Line breaks do not count.
pub(super) fn base64_error(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_break = |at: usize| matches!(bytes.get(at), Some(b'\n' | b'\r'));
    // The number of characters read in the current group of four.
    let mut read = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => read = (read + 1) % 4,
            b'\n' | b'\r' => {}
            b'=' if read >= 2 => {
                let mut end = at + 1;
                while is_break(end) {
                    end += 1;
                }
                if read == 2 {
                    match bytes.get(end) {
                        None => return Some(bytes.len()),
                        Some(b'=') => end += 1,
                        Some(_) => return Some(end - 1),
                    }
                }
                while is_break(end) {
                    end += 1;
                }
                return (end < bytes.len()).then_some(end);
            }
            _ => return Some(at),
        }
        at += 1;
    }
    (read != 0).then(|| bytes.len() - read)
}

/// Returns Go's error for a text that is not a time with microseconds.
pub(super) fn micro_time_error(text: &str) -> Option<String> {
    const LAYOUT: &str = "2006-01-02T15:04:05.000000Z07:00";
    if Time::parse(text).is_none() {
        return Some(time_error(text).replace("2006-01-02T15:04:05Z07:00", LAYOUT));
    }
    let rest = text.get("2006-01-02T15:04:05".len()..).unwrap_or_default();
    let fraction = rest.strip_prefix(['.', ',']).unwrap_or_default();
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 6 {
        let rest = GoQuoted(rest.get(7..).unwrap_or_default());
        let text = GoQuoted(text);
        return Some(format!("parsing time {text} as \"{LAYOUT}\": cannot parse {rest} as \"Z07:00\""));
    }
    (digits != 6).then(|| {
        let (text, layout, rest) = (GoQuoted(text), GoQuoted(LAYOUT), GoQuoted(rest));
        format!("parsing time {text} as {layout}: cannot parse {rest} as \".000000\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_errors_are_where_go_has_them() {
        for text in ["", "YQ==", "YWI=", "YWJj", "YQ=\n=\n", "YW\nJj", "YR=="] {
            assert_eq!(base64_error(text), None, "{text:?}");
        }
        let broken = [("a", 0), ("YQ", 0), ("YQ=", 3), ("YQ=a", 2), ("Y=", 1), ("=", 0), ("YWJj!", 4), ("YWI=YQ==", 4)];
        for (text, at) in broken {
            assert_eq!(base64_error(text), Some(at), "{text:?}");
        }
    }

    #[test]
    fn a_time_with_microseconds_has_six_digits() {
        assert_eq!(micro_time_error("2026-01-02T03:04:05.000006Z"), None);
        let error = "parsing time \"2026-01-02T03:04:05Z\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \
                     \".000000\"";
        assert_eq!(micro_time_error("2026-01-02T03:04:05Z").as_deref(), Some(error));
    }
}
