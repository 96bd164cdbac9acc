//! Random strings: ids of requests, boundaries between parts.

use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

/// `Audit-Id`
pub(super) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// Returns the id of a request: that of the client if it is short, else a random UUID.
pub(crate) fn id(headers: &HeaderMap) -> HeaderValue {
    const LONGEST: usize = 64;
    if let Some(own) = headers.get(AUDIT_ID).filter(|own| (1..=LONGEST).contains(&own.len())) {
        return own.clone();
    }
    let mut text = Uuid::encode_buffer();
    let text = Uuid::new_v4().hyphenated().encode_lower(&mut text);
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("-"))
}

/// Returns a boundary between parts: 60 hexadecimal digits, like in Go's `mime/multipart`.
pub(super) fn boundary() -> String {
    let mut text = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
    text.truncate(60);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_random_uuids_unless_the_client_has_one() {
        let text = |headers: &HeaderMap| id(headers).to_str().expect("ASCII").to_owned();
        let (one, two) = (text(&HeaderMap::new()), text(&HeaderMap::new()));
        assert_ne!(one, two);
        assert_eq!(one.len(), 36);
        assert_eq!(one.as_bytes()[14], b'4', "{one}");
        assert!(b"89ab".contains(&one.as_bytes()[19]), "{one}");
        let headers = HeaderMap::from_iter([(AUDIT_ID, HeaderValue::from_static("mine"))]);
        assert_eq!(text(&headers), "mine");
        assert_eq!(boundary().len(), 60);
    }
}
