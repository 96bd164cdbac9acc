//! Which connections make room when there are too many, and how long they may take before that.
//!
//! A connection is not responsible for delays of the server. So patience is measured in [`Pace::rounds`], which pass
//! only while the server gets around to all connections, and not in time. When other programs use the processors, few
//! rounds pass.

use super::{Activity, Begun};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::Instant;

/// How long a round takes if there is nothing else to do.
pub(crate) const ROUND: Duration = Duration::from_millis(10);

/// The maximum and the minimum bytes that a connection writes before others have their turn.
const TURN: usize = 256 << 10;
const LEAST_TURN: usize = 16 << 10;
/// Bytes that all connections write in a round, so that it is short. Above 512 connections, their minimum turns decide.
const TURNS: usize = 8 << 20;

/// Rounds for a client that does not send its first request, or does not read its response.
const CLIENT: u64 = rounds(250);
/// Rounds for a request, until the connection has to end with its current responses.
const END: u64 = rounds(1000);
/// Rounds for a request, until the connection is cut if the response makes no progress.
const CUT: u64 = rounds(2000);
/// Bytes that earn one more round. A client that reads 1 MiB in 100 rounds, which is a second, is never too slow.
const BYTES_PER_ROUND: u64 = (1 << 20) / rounds(1000);
/// How much longer the connection of a client with a valid token stays open.
const TRUSTED_LONGER: Duration = Duration::from_mins(1);

const fn rounds(milliseconds: u64) -> u64 {
    milliseconds / ROUND.as_millis() as u64
}

/// The time that the server had for all its connections.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    rounds: AtomicU64,
    connections: AtomicUsize,
}

impl Pace {
    /// Rounds in which every ready connection could be served. They are only counted while a connection waits for room.
    pub(crate) fn rounds(&self) -> u64 {
        self.rounds.load(Relaxed)
    }

    /// Counts a round.
    pub(crate) fn pass(&self) {
        self.rounds.fetch_add(1, Relaxed);
    }

    /// Sets the number of open connections.
    pub(crate) fn share(&self, connections: usize) {
        self.connections.store(connections, Relaxed);
    }

    /// Returns the bytes that a connection writes before others have their turn.
    pub(crate) fn turn(&self) -> usize {
        (TURNS / self.connections.load(Relaxed).max(1)).clamp(LEAST_TURN, TURN)
    }
}

/// What a connection does to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Step {
    /// It ends with its current responses.
    End = 1,
    /// It is idle: the end is announced to the client.
    Leave,
    /// It is cut.
    Cut,
}

/// When a connection makes room for others, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rank {
    /// Whether it waits for the client, and not for the server. Such connections make room first.
    pub(crate) waits_for_client: bool,
    /// The first round in which it can be evicted. Before that, it has only just begun its current activity.
    pub(crate) from: u64,
    /// The connections with the earliest time make room first.
    pub(crate) order: Instant,
    pub(crate) step: Step,
}

impl Activity {
    /// Returns whether, when and how the connection makes room for others. `None` if it already does, or if the client
    /// waits only for the server.
    pub(crate) fn rank(&self) -> Option<Rank> {
        let step = self.step.load(Relaxed);
        if step > Step::End as u8 { None } else { self.rank_unless_evicted(step == Step::End as u8) }
    }

    /// `is_ending`: it ends with its current responses.
    fn rank_unless_evicted(&self, is_ending: bool) -> Option<Rank> {
        let wire = self.wire();
        let longer = if self.trusted.load(Relaxed) { TRUSTED_LONGER } else { Duration::ZERO };
        let rank = |waits_for_client, from, since, step| {
            Some(Rank { waits_for_client, from, order: self.at(since, longer), step })
        };
        if self.is_quiet(&wire) {
            // A connection that ends and has sent its responses has nothing to wait for.
            let step = if is_ending { Step::Cut } else { Step::Leave };
            return rank(true, 0, self.last.load(Relaxed), step);
        }
        if self.is_fresh() {
            // Bytes from the client may not have been read yet.
            let since = self.waiting_since.load(Relaxed).checked_sub(1)?;
            return rank(true, since + CLIENT, self.ready.load(Relaxed), Step::Cut);
        }
        let progress = |begun: Begun| (wire.taken - begun.taken) / BYTES_PER_ROUND;
        if let Some(window) = wire.window {
            let from = window.owing.round + CLIENT + progress(window.owing);
            if progress(window.owing) == 0 || from <= self.pace.rounds() {
                return rank(true, from, window.owing.at, Step::Cut);
            }
        }
        let begun = self.answered(&wire).unwrap_or(wire.asked);
        if !is_ending {
            return rank(false, begun.round + END, begun.at, Step::End);
        }
        if self.working.load(Relaxed) > 0 {
            return None;
        }
        // The server's own time is not the time of the response.
        let since = begun.round.max(self.served.load(Relaxed));
        rank(false, since + CUT + progress(begun), begun.at, Step::Cut)
    }

    /// Makes the connection take this step, to make room for others.
    pub(crate) fn evict(&self, step: Step) {
        self.step.store(step as u8, Relaxed);
        self.evicted.notify_one();
    }

    /// Returns the last step of [`evict`](Self::evict).
    pub(crate) fn eviction(&self) -> Option<Step> {
        let last = self.step.load(Relaxed);
        [Step::End, Step::Leave, Step::Cut].into_iter().find(|step| *step as u8 == last)
    }

    /// Returns the step that an evicted connection still has to take, after it has read what the client sent meanwhile.
    /// If there is none, it can be evicted again.
    pub(crate) fn recheck_eviction(&self) -> Option<Step> {
        let is_ending = self.is_ending();
        let rank =
            self.rank_unless_evicted(is_ending).filter(|rank| rank.step > Step::End && rank.from <= self.pace.rounds());
        if rank.is_none() {
            self.clear_eviction();
        }
        rank.map(|rank| rank.step)
    }

    /// Lets the connection be evicted again.
    pub(crate) fn clear_eviction(&self) {
        self.step.store(if self.is_ending() { Step::End as u8 } else { 0 }, Relaxed);
    }
}

tokio::task_local! {
    /// The connection of the current task's request.
    static CURRENT: Arc<Activity>;
}

/// Exists while the server works for a request on another thread.
#[derive(Debug)]
pub(crate) struct Working(Option<Arc<Activity>>);

/// Records that the server works on another thread for the request of this task. Its connection is not responsible for
/// the time.
pub(crate) fn working() -> Working {
    let current = CURRENT.try_with(Arc::clone).ok();
    if let Some(activity) = &current {
        activity.working.fetch_add(1, Relaxed);
    }
    Working(current)
}

/// Answers a request of a connection.
pub(crate) async fn of<T>(activity: &Arc<Activity>, answer: impl Future<Output = T>) -> T {
    CURRENT.scope(Arc::clone(activity), answer).await
}

impl Drop for Working {
    fn drop(&mut self) {
        if let Some(activity) = &self.0 {
            activity.served.store(activity.pace.rounds(), Relaxed);
            activity.working.fetch_sub(1, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Observed;
    use super::*;
    use crate::limit::Limits;
    use crate::listen::eviction::{Member, OpenConnections};
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

    /// A connection whose place another one needs.
    struct One {
        activity: Arc<Activity>,
        connections: Arc<OpenConnections>,
        _member: Member,
    }

    impl One {
        fn new() -> One {
            let connections = Arc::new(OpenConnections::default());
            let activity = Activity::new(&Limits::default(), connections.pace());
            let member = connections.join(&activity);
            One { activity, connections, _member: member }
        }

        /// Returns the next step within this many rounds, and after how many rounds.
        async fn next_step(&self, most: u64) -> Option<(Step, u64)> {
            for round in 0..=most {
                let before = self.activity.eviction();
                self.connections.shed();
                if let Some(step) = self.activity.eviction().filter(|step| Some(*step) != before) {
                    return Some((step, round));
                }
                tokio::time::advance(ROUND).await;
                self.connections.pass();
            }
            None
        }
    }

    #[tokio::test(start_paused = true)]
    async fn time_without_service_does_not_age_connections() {
        let one = One::new();
        one.activity.mark_waiting();
        for _ in 0..CLIENT {
            // Other programs use the processors.
            tokio::time::advance(Duration::from_mins(1)).await;
            one.connections.shed();
            assert_eq!(one.activity.eviction(), None);
            one.connections.pass();
        }
        assert_eq!(one.next_step(0).await, Some((Step::Cut, 0)));
    }

    #[tokio::test(start_paused = true)]
    async fn unread_bytes_of_the_client_are_not_held_against_it() {
        let one = One::new();
        assert_eq!(one.next_step(10 * CUT).await, None);
        // Everything was read, and it was not a request.
        one.activity.mark_waiting();
        assert_eq!(one.next_step(CUT).await, Some((Step::Cut, CLIENT)));
        // It arrived during the check.
        let running = one.activity.request();
        assert_eq!(one.activity.recheck_eviction(), None);
        assert_eq!(one.activity.eviction(), None);
        drop(running);
        assert_eq!(one.next_step(0).await, Some((Step::Leave, 0)));
        assert_eq!(one.activity.recheck_eviction(), Some(Step::Leave));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_in_progress_is_never_cut() {
        let one = One::new();
        let running = one.activity.request();
        let work = of(&one.activity, async { working() }).await;
        // It is the last on its connection.
        assert_eq!(one.next_step(CUT).await, Some((Step::End, END)));
        one.activity.end();
        assert_eq!(one.next_step(100 * CUT).await, None);
        drop(work);
        // The result can be sent now.
        assert_eq!(one.next_step(CUT).await, Some((Step::Cut, CUT)));
        assert_eq!(one.activity.recheck_eviction(), Some(Step::Cut));
        drop(running);
        let other = One::new();
        let running = other.activity.request();
        assert_eq!(other.next_step(CUT).await, Some((Step::End, END)));
        let work = of(&other.activity, async { working() }).await;
        assert_eq!(other.next_step(100 * CUT).await, None);
        other.activity.body_begins();
        drop((work, running));
        // The client reads the result, so it is sent completely.
        assert_eq!(other.next_step(CUT - 1).await, None);
        // Without the mark, it is the same as an endpoint that waits for another server.
        let other = One::new();
        let _running = other.activity.request();
        assert_eq!(other.next_step(CUT).await, Some((Step::End, END)));
        assert_eq!(other.next_step(CUT).await, Some((Step::Cut, CUT - END)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_with_progress_is_not_cut_and_a_slow_one_is() {
        // Bytes per round, and whether it is cut.
        for (bytes, is_cut) in [(0, true), (1000, true), (9_000, true), (11_000, false), (256 << 10, false)] {
            let one = One::new();
            drop(one.activity.request());
            one.activity.body_begins();
            one.activity.waits();
            let limits = Limits::default();
            let large = vec![b'x'; 256 << 10];
            let mut step = None;
            for _ in 0..10 * CUT {
                one.activity.deadline(&limits);
                one.connections.shed();
                step = step.max(one.activity.eviction());
                one.activity.sent([&*large], bytes);
                one.activity.waits();
                tokio::time::advance(ROUND).await;
                one.connections.pass();
            }
            assert_eq!(step, Some(if is_cut { Step::Cut } else { Step::End }), "{bytes}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn connections_that_wait_for_their_client_make_room_first() {
        let connections = Arc::new(OpenConnections::default());
        let new = || {
            let activity = Activity::new(&Limits::default(), connections.pace());
            let member = connections.join(&activity);
            (activity, member)
        };
        let (busy, _one) = new();
        let _running = busy.request();
        let (old, _two) = new();
        drop(old.request());
        let (trusted, _three) = new();
        drop(trusted.request());
        trusted.trust();
        tokio::time::advance(Duration::from_secs(10)).await;
        let (silent, _four) = new();
        silent.mark_waiting();
        for _ in 0..2 * CUT {
            connections.pass();
            tokio::time::advance(ROUND).await;
        }
        for expected in [&old, &silent, &trusted, &busy] {
            assert_eq!(expected.eviction(), None);
            connections.shed();
            assert!(expected.eviction().is_some());
        }
        assert_eq!(busy.eviction(), Some(Step::End));
    }

    /// Accepts everything, and counts it.
    #[derive(Default)]
    struct Sink(usize);

    impl AsyncRead for Sink {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
            Poll::Pending
        }
    }

    impl AsyncWrite for Sink {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
            self.0 += buf.len();
            Poll::Ready(Ok(buf.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn all_connections_together_write_a_bounded_amount_in_a_round() {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        for (connections, turn) in [(1, TURN), (32, TURN), (128, 64 << 10), (1000, LEAST_TURN), (10_000, LEAST_TURN)] {
            let pace = Arc::new(Pace::default());
            pace.share(connections);
            let activity = Activity::new(&Limits::default(), &pace);
            let mut sink = Sink::default();
            let large = vec![b'x'; 4 << 20];
            let parts = [&large[..1], &large[..300_000], &large].map(std::io::IoSlice::new);
            for round in 1..4 {
                activity.turn();
                let mut stream = Observed::new(&mut sink, Arc::clone(&activity));
                let mut bytes = 0;
                while let Poll::Ready(done) = Pin::new(&mut stream).poll_write_vectored(&mut cx, &parts) {
                    bytes += done.expect("a sink takes all");
                }
                assert_eq!(bytes, turn, "{connections}");
                // Nothing more fits into the turn.
                assert!(Pin::new(&mut stream).poll_write(&mut cx, &large).is_pending());
                assert_eq!(sink.0, round * turn);
            }
        }
    }

    #[tokio::test]
    async fn all_is_written_in_the_end() {
        let pace = Arc::new(Pace::default());
        pace.share(1000);
        let activity = Activity::new(&Limits::default(), &pace);
        let mut sink = Sink::default();
        let mut stream = Observed::new(&mut sink, Arc::clone(&activity));
        let mut large = &vec![b'x'; 1 << 20][..];
        while !large.is_empty() {
            activity.turn();
            let written = stream.write(large).await.expect("a sink takes all");
            large = &large[written..];
        }
        assert_eq!(sink.0, 1 << 20);
    }
}
