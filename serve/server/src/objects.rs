//! The served objects, shared by all requests.
//!
//! Readers use the current store and the current resources, and never wait. Requests that write are prepared on them
//! and then committed one after the other. If an object changed in between, the request is prepared again, like in
//! etcd's clients.

use crate::http::work;
use arc_swap::ArcSwap;
use bytes::Bytes;
use kubeshape_objects::accept::Form;
use kubeshape_objects::store::{Limits, Store};
use kubeshape_objects::{Api, DEFINITIONS, Moment, Outcome, Reply, Request, Signer, Status, Todo, Watch, Write};
use kubeshape_registry::{Now, Object, Time};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::watch;

/// The maximum number of preparations of a request before it blocks other writers.
const ATTEMPTS: usize = 5;
/// The maximum if preparing takes long.
const MOST_ATTEMPTS: usize = 20;
/// A request that was prepared in this time may block other writers.
const SHORT: Duration = Duration::from_millis(20);

/// How many objects the collector looks at before a deletion is answered.
const FIRST_PORTION: usize = 500;
/// How many it looks at later while others wait.
const PORTION: usize = 250;
/// When the collector tries again after changes could not be stored.
const RETRY: Duration = Duration::from_secs(1);

/// How long a request for documents waits until changed definitions are in them.
const PUBLISHING: Duration = Duration::from_secs(5);

/// Receives the names of definitions that clients changed.
type Listener = Box<dyn Fn(Vec<Arc<str>>) + Send + Sync>;

/// The maximum number of kept states.
const MAX_STATES: usize = 100;
/// The maximum number of bytes of the objects in all kept states. Objects that several states share are counted in each.
const MAX_STATE_BYTES: usize = 1 << 30;
/// The maximum number of bytes of the objects at the start, for them to be kept as the state 0.
const MAX_START_BYTES: usize = 256 << 20;
/// Bytes of the history of objects that share a pool.
const POOLED_HISTORY: usize = 8 << 20;

/// A clock that stops until it is moved.
///
/// # Example
/// ```
/// use kubeshape_server::ManualClock;
/// use std::time::{Duration, SystemTime};
///
/// let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
/// clock.advance(Duration::from_secs(90));
/// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(90));
/// ```
#[derive(Debug)]
pub struct ManualClock(Mutex<SystemTime>);

impl ManualClock {
    /// Creates a clock that shows this time.
    pub fn new(now: SystemTime) -> ManualClock {
        ManualClock(Mutex::new(now))
    }

    /// Returns the time.
    pub fn now(&self) -> SystemTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the time.
    pub fn set(&self, now: SystemTime) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Moves the clock. A time that the system cannot represent is ignored.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.checked_add(by).unwrap_or(*now);
    }
}

/// A state of the objects, with the resources that were served then.
#[derive(Clone, Debug)]
pub(crate) struct State {
    api: Arc<Api>,
    /// The objects, without their history.
    pub(crate) store: Arc<Store>,
}

/// States of the objects that clients can return to.
#[derive(Debug, Default)]
struct States {
    /// The number of the last one. Branches share it, so that a number names one state of one of them.
    last: Arc<AtomicU64>,
    /// The state 0.
    start: Option<State>,
    kept: BTreeMap<u64, State>,
}

impl States {
    fn bytes(&self) -> usize {
        self.kept.values().map(|state| state.store.bytes_of_objects()).sum()
    }

    fn get(&self, number: u64) -> Option<&State> {
        if number == 0 { self.start.as_ref() } else { self.kept.get(&number) }
    }
}

/// The memory of several sets of objects.
#[derive(Debug)]
pub(crate) struct Pool {
    most: usize,
    used: Mutex<usize>,
}

impl Pool {
    /// Creates a limit for all of them together, in bytes.
    pub(crate) fn new(most: usize) -> Arc<Pool> {
        Arc::new(Pool { most, used: Mutex::default() })
    }
}

/// The memory of one set of objects in a pool. It is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct PoolShare {
    pool: Arc<Pool>,
    own: Mutex<usize>,
}

impl PoolShare {
    /// Takes no memory yet.
    pub(crate) fn new(pool: &Arc<Pool>) -> PoolShare {
        PoolShare { pool: Arc::clone(pool), own: Mutex::default() }
    }

    /// Changes the bytes. Returns whether they fit; if they do not, nothing changes unless it is `forced`.
    pub(crate) fn set(&self, bytes: usize, forced: bool) -> bool {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let mut used = self.pool.used.lock().unwrap_or_else(PoisonError::into_inner);
        let after = (*used - *own).saturating_add(bytes);
        let fits = after <= self.pool.most;
        if fits || forced {
            (*own, *used) = (bytes, after);
        }
        fits
    }
}

impl Drop for PoolShare {
    fn drop(&mut self) {
        self.set(0, true);
    }
}

/// The clock.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Keeps objects after the end of the process: in a file, for example.
pub trait Keeper: fmt::Debug + Send + Sync {
    /// Stores the changes of a store since a revision. When this returns, they are stored. It is called for one change
    /// after the other.
    ///
    /// # Errors
    /// They cannot be stored, and none of them is.
    fn keep(&self, store: &Store, since: u64, origin: Origin) -> Result<(), Unkept>;
}

/// The origin of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A request of a client.
    Requests,
    /// Files that the server reads.
    Files,
}

/// Why a change is not stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unkept {
    /// What keeps objects cannot store it.
    #[error("the change is not stored: {0}")]
    Storage(String),
    /// All worlds together have more than these bytes of objects.
    #[error("the change is not stored: all worlds together have more than {0} bytes of objects")]
    Worlds(usize),
}

/// The objects and resources of a server.
///
/// # Example
/// ```
/// use kubeshape_objects::{Api, store::Store};
/// use kubeshape_server::Objects;
///
/// let objects = Objects::new(Api::default(), Store::default());
/// assert!(!objects.serves("/apis/example.com/v1/tabs"));
/// ```
pub struct Objects {
    api: ArcSwap<Api>,
    store: ArcSwap<Store>,
    /// Locked while the store is exchanged. Its value is the revision up to which definitions are settled.
    writing: Mutex<u64>,
    definitions_listener: OnceLock<Listener>,
    /// How often the listener was called.
    reported: AtomicU64,
    /// How many of these calls have led to what is published.
    published: watch::Sender<u64>,
    clock: Clock,
    /// The clock, if clients can move it.
    manual: Option<Arc<ManualClock>>,
    states: Mutex<States>,
    /// The memory of the objects, if it is limited together with that of others.
    share: Option<PoolShare>,
    /// The keeper of the objects, if any.
    keeper: Option<Arc<dyn Keeper>>,
    /// What is left to do after deletions.
    left: Mutex<Left>,
    /// Whether there were objects before the first file was read.
    were_kept: bool,
    /// The current revision. It is 0 when watches end because the server stops.
    revision: watch::Sender<u64>,
}

/// What follows from deletions and is not done yet.
#[derive(Debug, Default)]
struct Left {
    todo: VecDeque<Todo>,
    /// Whether a thread does it.
    is_running: bool,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").field("revision", &self.store.load().revision()).finish_non_exhaustive()
    }
}

/// The result of a request.
#[derive(Debug)]
pub(crate) enum Answered {
    Reply(Reply),
    Watch(Box<Watch>),
}

impl Objects {
    /// Serves these resources and objects.
    pub fn new(api: Api, store: Store) -> Objects {
        let (revision, _) = watch::channel(store.revision());
        let settled = store.revision();
        Objects {
            api: ArcSwap::from_pointee(api),
            store: ArcSwap::from_pointee(store),
            writing: Mutex::new(settled),
            definitions_listener: OnceLock::new(),
            reported: AtomicU64::new(0),
            published: watch::channel(0).0,
            clock: Arc::new(SystemTime::now),
            manual: None,
            states: Mutex::default(),
            share: None,
            keeper: None,
            left: Mutex::default(),
            were_kept: false,
            revision,
        }
    }

    /// Serves objects that were kept, including definitions, and stores changes from now on: a write is stored before
    /// its response.
    ///
    /// # Errors
    /// Changes that follow from the definitions cannot be stored.
    pub fn kept(api: Api, mut store: Store, keeper: Arc<dyn Keeper>, now: SystemTime) -> Result<Objects, Unkept> {
        let (before, were_kept) = (store.revision(), !store.is_empty());
        // All definitions are new for it.
        let now = Now::from(now).0;
        let api = api.settle(&mut store, 0, now).map_or(api, |settled| settled.api);
        // The last process may have ended in the middle of a deletion.
        let (settled, mut todo) = (store.revision(), api.unfinished(&store));
        api.collect(&mut store, settled, &mut todo, usize::MAX, &Moment { now, ..Moment::default() });
        let api = api.settle(&mut store, settled, now).map_or(api, |settled| settled.api);
        if store.revision() != before {
            keeper.keep(&store, before, Origin::Files)?;
        }
        let objects = Objects::new(api, store);
        Ok(Objects { were_kept, ..objects.with_keeper(keeper) })
    }

    /// Stores changes from now on.
    #[must_use]
    pub fn with_keeper(self, keeper: Arc<dyn Keeper>) -> Objects {
        Objects { keeper: Some(keeper), ..self }
    }

    /// Sets the clock.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Objects {
        Objects { clock, ..self }
    }

    /// Sets a clock that clients can move.
    #[must_use]
    pub fn with_manual_clock(self, clock: Arc<ManualClock>) -> Objects {
        let read = Arc::clone(&clock);
        Objects { manual: Some(clock), ..self.with_clock(Arc::new(move || read.now())) }
    }

    /// Returns the clock that clients can move.
    pub(crate) fn manual_clock(&self) -> Option<&ManualClock> {
        self.manual.as_deref()
    }

    fn states(&self) -> MutexGuard<'_, States> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current objects and resources as a state. No change is halfway done in it.
    fn state(&self, _writing: &MutexGuard<'_, u64>) -> State {
        State { api: self.api(), store: Arc::new(self.store.load().without_history()) }
    }

    /// Keeps the current objects as the state 0, that of the start. They are not kept if they are too large. Then, and
    /// before this call, there is no state 0.
    pub fn keep_start(&self) {
        let state = self.state(&self.lock());
        self.states().start = Some(state).filter(|state| state.store.bytes_of_objects() <= MAX_START_BYTES);
    }

    /// Keeps the current objects, and returns the number of the state. If there are too many, or if they have too many
    /// bytes, the oldest are dropped.
    pub fn keep_state(&self) -> u64 {
        let writing = self.lock();
        let state = self.state(&writing);
        let now = state.store.bytes_of_objects();
        let mut states = self.states();
        let last = states.last.fetch_add(1, Relaxed) + 1;
        states.kept.insert(last, state);
        loop {
            let (count, bytes) = (states.kept.len(), states.bytes());
            let fits = self.share.as_ref().is_none_or(|share| share.set(now + bytes, count == 1));
            if count == 1 || (count <= MAX_STATES && bytes <= MAX_STATE_BYTES && fits) {
                return last;
            }
            states.kept.pop_first();
        }
    }

    /// Returns a kept state.
    pub(crate) fn kept_state(&self, number: u64) -> Option<State> {
        self.states().get(number).cloned()
    }

    /// Returns objects that begin with a state of these, and change on their own: with a clock and states of their own.
    /// They are not kept beyond the process. `None` if the pool has no room for them.
    pub(crate) fn branch(&self, state: &State, signer: Option<Arc<dyn Signer>>, pool: &Arc<Pool>) -> Option<Objects> {
        let share = PoolShare::new(pool);
        if !share.set(state.store.bytes_of_objects(), false) {
            return None;
        }
        let api = state.api.for_another_store();
        let api = match signer {
            Some(signer) => api.with_signer(signer),
            None => api,
        };
        let limits = Limits { history: POOLED_HISTORY, ..Limits::default() };
        let store = Store::clone(&state.store).with_limits(limits);
        let states = States { last: Arc::clone(&self.states().last), start: Some(state.clone()), ..States::default() };
        let objects = Objects { states: Mutex::new(states), share: Some(share), ..Objects::new(api, store) };
        Some(match &self.manual {
            Some(clock) => objects.with_manual_clock(Arc::new(ManualClock::new(clock.now()))),
            None => objects.with_clock(Arc::clone(&self.clock)),
        })
    }

    /// Returns to a kept state: watches see what changes. Returns the revision afterwards; `None` if there is no such
    /// state.
    ///
    /// # Errors
    /// The changes cannot be stored. Then nothing changes.
    pub fn return_to_state(self: &Arc<Self>, number: u64) -> Result<Option<u64>, Unkept> {
        let Some(earlier) = self.kept_state(number) else { return Ok(None) };
        let mut writing = self.lock();
        let mut store = Store::clone(&self.store.load());
        store.return_to(&earlier.store);
        let (before, mut todo) = (*writing, Todo::default());
        let changed = self.finish(&mut writing, store, before, self.now(), (&mut todo, FIRST_PORTION))?;
        let revision = self.store.load().revision();
        self.notify_definitions(changed);
        drop(writing);
        if !todo.is_done() {
            self.collect_later(todo);
        }
        Ok(Some(revision))
    }

    /// Returns the time of requests.
    pub(crate) fn now(&self) -> Time {
        Now::from((self.clock)()).0
    }

    /// Lets the next change have the revision after this one. An earlier one is ignored.
    pub fn advance(&self, revision: u64) {
        let _writing = self.lock();
        let mut store = Store::clone(&self.store.load());
        store.advance(revision);
        if let Err(error) = self.swap(store, Origin::Files) {
            tracing::error!(reason = %error, "a revision is not stored");
        }
    }

    /// Calls this with the names of definitions that clients created, changed or deleted. It must not wait, because no
    /// other request writes meanwhile. Requests for discovery and OpenAPI wait until [`published`](Self::published) has
    /// counted its calls. Only the first listener has an effect.
    pub fn on_definitions(&self, listener: impl Fn(Vec<Arc<str>>) + Send + Sync + 'static) {
        let _ = self.definitions_listener.set(Box::new(listener));
    }

    /// Adds or replaces definitions from files, and removes those whose files are gone. Returns the indices of the
    /// refused ones, and why.
    pub fn define(&self, definitions: &[Object], gone: &[Arc<str>], now: SystemTime) -> Vec<(usize, Status)> {
        let (api, now) = (self.api(), Now::from(now).0);
        let mut writing = self.lock();
        let mut store = Store::clone(&self.store.load());
        let mut refused = Vec::new();
        for name in gone {
            api.undefine(&mut store, name);
        }
        for (at, object) in definitions.iter().enumerate() {
            let uid = uuid::Uuid::new_v4().to_string();
            if let Err(status) = api.define(&mut store, object, &Moment { now, uid: &uid, ..Moment::default() }) {
                refused.push((at, status));
            }
        }
        self.settle(&api, &mut store, &mut writing, now);
        self.exchange(store, refused)
    }

    /// Exchanges the store after files were read. If the disk is full, all of them are refused.
    fn exchange(&self, store: Store, mut refused: Vec<(usize, Status)>) -> Vec<(usize, Status)> {
        if let Err(error) = self.swap(store, Origin::Files) {
            refused.push((usize::MAX, Status::internal(error.to_string())));
        }
        refused
    }

    /// Returns the names of the stored definitions.
    pub fn definitions(&self) -> Vec<Arc<str>> {
        let store = self.store.load();
        store.list(&DEFINITIONS.into(), "", "").map(|(key, _)| Arc::from(key.name())).collect()
    }

    /// Returns the stored definition of a name, as JSON.
    pub fn definition(&self, name: &str) -> Option<Bytes> {
        self.api.load().definition(&self.store.load(), name)
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the definitions that changed since the last time. Returns their names.
    fn settle(&self, api: &Api, store: &mut Store, settled: &mut u64, now: Time) -> Vec<Arc<str>> {
        let found = api.settle(store, *settled, now);
        *settled = store.revision();
        let Some(found) = found else { return Vec::new() };
        self.api.store(Arc::new(found.api));
        found.changed
    }

    /// Returns the current resources.
    pub fn api(&self) -> Arc<Api> {
        self.api.load_full()
    }

    /// Returns the current objects.
    pub fn store(&self) -> Arc<Store> {
        self.store.load_full()
    }

    /// Returns whether a decoded path is one of a served resource.
    pub fn serves(&self, path: &str) -> bool {
        self.api.load().serves(path)
    }

    /// Returns the approximate bytes of the objects at the beginning of a list or a watch.
    pub(crate) fn size_of_list(&self, path: &str, query: &str) -> usize {
        self.api.load().size_of_list(&self.store.load(), path, query)
    }

    /// Returns whether it may be one. This is fast.
    pub(crate) fn may_serve(&self, path: &str) -> bool {
        self.api.load().may_serve(path)
    }

    /// Adds objects as they are, with their status. Returns the indices of the refused ones, and why.
    pub fn load(&self, objects: &[Object], now: SystemTime) -> Vec<(usize, Status)> {
        let (api, now) = (self.api(), Now::from(now).0);
        let mut writing = self.lock();
        let mut store = Store::clone(&self.store.load());
        let mut refused = Vec::new();
        let mut changed = Vec::new();
        let is_definition = |object: &Object| object.kind() == "CustomResourceDefinition";
        let (definitions, others): (Vec<_>, Vec<_>) =
            objects.iter().enumerate().partition(|(_, object)| is_definition(object));
        let mut api = api;
        let first = definitions.len();
        for (place, (at, object)) in definitions.into_iter().chain(others).enumerate() {
            if place == first {
                changed.extend(self.settle(&api, &mut store, &mut writing, now));
                api = self.api();
            }
            let uid = uuid::Uuid::new_v4().to_string();
            match api.load(&mut store, object, &Moment { now, uid: &uid, ..Moment::default() }) {
                // It was kept from the last time.
                Err(status) if self.were_kept && status.reason == "AlreadyExists" => {}
                Err(status) => refused.push((at, status)),
                Ok(()) => {}
            }
        }
        changed.extend(self.settle(&api, &mut store, &mut writing, now));
        let mut refused = self.exchange(store, refused);
        self.notify_definitions(changed);
        drop(writing);
        refused.sort_by_key(|(at, _)| *at);
        refused
    }

    /// Reports definitions that changed, while the store is locked: a state that is kept has only changes that were
    /// reported.
    fn notify_definitions(&self, changed: Vec<Arc<str>>) {
        if let (Some(listener), false) = (self.definitions_listener.get(), changed.is_empty()) {
            self.reported.fetch_add(1, Relaxed);
            listener(changed);
        }
    }

    /// Says that what the listener got in this many further calls is published.
    pub fn published(&self, calls: u64) {
        self.published.send_modify(|published| *published += calls);
    }

    /// Returns whether definitions have changed and are not published yet.
    pub(crate) fn is_publishing(&self) -> bool {
        *self.published.borrow() < self.reported.load(Relaxed)
    }

    /// Waits until the definitions that have changed until now are published, but not for long.
    pub(crate) async fn publishing(&self) {
        let reported = self.reported.load(Relaxed);
        let mut published = self.published.subscribe();
        let done = published.wait_for(|published| *published >= reported);
        let _ = tokio::time::timeout(PUBLISHING, done).await;
    }

    /// Ends all watches.
    pub fn stop(&self) {
        self.revision.send_replace(0);
    }

    /// Returns a receiver of changes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    /// Answers a request. `None` if no resource is served at the path.
    pub(crate) fn answer(self: &Arc<Self>, request: &Request<'_>, moment: &Moment<'_>) -> Option<Answered> {
        let mut began = Instant::now();
        let mut attempts = 0;
        // A request that takes long to prepare would block other writers. One on a thread that lets others pass is prepared
        // until its time is over.
        // The same holds for one that waits for webhooks, which may write in turn.
        let calls_hooks = self.api.load().calls_hooks();
        while attempts < ATTEMPTS
            || (attempts < MOST_ATTEMPTS && (calls_hooks || began.elapsed() > SHORT))
            || work::is_behind_others()
        {
            attempts += 1;
            began = Instant::now();
            let api = self.api();
            let write = match api.prepare(&self.store.load(), request, moment)? {
                Outcome::Reply(reply) => return Some(Answered::Reply(reply)),
                Outcome::Watch(watch) => return Some(Answered::Watch(watch)),
                Outcome::Write(write) => write,
            };
            let (objects, now) = (Arc::clone(self), moment.now);
            if let Some(reply) = work::in_front(move || objects.commit(&api, &write, now)).flatten() {
                return Some(Answered::Reply(reply));
            }
        }
        if calls_hooks {
            let status = Status::too_many_requests(1);
            return Some(Answered::Reply(Reply {
                retry_after_seconds: status.retry_after_seconds(),
                ..Api::refuse(&status, request)
            }));
        }
        let writing = self.lock();
        let api = self.api.load();
        let mut store = Store::clone(&self.store.load());
        let reply = api.answer(&mut store, request, moment)?;
        Some(Answered::Reply(self.written(writing, store, moment.now, reply)))
    }

    /// Makes prepared changes. `None` if something that they are based on has changed.
    fn commit(self: &Arc<Self>, api: &Arc<Api>, write: &Write, now: Time) -> Option<Reply> {
        let writing = self.lock();
        // A definition that changed in between decides whether the object may still be stored.
        let is_current = Arc::ptr_eq(api, &self.api.load());
        let mut store = Store::clone(&self.store.load());
        let reply = is_current.then(|| api.commit(&mut store, write).ok()).flatten()?;
        Some(self.written(writing, store, now, reply))
    }

    /// Exchanges the store after a request, and reports definitions that it changed. If changes cannot be stored, the
    /// reply is an error.
    fn written(self: &Arc<Self>, mut writing: MutexGuard<'_, u64>, store: Store, now: Time, reply: Reply) -> Reply {
        let (before, mut todo) = (*writing, Todo::default());
        let changed = match self.finish(&mut writing, store, before, now, (&mut todo, FIRST_PORTION)) {
            Ok(changed) => changed,
            Err(error) => {
                tracing::error!(reason = %error, "a change is not stored, and its request is refused");
                let status = Status::internal(match error {
                    // The reason names files of the server.
                    Unkept::Storage(_) => "the change is not stored; the log of the server has the reason".to_owned(),
                    Unkept::Worlds(_) => error.to_string(),
                });
                return Reply::new(status.code, Form::Json, status.to_json());
            }
        };
        self.notify_definitions(changed);
        drop(writing);
        if !todo.is_done() {
            self.collect_later(todo);
        }
        reply
    }

    /// Does a portion of what follows from the changes since a revision, and exchanges the store. Returns the names of
    /// changed definitions.
    ///
    /// # Errors
    /// The changes cannot be stored. Then none of them is made.
    fn finish(
        &self,
        writing: &mut u64,
        mut store: Store,
        before: u64,
        now: Time,
        (todo, most): (&mut Todo, usize),
    ) -> Result<Vec<Arc<str>>, Unkept> {
        let (api, settled) = (self.api.load_full(), *writing);
        let mut changed = self.settle(&api, &mut store, writing, now);
        let revision = store.revision();
        self.api.load().collect(&mut store, before, todo, most, &Moment { now, ..Moment::default() });
        if store.revision() != revision {
            changed.extend(self.settle(&self.api(), &mut store, writing, now));
        }
        self.swap(store, Origin::Requests).inspect_err(|_| {
            self.api.store(api);
            *writing = settled;
        })?;
        Ok(changed)
    }

    /// Lets a thread do what is left, in portions: other writers have their turns in between.
    fn collect_later(self: &Arc<Self>, todo: Todo) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.todo.push_back(todo);
        if !left.is_running {
            let objects = Arc::downgrade(self);
            let run = move || while objects.upgrade().is_some_and(|objects| objects.collect_portion()) {};
            left.is_running = std::thread::Builder::new().name("kubeshape-collector".to_owned()).spawn(run).is_ok();
        }
    }

    /// Does a portion. Returns whether there may be more.
    fn collect_portion(&self) -> bool {
        let left = || self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let todo = {
            let mut left = left();
            let todo = left.todo.pop_front().filter(|_| *self.revision.borrow() != 0);
            left.is_running = todo.is_some();
            todo
        };
        let Some(todo) = todo else { return false };
        let (now, mut rest) = (self.now(), todo.clone());
        let mut writing = self.lock();
        let began = Instant::now();
        let store = Store::clone(&self.store.load());
        let before = store.revision();
        let finished = self.finish(&mut writing, store, before, now, (&mut rest, PORTION));
        if let Ok(changed) = &finished {
            self.notify_definitions(changed.clone());
        }
        drop(writing);
        match finished {
            Ok(_) => {
                if !rest.is_done() {
                    left().todo.push_back(rest);
                }
                // The lock is not fair: without a pause, others could wait for it until all is done.
                std::thread::sleep(began.elapsed());
            }
            Err(error) => {
                tracing::error!(reason = %error, "dependents of a deleted object are not deleted yet");
                left().todo.push_back(todo);
                std::thread::sleep(RETRY);
            }
        }
        true
    }

    /// Stores the changes, and shows them to readers.
    fn swap(&self, store: Store, origin: Origin) -> Result<(), Unkept> {
        let now = self.store.load_full();
        let before = now.revision();
        if let Some(share) = &self.share {
            // What takes no more room than before is always possible.
            let forced = store.bytes_of_objects() <= now.bytes_of_objects();
            if !share.set(store.bytes_of_objects() + self.states().bytes(), forced) && !forced {
                return Err(Unkept::Worlds(share.pool.most));
            }
        }
        if let Some(keeper) = self.keeper.as_ref().filter(|_| store.revision() != before) {
            keeper.keep(&store, before, origin)?;
        }
        let revision = store.revision();
        self.store.store(Arc::new(store));
        self.revision.send_if_modified(|sent| {
            let is_running = *sent != 0;
            let is_new = is_running && *sent != revision;
            if is_new {
                *sent = revision;
            }
            is_new
        });
        Ok(())
    }
}
