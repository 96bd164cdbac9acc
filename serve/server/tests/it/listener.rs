//! The listener against misbehaving clients, over real sockets.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::get;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kubeshape_server::{Authenticator, Ended, Limits, Listener, Metrics, Server, Tls, Tokens};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

/// Far longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A server that runs until it is stopped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    abandon: Arc<Notify>,
    ended: JoinHandle<Ended>,
    metrics: Arc<Metrics>,
}

impl Running {
    pub(crate) async fn new(server: Server<Router>) -> Running {
        let listener = Listener::tcp(([127, 0, 0, 1], 0).into()).await.expect("a port");
        let address = listener.address().expect("an address");
        Running::on(vec![listener], address, server)
    }

    fn on(listeners: Vec<Listener>, address: SocketAddr, server: Server<Router>) -> Running {
        let (stop, stopped) = oneshot::channel::<()>();
        let abandon = Arc::new(Notify::new());
        let abandoned = Arc::clone(&abandon);
        let metrics = Arc::new(Metrics::default());
        let server = server.metrics(Arc::clone(&metrics));
        let stopped = async move { _ = stopped.await };
        let ended = tokio::spawn(async move { server.run(listeners, stopped, abandoned.notified()).await });
        Running { address, stop: Some(stop), abandon, ended, metrics }
    }

    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    pub(crate) async fn ended(self) -> Ended {
        timeout(PATIENCE, self.ended).await.expect("it ends").expect("it does not panic")
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("a connection")
    }

    /// Returns the value of a metric.
    pub(crate) fn metric(&self, line: &str) -> Option<f64> {
        let text = self.metrics.encode();
        text.lines().find_map(|l| l.strip_prefix(line)?.trim().parse().ok())
    }
}

/// Returns a body of 16 MiB, more than all buffers between two processes.
fn large() -> Body {
    static LARGE: LazyLock<Bytes> = LazyLock::new(|| vec![b'x'; 16 << 20].into());
    Body::from(LARGE.clone())
}

pub(crate) fn endpoints() -> Router {
    Router::new()
        .route("/", get(|| async { "hello" }))
        .route("/healthz", get(|| async { "ok" }))
        .route(
            "/slow",
            get(|| async {
                sleep(Duration::from_millis(300)).await;
                "slow"
            }),
        )
        .route("/never", get(std::future::pending::<&str>))
        .route("/large", get(|| async { Response::new(large()) }))
        .route("/panic", get(panics))
        .route("/version", get(|request: Request| async move { format!("{:?}", request.version()) }))
}

async fn panics() -> &'static str {
    sleep(Duration::from_millis(1)).await;
    panic!("on purpose")
}

/// Sends one request and reads until the connection ends.
pub(crate) async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.expect("a request is sent");
    rest(stream).await
}

/// Returns everything until the end of the connection.
pub(crate) async fn rest(mut stream: impl AsyncRead + Unpin) -> String {
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("an end");
    if let Err(error) = read {
        answer.extend_from_slice(format!("<{:?}>", error.kind()).as_bytes());
    }
    String::from_utf8_lossy(&answer).into_owned()
}

pub(crate) fn one(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
}

/// Returns the head of a response, and the length of its body as far as it arrives.
pub(crate) async fn answer(stream: &mut (impl AsyncRead + Unpin)) -> (String, usize) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return (String::from_utf8_lossy(&head).into_owned(), 0),
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    let mut read = 0;
    while read < length {
        match stream.read(&mut body[read..]).await {
            Ok(n) if n > 0 => read += n,
            _ => break,
        }
    }
    (head, read)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_slow_clients_delay_no_other_client() {
    let limits = Limits { header: PATIENCE, ..Limits::default() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let mut slow = Vec::new();
    for n in 0..1000 {
        let mut stream = server.connect().await;
        // A third sends nothing, a third half a head, a third reads nothing of a large response.
        let sent = ["", "GET / HTTP/1.1\r\nHost: x\r\nX-", "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"][n % 3];
        stream.write_all(sent.as_bytes()).await.expect("sent");
        slow.push(stream);
    }
    let began = Instant::now();
    for _ in 0..20 {
        let answer = exchange(server.connect().await, &one("/")).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("hello"), "{answer}");
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(server.metric("kubeshape_connections ").is_some_and(|open| open >= 1000.0));
    drop(slow);
}

#[tokio::test]
async fn a_head_that_drips_ends_the_connection() {
    let limits = Limits { header: Duration::from_millis(300), ..Limits::default() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let mut stream = server.connect().await;
    // A first request, so that the head of a later one is slow.
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    assert!(answer(&mut stream).await.0.starts_with("HTTP/1.1 200"));
    let began = Instant::now();
    let mut ended = false;
    for byte in b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ".iter().chain([b'y'; 1000].iter()) {
        let mut read = [0; 16];
        let sent = stream.write_all(&[*byte]).await;
        if sent.is_err()
            || matches!(timeout(Duration::from_millis(20), stream.read(&mut read)).await, Ok(Ok(0) | Err(_)))
        {
            ended = true;
            break;
        }
    }
    assert!(ended && began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    // And a client that sends nothing at all.
    assert_eq!(rest(server.connect().await).await, "");
}

#[tokio::test]
async fn idle_connections_end() {
    let limits = Limits { idle: Duration::from_millis(100), ..Limits::default() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let answer = exchange(server.connect().await, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(answer.ends_with("hello"), "{answer}");
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_cut_and_a_slow_one_is_not() {
    let limits = Limits { stall: Duration::from_millis(500), ..Limits::default() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let mut never = server.connect().await;
    never.write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    let mut slow = server.connect().await;
    slow.write_all(one("/large").as_bytes()).await.expect("sent");
    let mut taken = 0;
    let mut buffer = vec![0; 1 << 20];
    loop {
        sleep(Duration::from_millis(40)).await;
        match slow.read(&mut buffer).await.expect("more") {
            0 => break,
            n => taken += n,
        }
    }
    assert!(taken > 16 << 20, "{taken}");
    // By then the other one is gone.
    let began = Instant::now();
    while server.metric("kubeshape_connections ") != Some(0.0) {
        assert!(began.elapsed() < PATIENCE, "the connection is still open");
        sleep(Duration::from_millis(20)).await;
    }
    let got = rest(never).await;
    assert!(got.len() < 16 << 20, "{}", got.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accepted_requests_are_not_cut_when_the_server_stops() {
    let mut server = Running::new(Server::new(endpoints())).await;
    let address = server.address;
    let stopping = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..32)
        .map(|n| {
            let stopping = Arc::clone(&stopping);
            tokio::spawn(async move {
                let (mut whole, mut refused) = (0, 0);
                let path = ["/", "/slow", "/large"][n % 3];
                while refused == 0 {
                    let Ok(mut stream) = TcpStream::connect(address).await else {
                        refused += 1;
                        continue;
                    };
                    let sent = stream.write_all(one(path).as_bytes()).await;
                    let (head, body) = answer(&mut stream).await;
                    let expected = match path {
                        "/" => 5,
                        "/slow" => 4,
                        _ => 16 << 20,
                    };
                    if head.starts_with("HTTP/1.1 200") && body == expected {
                        whole += 1;
                    } else {
                        // Only a connection that the server never accepted may fail, and it fails as a whole.
                        assert!(stopping.load(Ordering::SeqCst) == 1, "{sent:?} {head}");
                        assert_eq!((head.as_str(), body), ("", 0), "{path}");
                        refused += 1;
                    }
                }
                whole
            })
        })
        .collect();
    sleep(Duration::from_millis(700)).await;
    stopping.store(1, Ordering::SeqCst);
    server.stop();
    let mut whole = 0;
    for client in clients {
        whole += timeout(PATIENCE, client).await.expect("it ends").expect("no cut answer");
    }
    assert!(whole >= 32, "{whole}");
    assert_eq!(server.ended().await, Ended { cut: 0 });
}

#[tokio::test]
async fn stopping_closes_idle_connections_and_waits_for_running_ones() {
    let mut server = Running::new(Server::new(endpoints())).await;
    let mut idle = server.connect().await;
    idle.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    assert_eq!(answer(&mut idle).await.1, 5);
    let mut running = server.connect().await;
    running.write_all(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    // Accepted, but its request comes only now.
    let mut fresh = server.connect().await;
    sleep(Duration::from_millis(50)).await;
    let began = Instant::now();
    server.stop();
    assert_eq!(rest(idle).await, "");
    fresh.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    assert!(rest(fresh).await.ends_with("hello"));
    let got = rest(running).await;
    assert!(got.ends_with("slow") && got.to_lowercase().contains("connection: close"), "{got}");
    assert_eq!(server.ended().await, Ended { cut: 0 });
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn the_grace_is_bounded_and_can_be_cut_short() {
    let limits = Limits { grace: Duration::from_millis(100), ..Limits::default() };
    for (limits, abandoned) in [(limits, false), (Limits::default(), true)] {
        let mut server = Running::new(Server::new(endpoints()).limits(limits)).await;
        let mut stream = server.connect().await;
        stream.write_all(b"GET /never HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        sleep(Duration::from_millis(50)).await;
        server.stop();
        if abandoned {
            sleep(Duration::from_millis(50)).await;
            server.abandon.notify_one();
        }
        assert_eq!(server.ended().await, Ended { cut: 1 });
        assert!(!rest(stream).await.contains("200"));
    }
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_and_idle_ones_make_room() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let mut idle = server.connect().await;
    idle.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    assert_eq!(answer(&mut idle).await.1, 5);
    let mut busy = server.connect().await;
    busy.write_all(one("/slow").as_bytes()).await.expect("sent");
    // Two are open; the third gets the place of the idle one.
    assert!(exchange(server.connect().await, &one("/")).await.ends_with("hello"));
    assert_eq!(rest(idle).await, "");
    assert!(rest(busy).await.ends_with("slow"));
}

#[tokio::test]
async fn a_request_beyond_the_rate_gets_the_time_of_a_retry() {
    let limits = Limits { rate: Some(2), ..Limits::default() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let mut codes = Vec::new();
    let mut last = String::new();
    for _ in 0..10 {
        last = exchange(server.connect().await, &one("/")).await;
        codes.push(last[9..12].to_owned());
    }
    assert_eq!(codes[..2], ["200", "200"]);
    assert!(codes.iter().filter(|code| *code == "429").count() >= 5, "{codes:?}");
    assert!(last.contains("\r\nRetry-After: 1\r\n") && last.contains(r#""reason":"TooManyRequests""#), "{last}");
    // Health endpoints have no rate limit.
    assert!(exchange(server.connect().await, &one("/healthz")).await.ends_with("ok"));
}

#[tokio::test]
async fn heads_and_times_are_bounded() {
    let limits = Limits { request: Duration::from_millis(50), ..Limits::default() };
    let server = Running::new(Server::new(endpoints()).limits(limits)).await;
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n", "y".repeat(100_000));
    let got = exchange(server.connect().await, &long).await;
    assert!(got.starts_with("HTTP/1.1 431 "), "{got}");
    let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "X: y\r\n".repeat(200));
    let got = exchange(server.connect().await, &many).await;
    assert!(got.starts_with("HTTP/1.1 431 "), "{got}");
    let got = exchange(server.connect().await, &one("/never")).await;
    assert!(got.starts_with("HTTP/1.1 504 ") && got.contains(r#""reason":"Timeout""#), "{got}");
    assert_eq!(server.metric(r#"kubeshape_refused_requests_total{reason="timeout"}"#), Some(1.0));
}

#[tokio::test]
async fn a_panic_is_a_response() {
    let server = Running::new(Server::new(endpoints())).await;
    let got = exchange(server.connect().await, &one("/panic")).await;
    assert!(got.starts_with("HTTP/1.1 500 ") && got.contains(r#""reason":"InternalError""#), "{got}");
    assert!(!got.contains("on purpose"), "{got}");
    assert!(exchange(server.connect().await, &one("/")).await.ends_with("hello"));
}

#[tokio::test]
async fn without_a_token_only_health_is_reachable() {
    let authenticator = Authenticator::new(Tokens::parse("t,jane,1").expect("a token"));
    let server = Running::new(Server::new(endpoints()).authenticator(authenticator.clone())).await;
    let got = exchange(server.connect().await, &one("/")).await;
    assert!(got.starts_with("HTTP/1.1 401 Unauthorized\r\n"), "{got}");
    for header in ["Audit-Id: ", "Cache-Control: no-cache, private\r\n", "Content-Length: 129\r\n"] {
        assert!(got.contains(&format!("\r\n{header}")), "{header} {got}");
    }
    assert!(exchange(server.connect().await, &one("/healthz")).await.ends_with("ok"));
    let with = |token: &str| one("/").replace("\r\n\r\n", &format!("\r\nAuthorization: Bearer {token}\r\n\r\n"));
    assert!(exchange(server.connect().await, &with("t")).await.ends_with("hello"));
    authenticator.replace(Tokens::parse("u,jane,1").expect("a token"));
    assert!(exchange(server.connect().await, &with("t")).await.starts_with("HTTP/1.1 401 "));
    assert!(exchange(server.connect().await, &with("u")).await.ends_with("hello"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_socket_file_is_private_and_removed_at_the_end() {
    use std::os::unix::fs::PermissionsExt;
    use tokio::net::UnixStream;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    // A leftover of a process that is gone.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
    let listener = Listener::unix(&path).await.expect("a socket");
    assert_eq!(listener.path(), Some(path.as_path()));
    let mode = std::fs::metadata(&path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let tcp = Listener::tcp(([127, 0, 0, 1], 0).into()).await.expect("a port");
    let address = tcp.address().expect("an address");
    let mut server = Running::on(vec![listener, tcp], address, Server::new(endpoints()));
    let stream = UnixStream::connect(&path).await.expect("a connection");
    assert!(exchange(stream, &one("/")).await.ends_with("hello"));
    assert!(exchange(server.connect().await, &one("/")).await.ends_with("hello"));
    // Another process listens there.
    let taken = Listener::unix(&path).await.expect_err("taken");
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    server.stop();
    server.ended().await;
    assert!(!path.exists());
    std::fs::write(&path, "mine").expect("a file");
    let other = Listener::unix(&path).await.expect_err("a file");
    assert_eq!(other.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), "mine");
}

/// A certificate for `localhost` and its key.
fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

/// Returns a TLS connection by a client that trusts `certificate` and speaks `protocol`.
async fn tls(
    address: SocketAddr,
    certificate: &str,
    protocol: &[u8],
) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM")).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(address).await?;
    tokio_rustls::TlsConnector::from(Arc::new(config)).connect("localhost".try_into().expect("a name"), stream).await
}

/// A request over HTTP/2.
async fn http2(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> String {
    let io = TokioIo::new(stream);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.expect("HTTP/2");
    tokio::spawn(connection);
    let request = http::Request::get("http://x/version").body(Empty::<Bytes>::new()).expect("a request");
    let answer = sender.send_request(request).await.expect("an answer");
    String::from_utf8_lossy(&answer.into_body().collect().await.expect("a body").to_bytes()).into_owned()
}

#[tokio::test]
async fn both_versions_are_spoken_with_and_without_tls() {
    let plain = Running::new(Server::new(endpoints())).await;
    assert!(exchange(plain.connect().await, &one("/version")).await.ends_with("HTTP/1.1"));
    assert_eq!(http2(plain.connect().await).await, "HTTP/2.0");

    let (old, key) = certificate();
    let certificates = Tls::new(old.as_bytes(), key.as_bytes()).expect("a pair");
    let limits = Limits { handshake: Duration::from_millis(200), ..Limits::default() };
    let mut server = Running::new(Server::new(endpoints()).limits(limits).tls(certificates.clone())).await;
    let stream = tls(server.address, &old, b"http/1.1").await.expect("TLS");
    assert!(exchange(stream, &one("/version")).await.ends_with("HTTP/1.1"));
    let stream = tls(server.address, &old, b"h2").await.expect("TLS");
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    assert_eq!(http2(stream).await, "HTTP/2.0");
    let got = exchange(server.connect().await, &one("/")).await;
    assert!(got.starts_with("HTTP/1.0 400 "), "{got}");
    // A handshake has a time limit.
    assert_eq!(rest(server.connect().await).await, "");

    // A new certificate; a mismatched one changes nothing.
    let (new, new_key) = certificate();
    assert!(certificates.replace(new.as_bytes(), key.as_bytes()).is_err());
    assert!(tls(server.address, &old, b"h2").await.is_ok());
    certificates.replace(new.as_bytes(), new_key.as_bytes()).expect("a pair");
    assert!(tls(server.address, &old, b"h2").await.is_err());
    assert!(tls(server.address, &new, b"h2").await.is_ok());
    server.stop();
    assert_eq!(server.ended().await, Ended { cut: 0 });
}

#[tokio::test]
async fn streams_end_before_the_server_does() {
    let mut server = Running::new(Server::new(endpoints())).await;
    let io = TokioIo::new(server.connect().await);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.expect("HTTP/2");
    tokio::spawn(connection);
    let request = |path| http::Request::get(path).body(Empty::<Bytes>::new()).expect("a request");
    let (slow, large) = (sender.send_request(request("http://x/slow")), sender.send_request(request("http://x/large")));
    sleep(Duration::from_millis(50)).await;
    server.stop();
    let slow = slow.await.expect("an answer").into_body().collect().await.expect("a body").to_bytes();
    let large = large.await.expect("an answer").into_body().collect().await.expect("a body").to_bytes();
    assert_eq!((slow.len(), large.len()), (4, 16 << 20));
    assert_eq!(server.ended().await, Ended { cut: 0 });
}

#[test]
fn certificates_that_cannot_be_used_are_refused() {
    let ((one, key), (_, other)) = (certificate(), certificate());
    for (certificate, key, message) in [
        ("", key.as_str(), "there is none in the file"),
        (one.as_str(), "", "the key cannot be read"),
        (one.as_str(), other.as_str(), "cannot be used together"),
    ] {
        let error = Tls::new(certificate.as_bytes(), key.as_bytes()).map(|_| ()).expect_err("no pair").to_string();
        assert!(error.contains(message), "{error}");
    }
}
