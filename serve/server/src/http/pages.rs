//! A web application for browsers, below `/explorer/`. API servers have no such path.

use super::conditional::{Conditions, Outcome, Validators, evaluate};
use super::reply;
use super::request::RequestParts;
use crate::body::gzip_once;
use crate::rope::Rope;
use crate::snapshot::{Leaf, Snapshot};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use kubeshape_discovery::{Resource, Scope};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::sync::Arc;
use std::time::SystemTime;

/// The folder of the application.
const FOLDER: &str = "/explorer";
/// The file that says what the application shows.
const DATA: &str = "data/index.json";
/// The folder of [`DATA`] and of all that is computed.
const DATA_FOLDER: &str = "data/";
/// The file that lists the kinds of the server, in this folder.
const KINDS: &str = "kinds.json";
/// The folder of the files of kinds, in this folder.
const KINDS_FOLDER: &str = "kinds/";
/// Where the OpenAPI documents are, seen from this folder.
const OPENAPI: &str = "../../openapi/v3";

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
/// Browsers that read `/` are sent to `/explorer/`, which is the file `index.html`. `/explorer/data/index.json` leads
/// clients that may read OpenAPI documents to `/explorer/data/kinds.json`, which lists the kinds of the server. With
/// [`Views`], each of them has files with what the application shows of it first.
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
    views: Option<Arc<dyn Views>>,
}

/// Computes what the application shows of a kind.
pub trait Views: Debug + Send + Sync {
    /// Returns a view of a kind as JSON. `document` is the OpenAPI v3 document of its group version, and `name` the
    /// name of this input on the page. `None` if the document does not have the kind.
    fn view(&self, name: &str, document: &[u8], api_version: &str, kind: &str, view: View) -> Option<Vec<u8>>;
}

/// A view of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The tree of its fields.
    Tree,
    /// All about each field.
    Fields,
}

/// Something that is computed from what the server publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The list of kinds.
    Kinds,
    /// A view of a kind in the document at a path below `/openapi/v3/`.
    Kind { document: String, kind: String, view: View },
}

impl Shown {
    /// Returns what a path below the folder of the application means.
    pub(super) fn of(path: &str) -> Option<Shown> {
        let name = path.strip_prefix(DATA_FOLDER)?;
        if name == KINDS {
            return Some(Shown::Kinds);
        }
        // A kind can have any name with hyphens, so it is not a part of the name of the file.
        let (at, file) = name.strip_prefix(KINDS_FOLDER)?.rsplit_once('/')?;
        let view = match file {
            "kind.json" => View::Tree,
            "kind-fields.json" => View::Fields,
            _ => return None,
        };
        let (document, kind) = at.rsplit_once('/')?;
        Some(Shown::Kind { document: document.to_owned(), kind: kind.to_owned(), view })
    }
}

/// Returns the path of the document from which an answer is computed; other paths are returned as they are. A client
/// needs the permission to read that document.
pub(super) fn shown_path(path: &str) -> Cow<'_, str> {
    let shown = path.strip_prefix(FOLDER).and_then(|rest| Shown::of(rest.strip_prefix('/')?));
    match shown {
        None => Cow::Borrowed(path),
        Some(Shown::Kinds) => Cow::Borrowed("/openapi/v3"),
        Some(Shown::Kind { document, .. }) => Cow::Owned(format!("/openapi/v3/{document}")),
    }
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
        Pages { files: files.into_iter().filter_map(file).collect(), views: None }
    }

    /// Returns the application with the kinds of the server, whose views are computed when they are read.
    #[must_use]
    pub fn with_views(self, views: Arc<dyn Views>) -> Pages {
        Pages { views: Some(views), ..self }
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
        if !reads(parts) {
            let mut response = reply::text(parts, StatusCode::METHOD_NOT_ALLOWED, "405 method not allowed\n");
            response.headers_mut().insert(header::ALLOW, ALLOW);
            return response;
        }
        let mut response = match path {
            None => return redirect(parts, "explorer/"),
            Some(DATA) => {
                let has_kinds = is_known && has_openapi && self.views.is_some();
                let served = if has_kinds { format!(",\"served\":\"{KINDS}\"") } else { String::new() };
                let text = format!("{{\"kinds\":[],\"inputs\":[]{served}}}");
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
        protect(&mut response);
        response
    }

    /// Answers a request for something that is computed. The client may read the API.
    pub(super) fn show(&self, parts: &RequestParts<'_>, snapshot: &Snapshot, shown: &Shown) -> Response {
        let Some(content) = self.shown(snapshot, shown) else {
            return reply::page_not_found(parts);
        };
        let is_compressed = parts.gzip();
        let content = Bytes::from(content);
        let content = if is_compressed { gzip_once(&content) } else { content };
        let mut response = match reply::made(parts, StatusCode::OK, content) {
            Ok(response) => response,
            Err(response) => return response,
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, reply::JSON);
        headers.insert(header::CACHE_CONTROL, NO_STORE);
        headers.insert(header::VARY, reply::ACCEPT_ENCODING);
        if is_compressed {
            headers.insert(header::CONTENT_ENCODING, reply::GZIP);
        }
        protect(&mut response);
        response
    }

    fn shown(&self, snapshot: &Snapshot, shown: &Shown) -> Option<Vec<u8>> {
        let views = self.views.as_ref()?;
        match shown {
            Shown::Kinds => Some(kinds(snapshot).to_string().into_bytes()),
            Shown::Kind { document: path, kind, view } => {
                let Some(Leaf::Local(document)) = snapshot.v3.get(path.as_str()) else { return None };
                let api_version = path.strip_prefix("apis/").or_else(|| path.strip_prefix("api/"))?;
                views.view(path, &document.json().to_bytes(), api_version, kind, *view)
            }
        }
    }
}

/// Adds the headers of all pages.
fn protect(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    headers.insert(header::REFERRER_POLICY, NO_REFERRER);
}

/// Returns the kinds that discovery and OpenAPI v3 have, and the documents of these as inputs of the application.
fn kinds(snapshot: &Snapshot) -> Value {
    let mut kinds = BTreeMap::new();
    let mut inputs = Vec::new();
    let discovery = &snapshot.discovery;
    for group in discovery.core.iter().chain(discovery.groups.values()) {
        for version in &group.versions {
            let (name, version_name) = (&*group.name, &*version.version);
            let is_core = name.is_empty();
            let api_version = if is_core { version_name.to_owned() } else { format!("{name}/{version_name}") };
            let path = format!("{}/{api_version}", if is_core { "api" } else { "apis" });
            let Some(leaf) = snapshot.v3.get(path.as_str()) else { continue };
            inputs.push(json!({ "name": path, "file": format!("{OPENAPI}/{path}") }));
            let is_local = matches!(leaf, Leaf::Local(_));
            for resource in &version.resources {
                let Resource { response_kind, .. } = resource;
                let is_own = (response_kind.group.is_empty() && response_kind.version.is_empty())
                    || (&*response_kind.group, &*response_kind.version) == (name, version_name);
                if !is_own || response_kind.kind.is_empty() {
                    continue;
                }
                let kind = json!({
                    "apiVersion": api_version,
                    "group": name,
                    "version": version_name,
                    "kind": &*response_kind.kind,
                    "plural": &*resource.name,
                    "shortNames": resource.short_names.iter().map(|name| &**name).collect::<Vec<_>>(),
                    "scope": match resource.scope {
                        Scope::Namespaced => "Namespaced",
                        Scope::Cluster => "Cluster",
                    },
                    "served": true,
                    "storage": null,
                    "deprecated": false,
                    "isCustomResource": false,
                    "definition": "",
                    "input": path,
                    "line": null,
                    // The application reads documents of other servers itself.
                    "file": is_local.then(|| format!("{KINDS_FOLDER}{path}/{}/kind", response_kind.kind)),
                });
                kinds.entry((Arc::clone(&response_kind.kind), api_version.clone())).or_insert(kind);
            }
        }
    }
    json!({ "kinds": kinds.into_values().collect::<Vec<_>>(), "inputs": inputs })
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

/// Returns whether a request changes nothing.
pub(super) fn reads(parts: &RequestParts<'_>) -> bool {
    parts.gets() || parts.head()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_needs_the_permission_of_its_document() {
        for (path, document) in [
            ("/explorer/data/kinds.json", "/openapi/v3"),
            ("/explorer/data/kinds/api/v1/Pod/kind.json", "/openapi/v3/api/v1"),
            ("/explorer/data/kinds/apis/a.b/v1/A-fields/kind-fields.json", "/openapi/v3/apis/a.b/v1"),
            ("/explorer/data/kinds/kind.json", "/explorer/data/kinds/kind.json"),
            ("/explorer/data/kinds/apis/apps/v1/Deployment.json", "/explorer/data/kinds/apis/apps/v1/Deployment.json"),
            ("/explorer/app.js", "/explorer/app.js"),
            ("/explorerdata/kinds.json", "/explorerdata/kinds.json"),
        ] {
            assert_eq!(shown_path(path), document, "{path}");
        }
        let fields = Shown::of("data/kinds/apis/a.b/v1/A-fields/kind-fields.json");
        let (document, kind) = ("apis/a.b/v1".to_owned(), "A-fields".to_owned());
        assert_eq!(fields, Some(Shown::Kind { document, kind, view: View::Fields }));
    }
}
