//! The index of OpenAPI v3.

use crate::body::{Segment, Tags};
use crate::document::{Document, http_date};
use crate::pieces::{Key, Pieces};
use bytes::Bytes;
use http::HeaderValue;
use imbl::OrdMap;
use kubeshape_schema::escape;
use kubeshape_yaml::percent;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// The index of the v3 documents of one moment.
///
/// It contains the hashes of all documents, so it is made at its first use. After many changes in a row, each document
/// is hashed once, in its last state.
#[derive(Debug)]
pub struct Index {
    /// The last index that was made.
    base: Made,
    /// What changed since then. `None` if the document was removed.
    changes: OrdMap<Arc<str>, Option<DocumentAddress>>,
    tags: Tags,
    modified: SystemTime,
    made: OnceLock<Made>,
}

#[derive(Clone, Debug)]
struct Made {
    entries: Pieces<Arc<str>>,
    document: Arc<Document>,
}

/// Where a v3 document is.
#[derive(Clone, Debug)]
pub(super) enum DocumentAddress {
    /// In this server.
    Local(Arc<Document>),
    /// At the URL of a downstream server.
    Url(Arc<str>),
}

impl PartialEq for DocumentAddress {
    fn eq(&self, other: &DocumentAddress) -> bool {
        match (self, other) {
            (DocumentAddress::Local(a), DocumentAddress::Local(b)) => Arc::ptr_eq(a, b),
            (DocumentAddress::Url(a), DocumentAddress::Url(b)) => a == b,
            _ => false,
        }
    }
}

/// The bytes around the entries.
const AROUND: [&[u8]; 2] = [b"{\"paths\":{", b"}}"];

impl Index {
    /// Creates an index without entries.
    pub(super) fn empty(tags: Tags, now: SystemTime) -> Index {
        let entries = Pieces::new(64);
        let document = list(AROUND, &entries, None, tags, now);
        Index::of(Made { entries, document }, tags)
    }

    /// Creates an index with an existing document.
    pub fn new(document: Document) -> Index {
        Index::of(Made { entries: Pieces::new(64), document: Arc::new(document) }, Tags::default())
    }

    fn of(made: Made, tags: Tags) -> Index {
        let modified = made.document.modified();
        Index { base: made.clone(), changes: OrdMap::new(), tags, modified, made: OnceLock::from(made) }
    }

    /// Returns the index after changes.
    pub(super) fn after(&self, changes: BTreeMap<Arc<str>, Option<DocumentAddress>>, now: SystemTime) -> Index {
        let (base, mut all) = match self.made.get() {
            Some(made) => (made.clone(), OrdMap::new()),
            None => (self.base.clone(), self.changes.clone()),
        };
        all.extend(changes);
        Index { base, changes: all, tags: self.tags, modified: now, made: OnceLock::new() }
    }

    /// Returns the index as a document. The first call hashes all documents that are new since the last index that was
    /// made.
    pub fn document(&self) -> &Arc<Document> {
        let make = || {
            let entry = |(path, address): (&Arc<str>, &Option<DocumentAddress>)| {
                let entry = address.as_ref().map(|address| match address {
                    DocumentAddress::Local(document) => entry(&url(path, document.hash())),
                    DocumentAddress::Url(url) => entry(url),
                });
                (Arc::clone(path), entry)
            };
            let entries = self.base.entries.edit(self.changes.iter().map(entry).collect());
            let document = list(AROUND, &entries, Some(&self.base.document), self.tags, self.modified);
            Made { entries, document }
        };
        &self.made.get_or_init(make).document
    }

    /// Returns the document if it is already made.
    pub fn made(&self) -> Option<&Arc<Document>> {
        self.made.get().map(|made| &made.document)
    }

    /// When it last changed.
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// Returns the header `Last-Modified`.
    pub(crate) fn last_modified(&self) -> HeaderValue {
        http_date(self.modified)
    }
}

/// An entry of the index.
fn entry(url: &str) -> Bytes {
    let mut out = Vec::with_capacity(url.len() + 32);
    out.extend_from_slice(b"{\"serverRelativeURL\":");
    escape::string(&mut out, url, escape::Escape::Html);
    out.push(b'}');
    out.into_boxed_slice().into()
}

/// Returns the URL of a local document, as Go's `net/url` prints it.
fn url(path: &str, hash: &str) -> String {
    let mut out = String::with_capacity(path.len() + hash.len() + 24);
    out.push_str("/openapi/v3/");
    out.push_str(&percent::encode(path, percent::GO_PATH));
    out.push_str("?hash=");
    out.push_str(hash);
    out
}

/// Returns a document made of pieces, with text before and after them.
pub(super) fn list<K: Key>(
    [head, tail]: [&'static [u8]; 2],
    pieces: &Pieces<K>,
    before: Option<&Document>,
    tags: Tags,
    now: SystemTime,
) -> Arc<Document> {
    let mut segments = vec![Segment::Text(Bytes::from_static(head))];
    pieces.segments(&mut segments);
    segments.push(Segment::Text(Bytes::from_static(tail)));
    Arc::new(Document::of_chunks(None, segments, before, tags, now))
}

#[cfg(test)]
mod tests {
    use super::{DocumentAddress, Index};
    use crate::body::Tags;
    use crate::document::Document;
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::time::SystemTime;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn text(index: &Index) -> String {
        String::from_utf8(index.document().json().to_bytes().to_vec()).expect("JSON")
    }

    #[test]
    fn documents_that_no_index_shows_are_not_hashed() {
        let document = |text: &'static [u8]| Arc::new(Document::new(None, bytes::Bytes::from_static(text), NOW));
        let local = |document: &Arc<Document>| Some(DocumentAddress::Local(Arc::clone(document)));
        let change = |path: &str, address| BTreeMap::from([(Arc::from(path), address)]);
        let (old, new) = (document(b"{}"), document(b"[]"));
        let first = Index::empty(Tags::Content, NOW).after(change("a", local(&old)), NOW);
        let second = first.after(change("a", local(&new)), NOW);
        let url = Some(DocumentAddress::Url("/openapi/v3/b?hash=1".into()));
        let third = second.after(change("b", url), NOW).after(change("b c", local(&new)), NOW);
        assert!(third.made().is_none() && !new.is_hashed());
        let (hash, quoted) =
            (new.hash(), |path: &str, url: &str| format!(r#""{path}":{{"serverRelativeURL":"{url}"}}"#));
        let a = quoted("a", &format!("/openapi/v3/a?hash={hash}"));
        let b = quoted("b", "/openapi/v3/b?hash=1");
        let c = quoted("b c", &format!("/openapi/v3/b%20c?hash={hash}"));
        assert_eq!(text(&third), format!(r#"{{"paths":{{{a},{b},{c}}}}}"#));
        assert!(third.made().is_some() && !old.is_hashed());
        let fourth = third.after(change("b", None), NOW);
        assert_eq!(text(&fourth), format!(r#"{{"paths":{{{a},{c}}}}}"#));
    }
}
