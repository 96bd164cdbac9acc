//! All open connections, and which of them are evicted when there are too many.

use super::activity::{Activity, Pace};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// At first, one in this many connections is evicted. While others still wait, the number doubles, up to one in
/// [`MOST`].
const FIRST: usize = 64;
const MOST: usize = 4;
/// After this time without a waiting connection, the number starts at [`FIRST`] again.
const CALM: Duration = Duration::from_millis(500);
/// Connections that cannot be evicted yet are checked again after at most this many rounds.
const LOOK: u64 = 10;

/// The open connections, in the order in which they were accepted.
#[derive(Debug, Default)]
pub(super) struct OpenConnections {
    members: Mutex<Members>,
    pace: Arc<Pace>,
}

#[derive(Debug, Default)]
struct Members {
    /// The number of the last one.
    last: u64,
    open: BTreeMap<u64, Arc<Activity>>,
    /// When the last round passed.
    round: Option<Instant>,
    /// When connections were last evicted, and the maximum number then.
    evicted: Option<(Instant, usize)>,
}

/// A connection is in the set until this is dropped.
#[derive(Debug)]
pub(super) struct Member {
    connections: Arc<OpenConnections>,
    number: u64,
}

impl OpenConnections {
    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time that the server has for the connections.
    pub(super) fn pace(&self) -> &Arc<Pace> {
        &self.pace
    }

    pub(super) fn join(self: &Arc<Self>, activity: &Arc<Activity>) -> Member {
        let mut members = self.members();
        members.last += 1;
        let number = members.last;
        members.open.insert(number, Arc::clone(activity));
        self.pace.share(members.open.len());
        Member { connections: Arc::clone(self), number }
    }

    /// Counts a round, unless another listener has counted it. It is called while waiting for room, after a timer has
    /// run out and all tasks that were ready then have run.
    pub(super) fn pass(&self) {
        let now = Instant::now();
        let mut members = self.members();
        if members.round.is_none_or(|last| now - last >= super::activity::ROUND) {
            members.round = Some(now);
            self.pace.pass();
        }
    }

    /// Returns all connections, and the number to evict now.
    fn next(&self) -> (Vec<Arc<Activity>>, usize) {
        let now = Instant::now();
        let mut members = self.members();
        let open: Vec<Arc<Activity>> = members.open.values().cloned().collect();
        let (first, most) = (open.len().div_ceil(FIRST), open.len().div_ceil(MOST));
        let before = members.evicted.filter(|(at, _)| now - *at < CALM).map(|(_, count)| count * 2);
        let count = before.unwrap_or_default().clamp(first, most);
        members.evicted = Some((now, count));
        (open, count)
    }

    /// Evicts some connections: those that have been idle or have not read their responses for longest; if these are
    /// too few, also those whose responses take longest; clients without a valid token before others. Returns the round
    /// in which the next ones can be evicted.
    pub(super) fn shed(&self) -> u64 {
        let (members, mut left) = self.next();
        let now = self.pace.rounds();
        let mut next = now + LOOK;
        // Those that wait for their clients, and those that wait for the server.
        let mut ranked = [Vec::new(), Vec::new()];
        // Those that have waited for their clients only for a short time.
        let mut soon = 0;
        for activity in &members {
            let Some(rank) = activity.rank() else { continue };
            if rank.from <= now {
                ranked[usize::from(!rank.waits_for_client)].push((rank.order, rank.step, activity));
            } else {
                soon += usize::from(rank.waits_for_client);
                next = next.min(rank.from);
            }
        }
        for (ranked, soon) in ranked.iter_mut().zip([soon, 0]) {
            if ranked.len() > left {
                ranked.select_nth_unstable_by_key(left, |(order, ..)| *order);
                ranked.truncate(left);
            }
            for (_, step, activity) in &*ranked {
                activity.evict(*step);
            }
            left = left.saturating_sub(ranked.len() + soon);
        }
        next.max(now + 1)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut members = self.connections.members();
        members.open.remove(&self.number);
        self.connections.pace.share(members.open.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Limits;

    #[tokio::test(start_paused = true)]
    async fn longer_waits_evict_more_connections_at_a_time() {
        let connections = Arc::new(OpenConnections::default());
        let members: Vec<_> = (0..640)
            .map(|_| {
                let activity = Activity::new(&Limits::default(), connections.pace());
                drop(activity.request());
                (connections.join(&activity), activity)
            })
            .collect();
        let evicted = || members.iter().filter(|(_, activity)| activity.eviction().is_some()).count();
        let mut counts = Vec::new();
        for _ in 0..6 {
            let before = evicted();
            connections.shed();
            counts.push(evicted() - before);
        }
        assert_eq!(counts, [10, 20, 40, 80, 160, 160]);
        tokio::time::advance(CALM).await;
        let before = evicted();
        connections.shed();
        assert_eq!(evicted() - before, 10);
    }
}
