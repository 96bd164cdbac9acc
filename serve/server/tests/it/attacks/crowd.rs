//! All connections are used by clients of every kind.

use super::raw::{PING, Raw, frame, request};
use super::{newcomer, until_open};
use crate::listener::{Running, endpoints};
use kubeshape_server::{Authenticator, Limits, Server, Tokens};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

const ROOM: u16 = 32;

async fn full(server: &Running) {
    until_open(server, f64::from(ROOM), Duration::from_secs(5)).await;
}

fn server() -> Server<axum::Router> {
    // No time limit expires during the test.
    Server::new(endpoints()).limits(Limits { connections: usize::from(ROOM), ..Limits::default() })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_client_gets_in_whichever_clients_use_the_connections() {
    for kind in ["silent", "idle", "idle http2", "not reading", "busy"] {
        let server = Running::new(server()).await;
        let mut held = Vec::new();
        for _ in 0..ROOM {
            if kind == "idle http2" {
                // It got one response, and never closes by itself: not even the PING of an orderly end is answered.
                let mut raw = Raw::new(server.address, 65_535).await;
                raw.send(&[request(1, "/", &[]), frame(PING, 0, 0, &[0; 8])].concat()).await;
                raw.answer(1).await.expect("an answer");
                held.push((raw.reader, raw.writer));
                continue;
            }
            let path = match kind {
                "silent" => "",
                "idle" => "/",
                "busy" => "/never",
                _ => "/large",
            };
            let mut stream = server.connect().await;
            if !path.is_empty() {
                let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
                stream.write_all(request.as_bytes()).await.expect("sent");
            }
            held.push(stream.into_split());
        }
        full(&server).await;
        for _ in 0..3 {
            newcomer(&server, Duration::from_secs(3)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_with_a_token_stays_longer() {
    let tokens = Authenticator::new(Tokens::parse("t,jane,1").expect("a token"));
    let server = Running::new(server().authenticator(tokens)).await;
    let connect = async |token: &str| {
        let mut stream = server.connect().await;
        let request = format!("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.expect("an answer");
        (stream, head)
    };
    let (mut trusted, head) = connect("t").await;
    assert_eq!(&head, b"HTTP/1.1 200");
    let mut strangers = Vec::new();
    for _ in 1..ROOM {
        // Later than the client with the token.
        sleep(Duration::from_millis(2)).await;
        let (stream, head) = connect("u").await;
        assert_eq!(&head, b"HTTP/1.1 401");
        strangers.push(stream);
    }
    full(&server).await;
    for _ in 0..10 {
        newcomer(&server, Duration::from_secs(3)).await;
        strangers.push(server.connect().await);
    }
    trusted
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\nConnection: close\r\n\r\n")
        .await
        .expect("sent");
    let mut got = Vec::new();
    timeout(Duration::from_secs(3), trusted.read_to_end(&mut got)).await.expect("in time").expect("an answer");
    assert!(String::from_utf8_lossy(&got).ends_with("hello"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_connection_makes_room_while_none_waits() {
    let server = Running::new(server()).await;
    let mut held = Vec::new();
    for _ in 0..ROOM {
        let mut stream = server.connect().await;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        held.push(stream);
    }
    full(&server).await;
    sleep(Duration::from_millis(400)).await;
    full(&server).await;
}
