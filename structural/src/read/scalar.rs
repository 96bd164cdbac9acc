//! Strings with a format: times and base64.

use kubeshape_schema::read::Reader;
use kubeshape_yaml::go::{Time, base64};
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

/// Reads bytes: base64 in a string, or a list of numbers from 0 to 255. Null is empty.
pub(super) fn bytes<'a>(reader: &mut Reader<'a>, node: Node<'a>) -> &'a [u8] {
    const EXPECTED: &str = "base64";
    match node.kind() {
        Kind::Str => match base64::decode(node.text()) {
            Some(bytes) => reader.arena().alloc_slice_copy(&bytes),
            None => {
                reader.wrong_type(node, EXPECTED);
                &[]
            }
        },
        Kind::Seq => reader.list(node, EXPECTED, |reader, item| {
            let byte = item.as_number().and_then(|number| match number {
                Number::Int(n) => u8::try_from(n).ok(),
                Number::Uint(_) | Number::Float(_) => None,
            });
            if !item.is_null() && byte.is_none() {
                reader.wrong_type(item, "a number from 0 to 255");
            }
            byte.unwrap_or(0)
        }),
        Kind::Null => &[],
        _ => {
            reader.wrong_type(node, EXPECTED);
            &[]
        }
    }
}
