//! The activity on a connection, and its deadline.

use crate::limit::Limits;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// The activity on a connection. Times are milliseconds since it began, plus one; zero means never.
#[derive(Debug)]
pub(crate) struct Activity {
    began: Instant,
    requests: AtomicU64,
    running: AtomicU32,
    multiplexed: AtomicBool,
    /// When the last request or chunk of a response ended.
    last: AtomicU64,
    /// When the first byte of the next request arrived.
    head: AtomicU64,
    /// Since when the client has not read anything of a response.
    blocked: AtomicU64,
}

/// What to do with a connection on which something takes too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// It is idle: tell the client, and close it.
    Idle,
    /// The client neither sends nor reads: cut it.
    Stalled,
}

impl Activity {
    pub(crate) fn new() -> Arc<Activity> {
        Arc::new(Activity {
            began: Instant::now(),
            requests: AtomicU64::new(0),
            running: AtomicU32::new(0),
            multiplexed: AtomicBool::new(false),
            last: AtomicU64::new(1),
            head: AtomicU64::new(0),
            blocked: AtomicU64::new(0),
        })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1
    }

    /// Notes that a request begins. It ends when the result is dropped.
    pub(crate) fn request(self: &Arc<Self>, multiplexed: bool) -> Running {
        self.multiplexed.store(multiplexed, Relaxed);
        self.running.fetch_add(1, Relaxed);
        self.requests.fetch_add(1, Relaxed);
        self.head.store(0, Relaxed);
        Running(Arc::clone(self))
    }

    /// Whether no request has arrived yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.requests.load(Relaxed) == 0
    }

    /// Whether there were requests, and none is being answered.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_fresh()
            && self.running.load(Relaxed) == 0
            && self.blocked.load(Relaxed) == 0
            && (self.head.load(Relaxed) == 0 || self.multiplexed.load(Relaxed))
    }

    /// The deadline of the current activity, and what to do then.
    pub(crate) fn deadline(&self, limits: &Limits) -> Option<(Instant, Overdue)> {
        let after = |moment: u64, time: Duration, overdue| {
            Some((self.began + Duration::from_millis(moment.saturating_sub(1)) + time, overdue))
        };
        let blocked = self.blocked.load(Relaxed);
        if blocked != 0 {
            return after(blocked, limits.stall, Overdue::Stalled);
        }
        if self.running.load(Relaxed) > 0 {
            return None;
        }
        if self.is_fresh() {
            return after(1, limits.header, Overdue::Stalled);
        }
        let head = self.head.load(Relaxed);
        // With HTTP/2 there are bytes between requests as well.
        if head != 0 && !self.multiplexed.load(Relaxed) {
            return after(head, limits.header, Overdue::Stalled);
        }
        after(self.last.load(Relaxed), limits.idle, Overdue::Idle)
    }

    fn received(&self) {
        if self.head.load(Relaxed) == 0 && self.running.load(Relaxed) == 0 {
            self.head.store(self.now(), Relaxed);
        }
    }

    fn sent(&self) {
        self.last.store(self.now(), Relaxed);
        self.blocked.store(0, Relaxed);
    }

    fn waits(&self) {
        if self.blocked.load(Relaxed) == 0 {
            self.blocked.store(self.now(), Relaxed);
        }
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Running(Arc<Activity>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.last.store(self.0.now(), Relaxed);
        self.0.running.fetch_sub(1, Relaxed);
    }
}

/// A stream that notes its activity.
#[derive(Debug)]
pub(crate) struct Observed<S> {
    stream: S,
    activity: Arc<Activity>,
}

impl<S> Observed<S> {
    pub(crate) fn new(stream: S, activity: Arc<Activity>) -> Observed<S> {
        Observed { stream, activity }
    }

    fn written(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &result {
            Poll::Pending => self.activity.waits(),
            Poll::Ready(_) => self.activity.sent(),
        }
        result
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Observed<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.activity.received();
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Observed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.written(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.written(result)
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
            self.activity.sent();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn left(activity: &Activity, limits: &Limits) -> Option<(Duration, Overdue)> {
        activity.deadline(limits).map(|(at, overdue)| (at - Instant::now(), overdue))
    }

    #[tokio::test(start_paused = true)]
    async fn every_phase_has_its_deadline() {
        let seconds = Duration::from_secs;
        let limits = Limits { header: seconds(10), idle: seconds(100), stall: seconds(30), ..Limits::default() };
        let activity = Activity::new();
        assert!(activity.is_fresh());
        tokio::time::advance(seconds(4)).await;
        // Bytes that are not a request do not move the deadline.
        activity.received();
        assert_eq!(left(&activity, &limits), Some((seconds(6), Overdue::Stalled)));

        let running = activity.request(false);
        tokio::time::advance(seconds(50)).await;
        assert_eq!(left(&activity, &limits), None);
        activity.waits();
        tokio::time::advance(seconds(1)).await;
        activity.waits();
        assert_eq!(left(&activity, &limits), Some((seconds(29), Overdue::Stalled)));
        activity.sent();
        assert_eq!(left(&activity, &limits), None);
        drop(running);
        assert!(activity.is_idle());
        tokio::time::advance(seconds(1)).await;
        assert_eq!(left(&activity, &limits), Some((seconds(99), Overdue::Idle)));

        // The head of the next request arrives slowly.
        activity.received();
        tokio::time::advance(seconds(3)).await;
        activity.received();
        assert!(!activity.is_idle());
        assert_eq!(left(&activity, &limits), Some((seconds(7), Overdue::Stalled)));
    }

    #[tokio::test(start_paused = true)]
    async fn frames_between_requests_are_no_heads() {
        let limits = Limits::default();
        let activity = Activity::new();
        drop(activity.request(true));
        activity.received();
        assert!(activity.is_idle());
        assert_eq!(left(&activity, &limits), Some((limits.idle, Overdue::Idle)));
    }
}
