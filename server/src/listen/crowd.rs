//! All open connections, and which of them make room when there are too many.

use super::activity::{Activity, Pace};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// At least one in so many connections makes room at a time.
const SHARE: usize = 16;
/// Those that cannot be told to make room yet are looked at again after so many rounds at most.
const LOOK: u64 = 10;

/// The open connections, in the order in which they were accepted.
#[derive(Debug, Default)]
pub(super) struct Crowd {
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
}

/// A connection is in the crowd until this is dropped.
#[derive(Debug)]
pub(super) struct Member {
    crowd: Arc<Crowd>,
    number: u64,
}

impl Crowd {
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
        Member { crowd: Arc::clone(self), number }
    }

    /// Counts a round, unless another listener has counted it. It is called by whoever waits for room, when a timer has
    /// run out and all tasks had their turn that were ready then.
    pub(super) fn pass(&self) {
        let now = Instant::now();
        let mut members = self.members();
        if members.round.is_none_or(|last| now - last >= super::activity::ROUND) {
            members.round = Some(now);
            self.pace.pass();
        }
    }

    /// Tells some connections to make room: those that have been idle or have not taken their answers for longest; if they are
    /// too few, also those that have been answered for longest; clients without a valid token before others. Returns the
    /// round in which the next ones can be told.
    pub(super) fn shed(&self) -> u64 {
        let members: Vec<Arc<Activity>> = self.members().open.values().cloned().collect();
        let count = members.len().div_ceil(SHARE);
        let now = self.pace.rounds();
        let mut next = now + LOOK;
        // Those that wait for their clients, and those that wait for the server.
        let mut ranked = [Vec::new(), Vec::new()];
        // Those that wait for their clients, and have not done so for long.
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
        let mut left = count;
        for (ranked, soon) in ranked.iter_mut().zip([soon, 0]) {
            if ranked.len() > left {
                ranked.select_nth_unstable_by_key(left, |(order, ..)| *order);
                ranked.truncate(left);
            }
            for (_, step, activity) in &*ranked {
                activity.tell(*step);
            }
            left = left.saturating_sub(ranked.len() + soon);
        }
        next.max(now + 1)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut members = self.crowd.members();
        members.open.remove(&self.number);
        self.crowd.pace.share(members.open.len());
    }
}
