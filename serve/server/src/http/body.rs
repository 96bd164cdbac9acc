//! Bodies of responses.

use super::range::Range;
use crate::rope::Rope;
use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Returns a body with a `Content-Length`.
pub(super) fn sized(content: &Rope) -> Body {
    match content.pieces() {
        [] => Body::empty(),
        [piece] => Body::from(piece.clone()),
        _ => Body::new(Spans { announced: true, ..Spans::whole(content) }),
    }
}

/// Returns a body that is sent in chunks, without a length.
pub(super) fn chunked(content: &Rope) -> Body {
    Body::new(Spans::whole(content))
}

/// Returns no body, and no `Content-Length: 0`: for HEAD and 304.
pub(super) fn none() -> Body {
    Body::new(Spans::whole(&Rope::default()))
}

/// A part of a body.
#[derive(Clone, Debug)]
pub(super) enum Span {
    Text(Bytes),
    /// A part of the content.
    Part(Range),
}

impl Span {
    pub(super) fn len(&self) -> usize {
        match self {
            Span::Text(text) => text.len(),
            Span::Part(range) => range.length,
        }
    }
}

/// Returns a body with parts of a content and strings between them. Parts are cut out when they are sent.
pub(super) fn spans(content: &Rope, spans: Vec<Span>) -> Body {
    let left = spans.iter().map(Span::len).sum::<usize>() as u64;
    let part = Range { start: 0, length: 0 };
    Body::new(Spans { part, rest: spans.into_iter(), left, announced: true, ..Spans::whole(content) })
}

/// Sends pieces of the content one after the other, without copying them.
struct Spans {
    content: Rope,
    /// The rest of the current part.
    part: Range,
    /// The following spans.
    rest: std::vec::IntoIter<Span>,
    /// The current piece of the content, and the bytes before it.
    piece: usize,
    before: usize,
    left: u64,
    announced: bool,
}

impl Spans {
    fn whole(content: &Rope) -> Spans {
        let part = Range { start: 0, length: content.len() };
        let (content, left) = (content.clone(), content.len() as u64);
        Spans { content, part, rest: Vec::new().into_iter(), piece: 0, before: 0, left, announced: false }
    }

    fn next(&mut self) -> Option<Bytes> {
        while self.part.length == 0 {
            match self.rest.next()? {
                Span::Text(text) if text.is_empty() => {}
                Span::Text(text) => return Some(text),
                Span::Part(range) => self.part = range,
            }
        }
        let start = self.part.start;
        if start < self.before {
            (self.piece, self.before) = (0, 0);
        }
        let piece = loop {
            let piece = self.content.pieces().get(self.piece)?;
            if start < self.before + piece.len() {
                break piece;
            }
            self.before += piece.len();
            self.piece += 1;
        };
        let from = start - self.before;
        let length = self.part.length.min(piece.len() - from);
        self.part = Range { start: start + length, length: self.part.length - length };
        Some(piece.slice(from..from + length))
    }
}

impl http_body::Body for Spans {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(piece) = self.next() else { return Poll::Ready(None) };
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
    use http_body_util::BodyExt;

    #[tokio::test]
    async fn parts_cross_pieces_and_come_in_any_order() {
        let rope: Rope =
            ["abc", "", "def", "g"].map(|piece| Bytes::from_static(piece.as_bytes())).into_iter().collect();
        let part = |start, length| Span::Part(Range { start, length });
        let text = || Span::Text(Bytes::from_static(b"-"));
        for (parts, expected) in [
            (vec![part(0, 7)], "abcdefg"),
            (vec![part(2, 2)], "cd"),
            (vec![part(3, 3), part(2, 3)], "defcde"),
            (vec![text(), part(6, 1), text(), part(0, 1), part(1, 0), text()], "-g-a-"),
            (vec![part(7, 0)], ""),
            (vec![], ""),
        ] {
            let body = spans(&rope, parts);
            assert_eq!(http_body::Body::size_hint(&body).exact(), Some(expected.len() as u64));
            assert_eq!(body.collect().await.expect("a body").to_bytes(), expected);
        }
        assert_eq!(chunked(&rope).collect().await.expect("a body").to_bytes(), "abcdefg");
        assert_eq!(sized(&rope).collect().await.expect("a body").to_bytes(), "abcdefg");
    }
}
