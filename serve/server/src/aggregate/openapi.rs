//! Polling the OpenAPI documents of a server, as kube-aggregator does in `pkg/controllers/openapiv3` and
//! `pkg/controllers/openapi`.

use super::client::{DocumentRequest, DocumentResponse};
use super::converted;
use super::downstream::{Closed, Downstream, Polled};
use super::failure::Failure;
use super::groups::Wanted;
use super::proxy::Proxied;
use crate::document::Document;
use crate::remote::{RemoteDocument, RemoteState};
use crate::snapshot::Leaf;
use bytes::Bytes;
use http::StatusCode;
use kubeshape_convert::aggregate::merge::Overlay;
use kubeshape_discovery::openapi::Index;
use kubeshape_schema::Dialect;
use sha2::{Digest as _, Sha512};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// The interval for fetching the v2 document of a server with v3 documents if it has no ETag: it is large.
const UNTAGGED: Duration = Duration::from_mins(1);

/// Polls the OpenAPI documents of a server.
pub(super) struct OpenApiPoll {
    server: Arc<Downstream>,
    source: Source,
    index_tag: Option<Arc<str>>,
    v2_tag: Option<V2Tag>,
    v2_next: Instant,
}

/// The source of the v3 documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Unknown,
    /// The server publishes them.
    Server,
    /// They are converted, because the server publishes only v2.
    Converted,
}

/// Identifies a version of a v2 document.
#[derive(Clone, Debug, PartialEq, Eq)]
enum V2Tag {
    /// The ETag of the server.
    Server(Arc<str>),
    /// The hash of the body, for servers that send no ETag. It is never sent.
    Content(Vec<u8>),
}

/// What this server publishes of a v2 document.
struct V2Parts {
    documents: Vec<Arc<Converted>>,
    overlay: Arc<Overlay>,
}

struct Converted {
    path: Arc<str>,
    document: Arc<Document>,
}

impl OpenApiPoll {
    pub(super) fn new(server: Arc<Downstream>) -> OpenApiPoll {
        let v2_next = Instant::now();
        OpenApiPoll { server, source: Source::Unknown, index_tag: None, v2_tag: None, v2_next }
    }

    /// Polls once, and reports changes.
    ///
    /// # Errors
    /// The receiver of states is gone. The inner error is why the server did not respond.
    pub(super) async fn poll(&mut self) -> Result<Result<(), Failure>, Closed> {
        let start = Instant::now();
        let index = self.index().await;
        if !matches!(index, Err(Failure::Status { status: 404, .. })) {
            self.server.measure("index", start, &index);
        }
        match index {
            Ok(polled) => {
                if let Polled::New(index) = polled {
                    self.report_index(&index).await?;
                }
                self.poll_v2_of_v3_server().await?;
                Ok(Ok(()))
            }
            Err(Failure::Status { status: 404, .. }) => self.poll_v2_only_server().await,
            Err(failure) => Ok(Err(failure)),
        }
    }

    async fn index(&mut self) -> Result<Polled<Index>, Failure> {
        const PATH: &str = "/openapi/v3";
        let limits = self.server.client.options.limits;
        let tag = self.index_tag.as_deref().filter(|_| self.source == Source::Server);
        let is_conditional = tag.is_some();
        let request = DocumentRequest { path: PATH, accept: "application/json", tag, limit: limits.index };
        let DocumentResponse { status, tag, body } = self.server.client.get(request).await?;
        match status {
            StatusCode::OK => {
                let content = |fault| Failure::Content { path: PATH.to_owned(), fault };
                let index = Index::read(&body).map_err(content)?.of_groups();
                if index.len() > limits.group_versions {
                    return Err(content(format!("more than {} documents", limits.group_versions)));
                }
                self.index_tag = tag;
                Ok(Polled::New(index))
            }
            StatusCode::NOT_MODIFIED if is_conditional => Ok(Polled::Unchanged),
            status => Err(Failure::Status { path: PATH.to_owned(), status: status.as_u16() }),
        }
    }

    /// Reports the documents in the index of a server.
    async fn report_index(&mut self, index: &Index) -> Result<(), Closed> {
        if self.source != Source::Server {
            // The v2 document was used for something else before.
            self.source = Source::Server;
            self.v2_tag = None;
            self.v2_next = Instant::now();
        }
        let Downstream { client, metrics, .. } = &*self.server;
        let wanted = Wanted::of(&client.options);
        let mut documents = Vec::new();
        for (path, url) in index.urls().filter(|(path, _)| wanted.has_document(path)) {
            let path: Arc<str> = path.into();
            let proxied = Proxied { client: Arc::clone(client), metrics: Arc::clone(metrics), path: Arc::clone(&path) };
            documents.push(RemoteDocument { path, url: url.into(), leaf: Leaf::Remote(Arc::new(proxied)) });
        }
        self.server.report(|state| replace(state, documents)).await
    }

    /// Polls the v2 document of a server that publishes v3 documents. It is only merged into this server's v2 document,
    /// so an unreadable one is not a failure.
    async fn poll_v2_of_v3_server(&mut self) -> Result<(), Closed> {
        if Instant::now() < self.v2_next {
            return Ok(());
        }
        let polled = self.v2(false).await;
        let refresh = self.server.client.options.refresh;
        self.v2_next = Instant::now()
            + match (&polled, &self.v2_tag) {
                (Ok(_), Some(V2Tag::Server(_))) => refresh,
                _ => refresh.max(UNTAGGED),
            };
        match polled {
            Ok(Polled::Unchanged) => Ok(()),
            Ok(Polled::New(V2Parts { overlay, .. })) => {
                self.server.report(|state| replace_v2(state, Some(overlay))).await
            }
            Err(Failure::Status { status: 404, .. }) => self.server.report(|state| replace_v2(state, None)).await,
            Err(failure) => {
                let server = &*self.server.client.options.name;
                tracing::debug!(server, %failure, "the v2 document of an aggregated server cannot be read");
                Ok(())
            }
        }
    }

    /// Polls a server that publishes only v2. Known documents are kept until there are new ones.
    async fn poll_v2_only_server(&mut self) -> Result<Result<(), Failure>, Closed> {
        if self.source != Source::Converted {
            self.v2_tag = None;
        }
        match self.v2(true).await {
            Ok(polled) => {
                self.source = Source::Converted;
                self.index_tag = None;
                if let Polled::New(V2Parts { documents, overlay }) = polled {
                    let documents = documents.iter().map(|converted| converted.published()).collect();
                    self.server.report(|state| replace(state, documents) | replace_v2(state, Some(overlay))).await?;
                }
                Ok(Ok(()))
            }
            Err(failure) => Ok(Err(failure)),
        }
    }

    async fn v2(&mut self, convert: bool) -> Result<Polled<V2Parts>, Failure> {
        let start = Instant::now();
        let polled = self.fetch_v2(convert).await;
        self.server.measure("v2", start, &polled);
        polled
    }

    async fn fetch_v2(&mut self, convert: bool) -> Result<Polled<V2Parts>, Failure> {
        const PATH: &str = "/openapi/v2";
        let known = match &self.v2_tag {
            Some(V2Tag::Server(tag)) => Some(&**tag),
            Some(V2Tag::Content(_)) | None => None,
        };
        let limit = self.server.client.options.limits.v2;
        let request = DocumentRequest { path: PATH, accept: "application/json", tag: known, limit };
        let DocumentResponse { status, tag, body } = self.server.client.get(request).await?;
        match status {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if known.is_some() => return Ok(Polled::Unchanged),
            status => return Err(Failure::Status { path: PATH.to_owned(), status: status.as_u16() }),
        }
        let tag = tag.map_or_else(|| V2Tag::Content(Sha512::digest(&body).to_vec()), V2Tag::Server);
        if self.v2_tag.as_ref() == Some(&tag) {
            return Ok(Polled::Unchanged);
        }
        let (client, profiles) = (Arc::clone(&self.server.client), self.server.profiles);
        let made = tokio::task::spawn_blocking(move || {
            let wanted = Wanted::of(&client.options);
            let mut documents = Vec::new();
            if convert {
                let now = SystemTime::now();
                for (path, json) in converted::documents(&body, wanted, profiles.conversion)? {
                    let document = Document::new(Some(Dialect::V3), Bytes::from(json), now);
                    // Hash it here, so that no request waits for it.
                    document.hash();
                    documents.push(Arc::new(Converted { path: path.into(), document: Arc::new(document) }));
                }
            }
            let overlay = Arc::new(converted::overlay(&body, wanted, profiles.documents)?);
            Ok(V2Parts { documents, overlay })
        });
        let content = |fault| Failure::Content { path: PATH.to_owned(), fault };
        let made = made.await.map_err(|_| content("it cannot be converted".to_owned()))?.map_err(content)?;
        self.v2_tag = Some(tag);
        Ok(Polled::New(made))
    }
}

impl Converted {
    fn published(&self) -> RemoteDocument {
        let url = format!("/openapi/v3/{}?hash={}", self.path, self.document.hash());
        RemoteDocument { path: Arc::clone(&self.path), url: url.into(), leaf: Leaf::Local(Arc::clone(&self.document)) }
    }
}

/// Replaces the documents of a state, and keeps unchanged ones. Returns whether any changed.
fn replace(state: &mut RemoteState, mut documents: Vec<RemoteDocument>) -> bool {
    let kind = |leaf: &Leaf| matches!(leaf, Leaf::Local(_));
    let mut same = documents.len() == state.v3.len();
    let mut known = state.v3.iter().peekable();
    for document in &mut documents {
        // Both lists are sorted by path.
        while known.next_if(|known| known.path < document.path).is_some() {}
        match known.next_if(|known| known.path == document.path) {
            Some(known) if known.url == document.url && kind(&known.leaf) == kind(&document.leaf) => {
                *document = known.clone();
            }
            _ => same = false,
        }
    }
    state.v3 = documents;
    !same
}

fn replace_v2(state: &mut RemoteState, overlay: Option<Arc<Overlay>>) -> bool {
    let overlay = overlay.filter(|overlay| !overlay.paths.is_empty());
    let same = state.v2 == overlay;
    if !same {
        state.v2 = overlay;
    }
    !same
}
