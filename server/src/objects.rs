//! The objects that are served, shared by all requests.
//!
//! Readers take the current store and the current resources, and never wait. Requests that write are prepared on them and then
//! committed one after the other. If an object changed in between, the request is prepared again, as etcd's clients do it.

use arc_swap::ArcSwap;
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Moment, Outcome, Reply, Request, Status, Watch};
use kubeshape_registry::{Now, Object};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use tokio::sync::watch;

/// How often a request is prepared again before it keeps others from writing.
const ATTEMPTS: usize = 5;

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
#[derive(Debug)]
pub struct Objects {
    api: ArcSwap<Api>,
    store: ArcSwap<Store>,
    /// Held while the store is exchanged.
    writing: Mutex<()>,
    /// The current revision. It is 0 when watches end because the server stops.
    revision: watch::Sender<u64>,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Answered {
    Reply(Reply),
    Watch(Box<Watch>),
}

impl Objects {
    /// Serves these resources and objects.
    pub fn new(api: Api, store: Store) -> Objects {
        let (revision, _) = watch::channel(store.revision());
        Objects {
            api: ArcSwap::from_pointee(api),
            store: ArcSwap::from_pointee(store),
            writing: Mutex::new(()),
            revision,
        }
    }

    /// Serves other resources from now on. The objects stay.
    pub fn serve(&self, api: Api) {
        self.api.store(Arc::new(api));
    }

    /// The current resources.
    pub fn api(&self) -> Arc<Api> {
        self.api.load_full()
    }

    /// The current objects.
    pub fn store(&self) -> Arc<Store> {
        self.store.load_full()
    }

    /// Whether a decoded path is one of a resource that is served.
    pub fn serves(&self, path: &str) -> bool {
        self.api.load().serves(path)
    }

    /// Takes objects in as they are, with their status. Returns the places of those that are refused, and why.
    pub fn load(&self, objects: &[Object], now: SystemTime) -> Vec<(usize, Status)> {
        let (api, now) = (self.api(), Now::from(now).0);
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut store = Store::clone(&self.store.load());
        let mut refused = Vec::new();
        for (at, object) in objects.iter().enumerate() {
            let uid = uuid::Uuid::new_v4().to_string();
            if let Err(status) = api.load(&mut store, object, &Moment { now, uid: &uid, random: 0 }) {
                refused.push((at, status));
            }
        }
        self.swap(store);
        refused
    }

    /// Ends all watches.
    pub fn stop(&self) {
        self.revision.send_replace(0);
    }

    /// Tells of changes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    /// Answers a request. `None` if no resource is served at the path.
    pub(crate) fn answer(&self, request: &Request<'_>, moment: &Moment<'_>) -> Option<Answered> {
        let api = self.api.load();
        for _ in 0..ATTEMPTS {
            let write = match api.prepare(&self.store.load(), request, moment)? {
                Outcome::Reply(reply) => return Some(Answered::Reply(reply)),
                Outcome::Watch(watch) => return Some(Answered::Watch(watch)),
                Outcome::Write(write) => write,
            };
            let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let mut store = Store::clone(&self.store.load());
            if let Ok(reply) = api.commit(&mut store, &write) {
                self.swap(store);
                return Some(Answered::Reply(reply));
            }
        }
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut store = Store::clone(&self.store.load());
        let reply = api.answer(&mut store, request, moment)?;
        self.swap(store);
        Some(Answered::Reply(reply))
    }

    fn swap(&self, store: Store) {
        let revision = store.revision();
        self.store.store(Arc::new(store));
        self.revision.send_if_modified(|told| {
            let is_running = *told != 0;
            let is_new = is_running && *told != revision;
            if is_new {
                *told = revision;
            }
            is_new
        });
    }
}
