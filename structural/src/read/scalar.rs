//! Strings with a format: times and base64.

use kubeshape_schema::read::Reader;
use kubeshape_yaml::go::Time;
use kubeshape_yaml::{Kind, Node, Number};

/// Checks a time. Null is the zero time.
pub(super) fn time<'a>(reader: &mut Reader<'a>, node: Node<'a>) {
    let right = match node.kind() {
        Kind::Null => true,
        Kind::Str => Time::parse(node.text()).is_some(),
        _ => false,
    };
    if !right {
        reader.wrong_type(node, "a time such as \"2006-01-02T15:04:05Z\"");
    }
}

/// Checks bytes: base64 in a string, or a list of numbers from 0 to 255. Null is empty.
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

/// Returns whether this is standard base64 with padding. Line breaks are ignored.
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

#[cfg(test)]
mod tests {
    use super::is_base64;

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
