//! Responses, and their common headers.

use super::body::{self, Span};
use super::held::Content;
use super::request::RequestParts;
use super::resources;
use crate::rope::Rope;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(super) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
pub(super) const GZIP: HeaderValue = HeaderValue::from_static("gzip");
pub(super) const ACCEPT: HeaderValue = HeaderValue::from_static("Accept");
pub(super) const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("Accept-Encoding");
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// Bodies up to this length have a `Content-Length`. Go's `net/http` sends longer ones in chunks if the handler does
/// not set it.
const ANNOUNCED: usize = 2048;

fn response(code: StatusCode, body: axum::body::Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().reserve(10);
    response
}

/// Returns a response without a body, to a method whose responses have one.
pub(super) fn empty(parts: &RequestParts<'_>, code: StatusCode) -> Response {
    if parts.head() {
        return response(code, body::none());
    }
    let mut response = response(code, body::sized(&Rope::default()));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
    response
}

/// 304
pub(super) fn not_modified() -> Response {
    response(StatusCode::NOT_MODIFIED, body::none())
}

/// A response with a `Content-Length`.
pub(super) fn sized(parts: &RequestParts<'_>, code: StatusCode, content: &Rope) -> Response {
    let mut response = response(code, if parts.head() { body::none() } else { body::sized(content) });
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(content.len()));
    response
}

/// Returns parts of a content, with their `Content-Length`.
pub(super) fn spans(parts: &RequestParts<'_>, code: StatusCode, content: &Rope, spans: Vec<Span>) -> Response {
    let length: usize = spans.iter().map(Span::len).sum();
    let mut response = response(code, if parts.head() { body::none() } else { body::spans(content, spans) });
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    response
}

/// A response in chunks.
pub(super) fn chunked(parts: &RequestParts<'_>, code: StatusCode, content: &Rope) -> Response {
    response(code, if parts.head() { body::none() } else { body::chunked(content) })
}

/// Returns a response of a handler that does not set the length. With extensions, it is always set.
#[allow(clippy::needless_pass_by_value)]
pub(super) fn object(parts: &RequestParts<'_>, code: StatusCode, content: Rope) -> Response {
    if parts.extensions || content.len() <= ANNOUNCED {
        sized(parts, code, &content)
    } else {
        chunked(parts, code, &content)
    }
}

/// Returns the same for a content that is in memory only for this response.
pub(super) fn held(parts: &RequestParts<'_>, code: StatusCode, content: Content) -> Response {
    let length = content.len();
    let announced = parts.extensions || length <= ANNOUNCED;
    let mut response = response(code, if parts.head() { body::none() } else { content.body(announced) });
    if announced {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    response
}

/// Returns a response whose content is computed for this request and counted in the limit of responses.
///
/// # Errors
/// There is no room for it: returns the response that says so.
#[allow(clippy::result_large_err, reason = "both are responses")]
pub(super) fn made(parts: &RequestParts<'_>, code: StatusCode, content: Bytes) -> Result<Response, Response> {
    let content = Content::of(content, parts.caller.cloned(), parts.bodies);
    content.map(|content| held(parts, code, content)).map_err(|_| resources::no_room(parts))
}

/// Returns a string, like Go's `http.Error`.
pub(super) fn text(parts: &RequestParts<'_>, code: StatusCode, text: impl Into<Bytes>) -> Response {
    let mut response = match made(parts, code, text.into()) {
        Ok(response) => response,
        Err(response) => return response,
    };
    response.headers_mut().insert(header::CONTENT_TYPE, TEXT);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    response
}

/// Returns 404 for an unknown path.
pub(super) fn page_not_found(parts: &RequestParts<'_>) -> Response {
    text(parts, StatusCode::NOT_FOUND, Bytes::from_static(b"404 page not found\n"))
}
