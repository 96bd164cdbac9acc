//! A document in all its representations, each made once.

use crate::rope::Rope;
use bytes::Bytes;
use sha2::{Digest, Sha512};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// What kind of OpenAPI document it is: which protobuf form it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAPI v2
    V2,
    /// OpenAPI v3
    V3,
    /// No OpenAPI document: it has no protobuf form.
    Other,
}

/// A published document. Hash, protobuf and compressed forms are made at their first use and kept; snapshots
/// share documents that did not change.
#[derive(Debug)]
pub struct Document {
    dialect: Dialect,
    json: Rope,
    modified: SystemTime,
    hash: OnceLock<Arc<str>>,
}

impl Document {
    /// A document whose content changed last at `modified`.
    pub fn new(dialect: Dialect, json: impl Into<Rope>, modified: SystemTime) -> Document {
        Document { dialect, json: json.into(), modified, hash: OnceLock::new() }
    }

    /// The dialect.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The JSON form.
    pub fn json(&self) -> &Rope {
        &self.json
    }

    /// When the content changed last.
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// SHA-512 of the JSON form in upper-case hexadecimal digits: hash and, quoted, ETag of every form.
    pub fn hash(&self) -> &Arc<str> {
        self.hash.get_or_init(|| {
            let mut digest = Sha512::new();
            for piece in self.json.pieces() {
                digest.update(piece);
            }
            hex(&digest.finalize())
        })
    }

    /// The gnostic protobuf form of an OpenAPI document.
    ///
    /// # Errors
    /// The document has no such form; the text says why.
    pub fn protobuf(&self) -> Result<&Bytes, &str> {
        Err("no protobuf form yet")
    }
}

/// Upper-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> Arc<str> {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02X}");
    }
    out.into()
}
