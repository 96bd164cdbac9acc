//! A server in memory.

use kubeshape_client::cache::Digest;
use kubeshape_client::{Request, Response, Transport, TransportError};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// A server whose answers a test sets, and that keeps what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Server {
    answers: Mutex<BTreeMap<String, Vec<Response>>>,
    asked: Mutex<Vec<String>>,
}

impl Server {
    /// Sets the answer of a path. Several answers of one path are given one after the other, and the last one stays.
    pub(crate) fn answer(&self, path: &str, response: Response) -> &Server {
        self.answers.lock().expect("no panic").entry(path.to_owned()).or_default().push(response);
        self
    }

    pub(crate) fn forget(&self, path: &str) -> &Server {
        self.answers.lock().expect("no panic").remove(path);
        self
    }

    pub(crate) fn ok(&self, path: &str, body: &str) -> &Server {
        self.answer(path, ok(body))
    }

    /// Publishes OpenAPI v3 documents by path, with an index.
    pub(crate) fn documents(&self, documents: &[(&str, &str)]) -> &Server {
        let place = |(path, body): &(&str, &str)| {
            let url = format!("/openapi/v3/{path}?hash={}", Digest::of(body.as_bytes()));
            self.forget(&url).ok(&url, body);
            format!("\"{path}\":{{\"serverRelativeURL\":\"{url}\"}}")
        };
        let paths: Vec<String> = documents.iter().map(place).collect();
        let index = format!("{{\"paths\":{{{}}}}}", paths.join(","));
        let tag = format!("\"{}\"", Digest::of(index.as_bytes()));
        self.forget("/openapi/v3").answer("/openapi/v3", tagged(&tag, &index))
    }

    /// What was asked since the last call.
    pub(crate) fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.asked.lock().expect("no panic"));
        asked.sort();
        asked
    }
}

pub(crate) fn ok(body: &str) -> Response {
    Response { status: 200, body: body.into(), ..Response::default() }
}

pub(crate) fn tagged(tag: &str, body: &str) -> Response {
    Response { tag: Some(tag.to_owned()), ..ok(body) }
}

pub(crate) fn status(status: u16) -> Response {
    Response { status, ..Response::default() }
}

impl Transport for Server {
    async fn event(&self, request: Request<'_>, _: Duration) -> Result<Response, TransportError> {
        // An answer of its own per event.
        self.get(request).await
    }

    async fn get(&self, request: Request<'_>) -> Result<Response, TransportError> {
        let mut response = {
            let mut answers = self.answers.lock().expect("no panic");
            let mut asked = self.asked.lock().expect("no panic");
            let queue = answers.get_mut(request.path);
            let response = match queue {
                Some(queue) if queue.len() > 1 => queue.remove(0),
                Some(queue) => queue[0].clone(),
                None => status(404),
            };
            let is_known = response.status == 200 && request.tag.is_some() && request.tag == response.tag.as_deref();
            let response = if is_known { status(304) } else { response };
            asked.push(format!("{} {}", response.status, request.path));
            response
        };
        // Others get their turn.
        tokio::task::yield_now().await;
        if response.status == 0 {
            return Err(TransportError::Timeout(Duration::from_mins(1)));
        }
        if response.body.len() > request.limit {
            return Err(TransportError::TooLarge(request.limit));
        }
        response.body.shrink_to_fit();
        Ok(response)
    }
}
