//! Bytes in pieces that documents share.

use bytes::{Bytes, BytesMut};
use std::sync::Arc;

/// A body in pieces. Versions of a large body share unchanged pieces.
#[derive(Clone, Debug, Default)]
pub struct Rope {
    pieces: Arc<[Bytes]>,
    len: usize,
}

impl Rope {
    /// Returns the pieces in order.
    pub fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns all bytes in one piece. Copies them unless there is only one piece.
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

/// Equal if the bytes are, in any pieces.
impl PartialEq for Rope {
    fn eq(&self, other: &Rope) -> bool {
        if self.len != other.len {
            return false;
        }
        let (mut ours, mut theirs) = (self.pieces.iter(), other.pieces.iter());
        let (mut a, mut b): (&[u8], &[u8]) = (&[], &[]);
        loop {
            if a.is_empty() {
                // They end together.
                let Some(next) = ours.next() else { return true };
                a = next;
            }
            if b.is_empty() {
                let Some(next) = theirs.next() else { return true };
                b = next;
            }
            let common = a.len().min(b.len());
            let ((left, rest_of_a), (right, rest_of_b)) = (a.split_at(common), b.split_at(common));
            // Versions of a document share pieces.
            if !std::ptr::eq(left, right) && left != right {
                return false;
            }
            (a, b) = (rest_of_a, rest_of_b);
        }
    }
}

impl Eq for Rope {}

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

#[cfg(test)]
mod tests {
    use super::Rope;
    use bytes::Bytes;

    #[test]
    fn ropes_are_equal_if_their_bytes_are() {
        let rope = |pieces: &[&'static str]| -> Rope {
            pieces.iter().map(|piece| Bytes::from_static(piece.as_bytes())).collect()
        };
        let whole = Rope::from(Bytes::from_static(b"abcdef"));
        for (pieces, is_same) in [
            (&["abcdef"][..], true),
            (&["a", "bcd", "", "ef"], true),
            (&["abc", "def"], true),
            (&["abc", "deg"], false),
            (&["abcde"], false),
            (&["abc", "defg"], false),
            (&[], false),
        ] {
            assert_eq!(rope(pieces) == whole, is_same, "{pieces:?}");
            assert_eq!(whole == rope(pieces), is_same, "{pieces:?}");
        }
        assert_eq!(rope(&["a", "bcd", "ef"]), rope(&["abc", "d", "ef"]));
        assert_eq!(Rope::default(), Rope::from(Bytes::new()));
    }
}
