//! Connections: from listening sockets to the endpoints, with limits, TLS and an orderly end.
//!
//! The protocol is HTTP/1.1 or HTTP/2, as the client begins (prior knowledge) or negotiates in TLS. A connection has
//! one timer, which is set to the next deadline; see `activity.rs`.

mod activity;
mod answer;
mod bind;
mod connection;
mod eviction;
mod fair;
mod frames;
mod guard;
mod linger;
mod refusal;
mod service;
mod tls;

pub use bind::Listener;
pub use service::Endpoint;
pub use tls::{Tls, TlsError};

use crate::auth::{AllowedHosts, Authenticator, Cors};
use crate::limit::{Limits, Rate};
use crate::metrics::Metrics;
use activity::{Activity, ROUND};
use connection::{Control, Phase};
use eviction::OpenConnections;
use service::Guard;
use service::Shared;

pub(crate) use activity::working;
#[cfg(test)]
pub(crate) use activity::{BURST_SECONDS, CANCEL};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

/// A server: endpoints behind authentication, limits and TLS.
///
/// ```
/// use axum::{Router, routing::get};
/// use kubeshape_server::{Listener, Server};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let listener = Listener::tcp(([127, 0, 0, 1], 0).into()).await?;
/// let server = Server::new(Router::new().route("/version", get(|| async { "{}" })));
/// let stop = std::future::ready(());
/// let ended = server.run(vec![listener], stop, std::future::pending()).await;
/// assert_eq!(ended.cut, 0);
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Server<S> {
    endpoint: S,
    limits: Limits,
    authenticator: Option<Authenticator>,
    has_open_pages: bool,
    guard: Guard,
    tls: Option<Tls>,
    metrics: Arc<Metrics>,
    room: Room,
}

/// What servers of one process have together.
#[derive(Clone, Debug)]
struct Room {
    /// One for each connection.
    permits: Arc<Semaphore>,
    connections: Arc<OpenConnections>,
    rate: Option<Arc<Rate>>,
}

impl Room {
    fn new(limits: &Limits) -> Room {
        Room {
            permits: Arc::new(Semaphore::new(count(limits))),
            connections: Arc::default(),
            rate: limits.rate.map(|rate| Arc::new(Rate::new(rate))),
        }
    }
}

/// The maximum number of connections.
fn count(limits: &Limits) -> usize {
    limits.connections.clamp(1, (u32::MAX as usize).min(Semaphore::MAX_PERMITS))
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Connections that were cut because they did not finish in time.
    pub cut: usize,
}

impl<S: Endpoint> Server<S> {
    /// Creates a server for `endpoint` without authentication and TLS, and with default limits.
    pub fn new(endpoint: S) -> Self {
        let limits = Limits::default();
        Server {
            endpoint,
            room: Room::new(&limits),
            limits,
            authenticator: None,
            has_open_pages: false,
            guard: Guard::default(),
            tls: None,
            metrics: Arc::default(),
        }
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Server { room: Room::new(&limits), limits, ..self }
    }

    /// Returns a server for another endpoint with the same settings. Both have their connections and the rate of their
    /// requests together.
    pub(crate) fn sibling<T: Endpoint>(&self, endpoint: T) -> Server<T> {
        Server {
            endpoint,
            limits: self.limits.clone(),
            authenticator: self.authenticator.clone(),
            has_open_pages: self.has_open_pages,
            guard: self.guard.clone(),
            tls: self.tls.clone(),
            metrics: Arc::clone(&self.metrics),
            room: self.room.clone(),
        }
    }

    /// Sets or removes what decides who sends a request.
    pub(crate) fn authenticated_by(self, authenticator: Option<Authenticator>) -> Self {
        Server { authenticator, ..self }
    }

    /// Returns the endpoint.
    pub(crate) fn endpoint(&self) -> &S {
        &self.endpoint
    }

    /// Returns whether TLS is used.
    pub(crate) fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// Returns what decides who sends a request.
    pub(crate) fn authenticates_with(&self) -> Option<&Authenticator> {
        self.authenticator.as_ref()
    }

    /// Requires a valid token, except for the health endpoints.
    #[must_use]
    pub fn authenticator(self, authenticator: Authenticator) -> Self {
        Server { authenticator: Some(authenticator), ..self }
    }

    /// Lets clients without a token read the files of a web application
    /// ([`Endpoints::pages`](crate::Endpoints::pages)).
    #[must_use]
    pub fn open_pages(self) -> Self {
        Server { has_open_pages: true, ..self }
    }

    /// Refuses requests for other hosts with 403. Requests over socket files are not checked.
    #[must_use]
    pub fn allowed_hosts(self, hosts: AllowedHosts) -> Self {
        Server { guard: Guard { hosts, ..self.guard }, ..self }
    }

    /// Lets web pages of these origins read responses.
    #[must_use]
    pub fn cors(self, cors: Cors) -> Self {
        Server { guard: Guard { cors: Some(cors), ..self.guard }, ..self }
    }

    /// Uses TLS on all TCP sockets.
    #[must_use]
    pub fn tls(self, tls: Tls) -> Self {
        Server { tls: Some(tls), ..self }
    }

    /// Sets the metrics.
    #[must_use]
    pub fn metrics(self, metrics: Arc<Metrics>) -> Self {
        Server { metrics, ..self }
    }

    /// Serves until `stop` is ready. Then it accepts no new connections, closes idle ones, and waits for running
    /// requests, for at most [`Limits::grace`] and until `abandon` is ready.
    pub async fn run(
        self,
        listeners: Vec<Listener>,
        stop: impl Future<Output = ()>,
        abandon: impl Future<Output = ()>,
    ) -> Ended {
        let Server { endpoint, limits, authenticator, has_open_pages, guard, tls, metrics, room } = self;
        let count = count(&limits);
        // Those of this server, to know when the last of them has ended.
        let own = Arc::new(Semaphore::new(count));
        let Room { permits, connections, rate } = room;
        let (sender, control) = watch::channel(Control { phase: Phase::Running });
        let grace = limits.grace;
        let builder = Arc::new(connection::builder(&limits));
        let shared = Arc::new(Shared { endpoint, limits, authenticator, has_open_pages, guard, rate, metrics });
        let accepting: Vec<_> = listeners
            .into_iter()
            .map(|listener| {
                let accept_loop = AcceptLoop {
                    listener,
                    tls: tls.clone(),
                    permits: Arc::clone(&permits),
                    own: Arc::clone(&own),
                    connections: Arc::clone(&connections),
                    control: control.clone(),
                    builder: Arc::clone(&builder),
                    shared: Arc::clone(&shared),
                };
                tokio::spawn(accept_loop.run())
            })
            .collect();
        stop.await;
        sender.send_modify(|control| control.phase = Phase::Draining);
        let all = u32::try_from(count).unwrap_or(u32::MAX);
        let drained = async {
            for task in accepting {
                let _ = task.await;
            }
            let _ = own.acquire_many(all).await;
        };
        let done = tokio::select! {
            done = timeout(grace, drained) => done.is_ok(),
            () = abandon => false,
        };
        let cut = if done { 0 } else { count - own.available_permits() };
        sender.send_modify(|control| control.phase = Phase::Ended);
        Ended { cut }
    }
}

/// The loop of one listening socket.
struct AcceptLoop<S> {
    listener: Listener,
    tls: Option<Tls>,
    permits: Arc<Semaphore>,
    /// The permits of this server alone. There are as many, so one is free whenever one of all is.
    own: Arc<Semaphore>,
    connections: Arc<OpenConnections>,
    control: watch::Receiver<Control>,
    builder: Arc<hyper_util::server::conn::auto::Builder<hyper_util::rt::TokioExecutor>>,
    shared: Arc<Shared<S>>,
}

/// When the server stops: how long to wait for another connection in the backlog.
const QUIET: Duration = Duration::from_millis(5);
/// When the server stops: how long to accept connections from the backlog.
const SWEEP: Duration = Duration::from_millis(200);

impl<S: Endpoint> AcceptLoop<S> {
    async fn run(mut self) {
        let mut control = self.control.clone();
        let mut stopped = std::pin::pin!(async move {
            let _ = control.wait_for(|control| control.phase != Phase::Running).await;
        });
        // Whether the system had no room, and that was logged.
        let mut is_short = false;
        // An accepted connection for which there was no room.
        let mut left = None;
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok(stream) => {
                        is_short = false;
                        // Clients beyond the limit wait: this one gets a place only when another connection has ended.
                        let permit = tokio::select! {
                            permit = permit(&self.permits, &self.connections) => permit,
                            () = stopped.as_mut() => {
                                left = Some(stream);
                                break;
                            }
                        };
                        let Some(permit) = permit else { return };
                        self.serve(stream, permit);
                    }
                    Err(error) if is_of_one(&error) => {}
                    Err(error) => {
                        if !is_short {
                            tracing::warn!(%error, "connections cannot be accepted; others make room");
                        }
                        is_short = true;
                        self.connections.shed();
                        round(&self.connections).await;
                    }
                },
                () = stopped.as_mut() => break,
            }
        }
        // Connections that the system accepted before are served as well.
        if let Some(stream) = left
            && let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned()
        {
            self.serve(stream, permit);
        }
        let until = Instant::now() + SWEEP;
        while Instant::now() < until
            && let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned()
            && let Ok(Ok(stream)) = timeout(QUIET, self.listener.accept()).await
        {
            self.serve(stream, permit);
        }
    }

    fn serve(&mut self, stream: bind::Accepted, permit: tokio::sync::OwnedSemaphorePermit) {
        let (tls, shared, builder) = (self.tls.clone(), Arc::clone(&self.shared), Arc::clone(&self.builder));
        let control = self.control.clone();
        let Ok(own) = Arc::clone(&self.own).try_acquire_owned() else { return };
        let open = shared.metrics.connection();
        let activity = Activity::new(&shared.limits, self.connections.pace());
        let member = self.connections.join(&activity);
        tokio::spawn(async move {
            connection::accepted(stream, tls.as_ref(), &shared, &builder, control, &activity).await;
            drop((open, member, permit, own));
        });
    }
}

/// Returns whether an error is about one connection, and not about the system.
fn is_of_one(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// Waits until there is room for a connection. Meanwhile, others are evicted.
async fn permit(permits: &Arc<Semaphore>, connections: &OpenConnections) -> Option<tokio::sync::OwnedSemaphorePermit> {
    if let Ok(permit) = Arc::clone(permits).try_acquire_owned() {
        return Some(permit);
    }
    let mut waiting = std::pin::pin!(Arc::clone(permits).acquire_owned());
    let mut next = connections.shed();
    loop {
        tokio::select! {
            permit = waiting.as_mut() => return permit.ok(),
            () = round(connections) => {}
        }
        if connections.pace().rounds() >= next {
            next = connections.shed();
        }
    }
}

/// Waits for the next round.
async fn round(connections: &OpenConnections) {
    sleep(ROUND).await;
    // Ready connections have their turn first.
    tokio::task::yield_now().await;
    connections.pass();
}
