//! `kubeshape serve`.
//!
//! [`plan`] checks the command line. The [`hub`] is a thread that owns the store. [`watch`] tells it where files
//! changed, [`inputs`] finds out which, and aggregated servers report their states. The hub applies them to the store,
//! and swaps the snapshot that `kubeshape-server` serves. This module starts all of it, waits for signals, and stops it
//! in order.

mod advice;
mod data;
mod descriptors;
mod event;
mod explorer;
mod finding;
#[cfg(test)]
mod guide;
mod hub;
mod inputs;
mod log;
mod plan;
mod resources;
mod secrets;
mod watch;
mod write_back;

use crate::args::{AuthorizationMode, ClockArg, LogFormat, ServeArgs, When};
use crate::error::{Fatal, describe};
use crate::input::Filter;
use crate::report::{self, Setup, Ui};
use event::Event;
use hub::{FirstScan, Hub};
use kubeshape_input::{Finding, NoteKind};
use kubeshape_objects::access::Authorization;
use kubeshape_schema::Level;
use kubeshape_server::aggregate::{AggregateOptions, Aggregator, Profiles};
use kubeshape_server::http::Http;
use kubeshape_server::{
    AllowedHosts, Endpoints, Leaf, Limits, Listener, Live, LoopbackHooks, MAX_WORLDS, ManualClock, Metrics, Readiness,
    Server, Snapshot, Store, StoreOptions, Tags, Worlds,
};
use log::Log;
use plan::Plan;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, SystemTime};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

/// The name of the check in `/readyz` that fails while the server stops.
const SHUTDOWN: &str = "shutdown";

/// How long the server waits for its address to be printed.
const PRINTING: Duration = Duration::from_secs(1);

/// Runs the command. Returns whether all requests were answered.
///
/// # Errors
/// The command line is wrong, no input can be served, or the server cannot listen.
pub(crate) fn run(args: &ServeArgs, setup: &Setup) -> Result<bool, Fatal> {
    let color = setup.color;
    let plan = Plan::new(args)?;
    let mut log = Log::begin(args.log_format, args.log_level, color)?;
    let metrics = Arc::new(Metrics::default());
    metrics.started(SystemTime::now());
    let options = StoreOptions {
        profile: plan.profiles.documents,
        // With this, the cost of a change does not grow with the number of groups, but ETags of large documents differ
        // from upstream.
        tags: if args.has_extensions() { Tags::Chunks } else { Tags::Content },
        // The kinds of objects are known only where objects are served.
        generic_kinds: args.has_extensions() && args.has_objects(),
        release: plan.release.unwrap_or_default(),
    };
    let store = match Store::new(plan.base, options, SystemTime::now()) {
        Ok(store) => store,
        Err(error) => {
            Ui::new(color, When::Never, false, false).error(&format!("a base document cannot be used: {error}"));
            return Ok(false);
        }
    };
    if let Some(release) = args.kubernetes {
        tracing::info!(
            "serving the API of Kubernetes {release} without descriptions, so hashes differ from a cluster's; give \
             --base for those of a cluster"
        );
    }
    let live = Arc::new(Live::new(store.snapshot()));
    // No input is read yet.
    let of_base = Arc::clone(&live.current().v2);
    let readiness = Arc::new(Readiness::default());
    readiness.set(SHUTDOWN, None);
    let mut hub = Hub {
        store,
        inputs: inputs::Inputs::new(args.files(), Filter::new(&args.walk)?),
        secrets: plan.secrets,
        live: Arc::clone(&live),
        metrics: Arc::clone(&metrics),
        features: plan.emulation.as_ref().map(|emulation| emulation.features).unwrap_or_default(),
        readiness: Arc::clone(&readiness),
        watcher: None,
        changes: event::Changes::default(),
        grace: args.watch_grace,
        held: std::collections::BTreeMap::new(),
        broken: Vec::new(),
        levels: setup.levels(&args.levels),
        given: std::collections::BTreeSet::new(),
        resources: None,
        branches: hub::Branches::default(),
    };
    let runtime = Builder::new_multi_thread().enable_all().thread_stack_size(crate::convert::STACK).build()?;
    if args.has_objects() {
        let kept = resources::Kept {
            data: args.data.as_deref(),
            folder: plan.folder,
            readiness: Arc::clone(&readiness),
            authorization: match args.authorization_mode {
                AuthorizationMode::AlwaysAllow => Authorization::AlwaysAllow,
                AuthorizationMode::Rbac => Authorization::Rbac,
            },
            accounts: hub.secrets.accounts().cloned(),
            hooks: args.webhooks.then(|| Arc::new(LoopbackHooks::new(runtime.handle().clone()))),
            plugins: args.plugins(),
            own_port: args.own_port,
            clock: (args.clock == ClockArg::Manual).then(|| Arc::new(ManualClock::new(SystemTime::now()))),
        };
        let release = plan.release.or_else(|| hub.store.release()).unwrap_or_default();
        if !args.base.is_empty() {
            tracing::info!("requests on objects follow the rules of Kubernetes {release}");
        }
        let made = resources::Resources::new(&live.current(), plan.lifecycles, release, kept);
        hub.resources = Some(made.map_err(|error| Fatal::Usage(error.to_string()))?);
    }
    let (events, happened) = channel();
    if args.watch {
        // Start to watch before the files are read, so that no change is missed.
        hub.watcher = Some(watch::Watcher::new(events.clone(), hub.changes.clone()));
    }
    let ui = Ui::new(color, When::Never, false, false).with_levels(hub.levels.clone()).with_notes().keeping();
    let (anything, is_denied) = first(&mut hub, args.log_format, ui, &mut log);
    if is_denied {
        log.settle();
        return Ok(false);
    }
    if !args.files().is_empty()
        && !anything
        && args.base.is_empty()
        && args.kubernetes.is_none()
        && !args.has_objects()
        && args.aggregate.is_empty()
    {
        log.settle();
        Ui::new(color, When::Never, false, false).error("nothing of the inputs can be served");
        return Ok(false);
    }
    hub.follow();
    if let Some(resources) = &hub.resources {
        let events = events.clone();
        resources.objects().on_definitions(move |names| {
            // If the hub has ended, the server is stopping.
            let _ = events.send(Event::Definitions(names));
        });
        let findings = resources.load(&args.objects, &Filter::new(&args.walk)?)?;
        tell_of(&findings, &hub, args.log_format, setup, &mut log);
        for gate in resources.unnamed_gates() {
            tracing::warn!(gate, "no schema names this feature gate of --feature-gates");
        }
        tracing::info!(objects = resources.objects().store().len(), "objects are read");
    }
    // Before the first request, because the answer of `/readyz` says that everything is served.
    hub.publish_kept();
    if args.has_extensions()
        && let Some(resources) = &hub.resources
    {
        resources.objects().keep_start();
    }

    let sizes = Arc::clone(&live);
    let of_log = log.measure();
    metrics.measured_by(move |metrics| {
        measure(metrics, &sizes.current());
        of_log(metrics);
    });
    let listeners = listen(&runtime, args)?;
    let address = listeners.iter().find_map(Listener::address);
    let is_secure = hub.secrets.tls().is_some();
    warn(&listeners, is_secure, hub.secrets.authenticator().is_some());
    let objects = hub.resources.as_ref().map(|resources| Arc::clone(resources.objects()));
    let makes_worlds = args.has_extensions() && objects.is_some() && address.is_some();
    let endpoints = Endpoints {
        live,
        extensions: args.has_extensions(),
        advertise: args.advertise_address.clone().unwrap_or_else(|| reachable(address)).into(),
        metrics: Arc::clone(&metrics),
        readiness: Arc::clone(&readiness),
        authenticator: hub.secrets.authenticator().cloned(),
        emulation: plan.emulation,
        v2_without_custom_resources: Some(of_base),
        objects: objects.clone(),
        pages: args.has_extensions().then(|| Arc::new(explorer::pages())),
    };
    let limits = Limits {
        connections: descriptors::connections(args.max_connections as usize, if makes_worlds { MAX_WORLDS } else { 0 }),
        rate: args.max_rate,
        grace: args.shutdown_grace,
        ..Limits::default()
    };
    let http = Http::with_limits(endpoints, &limits);
    let mut server = Server::new(http.clone())
        .limits(limits)
        .metrics(Arc::clone(&metrics))
        .allowed_hosts(allowed_hosts(args, &listeners));
    if let Some(cors) = plan.cors {
        server = server.cors(cors);
    }
    if let Some(authenticator) = hub.secrets.authenticator() {
        server = server.authenticator(authenticator.clone());
        if args.has_extensions() {
            server = server.open_pages();
        }
    }
    if let Some(tls) = hub.secrets.tls() {
        server = server.tls(tls.clone());
    }
    let to_hub = events.clone();
    let worlds = address.filter(|_| makes_worlds).and_then(|address| {
        Worlds::new(&server, address, move |branched| {
            // If the hub has ended, the server is stopping.
            let _ = to_hub.send(Event::Branched(branched));
        })
    });
    if let Some(worlds) = &worlds {
        http.make_worlds(Arc::clone(worlds));
    }
    for server in plan.aggregate.iter().filter(|server| server.sends_token_in_clear()) {
        tracing::warn!(
            server = &*server.name,
            address = %server.address,
            "everybody on the way can read the token that is sent to this server: use https"
        );
    }
    let hub = std::thread::Builder::new()
        .name("hub".to_owned())
        .stack_size(crate::convert::STACK)
        .spawn(move || hub.run(&happened))?;
    let _entered = runtime.enter();
    let aggregator = aggregate(plan.aggregate, plan.profiles, &events, &metrics)?;
    let mut signals = Signals::new().map_err(Fatal::Threads)?;
    announce(
        listeners.iter().map(|listener| report::clean::lines(&ready(listener, is_secure)).into_owned()).collect(),
    )?;
    let ended = runtime.block_on(async {
        let (stopping, stopped) = tokio::sync::watch::channel(());
        let (abandoning, abandoned) = tokio::sync::watch::channel(());
        // Waits until the sender is dropped.
        let end = |mut sender: tokio::sync::watch::Receiver<()>| async move { while sender.changed().await.is_ok() {} };
        let serving = async {
            let serving = server.run(listeners, end(stopped.clone()), end(abandoned.clone()));
            let of_worlds = async {
                if let Some(worlds) = &worlds {
                    end(stopped).await;
                    worlds.stop(end(abandoned)).await;
                }
            };
            tokio::join!(serving, of_worlds).0
        };
        let signalled = async {
            signals.stop(&events).await;
            readiness.set(SHUTDOWN, Some("the server stops"));
            metrics.ready(SHUTDOWN, false);
            if let Some(objects) = &objects {
                objects.stop();
            }
            tracing::info!("stopping: running requests are finished; a second signal ends them");
            drop(stopping);
            signals.stop(&events).await;
            drop(abandoning);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            ended = serving => ended,
            () = signalled => kubeshape_server::Ended { cut: 0 },
        }
    });
    let _ = events.send(Event::Stop);
    let _ = hub.join();
    if let Some(aggregator) = aggregator {
        runtime.block_on(aggregator.stop());
    }
    // The v2 document may still be merging. Do not wait for that.
    runtime.shutdown_background();
    if ended.cut > 0 {
        tracing::warn!(connections = ended.cut, "stopped; connections had to be cut");
    } else {
        tracing::info!("stopped");
    }
    log.end();
    Ok(ended.cut == 0)
}

/// Reads the inputs for the first time, and prints findings. Returns whether any of them is served, and whether any
/// finding is denied.
fn first(hub: &mut Hub, format: LogFormat, mut ui: Ui, log: &mut Log) -> (bool, bool) {
    // Before the inputs are read, all findings are about the base.
    let of_base: Vec<Finding> = hub.store.findings().cloned().collect();
    let FirstScan { unreadable, passed_over, applied } = hub.first();
    // Inputs may hold objects of other kinds. An unused document of --base is worth a note.
    let is_told = |found: &&Finding| hub.levels.of(found.code) != Level::Note;
    for finding in unreadable.iter().chain(&passed_over).chain(&of_base).chain(applied.findings.iter().filter(is_told))
    {
        match format {
            LogFormat::Text => ui.finding(finding),
            LogFormat::Json => {
                finding::log(finding, &hub.levels);
                // There are no clients yet, so there is time to write all of them.
                log.make_room();
            }
        }
    }
    let is_denied = match format {
        LogFormat::Text => ui.end(None, "", ""),
        LogFormat::Json => unreadable
            .iter()
            .chain(&of_base)
            .chain(&applied.findings)
            .any(|found| hub.levels.denied_by(found.code).is_some()),
    };
    log.write(&ui.into_text());
    let errors = applied.findings.iter().filter(|found| found.code.kind() == NoteKind::Error).count();
    tracing::info!(
        files = hub.inputs.len(),
        documents = applied.documents.len(),
        definitions = hub.store.published(),
        errors = errors + unreadable.len(),
        "inputs are read"
    );
    // An empty folder may be filled later.
    (!applied.documents.is_empty() || (hub.broken.is_empty() && unreadable.is_empty()), is_denied)
}

/// Prints findings about objects.
fn tell_of(findings: &[Finding], hub: &Hub, format: LogFormat, setup: &Setup, log: &mut Log) {
    let mut ui = Ui::new(setup.color, When::Never, false, false).with_levels(hub.levels.clone()).with_notes().keeping();
    for finding in findings {
        match format {
            LogFormat::Text => ui.finding(finding),
            LogFormat::Json => {
                finding::log(finding, &hub.levels);
                log.make_room();
            }
        }
    }
    log.write(&ui.into_text());
}

/// Binds the sockets.
fn listen(runtime: &Runtime, args: &ServeArgs) -> Result<Vec<Listener>, Fatal> {
    let default = [SocketAddr::from(([127, 0, 0, 1], 8001))];
    let addresses =
        if args.listen.is_empty() && args.unix_socket.is_none() { &default } else { args.listen.as_slice() };
    let mut listeners = Vec::new();
    for address in addresses {
        let listener = runtime.block_on(Listener::tcp(*address));
        let cannot = |error| Fatal::Usage(format!("cannot listen on {address}: {}", describe(&error)));
        listeners.push(listener.map_err(cannot)?);
    }
    if let Some(path) = &args.unix_socket {
        #[cfg(unix)]
        {
            let listener = runtime.block_on(Listener::unix(path));
            let cannot = |error| Fatal::Usage(format!("cannot listen on {}: {}", path.display(), describe(&error)));
            listeners.push(listener.map_err(cannot)?);
        }
        #[cfg(not(unix))]
        return Err(Fatal::Usage(format!("{}: there are no socket files on this system", path.display())));
    }
    Ok(listeners)
}

/// Returns the hosts that requests may name. A server on loopback only is reached through its own machine, so it needs
/// only that machine's names.
fn allowed_hosts(args: &ServeArgs, listeners: &[Listener]) -> AllowedHosts {
    let is_local = listeners.iter().filter_map(Listener::address).all(|address| address.ip().is_loopback());
    let all = if args.allowed_hosts.is_empty() { !is_local } else { args.allowed_hosts.iter().any(|host| host == "*") };
    if all {
        AllowedHosts::default()
    } else {
        AllowedHosts::only(args.allowed_hosts.iter().chain(&args.advertise_address))
    }
}

/// Warns if others can read what is served or change it in transit.
fn warn(listeners: &[Listener], is_secure: bool, has_tokens: bool) {
    for address in listeners.iter().filter_map(Listener::address).filter(|address| !address.ip().is_loopback()) {
        if !has_tokens {
            tracing::warn!(%address, "everybody who reaches this address can read what is served: give --token-file");
        }
        if !is_secure {
            tracing::warn!(%address, "without TLS everybody on the way can read and change answers: give --tls-cert");
        }
    }
}

/// Prints to standard output. Does not wait long for a reader.
///
/// # Errors
/// Standard output is closed or full.
fn announce(text: String) -> Result<(), Fatal> {
    let (printed, result) = channel();
    std::thread::Builder::new()
        .name("output".to_owned())
        .spawn(move || printed.send(report::print(text.as_bytes())))?;
    result.recv_timeout(PRINTING).unwrap_or_else(|_| {
        tracing::warn!("standard output is not read; it has the address of the server");
        Ok(())
    })
}

/// Returns the line with the address of the server.
fn ready(listener: &Listener, is_secure: bool) -> String {
    match (listener.address(), listener.path()) {
        (Some(address), _) => format!("serving on {}://{address}\n", if is_secure { "https" } else { "http" }),
        (None, path) => format!("serving on unix:{}\n", path.unwrap_or(std::path::Path::new("")).display()),
    }
}

/// Returns the address that clients use, as far as it is known.
fn reachable(address: Option<SocketAddr>) -> String {
    match address {
        None => "localhost".to_owned(),
        Some(address) if address.ip().is_unspecified() => format!("127.0.0.1:{}", address.port()),
        Some(address) => address.to_string(),
    }
}

/// Starts to poll aggregated servers, and sends their states to the hub.
fn aggregate(
    servers: Vec<AggregateOptions>,
    profiles: Profiles,
    events: &Sender<Event>,
    metrics: &Arc<Metrics>,
) -> Result<Option<Aggregator>, Fatal> {
    if servers.is_empty() {
        return Ok(None);
    }
    let (updates, mut states) = mpsc::channel(64);
    let events = events.clone();
    tokio::spawn(async move {
        while let Some(state) = states.recv().await {
            if events.send(Event::Remote(Box::new(state))).is_err() {
                return;
            }
        }
    });
    let aggregator = Aggregator::spawn(servers, profiles, &updates, metrics);
    aggregator.map(Some).map_err(|error| Fatal::Usage(format!("--aggregate: {error}")))
}

/// Records the memory of documents, for `/metrics`.
fn measure(metrics: &Metrics, snapshot: &Snapshot) {
    let mut v3 = kubeshape_server::Sizes::default();
    for leaf in snapshot.v3.values() {
        if let Leaf::Local(document) = leaf {
            let sizes = document.sizes();
            v3.json += sizes.json;
            v3.compressed += sizes.compressed;
            v3.protobuf += sizes.protobuf;
        }
    }
    let index = snapshot.index.made().map(|document| document.sizes()).unwrap_or_default();
    let others = [index, snapshot.discovery.aggregated.sizes()];
    let sum = |of: fn(&kubeshape_server::Sizes) -> usize| (of(&v3) + others.iter().map(of).sum::<usize>()) as u64;
    metrics.cache_size("v3", v3.json as u64);
    metrics.cache_size("index", others[0].json as u64);
    metrics.cache_size("discovery", others[1].json as u64);
    metrics.cache_size("compressed", sum(|sizes| sizes.compressed));
    metrics.cache_size("protobuf", sum(|sizes| sizes.protobuf));
}

/// Returns a future that is ready when the system stops the program. A runtime must be entered.
///
/// # Errors
/// Signals cannot be handled.
pub(crate) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::new()?;
    // Nothing is read again.
    let (events, _) = channel();
    Ok(async move { signals.stop(&events).await })
}

/// The signals that the server handles.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal to stop. Other signals are sent to the hub.
    async fn stop(&mut self, events: &Sender<Event>) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hangup.recv() => { let _ = events.send(Event::Reload); }
            }
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[allow(clippy::unnecessary_wraps)] // For the same signature as on other systems.
    fn new() -> std::io::Result<Signals> {
        Ok(Signals)
    }

    async fn stop(&mut self, _: &Sender<Event>) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
