//! A proxy for the v3 documents of a downstream server, which are never parsed (kube-aggregator
//! `pkg/controllers/openapiv3`).
//!
//! Only the query and the headers that select a representation are forwarded, not the credentials. Methods other than
//! HEAD become GET. Only response headers that describe the document or its caching are kept.

use super::client::Client;
use super::failure::Failure;
use super::relay::{Relayed, Terms};
use crate::limit::Caller;
use crate::metrics::Metrics;
use crate::snapshot::Upstream;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, StatusCode};
use http_body::Body as HttpBody;
use serde_json::json;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::time::Instant;

/// Request headers that are forwarded.
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

/// Response headers that are kept.
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
                tracing::warn!(server = &*client.options.name, %path, %failure, "an OpenAPI v3 spec cannot be handed on");
                refusal(&client.options.name, &path, &failure)
            })
        })
    }
}

async fn forward(client: &Arc<Client>, path: &Arc<str>, request: &Parts) -> Result<Response, Failure> {
    let timeouts = client.options.timeouts;
    let end = Instant::now() + timeouts.total;
    let wait = end.min(Instant::now() + timeouts.headers);
    let permit = client.permits.acquire(request.extensions.get::<Caller>(), wait).await?;
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
    // The server refused our token, not the client's, so the client cannot fix it.
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
        let within = location.and_then(|location| client.options.address.within(location));
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
        return Err(Failure::TooLarge { path: path.to_string(), limit });
    }
    if HttpBody::is_end_stream(&body) {
        return Ok(response);
    }
    let limits = &client.options.limits;
    let terms = Terms {
        path: Arc::clone(path),
        size: limit,
        buffer: limits.buffer,
        idle: timeouts.idle,
        stall: timeouts.stall,
        slowest: limits.slowest,
        end,
    };
    let body = Relayed::new(body, terms, permit);
    // The response begins with the first chunk. Until then, an error can still be sent instead.
    body.begins().await?;
    *response.body_mut() = Body::new(body);
    Ok(response)
}

/// Returns 429, 502, 503 or 504 with a Status that names the server, but not its address.
fn refusal(server: &str, path: &str, failure: &Failure) -> Response {
    let (status, reason) = match failure {
        Failure::Busy => (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable"),
        Failure::ClientBusy => (StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
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
    if matches!(failure, Failure::Busy | Failure::ClientBusy) {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
