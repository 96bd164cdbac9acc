//! Requests that are expensive for the server and cheap for the client.

use crate::common::{endpoints, snapshot};
use crate::listener::{Running, answer};
use kubeshape_objects::{Api, store::Store};
use kubeshape_registry::Registry;
use kubeshape_server::http::Http;
use kubeshape_server::{Endpoints, Limits, Objects, Server};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, sleep, timeout};

/// The properties with patterns.
const PATTERNS: usize = 400;
const BOMBS: &str = "/apis/example.com/v1/bombs";
/// The maximum time of other clients' writes. The attacks take minutes.
const BOUND: Duration = Duration::from_secs(3);

/// A definition whose objects are expensive: patterns to compile, and rules that compile patterns.
fn bombs() -> Value {
    let pattern = |n: usize| (format!("p{n}"), json!({"type": "string", "pattern": format!(r"^(\pL{{40}}|x{n})$")}));
    let patterns: serde_json::Map<String, Value> = (0..PATTERNS).map(pattern).collect();
    let text = json!({"type": "string"});
    let properties = json!({
        "patterns": {"type": "object", "properties": patterns},
        "rule": {
            "type": "object", "properties": {"a": {"type": "array", "items": text}, "b": text},
            "x-kubernetes-validations": [{"rule": "self.a.all(x, x.matches(self.b + x))"}],
        },
        "note": text,
        "url": {"type": "string", "x-kubernetes-validations": [{"rule": "url(self).getQuery().size() < 0"}]},
    });
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": properties}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "bombs.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster", "names": {"plural": "bombs", "kind": "Bomb"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    })
}

async fn served(limits: &Limits) -> Running {
    let mut registry = Registry::default();
    let text = bombs().to_string();
    registry.set_input("b", kubeshape_input::read("b.json", text.as_bytes(), kubeshape_input::Limits::default()));
    let objects = Arc::new(Objects::new(Api::new(registry), Store::default()));
    let endpoints = Endpoints { objects: Some(objects), ..endpoints(snapshot(0), false) };
    let router = axum::Router::new().fallback_service(Http::with_limits(endpoints, limits));
    Running::new(Server::new(router).limits(limits.clone())).await
}

/// Returns an object with these members.
fn bomb(name: &str, members: &Value) -> String {
    let mut object = json!({"apiVersion": "example.com/v1", "kind": "Bomb", "metadata": {"name": name}});
    let members = members.as_object().cloned().unwrap_or_default();
    object.as_object_mut().expect("an object").extend(members);
    object.to_string()
}

/// Returns objects whose validation takes minutes without limits.
fn expensive() -> [Value; 2] {
    let patterns: serde_json::Map<String, Value> = (0..PATTERNS).map(|n| (format!("p{n}"), "y".into())).collect();
    let items: Vec<String> = (0..2_000).map(|n| format!("x{n}")).collect();
    [json!({"patterns": patterns}), json!({"rule": {"a": items, "b": r"\pL{40}|"}})]
}

/// Sends an object from an address.
async fn post(server: &Running, from: &str, body: &str) -> TcpStream {
    let head = format!(
        "POST {BOMBS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    send(server, from, &format!("{head}{body}")).await
}

async fn send(server: &Running, from: &str, request: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    let from: SocketAddr = format!("{from}:0").parse().expect("an address");
    socket.bind(from).expect("an address of this machine");
    let mut stream = socket.connect(server.address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("sent");
    stream
}

/// Returns the time until a small object is created from an address.
async fn created(server: &Running, from: &str, name: &str) -> Duration {
    let began = Instant::now();
    let mut stream = post(server, from, &bomb(name, &Value::Null)).await;
    let (head, _) = timeout(BOUND * 10, answer(&mut stream)).await.expect("in time");
    assert!(head.starts_with("HTTP/1.1 201"), "{head}");
    began.elapsed()
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expensive_requests_delay_only_their_own_client() {
    for (attack, members) in expensive().iter().enumerate() {
        let server = served(&Limits { work: Duration::from_mins(10), ..Limits::default() }).await;
        let mut streams = Vec::new();
        for n in 0..20 {
            streams.push(post(&server, "127.0.0.2", &bomb(&format!("a{n}"), members)).await);
        }
        sleep(Duration::from_millis(200)).await;
        for n in 0..10 {
            let time = created(&server, "127.0.0.1", &format!("b{n}")).await;
            assert!(time < BOUND, "attack {attack}: {time:?}");
        }
        // The rest of the work ends when its client is gone.
        drop(streams);
        let time = created(&server, "127.0.0.2", "c").await;
        assert!(time < BOUND * 3, "attack {attack}: {time:?}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_as_yaml_delay_only_their_own_clients() {
    let server = served(&Limits::default()).await;
    for n in 0..16 {
        let body = bomb(&format!("large{n}"), &json!({"note": "a: b\n".repeat(200_000)}));
        let mut stream = post(&server, "127.0.0.1", &body).await;
        let (head, _) = timeout(BOUND * 10, answer(&mut stream)).await.expect("in time");
        assert!(head.starts_with("HTTP/1.1 201"), "{head}");
    }
    let request = format!("GET {BOMBS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept: application/yaml\r\n\r\n");
    // How long a list takes on this machine, which may be busy.
    let began = Instant::now();
    listed(&server, "127.0.0.1", &request).await;
    let (alone, server, request) = (began.elapsed(), Arc::new(server), Arc::new(request));
    for (attack, clients) in [&["127.0.0.2"][..], &["127.0.0.2", "127.0.0.3"]].into_iter().enumerate() {
        // Together they use all threads, and begin again when they lose one.
        let greedy: Vec<_> = (0..12)
            .map(|n| {
                let (from, server, request) = (clients[n % clients.len()], Arc::clone(&server), Arc::clone(&request));
                tokio::spawn(async move {
                    loop {
                        listed(&server, from, &request).await;
                    }
                })
            })
            .collect();
        sleep(Duration::from_millis(300)).await;
        for n in 0..10 {
            let time = created(&server, "127.0.0.1", &format!("b{attack}-{n}")).await;
            assert!(time < BOUND.max(alone), "attack {attack}: {time:?}; a list alone {alone:?}");
        }
        greedy.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Sends a request from an address, and reads until the server ends the connection.
async fn listed(server: &Running, from: &str, request: &str) {
    let mut stream = send(server, from, request).await;
    // It may be refused.
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_takes_too_long_is_answered_with_504() {
    let server = served(&Limits { work: Duration::from_millis(300), ..Limits::default() }).await;
    for members in expensive() {
        let began = Instant::now();
        let mut stream = post(&server, "127.0.0.1", &bomb("a", &members)).await;
        let (head, _) = timeout(BOUND * 10, answer(&mut stream)).await.expect("in time");
        assert!(head.starts_with("HTTP/1.1 504"), "{head}");
        assert!(began.elapsed() < BOUND * 3, "{:?}", began.elapsed());
    }
    // Nothing is stored, and the server answers as before.
    assert!(created(&server, "127.0.0.1", "a").await < BOUND);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_of_many_parameters_takes_little_time() {
    let server = served(&Limits::default()).await;
    let query: Vec<String> = (0..60_000).map(|n| format!("a{n}")).collect();
    let query = query.join("&");
    let began = Instant::now();
    let mut stream = post(&server, "127.0.0.1", &bomb("a", &json!({"url": format!("http://x/?{query}")}))).await;
    let (head, _) = timeout(BOUND * 10, answer(&mut stream)).await.expect("in time");
    assert!(head.starts_with("HTTP/1.1 422"), "{head}");
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
}
