//! The body of a proxied document.
//!
//! A separate task reads it from the server into a buffer, from which the client reads. So the time limits apply
//! whether or not the client reads, and a slow client does not hold the connection to the server.

use super::client::causes;
use super::failure::Failure;
use super::permits::Permit;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// The limits on one body.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// For messages.
    pub(super) path: Arc<str>,
    /// Its size in bytes.
    pub(super) size: u64,
    /// Bytes that are buffered before the client reads them.
    pub(super) buffer: usize,
    /// Time between two chunks from the server.
    pub(super) idle: Duration,
    /// The interval for checking the client.
    pub(super) stall: Duration,
    /// Bytes per second that the client must read.
    pub(super) slowest: u32,
    /// When the client must have read all of it.
    pub(super) end: Instant,
}

/// A body that is read by a task until this is dropped.
#[derive(Debug)]
pub(super) struct Relayed {
    shared: Arc<Shared>,
    /// Bytes that are still to come, if the server sent the length.
    left: Option<u64>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Notifies that the client read something, or is gone.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Frame<Bytes>>,
    /// Bytes in `frames`.
    size: usize,
    /// Bytes that the client read.
    taken: u64,
    /// Whether nothing more comes.
    is_complete: bool,
    failure: Option<Failure>,
    /// Wakes the client that waits for the server.
    waker: Option<Waker>,
    /// Whether the client waited for the server since the last check.
    waited: bool,
    is_abandoned: bool,
}

impl Relayed {
    /// Begins to read a body. `permit` is released when the client has read all of it, is gone, or is cut.
    pub(super) fn new(body: Incoming, terms: Terms, permit: Permit) -> Relayed {
        let left = body.size_hint().exact();
        let shared = Arc::new(Shared::default());
        let relay = Arc::clone(&shared);
        tokio::spawn(async move {
            tokio::select! {
                () = relay.relay(body, &terms) => {}
                () = relay.until(|state| state.is_abandoned) => {}
                () = sleep_until(terms.end) => relay.cut(Failure::Timeout("end of the body")),
                () = relay.slow(&terms) => relay.cut(Failure::SlowClient),
            }
            drop(permit);
        });
        Relayed { shared, left }
    }

    /// Waits for the first chunk, or the end.
    ///
    /// # Errors
    /// The body failed before it began.
    pub(super) async fn begins(&self) -> Result<(), Failure> {
        poll_fn(|cx| {
            let mut state = self.shared.state();
            if !state.frames.is_empty() {
                return Poll::Ready(Ok(()));
            }
            match state.failure.take() {
                Some(failure) => Poll::Ready(Err(failure)),
                None if state.is_complete => Poll::Ready(Ok(())),
                None => state.wait(cx),
            }
        })
        .await
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the client has done something.
    async fn until(&self, done: impl Fn(&State) -> bool) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if done(&self.state()) {
                return;
            }
            changed.await;
        }
    }

    /// Reads the body, and waits until the client has read all of it.
    async fn relay(&self, body: Incoming, terms: &Terms) {
        let read = self.read(body, terms).await;
        {
            let mut state = self.state();
            state.is_complete = true;
            state.failure = read.err();
            state.wake();
        }
        self.until(|state| state.frames.is_empty()).await;
    }

    /// Reads the body. Afterwards, its connection can be used for other requests.
    async fn read(&self, mut body: Incoming, terms: &Terms) -> Result<(), Failure> {
        let mut left = terms.size;
        loop {
            self.until(|state| state.size < terms.buffer).await;
            let frame = match timeout(terms.idle, body.frame()).await {
                Ok(None) => return Ok(()),
                Ok(Some(Ok(frame))) => frame,
                Ok(Some(Err(error))) => return Err(Failure::Broken(causes(&error))),
                Err(_) => return Err(Failure::Timeout("body")),
            };
            let size = frame.data_ref().map_or(0, Bytes::len);
            let too_large = || Failure::TooLarge { path: terms.path.to_string(), limit: terms.size };
            left = left.checked_sub(size as u64).ok_or_else(too_large)?;
            let mut state = self.state();
            state.size += size;
            state.frames.push_back(frame);
            state.wake();
        }
    }

    /// Waits until the client reads too slowly although it does not have to wait for the server.
    async fn slow(&self, terms: &Terms) {
        let enough =
            u64::try_from(terms.stall.as_millis()).unwrap_or(u64::MAX).saturating_mul(terms.slowest.into()) / 1000;
        loop {
            let before = {
                let mut state = self.state();
                state.waited = state.waker.is_some();
                state.taken
            };
            sleep(terms.stall).await;
            let state = self.state();
            if !state.waited && !state.frames.is_empty() && state.taken - before < enough {
                return;
            }
        }
    }

    /// Ends the body, without the part that the client has not read.
    fn cut(&self, failure: Failure) {
        let mut state = self.state();
        state.frames = VecDeque::new();
        state.size = 0;
        state.is_complete = true;
        state.failure = Some(failure);
        state.wake();
    }
}

impl State {
    fn wait<T>(&mut self, cx: &Context<'_>) -> Poll<T> {
        self.waker = Some(cx.waker().clone());
        self.waited = true;
        Poll::Pending
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Drop for Relayed {
    fn drop(&mut self) {
        self.shared.state().is_abandoned = true;
        self.shared.changed.notify_waiters();
    }
}

impl Body for Relayed {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let this = &mut *self;
        let mut state = this.shared.state();
        let Some(frame) = state.frames.pop_front() else {
            return match state.failure.take() {
                Some(failure) => Poll::Ready(Some(Err(failure))),
                None if state.is_complete => Poll::Ready(None),
                None => state.wait(cx),
            };
        };
        let size = frame.data_ref().map_or(0, Bytes::len);
        state.size -= size;
        state.taken += size as u64;
        drop(state);
        this.shared.changed.notify_waiters();
        this.left = this.left.map(|left| left.saturating_sub(size as u64));
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        let state = self.shared.state();
        state.is_complete && state.frames.is_empty() && state.failure.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
