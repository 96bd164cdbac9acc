//! Requests to a downstream server, with limits on time and size.

use super::connect::{ConnectError, Dialer, connector};
use super::failure::Failure;
use super::options::{Address, AggregateOptions};
use super::permits::Permits;
use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// The maximum number of redirects for one document.
const REDIRECTS: usize = 3;

/// An HTTP client of one server.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) options: AggregateOptions,
    /// For proxied requests.
    pub(super) permits: Permits,
    inner: legacy::Client<HttpsConnector<Dialer>, Empty<Bytes>>,
    authority: String,
    authorization: Option<HeaderValue>,
}

/// A request for a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct DocumentRequest<'a> {
    /// The path below the server's prefix.
    pub(super) path: &'a str,
    pub(super) accept: &'static str,
    /// The ETag of the last response.
    pub(super) tag: Option<&'a str>,
    /// The maximum size of the body, in bytes.
    pub(super) limit: usize,
}

/// The response. It has a body only if the status is 200.
#[derive(Debug)]
pub(super) struct DocumentResponse {
    pub(super) status: StatusCode,
    pub(super) tag: Option<Arc<str>>,
    pub(super) body: Vec<u8>,
}

impl Client {
    pub(super) fn new(options: AggregateOptions) -> Result<Client, ConnectError> {
        let connector = connector(&options)?;
        let inner = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(30))
            .pool_max_idle_per_host(8)
            .http1_max_buf_size(128 << 10)
            .build(connector);
        let authorization = options.token.as_ref().and_then(|token| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.secret())).ok()?;
            value.set_sensitive(true);
            Some(value)
        });
        let permits = Permits::new(options.limits.requests, options.limits.client_requests);
        Ok(Client { authority: options.address.authority(), inner, authorization, permits, options })
    }

    /// Sends a request with this server's own credentials and waits for the headers of the response, until `end` at the
    /// latest.
    ///
    /// # Errors
    /// The server cannot be reached, breaks the connection, or sends no headers in time.
    pub(super) async fn send(
        &self,
        method: Method,
        path_and_query: &str,
        headers: HeaderMap,
        end: Instant,
    ) -> Result<Response<Incoming>, Failure> {
        let Address { prefix, .. } = &self.options.address;
        let mut http_request = Request::new(Empty::new());
        *http_request.method_mut() = method;
        *http_request.uri_mut() = Uri::builder()
            .scheme(self.options.address.scheme())
            .authority(self.authority.as_str())
            .path_and_query(format!("{prefix}{path_and_query}"))
            .build()
            .map_err(|error| Failure::Connect(error.to_string()))?;
        *http_request.headers_mut() = headers;
        if let Some(authorization) = &self.authorization {
            http_request.headers_mut().insert(header::AUTHORIZATION, authorization.clone());
        }
        let end = end.min(Instant::now() + self.options.timeouts.headers);
        match timeout_at(end, self.inner.request(http_request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(failure_of(&error)),
            Err(_) => Err(Failure::Timeout("answer")),
        }
    }

    /// Fetches a document. Redirects are followed within the server.
    ///
    /// # Errors
    /// The server cannot be reached, is too slow, sends too much, or redirects to another server or too often.
    pub(super) async fn get(&self, request: DocumentRequest<'_>) -> Result<DocumentResponse, Failure> {
        let end = Instant::now() + self.options.timeouts.total;
        let mut target = request.path.to_owned();
        for _ in 0..=REDIRECTS {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(request.accept));
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
            headers.insert(header::USER_AGENT, HeaderValue::from_static("kubeshape"));
            if let Some(tag) = request.tag.and_then(|tag| HeaderValue::from_str(tag).ok()) {
                headers.insert(header::IF_NONE_MATCH, tag);
            }
            let response = self.send(Method::GET, &target, headers, end).await?;
            let status = response.status();
            if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
                let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
                let within = location.and_then(|location| self.options.address.within(location));
                target = within.ok_or_else(|| Failure::ForeignRedirect(request.path.to_owned()))?;
                continue;
            }
            return self.read(response, request, end).await;
        }
        Err(Failure::TooManyRedirects(request.path.to_owned()))
    }

    async fn read(
        &self,
        response: Response<Incoming>,
        request: DocumentRequest<'_>,
        end: Instant,
    ) -> Result<DocumentResponse, Failure> {
        let path = || request.path.to_owned();
        let too_large = || Failure::TooLarge { path: path(), limit: request.limit as u64 };
        let (parts, mut body) = response.into_parts();
        let tag = parts.headers.get(header::ETAG).and_then(|value| value.to_str().ok()).map(Arc::from);
        if parts.status != StatusCode::OK {
            return Ok(DocumentResponse { status: parts.status, tag, body: Vec::new() });
        }
        let mut decoder = match parts.headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes) {
            None | Some(b"" | b"identity") => Decoder::Plain(Bounded::new(request.limit)),
            Some(b"gzip" | b"x-gzip") => Decoder::Gzip(Box::new(MultiGzDecoder::new(Bounded::new(request.limit)))),
            Some(_) => return Err(Failure::Encoding(path())),
        };
        if hyper::body::Body::size_hint(&body).lower() > request.limit as u64 {
            return Err(too_large());
        }
        let mut seen = 0;
        loop {
            let idle = self.options.timeouts.idle;
            let frame = match timeout_at(end, timeout(idle, body.frame())).await {
                Ok(Ok(None)) => break,
                Ok(Ok(Some(Ok(frame)))) => frame,
                Ok(Ok(Some(Err(error)))) => return Err(Failure::Broken(causes(&error))),
                Ok(Err(_)) | Err(_) => return Err(Failure::Timeout("body")),
            };
            let Some(data) = frame.data_ref() else { continue };
            seen += data.len();
            if seen > request.limit {
                return Err(too_large());
            }
            decoder.write_all(data).map_err(|error| {
                if error.kind() == io::ErrorKind::StorageFull { too_large() } else { Failure::Gzip(path()) }
            })?;
        }
        let body = decoder.finish().map_err(|_| Failure::Gzip(path()))?;
        Ok(DocumentResponse { status: parts.status, tag, body })
    }
}

/// Decodes a body.
enum Decoder {
    Plain(Bounded),
    Gzip(Box<MultiGzDecoder<Bounded>>),
}

impl Decoder {
    fn write_all(&mut self, data: &[u8]) -> io::Result<()> {
        match self {
            Decoder::Plain(out) => out.write_all(data),
            Decoder::Gzip(decoder) => decoder.write_all(data),
        }
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Decoder::Plain(out) => Ok(out.bytes),
            Decoder::Gzip(decoder) => Ok(decoder.finish()?.bytes),
        }
    }
}

/// A buffer with a limit.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl Bounded {
    fn new(limit: usize) -> Bounded {
        Bounded { bytes: Vec::new(), limit }
    }
}

impl Write for Bounded {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.len() > self.limit - self.bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failure_of(error: &legacy::Error) -> Failure {
    let text = causes(error);
    let mut source = error.source();
    while let Some(inner) = source {
        if inner.downcast_ref::<io::Error>().is_some_and(|inner| inner.kind() == io::ErrorKind::TimedOut) {
            return Failure::Timeout("connection");
        }
        source = inner.source();
    }
    if error.is_connect() { Failure::Connect(text) } else { Failure::Broken(text) }
}

/// Formats an error with its causes, because errors of hyper say little by themselves.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unpacked_is_bounded() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&vec![b' '; 100_000]).expect("packs");
        let packed = packed.finish().expect("packs");
        let unpack = |limit, packed: &[u8]| {
            let mut decoder = Decoder::Gzip(Box::new(MultiGzDecoder::new(Bounded::new(limit))));
            decoder.write_all(packed)?;
            decoder.finish().map(|bytes| bytes.len())
        };
        assert_eq!(unpack(100_000, &packed).expect("fits"), 100_000);
        assert_eq!(unpack(99_999, &packed).expect_err("too large").kind(), io::ErrorKind::StorageFull);
        assert!(unpack(100_000, &packed[..packed.len() - 4]).is_err(), "an end that is missing is seen");
    }
}
