//! Single documents of a server.

use crate::document::{Document, Encoding};
use crate::error::{Error, Fault};
use crate::transport::{Request, Response, Transport, TransportError};
use futures_util::stream::{self, StreamExt as _};
use kubeshape_convert::v2;
use kubeshape_discovery::openapi::{Index, is_name};
use kubeshape_schema::Profile;
use kubeshape_yaml::percent;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const JSON: &str = "application/json";
const V3_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";

/// The maximum number of redirects for one document.
const REDIRECTS: usize = 3;
/// The maximum number of retries if the server sends `Retry-After`.
const RETRIES: usize = 5;
/// The longest wait that a server may request.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Objects of one page of a list.
const PAGE: usize = 250;
/// Up to this number, objects are fetched one by one instead of as a list.
const FEW: usize = 20;
pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const EVENTS: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// The path of the list of OpenAPI v3 documents.
const INDEX: &str = "/openapi/v3";
const V2: &str = "/openapi/v2";

/// How much a client accepts from a server. Sizes are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The index of OpenAPI v3 documents.
    pub index: usize,
    /// One OpenAPI v3 document.
    pub document: usize,
    /// The OpenAPI v2 document.
    pub v2: usize,
    /// One discovery document.
    pub discovery: usize,
    /// One page of a list.
    pub page: usize,
    /// The maximum number of documents in an index, of group versions in discovery, and of objects in a list.
    pub group_versions: usize,
    /// All OpenAPI documents of one pull, all its discovery documents, and all pages of one list.
    pub total: usize,
    /// The maximum number of simultaneous requests.
    pub parallel: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            index: 16 << 20,
            document: 64 << 20,
            v2: 128 << 20,
            discovery: 64 << 20,
            page: 64 << 20,
            group_versions: 10_000,
            total: 1 << 30,
            parallel: 8,
        }
    }
}

/// The version of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// `widgets.example.com`
    pub name: String,
    /// Distinguishes objects with the same name.
    pub uid: String,
    /// Distinguishes versions of one object.
    pub resource_version: String,
}

/// A CustomResourceDefinition of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its version.
    pub version: Version,
    /// The object in JSON, as the server printed it, with kind and apiVersion.
    pub bytes: Vec<u8>,
    /// Whether it was known before.
    pub is_known: bool,
}

impl Definition {
    fn new(version: Version, object: &[u8], is_known: bool) -> Definition {
        // Objects of a list have neither.
        let has_kind = serde_json::from_slice::<Kinded>(object).is_ok_and(|object| !object.kind.is_empty());
        let bytes = match object.strip_prefix(b"{") {
            Some(rest) if !has_kind => {
                let mut bytes =
                    br#"{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","#.to_vec();
                bytes.extend_from_slice(rest);
                bytes
            }
            _ => object.to_vec(),
        };
        Definition { version, bytes, is_known }
    }
}

#[derive(Deserialize)]
struct Kinded {
    #[serde(default)]
    kind: String,
}

/// An object of a list.
#[derive(Deserialize)]
struct Listed<'a> {
    metadata: ListedMetadata,
    #[serde(borrow, default)]
    spec: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ListedMetadata {
    name: String,
    #[serde(default)]
    uid: String,
    #[serde(default, rename = "resourceVersion")]
    resource_version: String,
}

/// Returns the version of a definition, and whether the object has more than its metadata. The name becomes part of a
/// path, so it must not need escapes.
fn version_of(object: &[u8]) -> Result<(Version, bool), Fault> {
    let wrong = |what: String| Fault::Content(format!("an object of the list: {what}"));
    let Listed { metadata, spec } = serde_json::from_slice(object).map_err(|error| wrong(error.to_string()))?;
    let ListedMetadata { name, uid, resource_version } = metadata;
    if !is_name(&name) {
        return Err(wrong(format!("{name:?} is no name of a CustomResourceDefinition")));
    }
    Ok((Version { name, uid, resource_version }, spec.is_some()))
}

/// A document with its ETag, or the answer that it did not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Unchanged,
    New { tag: Option<String>, bytes: Vec<u8> },
}

/// Requests the documents of one server.
///
/// # Example
/// ```
/// use kubeshape_client::{Client, Limits, Request, Response, Transport, TransportError};
///
/// /// A server with an empty index.
/// struct Server;
/// impl Transport for Server {
///     async fn get(&self, request: Request<'_>) -> Result<Response, TransportError> {
///         let body = if request.path == "/openapi/v3" { br#"{"paths":{}}"#.to_vec() } else { Vec::new() };
///         Ok(Response { status: if body.is_empty() { 404 } else { 200 }, body, ..Response::default() })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let client = Client::new(Server, Limits::default());
/// assert!(client.index().await?.is_empty());
/// let error = client.v2().await.unwrap_err();
/// assert_eq!(error.to_string(), "/openapi/v2: the server answers with status 404");
/// # Ok::<(), kubeshape_client::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Client<T> {
    transport: T,
    limits: Limits,
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

/// The progress of a pull.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Documents that are complete.
    pub documents: usize,
    /// Documents of the index.
    pub total: usize,
    /// Downloaded documents among them.
    pub downloaded: usize,
    /// Size of the complete documents, in bytes.
    pub bytes: usize,
}

impl<T> std::fmt::Debug for Client<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// The message of a `Status`.
#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    message: String,
}

/// A page of a list.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(default)]
    metadata: PageMetadata,
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct PageMetadata {
    #[serde(default, rename = "continue")]
    next: String,
    #[serde(default, rename = "resourceVersion")]
    resource_version: String,
}

/// A change of the CustomResourceDefinitions of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    None,
    /// One of them changed. There may be more changes from this version of the list on.
    To(String),
    /// The server no longer knows the changes since that version of the list.
    Unknown,
}

/// An event of a watch.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    object: EventObject,
}

#[derive(Deserialize)]
struct EventObject {
    #[serde(default)]
    metadata: PageMetadata,
}

impl<T: Transport> Client<T> {
    /// Creates a client of the server that the transport connects to.
    pub fn new(transport: T, limits: Limits) -> Client<T> {
        Client { transport, limits, progress: None }
    }

    /// Returns the same client with a callback for the progress of a pull.
    #[must_use]
    pub fn with_progress(self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Client<T> {
        Client { progress: Some(Arc::new(progress)), ..self }
    }

    pub(crate) fn tell(&self, progress: Progress) {
        if let Some(tell) = &self.progress {
            tell(progress);
        }
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the list of OpenAPI v3 documents with their hashes: `/openapi/v3`.
    ///
    /// # Errors
    /// The server does not respond, refuses (404: it has only v2), sends no index, or one with too many documents.
    pub async fn index(&self) -> Result<Index, Error> {
        self.read_index(&self.body(INDEX, JSON, self.limits.index).await?)
    }

    /// Returns the same list, unless its ETag is still this one.
    pub(crate) async fn index_since(&self, tag: Option<&str>) -> Result<Answer, Error> {
        self.since(INDEX, JSON, tag, self.limits.index).await
    }

    /// Parses the list of OpenAPI v3 documents.
    pub(crate) fn read_index(&self, body: &[u8]) -> Result<Index, Error> {
        let content = |fault| Error { path: INDEX.to_owned(), fault: Fault::Content(fault) };
        let index = Index::read(body).map_err(|fault| content(format!("it is no index of documents: {fault}")))?;
        if index.len() > self.limits.group_versions {
            return Err(content(format!(
                "it lists {} documents; the limit is {}",
                index.len(),
                self.limits.group_versions
            )));
        }
        Ok(index)
    }

    /// Returns a document by its URL in the index. If the document has changed, the server redirects to the newest
    /// version, whose hash is in the result.
    ///
    /// # Errors
    /// The server does not respond, refuses (404: the group version no longer exists; 503: an aggregated server is not
    /// available), redirects to elsewhere, or sends something other than a JSON object.
    pub async fn document(&self, index: &Index, path: &str, encoding: Encoding) -> Result<Document, Error> {
        let mut index = index.only(path);
        let mut url = index.url(path).unwrap_or_else(|| format!("/openapi/v3/{path}"));
        let accept = match encoding {
            Encoding::Json => JSON,
            Encoding::Protobuf => V3_PROTOBUF,
        };
        let fail = |fault| Error { path: format!("/openapi/v3/{path}"), fault };
        for _ in 0..=REDIRECTS {
            let response = self.get(&url, accept, None, self.limits.document).await.map_err(fail)?;
            match response.status {
                200 => {
                    let bytes = response.body;
                    let is_object =
                        || serde_json::from_slice::<&RawValue>(&bytes).is_ok_and(|raw| raw.get().starts_with('{'));
                    if encoding == Encoding::Json && !is_object() {
                        return Err(fail(Fault::Content("it is no object in JSON".to_owned())));
                    }
                    return Ok(Document { path: path.to_owned(), hash: index.hash(path).map(str::to_owned), bytes });
                }
                301 | 302 | 303 | 307 | 308 => {
                    let location = response.location.unwrap_or_default();
                    if !index.redirect(path, &location) {
                        return Err(fail(Fault::Redirect(location)));
                    }
                    url = index.url(path).unwrap_or(url);
                }
                _ => return Err(fail(refusal(&response))),
            }
        }
        Err(fail(Fault::Redirects))
    }

    /// Returns the OpenAPI v2 document in JSON: `/openapi/v2`.
    ///
    /// # Errors
    /// The server does not respond or refuses.
    pub async fn v2(&self) -> Result<Vec<u8>, Error> {
        self.body(V2, JSON, self.limits.v2).await
    }

    /// Returns the same, unless its ETag is still this one.
    pub(crate) async fn v2_since(&self, tag: Option<&str>) -> Result<Answer, Error> {
        self.since(V2, JSON, tag, self.limits.v2).await
    }

    /// Returns the OpenAPI v3 documents of a server that has only OpenAPI v2, by conversion. Their hashes are those
    /// that a server would compute.
    ///
    /// # Errors
    /// See [`v2`](Client::v2), or the document cannot be converted.
    pub async fn converted(&self) -> Result<Vec<Document>, Error> {
        converted(&self.v2().await?)
    }

    /// Returns all CustomResourceDefinitions, as the server printed each, sorted by name. `known` returns earlier ones
    /// by their versions: unchanged ones are not downloaded again.
    ///
    /// # Errors
    /// The server does not respond, refuses (403: the user may not list them), sends no list, or one that is too large.
    pub async fn definitions(&self, known: impl Fn(&Version) -> Option<Vec<u8>>) -> Result<Vec<Definition>, Error> {
        let fail = |fault| Error { path: DEFINITIONS.to_owned(), fault };
        let listed = self.list(DEFINITIONS, METADATA).await?;
        let mut all = Vec::with_capacity(listed.len());
        for object in listed {
            let (version, is_whole) = version_of(&object).map_err(fail)?;
            // A server without support for partial metadata sends whole objects.
            let object = if is_whole { Some((object, false)) } else { known(&version).map(|object| (object, true)) };
            all.push((version, object));
        }
        let missing = all.iter().filter(|(_, object)| object.is_none()).count();
        if missing > FEW {
            let mut whole = BTreeMap::new();
            for object in self.list(DEFINITIONS, JSON).await? {
                let (version, _) = version_of(&object).map_err(fail)?;
                whole.insert(version.name.clone(), (version, object));
            }
            // The newer list is used.
            return Ok(whole.into_values().map(|(version, object)| Definition::new(version, &object, false)).collect());
        }
        let one = |(version, object): (Version, Option<(Vec<u8>, bool)>)| async move {
            if let Some((object, is_known)) = object {
                return Ok(Some(Definition::new(version, &object, is_known)));
            }
            let path = format!("{DEFINITIONS}/{}", version.name);
            match self.body(&path, JSON, self.limits.page).await {
                Ok(object) => {
                    let (version, _) = version_of(&object).map_err(|fault| Error { path, fault })?;
                    Ok(Some(Definition::new(version, &object, false)))
                }
                // It was deleted in the meantime.
                Err(error) if error.fault.status() == Some(404) => Ok(None),
                Err(error) => Err(error),
            }
        };
        let results: Vec<_> = stream::iter(all).map(one).buffered(self.limits.parallel.max(1)).collect().await;
        let mut definitions: Vec<Definition> =
            results.into_iter().filter_map(Result::transpose).collect::<Result<_, _>>()?;
        definitions.sort_by(|a, b| a.version.name.cmp(&b.version.name));
        Ok(definitions)
    }

    /// Returns the version of the list of CustomResourceDefinitions, for [`change`](Client::change).
    ///
    /// # Errors
    /// The server does not respond, refuses (403: the user may not list them), or sends no list.
    pub async fn definitions_version(&self) -> Result<String, Error> {
        let fail = |fault| Error { path: DEFINITIONS.to_owned(), fault };
        let body = self.body(&format!("{DEFINITIONS}?limit=1"), METADATA, self.limits.page).await;
        let body = body.map_err(|error| fail(error.fault))?;
        let page: Page<'_> =
            serde_json::from_slice(&body).map_err(|error| fail(Fault::Content(format!("it is no list: {error}"))))?;
        Ok(page.metadata.resource_version)
    }

    /// Waits until a CustomResourceDefinition changes, at most for `most`. `version` is that of the known list.
    ///
    /// # Errors
    /// The transport cannot watch, or the server does not respond, refuses (403: the user may not watch them), or sends
    /// no event.
    pub async fn change(&self, version: &str, most: Duration) -> Result<Change, Error> {
        let fail = |fault| Error { path: DEFINITIONS.to_owned(), fault };
        // The server ends the watch slightly earlier, so that the connection can be reused.
        let seconds = most.saturating_sub(Duration::from_secs(1)).as_secs().max(1);
        let version = escaped(version);
        let path = format!("{DEFINITIONS}?watch=true&resourceVersion={version}&timeoutSeconds={seconds}");
        let request = Request { path: &path, accept: EVENTS, tag: None, limit: self.limits.page };
        let response = match self.transport.event(request, most).await {
            Ok(response) => response,
            Err(TransportError::Timeout(_)) => return Ok(Change::None),
            Err(error) => return Err(fail(error.into())),
        };
        match response.status {
            200 if response.body.trim_ascii().is_empty() => return Ok(Change::None),
            200 => {}
            410 => return Ok(Change::Unknown),
            _ => return Err(fail(refusal(&response))),
        }
        let event: Event = serde_json::from_slice(&response.body)
            .map_err(|error| fail(Fault::Content(format!("it is no event: {error}"))))?;
        // An error is a `Status`: the version is too old.
        let next = event.object.metadata.resource_version;
        Ok(if event.kind == "ERROR" || next.is_empty() { Change::Unknown } else { Change::To(next) })
    }

    /// Returns all objects of a list, as the server printed each, page by page. `path` has no query.
    ///
    /// # Errors
    /// The server does not respond, refuses, sends no list, or one that is too large.
    pub(crate) async fn list(&self, path: &str, accept: &'static str) -> Result<Vec<Vec<u8>>, Error> {
        let fail = |fault| Error { path: path.to_owned(), fault };
        let (mut objects, mut next, mut size) = (Vec::new(), String::new(), 0);
        loop {
            let token = if next.is_empty() { String::new() } else { format!("&continue={}", escaped(&next)) };
            let body = self.body(&format!("{path}?limit={PAGE}{token}"), accept, self.limits.page).await;
            let body = body.map_err(|error| fail(error.fault))?;
            size += body.len();
            if size > self.limits.total {
                return Err(fail(Fault::Content(format!("the list is larger than {} bytes", self.limits.total))));
            }
            let page: Page<'_> = serde_json::from_slice(&body)
                .map_err(|error| fail(Fault::Content(format!("it is no list: {error}"))))?;
            if page.items.is_empty() && !page.metadata.next.is_empty() {
                return Err(fail(Fault::Content("a page of the list is empty, and is not the last".to_owned())));
            }
            if objects.len() + page.items.len() > self.limits.group_versions {
                return Err(fail(Fault::Content(format!(
                    "the list has more than {} objects",
                    self.limits.group_versions
                ))));
            }
            objects.extend(page.items.iter().map(|object| object.get().as_bytes().to_vec()));
            if page.metadata.next.is_empty() {
                return Ok(objects);
            }
            next = page.metadata.next;
        }
    }

    /// Returns a document, unless its ETag is still this one.
    pub(crate) async fn since(
        &self,
        path: &str,
        accept: &'static str,
        tag: Option<&str>,
        limit: usize,
    ) -> Result<Answer, Error> {
        let fail = |fault| Error { path: path.to_owned(), fault };
        let response = self.get(path, accept, tag, limit).await.map_err(fail)?;
        match response.status {
            200 => Ok(Answer::New { tag: response.tag, bytes: response.body }),
            304 if tag.is_some() => Ok(Answer::Unchanged),
            _ => Err(fail(refusal(&response))),
        }
    }

    async fn body(&self, path: &str, accept: &'static str, limit: usize) -> Result<Vec<u8>, Error> {
        let fail = |fault| Error { path: path.to_owned(), fault };
        let response = self.get(path, accept, None, limit).await.map_err(fail)?;
        if response.status == 200 { Ok(response.body) } else { Err(fail(refusal(&response))) }
    }

    /// Sends a request. If the server is busy and sends `Retry-After`, the request is repeated, as in client-go
    /// (`rest/with_retry.go`).
    async fn get(&self, path: &str, accept: &'static str, tag: Option<&str>, limit: usize) -> Result<Response, Fault> {
        let mut retries = 0;
        loop {
            let response = self.transport.get(Request { path, accept, tag, limit }).await?;
            let is_busy = response.status == 429 || response.status >= 500;
            match response.retry_after.filter(|_| is_busy && retries < RETRIES) {
                Some(wait) => tokio::time::sleep(wait.min(LONGEST_WAIT)).await,
                None => return Ok(response),
            }
            retries += 1;
        }
    }
}

/// Converts an OpenAPI v2 document to OpenAPI v3 documents: quantities and int-or-strings get both of their types
/// again, which kube-aggregator's conversion leaves as strings.
pub(crate) fn converted(body: &[u8]) -> Result<Vec<Document>, Error> {
    let documents = v2::body::to_v3(body, Profile::Faithful, |path| path != kubeshape_convert::graph::split::REST);
    let documents = documents.map_err(|fault| Error { path: V2.to_owned(), fault: Fault::Content(fault) })?;
    let hashed = |(path, bytes): (String, Vec<u8>)| Document {
        path,
        hash: Some(crate::cache::Digest::of(&bytes).to_string()),
        bytes,
    };
    Ok(documents.into_iter().map(hashed).collect())
}

fn refusal(response: &Response) -> Fault {
    let message = match serde_json::from_slice::<Status>(&response.body) {
        Ok(status) => status.message,
        // Proxies respond with plain text or a web page.
        Err(_) => String::from_utf8_lossy(&response.body).lines().next().unwrap_or_default().to_owned(),
    };
    let mut message = message.trim().to_owned();
    if let Some((end, _)) = message.char_indices().nth(300) {
        message.truncate(end);
        message.push('…');
    }
    Fault::Status { status: response.status, message }
}

/// Percent-encodes a value of a query.
fn escaped(text: &str) -> Cow<'_, str> {
    percent::encode(text, percent::COMPONENT)
}
