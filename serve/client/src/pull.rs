//! Pulls all documents of a cluster, each downloaded once.

use crate::cache::{Cache, Digest, Kept, Record};
use crate::client::{Answer, Client, DEFINITIONS, Definition, Progress, Version, converted};
use crate::discover::{List, groups};
use crate::document::{Document, Encoding};
use crate::error::{Error, Fault};
use crate::transport::Transport;
use futures_util::future::join4;
use futures_util::stream::{self, StreamExt as _};
use kubeshape_discovery::Group;
use kubeshape_discovery::openapi::Index;
use std::collections::{BTreeMap, BTreeSet};

/// What to pull.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Paths of documents (`apis/apps/v1`); empty for all.
    pub paths: Vec<String>,
    /// CustomResourceDefinitions.
    pub definitions: bool,
    /// The OpenAPI v2 document.
    pub v2: bool,
    /// Uses only the cache, and sends no requests.
    pub offline: bool,
    /// Does not read documents that are already in the cache: they have no bytes in the result. For filling a cache.
    pub unread: bool,
}

/// The cache of a pull, and the name of the cluster in it.
#[derive(Clone, Copy, Debug)]
pub struct Cached<'a> {
    /// The cache.
    pub cache: &'a Cache,
    /// Identifies the cluster: its address and its certificate authority.
    pub cluster: &'a str,
    /// The address of the server in the record, without credentials.
    pub server: &'a str,
}

/// A document and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The document.
    pub document: Document,
    /// Whether it was in the cache.
    pub is_cached: bool,
}

/// The OpenAPI v2 document of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApiV2 {
    /// The ETag of the document, as sent.
    pub tag: Option<String>,
    /// The document in JSON, as the server sent it.
    pub bytes: Vec<u8>,
    /// Whether it was in the cache.
    pub is_cached: bool,
}

/// The results of a pull. Requests that failed are in `failures`; everything else is complete.
#[derive(Clone, Debug, Default)]
pub struct Pulled {
    /// OpenAPI v3 documents, sorted by path.
    pub documents: Vec<Fetched>,
    /// Whether they were converted, because the server has only OpenAPI v2.
    pub is_converted: bool,
    /// Discovery documents as the server sent them, by path: `/apis`, `/api`, `/version`; for servers without
    /// aggregated discovery also `/apis/GROUP/VERSION`.
    pub discovery: BTreeMap<String, Vec<u8>>,
    /// CustomResourceDefinitions, sorted by name.
    pub definitions: Vec<Definition>,
    /// The OpenAPI v2 document, if it was wanted and the server has one.
    pub v2: Option<OpenApiV2>,
    /// The requests that failed.
    pub failures: Vec<Error>,
    /// Why nothing is stored in the cache.
    pub unkept: Option<String>,
}

impl Pulled {
    /// Returns the groups in the server's discovery, in its order.
    ///
    /// # Errors
    /// A document cannot be decoded.
    pub fn groups(&self) -> Result<Vec<Group>, Error> {
        groups(&self.discovery)
    }
}

/// Fetches the documents of a cluster. Cached ones are not downloaded again: an OpenAPI document if the index still has
/// its hash, discovery if the server says that it did not change. If everything is cached, all requests are sent at the
/// same time, so that they take one round trip.
///
/// # Errors
/// The server has neither an index of OpenAPI v3 documents nor OpenAPI v2; a wanted path does not exist; or all
/// documents together exceed [`Limits::total`](crate::Limits::total). Other failures are in [`Pulled::failures`].
///
/// # Example
/// See [`Client`] for a transport.
/// ```
/// # use kubeshape_client::{Client, Limits, Request, Response, Transport, TransportError, Wanted, pull};
/// # struct Server;
/// # impl Transport for Server {
/// #     async fn get(&self, request: Request<'_>) -> Result<Response, TransportError> {
/// #         let (status, body) = match request.path {
/// #             "/openapi/v3" => (200, r#"{"paths":{"apis/a.io/v1":{"serverRelativeURL":"/openapi/v3/apis/a.io/v1?hash=0"}}}"#),
/// #             "/openapi/v3/apis/a.io/v1?hash=0" => (200, r#"{"openapi":"3.0.0"}"#),
/// #             "/apis" => (200, r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[]}"#),
/// #             _ => (404, ""),
/// #         };
/// #         Ok(Response { status, body: body.into(), ..Response::default() })
/// #     }
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let client = Client::new(Server, Limits::default());
/// let pulled = pull(&client, &Wanted::default(), None).await?;
/// assert_eq!(pulled.documents[0].document.path, "apis/a.io/v1");
/// # Ok::<(), kubeshape_client::Error>(())
/// # }).unwrap();
/// ```
pub async fn pull<T: Transport>(
    client: &Client<T>,
    wanted: &Wanted,
    cached: Option<Cached<'_>>,
) -> Result<Pulled, Error> {
    let known = cached.and_then(|cached| cached.cache.record(cached.cluster)).unwrap_or_default();
    let mut job = Job {
        client,
        wanted,
        cached,
        known,
        new: Record::default(),
        listed: BTreeSet::new(),
        pulled: Pulled::default(),
    };
    if wanted.offline {
        job.offline()?;
        return Ok(job.pulled);
    }
    let definitions = async { if wanted.definitions { Some(job.definitions().await) } else { None } };
    let v2 = async { if wanted.v2 { Some(job.v2().await) } else { None } };
    let lists = client.lists(|path| job.kept(job.known.discovery.get(path)));
    let (index, lists, definitions, v2) = join4(job.index(), lists, definitions, v2).await;
    job.documents(index, v2).await?;
    job.take_lists(lists);
    match definitions {
        Some(Ok(definitions)) => job.take_definitions(definitions),
        Some(Err(error)) => {
            job.new.definitions.clone_from(&job.known.definitions);
            job.pulled.failures.push(error);
        }
        None => job.new.definitions.clone_from(&job.known.definitions),
    }
    job.keep();
    Ok(job.pulled)
}

/// The list of OpenAPI v3 documents.
struct Listed {
    index: Index,
    /// Its ETag and bytes, unless it is the one in the cache.
    body: Option<(Option<String>, Vec<u8>)>,
}

struct Job<'a, T> {
    client: &'a Client<T>,
    wanted: &'a Wanted,
    cached: Option<Cached<'a>>,
    /// The current record in the cache.
    known: Record,
    /// The new record.
    new: Record,
    /// The paths that the server lists.
    listed: BTreeSet<String>,
    pulled: Pulled,
}

impl<T: Transport> Job<'_, T> {
    /// Fetches the documents in an index. `v2` is the OpenAPI v2 document if it is wanted.
    async fn documents(
        &mut self,
        index: Result<Listed, Error>,
        v2: Option<Result<OpenApiV2, Error>>,
    ) -> Result<(), Error> {
        let index = match index {
            Ok(Listed { index, body }) => {
                self.take_index(body);
                index
            }
            Err(error) if error.fault.status() == Some(404) => {
                let v2 = match v2 {
                    Some(v2) => v2,
                    None => self.v2().await,
                };
                return self.converted(error, v2);
            }
            Err(error) => return Err(error),
        };
        match v2 {
            Some(Ok(v2)) => self.take_v2(v2),
            // A server may have none.
            Some(Err(error)) if error.fault.status() == Some(404) => {}
            Some(Err(error)) => {
                self.new.v2.clone_from(&self.known.v2);
                self.pulled.failures.push(error);
            }
            None => self.new.v2.clone_from(&self.known.v2),
        }
        self.listed = index.urls().map(|(path, _)| path.to_owned()).collect();
        let paths = self.paths(&self.listed)?;
        let (client, known, cached, unread) = (self.client, &self.known, self.cached, self.wanted.unread);
        let index = &index;
        let fetch = |path: String| async move {
            if let Some(found) = cached.and_then(|cached| in_cache(cached.cache, known, index, &path, unread)) {
                return (path, Ok((found, None)));
            }
            let fetched = client.document(index, &path, Encoding::Json).await;
            // Store it immediately, so that an interrupted pull continues where it was.
            let keep = |document: Document| {
                let kept = cached.map(|cached| cached.cache.put(&document.bytes).map_err(|error| error.to_string()));
                (Fetched { document, is_cached: false }, kept)
            };
            (path, fetched.map(keep))
        };
        let total = paths.len();
        let mut results = stream::iter(paths).map(fetch).buffered(client.limits().parallel.max(1));
        let mut progress = Progress { total, ..Progress::default() };
        let (mut all, mut again) = (Vec::new(), None);
        while let Some((path, result)) = results.next().await {
            progress.documents += 1;
            if let Ok((fetched, _)) = &result {
                progress.bytes += fetched.document.bytes.len();
                progress.downloaded += usize::from(!fetched.is_cached);
                if progress.bytes > client.limits().total {
                    let fault = format!("all documents are larger than {} bytes", client.limits().total);
                    return Err(Error { path: "/openapi/v3".to_owned(), fault: Fault::Content(fault) });
                }
            }
            client.tell(progress);
            // The group version may have been removed since the index was read. Then it is not a failure.
            if matches!(&result, Err(error) if error.fault.status() == Some(404)) {
                if again.is_none() {
                    again = client.index().await.ok();
                }
                if again.as_ref().is_some_and(|index: &Index| !index.has(&path)) {
                    continue;
                }
            }
            all.push((path, result));
        }
        drop(results);
        for (path, result) in all {
            match result {
                Ok((fetched, kept)) => self.take(path, fetched, kept),
                Err(error) => self.fail(&path, error),
            }
        }
        Ok(())
    }

    /// Requests the list of documents.
    async fn index(&self) -> Result<Listed, Error> {
        let kept = self.kept(self.known.index.as_ref());
        let answer = self.client.index_since(kept.as_ref().map(|(tag, _)| tag.as_str())).await?;
        let (bytes, body) = match answer {
            Answer::New { tag, bytes } => (bytes.clone(), Some((tag, bytes))),
            Answer::Unchanged => (kept.unwrap_or_default().1, None),
        };
        Ok(Listed { index: self.client.read_index(&bytes)?, body })
    }

    /// Records the list of documents. One without an ETag would never be reused.
    fn take_index(&mut self, body: Option<(Option<String>, Vec<u8>)>) {
        self.new.index = match body {
            None => self.known.index.clone(),
            Some((None, _)) => None,
            Some((tag, bytes)) => {
                let kept = self.put(&bytes);
                kept.and_then(|kept| self.noted(Some(kept), tag, None))
            }
        };
    }

    /// Converts the v2 document of a server that has no index.
    fn converted(&mut self, error: Error, v2: Result<OpenApiV2, Error>) -> Result<(), Error> {
        let v2 = match v2 {
            Ok(v2) => v2,
            // It has neither. The missing index is the more important error.
            Err(other) if other.fault.status() == Some(404) => return Err(error),
            Err(other) => return Err(other),
        };
        let documents = converted(&v2.bytes)?;
        self.listed = documents.iter().map(|document| document.path.clone()).collect();
        let paths = self.paths(&self.listed)?;
        (self.pulled.is_converted, self.new.converted) = (true, true);
        for document in documents.into_iter().filter(|document| paths.contains(&document.path)) {
            let kept = self.put(&document.bytes);
            self.take(document.path.clone(), Fetched { document, is_cached: v2.is_cached }, kept);
        }
        self.take_v2(v2);
        Ok(())
    }

    /// Requests the OpenAPI v2 document.
    async fn v2(&self) -> Result<OpenApiV2, Error> {
        let kept = self.kept(self.known.v2.as_ref());
        match self.client.v2_since(kept.as_ref().map(|(tag, _)| tag.as_str())).await? {
            Answer::New { tag, bytes } => Ok(OpenApiV2 { tag, bytes, is_cached: false }),
            Answer::Unchanged => {
                let (tag, bytes) = kept.unwrap_or_default();
                Ok(OpenApiV2 { tag: Some(tag), bytes, is_cached: true })
            }
        }
    }

    fn take_v2(&mut self, v2: OpenApiV2) {
        let kept = if v2.is_cached { None } else { self.put(&v2.bytes) };
        self.new.v2 = self.noted(kept, v2.tag.clone(), self.known.v2.clone());
        if self.wanted.v2 {
            self.pulled.v2 = Some(v2);
        }
    }

    /// Returns a cached document with its ETag.
    fn kept(&self, kept: Option<&Kept>) -> Option<(String, Vec<u8>)> {
        let kept = kept?;
        Some((kept.tag.clone()?, self.cached?.cache.get(kept.digest)?))
    }

    /// Returns the wanted ones of the existing paths.
    fn paths(&self, there: &BTreeSet<String>) -> Result<BTreeSet<String>, Error> {
        if self.wanted.paths.is_empty() {
            return Ok(there.clone());
        }
        let wanted: BTreeSet<String> = self.wanted.paths.iter().cloned().collect();
        if let Some(missing) = wanted.difference(there).next() {
            let fault = Fault::Content(format!("the server has no document {missing:?}"));
            return Err(Error { path: "/openapi/v3".to_owned(), fault });
        }
        Ok(wanted)
    }

    /// Adds a new document to the cache.
    fn put(&self, bytes: &[u8]) -> Option<Result<Digest, String>> {
        let cached = self.cached.filter(|_| self.pulled.unkept.is_none())?;
        Some(cached.cache.put(bytes).map_err(|error| error.to_string()))
    }

    fn take(&mut self, path: String, fetched: Fetched, kept: Option<Result<Digest, String>>) {
        let known = self.known.documents.get(&path).cloned();
        if let Some(kept) = self.noted(kept, fetched.document.hash.clone(), known) {
            self.new.documents.insert(path, kept);
        }
        self.pulled.documents.push(fetched);
    }

    /// Records a failure. Its entry in the cache is kept.
    fn fail(&mut self, path: &str, error: Error) {
        if let Some(kept) = self.known.documents.get(path) {
            self.new.documents.insert(path.to_owned(), kept.clone());
        }
        self.pulled.failures.push(error);
    }

    /// Requests the CustomResourceDefinitions.
    async fn definitions(&self) -> Result<Vec<Definition>, Error> {
        let known = |version: &Version| {
            let kept = self.known.definitions.get(&version.name)?;
            (kept.tag.as_deref() == Some(&tag_of(version))).then(|| self.cached?.cache.get(kept.digest)).flatten()
        };
        self.client.definitions(known).await
    }

    fn take_definitions(&mut self, definitions: Vec<Definition>) {
        for definition in &definitions {
            let (tag, name) = (tag_of(&definition.version), definition.version.name.clone());
            let kept = if definition.is_known { None } else { self.put(&definition.bytes) };
            let known = self.known.definitions.get(&name).cloned();
            if let Some(kept) = self.noted(kept, Some(tag), known) {
                self.new.definitions.insert(name, kept);
            }
        }
        self.pulled.definitions = definitions;
    }

    /// Adds the discovery documents.
    fn take_lists(&mut self, lists: Vec<(String, Result<List, Error>)>) {
        for (path, list) in lists {
            match list {
                Ok(list) => {
                    let kept = if list.is_known { None } else { self.put(&list.bytes) };
                    let known = self.known.discovery.get(&path).cloned();
                    if let Some(kept) = self.noted(kept, list.tag, known) {
                        self.new.discovery.insert(path.clone(), kept);
                    }
                    self.pulled.discovery.insert(path, list.bytes);
                }
                Err(error) => {
                    // Its entry in the cache is kept.
                    if let Some(kept) = self.known.discovery.get(&path) {
                        self.new.discovery.entry(path).or_insert_with(|| kept.clone());
                    }
                    self.pulled.failures.push(error);
                }
            }
        }
    }

    /// Returns the entry of the record for a document with this tag: it was already in the cache (no `kept`), or was
    /// added now. After a failure to add one, nothing more is added.
    fn noted(
        &mut self,
        kept: Option<Result<Digest, String>>,
        tag: Option<String>,
        known: Option<Kept>,
    ) -> Option<Kept> {
        match kept {
            None => known.filter(|kept| kept.tag == tag).or_else(|| {
                // Another cluster has stored it, under the digest in the server's tag.
                let digest = Digest::read(tag.as_deref()?)?;
                Some(Kept { tag, digest })
            }),
            Some(Ok(digest)) => Some(Kept { tag, digest }),
            Some(Err(error)) => {
                self.pulled.unkept.get_or_insert(error);
                None
            }
        }
    }

    /// Writes the record of the cluster if it changed.
    fn keep(&mut self) {
        let Some(cached) = self.cached.filter(|_| self.pulled.unkept.is_none()) else { return };
        if !self.wanted.paths.is_empty() {
            // Entries that were not requested stay.
            for (path, kept) in self.known.documents.iter().filter(|(path, _)| self.listed.contains(*path)) {
                self.new.documents.entry(path.clone()).or_insert_with(|| kept.clone());
            }
        }
        cached.server.clone_into(&mut self.new.server);
        if self.new == self.known {
            return;
        }
        if let Err(error) = cached.cache.set_record(cached.cluster, &self.new) {
            self.pulled.unkept = Some(error.to_string());
        }
    }

    /// Reads everything from the cache.
    fn offline(&mut self) -> Result<(), Error> {
        let missing = |path: &str| Error { path: path.to_owned(), fault: Fault::NotCached };
        let cache = self.cached.ok_or_else(|| missing("/openapi/v3"))?.cache;
        if self.known.documents.is_empty() {
            return Err(missing("/openapi/v3"));
        }
        if self.wanted.definitions {
            for (name, kept) in &self.known.definitions {
                match cache.get(kept.digest) {
                    Some(bytes) => {
                        let version = Version { name: name.clone(), ..Version::default() };
                        self.pulled.definitions.push(Definition { version, bytes, is_known: true });
                    }
                    None => self.pulled.failures.push(missing(&format!("{DEFINITIONS}/{name}"))),
                }
            }
            if self.known.definitions.is_empty() {
                self.pulled.failures.push(missing(DEFINITIONS));
            }
        }
        self.pulled.is_converted = self.known.converted;
        for path in self.paths(&self.known.documents.keys().cloned().collect())? {
            let kept = &self.known.documents[&path];
            match cache.get(kept.digest) {
                Some(bytes) => {
                    let document = Document { path, hash: kept.tag.clone(), bytes };
                    self.pulled.documents.push(Fetched { document, is_cached: true });
                }
                None => self.pulled.failures.push(missing(&format!("/openapi/v3/{path}"))),
            }
        }
        for (path, kept) in &self.known.discovery {
            match cache.get(kept.digest) {
                Some(bytes) => drop(self.pulled.discovery.insert(path.clone(), bytes)),
                None => self.pulled.failures.push(missing(path)),
            }
        }
        // A server may have none, and not every pull requests it.
        if let Some(kept) = self.known.v2.as_ref().filter(|_| self.wanted.v2) {
            match cache.get(kept.digest) {
                Some(bytes) => self.pulled.v2 = Some(OpenApiV2 { tag: kept.tag.clone(), bytes, is_cached: true }),
                None => self.pulled.failures.push(missing("/openapi/v2")),
            }
        }
        Ok(())
    }
}

/// Returns the cache's name for the version of an object.
fn tag_of(version: &Version) -> String {
    format!("{}/{}", version.uid, version.resource_version)
}

/// Returns a cached document in the version of the index: this cluster had it with that hash, or another one has it,
/// since servers name documents by their digest.
fn in_cache(cache: &Cache, known: &Record, index: &Index, path: &str, unread: bool) -> Option<Fetched> {
    let hash = index.hash(path)?;
    let kept = known.documents.get(path).filter(|kept| kept.tag.as_deref() == Some(hash));
    let digest = kept.map(|kept| kept.digest).or_else(|| Digest::read(hash))?;
    let bytes = if unread { cache.has(digest).then(Vec::new)? } else { cache.get(digest)? };
    Some(Fetched { document: Document { path: path.to_owned(), hash: Some(hash.to_owned()), bytes }, is_cached: true })
}
