//! Which connections make room when there are too many, and how long they may take before.
//!
//! A connection is not to blame for what the server owes it. So patience is measured in [`Pace::rounds`], which pass only
//! while the server comes round to all connections, and not in time. When programs beside the server have the processors,
//! few rounds pass.

use super::{Activity, Begun};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::Instant;

/// How long a round takes if nothing else is to be done.
pub(crate) const ROUND: Duration = Duration::from_millis(10);

/// Bytes that a connection writes before others have their turn, at most and at least.
const TURN: usize = 256 << 10;
const LEAST_TURN: usize = 16 << 10;
/// Bytes that all connections write in a round, so that it stays short. Above 512 connections, their least turns decide.
const TURNS: usize = 8 << 20;

/// Rounds for a client that does not send its first request, or does not take its answer.
const CLIENT: u64 = rounds(250);
/// Rounds for a request, until the connection is told to end with its current answers.
const END: u64 = rounds(1000);
/// Rounds for a request, until the connection is cut if the answer makes no progress.
const CUT: u64 = rounds(2000);
/// Bytes that earn one more round. Who takes 1 MiB in 100 rounds, which is a second, is never too slow.
const BYTES_PER_ROUND: u64 = (1 << 20) / rounds(1000);
/// A client with a valid token stays longer than others by so much.
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
    /// Rounds in which every connection could be served that was ready. They are only counted while somebody waits for
    /// room.
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

    /// Bytes that a connection writes before others have their turn.
    pub(crate) fn turn(&self) -> usize {
        (TURNS / self.connections.load(Relaxed).max(1)).clamp(LEAST_TURN, TURN)
    }
}

/// What a connection does to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Step {
    /// It ends with its current answers.
    End = 1,
    /// It is idle: the client is told to leave.
    Leave,
    /// It is cut.
    Cut,
}

/// When a connection makes room for others, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rank {
    /// Whether it waits for the client, and not for the server. Those make room first.
    pub(crate) waits_for_client: bool,
    /// The round from which on it can be told. Until then it has only just begun what it does.
    pub(crate) from: u64,
    /// Those with the earliest make room first.
    pub(crate) order: Instant,
    pub(crate) step: Step,
}

impl Activity {
    /// Whether, when and how the connection makes room for others. `None` if it was told to already, or if the client
    /// waits for nothing but the server.
    pub(crate) fn rank(&self) -> Option<Rank> {
        let told = self.step.load(Relaxed);
        if told > Step::End as u8 { None } else { self.standing(told == Step::End as u8) }
    }

    /// `is_ending`: it was told to end with its current answers.
    fn standing(&self, is_ending: bool) -> Option<Rank> {
        let wire = self.wire();
        let longer = if self.trusted.load(Relaxed) { TRUSTED_LONGER } else { Duration::ZERO };
        let rank = |waits_for_client, from, since, step| {
            Some(Rank { waits_for_client, from, order: self.at(since, longer), step })
        };
        if self.is_quiet(&wire) {
            // Who was told to end and has been answered has nothing to wait for.
            let step = if is_ending { Step::Cut } else { Step::Leave };
            return rank(true, 0, self.last.load(Relaxed), step);
        }
        if self.is_fresh() {
            // What the client has sent may not have been read yet.
            let since = self.hungry.load(Relaxed).checked_sub(1)?;
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
        // What the server took for it is not the time of the answer.
        let since = begun.round.max(self.served.load(Relaxed));
        rank(false, since + CUT + progress(begun), begun.at, Step::Cut)
    }

    /// Tells the connection to make room for others.
    pub(crate) fn tell(&self, step: Step) {
        self.step.store(step as u8, Relaxed);
        self.told.notify_one();
    }

    /// What the connection was told last.
    pub(crate) fn told(&self) -> Option<Step> {
        let told = self.step.load(Relaxed);
        [Step::End, Step::Leave, Step::Cut].into_iter().find(|step| *step as u8 == told)
    }

    /// What a connection still has to do that was told to make room and has looked what the client sent meanwhile. If it is
    /// nothing, it can be told again.
    pub(crate) fn still_told(&self) -> Option<Step> {
        let is_ending = self.is_ending();
        let rank = self.standing(is_ending).filter(|rank| rank.step > Step::End && rank.from <= self.pace.rounds());
        if rank.is_none() {
            self.stays();
        }
        rank.map(|rank| rank.step)
    }

    /// Lets the connection be told again.
    pub(crate) fn stays(&self) {
        self.step.store(if self.is_ending() { Step::End as u8 } else { 0 }, Relaxed);
    }
}

tokio::task_local! {
    /// The connection of the request that the task answers.
    static CURRENT: Arc<Activity>;
}

/// The server works for a request on another thread, until this is dropped.
#[derive(Debug)]
pub(crate) struct Working(Option<Arc<Activity>>);

/// Notes that the server works on another thread for the request that this task answers. Its connection is not to blame for
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
    use crate::listen::crowd::{Crowd, Member};
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

    /// What the crowd tells a connection that somebody needs the place of.
    struct One {
        activity: Arc<Activity>,
        crowd: Arc<Crowd>,
        _member: Member,
    }

    impl One {
        fn new() -> One {
            let crowd = Arc::new(Crowd::default());
            let activity = Activity::new(&Limits::default(), crowd.pace());
            let member = crowd.join(&activity);
            One { activity, crowd, _member: member }
        }

        /// The step that it was told after so many rounds at the most, and how many it took.
        async fn told(&self, most: u64) -> Option<(Step, u64)> {
            for round in 0..=most {
                let before = self.activity.told();
                self.crowd.shed();
                if let Some(step) = self.activity.told().filter(|step| Some(*step) != before) {
                    return Some((step, round));
                }
                tokio::time::advance(ROUND).await;
                self.crowd.pass();
            }
            None
        }
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_the_server_serves_nobody_makes_nobody_old() {
        let one = One::new();
        one.activity.hungers();
        for _ in 0..CLIENT {
            // Other programs have the processors.
            tokio::time::advance(Duration::from_mins(1)).await;
            one.crowd.shed();
            assert_eq!(one.activity.told(), None);
            one.crowd.pass();
        }
        assert_eq!(one.told(0).await, Some((Step::Cut, 0)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_sent_and_not_read_is_not_held_against_the_client() {
        let one = One::new();
        assert_eq!(one.told(10 * CUT).await, None);
        // All was read, and it was no request.
        one.activity.hungers();
        assert_eq!(one.told(CUT).await, Some((Step::Cut, CLIENT)));
        // It arrived while the connection looked.
        let running = one.activity.request();
        assert_eq!(one.activity.still_told(), None);
        assert_eq!(one.activity.told(), None);
        drop(running);
        assert_eq!(one.told(0).await, Some((Step::Leave, 0)));
        assert_eq!(one.activity.still_told(), Some(Step::Leave));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_the_server_works_for_is_never_cut() {
        let one = One::new();
        let running = one.activity.request();
        let work = of(&one.activity, async { working() }).await;
        // It is the last on its connection.
        assert_eq!(one.told(CUT).await, Some((Step::End, END)));
        one.activity.end();
        assert_eq!(one.told(100 * CUT).await, None);
        drop(work);
        // What it made can be sent now.
        assert_eq!(one.told(CUT).await, Some((Step::Cut, CUT)));
        assert_eq!(one.activity.still_told(), Some(Step::Cut));
        drop(running);
        let other = One::new();
        let running = other.activity.request();
        assert_eq!(other.told(CUT).await, Some((Step::End, END)));
        let work = of(&other.activity, async { working() }).await;
        assert_eq!(other.told(100 * CUT).await, None);
        other.activity.body_begins();
        drop((work, running));
        // The client takes what was made, so it is sent to its end.
        assert_eq!(other.told(CUT - 1).await, None);
        // Without the mark, it is the same as for an endpoint that waits for another server.
        let other = One::new();
        let _running = other.activity.request();
        assert_eq!(other.told(CUT).await, Some((Step::End, END)));
        assert_eq!(other.told(CUT).await, Some((Step::Cut, CUT - END)));
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
            let mut told = None;
            for _ in 0..10 * CUT {
                one.activity.deadline(&limits);
                one.crowd.shed();
                told = told.max(one.activity.told());
                one.activity.sent([&*large], bytes);
                one.activity.waits();
                tokio::time::advance(ROUND).await;
                one.crowd.pass();
            }
            assert_eq!(told, Some(if is_cut { Step::Cut } else { Step::End }), "{bytes}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_wait_for_their_client_make_room_first() {
        let crowd = Arc::new(Crowd::default());
        let new = || {
            let activity = Activity::new(&Limits::default(), crowd.pace());
            let member = crowd.join(&activity);
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
        silent.hungers();
        for _ in 0..2 * CUT {
            crowd.pass();
            tokio::time::advance(ROUND).await;
        }
        for expected in [&old, &silent, &trusted, &busy] {
            assert_eq!(expected.told(), None);
            crowd.shed();
            assert!(expected.told().is_some());
        }
        assert_eq!(busy.told(), Some(Step::End));
    }

    /// Takes everything, and counts it.
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
