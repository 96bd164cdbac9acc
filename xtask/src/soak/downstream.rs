//! An API server for aggregation that alternates: it responds, is silent, or is unreachable.

use super::Result;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// How long each state lasts.
const TURN: Duration = Duration::from_secs(5);
/// Size of its document in bytes.
const DOCUMENT: usize = 2 << 20;

/// Starts it. It ends with the process.
pub(super) fn start() -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    let began = Instant::now();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            match began.elapsed().as_secs() / TURN.as_secs() % 3 {
                0 => drop(thread::spawn(move || answer(stream))),
                1 => drop(thread::spawn(move || {
                    thread::sleep(TURN);
                    drop(stream);
                })),
                _ => drop(stream),
            }
        }
    });
    Ok(address)
}

/// Responds to the requests of a connection.
fn answer(mut stream: TcpStream) {
    let _ = stream.set_read_timeout(Some(TURN));
    let _ = stream.set_write_timeout(Some(TURN));
    let mut head = Vec::new();
    let mut byte = [0];
    while matches!(stream.read(&mut byte), Ok(1)) {
        head.push(byte[0]);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let text = String::from_utf8_lossy(&head).into_owned();
        head.clear();
        let path = text.split(' ').nth(1).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        let (code, body) = match path {
            "/openapi/v3" => (
                "200 OK",
                r#"{"paths":{"apis/down.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/down.example.com/v1?hash=1"}}}"#
                    .to_owned(),
            ),
            "/openapi/v3/apis/down.example.com/v1" => {
                let text = "x".repeat(DOCUMENT);
                ("200 OK", format!(r#"{{"openapi":"3.0.0","info":{{"title":"{text}","version":"1"}},"paths":{{}}}}"#))
            }
            "/apis/down.example.com/v1" => (
                "200 OK",
                r#"{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"down.example.com/v1","resources":[]}"#.to_owned(),
            ),
            _ => ("404 Not Found", String::new()),
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {code}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).is_err() {
            return;
        }
    }
}
