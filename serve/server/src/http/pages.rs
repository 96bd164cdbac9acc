//! A web application for browsers, below `/explorer/`. API servers have no such path.

use super::conditional::{Conditions, Outcome, Validators, evaluate};
use super::reply;
use super::request::RequestParts;
use crate::rope::Rope;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::SystemTime;

/// The folder of the application.
const FOLDER: &str = "/explorer";
/// The file that says what the application shows.
const DATA: &str = "data/index.json";
/// Where the index of the OpenAPI documents is, seen from the application.
const OPENAPI: &str = "../openapi/v3";

/// What pages may do: load the files of the application, run its WebAssembly, and read this server.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const ALLOW: HeaderValue = HeaderValue::from_static("GET, HEAD");

/// The files of a web application.
///
/// Browsers that read `/` are sent to `/explorer/`, which is the file `index.html`. `/explorer/data/index.json` says
/// where the OpenAPI documents of the server are, to clients that may read them.
///
/// # Example
/// ```
/// use kubeshape_server::Pages;
/// let pages = Pages::new([("index.html", "text/html; charset=utf-8", &b"<!doctype html>"[..])]);
/// assert!(pages.has("index.html") && !pages.has("app.js"));
/// ```
#[derive(Debug, Default)]
pub struct Pages {
    files: BTreeMap<&'static str, File>,
}

#[derive(Debug)]
struct File {
    content_type: HeaderValue,
    etag: HeaderValue,
    content: Rope,
}

impl Pages {
    /// Creates an application of files: their paths, media types and bytes. Files with an invalid media type are left
    /// out.
    pub fn new(files: impl IntoIterator<Item = (&'static str, &'static str, &'static [u8])>) -> Pages {
        let file = |(path, content_type, bytes): (&'static str, &'static str, &'static [u8])| {
            let content_type = HeaderValue::from_str(content_type).ok()?;
            let mut etag = String::from("\"");
            for byte in Sha256::digest(bytes).iter().take(16) {
                let _ = write!(etag, "{byte:02x}");
            }
            etag.push('"');
            let etag = HeaderValue::from_str(&etag).ok()?;
            Some((path, File { content_type, etag, content: Rope::from(Bytes::from_static(bytes)) }))
        };
        Pages { files: files.into_iter().filter_map(file).collect() }
    }

    /// Returns whether there is a file.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Answers a request below the folder. `path` is relative to it; `None` is the folder itself, without a slash.
    /// `is_known` says whether the client may read the API, and `has_openapi` whether the server has OpenAPI v3
    /// documents.
    pub(super) fn answer(
        &self,
        parts: &RequestParts<'_>,
        path: Option<&str>,
        is_known: bool,
        has_openapi: bool,
    ) -> Response {
        if !parts.gets() && !parts.head() {
            let mut response = reply::text(parts, StatusCode::METHOD_NOT_ALLOWED, "405 method not allowed\n");
            response.headers_mut().insert(header::ALLOW, ALLOW);
            return response;
        }
        let mut response = match path {
            None => return redirect(parts, "explorer/"),
            Some(DATA) => {
                let openapi =
                    if is_known && has_openapi { format!(",\"openapi\":\"{OPENAPI}\"") } else { String::new() };
                let text = format!("{{\"kinds\":[],\"inputs\":[]{openapi}}}");
                let mut response = reply::sized(parts, StatusCode::OK, &Rope::from(Bytes::from(text)));
                response.headers_mut().insert(header::CONTENT_TYPE, reply::JSON);
                response.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
                response
            }
            Some(path) => {
                let Some(file) = self.files.get(if path.is_empty() { "index.html" } else { path }) else {
                    return reply::page_not_found(parts);
                };
                file.answer(parts)
            }
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
        headers.insert(header::REFERRER_POLICY, NO_REFERRER);
        response
    }
}

impl File {
    fn answer(&self, parts: &RequestParts<'_>) -> Response {
        let known = parts.headers.get(header::IF_NONE_MATCH).map_or(&b""[..], HeaderValue::as_bytes);
        let conditions = Conditions { reads: true, if_none_match: known, ..Conditions::default() };
        let now = Validators { etag: self.etag.as_bytes(), modified: SystemTime::UNIX_EPOCH };
        let mut response = if evaluate(&conditions, &now) == Outcome::NotModified {
            reply::not_modified()
        } else {
            let mut response = reply::sized(parts, StatusCode::OK, &self.content);
            response.headers_mut().insert(header::CONTENT_TYPE, self.content_type.clone());
            response
        };
        response.headers_mut().insert(header::ETAG, self.etag.clone());
        response
    }
}

/// Sends a client to another address, which is relative to that of the request.
pub(super) fn redirect(parts: &RequestParts<'_>, to: &'static str) -> Response {
    let mut response = reply::empty(parts, StatusCode::FOUND);
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(to));
    response.headers_mut().insert(header::VARY, reply::ACCEPT);
    response
}

/// Returns whether a request reads a page: its `Accept` names HTML, as those of browsers do. Clients of APIs name JSON,
/// or accept everything.
pub(super) fn is_page(method: &Method, headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut ranges = accepts.flat_map(|value| value.split(','));
    (method == Method::GET || method == Method::HEAD)
        && ranges.any(|range| {
            let (name, rest) = range.split_once(';').unwrap_or((range, ""));
            let is_refused = rest.split(';').any(|part| {
                let quality = part.trim().strip_prefix("q=").map(str::trim);
                quality.is_some_and(|quality| quality.parse::<f32>().is_ok_and(|quality| quality <= 0.0))
            });
            name.trim().eq_ignore_ascii_case("text/html") && !is_refused
        })
}

/// Returns whether a request needs no token: it reads a file of the application, which everybody has, or is sent there.
pub(crate) fn is_open(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    let is_below = path.strip_prefix(FOLDER).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_below || path == "/" && is_page(method, headers)
}
