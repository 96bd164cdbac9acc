//! Whatever a server responds: a pull ends within its limits and requests only plain paths of documents, discovery and
//! definitions. Its results can be read or are rejected, as groups and as one document of all.

use kubeshape_client::{
    Client, Encoding, Limits, Request, Response, Transport, TransportError, Wanted, aggregate, pull,
};
use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const LIMITS: Limits = Limits {
    index: 1 << 14,
    document: 1 << 14,
    v2: 1 << 14,
    discovery: 1 << 14,
    page: 1 << 14,
    group_versions: 16,
    total: 1 << 16,
    parallel: 3,
};
/// The index, discovery, v2 and two lists; three redirects per document, one request per group version and definition;
/// the index again.
const REQUESTS: usize = 4 + 1 + 2 * 17 + 16 * (4 + 2 + 1) + 1;

/// A server with the responses in the input: sections that begin with a line `@PATH STATUS TAG-OR-LOCATION`.
struct Server<'d> {
    answers: Vec<(&'d str, Response)>,
    asked: Mutex<Vec<String>>,
}

impl<'d> Server<'d> {
    fn new(text: &'d str) -> Server<'d> {
        let answers = text.split("\n@").filter_map(|section| {
            let (head, body) = section.split_once('\n').unwrap_or((section, ""));
            let mut words = head.trim_start_matches('@').split(' ');
            let (path, status) = (words.next()?, words.next().and_then(|status| status.parse().ok()).unwrap_or(200));
            let more = words.next().map(str::to_owned);
            Some((path, Response { status, tag: more.clone(), location: more, body: body.into(), ..Response::default() }))
        });
        Server { answers: answers.collect(), asked: Mutex::default() }
    }
}

impl Transport for Server<'_> {
    async fn get(&self, request: Request<'_>) -> Result<Response, TransportError> {
        let Request { path, limit, .. } = request;
        self.asked.lock().expect("no panic").push(path.to_owned());
        let place = path.split('?').next().unwrap_or_default();
        let exact = self.answers.iter().find(|(other, _)| *other == path);
        let found = exact.or_else(|| self.answers.iter().find(|(other, _)| *other == place));
        let response = found.map_or(Response { status: 404, ..Response::default() }, |(_, response)| response.clone());
        match response.status {
            0 => Err(TransportError::Broken("it broke".to_owned())),
            _ if response.body.len() > limit => Err(TransportError::TooLarge(limit)),
            _ => Ok(response),
        }
    }

    async fn event(&self, request: Request<'_>, _: Duration) -> Result<Response, TransportError> {
        self.get(request).await
    }
}

/// Returns the result of a future that waits for nothing external.
fn done<T>(future: impl Future<Output = T>) -> T {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    for _ in 0..100_000 {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
    }
    panic!("it does not end");
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let server = Server::new(&text);
    let client = Client::new(&server, LIMITS);
    let wanted = Wanted { definitions: true, v2: true, ..Wanted::default() };
    if let Ok(pulled) = done(pull(&client, &wanted, None)) {
        let size: usize = pulled.documents.iter().map(|fetched| fetched.document.bytes.len()).sum();
        assert!(pulled.is_converted || size <= LIMITS.total);
        assert!(pulled.definitions.len() <= LIMITS.group_versions);
        let names = pulled.documents.windows(2).all(|pair| pair[0].document.path < pair[1].document.path);
        assert!(names, "documents are in the order of their paths");
        let _ = pulled.groups();
        let _ = aggregate(pulled.documents.iter().map(|fetched| &fetched.document));
    }
    let asked = std::mem::take(&mut *server.asked.lock().expect("no panic"));
    assert!(asked.len() <= REQUESTS, "{} requests", asked.len());
    if let Ok(index) = done(client.index()) {
        for (path, _) in index.urls().take(2) {
            let _ = done(client.document(&index, path, Encoding::Protobuf)).map(|document| document.read(|_, _| ()));
        }
    }
    if let Ok(version) = done(client.definitions_version()) {
        let _ = done(client.change(&version, Duration::from_secs(1)));
    }
    for path in asked.iter().chain(&*server.asked.lock().expect("no panic")) {
        let place = path.split('?').next().unwrap_or_default();
        let is_below = ["/openapi/v3/", "/apis/", "/api/"].iter().any(|begin| place.starts_with(begin));
        assert!(is_below || ["/openapi/v3", "/openapi/v2", "/apis", "/api", "/version"].contains(&place), "{path}");
        assert!(path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#'), "{path}");
        assert!(place[1..].split('/').all(|name| !matches!(name, "" | "." | "..") && !name.contains('%')), "{path}");
    }
}
