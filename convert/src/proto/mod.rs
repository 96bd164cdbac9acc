//! The protobuf forms of documents, as gnostic defines them and kube-apiserver serves them.
//!
//! [`v2`] and [`v3`] convert a document to the bytes that gnostic-models' `ParseDocument` and Go's `proto.Marshal`
//! give, and back.
//!
//! The messages are stricter than JSON and contain less. A value that they do not allow is an error with a location
//! ([`Refusal`]). A value that they drop is a note (codes KS7002 and up).
//!
//! # Example: a document and its bytes
//! ```
//! use kubeshape_convert::proto;
//! use kubeshape_schema::Dialect;
//! use kubeshape_yaml::{Limits, Stream, Tape};
//!
//! let json = r#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{}}"#;
//! let mut tape = Tape::new();
//! Stream::new(json.as_bytes(), Limits::default())?.next(&mut tape).unwrap()?;
//! let encoded = proto::v3::encode(tape.document(json).root().unwrap()).unwrap();
//! assert_eq!(proto::detect(&encoded.value), Some(Dialect::V3));
//! assert_eq!(proto::v3::decode(&encoded.value).unwrap(), json.as_bytes());
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

mod any;
mod decode;
mod encode;
mod inverse;
mod printer;
mod refusal;
mod resolve;
mod source;
mod table;
pub mod v2;
pub mod v3;
mod wire;

pub use decode::DecodeError;
pub use refusal::{Problem, Refusal};
pub use wire::WireError;

use kubeshape_schema::{Converted, Dialect};
use kubeshape_yaml::Node;

/// Returns the bytes of the protobuf form of a document in that dialect, and notes of what the form cannot express.
///
/// # Errors
/// As [`v2::encode`] and [`v3::encode`]: every reason why gnostic rejects the document.
pub fn encode(root: Node<'_>, dialect: Dialect) -> Result<Converted<'_, Vec<u8>>, Vec<Refusal>> {
    match dialect {
        Dialect::V2 => v2::encode(root),
        Dialect::V3 => v3::encode(root),
    }
}

/// Returns the JSON of the protobuf form of a document in that dialect.
///
/// # Errors
/// As [`v2::decode`] and [`v3::decode`]: the bytes are not such a message, a value is not YAML, a number is not finite.
pub fn decode(bytes: &[u8], dialect: Dialect) -> Result<Vec<u8>, DecodeError> {
    match dialect {
        Dialect::V2 => v2::decode(bytes),
        Dialect::V3 => v3::decode(bytes),
    }
}

/// Returns the dialect of a document in protobuf form, or `None` if the bytes do not begin like one: with the version
/// in field 1 and `info` in field 2.
///
/// # Example
/// ```
/// use kubeshape_convert::proto::detect;
/// use kubeshape_schema::Dialect;
/// assert_eq!(detect(b"\x0a\x032.0\x12\x06\x0a\x01t\x12\x01v"), Some(Dialect::V2));
/// assert_eq!(detect(b"\x0a\x053.0.0\x12\x06\x0a\x01t\x32\x01v"), Some(Dialect::V3));
/// assert_eq!(detect(b"{\"swagger\":\"2.0\"}"), None);
/// ```
pub fn detect(bytes: &[u8]) -> Option<Dialect> {
    let [0x0A, length, rest @ ..] = bytes else {
        return None;
    };
    let (version, rest) = rest.split_at_checked(usize::from(*length))?;
    if rest.first() != Some(&0x12) {
        return None;
    }
    match version {
        b"2.0" => Some(Dialect::V2),
        b"3" => Some(Dialect::V3),
        [b'3', b'.', rest @ ..] if *length < 0x80 && rest.iter().all(u8::is_ascii_graphic) => Some(Dialect::V3),
        _ => None,
    }
}

/// Returns whether gnostic prints a string without quotes and reads it as a string again, by its words.
pub(crate) fn is_unquoted_text(text: &str) -> bool {
    resolve::tag(text) == resolve::Tag::Text
}
