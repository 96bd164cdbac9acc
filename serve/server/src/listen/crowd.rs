//! All open connections, and which of them make room when there are too many.

use super::activity::{Activity, Pace};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// One in so many connections makes room at first. While others go on waiting, the number doubles, up to one in [`MOST`].
const FIRST: usize = 64;
const MOST: usize = 4;
/// After this time without anybody who waits, it begins anew.
const CALM: Duration = Duration::from_millis(500);
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
    /// When connections were told to make room, and how many could be.
    told: Option<(Instant, usize)>,
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

    /// All connections, and how many of them are told to make room now.
    fn next(&self) -> (Vec<Arc<Activity>>, usize) {
        let now = Instant::now();
        let mut members = self.members();
        let open: Vec<Arc<Activity>> = members.open.values().cloned().collect();
        let (first, most) = (open.len().div_ceil(FIRST), open.len().div_ceil(MOST));
        let before = members.told.filter(|(told, _)| now - *told < CALM).map(|(_, count)| count * 2);
        let count = before.unwrap_or_default().clamp(first, most);
        members.told = Some((now, count));
        (open, count)
    }

    /// Tells some connections to make room: those that have been idle or have not taken their answers for longest; if they are
    /// too few, also those that have been answered for longest; clients without a valid token before others. Returns the
    /// round in which the next ones can be told.
    pub(super) fn shed(&self) -> u64 {
        let (members, mut left) = self.next();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Limits;

    #[tokio::test(start_paused = true)]
    async fn the_longer_others_wait_the_more_make_room_at_a_time() {
        let crowd = Arc::new(Crowd::default());
        let members: Vec<_> = (0..640)
            .map(|_| {
                let activity = Activity::new(&Limits::default(), crowd.pace());
                drop(activity.request());
                (crowd.join(&activity), activity)
            })
            .collect();
        let told = || members.iter().filter(|(_, activity)| activity.told().is_some()).count();
        let mut counts = Vec::new();
        for _ in 0..6 {
            let before = told();
            crowd.shed();
            counts.push(told() - before);
        }
        assert_eq!(counts, [10, 20, 40, 80, 160, 160]);
        tokio::time::advance(CALM).await;
        let before = told();
        crowd.shed();
        assert_eq!(told() - before, 10);
    }
}
