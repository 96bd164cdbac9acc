//! Compares one answer with a recorded one.
#![allow(clippy::format_push_string)]

use crate::golden;
use crate::table::Verdict;
use serde_json::value::RawValue;
use std::fmt::Debug;

/// Compares any two values.
pub fn equal<T: PartialEq + Debug>(ours: &T, theirs: &T) -> Verdict {
    if ours == theirs { Verdict::Equal } else { Verdict::Differing(format!("{ours:?}, theirs {theirs:?}")) }
}

/// Compares documents byte for byte.
pub fn bytes(ours: &[u8], theirs: &[u8]) -> Verdict {
    golden::first_byte_difference(ours, theirs).map_or(Verdict::Equal, Verdict::Differing)
}

/// Compares documents byte for byte, and their ETags.
pub fn bytes_and_etag(ours: &[u8], theirs: &[u8], our_etag: &str, their_etag: &str) -> Verdict {
    match bytes(ours, theirs) {
        Verdict::Equal if our_etag == their_etag => Verdict::Equal,
        Verdict::Equal => Verdict::Differing(format!("etag {our_etag}, theirs {their_etag}")),
        other => other,
    }
}

/// Compares documents by ETag, if their recorded bytes have been escaped once more.
pub fn etag_or_bytes(ours: &[u8], theirs: &[u8], their_etag: &str) -> Verdict {
    let our_etag = golden::etag(ours);
    if our_etag == their_etag {
        return Verdict::Equal;
    }
    match bytes(ours, theirs) {
        Verdict::Equal => Verdict::Differing(format!("etag {our_etag}, theirs {their_etag}")),
        other => other,
    }
}

/// Compares documents as JSON values.
pub fn json(ours: &[u8], theirs: &RawValue) -> Verdict {
    let parsed = serde_json::from_slice(ours).and_then(|ours| Ok((ours, serde_json::from_str(theirs.get())?)));
    match parsed {
        Ok((ours, theirs)) => golden::first_difference(&ours, &theirs).map_or(Verdict::Equal, Verdict::Differing),
        Err(error) => Verdict::Differing(format!("not JSON: {error}")),
    }
}

/// Compares documents byte for byte, with the escapes of Go's `encoding/json` added to ours.
pub fn escaped_bytes(ours: &[u8], theirs: &RawValue) -> Verdict {
    bytes(escaped(ours).as_bytes(), theirs.get().as_bytes())
}

/// Returns a document with the escapes of Go's `encoding/json` added.
pub fn escaped(ours: &[u8]) -> String {
    let mut escaped = String::with_capacity(ours.len());
    for c in String::from_utf8_lossy(ours).chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}
