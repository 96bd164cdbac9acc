//! Hosts, web pages, and who may read why a check fails, over real sockets.

use crate::common::{endpoints, snapshot};
use kubeshape_server::http::router;
use kubeshape_server::{AllowedHosts, Authenticator, Cors, Endpoints, Listener, Metrics, Server, Tokens};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const ORIGIN: &str = "https://editor.example.com:8443";

struct Served {
    address: SocketAddr,
    metrics: Arc<Metrics>,
}

impl Served {
    /// Starts a server with the token `t1`, for web pages of one host, and for one name in addition to loopback.
    async fn new() -> Served {
        let authenticator = Authenticator::new(Tokens::parse("t1").expect("tokens"));
        let endpoints = Endpoints { authenticator: Some(authenticator.clone()), ..endpoints(snapshot(0), true) };
        endpoints.readiness.set("files", Some("secret.yaml:1:2: found no mapping"));
        let metrics = Arc::clone(&endpoints.metrics);
        let server = Server::new(router(endpoints))
            .authenticator(authenticator)
            .metrics(Arc::clone(&metrics))
            .allowed_hosts(AllowedHosts::only(["shapes.example.com"]))
            .cors(Cors::new(&["//editor\\.example\\.com(:|$)", "^http://other$"]).expect("patterns"));
        let listener = Listener::tcp(([127, 0, 0, 1], 0).into()).await.expect("a port");
        let address = listener.address().expect("an address");
        tokio::spawn(server.run(vec![listener], std::future::pending(), std::future::pending()));
        Served { address, metrics }
    }

    /// Returns the response to a request with these lines, in lower case.
    async fn ask(&self, line: &str, headers: &[&str]) -> String {
        let mut stream = tokio::net::TcpStream::connect(self.address).await.expect("a connection");
        let lines: String = headers.iter().flat_map(|header| [*header, "\r\n"]).collect();
        let request = format!("{line} HTTP/1.1\r\nConnection: close\r\n{lines}\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("a response");
        String::from_utf8_lossy(&answer).to_lowercase()
    }
}

#[tokio::test]
async fn other_hosts_are_refused() {
    let served = Served::new().await;
    for (host, code) in [
        ("shapes.example.com:8001", "404"),
        ("localhost:8001", "404"),
        ("127.0.0.1", "404"),
        ("evil.example.org", "403"),
        ("evil.example.org:8001", "403"),
        ("127.0.0.1.example.org", "403"),
    ] {
        let answer = served.ask("GET /livez/nothing", &[&format!("Host: {host}")]).await;
        assert!(answer.starts_with(&format!("http/1.1 {code} ")), "{host}: {answer}");
        assert_eq!(answer.contains("--allowed-hosts"), code == "403");
        // The response contains no host of the request.
        assert!(!answer.contains(host), "{answer}");
    }
    // The request target is checked, too.
    let answer = served.ask("GET http://evil.example.org/livez", &["Host: localhost"]).await;
    assert!(answer.starts_with("http/1.1 403 "), "{answer}");
    let text = served.metrics.encode();
    assert!(text.contains("kubeshape_refused_requests_total{reason=\"host\"} 4"), "{text}");
}

#[tokio::test]
async fn pages_of_other_origins_write_nothing() {
    let served = Served::new().await;
    let token = "Authorization: Bearer t1";
    for (method, origin, code) in [
        ("POST", "https://evil.example.org", "403"),
        ("DELETE", "null", "403"),
        ("POST", ORIGIN, "404"),
        ("POST", "http://localhost:8001", "404"),
        ("GET", "https://evil.example.org", "404"),
    ] {
        let line = format!("{method} /nothing");
        let answer = served.ask(&line, &["Host: localhost:8001", &format!("Origin: {origin}"), token]).await;
        assert!(answer.starts_with(&format!("http/1.1 {code} ")), "{method} {origin}: {answer}");
    }
    let answer = served.ask("POST /nothing", &["Host: localhost:8001", token]).await;
    assert!(answer.starts_with("http/1.1 404 "), "{answer}");
}

#[cfg(unix)]
#[tokio::test]
async fn socket_files_have_no_hosts() -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("socket");
    let listener = Listener::unix(&path).await?;
    let server = Server::new(router(endpoints(snapshot(0), true))).allowed_hosts(AllowedHosts::only([""; 0]));
    tokio::spawn(server.run(vec![listener], std::future::pending(), std::future::pending()));
    let mut stream = tokio::net::UnixStream::connect(&path).await?;
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: any.example.org\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    Ok(())
}

#[tokio::test]
async fn web_pages_of_the_patterns_can_read() {
    let served = Served::new().await;
    let allow = |origin: &str| format!("access-control-allow-origin: {origin}\r\n");
    for origin in [ORIGIN, "http://other"] {
        let origin_line = format!("Origin: {origin}");
        // Browsers send no token with a preflight request.
        let preflight = served.ask("OPTIONS /apis", &["Host: localhost", &origin_line]).await;
        assert!(preflight.starts_with("http/1.1 204 "), "{preflight}");
        let refused = served.ask("GET /apis", &["Host: localhost", &origin_line]).await;
        assert!(refused.starts_with("http/1.1 401 "), "{refused}");
        let answer = served.ask("GET /apis", &["Host: localhost", &origin_line, "Authorization: Bearer t1"]).await;
        assert!(answer.starts_with("http/1.1 200 "), "{answer}");
        for answer in [preflight, refused, answer] {
            assert!(answer.contains(&allow(origin)), "{answer}");
            assert!(answer.contains("access-control-allow-methods: post, get, options, put, delete, patch\r\n"));
            assert!(answer.contains("authorization, x-requested-with, if-modified-since\r\n"), "{answer}");
            assert!(answer.contains("access-control-expose-headers: date\r\n"), "{answer}");
            assert!(answer.contains("access-control-allow-credentials: true\r\n"), "{answer}");
            assert!(answer.contains("vary: origin\r\n"), "{answer}");
            assert!(answer.contains("audit-id: "), "{answer}");
        }
    }
    for origin in ["https://editor.example.com.evil.org", "https://evil.org", "http://other.org", "null"] {
        let origin = format!("Origin: {origin}");
        let headers = ["Host: localhost", &*origin, "Authorization: Bearer t1"];
        let answer = served.ask("GET /apis", &headers).await;
        assert!(answer.starts_with("http/1.1 200 "), "{answer}");
        assert!(!answer.contains("access-control") && answer.contains("vary: origin\r\n"), "{answer}");
        let preflight = served.ask("OPTIONS /apis", &headers[..2]).await;
        assert!(preflight.starts_with("http/1.1 401 ") && !preflight.contains("access-control"), "{preflight}");
    }
}

#[tokio::test]
async fn reasons_of_checks_are_for_those_with_a_token() {
    let served = Served::new().await;
    for path in ["/readyz", "/readyz?verbose", "/readyz/files"] {
        let line = format!("GET {path}");
        for (token, detail) in [("", false), ("Authorization: Bearer t2", false), ("Authorization: Bearer t1", true)] {
            let mut headers = vec!["Host: localhost"];
            headers.extend((!token.is_empty()).then_some(token));
            let answer = served.ask(&line, &headers).await;
            assert!(answer.starts_with("http/1.1 500 "), "{answer}");
            assert_eq!(answer.contains("secret.yaml"), detail, "{path} {token}: {answer}");
            assert_eq!(answer.contains("reason withheld"), !detail, "{path} {token}: {answer}");
        }
    }
}
