//! A document in all its representations, each computed once.

use crate::body::{self, Body, Segment, Tags};
use crate::rope::Rope;
use bytes::{Bytes, BytesMut};
use http::HeaderValue;
use kubeshape_convert::proto;
use kubeshape_publish::Section;
use kubeshape_schema::Dialect;
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use sha2::{Digest, Sha512};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// A published document. Its hash, protobuf and compressed forms are computed at their first use and kept. Snapshots
/// share unchanged documents.
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
    /// The segments, if it consists of chunks.
    body: Option<Body>,
    /// The pieces with states of their digest, if there are any.
    digest: Option<Body>,
    tags: Tags,
    modified: SystemTime,
    hash: OnceLock<Arc<str>>,
    gzip: OnceLock<Rope>,
    /// The ranges of the sections of a v2 document in the segments of its body.
    sections: Vec<(Section, Range<usize>)>,
    protobuf: OnceLock<Result<Protobuf, Box<str>>>,
    protobuf_gzip: OnceLock<Rope>,
    headers: OnceLock<Validators>,
}

/// Returns a time as a header.
pub(crate) fn http_date(time: SystemTime) -> HeaderValue {
    // It is ASCII.
    HeaderValue::try_from(httpdate::fmt_http_date(time)).unwrap_or(HeaderValue::from_static(""))
}

/// A protobuf form.
#[derive(Debug)]
struct Protobuf {
    bytes: Rope,
    /// The segments, if it consists of chunks.
    body: Option<Body>,
}

impl From<Body> for Protobuf {
    fn from(body: Body) -> Protobuf {
        Protobuf { bytes: body.rope(), body: Some(body) }
    }
}

impl From<Rope> for Protobuf {
    fn from(bytes: Rope) -> Protobuf {
        Protobuf { bytes, body: None }
    }
}

/// The validators of a document as headers.
#[derive(Debug)]
pub(crate) struct Validators {
    /// The hash in quotation marks.
    pub(crate) etag: HeaderValue,
    /// `Last-Modified`
    pub(crate) last_modified: HeaderValue,
}

/// The memory of a document, in bytes. Shared parts are counted for each document.
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
    /// Creates a document whose content last changed at `modified`. Without a dialect it is not an OpenAPI document,
    /// and has no protobuf form.
    pub fn new(dialect: Option<Dialect>, json: impl Into<Rope>, modified: SystemTime) -> Document {
        Document {
            dialect,
            json: json.into(),
            body: None,
            digest: None,
            tags: Tags::Content,
            modified,
            hash: OnceLock::new(),
            gzip: OnceLock::new(),
            sections: Vec::new(),
            protobuf: OnceLock::new(),
            protobuf_gzip: OnceLock::new(),
            headers: OnceLock::new(),
        }
    }

    /// Returns the document with an existing protobuf form.
    #[must_use]
    pub fn with_protobuf(self, protobuf: impl Into<Rope>) -> Document {
        Document { protobuf: OnceLock::from(Ok(protobuf.into().into())), ..self }
    }

    /// Returns a v2 document made of chunks, with the ranges of its sections in the segments. Its protobuf form
    /// consists of chunks, too.
    #[must_use]
    pub(crate) fn with_sections(self, sections: Vec<(Section, Range<usize>)>) -> Document {
        Document { sections, ..self }
    }

    /// Returns the document. Its hash continues from that of `before` after the pieces with which both begin.
    #[must_use]
    pub(crate) fn hashed_after(self, before: Option<&Document>) -> Document {
        let segments = self.json.pieces().iter().cloned().map(Segment::Text).collect();
        let digest = match before.and_then(|before| before.digest.as_ref()) {
            Some(before) => Body::after(segments, before),
            None => Body::new(segments),
        };
        Document { digest: Some(digest), ..self }
    }

    /// Creates a document made of chunks. The digests of the beginning that it shares with `before` are reused.
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

    /// Returns the dialect; `None` if it is not an OpenAPI document.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// Returns the JSON form.
    pub fn json(&self) -> &Rope {
        &self.json
    }

    /// When the content last changed.
    pub fn modified(&self) -> SystemTime {
        self.modified
    }

    /// Returns the SHA-512 of the JSON form in upper-case hexadecimal digits: the hash and, quoted, the ETag of every
    /// form. With [`Tags::Chunks`], SHA-512 of the digests of the document's chunks.
    pub fn hash(&self) -> &Arc<str> {
        self.hash.get_or_init(|| match (&self.body, &self.digest, self.tags) {
            (Some(body), _, Tags::Chunks) => hex(&body.chunk_digest()),
            (Some(body), _, Tags::Content) | (None, Some(body), _) => hex(&body.content_digest()),
            (None, None, _) => {
                let mut digest = Sha512::new();
                for piece in self.json.pieces() {
                    digest.update(piece);
                }
                hex(&digest.finalize())
            }
        })
    }

    /// Returns `ETag` and `Last-Modified` as headers.
    pub(crate) fn headers(&self) -> &Validators {
        self.headers.get_or_init(|| {
            // Both are ASCII.
            let header = |text: String| HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
            Validators { etag: header(format!("\"{}\"", self.hash())), last_modified: self.last_modified() }
        })
    }

    /// Returns only `Last-Modified`, for responses without an ETag. Nothing is hashed.
    pub(crate) fn last_modified(&self) -> HeaderValue {
        http_date(self.modified)
    }

    /// Returns the gzip form of the JSON form. Unchanged chunks are not compressed again.
    pub fn gzip(&self) -> &Rope {
        self.gzip.get_or_init(|| match &self.body {
            Some(body) => body.gzip(),
            None => body::gzip(self.json.pieces()).into(),
        })
    }

    /// Returns the gnostic protobuf form of an OpenAPI document.
    ///
    /// # Errors
    /// It is not an OpenAPI document, or contains something that the protobuf form cannot express.
    pub fn protobuf(&self) -> Result<&Rope, &str> {
        let make = || match self.protobuf_of_chunks() {
            Some(body) => Ok(body.into()),
            None => encode(self.dialect, &self.json.to_bytes()).map(|bytes| Rope::from(bytes).into()),
        };
        self.protobuf.get_or_init(make).as_ref().map(|form| &form.bytes).map_err(|why| &**why)
    }

    /// Returns the protobuf form, combined from those of the chunks. `None` if there are no sections, or if there is no
    /// such form: encoding it as a whole returns the error.
    fn protobuf_of_chunks(&self) -> Option<Body> {
        let segments = self.body.as_ref()?.segments();
        let mut frame = Vec::new();
        for segment in segments {
            if let Segment::Text(text) = segment {
                frame.extend_from_slice(text);
            }
        }
        let mut parts: BTreeMap<Section, Vec<Segment>> = BTreeMap::new();
        for (section, range) in &self.sections {
            let of_section = segments.get(range.clone())?.iter();
            let made = of_section.map(|segment| {
                segment.protobuf(|json| tree(json, |root| proto::v2::part(*section, root).ok()).ok().flatten())
            });
            parts.insert(*section, made.collect::<Option<_>>()?);
        }
        let length = |section| parts.get(&section).into_iter().flatten().map(Segment::len).sum();
        let around = tree(&frame, |root| proto::v2::around(root, length).ok()).ok().flatten()?;
        let mut out = Vec::new();
        for (text, section) in around {
            out.push(Segment::Text(text.into()));
            out.extend(section.and_then(|section| parts.remove(&section)).into_iter().flatten());
        }
        Some(Body::new(out))
    }

    /// Returns the gzip form of the protobuf form. Unchanged chunks are not compressed again.
    ///
    /// # Errors
    /// See [`Document::protobuf`].
    pub fn protobuf_gzip(&self) -> Result<&Rope, &str> {
        let bytes = self.protobuf()?;
        Ok(self.protobuf_gzip.get_or_init(|| match self.protobuf.get() {
            Some(Ok(Protobuf { body: Some(body), .. })) => body.gzip(),
            _ => body::gzip(bytes.pieces()).into(),
        }))
    }

    /// Returns whether these bytes are already computed.
    pub(crate) fn is_made(&self, protobuf: bool, gzip: bool) -> bool {
        match (protobuf, gzip) {
            (false, false) => true,
            (false, true) => self.gzip.get().is_some(),
            (true, false) => self.protobuf.get().is_some(),
            (true, true) => self.protobuf_gzip.get().is_some() || matches!(self.protobuf.get(), Some(Err(_))),
        }
    }

    /// Returns the same content with `head` instead of the opening brace and `tail` after the end. Its compressed form
    /// shares the chunks of this document, and its hash is the same.
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

    /// Returns the current memory use.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            json: self.json.len(),
            compressed: self.gzip.get().map_or(0, Rope::len) + self.protobuf_gzip.get().map_or(0, Rope::len),
            protobuf: self.protobuf.get().and_then(|p| p.as_ref().ok()).map_or(0, |form| form.bytes.len()),
        }
    }

    /// Returns whether the hash is already computed.
    pub(crate) fn is_hashed(&self) -> bool {
        self.hash.get().is_some()
    }

    /// Returns whether the gzip form of the JSON form is already computed.
    pub(crate) fn is_compressed(&self) -> bool {
        self.gzip.get().is_some()
    }

    /// Returns whether the other document has the same content.
    pub(crate) fn is_same(&self, other: &Document) -> bool {
        // Comparing bytes takes a tenth of the time of hashing them.
        self.json == other.json
    }
}

/// Encodes a printed document as protobuf.
fn encode(dialect: Option<Dialect>, json: &[u8]) -> Result<Bytes, Box<str>> {
    let dialect = dialect.ok_or("found no OpenAPI document, so there is no protobuf form")?;
    tree(json, |root| match proto::encode(root, dialect) {
        Ok(encoded) => Ok(encoded.value.into()),
        Err(refusals) => {
            let first = refusals.into_iter().next().map(kubeshape_schema::Note::from);
            let text = first.map(|note| format!("{}: {}", root.document().pointer(note.at), note.detail));
            Err(text.unwrap_or_default().into())
        }
    })?
}

/// Parses our own JSON and calls `take` with its root. Its size is not limited.
fn tree<T>(json: &[u8], take: impl FnOnce(Node<'_>) -> T) -> Result<T, Box<str>> {
    let limits = Limits::default();
    let limits = Limits { bytes: json.len().max(limits.bytes), nodes: json.len().max(limits.nodes), ..limits };
    let mut stream = Stream::new(json, limits).map_err(|error| error.to_string())?;
    let source = stream.source();
    let mut tape = Tape::new();
    stream.next(&mut tape).transpose().map_err(|error| error.to_string())?;
    Ok(take(tape.document(source).root().ok_or("found an empty document")?))
}

/// Returns upper-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> Arc<str> {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02X}");
    }
    out.into()
}
