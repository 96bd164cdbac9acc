//! The memory of the bodies of requests and responses, over all connections.
//!
//! Any client can use all free memory. When nothing is left, the client that uses most makes room: its bodies that have
//! taken longer than the patience allows are given up, the oldest first. If it has none, the new request is refused and
//! may be retried. So clients that use much memory and wait do not block others, and a client that sends or reads 1
//! MiB/s is never too slow.
//!
//! A part of a body that is in flight to the client cannot be given up. It is counted until the connection has sent it.

use super::Caller;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// The minimum count of a body: a request needs this much in addition to its body.
const LEAST: usize = 4 << 10;
/// The time that a body may take, and the additional time for each MiB of it, before it may have to make room.
const PATIENCE: Duration = Duration::from_secs(2);
const PATIENCE_PER_MIB: Duration = Duration::from_secs(1);

/// Memory that can be given up at any time.
pub(crate) trait Held: Send + Sync {
    /// Gives up the bytes immediately, and wakes the waiting requests.
    fn give_up(&self);
}

/// There is no room: try again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("others hold all the memory for bodies")]
pub(crate) struct Full;

/// The memory of all bodies.
#[derive(Debug)]
pub(crate) struct Holdings {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used: usize,
    /// The number of the next body. Older bodies have lower numbers.
    next: u64,
    clients: BTreeMap<Owner, Client>,
    /// The clients, sorted by the memory that they use.
    ranking: BTreeSet<(usize, Owner)>,
}

/// A client; all unknown clients are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owner(Option<Caller>);

#[derive(Debug, Default)]
struct Client {
    used: usize,
    bodies: BTreeMap<u64, Body>,
}

struct Body {
    bytes: usize,
    /// The bytes of these that are in flight.
    flying: usize,
    is_given_up: bool,
    since: Instant,
    /// The memory that can be given up; `None` while the server works with it.
    held: Option<Weak<dyn Held>>,
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body").field("bytes", &self.bytes).field("since", &self.since).finish_non_exhaustive()
    }
}

impl Body {
    fn is_overdue(&self, now: Instant) -> bool {
        let mib = u32::try_from(self.bytes >> 20).unwrap_or(u32::MAX);
        self.held.is_some() && now.duration_since(self.since) > PATIENCE + PATIENCE_PER_MIB.saturating_mul(mib)
    }
}

/// The share of one body. Its bytes are free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Holdings>,
    owner: Owner,
    number: u64,
}

impl Holdings {
    /// Creates a limit for all bodies together.
    pub(crate) fn new(most: usize) -> Arc<Holdings> {
        Arc::new(Holdings { most, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves bytes for a client. A body larger than the limit is counted as the limit.
    ///
    /// # Errors
    /// There is no room, and no body can be given up.
    pub(crate) fn hold(
        self: &Arc<Self>,
        caller: Option<Caller>,
        bytes: usize,
        held: Weak<dyn Held>,
    ) -> Result<Share, Full> {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        let share = Share { of: Arc::clone(self), owner: Owner(caller), number };
        let (since, held) = (Instant::now(), Some(held));
        let body = Body { bytes: 0, flying: 0, is_given_up: false, since, held };
        state.clients.entry(share.owner.clone()).or_default().bodies.insert(number, body);
        let made = state.take(&share, bytes.max(LEAST), self.most);
        drop(state);
        for held in made? {
            held.give_up();
        }
        Ok(share)
    }
}

impl State {
    /// Takes bytes for a body. Returns the bodies that must be given up for it.
    fn take(&mut self, share: &Share, more: usize, most: usize) -> Result<Vec<Arc<dyn Held>>, Full> {
        let more = more.min(most);
        let mut room = most.saturating_sub(self.used);
        let mut given_up = Vec::new();
        if room < more {
            let now = Instant::now();
            let (_, greatest) = self.ranking.last().ok_or(Full)?;
            // The requesting client would make room for itself.
            let bodies = self.clients.get(greatest).into_iter().flat_map(|client| &client.bodies);
            for (number, body) in bodies.filter(|(number, body)| **number != share.number && body.is_overdue(now)) {
                given_up.push((greatest.clone(), *number));
                room += body.bytes - body.flying;
                if room >= more {
                    break;
                }
            }
            if room < more {
                return Err(Full);
            }
        }
        let given_up = given_up.into_iter().filter_map(|(client, number)| self.give_up(&client, number)).collect();
        self.change(&share.owner, |client| {
            // A body that was given up takes nothing more.
            if let Some(body) = client.bodies.get_mut(&share.number).filter(|body| !body.is_given_up) {
                body.bytes += more;
                client.used += more;
            }
        });
        Ok(given_up)
    }

    /// Frees the bytes of a body that are not in flight. Returns its memory.
    fn give_up(&mut self, owner: &Owner, number: u64) -> Option<Arc<dyn Held>> {
        let mut held = None;
        self.change(owner, |client| {
            if let Some(body) = client.bodies.get_mut(&number) {
                client.used -= body.bytes - body.flying;
                body.bytes = body.flying;
                body.is_given_up = true;
                held = body.held.take();
            }
        });
        held?.upgrade()
    }

    /// Removes a body.
    fn remove(&mut self, owner: &Owner, number: u64) {
        self.change(owner, |client| {
            if let Some(body) = client.bodies.remove(&number) {
                client.used -= body.bytes;
            }
        });
    }

    /// Changes the memory of a client. A client that uses none is forgotten.
    fn change(&mut self, owner: &Owner, change: impl FnOnce(&mut Client)) {
        let Some(client) = self.clients.get_mut(owner) else { return };
        let before = client.used;
        change(client);
        let (after, is_gone) = (client.used, client.bodies.is_empty());
        self.used = self.used - before + after;
        if is_gone {
            self.clients.remove(owner);
        }
        if before != after {
            self.ranking.remove(&(before, owner.clone()));
            if after > 0 {
                self.ranking.insert((after, owner.clone()));
            }
        }
    }
}

impl Share {
    /// Takes more bytes.
    ///
    /// # Errors
    /// There is no room, and no body can be given up. Its existing bytes are kept.
    pub(crate) fn grow(&self, more: usize) -> Result<(), Full> {
        let given_up = self.of.state().take(self, more, self.of.most)?;
        for held in given_up {
            held.give_up();
        }
        Ok(())
    }

    /// Records that a part of the bytes is in flight to the client.
    pub(crate) fn fly(&self, bytes: usize) {
        self.of.state().change(&self.owner, |client| {
            if let Some(body) = client.bodies.get_mut(&self.number) {
                body.flying = (body.flying + bytes).min(body.bytes);
            }
        });
    }

    /// Records that a part was sent. It is no longer counted.
    pub(crate) fn land(&self, bytes: usize) {
        self.of.state().change(&self.owner, |client| {
            if let Some(body) = client.bodies.get_mut(&self.number) {
                let bytes = bytes.min(body.flying);
                body.flying -= bytes;
                body.bytes -= bytes;
                client.used -= bytes;
            }
        });
    }

    /// Records that the server works with the bytes now, so that they cannot be given up.
    pub(crate) fn pin(&self) {
        self.of.state().change(&self.owner, |client| {
            if let Some(body) = client.bodies.get_mut(&self.number) {
                body.held = None;
            }
        });
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.state().remove(&self.owner, self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    const MIB: usize = 1 << 20;

    #[derive(Default)]
    struct Bytes(AtomicBool);

    impl Held for Bytes {
        fn give_up(&self) {
            self.0.store(true, Relaxed);
        }
    }

    fn body() -> (Arc<Bytes>, Weak<dyn Held>) {
        let bytes = Arc::new(Bytes::default());
        let weak: Weak<Bytes> = Arc::downgrade(&bytes);
        (bytes, weak)
    }

    fn user(name: &str) -> Caller {
        Caller::User(name.into())
    }

    #[tokio::test(start_paused = true)]
    async fn the_largest_client_makes_room_when_it_is_overdue() {
        let all = Holdings::new(10 * MIB);
        let (first, weak) = body();
        let of_first = all.hold(Some(user("greedy")), 4 * MIB, weak).expect("room");
        tokio::time::advance(Duration::from_secs(1)).await;
        let (second, weak) = body();
        let of_second = all.hold(Some(user("greedy")), 3 * MIB, weak).expect("room");
        let (modest, weak) = body();
        let of_modest = all.hold(Some(user("modest")), MIB, weak).expect("room");
        let (_late, weak) = body();
        // 2 MiB are free, and no client is overdue.
        assert_eq!(all.hold(Some(user("late")), 3 * MIB, weak.clone()).map(|_| ()), Err(Full));
        assert_eq!(all.state().clients.len(), 2);
        // The oldest may take 6 s, and has.
        tokio::time::advance(Duration::from_millis(5_001)).await;
        let of_late = all.hold(Some(user("late")), 3 * MIB, weak).expect("room");
        assert!(first.0.load(Relaxed) && !second.0.load(Relaxed) && !modest.0.load(Relaxed));
        // Its bytes are no longer counted, whatever it does.
        of_first.grow(MIB).expect("room");
        assert_eq!(all.state().used, 7 * MIB);
        drop(of_first);
        assert_eq!(all.state().used, 7 * MIB);
        // The server's own work is not given up.
        of_second.pin();
        of_late.pin();
        tokio::time::advance(Duration::from_mins(10)).await;
        let (_own, weak) = body();
        assert_eq!(all.hold(Some(user("greedy")), 4 * MIB, weak).map(|_| ()), Err(Full));
        drop((of_second, of_modest, of_late));
        let state = all.state();
        assert!(state.used == 0 && state.clients.is_empty() && state.ranking.is_empty(), "{state:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_does_not_make_room_for_itself() {
        let all = Holdings::new(MIB);
        let (bytes, weak) = body();
        let share = all.hold(None, MIB, weak).expect("room");
        tokio::time::advance(Duration::from_mins(10)).await;
        assert_eq!(share.grow(1), Err(Full));
        assert!(!bytes.0.load(Relaxed));
        // Every body has a minimum count.
        drop(share);
        let shares: Vec<Share> = std::iter::from_fn(|| all.hold(None, 0, body().1).ok()).collect();
        assert_eq!(shares.len(), MIB / LEAST);
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_in_flight_are_counted_until_they_are_sent() {
        let all = Holdings::new(4 * MIB);
        let (bytes, weak) = body();
        let share = all.hold(None, 3 * MIB, weak).expect("room");
        share.fly(MIB);
        tokio::time::advance(Duration::from_mins(1)).await;
        // 2 of its 3 MiB can be given up.
        let (_other, weak) = body();
        assert_eq!(all.hold(Some(user("b")), 4 * MIB, weak.clone()).map(|_| ()), Err(Full));
        let other = all.hold(Some(user("b")), 3 * MIB, weak).expect("room");
        assert!(bytes.0.load(Relaxed));
        assert_eq!(all.state().used, 4 * MIB);
        share.land(MIB);
        assert_eq!(all.state().used, 3 * MIB);
        drop((share, other));
        let state = all.state();
        assert!(state.used == 0 && state.clients.is_empty(), "{state:?}");
    }

    #[test]
    fn a_body_larger_than_the_limit_is_counted_as_the_limit() {
        let all = Holdings::new(MIB);
        let share = all.hold(None, 5 * MIB, body().1).expect("room");
        assert_eq!(all.state().used, MIB);
        assert_eq!(all.hold(None, 1, body().1).map(|_| ()), Err(Full));
        drop(share);
        assert_eq!(all.state().used, 0);
    }
}
