//! The activity on a connection, and its deadline.
//!
//! Only the bytes of responses that a client reads are progress. Bytes on the socket are not: over HTTP/2, a client can
//! exchange PINGs forever without giving a stream any room. So [`Observed`] reads the heads of frames in both
//! directions.

mod observed;
mod room;

pub(crate) use observed::Observed;
pub(crate) use room::working;
pub(super) use room::{Pace, ROUND, Step, of};

use super::frames::{self, Frames, Protocol};
use crate::limit::Limits;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Bytes of a response that allow the client to send one more frame.
const BYTES_PER_FRAME: u64 = 1 << 10;
/// The maximum number of frames that responses add: updates of a window of 64 MiB in steps of 1 KiB.
const MOST_FRAMES: u64 = 1 << 16;
/// Frames that a client may send per finished response.
const FRAMES_PER_ANSWER: u64 = 8;
/// The cost of a frame that cancels a request, because the server has begun to work for it.
pub(crate) const CANCEL: u64 = 10;
/// Frames that do not belong to responses: the frames of ten seconds may come together.
pub(crate) const BURST_SECONDS: u64 = 10;

/// The activity on a connection. Times are milliseconds since it began, plus one; zero means never.
#[derive(Debug)]
pub(crate) struct Activity {
    began: Instant,
    /// The time that the server had for all connections.
    pace: Arc<Pace>,
    /// Frames per second that do not belong to responses.
    frames: u64,
    /// Since when the first request is awaited.
    ready: AtomicU64,
    /// The round in which everything sent by the client had been read without being a request, plus one.
    waiting_since: AtomicU64,
    requests: AtomicU64,
    /// Requests whose response has not begun.
    running: AtomicU32,
    /// Bodies of responses that are not completely sent.
    bodies: AtomicU32,
    /// Bodies that wait for their source, such as another server.
    sourcing: AtomicU32,
    /// Requests for which other threads of the server work.
    working: AtomicU32,
    /// The round in which the server last finished something for a request: work, or its response without the body.
    served: AtomicU64,
    /// When the client last read something of a response, or a response ended.
    last: AtomicU64,
    /// When the first byte of the next request arrived.
    head: AtomicU64,
    /// Since when the system accepts no bytes for the client.
    blocked: AtomicU64,
    /// Bytes that may still be written in this turn.
    turn: AtomicUsize,
    /// Whether a request had a valid token.
    trusted: AtomicBool,
    /// Whether no further request is answered on this connection.
    ending: AtomicBool,
    wire: Mutex<Wire>,
    /// The [`Step`] that the connection takes to make room for others; zero for none.
    step: AtomicU8,
    pub(super) evicted: Notify,
}

/// The bytes on the wire.
#[derive(Debug)]
struct Wire {
    protocol: Protocol,
    inbound: Frames,
    outbound: Frames,
    /// The highest stream that the client opened.
    last_stream: u32,
    /// When the last request came (HTTP/1).
    asked: Begun,
    /// The streams whose response is not completely sent.
    open: BTreeMap<u32, Begun>,
    /// Bytes of responses that were sent.
    taken: u64,
    /// Responses that ended.
    ended: u64,
    /// Frames that the client may send.
    allowed: u64,
    /// When this number last grew.
    refilled: u64,
    /// The beginning of a window in which the client has something to read.
    window: Option<Window>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    since: u64,
    /// When the client began to be behind, over several windows.
    owing: Begun,
    taken: u64,
    ended: u64,
}

/// When something began.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    at: u64,
    /// See [`Pace::rounds`].
    round: u64,
    /// Bytes of responses that were sent before.
    taken: u64,
}

/// What to do with a connection on which something takes too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// It is idle: announce the end to the client, and close it.
    Idle,
    /// The client does not send its request, or does not read its response: cut it.
    Stalled,
    /// It was evicted to make room for others.
    Evicted,
    /// The client did not close it after the announced end.
    Left,
}

impl Activity {
    pub(super) fn new(limits: &Limits, pace: &Arc<Pace>) -> Arc<Activity> {
        let frames = u64::from(limits.frames);
        Arc::new(Activity {
            began: Instant::now(),
            pace: Arc::clone(pace),
            frames,
            ready: AtomicU64::new(1),
            waiting_since: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            running: AtomicU32::new(0),
            bodies: AtomicU32::new(0),
            sourcing: AtomicU32::new(0),
            working: AtomicU32::new(0),
            served: AtomicU64::new(0),
            last: AtomicU64::new(1),
            head: AtomicU64::new(0),
            blocked: AtomicU64::new(0),
            turn: AtomicUsize::new(pace.turn()),
            trusted: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            wire: Mutex::new(Wire {
                protocol: Protocol::Unknown(0),
                inbound: Frames::default(),
                outbound: Frames::default(),
                last_stream: 0,
                asked: Begun::default(),
                open: BTreeMap::new(),
                taken: 0,
                ended: 0,
                allowed: frames * BURST_SECONDS,
                refilled: 1,
                window: None,
            }),
            step: AtomicU8::new(0),
            evicted: Notify::new(),
        })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1
    }

    fn at(&self, moment: u64, time: Duration) -> Instant {
        self.began + Duration::from_millis(moment.saturating_sub(1)) + time
    }

    fn wire(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begun(&self, at: u64, wire: &Wire) -> Begun {
        Begun { at, round: self.pace.rounds(), taken: wire.taken }
    }

    /// Records that the connection is set up, so that the time for the first request begins.
    pub(crate) fn begin(&self) {
        self.ready.store(self.now(), Relaxed);
        self.waiting_since.store(0, Relaxed);
    }

    /// Records that nothing more can be read, so that the client must act.
    pub(super) fn mark_waiting(&self) {
        if self.waiting_since.load(Relaxed) == 0 {
            self.waiting_since.store(self.pace.rounds() + 1, Relaxed);
        }
    }

    /// Records that a request begins. Its endpoint has responded when the result is dropped.
    pub(crate) fn request(self: &Arc<Self>) -> Running {
        self.running.fetch_add(1, Relaxed);
        self.requests.fetch_add(1, Relaxed);
        self.head.store(0, Relaxed);
        let mut wire = self.wire();
        wire.asked = self.begun(self.now(), &wire);
        Running(Arc::clone(self))
    }

    /// Records that the client has a valid token.
    pub(crate) fn trust(&self) {
        self.trusted.store(true, Relaxed);
    }

    /// Lets the connection end with its current responses.
    pub(crate) fn end(&self) {
        self.ending.store(true, Relaxed);
    }

    /// Returns whether the connection ends with its current responses.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Relaxed)
    }

    /// Gives the connection the right to write for one turn.
    pub(crate) fn turn(&self) {
        self.turn.store(self.pace.turn(), Relaxed);
    }

    /// Returns whether no request has arrived yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.requests.load(Relaxed) == 0
    }

    /// Returns whether nothing is being processed or sent.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_quiet(&self.wire())
    }

    fn is_quiet(&self, wire: &Wire) -> bool {
        !self.is_fresh()
            && self.running.load(Relaxed) == 0
            && self.bodies.load(Relaxed) == 0
            && self.blocked.load(Relaxed) == 0
            && wire.open.is_empty()
            && (self.head.load(Relaxed) == 0 || wire.protocol == Protocol::Http2)
    }

    /// Returns whether a response waits only for the client.
    fn is_owing(&self, wire: &Wire) -> bool {
        let served = (self.running.load(Relaxed) + self.sourcing.load(Relaxed)) as usize;
        self.blocked.load(Relaxed) != 0 || wire.open.len() > served
    }

    /// Returns the deadline of the current activity, and what to do then. It is called whenever nothing can be done on
    /// the connection without the client.
    pub(crate) fn deadline(&self, limits: &Limits) -> Option<(Instant, Overdue)> {
        let mut wire = self.wire();
        let owed = self.owed(&mut wire, limits).map(|at| (at, Overdue::Stalled));
        let answered =
            self.answered(&wire).map(|begun| (self.at(begun.at, limits.request + limits.answer), Overdue::Stalled));
        if owed.is_some() || answered.is_some() {
            return owed.into_iter().chain(answered).min_by_key(|(at, _)| *at);
        }
        if self.is_fresh() {
            return Some((self.at(self.ready.load(Relaxed), limits.header), Overdue::Stalled));
        }
        let head = self.head.load(Relaxed);
        // With HTTP/2 there are bytes between requests as well.
        if head != 0 && wire.protocol != Protocol::Http2 {
            return Some((self.at(head, limits.header), Overdue::Stalled));
        }
        Some((self.at(self.last.load(Relaxed), limits.idle), Overdue::Idle))
    }

    /// Returns when the client must have read enough of its responses.
    fn owed(&self, wire: &mut Wire, limits: &Limits) -> Option<Instant> {
        if !self.is_owing(wire) {
            wire.window = None;
            return None;
        }
        let now = self.now();
        let least = u64::try_from(u128::from(limits.slowest) * limits.stall.as_millis() / 1000).unwrap_or(u64::MAX);
        let (taken, ended) = (wire.taken, wire.ended);
        let owing = self.begun(now, wire);
        let window = wire.window.get_or_insert(Window { since: now, owing, taken, ended });
        let moves = ended > window.ended || taken - window.taken >= least.max(1);
        if moves && self.at(window.since, limits.stall) <= Instant::now() {
            *window = Window { since: now, taken, ended, ..*window };
        }
        Some(self.at(window.since, limits.stall))
    }

    /// Returns when the oldest unfinished request came.
    fn answered(&self, wire: &Wire) -> Option<Begun> {
        if wire.protocol == Protocol::Http2 {
            // Numbers of streams grow.
            return wire.open.first_key_value().map(|(_, begun)| *begun);
        }
        let is_answering = self.running.load(Relaxed) > 0 || self.bodies.load(Relaxed) > 0;
        is_answering.then_some(wire.asked)
    }

    /// Records bytes from the client.
    ///
    /// # Errors
    /// The client sends more frames than it may.
    fn received(&self, bytes: &[u8]) -> io::Result<()> {
        if self.head.load(Relaxed) == 0 && self.running.load(Relaxed) == 0 {
            self.head.store(self.now(), Relaxed);
        }
        let mut wire = self.wire();
        let wire = &mut *wire;
        if wire.protocol == Protocol::Http1 {
            return Ok(());
        }
        let rest = wire.protocol.detect(bytes);
        if wire.protocol != Protocol::Http2 || rest.is_empty() {
            return Ok(());
        }
        let now = self.now();
        let earned = self.frames * (now - wire.refilled) / 1000;
        if earned > 0 {
            wire.refilled = now;
            wire.allowed = (wire.allowed + earned).min(wire.allowed.max(self.frames * BURST_SECONDS));
        }
        let mut cost = 0;
        let begun = self.begun(now, wire);
        let Wire { inbound, open, last_stream, .. } = wire;
        inbound.pass(rest, |frame| {
            cost += 1;
            match frame.kind {
                // A later frame of this type has trailers.
                frames::HEADERS if frame.stream > *last_stream => {
                    *last_stream = frame.stream;
                    open.insert(frame.stream, begun);
                }
                frames::RST_STREAM if open.remove(&frame.stream).is_some() => cost += CANCEL,
                // The body of a request, which has its own bound.
                frames::DATA if frame.length as u64 >= BYTES_PER_FRAME && open.contains_key(&frame.stream) => cost -= 1,
                _ => {}
            }
        });
        match wire.allowed.checked_sub(cost) {
            Some(allowed) => wire.allowed = allowed,
            None => return Err(io::Error::other("the client sends too many frames")),
        }
        Ok(())
    }

    /// Records bytes to the client, up to `count` of these.
    fn sent<'b>(&self, bufs: impl IntoIterator<Item = &'b [u8]>, mut count: usize) {
        self.blocked.store(0, Relaxed);
        let left = self.turn.load(Relaxed);
        self.turn.store(left.saturating_sub(count), Relaxed);
        let now = self.now();
        let mut wire = self.wire();
        let Wire { protocol, outbound, open, taken, ended, .. } = &mut *wire;
        let before = (*taken, *ended);
        if *protocol == Protocol::Http2 {
            for buf in bufs {
                let bytes = &buf[..count.min(buf.len())];
                count -= bytes.len();
                outbound.pass(bytes, |frame| {
                    if frame.kind == frames::DATA {
                        *taken += frame.length as u64;
                    }
                    if frame.ends_stream() && open.remove(&frame.stream).is_some() {
                        *ended += 1;
                    }
                });
            }
        } else {
            *taken += count as u64;
        }
        if before != (*taken, *ended) {
            self.last.store(now, Relaxed);
            let frames = (wire.ended - before.1) * FRAMES_PER_ANSWER
                + (wire.taken / BYTES_PER_FRAME - before.0 / BYTES_PER_FRAME);
            wire.allowed = (wire.allowed + frames).min(wire.allowed.max(MOST_FRAMES));
        }
    }

    fn waits(&self) {
        if self.blocked.load(Relaxed) == 0 {
            self.blocked.store(self.now(), Relaxed);
        }
    }

    pub(super) fn body_begins(&self) {
        self.bodies.fetch_add(1, Relaxed);
    }

    pub(super) fn body_ends(&self) {
        self.last.store(self.now(), Relaxed);
        self.bodies.fetch_sub(1, Relaxed);
    }

    /// Records whether a body waits for its source.
    pub(super) fn source(&self, waits: bool) {
        if waits {
            self.sourcing.fetch_add(1, Relaxed);
        } else {
            self.sourcing.fetch_sub(1, Relaxed);
        }
    }
}

/// A request whose endpoint has not responded.
#[derive(Debug)]
pub(crate) struct Running(Arc<Activity>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.last.store(self.0.now(), Relaxed);
        self.0.served.store(self.0.pace.rounds(), Relaxed);
        self.0.running.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(activity: &Activity, limits: &Limits) -> Option<(Duration, Overdue)> {
        activity.deadline(limits).map(|(at, overdue)| (at - Instant::now(), overdue))
    }

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn limits() -> Limits {
        Limits {
            header: seconds(10),
            idle: seconds(100),
            stall: seconds(30),
            slowest: 10,
            request: seconds(60),
            answer: seconds(600),
            frames: 100,
            ..Limits::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn every_phase_has_its_deadline() {
        let limits = limits();
        let activity = Activity::new(&limits, &Arc::default());
        assert!(activity.is_fresh());
        tokio::time::advance(seconds(4)).await;
        // Bytes that are not a request do not move the deadline.
        activity.received(b"GET /").expect("HTTP/1");
        assert_eq!(left(&activity, &limits), Some((seconds(6), Overdue::Stalled)));

        let running = activity.request();
        tokio::time::advance(seconds(50)).await;
        assert_eq!(left(&activity, &limits), Some((seconds(610), Overdue::Stalled)));
        activity.body_begins();
        drop(running);
        activity.waits();
        assert_eq!(left(&activity, &limits), Some((seconds(30), Overdue::Stalled)));
        tokio::time::advance(seconds(1)).await;
        activity.waits();
        assert_eq!(left(&activity, &limits), Some((seconds(29), Overdue::Stalled)));
        // The body is handed over completely, but the client has not read it.
        activity.body_ends();
        assert_eq!(left(&activity, &limits), Some((seconds(29), Overdue::Stalled)));
        assert!(!activity.is_idle());
        activity.sent([&b"x"[..]], 1);
        assert!(activity.is_idle());
        tokio::time::advance(seconds(1)).await;
        assert_eq!(left(&activity, &limits), Some((seconds(99), Overdue::Idle)));

        // The head of the next request arrives slowly.
        activity.received(b"G").expect("HTTP/1");
        tokio::time::advance(seconds(3)).await;
        activity.received(b"E").expect("HTTP/1");
        assert!(!activity.is_idle());
        assert_eq!(left(&activity, &limits), Some((seconds(7), Overdue::Stalled)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_below_the_rate_is_overdue_and_one_above_is_not() {
        for (bytes, is_overdue) in [(1, true), (9, true), (10, false), (1000, false)] {
            let limits = limits();
            let activity = Activity::new(&limits, &Arc::default());
            drop(activity.request());
            activity.body_begins();
            activity.waits();
            let mut overdue = false;
            for _ in 0..100 {
                let (at, _) = activity.deadline(&limits).expect("a deadline");
                overdue |= at <= Instant::now();
                tokio::time::advance(seconds(1)).await;
                activity.sent([&[b'x'; 1000][..]], bytes);
                activity.waits();
            }
            assert_eq!(overdue, is_overdue, "{bytes}");
        }
    }

    fn frame(kind: u8, flags: u8, stream: u8, length: u8) -> Vec<u8> {
        let mut out = vec![0, 0, length, kind, flags, 0, 0, 0, stream];
        out.resize(9 + usize::from(length), 0);
        out
    }

    fn http2(limits: &Limits) -> Arc<Activity> {
        let activity = Activity::new(limits, &Arc::default());
        activity.received(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").expect("a preface");
        activity
    }

    #[tokio::test(start_paused = true)]
    async fn pings_do_not_keep_a_stream_that_the_client_does_not_read() {
        const PING: u8 = 6;
        let limits = limits();
        let activity = http2(&limits);
        activity.received(&frame(frames::HEADERS, 5, 1, 1)).expect("a request");
        drop(activity.request());
        // The response begins; its body has no room.
        activity.sent([&frame(frames::HEADERS, 4, 1, 1)[..]], 10);
        assert_eq!(left(&activity, &limits), Some((seconds(30), Overdue::Stalled)));
        for _ in 0..29 {
            tokio::time::advance(seconds(1)).await;
            activity.received(&frame(PING, 0, 0, 8)).expect("a PING");
            activity.sent([&frame(PING, 1, 0, 8)[..]], 17);
        }
        assert_eq!(left(&activity, &limits), Some((seconds(1), Overdue::Stalled)));
        assert!(!activity.is_idle());
        activity.sent([&frame(frames::DATA, 1, 1, 100)[..]], 109);
        assert!(activity.is_idle());
        assert_eq!(left(&activity, &limits), Some((limits.idle, Overdue::Idle)));
        // Frames between requests are not heads, and do not make the connection less idle.
        tokio::time::advance(seconds(1)).await;
        activity.received(&frame(PING, 0, 0, 8)).expect("a PING");
        assert_eq!(left(&activity, &limits), Some((seconds(99), Overdue::Idle)));
    }

    #[tokio::test(start_paused = true)]
    async fn time_and_responses_pay_for_frames() {
        let limits = limits();
        let activity = http2(&limits);
        let send = |kind, stream, n: usize| (0..n).try_for_each(|_| activity.received(&frame(kind, 0, stream, 4)));
        assert!(send(8, 0, 1000).is_ok());
        assert!(send(8, 0, 1).is_err());
        tokio::time::advance(seconds(1)).await;
        assert!(send(8, 0, 100).is_ok());
        assert!(send(8, 0, 1).is_err());
        // A response was read.
        activity.sent([&vec![frame(frames::DATA, 0, 1, 247); 40].concat()[..]], 40 * 256);
        assert!(send(8, 0, 9).is_ok());
        assert!(send(8, 0, 1).is_err());
        // A body that comes in large frames costs nothing, one in small frames does.
        let body = |length: u16| {
            let [high, low] = length.to_be_bytes();
            let head = [0, high, low, frames::DATA, 0, 0, 0, 0, 1];
            activity.received(&[&head[..], &vec![0; usize::from(length)]].concat())
        };
        tokio::time::advance(seconds(10)).await;
        assert!(send(frames::HEADERS, 1, 1).is_ok());
        assert!((0..2000).try_for_each(|_| body(1024)).is_ok());
        assert!((0..999).try_for_each(|_| body(1023)).is_ok());
        assert!(body(1023).is_err());
        // Requests that are cancelled immediately cost more.
        tokio::time::advance(seconds(10)).await;
        let mut cancelled = 0;
        for stream in (3..=255).step_by(2) {
            if send(frames::HEADERS, stream, 1).and_then(|()| send(frames::RST_STREAM, stream, 1)).is_err() {
                break;
            }
            cancelled += 1;
        }
        assert_eq!(cancelled, 1000 / 12);
    }
}
