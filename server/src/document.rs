//! A document in all its representations, each of which is made once.

use crate::body::{self, Body, Segment, Tags};
use crate::rope::Rope;
use bytes::{Bytes, BytesMut};
use http::HeaderValue;
use kubeshape_convert::proto;
use kubeshape_schema::Dialect;
use kubeshape_yaml::{Limits, Stream, Tape};
use sha2::{Digest, Sha512};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// A published document. Its hash, protobuf and compressed forms are made at their first use and kept. Snapshots share
/// documents that did not change.
///
/// # Example
/// ```
/// use bytes::Bytes;
/// use kubeshape_schema::Dialect;
/// use kubeshape_server::Document;
/// use std::time::SystemTime;
///
/// let json = Bytes::from_static(br#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{}}"#);
/// let document = Document::new(Some(Dialect::V3), json, SystemTime::UNIX_EPOCH);
/// assert!(document.hash().starts_with("BE8C83"));
/// assert!(document.protobuf().is_ok());
/// assert!(document.gzip().len() > 0);
/// ```
#[derive(Debug)]
pub struct Document {
    /// `None` if it is not an OpenAPI document.
    dialect: Option<Dialect>,
    json: Rope,
    /// If it is made of chunks.
    body: Option<Body>,
    tags: Tags,
    modified: SystemTime,
    hash: OnceLock<Arc<str>>,
    gzip: OnceLock<Rope>,
    protobuf: OnceLock<Result<Bytes, Box<str>>>,
    protobuf_gzip: OnceLock<Bytes>,
    headers: OnceLock<Validators>,
}

/// The validators of a document as headers.
#[derive(Debug)]
pub(crate) struct Validators {
    /// The hash in quotation marks.
    pub(crate) etag: HeaderValue,
    /// `Last-Modified`
    pub(crate) last_modified: HeaderValue,
}

/// Memory that a document holds, in bytes. What documents share is counted for each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// JSON.
    pub json: usize,
    /// Compressed forms.
    pub compressed: usize,
    /// Protobuf.
    pub protobuf: usize,
}

impl Document {
    /// A document whose content changed last at `modified`. Without a dialect it is not an OpenAPI document, and has no
    /// protobuf form.
    pub fn new(dialect: Option<Dialect>, json: impl Into<Rope>, modified: SystemTime) -> Document {
        Document {
            dialect,
            json: json.into(),
            body: None,
            tags: Tags::Content,
            modified,
            hash: OnceLock::new(),
            gzip: OnceLock::new(),
            protobuf: OnceLock::new(),
            protobuf_gzip: OnceLock::new(),
            headers: OnceLock::new(),
        }
    }

    /// The document with a protobuf form that exists already.
    #[must_use]
    pub fn with_protobuf(self, protobuf: Bytes) -> Document {
        Document { protobuf: OnceLock::from(Ok(protobuf)), ..self }
    }

    /// A document made of chunks. The digests that `before` has of their common beginning are reused.
    pub(crate) fn of_chunks(
        dialect: Option<Dialect>,
        segments: Vec<Segment>,
        before: Option<&Document>,
        tags: Tags,
        modified: SystemTime,
    ) -> Document {
        let body = match before.and_then(|before| before.body.as_ref()) {
            Some(before) => Body::after(segments, before),
            None => Body::new(segments),
        };
        let json = body.rope();
        Document { body: Some(body), tags, ..Document::new(dialect, json, modified) }
    }

    /// The dialect; `None` if it is not an OpenAPI document.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// The JSON form.
    pub fn json(&self) -> &Rope {
        &self.json
    }

    /// When the content changed last.
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// SHA-512 of the JSON form in upper-case hexadecimal digits: the hash and, quoted, the ETag of every form. With
    /// [`Tags::Chunks`], SHA-512 of the digests of the document's chunks.
    pub fn hash(&self) -> &Arc<str> {
        self.hash.get_or_init(|| match (&self.body, self.tags) {
            (Some(body), Tags::Chunks) => hex(&body.chunk_digest()),
            (Some(body), Tags::Content) => hex(&body.content_digest()),
            (None, _) => {
                let mut digest = Sha512::new();
                for piece in self.json.pieces() {
                    digest.update(piece);
                }
                hex(&digest.finalize())
            }
        })
    }

    /// `ETag` and `Last-Modified` as headers.
    pub(crate) fn headers(&self) -> &Validators {
        self.headers.get_or_init(|| {
            // Both are ASCII.
            let header = |text: String| HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
            Validators { etag: header(format!("\"{}\"", self.hash())), last_modified: self.last_modified() }
        })
    }

    /// Only `Last-Modified`, for responses without an ETag. Nothing is hashed.
    pub(crate) fn last_modified(&self) -> HeaderValue {
        HeaderValue::try_from(httpdate::fmt_http_date(self.modified)).unwrap_or(HeaderValue::from_static(""))
    }

    /// The gzip form of the JSON form. Chunks that did not change are not compressed again.
    pub fn gzip(&self) -> &Rope {
        self.gzip.get_or_init(|| match &self.body {
            Some(body) => body.gzip(),
            None => body::gzip(self.json.pieces()).into(),
        })
    }

    /// The gnostic protobuf form of an OpenAPI document.
    ///
    /// # Errors
    /// It is not an OpenAPI document, or it has something that the protobuf form cannot express.
    pub fn protobuf(&self) -> Result<&Bytes, &str> {
        self.protobuf.get_or_init(|| encode(self.dialect, &self.json.to_bytes())).as_ref().map_err(|why| &**why)
    }

    /// The gzip form of the protobuf form.
    ///
    /// # Errors
    /// As [`Document::protobuf`].
    pub fn protobuf_gzip(&self) -> Result<&Bytes, &str> {
        let protobuf = self.protobuf()?;
        Ok(self.protobuf_gzip.get_or_init(|| body::gzip(std::slice::from_ref(protobuf))))
    }

    /// The same content with `head` instead of the opening brace and `tail` after the end. Its compressed form shares the
    /// chunks of this document, and its hash is the same.
    ///
    /// # Example
    /// ```
    /// # use {bytes::Bytes, kubeshape_server::Document, std::time::SystemTime};
    /// let list = Document::new(None, Bytes::from_static(br#"{"items":[]}"#), SystemTime::UNIX_EPOCH);
    /// let body = list.enveloped(br#"{"kind":"List","#, b"\n");
    /// assert_eq!(body.json().to_bytes(), "{\"kind\":\"List\",\"items\":[]}\n");
    /// assert_eq!(body.hash(), list.hash());
    /// ```
    #[must_use]
    pub fn enveloped(&self, head: &[u8], tail: &[u8]) -> Document {
        let own: Vec<Segment> = match &self.body {
            Some(body) => body.segments().to_vec(),
            None => self.json.pieces().iter().cloned().map(Segment::Text).collect(),
        };
        let mut segments = Vec::with_capacity(own.len() + 2);
        let mut own = own.into_iter();
        let mut begin = BytesMut::from(head);
        match own.next() {
            Some(Segment::Text(text)) => begin.extend_from_slice(text.get(1..).unwrap_or_default()),
            other => segments.extend(other),
        }
        segments.insert(0, Segment::Text(begin.freeze()));
        segments.extend(own);
        segments.push(Segment::Text(Bytes::copy_from_slice(tail)));
        let document = Document::of_chunks(self.dialect, segments, None, self.tags, self.modified);
        Document { hash: OnceLock::from(Arc::clone(self.hash())), ..document }
    }

    /// Memory that is held now.
    pub fn sizes(&self) -> Sizes {
        let len = |bytes: &Bytes| bytes.len();
        Sizes {
            json: self.json.len(),
            compressed: self.gzip.get().map_or(0, Rope::len) + self.protobuf_gzip.get().map_or(0, len),
            protobuf: self.protobuf.get().and_then(|p| p.as_ref().ok()).map_or(0, len),
        }
    }

    /// Whether the hash is computed already.
    pub(crate) fn is_hashed(&self) -> bool {
        self.hash.get().is_some()
    }

    /// Whether the gzip form of the JSON form is made already.
    pub(crate) fn is_compressed(&self) -> bool {
        self.gzip.get().is_some()
    }

    /// Whether the other document has the same content.
    pub(crate) fn is_same(&self, other: &Document) -> bool {
        self.json.len() == other.json.len() && self.hash() == other.hash()
    }
}

/// The protobuf form of a printed document.
fn encode(dialect: Option<Dialect>, json: &[u8]) -> Result<Bytes, Box<str>> {
    let dialect = dialect.ok_or("found no OpenAPI document, so there is no protobuf form")?;
    // The document is our own, so its size is not limited.
    let limits = Limits::default();
    let limits = Limits { bytes: json.len().max(limits.bytes), nodes: json.len().max(limits.nodes), ..limits };
    let mut stream = Stream::new(json, limits).map_err(|error| error.to_string())?;
    let source = stream.source();
    let mut tape = Tape::new();
    stream.next(&mut tape).transpose().map_err(|error| error.to_string())?;
    let root = tape.document(source).root().ok_or("found an empty document")?;
    match proto::encode(root, dialect) {
        Ok(encoded) => Ok(encoded.value.into()),
        Err(refusals) => {
            let first = refusals.into_iter().next().map(kubeshape_schema::Note::from);
            let text = first.map(|note| format!("{}: {}", tape.document(source).pointer(note.at), note.detail));
            Err(text.unwrap_or_default().into())
        }
    }
}

/// Upper-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> Arc<str> {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02X}");
    }
    out.into()
}
