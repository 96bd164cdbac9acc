//! Bytes that the bodies of requests and responses hold, over all connections.
//!
//! Everybody gets what there is. When nothing is left, room is made by the client that holds most: its bodies are given up that
//! have taken longer than the patience allows, the oldest first. If it has none, the newcomer is refused and comes again. So
//! no client is kept out by those who hold much and wait, and no client is too slow that sends or takes 1 MiB/s.
//!
//! A part of a body that is on its way to the client cannot be given up. It counts until the connection has sent it.

use super::Caller;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// What a body counts for at least: a request takes this much in addition to its body.
const LEAST: usize = 4 << 10;
/// How long a body may take, and how much longer for each MiB of it, before it may have to make room.
const PATIENCE: Duration = Duration::from_secs(2);
const PATIENCE_PER_MIB: Duration = Duration::from_secs(1);

/// Something that is held, and can be given up at any time.
pub(crate) trait Held: Send + Sync {
    /// Gives up the bytes immediately, and wakes the waiting requests.
    fn give_up(&self);
}

/// There is no room: try again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("others hold all the memory for bodies")]
pub(crate) struct Full;

/// What all bodies may hold together.
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
    /// The clients by what they hold.
    ranking: BTreeSet<(usize, Owner)>,
}

/// A client; all that are not known are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owner(Option<Caller>);

#[derive(Debug, Default)]
struct Client {
    used: usize,
    bodies: BTreeMap<u64, Body>,
}

struct Body {
    bytes: usize,
    /// Those of the bytes that are on their way.
    flying: usize,
    is_given_up: bool,
    since: Instant,
    /// What can be given up; none while the server works with it.
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

/// The part of one body. Its bytes are free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Holdings>,
    owner: Owner,
    number: u64,
}

impl Holdings {
    /// Bodies may hold this many bytes together.
    pub(crate) fn new(most: usize) -> Arc<Holdings> {
        Arc::new(Holdings { most, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a client hold bytes. A body of more than all counts as all.
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
    /// Takes bytes for a body. Returns what has to be given up for it.
    fn take(&mut self, share: &Share, more: usize, most: usize) -> Result<Vec<Arc<dyn Held>>, Full> {
        let more = more.min(most);
        let mut room = most.saturating_sub(self.used);
        let mut given_up = Vec::new();
        if room < more {
            let now = Instant::now();
            let (_, greatest) = self.ranking.last().ok_or(Full)?;
            // The one that asks would make room for itself.
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
            // Whoever has given up does not take more.
            if let Some(body) = client.bodies.get_mut(&share.number).filter(|body| !body.is_given_up) {
                body.bytes += more;
                client.used += more;
            }
        });
        Ok(given_up)
    }

    /// Frees what a body has that is not on its way. Returns what it held.
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

    /// Changes what a client holds. One that holds nothing is forgotten.
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
    /// There is no room, and no body can be given up. What it has stays.
    pub(crate) fn grow(&self, more: usize) -> Result<(), Full> {
        let given_up = self.of.state().take(self, more, self.of.most)?;
        for held in given_up {
            held.give_up();
        }
        Ok(())
    }

    /// Notes that a part of the bytes is on its way to the client.
    pub(crate) fn fly(&self, bytes: usize) {
        self.of.state().change(&self.owner, |client| {
            if let Some(body) = client.bodies.get_mut(&self.number) {
                body.flying = (body.flying + bytes).min(body.bytes);
            }
        });
    }

    /// Notes that a part has left. It counts no more.
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

    /// Notes that the server works with the bytes now, so that they cannot be given up.
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
    async fn who_holds_most_makes_room_when_it_is_overdue() {
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
        // What it held counts no more, whatever it does.
        of_first.grow(MIB).expect("room");
        assert_eq!(all.state().used, 7 * MIB);
        drop(of_first);
        assert_eq!(all.state().used, 7 * MIB);
        // Nothing is taken from the server's own work.
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
        // Bodies count for something, however small they are.
        drop(share);
        let shares: Vec<Share> = std::iter::from_fn(|| all.hold(None, 0, body().1).ok()).collect();
        assert_eq!(shares.len(), MIB / LEAST);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_on_its_way_counts_until_it_has_left() {
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
    fn a_body_of_more_than_all_counts_as_all() {
        let all = Holdings::new(MIB);
        let share = all.hold(None, 5 * MIB, body().1).expect("room");
        assert_eq!(all.state().used, MIB);
        assert_eq!(all.hold(None, 1, body().1).map(|_| ()), Err(Full));
        drop(share);
        assert_eq!(all.state().used, 0);
    }
}
