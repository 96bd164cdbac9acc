//! Reads documents from bytes.

use crate::advice::not_yaml;
use crate::derive::{Derived, derive};
use crate::document::Derivation;
use crate::{Code, Content, Document, DocumentRef, Finding, Lines, Place, Source, UnpackError, unpack};
use kubeshape_convert::proto;
use kubeshape_yaml::{Error, Limits, Parents, Stream, Tape};
use std::sync::{Arc, OnceLock};

/// The contents of an input.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Its documents in order, without those that have only comments.
    pub documents: Vec<Document>,
    /// Its errors and warnings, in order.
    pub findings: Vec<Finding>,
}

impl Input {
    /// Returns the input without lines in its locations, because a program wrote its source. Locations in it are only
    /// its name.
    #[must_use]
    pub fn without_lines(mut self) -> Input {
        self.documents = self.documents.into_iter().map(Document::without_lines).collect();
        self
    }
}

/// Reads an input. A document that cannot be read is a finding; the documents after it are read nevertheless.
///
/// # Example: a compressed input
/// ```
/// use kubeshape_input::{Limits, read};
/// use std::io::Write;
///
/// let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
/// encoder.write_all(b"kind: Pod\n")?;
/// let input = read("pod.yaml.gz", &encoder.finish()?, Limits::default());
/// assert_eq!(input.documents[0].root().get("kind").unwrap().as_str(), Some("Pod"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read(name: impl Into<Arc<str>>, bytes: &[u8], limits: Limits) -> Input {
    let mut out = Input::default();
    let mut reader = Reader::new();
    let mut documents = reader.documents(name.into(), bytes, limits);
    loop {
        match documents.next() {
            None => return out,
            Some(Err(finding)) => {
                out.findings.push(*finding);
                continue;
            }
            Some(Ok(mut document)) => out.findings.extend(document.remarks()),
        }
        out.documents.extend(documents.keep());
    }
}

/// Reads one input after the other and keeps its memory.
#[derive(Debug, Default)]
pub struct Reader {
    unpacked: Vec<u8>,
    decoded: Vec<u8>,
    tape: Tape,
    parents: OnceLock<Parents>,
    lines: Lines,
}

impl Reader {
    /// Creates a reader without memory.
    pub fn new() -> Reader {
        Reader::default()
    }

    /// Begins an input. If it cannot be read at all, the first document is the error.
    ///
    /// # Example: CustomResourceDefinitions of several files
    /// ```
    /// use kubeshape_input::{Content, Limits, Reader};
    ///
    /// let files: [(&str, &[u8]); 2] = [
    ///     ("a.yaml", b"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"),
    ///     ("b.yaml", b"apiVersion: v1\nkind: ConfigMap\n"),
    /// ];
    /// let (mut reader, mut definitions) = (Reader::new(), 0);
    /// for (name, bytes) in files {
    ///     let mut documents = reader.documents(name.into(), bytes, Limits::default());
    ///     while let Some(document) = documents.next() {
    ///         definitions += document.map_err(|error| error.to_string())?.manifests().0.len();
    ///     }
    /// }
    /// assert_eq!(definitions, 1);
    /// # Ok::<(), String>(())
    /// ```
    pub fn documents<'r>(&'r mut self, name: Arc<str>, bytes: &'r [u8], limits: Limits) -> Documents<'r> {
        let Reader { unpacked, decoded, tape, parents, lines } = self;
        lines.clear();
        tape.clear();
        let (bytes, opened) = match unpack(&name, bytes, limits, unpacked) {
            Ok(bytes) => (bytes, open(&name, bytes, limits, decoded)),
            Err(error) => {
                let code = if matches!(error, UnpackError::TooLarge { .. }) { Code::Limit } else { Code::Unreadable };
                (&[][..], Err(Box::new(Finding::new(code, error.to_string()).in_input(Arc::clone(&name)))))
            }
        };
        let has_lines = opened.as_ref().is_ok_and(|(_, has_lines)| *has_lines);
        let stream = opened.map(|(stream, _)| stream).map_err(Some);
        let derived = Derivation::default();
        Documents { name, bytes, stream, tape, parents, lines, has_lines, content: None, derived, source: None }
    }
}

/// Returns the source of an input, and whether its lines are those of the input.
fn open<'r>(
    name: &Arc<str>,
    bytes: &'r [u8],
    limits: Limits,
    decoded: &'r mut Vec<u8>,
) -> Result<(Stream<'r>, bool), Box<Finding>> {
    let (text, has_lines) = match proto::detect(bytes).map(|dialect| proto::decode(bytes, dialect)) {
        None => (bytes, true),
        Some(Ok(json)) => {
            *decoded = json;
            (decoded.as_slice(), false)
        }
        Some(Err(error)) => {
            return Err(Box::new(Finding::new(Code::Unreadable, error.to_string()).in_input(Arc::clone(name))));
        }
    };
    match Stream::new(text, limits) {
        Ok(stream) => Ok((stream, has_lines)),
        Err(error) => {
            let place = Place { line: error.line, column: error.column };
            let mut finding = Finding::new(code_of(&error), error.message).in_input(Arc::clone(name));
            finding.place = Some(place);
            finding.advice = if error.limit { None } else { not_yaml(text, error.offset) };
            Err(Box::new(finding))
        }
    }
}

fn code_of(error: &Error) -> Code {
    if error.limit { Code::Limit } else { Code::NotYaml }
}

/// The documents of an input, one after the other.
#[derive(Debug)]
pub struct Documents<'r> {
    name: Arc<str>,
    bytes: &'r [u8],
    stream: Result<Stream<'r>, Option<Box<Finding>>>,
    tape: &'r mut Tape,
    parents: &'r mut OnceLock<Parents>,
    lines: &'r mut Lines,
    has_lines: bool,
    /// The kind of the last document, until it is kept.
    content: Option<Content>,
    /// The definitions made of the last document.
    derived: Derivation,
    /// The source, if a document was kept.
    source: Option<Arc<Source>>,
}

impl<'r> Documents<'r> {
    /// Returns the bytes of the input, uncompressed, or `None` if they are not available.
    pub fn bytes(&self) -> &'r [u8] {
        self.bytes
    }

    /// Returns whether the input is an OpenAPI document in protobuf. Then its source is the decoded JSON.
    pub fn is_protobuf(&self) -> bool {
        self.stream.is_ok() && !self.has_lines
    }

    /// Returns the next document with content.
    ///
    /// # Errors
    /// The next document, or the whole input, cannot be read. After a document that cannot be read, reading continues
    /// at the next line that begins with `---`.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Result<DocumentRef<'_>, Box<Finding>>> {
        self.content = None;
        self.parents.take();
        let stream = match &mut self.stream {
            Ok(stream) => stream,
            Err(finding) => return finding.take().map(Err),
        };
        let text = stream.source();
        let (content, ignored) = loop {
            if let Err(error) = stream.next(self.tape)? {
                let mut finding = Finding::new(code_of(&error), error.message).in_input(Arc::clone(&self.name));
                finding.advice = if error.limit { None } else { not_yaml(text.as_bytes(), error.offset) };
                if self.has_lines {
                    let span = error.offset..error.offset + 1;
                    finding.place = Some(Place { line: error.line, column: error.column });
                    finding.excerpt = Some(self.lines.excerpt(text, span.clone()));
                    finding.span = Some(span);
                }
                return Some(Err(Box::new(finding)));
            }
            let root = self.tape.document(text).root();
            if let Some(root) = root.filter(|_| self.tape.has_content()) {
                break (Content::of(root), stream.ignored());
            }
        };
        self.derived = Derivation::default();
        if matches!(content, Content::Object | Content::List) {
            match derive(self.tape.document(text)) {
                Ok(None) => {}
                Ok(Some(Derived { added, roots, remarks })) => {
                    self.tape.append(added);
                    self.derived = Derivation { roots, remarks, wrong: None };
                }
                // The object itself may be of use.
                Err(wrong) => self.derived.wrong = Some(wrong),
            }
        }
        self.content = Some(content);
        Some(Ok(DocumentRef {
            name: &self.name,
            document: self.tape.document(text),
            has_lines: self.has_lines,
            content,
            ignored,
            derived: &self.derived,
            parents: self.parents,
            lines: self.lines,
        }))
    }

    /// Returns the document that [`Documents::next`] returned last, owned. Returns `None` if there was none, or if it
    /// was kept already.
    ///
    /// All documents of an input that are kept share one copy of its source.
    pub fn keep(&mut self) -> Option<Document> {
        let content = self.content.take()?;
        let stream = self.stream.as_ref().ok()?;
        let (name, has_lines) = (&self.name, self.has_lines);
        let new = || Arc::new(Source::new(Arc::clone(name), stream.source().into(), has_lines));
        let source = Arc::clone(self.source.get_or_insert_with(new));
        let mut tape = std::mem::take(self.tape);
        tape.shrink_to_fit();
        Some(Document::new(source, tape, content, std::mem::take(&mut self.derived.roots)))
    }
}
