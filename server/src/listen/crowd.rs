//! All open connections, and which of them make room when there are too many.

use super::activity::Activity;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// At least one in so many connections makes room at a time.
const SHARE: usize = 16;

/// The open connections, in the order in which they were accepted.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    members: Mutex<(u64, BTreeMap<u64, Arc<Activity>>)>,
}

/// A connection is in the crowd until this is dropped.
#[derive(Debug)]
pub(super) struct Member {
    crowd: Arc<Crowd>,
    number: u64,
}

impl Crowd {
    fn members(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Arc<Activity>>)> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn join(self: &Arc<Self>, activity: &Arc<Activity>) -> Member {
        let mut members = self.members();
        members.0 += 1;
        let number = members.0;
        members.1.insert(number, Arc::clone(activity));
        Member { crowd: Arc::clone(self), number }
    }

    /// Tells some connections to make room: those that have been idle, have not taken their answers, or have been answered for
    /// longest; clients without a valid token before others. Returns when the next one can be told, if none can now.
    pub(super) fn shed(&self) -> Option<Instant> {
        let members: Vec<Arc<Activity>> = self.members().1.values().cloned().collect();
        let count = members.len().div_ceil(SHARE);
        let now = Instant::now();
        let mut next: Option<Instant> = None;
        let mut ranked: Vec<(Instant, usize)> = Vec::new();
        for (place, activity) in members.iter().enumerate() {
            match activity.rank() {
                Some(rank) if rank.from <= now => ranked.push((rank.order, place)),
                Some(rank) => next = Some(next.map_or(rank.from, |next| next.min(rank.from))),
                None => {}
            }
        }
        if ranked.len() > count {
            ranked.select_nth_unstable(count);
            ranked.truncate(count);
        }
        for (_, place) in &ranked {
            members[*place].shed();
        }
        next.filter(|_| ranked.is_empty())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.crowd.members().1.remove(&self.number);
    }
}
