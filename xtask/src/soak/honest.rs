//! Honest clients. Each of their requests must get a response.

use super::client::{HONEST, Request};
use super::report::Answered;
use super::{Result, Shared, lock};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a client waits between its requests.
const PAUSE: Duration = Duration::from_millis(100);

/// Reads as clients do, each time over a new connection.
pub(super) fn read(shared: &Shared, n: usize) {
    let mut round = n;
    while !shared.is_over() {
        round += 1;
        let path = match round % 6 {
            0 => "/openapi/v3".to_owned(),
            1 => format!("/openapi/v3/apis/g{}.example.com/v1", round % (shared.files / 4)),
            2 => "/apis".to_owned(),
            3 => "/openapi/v2".to_owned(),
            4 => "/version".to_owned(),
            _ => "/livez".to_owned(),
        };
        let request = Request { path: &path, token: "reader", ..Request::default() };
        let shown = if path.starts_with("/openapi/v3/") { "/openapi/v3/…" } else { &path };
        counted(shared, shown, (path == "/livez").then_some(&shared.lively), 200, &request);
        sleep(PAUSE);
    }
}

/// Creates an object, changes it and deletes it, repeatedly.
pub(super) fn write(shared: &Shared, n: usize) {
    let mut round = 0;
    while !shared.is_over() {
        round += 1;
        let all = "/api/v1/namespaces/default/configmaps";
        let (name, data) = (format!("honest-{n}-{round}"), "v".repeat(100));
        let one = format!("{all}/{name}");
        let body = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"}},"data":{{"key":"{data}"}}}}"#
        );
        let patch = r#"{"data":{"more":"text"}}"#;
        let merge = "application/merge-patch+json";
        let mine = Request { token: "writer", ..Request::default() };
        let create = Request { method: "POST", path: all, body: &body, ..mine };
        let change = Request { method: "PATCH", path: &one, body: patch, media: merge, ..mine };
        let delete = Request { method: "DELETE", path: &one, ..mine };
        for (request, code) in [(create, 201), (change, 200), (delete, 200)] {
            counted(shared, request.method, Some(&shared.writes), code, &request);
            sleep(PAUSE / 2);
        }
    }
}

/// Sends a request, and counts its response.
fn counted(shared: &Shared, shown: &str, also: Option<&Mutex<Vec<Answered>>>, expected: u16, request: &Request<'_>) {
    let began = Instant::now();
    let answer: Result<u16> = request.ask(HONEST, shared.address);
    let time = began.elapsed();
    let why = match answer {
        Ok(code) if code == expected => {
            let answered = Answered { time, at: shared.began.elapsed() };
            lock(&shared.answered).push(answered);
            if let Some(also) = also {
                lock(also).push(answered);
            }
            return;
        }
        Ok(code) => code.to_string(),
        Err(error) => error.to_string(),
    };
    lock(&shared.failures).push((shown.to_owned(), why, time));
}
