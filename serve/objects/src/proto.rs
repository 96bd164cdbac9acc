//! Protobuf as the generated code of apimachinery writes it: every member of a message, also empty ones.

/// A member with bytes or a message.
pub(crate) fn bytes(out: &mut Vec<u8>, number: u32, content: &[u8]) {
    varint(out, u64::from(number << 3 | 2));
    varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

/// A member with a text.
pub(crate) fn text(out: &mut Vec<u8>, number: u32, content: &str) {
    bytes(out, number, content.as_bytes());
}

/// A member with a number.
pub(crate) fn number(out: &mut Vec<u8>, member: u32, value: i64) {
    varint(out, u64::from(member << 3));
    varint(out, value.cast_unsigned());
}

fn varint(out: &mut Vec<u8>, value: u64) {
    let (bytes, length) = varint_of(value);
    out.extend_from_slice(bytes.get(..length).unwrap_or_default());
}

/// The bytes of a number, and how many of them there are.
pub(crate) fn varint_of(mut value: u64) -> ([u8; 10], usize) {
    let mut bytes = [0; 10];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            return (bytes, at + 1);
        }
        *byte |= 0x80;
    }
    (bytes, bytes.len())
}

/// A `ListMeta`.
pub(crate) fn list_meta(revision: &str, token: &str, remaining: Option<i64>) -> Vec<u8> {
    let mut out = Vec::new();
    text(&mut out, 1, "");
    text(&mut out, 2, revision);
    text(&mut out, 3, token);
    if let Some(remaining) = remaining {
        number(&mut out, 4, remaining);
    }
    out
}

/// `k8s\0` and a `runtime.Unknown` around a message.
pub(crate) fn unknown(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let mut meta = Vec::new();
    text(&mut meta, 1, api_version);
    text(&mut meta, 2, kind);
    let mut out = b"k8s\0".to_vec();
    bytes(&mut out, 1, &meta);
    bytes(&mut out, 2, message);
    text(&mut out, 3, "");
    text(&mut out, 4, "");
    out
}
