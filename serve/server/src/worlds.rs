//! Worlds: independent objects, each at a port of its own, in one process.
//!
//! A world begins with a state of the server's objects and goes its own way: definitions, revisions, watches, states and
//! the clock are its own. What a world does not change is in memory once. All worlds have the certificate, the tokens and
//! the limits of the server, and its threads.

use crate::auth::Authenticator;
use crate::http::Http;
use crate::listen::{Listener, Server};
use crate::objects::{Objects, Pool, PoolShare};
use crate::snapshot::Live;
use crate::state::Endpoints;
use crate::store::{Definition, Store};
use kubeshape_objects::{Signer, store};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot, watch};

/// The maximum number of worlds at the same time.
pub const MAX_WORLDS: usize = 256;
/// The maximum number of bytes of the objects in all worlds. Objects that several of them share are counted in each.
const MAX_WORLD_BYTES: usize = 2 << 30;
/// How long the requests of a world may take after a client ended it.
const GRACE: Duration = Duration::from_millis(50);
/// How long to wait for the documents of a state.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a world cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unmade {
    /// The server has no state of this number.
    #[error("there is no such snapshot")]
    Missing,
    /// There are too many worlds.
    #[error("there are {MAX_WORLDS} worlds: end one with DELETE /kubeshape/worlds/NAME")]
    Many,
    /// The objects of the worlds are too large.
    #[error(
        "all worlds together have at most {} GiB of objects, counted in each: end one with DELETE \
         /kubeshape/worlds/NAME, or begin with fewer objects", MAX_WORLD_BYTES >> 30
    )]
    Large,
    /// It cannot be served.
    #[error("the world cannot be served: {0}")]
    Failed(String),
}

/// Asks for the documents of a server with the definitions of a state.
#[derive(Debug)]
pub struct Branched {
    /// The number of the state.
    pub state: u64,
    /// The objects of the state.
    pub objects: Arc<store::Store>,
    answer: oneshot::Sender<Arc<Store>>,
}

impl Branched {
    /// Answers with the documents.
    pub fn answer(self, documents: Arc<Store>) {
        // If nobody waits any more, they are not needed.
        let _ = self.answer.send(documents);
    }
}

/// Where the documents of a state come from.
type Source = Box<dyn Fn(Branched) + Send + Sync>;

/// The worlds of a server.
pub struct Worlds {
    /// The server of a world, but for its endpoints.
    server: Server<Http>,
    objects: Arc<Objects>,
    /// The address of the server. Worlds have other ports.
    address: SocketAddr,
    source: Source,
    pool: Arc<Pool>,
    /// One for each world.
    places: Arc<Semaphore>,
    /// One for each thread that publishes definitions.
    publishing: Arc<Semaphore>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// The number of the last one.
    last: u64,
    worlds: BTreeMap<String, World>,
    /// Whether the server stops.
    is_over: bool,
}

/// A running world.
struct World {
    url: String,
    objects: Arc<Objects>,
    /// Ends it; with `true` immediately.
    end: watch::Sender<Option<bool>>,
    /// Fires when it has ended.
    ended: oneshot::Receiver<()>,
}

impl fmt::Debug for Worlds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worlds").field("open", &self.open().worlds.len()).finish_non_exhaustive()
    }
}

impl Worlds {
    /// Creates worlds with the settings of a server, which has its final ones, and is at this address. `source` gets the
    /// documents of a state without waiting. `None` if the server has no objects.
    pub fn new(
        server: &Server<Http>,
        address: SocketAddr,
        source: impl Fn(Branched) + Send + Sync + 'static,
    ) -> Option<Arc<Worlds>> {
        let http = server.endpoint();
        let objects = Arc::clone(http.endpoints().objects.as_ref()?);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Some(Arc::new(Worlds {
            server: server.sibling(http.sibling(http.endpoints().clone())),
            objects,
            address,
            source: Box::new(source),
            pool: Pool::new(MAX_WORLD_BYTES),
            places: Arc::new(Semaphore::new(MAX_WORLDS)),
            publishing: Arc::new(Semaphore::new(processors)),
            open: Mutex::default(),
        }))
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the names and addresses of the worlds.
    pub(crate) fn list(&self) -> Vec<(String, String)> {
        self.open().worlds.iter().map(|(name, world)| (name.clone(), world.url.clone())).collect()
    }

    /// Makes a world that begins with a state. Returns its name and address.
    ///
    /// # Errors
    /// There is no such state, or no room for a world.
    pub(crate) async fn make(self: &Arc<Self>, number: u64) -> Result<(String, String), Unmade> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Unmade::Many)?;
        let state = self.objects.kept_state(number).ok_or(Unmade::Missing)?;
        let (answer, documents) = oneshot::channel();
        (self.source)(Branched { state: number, objects: Arc::clone(&state.store), answer });
        let documents = tokio::time::timeout(PATIENCE, documents).await.ok().and_then(Result::ok);
        let failed = |why: &str| Unmade::Failed(why.to_owned());
        let documents = documents.ok_or_else(|| failed("its documents are not made"))?;
        let known = self.server.authenticates_with().map(Authenticator::for_other_objects);
        let (authenticator, accounts) = known.unzip();
        let accounts = accounts.flatten();
        let signer = accounts.clone().map(|accounts| accounts as Arc<dyn Signer>);
        let objects = Arc::new(self.objects.branch(&state, signer, &self.pool).ok_or(Unmade::Large)?);
        if let Some(accounts) = &accounts {
            accounts.bind(&objects);
        }
        let listener = Listener::tcp(SocketAddr::new(self.address.ip(), 0)).await;
        let listener = listener.map_err(|error| failed(&error.to_string()))?;
        let mut address = listener.address().ok_or_else(|| failed("it has no address"))?;
        if address.ip().is_unspecified() {
            // Clients of this machine reach it there.
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        let live = Arc::new(Live::new(documents.snapshot()));
        let publishing = Publishing {
            documents: Mutex::new(documents),
            pending: Mutex::default(),
            live: Arc::clone(&live),
            objects: Arc::downgrade(&objects),
            changed: Mutex::new(Changed { bytes: BTreeMap::new(), share: PoolShare::new(&self.pool) }),
        };
        publish_changes(&objects, Arc::new(publishing), Arc::clone(&self.publishing));
        let template = self.server.endpoint();
        let endpoints = Endpoints {
            live,
            advertise: address.to_string().into(),
            authenticator: authenticator.clone(),
            objects: Some(Arc::clone(&objects)),
            ..template.endpoints().clone()
        };
        let server = self.server.sibling(template.sibling(endpoints)).authenticated_by(authenticator);
        let url = format!("{}://{address}", if server.is_secure() { "https" } else { "http" });
        let (end, of_end) = watch::channel(None);
        let (done, ended) = oneshot::channel();
        let world = World { url: url.clone(), objects, end, ended };
        let name = {
            let mut open = self.open();
            if open.is_over {
                return Err(failed("the server stops"));
            }
            open.last += 1;
            let name = format!("w{}", open.last);
            open.worlds.insert(name.clone(), world);
            name
        };
        let (mut stop, mut abandon) = (of_end.clone(), of_end);
        tokio::spawn(async move {
            let stop = async move {
                let _ = stop.wait_for(Option::is_some).await;
            };
            let abandon = async move {
                let _ = abandon.wait_for(|end| *end == Some(true)).await;
            };
            server.run(vec![listener], stop, abandon).await;
            drop(place);
            let _ = done.send(());
        });
        tracing::debug!(world = %name, %url, snapshot = number, "a world begins");
        Ok((name, url))
    }

    /// Ends a world: its watches end, and its port is closed when this returns. Returns whether there was one of this
    /// name.
    pub(crate) async fn end(&self, name: &str) -> bool {
        let Some(World { objects, end, ended, .. }) = self.open().worlds.remove(name) else { return false };
        // It ends also if the client does not wait for it.
        let ending = tokio::spawn(async move {
            objects.stop();
            drop(objects);
            end.send_replace(Some(false));
            let mut ended = ended;
            if tokio::time::timeout(GRACE, &mut ended).await.is_err() {
                end.send_replace(Some(true));
                let _ = ended.await;
            }
        });
        let _ = ending.await;
        tracing::debug!(world = name, "a world has ended");
        true
    }

    /// Ends all worlds when their requests are finished, or when `abandon` is ready. No others begin.
    pub async fn stop(&self, abandon: impl Future<Output = ()>) {
        let all = {
            let mut open = self.open();
            open.is_over = true;
            std::mem::take(&mut open.worlds)
        };
        for World { objects, end, .. } in all.values() {
            objects.stop();
            end.send_replace(Some(false));
        }
        let mut ends = Vec::new();
        let ended = async {
            for World { end, ended, .. } in all.into_values() {
                ends.push(end);
                let _ = ended.await;
            }
        };
        tokio::select! {
            () = ended => {}
            () = abandon => {}
        }
    }
}

/// What a world publishes.
struct Publishing {
    documents: Mutex<Arc<Store>>,
    pending: Mutex<Pending>,
    live: Arc<Live>,
    objects: Weak<Objects>,
    changed: Mutex<Changed>,
}

/// The definitions that changed since a world began, which it does not share.
#[derive(Debug)]
struct Changed {
    /// Their bytes by name.
    bytes: BTreeMap<Arc<str>, usize>,
    /// The memory of what is derived from them.
    share: PoolShare,
}

impl Changed {
    /// Counts definitions, which may be gone. They are stored already, so they need not fit: what follows does.
    fn count(&mut self, definitions: &[(Arc<str>, Definition)]) {
        for (name, definition) in definitions {
            match definition {
                Definition::Given(text) => self.bytes.insert(Arc::clone(name), text.len()),
                Definition::OfFiles | Definition::Gone => self.bytes.remove(name),
            };
        }
        let bytes: usize = self.bytes.values().sum();
        // So the definitions that change in worlds have together the limit that a server has for its own.
        let derived = MAX_WORLD_BYTES / store::Limits::default().definitions;
        self.share.set(bytes.saturating_mul(derived), true);
    }
}

/// The names of definitions that changed.
#[derive(Default)]
struct Pending {
    names: BTreeSet<Arc<str>>,
    /// How often there were such names.
    reports: u64,
    /// Whether a thread publishes them.
    is_running: bool,
}

impl Publishing {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes the definitions that changed, until there are no more.
    fn run(&self) {
        loop {
            let (names, reports) = {
                let mut pending = self.pending();
                pending.is_running = !pending.names.is_empty();
                (std::mem::take(&mut pending.names), std::mem::take(&mut pending.reports))
            };
            let Some(objects) = self.objects.upgrade().filter(|_| !names.is_empty()) else { return };
            let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
            let store = objects.store();
            let changed = names.into_iter().map(|name| {
                let definition = objects.api().definition(&store, &name);
                (name, definition.map_or(Definition::Gone, Definition::Given))
            });
            let changed: Vec<_> = changed.collect();
            self.changed.lock().unwrap_or_else(PoisonError::into_inner).count(&changed);
            // The first change makes a copy of what the world shared until then.
            let documents = Arc::make_mut(&mut documents);
            for finding in &documents.define(changed, SystemTime::now()).findings {
                tracing::debug!(finding = %finding.detail, "a definition of a world");
            }
            self.live.swap(documents.snapshot());
            objects.published(reports);
        }
    }
}

/// Publishes definitions that clients change, on a thread of the runtime.
fn publish_changes(objects: &Objects, publishing: Arc<Publishing>, permits: Arc<Semaphore>) {
    let runtime = Handle::current();
    objects.on_definitions(move |names| {
        let mut pending = publishing.pending();
        pending.names.extend(names);
        pending.reports += 1;
        if std::mem::replace(&mut pending.is_running, true) {
            return;
        }
        drop(pending);
        let (publishing, permits) = (Arc::clone(&publishing), Arc::clone(&permits));
        runtime.spawn(async move {
            let _permit = permits.acquire().await;
            let _ = tokio::task::spawn_blocking(move || publishing.run()).await;
        });
    });
}
