//! Whose job is next on the threads for long work.
//!
//! A job begins when a thread is free for short jobs. After [`LONG_AFTER`], it is a long job and takes no such thread
//! any more, so short jobs do not wait behind long ones. A client has a bounded share of the long jobs: while it has
//! it, its other jobs wait, and those of others do not. Clients have their turns one after the other.
//!
//! Several clients can use all places for long jobs together. Some more are reserved for modest clients that have no
//! job, each of which can have one of them. A client whose job took [`GREEDY_AFTER`] is greedy for [`GREEDY_FOR`], and
//! modest clients have more turns than greedy ones. So what is short waits for long jobs only when many new clients
//! send long jobs at once. While others wait, the oldest long job of the client that has most of them is ended, once it
//! has had its time, [`LONG_ENOUGH_MS`].

use crate::limit::Caller;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

/// Requests that can wait for a thread.
pub(crate) const MOST_WAITING: usize = 1024;
/// After this time, a job is a long one.
pub(super) const LONG_AFTER: Duration = Duration::from_millis(20);
/// How many milliseconds a long job has its place when others wait and there is none.
const LONG_ENOUGH_MS: u64 = 500;
/// A client whose job took this long is greedy.
const GREEDY_AFTER: Duration = Duration::from_millis(250);
/// How long it is greedy.
const GREEDY_FOR: Duration = Duration::from_secs(10);
/// How many greedy clients are remembered.
const MOST_GREEDY: usize = 1024;
/// After this many turns of modest clients, a greedy one has a turn.
const MODEST_TURNS: u8 = 3;
/// How often jobs to end are looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Whose job it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// What the server makes once for all clients. It always waits.
    Server,
    /// A request of a client; all that are not known are one.
    Client(Option<Caller>),
}

/// The jobs that run, and those that wait.
#[derive(Debug)]
pub(super) struct Queue {
    /// The threads for short jobs.
    threads: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    short: usize,
    long: usize,
    waiting: usize,
    clients: BTreeMap<Owner, Client>,
    /// The clients with jobs that wait.
    turns: Turns,
    /// The greedy clients, and until when they are.
    greedy: BTreeMap<Owner, Instant>,
    /// The long jobs that can be ended, the oldest first.
    running: BTreeMap<u64, Running>,
    next: u64,
    /// The job that was ended last, while it has its place.
    ending: Option<(u64, Instant)>,
    /// Whether a task looks for jobs to end.
    is_watched: bool,
}

/// Clients in the order of their turns.
#[derive(Debug, Default)]
struct Turns {
    modest: VecDeque<Owner>,
    greedy: VecDeque<Owner>,
    /// The turns of modest clients since the last turn of a greedy one.
    modest_in_a_row: u8,
}

impl Turns {
    fn is_empty(&self) -> bool {
        self.modest.is_empty() && self.greedy.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = &Owner> {
        self.modest.iter().chain(&self.greedy)
    }

    fn remove(&mut self, owner: &Owner) {
        self.modest.retain(|other| other != owner);
        self.greedy.retain(|other| other != owner);
    }

    /// The first client that `can` begin a job, if it is the turn of those of its kind.
    fn next(&mut self, can: impl Fn(&Owner, bool) -> bool) -> Option<Owner> {
        let mut kinds = [(false, &mut self.modest), (true, &mut self.greedy)];
        if self.modest_in_a_row >= MODEST_TURNS {
            kinds.reverse();
        }
        for (is_greedy, clients) in kinds {
            if let Some(place) = clients.iter().position(|owner| can(owner, is_greedy)) {
                self.modest_in_a_row = if is_greedy { 0 } else { (self.modest_in_a_row + 1).min(MODEST_TURNS) };
                return clients.remove(place);
            }
        }
        None
    }
}

/// A long job.
#[derive(Debug)]
struct Running {
    owner: Owner,
    since: Instant,
    end: Arc<End>,
}

/// The end of a job before its time.
#[derive(Debug, Default)]
pub(super) struct End {
    /// What the job looks at.
    pub(super) stop: AtomicBool,
    /// Whether it was ended for others.
    for_others: AtomicBool,
}

impl End {
    /// Whether the job was ended because others waited.
    pub(super) fn was_for_others(&self) -> bool {
        self.for_others.load(Relaxed)
    }
}

#[derive(Debug, Default)]
struct Client {
    short: usize,
    long: usize,
    waiting: VecDeque<oneshot::Sender<()>>,
}

/// Too many requests wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Queue {
    pub(super) fn new(threads: usize) -> Arc<Queue> {
        Arc::new(Queue { threads, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The long jobs that a client can have when another one of its jobs begins.
    fn share(&self) -> usize {
        self.threads + 1
    }

    /// The long jobs of all clients when another job begins.
    fn most_long(&self) -> usize {
        2 * self.threads + 2
    }

    /// The same, when the job is the only one of a modest client.
    fn most_long_of_idle(&self) -> usize {
        3 * self.threads + 3
    }

    /// Whether a job of a client can begin, when there are so many long ones.
    fn has_place(&self, long: usize, client: &Client, is_greedy: bool) -> bool {
        let is_idle = client.short + client.long == 0;
        let most = if is_idle && !is_greedy { self.most_long_of_idle() } else { self.most_long() };
        long < most && client.long < self.share()
    }

    /// Waits for a place to work.
    ///
    /// # Errors
    /// Too many requests wait, and no client has more of them than this one.
    pub(super) async fn place(self: &Arc<Self>, owner: Owner) -> Result<Place, Full> {
        let waiting = self.enter(owner)?;
        waiting.place().await
    }

    /// Starts a task that looks for long jobs to end, if others wait for their places.
    fn look_after(self: &Arc<Self>, state: &mut State) {
        let is_needed = state.long >= self.most_long() && !state.turns.is_empty();
        if let (true, false, Ok(runtime)) = (is_needed, state.is_watched, Handle::try_current()) {
            state.is_watched = true;
            runtime.spawn(Arc::clone(self).watch());
        }
    }

    /// Looks for long jobs to end, as long as others wait for their places.
    async fn watch(self: Arc<Self>) {
        loop {
            sleep(LOOK).await;
            let mut state = self.state();
            state.is_watched = state.long >= self.most_long() && !state.turns.is_empty();
            if !state.is_watched {
                return;
            }
            state.end_oldest();
        }
    }

    fn enter(self: &Arc<Self>, owner: Owner) -> Result<Waiting, Full> {
        let (start, started) = oneshot::channel();
        let mut state = self.state();
        if state.waiting >= MOST_WAITING && owner != Owner::Server && !state.make_room(&owner) {
            return Err(Full);
        }
        let client = state.clients.entry(owner.clone()).or_default();
        client.waiting.push_back(start);
        if client.waiting.len() == 1 {
            state.has_turn(owner.clone());
        }
        state.waiting += 1;
        self.begin(&mut state);
        self.look_after(&mut state);
        drop(state);
        Ok(Waiting { queue: Arc::clone(self), owner, started: Some(started) })
    }

    /// Begins the jobs for which there is a thread.
    fn begin(&self, state: &mut State) {
        while state.short < self.threads && state.long < self.most_long_of_idle() {
            let (clients, long) = (&state.clients, state.long);
            let can = |owner: &Owner, is_greedy: bool| {
                (!is_greedy || long < self.most_long())
                    && clients.get(owner).is_none_or(|client| self.has_place(long, client, is_greedy))
            };
            let Some(owner) = state.turns.next(can) else { return };
            let Some(client) = state.clients.get_mut(&owner) else { continue };
            if let Some(start) = client.waiting.pop_front() {
                state.waiting -= 1;
                if start.send(()).is_ok() {
                    client.short += 1;
                    state.short += 1;
                }
            }
            if client.waiting.is_empty() {
                state.forget_idle(&owner);
            } else {
                state.has_turn(owner);
            }
        }
    }
}

impl State {
    /// Gives a client a turn after those of its kind.
    fn has_turn(&mut self, owner: Owner) {
        let now = Instant::now();
        if self.greedy.get(&owner).is_some_and(|until| *until <= now) {
            self.greedy.remove(&owner);
        }
        let is_greedy = self.greedy.contains_key(&owner);
        let turns = if is_greedy { &mut self.turns.greedy } else { &mut self.turns.modest };
        turns.push_back(owner);
    }

    /// Remembers a client whose job took long.
    fn remember_greedy(&mut self, owner: &Owner) {
        let now = Instant::now();
        if !self.greedy.contains_key(owner) && self.greedy.len() >= MOST_GREEDY {
            self.greedy.retain(|_, until| *until > now);
            let first = self.greedy.iter().min_by_key(|(_, until)| **until).map(|(owner, _)| owner.clone());
            if let (true, Some(first)) = (self.greedy.len() >= MOST_GREEDY, first) {
                self.greedy.remove(&first);
            }
        }
        self.greedy.insert(owner.clone(), now + GREEDY_FOR);
    }

    /// Ends the oldest long job of the client that has most of them, if it has had its time and a client with fewer
    /// waits.
    fn end_oldest(&mut self) {
        let enough = Duration::from_millis(LONG_ENOUGH_MS);
        if self.ending.is_some_and(|(_, since)| since.elapsed() < enough) {
            return;
        }
        let long = |owner: &Owner| self.clients.get(owner).map_or(0, |client| client.long);
        let most = self.running.values().map(|job| long(&job.owner)).max().unwrap_or_default();
        if self.turns.all().all(|owner| long(owner) >= most) {
            return;
        }
        let is_due = |job: &Running| job.since.elapsed() >= enough && long(&job.owner) == most;
        let oldest = self.running.iter().find(|(_, job)| is_due(job)).map(|(number, _)| *number);
        let Some(number) = oldest else { return };
        if let Some(job) = self.running.remove(&number) {
            self.remember_greedy(&job.owner);
            self.ending = Some((number, Instant::now()));
            job.end.for_others.store(true, Relaxed);
            job.end.stop.store(true, Relaxed);
        }
    }

    /// Gives up the newest job of the client that has most waiting, if those are more than another client has.
    fn make_room(&mut self, other: &Owner) -> bool {
        let own = self.clients.get(other).map_or(0, |client| client.waiting.len());
        let greatest = self.clients.values_mut().max_by_key(|client| client.waiting.len());
        let Some(greatest) = greatest.filter(|greatest| greatest.waiting.len() > own + 1) else { return false };
        greatest.waiting.pop_back();
        self.waiting -= 1;
        true
    }

    fn forget_idle(&mut self, owner: &Owner) {
        let is_idle = |client: &Client| client.short + client.long == 0 && client.waiting.is_empty();
        if self.clients.get(owner).is_some_and(is_idle) {
            self.clients.remove(owner);
        }
    }
}

/// A job that waits.
struct Waiting {
    queue: Arc<Queue>,
    owner: Owner,
    /// Taken when the job begins.
    started: Option<oneshot::Receiver<()>>,
}

impl Waiting {
    async fn place(mut self) -> Result<Place, Full> {
        if let Some(started) = &mut self.started {
            started.await.map_err(|_| Full)?;
        }
        self.started = None;
        let (queue, owner) = (Arc::clone(&self.queue), self.owner.clone());
        let is_greedy = queue.state().greedy.contains_key(&owner);
        Ok(Place { queue, owner, is_greedy, long: Mutex::default(), end: Arc::default() })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(mut started) = self.started.take() else { return };
        started.close();
        if started.try_recv().is_ok() {
            // It could begin, but its response is no longer wanted.
            self.queue.leave(&self.owner, None);
            return;
        }
        let mut state = self.queue.state();
        let Some(client) = state.clients.get_mut(&self.owner) else { return };
        let before = client.waiting.len();
        client.waiting.retain(|start| !start.is_closed());
        let (gone, is_empty) = (before - client.waiting.len(), client.waiting.is_empty());
        state.waiting -= gone;
        if is_empty && before > 0 {
            state.turns.remove(&self.owner);
            state.forget_idle(&self.owner);
        }
    }
}

impl Queue {
    fn leave(&self, owner: &Owner, long: Option<u64>) {
        let mut state = self.state();
        *(if long.is_some() { &mut state.long } else { &mut state.short }) -= 1;
        if let Some(client) = state.clients.get_mut(owner) {
            *(if long.is_some() { &mut client.long } else { &mut client.short }) -= 1;
        }
        if let Some(number) = long {
            if state.running.remove(&number).is_some_and(|job| job.since.elapsed() >= GREEDY_AFTER) {
                state.remember_greedy(owner);
            }
            state.ending = state.ending.filter(|(ending, _)| *ending != number);
        }
        state.forget_idle(owner);
        self.begin(&mut state);
    }
}

/// A job that runs. Its place is free when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    queue: Arc<Queue>,
    owner: Owner,
    is_greedy: bool,
    /// The number of a long job.
    long: Mutex<Option<u64>>,
    end: Arc<End>,
}

impl Place {
    /// Whether the client is greedy, so that others go before it.
    pub(super) fn is_greedy(&self) -> bool {
        self.is_greedy
    }

    /// What ends the job.
    pub(super) fn end(&self) -> Arc<End> {
        Arc::clone(&self.end)
    }

    /// Makes room for short jobs: the job takes long, or its client is gone.
    pub(super) fn takes_long(&self) {
        let mut long = self.long.lock().unwrap_or_else(PoisonError::into_inner);
        if long.is_some() {
            return;
        }
        let mut state = self.queue.state();
        state.next += 1;
        let number = *long.insert(state.next);
        // What the server makes for all is not ended.
        if self.owner != Owner::Server {
            let job = Running { owner: self.owner.clone(), since: Instant::now(), end: Arc::clone(&self.end) };
            state.running.insert(number, job);
        }
        state.short -= 1;
        state.long += 1;
        if let Some(client) = state.clients.get_mut(&self.owner) {
            client.short -= 1;
            client.long += 1;
        }
        self.queue.begin(&mut state);
        self.queue.look_after(&mut state);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let long = *self.long.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.queue.leave(&self.owner, long);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use tokio::time::timeout;

    fn client(name: &str) -> Owner {
        Owner::Client(Some(Caller::User(name.into())))
    }

    /// How many of these have a place now.
    fn begun<F: Future + Unpin>(more: &mut [F]) -> usize {
        more.iter_mut().filter_map(FutureExt::now_or_never).count()
    }

    /// A place, if there is one immediately.
    fn now(queue: &Arc<Queue>, name: &str) -> Option<Place> {
        queue.place(client(name)).now_or_never().map(|place| place.expect("room"))
    }

    /// All long jobs that can begin.
    fn long(queue: &Arc<Queue>, name: &str) -> Vec<Place> {
        let next = || now(queue, name).inspect(Place::takes_long);
        std::iter::repeat_with(next).map_while(|place| place).collect()
    }

    fn is_idle(queue: &Queue) -> bool {
        let state = queue.state();
        state.short + state.long + state.waiting + state.running.len() == 0
            && state.clients.is_empty()
            && state.turns.is_empty()
    }

    #[test]
    fn short_jobs_do_not_wait_behind_long_ones() {
        let queue = Queue::new(1);
        let first = now(&queue, "a").expect("a thread");
        assert!(now(&queue, "b").is_none());
        first.takes_long();
        let second = now(&queue, "a").expect("a thread");
        second.takes_long();
        // The share of the client is used up, but not that of others.
        assert!(now(&queue, "a").is_none());
        let third = now(&queue, "b").expect("a thread");
        drop(first);
        assert!(now(&queue, "a").is_none());
        drop(third);
        assert!(now(&queue, "a").is_some());
        drop(second);
        assert!(is_idle(&queue), "{queue:?}");
    }

    #[test]
    fn long_jobs_are_bounded_by_the_processors() {
        for processors in 2..5 {
            let queue = Queue::new(processors - 1);
            assert_eq!((queue.share(), queue.most_long()), (processors, 2 * processors));
            assert_eq!(queue.most_long_of_idle(), 3 * processors);
            let places: Vec<Vec<Place>> = ["a", "b", "c", "d"].iter().map(|name| long(&queue, name)).collect();
            assert_eq!(places.iter().map(Vec::len).collect::<Vec<_>>(), [processors, processors, 1, 1]);
            let others: Vec<Vec<Place>> = (0..processors).map(|n| long(&queue, &n.to_string())).collect();
            assert_eq!(others.iter().map(Vec::len).sum::<usize>(), processors - 2);
        }
    }

    #[test]
    fn jobs_do_not_wait_for_clients_that_use_all_places_together() {
        let queue = Queue::new(1);
        let greedy = ["a", "b"].map(|name| long(&queue, name));
        assert_eq!(greedy.iter().map(Vec::len).sum::<usize>(), queue.most_long());
        let mut more: Vec<_> = ["a", "b"].iter().map(|name| Box::pin(queue.place(client(name)))).collect();
        assert!(more.iter_mut().all(|place| place.now_or_never().is_none()));
        for round in 0..10 {
            let place = now(&queue, "c").expect("a thread");
            // One job at a time.
            assert!(now(&queue, "c").is_none());
            if round == 9 {
                place.takes_long();
                assert!(now(&queue, "c").is_none());
                assert!(now(&queue, "d").is_some());
            }
        }
        assert!(more.iter_mut().all(|place| place.now_or_never().is_none()));
        drop((greedy, more));
        assert!(is_idle(&queue), "{queue:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_use_all_places_together_make_room_for_others() {
        let queue = Queue::new(1);
        let mut places = Vec::new();
        for name in ["a", "a", "b", "b", "e", "f"] {
            let place = queue.place(client(name)).await.expect("a place");
            place.takes_long();
            places.push(place);
        }
        let ended = |places: &[Place]| places.iter().map(|place| place.end().was_for_others()).collect::<Vec<_>>();
        // Those who have their share wait.
        assert!(timeout(Duration::from_secs(5), queue.place(client("b"))).await.is_err());
        assert_eq!(ended(&places), [false; 6]);
        let mut other = Box::pin(queue.place(client("c")));
        assert!(timeout(LOOK * 3, &mut other).await.is_err());
        assert_eq!(ended(&places), [true, false, false, false, false, false]);
        drop(places.remove(0));
        let place = other.await.expect("a place");
        place.takes_long();
        // A job has its time.
        let young = queue.place(client("d"));
        assert!(timeout(LOOK * 2, young).await.is_err());
        assert!(!place.end().was_for_others());
        drop((place, places));
        assert!(is_idle(&queue), "{queue:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn greedy_clients_take_no_places_of_modest_ones() {
        let queue = Queue::new(1);
        let names: Vec<String> = (0..20).map(|n| format!("g{n}")).collect();
        // Each is new at first.
        for name in &names {
            let place = queue.place(client(name)).await.expect("a place");
            place.takes_long();
            tokio::time::advance(GREEDY_AFTER).await;
        }
        let held: Vec<Place> = names.iter().flat_map(|name| long(&queue, name)).collect();
        assert_eq!(held.len(), queue.most_long());
        let mut more: Vec<_> = names.iter().map(|name| Box::pin(queue.place(client(name)))).collect();
        assert!(more.iter_mut().all(|place| place.now_or_never().is_none()));
        for _ in 0..10 {
            assert!(now(&queue, "modest").is_some());
        }
        // A greedy client has a turn from time to time, and is modest again after a while.
        let mut held = held;
        let modest = now(&queue, "modest").expect("a place");
        held.pop();
        let mut waiting: Vec<_> = (0..4).map(|n| Box::pin(queue.place(client(&format!("m{n}"))))).collect();
        assert!(waiting.iter_mut().all(|place| place.now_or_never().is_none()));
        drop(modest);
        assert_eq!((begun(&mut waiting), begun(&mut more)), (0, 1));
        drop((held, more, waiting));
        tokio::time::advance(GREEDY_FOR).await;
        let again: Vec<Place> = names.iter().flat_map(|name| long(&queue, name)).collect();
        assert_eq!(again.len(), queue.most_long_of_idle());
        drop(again);
        assert!(is_idle(&queue), "{queue:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn greedy_clients_that_are_remembered_are_bounded() {
        let queue = Queue::new(1);
        for n in 0..MOST_GREEDY + 10 {
            let place = queue.place(client(&n.to_string())).await.expect("a place");
            place.takes_long();
            tokio::time::advance(GREEDY_AFTER).await;
        }
        assert!(queue.state().greedy.len() <= MOST_GREEDY);
    }

    #[test]
    fn clients_have_their_turns() {
        let queue = Queue::new(1);
        let running = now(&queue, "a").expect("a thread");
        let mut greedy: Vec<_> = (0..3).map(|_| Box::pin(queue.place(client("a")))).collect();
        assert!(greedy.iter_mut().all(|place| place.now_or_never().is_none()));
        let mut modest = Box::pin(queue.place(client("b")));
        assert!((&mut modest).now_or_never().is_none());
        drop(running);
        // The client that waited first, then the other one.
        let place = (&mut greedy[0]).now_or_never().expect("its turn");
        assert!((&mut modest).now_or_never().is_none());
        drop(place);
        assert!((&mut modest).now_or_never().expect("its turn").is_ok());
        // What nobody waits for any more takes no turn.
        drop(greedy.remove(1));
        assert!((&mut greedy[1]).now_or_never().expect("its turn").is_ok());
        drop((greedy, modest));
        assert!(is_idle(&queue), "{queue:?}");
    }

    #[test]
    fn a_client_that_waits_often_makes_room() {
        let queue = Queue::new(1);
        let running = now(&queue, "a").expect("a thread");
        let mut greedy: Vec<_> = (0..MOST_WAITING).map(|_| Box::pin(queue.place(client("a")))).collect();
        assert!(greedy.iter_mut().all(|place| place.now_or_never().is_none()));
        assert!(queue.place(client("a")).now_or_never().expect("an answer").is_err());
        let mut modest = Box::pin(queue.place(client("b")));
        assert!((&mut modest).now_or_never().is_none());
        let last = greedy.pop().expect("a job").now_or_never();
        assert!(last.expect("an answer").is_err());
        drop(greedy);
        drop(running);
        assert!((&mut modest).now_or_never().expect("its turn").is_ok());
        drop(modest);
        assert!(is_idle(&queue), "{queue:?}");
    }
}
