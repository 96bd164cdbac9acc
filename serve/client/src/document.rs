//! OpenAPI v3 documents of a server, and their use.

use crate::error::{Error, Fault};
use kubeshape_convert::aggregate::Aggregator;
use kubeshape_convert::{document, proto, v3};
use kubeshape_schema::{Bump, Dialect, NoteKind, Profile};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::borrow::Cow;

/// The encoding in which a document is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// JSON, as the server printed it.
    #[default]
    Json,
    /// The messages of gnostic. They are about a tenth smaller, and contain less than JSON.
    Protobuf,
}

/// An OpenAPI v3 document of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// `apis/apps/v1`
    pub path: String,
    /// The server's hash of this version of the document. Servers use the SHA-512 of its JSON.
    pub hash: Option<String>,
    /// The document as the server sent it.
    pub bytes: Vec<u8>,
}

impl Document {
    /// Returns the document in JSON, converted from its encoding if necessary.
    ///
    /// # Errors
    /// The protobuf form cannot be decoded.
    pub fn json(&self) -> Result<Cow<'_, [u8]>, Error> {
        if proto::detect(&self.bytes) != Some(Dialect::V3) {
            return Ok(Cow::Borrowed(&self.bytes));
        }
        proto::v3::decode(&self.bytes).map(Cow::Owned).map_err(|error| self.wrong(error.to_string()))
    }

    /// Decodes the document, in either encoding, and calls `f` with it and its arena. `kubeshape::Document` of the
    /// crate `kubeshape` also reads the [bytes](Document::bytes), and can be kept.
    ///
    /// # Errors
    /// It is not an OpenAPI v3 document.
    ///
    /// # Example
    /// ```
    /// use kubeshape_client::Document;
    /// let bytes = br#"{"openapi":"3.0.0","info":{"title":"Kubernetes","version":"v1.36.3"},"paths":{"/apis/a.io/v1/":{}}}"#;
    /// let document = Document { path: "apis/a.io/v1".to_owned(), hash: None, bytes: bytes.to_vec() };
    /// let title = document.read(|document, _| document.info.map(|info| info.title.to_owned()))?;
    /// assert_eq!(title.as_deref(), Some("Kubernetes"));
    /// # Ok::<(), kubeshape_client::Error>(())
    /// ```
    pub fn read<R>(&self, f: impl for<'a> FnOnce(&v3::Document<'a>, &'a Bump) -> R) -> Result<R, Error> {
        let json = self.json()?;
        let mut tape = Tape::new();
        let read = Stream::new(&json, Limits::default())
            .and_then(|mut stream| stream.next(&mut tape).transpose().map(|_| stream.source()));
        let source = read.map_err(|error| self.wrong(error.to_string()))?;
        let arena = Bump::new();
        let document = tape.document(source).root().and_then(|root| v3::read(root, &arena, Profile::Kube).value);
        document
            .map(|document| f(&document, &arena))
            .ok_or_else(|| self.wrong("it is no OpenAPI v3 document".to_owned()))
    }

    fn wrong(&self, fault: String) -> Error {
        Error { path: format!("/openapi/v3/{}", self.path), fault: Fault::Content(fault) }
    }
}

/// One document made from several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aggregated {
    /// The document in JSON.
    pub bytes: Vec<u8>,
    /// The contradictions between the documents.
    pub conflicts: Vec<Error>,
}

/// Merges documents into one (KEP-2896), like kube-openapi's aggregator: different definitions with the same name get
/// different names. Documents may have either encoding.
///
/// # Errors
/// One of them is not an OpenAPI v3 document; two have the same path; or there is no document.
///
/// # Example
/// ```
/// use kubeshape_client::{Document, aggregate};
/// let of = |path: &str, body: &str| Document { path: path.to_owned(), hash: None, bytes: body.into() };
/// let all = aggregate(&[
///     of("apis/a.io/v1", r#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{"/apis/a.io/v1/":{}}}"#),
///     of("apis/b.io/v1", r#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{"/apis/b.io/v1/":{}}}"#),
/// ])?;
/// assert_eq!(String::from_utf8(all.bytes)?,
///     r#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{"/apis/a.io/v1/":{},"/apis/b.io/v1/":{}}}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn aggregate<'d>(documents: impl IntoIterator<Item = &'d Document>) -> Result<Aggregated, Error> {
    let mut aggregator = Aggregator::new(Profile::Kube);
    let mut conflicts = Vec::new();
    for document in documents {
        document.read(|read, arena| {
            // All of them are of the same dialect.
            let notes = aggregator.add(&document.path, &document::Document::V3(*read), arena).unwrap_or_default();
            let wrong = notes.into_iter().filter(|note| note.code.kind() == NoteKind::Error);
            conflicts.extend(wrong.map(|note| document.wrong(note.detail.into_owned())));
        })?;
    }
    match aggregator.finish() {
        Some(aggregate) => Ok(Aggregated { bytes: aggregate.to_vec(), conflicts }),
        None => Err(conflicts.pop().unwrap_or_else(|| Error {
            path: "/openapi/v3".to_owned(),
            fault: Fault::Content("there are no documents to aggregate".to_owned()),
        })),
    }
}
