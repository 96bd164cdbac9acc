//! Texts with a form of their own: times and base64.

use kubeshape_schema::read::Reader;
use kubeshape_yaml::{Kind, Node, Number};

/// Checks a time; null is the zero time.
pub(super) fn time<'a>(reader: &mut Reader<'a>, node: Node<'a>) {
    let right = match node.kind() {
        Kind::Null => true,
        Kind::Str => is_rfc3339(node.text().as_bytes()),
        _ => false,
    };
    if !right {
        reader.wrong_type(node, "a time such as \"2006-01-02T15:04:05Z\"");
    }
}

/// Checks bytes: base64 in a string, or a list of numbers from 0 to 255; null is none.
pub(super) fn bytes<'a>(reader: &mut Reader<'a>, node: Node<'a>) {
    const EXPECTED: &str = "base64";
    match node.kind() {
        Kind::Str if is_base64(node.text().as_bytes()) => {}
        Kind::Seq => reader.each_item(node, EXPECTED, |reader, item| {
            let number = item.as_number();
            if !item.is_null() && !matches!(number, Some(Number::Int(0..=255))) {
                reader.wrong_type(item, "a number from 0 to 255");
            }
        }),
        Kind::Null => {}
        _ => reader.wrong_type(node, EXPECTED),
    }
}

/// Standard base64 with padding; line breaks count for nothing.
fn is_base64(text: &[u8]) -> bool {
    let (mut data, mut padding) = (0usize, 0usize);
    for b in text {
        match b {
            b'\r' | b'\n' => {}
            b'=' => padding += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => data += 1,
            _ => return false,
        }
    }
    matches!((data % 4, padding), (0, 0) | (2, 2) | (3, 1))
}

/// RFC 3339 as Go's `time.Parse` takes it: an hour of one digit, a fraction behind a comma and offsets
/// of up to 24:60 are all right, lower-case letters and leap seconds are not.
fn is_rfc3339(text: &[u8]) -> bool {
    parse_rfc3339(text).is_some()
}

fn parse_rfc3339(text: &[u8]) -> Option<()> {
    let (year, text) = digits(text, 4)?;
    let (month, text) = digits(literal(text, b'-')?, 2)?;
    let (day, text) = digits(literal(text, b'-')?, 2)?;
    let text = literal(text, b'T')?;
    let (hour, text) = digits(text, 2).or_else(|| digits(text, 1))?;
    let (minute, text) = digits(literal(text, b':')?, 2)?;
    let (second, mut text) = digits(literal(text, b':')?, 2)?;
    if let [b'.' | b',', b'0'..=b'9', rest @ ..] = text {
        let more = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        text = &rest[more..];
    }
    let zone = match text {
        b"Z" => true,
        [b'+' | b'-', rest @ ..] => {
            let (hours, rest) = digits(rest, 2)?;
            let (minutes, rest) = digits(literal(rest, b':')?, 2)?;
            hours <= 24 && minutes <= 60 && rest.is_empty()
        }
        _ => false,
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    ((1..=days).contains(&day) && hour < 24 && minute < 60 && second < 60 && zone).then_some(())
}

fn digits(text: &[u8], count: usize) -> Option<(u32, &[u8])> {
    let (head, rest) = text.split_at_checked(count)?;
    let value = head.iter().try_fold(0, |sum, b| b.is_ascii_digit().then(|| sum * 10 + u32::from(b - b'0')))?;
    Some((value, rest))
}

fn literal(text: &[u8], byte: u8) -> Option<&[u8]> {
    text.strip_prefix(&[byte])
}

#[cfg(test)]
mod tests {
    use super::{is_base64, is_rfc3339};

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
            assert!(is_rfc3339(text.as_bytes()), "{text}");
        }
        for text in wrong {
            assert!(!is_rfc3339(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn base64_needs_its_padding_and_may_be_broken_into_lines() {
        for text in ["", "Cg==", "Cg\n==\n", "YWI=", "YWJj", "YW\r\nJj"] {
            assert!(is_base64(text.as_bytes()), "{text}");
        }
        for text in ["Cg", "Cg=", "C===", "====", "YW-_", "Cg==Cg==", "Y Q="] {
            assert!(!is_base64(text.as_bytes()), "{text}");
        }
    }
}
