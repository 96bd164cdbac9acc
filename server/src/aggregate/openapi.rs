//! Which OpenAPI documents a server has (spec: publishing, §4.1 to §4.3).

use super::client::{Answer, Failure, Question};
use super::converted;
use super::groups::Wanted;
use super::index::Index;
use super::poll::{Deaf, Look, Shared};
use super::proxy::Proxied;
use crate::document::Document;
use crate::remote::{RemoteDocument, RemoteState};
use crate::snapshot::Leaf;
use bytes::Bytes;
use http::StatusCode;
use kubeshape_convert::v2::merge::Overlay;
use kubeshape_schema::Dialect;
use sha2::{Digest as _, Sha512};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// How often the v2 document of a server with v3 documents is looked at if it has no tag: it is large.
const UNTAGGED: Duration = Duration::from_secs(60);

/// Looks at the documents of a server.
pub(super) struct OpenApiPoll {
    shared: Arc<Shared>,
    source: Source,
    index_tag: Option<Arc<str>>,
    v2_tag: Option<V2Tag>,
    v2_next: Instant,
}

/// Where the v3 documents come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Unknown,
    /// The server has them.
    Server,
    /// It has v2 alone.
    Converted,
}

/// By what a v2 document is known to be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
enum V2Tag {
    /// The tag that the server gave.
    Server(Arc<str>),
    /// The hash of the body, of servers that give none; never sent.
    Content(Vec<u8>),
}

/// What is made of a v2 document.
struct FromV2 {
    documents: Vec<Arc<Converted>>,
    overlay: Arc<Overlay>,
}

struct Converted {
    path: Arc<str>,
    document: Arc<Document>,
}

impl OpenApiPoll {
    pub(super) fn new(shared: Arc<Shared>) -> OpenApiPoll {
        let v2_next = Instant::now();
        OpenApiPoll { shared, source: Source::Unknown, index_tag: None, v2_tag: None, v2_next }
    }

    /// Looks once, and tells what changed.
    pub(super) async fn look(&mut self) -> Result<Result<(), Failure>, Deaf> {
        let start = Instant::now();
        let index = self.index().await;
        if !matches!(index, Err(Failure::Status { status: 404, .. })) {
            self.shared.measure("index", start, &index);
        }
        match index {
            Ok(look) => {
                if let Look::New(index) = look {
                    self.tell_index(&index).await?;
                }
                self.side_v2().await?;
                Ok(Ok(()))
            }
            Err(Failure::Status { status: 404, .. }) => self.only_v2().await,
            Err(failure) => Ok(Err(failure)),
        }
    }

    async fn index(&mut self) -> Result<Look<Index>, Failure> {
        const PATH: &str = "/openapi/v3";
        let limits = self.shared.client.options.limits;
        let tag = self.index_tag.as_deref().filter(|_| self.source == Source::Server);
        let asked = tag.is_some();
        let question = Question { path: PATH, accept: "application/json", tag, limit: limits.index };
        let Answer { status, tag, body } = self.shared.client.get(question).await?;
        match status {
            StatusCode::OK => {
                let content = |fault| Failure::Content { path: PATH.to_owned(), fault };
                let index = Index::read(&body).map_err(content)?;
                if index.len() > limits.group_versions {
                    return Err(content(format!("more than {} documents", limits.group_versions)));
                }
                self.index_tag = tag;
                Ok(Look::New(index))
            }
            StatusCode::NOT_MODIFIED if asked => Ok(Look::Same),
            status => Err(Failure::Status { path: PATH.to_owned(), status: status.as_u16() }),
        }
    }

    /// The documents of a server that has an index.
    async fn tell_index(&mut self, index: &Index) -> Result<(), Deaf> {
        if self.source != Source::Server {
            // What v2 was good for before is not what it is good for now.
            self.source = Source::Server;
            self.v2_tag = None;
            self.v2_next = Instant::now();
        }
        let Shared { client, metrics, .. } = &*self.shared;
        let wanted = Wanted::of(&client.options);
        let mut documents = Vec::new();
        for (path, url) in index.urls().filter(|(path, _)| wanted.has_document(path)) {
            let path: Arc<str> = path.into();
            let proxied = Proxied { client: Arc::clone(client), metrics: Arc::clone(metrics), path: Arc::clone(&path) };
            documents.push(RemoteDocument { path, url: url.into(), leaf: Leaf::Remote(Arc::new(proxied)) });
        }
        self.shared.tell(|state| replace(state, documents)).await
    }

    /// The v2 document of a server with v3 documents. It is a part of this server's v2 document, nothing else: that
    /// it cannot be read is no failure.
    async fn side_v2(&mut self) -> Result<(), Deaf> {
        if Instant::now() < self.v2_next {
            return Ok(());
        }
        let look = self.v2(false).await;
        let refresh = self.shared.client.options.refresh;
        self.v2_next = Instant::now()
            + match (&look, &self.v2_tag) {
                (Ok(_), Some(V2Tag::Server(_))) => refresh,
                _ => refresh.max(UNTAGGED),
            };
        match look {
            Ok(Look::Same) => Ok(()),
            Ok(Look::New(FromV2 { overlay, .. })) => self.shared.tell(|state| replace_v2(state, Some(overlay))).await,
            Err(Failure::Status { status: 404, .. }) => self.shared.tell(|state| replace_v2(state, None)).await,
            Err(failure) => {
                let server = &*self.shared.client.options.name;
                tracing::debug!(server, %failure, "the v2 document of an aggregated server cannot be read");
                Ok(())
            }
        }
    }

    /// The documents of a server without an index. What is known of it stays until there are others.
    async fn only_v2(&mut self) -> Result<Result<(), Failure>, Deaf> {
        if self.source != Source::Converted {
            self.v2_tag = None;
        }
        match self.v2(true).await {
            Ok(look) => {
                self.source = Source::Converted;
                self.index_tag = None;
                if let Look::New(FromV2 { documents, overlay }) = look {
                    let documents = documents.iter().map(|converted| converted.published()).collect();
                    self.shared.tell(|state| replace(state, documents) | replace_v2(state, Some(overlay))).await?;
                }
                Ok(Ok(()))
            }
            Err(failure) => Ok(Err(failure)),
        }
    }

    async fn v2(&mut self, convert: bool) -> Result<Look<FromV2>, Failure> {
        let start = Instant::now();
        let look = self.ask_v2(convert).await;
        self.shared.measure("v2", start, &look);
        look
    }

    async fn ask_v2(&mut self, convert: bool) -> Result<Look<FromV2>, Failure> {
        const PATH: &str = "/openapi/v2";
        let known = match &self.v2_tag {
            Some(V2Tag::Server(tag)) => Some(&**tag),
            Some(V2Tag::Content(_)) | None => None,
        };
        let limit = self.shared.client.options.limits.v2;
        let question = Question { path: PATH, accept: "application/json", tag: known, limit };
        let Answer { status, tag, body } = self.shared.client.get(question).await?;
        match status {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if known.is_some() => return Ok(Look::Same),
            status => return Err(Failure::Status { path: PATH.to_owned(), status: status.as_u16() }),
        }
        let tag = tag.map_or_else(|| V2Tag::Content(Sha512::digest(&body).to_vec()), V2Tag::Server);
        if self.v2_tag.as_ref() == Some(&tag) {
            return Ok(Look::Same);
        }
        let (client, profile) = (Arc::clone(&self.shared.client), self.shared.profile);
        let made = tokio::task::spawn_blocking(move || {
            let wanted = Wanted::of(&client.options);
            let mut documents = Vec::new();
            if convert {
                let now = SystemTime::now();
                for (path, json) in converted::documents(&body, wanted, profile)? {
                    let document = Document::new(Some(Dialect::V3), Bytes::from(json), now);
                    // Hashed here, where nobody waits.
                    document.hash();
                    documents.push(Arc::new(Converted { path: path.into(), document: Arc::new(document) }));
                }
            }
            let overlay = Arc::new(converted::overlay(&body, wanted, profile)?);
            Ok(FromV2 { documents, overlay })
        });
        let content = |fault| Failure::Content { path: PATH.to_owned(), fault };
        let made = made.await.map_err(|_| content("it cannot be converted".to_owned()))?.map_err(content)?;
        self.v2_tag = Some(tag);
        Ok(Look::New(made))
    }
}

impl Converted {
    fn published(&self) -> RemoteDocument {
        let url = format!("/openapi/v3/{}?hash={}", self.path, self.document.hash());
        RemoteDocument { path: Arc::clone(&self.path), url: url.into(), leaf: Leaf::Local(Arc::clone(&self.document)) }
    }
}

/// Puts documents in place of others; documents that did not change stay the same. Says whether any changed.
fn replace(state: &mut RemoteState, mut documents: Vec<RemoteDocument>) -> bool {
    let kind = |leaf: &Leaf| matches!(leaf, Leaf::Local(_));
    let mut same = documents.len() == state.v3.len();
    let mut known = state.v3.iter().peekable();
    for document in &mut documents {
        // Both are in the order of their paths.
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
