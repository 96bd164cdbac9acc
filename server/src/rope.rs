//! Bytes in pieces that documents share.

use bytes::{Bytes, BytesMut};
use std::sync::Arc;

/// A body in pieces. Versions of a large body share the pieces that did not change.
#[derive(Clone, Debug, Default)]
pub struct Rope {
    pieces: Arc<[Bytes]>,
    len: usize,
}

impl Rope {
    /// The pieces in order.
    pub fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All bytes in one piece. Copies them unless there is only one piece.
    pub fn to_bytes(&self) -> Bytes {
        match &*self.pieces {
            [] => Bytes::new(),
            [one] => one.clone(),
            pieces => {
                let mut all = BytesMut::with_capacity(self.len);
                for piece in pieces {
                    all.extend_from_slice(piece);
                }
                all.freeze()
            }
        }
    }
}

impl From<Bytes> for Rope {
    fn from(bytes: Bytes) -> Self {
        Rope { len: bytes.len(), pieces: [bytes].into() }
    }
}

impl FromIterator<Bytes> for Rope {
    fn from_iter<I: IntoIterator<Item = Bytes>>(pieces: I) -> Self {
        let pieces: Arc<[Bytes]> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        Rope { len: pieces.iter().map(Bytes::len).sum(), pieces }
    }
}
