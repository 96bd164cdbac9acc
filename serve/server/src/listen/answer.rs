//! The body of a response on its way to the client.

use super::activity::Activity;
use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The size of a chunk. HTTP/2 keeps up to this much per stream for which the client has no room.
pub(super) const CHUNK: usize = 32 << 10;

/// A body in chunks of bounded size. It records when it ends, and whether it waits for its source.
#[derive(Debug)]
pub(super) struct Observed {
    body: Body,
    /// The rest of a larger chunk.
    rest: Bytes,
    waits: bool,
    activity: Arc<Activity>,
}

impl Observed {
    pub(super) fn new(body: Body, activity: Arc<Activity>) -> Observed {
        activity.body_begins();
        Observed { body, rest: Bytes::new(), waits: false, activity }
    }

    fn wait(&mut self, waits: bool) {
        if self.waits != waits {
            self.waits = waits;
            self.activity.source(waits);
        }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.wait(false);
        self.activity.body_ends();
    }
}

impl http_body::Body for Observed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if this.rest.is_empty() {
            let polled = Pin::new(&mut this.body).poll_frame(cx);
            this.wait(polled.is_pending());
            match polled {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => this.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                other => return other,
            }
        }
        let chunk = this.rest.split_to(this.rest.len().min(CHUNK));
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, left) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(left));
        }
        hint.set_lower(rest.lower().saturating_add(left));
        hint
    }
}
