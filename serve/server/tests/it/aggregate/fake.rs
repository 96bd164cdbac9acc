//! Downstream servers with scripted responses, over real sockets.

use kubeshape_discovery::{Freshness, Group};
use kubeshape_publish::Profile;
use kubeshape_server::aggregate::{AggregateOptions, Aggregator, Profiles, Timeouts};
use kubeshape_server::{Leaf, Metrics, RemoteState};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// The behavior of the server.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// It answers and waits for the next request.
    Answer(Vec<u8>),
    /// It answers and closes the connection.
    Close(Vec<u8>),
    /// It sends this and then nothing more.
    Hang(Vec<u8>),
    /// It sends this and resets the connection.
    Reset(Vec<u8>),
    /// It sends this, and then one byte at a time.
    Drip(Vec<u8>, Duration),
    /// It sends this, and then as much as is read, up to 1 GB.
    Flood(Vec<u8>),
}

/// Returns a response with these headers and Content-Length.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let mut head = head(status, headers);
    let _ = write!(head, "Content-Length: {}\r\n\r\n", body.len());
    Reply::Answer([head.as_bytes(), body].concat())
}

/// Returns the beginning of a response, up to the last header.
pub(crate) fn head(status: u16, headers: &[(&str, &str)]) -> String {
    let mut head = format!("HTTP/1.1 {status} x\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head
}

pub(crate) fn json(body: impl AsRef<[u8]>) -> Reply {
    answer(200, &[("Content-Type", "application/json")], body)
}

pub(crate) fn missing() -> Reply {
    answer(404, &[], "404 page not found\n")
}

/// Returns the index of `apis/GROUP/VERSION`s with a hash.
pub(crate) fn index(group_versions: &[&str], hash: &str) -> String {
    let place = |gv: &&str| format!(r#""apis/{gv}":{{"serverRelativeURL":"/openapi/v3/apis/{gv}?hash={hash}"}}"#);
    format!(r#"{{"paths":{{{}}}}}"#, group_versions.iter().map(place).collect::<Vec<_>>().join(","))
}

/// Returns the aggregated discovery of group versions with one resource each.
pub(crate) fn discovery(group_versions: &[&str], resource: &str) -> String {
    discovery_as("v2", group_versions, resource)
}

pub(crate) fn discovery_as(version: &str, group_versions: &[&str], resource: &str) -> String {
    let item = |gv: &&str| {
        let (group, version) = gv.split_once('/').expect("GROUP/VERSION");
        format!(
            r#"{{"metadata":{{"name":"{group}"}},"versions":[{{"version":"{version}","resources":[{{"resource":"{resource}",
            "responseKind":{{"group":"{group}","version":"{version}","kind":"Thing"}},"scope":"Namespaced",
            "singularResource":"thing","verbs":["get","list"]}}],"freshness":"Current"}}]}}"#
        )
    };
    format!(
        r#"{{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/{version}","metadata":{{}},"items":[{}]}}"#,
        group_versions.iter().map(item).collect::<Vec<_>>().join(",")
    )
}

/// Responds like a server that has these group versions, v3 and discovery, and its documents.
pub(crate) fn healthy(seen: &Seen, group_versions: &[&str]) -> Reply {
    match seen.path() {
        "/openapi/v3" => json(index(group_versions, "00")),
        "/apis" => json(discovery(group_versions, "things")),
        path => match path.strip_prefix("/openapi/v3/apis/") {
            Some(gv) if group_versions.contains(&gv) => {
                answer(200, &[("Content-Type", "application/json"), ("Etag", "\"00\"")], format!(r#"{{"of":"{gv}"}}"#))
            }
            _ => missing(),
        },
    }
}

type Handler = Arc<dyn Fn(&Seen) -> Reply + Send + Sync>;

/// A server; it ends when it is dropped.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
    sent: Arc<AtomicU64>,
    running: JoinSet<()>,
}

impl Fake {
    pub(crate) async fn start(handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let fake = Fake {
            address,
            seen: Arc::default(),
            connections: Arc::default(),
            sent: Arc::default(),
            running: JoinSet::new(),
        };
        let (seen, connections, sent) = (Arc::clone(&fake.seen), Arc::clone(&fake.connections), Arc::clone(&fake.sent));
        let handler: Handler = Arc::new(handler);
        let mut fake = fake;
        fake.running.spawn(async move {
            let mut tasks = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let (handler, seen, sent) = (Arc::clone(&handler), Arc::clone(&seen), Arc::clone(&sent));
                tasks.spawn(async move {
                    let (mut stream, reset) = Box::pin(serve(stream, &handler, &seen, &sent)).await;
                    if reset {
                        stream.set_zero_linger().expect("a socket");
                    } else {
                        let _ = stream.shutdown().await;
                    }
                });
            }
        });
        fake
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no panic").clone()
    }

    /// Waits until a path was requested this many times.
    pub(crate) async fn asked(&self, path: &str, times: usize) -> Vec<Seen> {
        for _ in 0..500 {
            let seen: Vec<_> = self.seen().into_iter().filter(|seen| seen.path() == path).collect();
            if seen.len() >= times {
                return seen;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("{path} was not asked for {times} times: {:?}", self.seen());
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns the bytes that a flood could send.
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    /// Returns its options for aggregation: `rest` is `,GROUP/VERSION…`.
    pub(crate) fn options(&self, rest: &str) -> AggregateOptions {
        quick(format!("fake=http://{}{rest}", self.address).parse().expect("options"))
    }
}

/// Sets short times and small sizes.
pub(crate) fn quick(mut options: AggregateOptions) -> AggregateOptions {
    let ms = Duration::from_millis;
    options.refresh = ms(20);
    options.backoff = (ms(10), ms(40));
    options.timeouts = Timeouts { connect: ms(500), headers: ms(200), idle: ms(150), total: ms(400), stall: ms(100) };
    options.limits.index = 64 << 10;
    options.limits.discovery = 64 << 10;
    options.limits.v2 = 64 << 10;
    options.limits.document = 256 << 10;
    options
}

/// Answers requests on a connection. Returns whether to reset it.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    handler: &Handler,
    seen: &Mutex<Vec<Seen>>,
    sent: &AtomicU64,
) -> (S, bool) {
    let mut buffer = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            match stream.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => return (stream, false),
                Ok(_) => {}
            }
        };
        let text = String::from_utf8_lossy(&buffer[..end]).into_owned();
        buffer.drain(..end + 4);
        let mut lines = text.lines();
        let mut first = lines.next().unwrap_or_default().split(' ');
        let mut word = || first.next().unwrap_or_default().to_owned();
        let (method, target) = (word(), word());
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
        let request = Seen { method, target, headers };
        seen.lock().expect("no panic").push(request.clone());
        match handler(&request) {
            Reply::Answer(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return (stream, false);
                }
            }
            Reply::Close(bytes) => {
                let _ = stream.write_all(&bytes).await;
                return (stream, false);
            }
            Reply::Hang(bytes) => {
                let _ = stream.write_all(&bytes).await;
                // Until the other side gives up.
                while stream.read_buf(&mut buffer).await.is_ok_and(|n| n > 0) {}
                return (stream, false);
            }
            Reply::Reset(bytes) => {
                let _ = stream.write_all(&bytes).await;
                sleep(Duration::from_millis(5)).await;
                return (stream, true);
            }
            Reply::Drip(bytes, pause) => {
                let _ = stream.write_all(&bytes).await;
                while stream.write_all(b" ").await.is_ok() {
                    sleep(pause).await;
                }
                return (stream, false);
            }
            Reply::Flood(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let chunk = [b' '; 16 << 10];
                let chunk = [b"4000\r\n", &chunk[..], b"\r\n"].concat();
                for _ in 0..(1 << 30) / chunk.len() {
                    if stream.write_all(&chunk).await.is_err() {
                        break;
                    }
                    sent.fetch_add(chunk.len() as u64, Ordering::SeqCst);
                }
                return (stream, false);
            }
        }
    }
}

/// An aggregation and its states.
pub(crate) struct Watched {
    pub(crate) aggregator: Aggregator,
    pub(crate) states: mpsc::Receiver<RemoteState>,
}

pub(crate) fn aggregate(servers: Vec<AggregateOptions>) -> Watched {
    aggregate_with(servers, Profile::Kube.into())
}

pub(crate) fn aggregate_with(servers: Vec<AggregateOptions>, profiles: Profiles) -> Watched {
    let (updates, states) = mpsc::channel(64);
    let aggregator = Aggregator::spawn(servers, profiles, &updates, &Arc::new(Metrics::default())).expect("it starts");
    Watched { aggregator, states }
}

impl Watched {
    /// Returns the first state that satisfies a condition.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&RemoteState) -> bool) -> RemoteState {
        let mut last = None;
        let found = timeout(Duration::from_secs(5), async {
            while let Some(state) = self.states.recv().await {
                if wanted(&state) {
                    return state;
                }
                last = Some(state);
            }
            panic!("the aggregation ended");
        })
        .await;
        found.unwrap_or_else(|_| panic!("no such state; the last one: {last:?}"))
    }

    /// Returns the first state with the documents and current resources.
    pub(crate) async fn complete(&mut self) -> RemoteState {
        self.until(|state| !state.v3.is_empty() && has(&state.groups, Freshness::Current)).await
    }
}

/// Returns whether there are groups, all of whose versions are this fresh and have resources.
pub(crate) fn has(groups: &[Group], freshness: Freshness) -> bool {
    let mut versions = groups.iter().flat_map(|group| &group.versions).peekable();
    versions.peek().is_some() && versions.all(|one| one.freshness == freshness && !one.resources.is_empty())
}

/// Returns group, version, freshness and resources of everything.
pub(crate) fn shown(groups: &[Group]) -> Vec<String> {
    let versions = groups.iter().flat_map(|group| group.versions.iter().map(move |version| (group, version)));
    versions
        .map(|(group, version)| {
            let names: Vec<_> = version.resources.iter().map(|resource| &*resource.name).collect();
            format!("{}/{} {:?} {}", group.name, version.version, version.freshness, names.join(" "))
        })
        .collect()
}

/// Returns paths, URLs and whether each document is local.
pub(crate) fn documents(state: &RemoteState) -> Vec<(&str, &str, bool)> {
    state
        .v3
        .iter()
        .map(|document| (&*document.path, &*document.url, matches!(document.leaf, Leaf::Remote(_))))
        .collect()
}
