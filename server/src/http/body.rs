//! Bodies of responses.

use crate::rope::Rope;
use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A body with a `Content-Length`.
pub(super) fn sized(content: &Rope) -> Body {
    match content.pieces() {
        [] => Body::empty(),
        [piece] => Body::from(piece.clone()),
        _ => Body::new(Pieces { content: content.clone(), next: 0, left: content.len() as u64, announced: true }),
    }
}

/// A body that is sent in chunks, without a length.
pub(super) fn chunked(content: &Rope) -> Body {
    Body::new(Pieces { content: content.clone(), next: 0, left: content.len() as u64, announced: false })
}

/// No body, and no `Content-Length: 0`: for HEAD and 304.
pub(super) fn none() -> Body {
    Body::new(Pieces { content: Rope::default(), next: 0, left: 0, announced: false })
}

/// A range of a body. It shares the pieces.
pub(super) fn slice(content: &Rope, start: usize, length: usize) -> Rope {
    let mut before = 0;
    let end = start.saturating_add(length);
    let parts = content.pieces().iter().map(|piece| {
        let from = start.saturating_sub(before).min(piece.len());
        let to = end.saturating_sub(before).min(piece.len());
        before += piece.len();
        if from < to { piece.slice(from..to) } else { Bytes::new() }
    });
    parts.collect()
}

/// Sends the pieces one after the other, without copying them.
struct Pieces {
    content: Rope,
    next: usize,
    left: u64,
    announced: bool,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(piece) = self.content.pieces().get(self.next).cloned() else { return Poll::Ready(None) };
        self.next += 1;
        self.left = self.left.saturating_sub(piece.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        if self.announced { SizeHint::with_exact(self.left) } else { SizeHint::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cross_pieces() {
        let rope: Rope =
            ["abc", "", "def", "g"].map(|piece| Bytes::from_static(piece.as_bytes())).into_iter().collect();
        for (start, length, expected) in
            [(0, 7, "abcdefg"), (2, 2, "cd"), (3, 3, "def"), (6, 9, "g"), (7, 0, ""), (1, 0, "")]
        {
            assert_eq!(slice(&rope, start, length).to_bytes(), expected);
        }
    }
}
