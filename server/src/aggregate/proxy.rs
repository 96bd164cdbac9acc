//! A proxy for the v3 documents of a downstream server, which are never parsed (kube-aggregator
//! `pkg/controllers/openapiv3`).
//!
//! Only the query and the headers that select a representation are sent on, not the credentials. Methods other than HEAD
//! become GET. Only headers that describe the document or its caching come back.

use super::client::{Client, Failure, causes};
use crate::metrics::Metrics;
use crate::snapshot::Upstream;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::json;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};

/// Headers of a request that are sent on.
const REQUEST_HEADERS: [HeaderName; 9] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_UNMODIFIED_SINCE,
    header::IF_RANGE,
    header::RANGE,
    header::USER_AGENT,
];

/// Headers of a response that come back.
const RESPONSE_HEADERS: [HeaderName; 14] = [
    header::ACCEPT_RANGES,
    header::AGE,
    header::CACHE_CONTROL,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::CONTENT_RANGE,
    header::CONTENT_TYPE,
    header::DATE,
    header::ETAG,
    header::EXPIRES,
    header::LAST_MODIFIED,
    header::RETRY_AFTER,
    header::VARY,
    header::X_CONTENT_TYPE_OPTIONS,
];

/// A v3 document of a server.
pub(super) struct Proxied {
    pub(super) client: Arc<Client>,
    pub(super) metrics: Arc<Metrics>,
    /// `apis/GROUP/VERSION`
    pub(super) path: Arc<str>,
}

impl std::fmt::Debug for Proxied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:/openapi/v3/{}", self.client.options.name, self.path)
    }
}

impl Upstream for Proxied {
    fn forward(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send>> {
        let client = Arc::clone(&self.client);
        let metrics = Arc::clone(&self.metrics);
        let path = Arc::clone(&self.path);
        Box::pin(async move {
            let start = Instant::now();
            let (request, _) = request.into_parts();
            let answer = forward(&client, &path, &request).await;
            let result = match &answer {
                Ok(response) if response.status() == StatusCode::NOT_MODIFIED => "unchanged",
                Ok(response) if !response.status().is_server_error() => "success",
                Ok(_) | Err(_) => "failure",
            };
            metrics.downstream(&client.options.name, "document", result, start.elapsed());
            answer.unwrap_or_else(|failure| {
                tracing::warn!(server = &*client.options.name, %path, %failure, "a document cannot be handed on");
                refusal(&client.options.name, &path, &failure)
            })
        })
    }
}

async fn forward(client: &Arc<Client>, path: &str, request: &Parts) -> Result<Response, Failure> {
    let timeouts = client.options.timeouts;
    let end = Instant::now() + timeouts.total;
    let permit = Arc::clone(&client.permits).acquire_owned();
    let wait = end.min(Instant::now() + timeouts.headers);
    let Ok(Ok(permit)) = timeout_at(wait, permit).await else { return Err(Failure::Busy) };
    let target = match request.uri.query() {
        Some(query) => format!("/openapi/v3/{path}?{query}"),
        None => format!("/openapi/v3/{path}"),
    };
    let method = if request.method == Method::HEAD { Method::HEAD } else { Method::GET };
    let mut headers = HeaderMap::new();
    for name in REQUEST_HEADERS {
        for value in request.headers.get_all(&name) {
            headers.append(name.clone(), value.clone());
        }
    }
    let (mut parts, body) = client.send(method, &target, headers, end).await?.into_parts();
    // The server refused our token, not the client's, so the client cannot do anything about it.
    if matches!(parts.status, StatusCode::UNAUTHORIZED | StatusCode::PROXY_AUTHENTICATION_REQUIRED)
        || parts.status.is_informational()
    {
        return Err(Failure::Status { path: target, status: parts.status.as_u16() });
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = parts.status;
    let headers = response.headers_mut();
    if parts.status.is_redirection() && parts.status != StatusCode::NOT_MODIFIED {
        let location = parts.headers.get(header::LOCATION).and_then(|location| location.to_str().ok());
        let within = location.and_then(|location| client.redirect_target(location));
        let within = within.filter(|within| within.starts_with("/openapi/v3/"));
        let location = within.and_then(|within| HeaderValue::from_str(&within).ok());
        headers.insert(header::LOCATION, location.ok_or(Failure::ForeignRedirect(target))?);
    }
    for name in RESPONSE_HEADERS {
        if let header::Entry::Occupied(values) = parts.headers.entry(&name) {
            for value in values.remove_entry_mult().1 {
                headers.append(name.clone(), value);
            }
        }
    }
    let limit = client.options.limits.document;
    if HttpBody::size_hint(&body).lower() > limit {
        return Err(Failure::TooLarge { path: path.to_owned(), limit });
    }
    if HttpBody::is_end_stream(&body) {
        return Ok(response);
    }
    let mut body = BoundedBody {
        body,
        first: None,
        left: limit,
        idle: timeouts.idle,
        wait: None,
        end: Box::pin(sleep_until(end)),
        permit: Some(permit),
    };
    // The response begins with the first chunk. Until then, an error can still be sent instead.
    match body.frame().await {
        None => {}
        Some(Ok(frame)) => body.first = Some(frame),
        Some(Err(failure)) => return Err(failure),
    }
    *response.body_mut() = Body::new(body);
    Ok(response)
}

/// A body that is cut off when it is too large or too slow.
struct BoundedBody {
    body: Incoming,
    first: Option<Frame<Bytes>>,
    left: u64,
    idle: Duration,
    /// When the next chunk has to be there, while it is waited for.
    wait: Option<Pin<Box<Sleep>>>,
    end: Pin<Box<Sleep>>,
    permit: Option<OwnedSemaphorePermit>,
}

impl HttpBody for BoundedBody {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let this = &mut *self;
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        if this.end.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err(Failure::Timeout("end of the body"))));
        }
        let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) else {
            let wait = this.wait.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + this.idle)));
            ready!(wait.as_mut().poll(cx));
            return Poll::Ready(Some(Err(Failure::Timeout("body"))));
        };
        this.wait = None;
        Poll::Ready(match frame {
            None => {
                this.permit = None;
                None
            }
            Some(Err(error)) => Some(Err(Failure::Broken(causes(&error)))),
            Some(Ok(frame)) => {
                let size = frame.data_ref().map_or(0, Bytes::len) as u64;
                match this.left.checked_sub(size) {
                    Some(left) => {
                        this.left = left;
                        Some(Ok(frame))
                    }
                    None => Some(Err(Failure::TooLarge { path: "a document".to_owned(), limit: size + this.left })),
                }
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.body.size_hint();
        let first = self.first.as_ref().and_then(Frame::data_ref).map_or(0, Bytes::len) as u64;
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(first));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(first));
        }
        hint
    }
}

/// 502, 503 or 504 with a Status that names the server, but not its address.
fn refusal(server: &str, path: &str, failure: &Failure) -> Response {
    let (status, reason) = match failure {
        Failure::Busy => (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable"),
        failure if failure.is_timeout() => (StatusCode::GATEWAY_TIMEOUT, "Timeout"),
        _ => (StatusCode::BAD_GATEWAY, "ServiceUnavailable"),
    };
    let short = match failure {
        Failure::Connect(_) => "it cannot be reached".to_owned(),
        Failure::Broken(_) => "it broke the connection".to_owned(),
        Failure::ForeignRedirect(_) => "it redirects to elsewhere".to_owned(),
        Failure::Status { status, .. } => format!("it answers with status {status}"),
        failure => failure.to_string(),
    };
    let body = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": format!("the aggregated server {server} does not give {path}: {short}"),
        "reason": reason,
        "code": status.as_u16(),
    });
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}
