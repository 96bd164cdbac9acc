//! The protobuf forms of documents, as gnostic defines them and kube-apiserver serves them.
//!
//! [`v2`] and [`v3`] turn a document into the bytes that gnostic-models' `ParseDocument` and Go's `proto.Marshal` give,
//! and back; both have the generated messages under `model`. Source of the rules: spec, publishing, §3.7.
//!
//! The model is stricter than JSON and holds less: what it refuses is an error with a place ([`Refusal`]), what it
//! drops is a note (codes KS7002 and up).
//!
//! # Example: a document and its bytes
//! ```
//! use kubeshape_convert::proto::{self, Version};
//! use kubeshape_yaml::{Limits, Stream, Tape};
//!
//! let json = r#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{}}"#;
//! let mut tape = Tape::new();
//! Stream::new(json.as_bytes(), Limits::default())?.next(&mut tape).unwrap()?;
//! let encoded = proto::v3::encode(tape.document(json).root().unwrap()).unwrap();
//! assert_eq!(proto::detect(&encoded.value), Some(Version::V3));
//! assert_eq!(proto::v3::decode(&encoded.value).unwrap(), json.as_bytes());
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

mod any;
mod decode;
mod encode;
mod inverse;
mod refusal;
mod resolve;
mod source;
mod table;
pub mod v2;
pub mod v3;

pub use decode::DecodeError;
pub use refusal::{Problem, Refusal};

/// Which model bytes are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `openapi.v2.Document`.
    V2,
    /// `openapi.v3.Document`.
    V3,
}

/// Whether bytes begin like the protobuf form of a document, and of which model: the version in field 1, and `info`
/// in field 2.
///
/// # Example
/// ```
/// use kubeshape_convert::proto::{Version, detect};
/// assert_eq!(detect(b"\x0a\x032.0\x12\x06\x0a\x01t\x12\x01v"), Some(Version::V2));
/// assert_eq!(detect(b"\x0a\x053.0.0\x12\x06\x0a\x01t\x32\x01v"), Some(Version::V3));
/// assert_eq!(detect(b"{\"swagger\":\"2.0\"}"), None);
/// ```
pub fn detect(bytes: &[u8]) -> Option<Version> {
    let [0x0A, length, rest @ ..] = bytes else {
        return None;
    };
    let (version, rest) = rest.split_at_checked(usize::from(*length))?;
    if rest.first() != Some(&0x12) {
        return None;
    }
    match version {
        b"2.0" => Some(Version::V2),
        b"3" => Some(Version::V3),
        [b'3', b'.', rest @ ..] if *length < 0x80 && rest.iter().all(u8::is_ascii_graphic) => Some(Version::V3),
        _ => None,
    }
}

/// Whether gnostic prints a text as it is and reads it as one again, as far as its words go.
pub(crate) fn is_unquoted_text(text: &str) -> bool {
    resolve::tag(text) == resolve::Tag::Text
}
