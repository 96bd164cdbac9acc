//! The stream of a connection, which records its traffic.

use super::Activity;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that records its activity.
#[derive(Debug)]
pub(crate) struct Observed<S> {
    stream: S,
    activity: Arc<Activity>,
}

impl<S> Observed<S> {
    pub(crate) fn new(stream: S, activity: Arc<Activity>) -> Observed<S> {
        Observed { stream, activity }
    }

    /// Returns whether the turn is over. The task runs again after those that are ready now.
    fn is_over(&self, cx: &Context<'_>) -> bool {
        let is_over = self.activity.turn.load(Relaxed) == 0;
        if is_over {
            cx.waker().wake_by_ref();
        }
        is_over
    }

    /// Returns the part of `buf` that may be written in this turn.
    fn slice<'b>(&self, buf: &'b [u8]) -> &'b [u8] {
        &buf[..buf.len().min(self.activity.turn.load(Relaxed))]
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Observed<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        let new = &buf.filled()[before..];
        if !new.is_empty()
            && let Err(error) = self.activity.received(new)
        {
            return Poll::Ready(Err(error));
        }
        if result.is_pending() {
            self.activity.mark_waiting();
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Observed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_over(cx) {
            return Poll::Pending;
        }
        let buf = self.slice(buf);
        let result = Pin::new(&mut self.stream).poll_write(cx, buf);
        match &result {
            Poll::Pending => self.activity.waits(),
            Poll::Ready(Ok(count)) => self.activity.sent([buf], *count),
            Poll::Ready(Err(_)) => {}
        }
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_over(cx) {
            return Poll::Pending;
        }
        let turn = self.activity.turn.load(Relaxed);
        let mut bytes = 0;
        let fitting = bufs.iter().take_while(|buf| {
            bytes += buf.len();
            bytes <= turn
        });
        let count = fitting.count();
        if count == 0 {
            let first = bufs.iter().find(|buf| !buf.is_empty()).map_or(&[][..], |buf| buf);
            return self.poll_write(cx, first);
        }
        let bufs = &bufs[..count];
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        match &result {
            Poll::Pending => self.activity.waits(),
            Poll::Ready(Ok(count)) => self.activity.sent(bufs.iter().map(|buf| &**buf), *count),
            Poll::Ready(Err(_)) => {}
        }
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(cx);
        // TLS buffers what it could not send.
        if result.is_pending() {
            self.activity.waits();
        } else if self.activity.blocked.load(Relaxed) != 0 {
            self.activity.sent([], 0);
        }
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_shutdown(cx);
        if result.is_pending() {
            self.activity.waits();
        }
        result
    }
}
