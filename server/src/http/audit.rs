//! Names of requests, and other texts that nobody should be able to guess by accident.

use http::{HeaderMap, HeaderName, HeaderValue};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// `Audit-Id`
pub(super) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// Hashes of a counter with keys that differ in every process. They are names, no secrets.
fn random() -> u64 {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    KEYS.hash_one(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The id of a request: the client's own, if it gives a short one, else a random UUID.
pub(crate) fn id(headers: &HeaderMap) -> HeaderValue {
    const LONGEST: usize = 64;
    if let Some(own) = headers.get(AUDIT_ID).filter(|own| (1..=LONGEST).contains(&own.len())) {
        return own.clone();
    }
    let mut text = [b'-'; 36];
    let bits = (u128::from(random()) << 64 | u128::from(random())) & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let mut digits = (0..32).map(|at| hex(bits >> (124 - 4 * at)));
    for (place, byte) in text.iter_mut().enumerate() {
        if ![8, 13, 18, 23].contains(&place) {
            *byte = digits.next().unwrap_or(b'0');
        }
    }
    HeaderValue::from_bytes(&text).unwrap_or(HeaderValue::from_static("-"))
}

/// A boundary between parts: 60 digits, as Go's `mime/multipart` has them.
pub(super) fn boundary() -> String {
    (0..15)
        .flat_map(|_| {
            let bits = random();
            (0..4).map(move |at| char::from(hex(u128::from(bits) >> (4 * at))))
        })
        .collect()
}

fn hex(bits: u128) -> u8 {
    b"0123456789abcdef"[(bits & 15) as usize]
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
