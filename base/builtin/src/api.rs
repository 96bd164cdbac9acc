//! Unpacking the documents of a release.
//!
//! A release is a string: one line per section, an empty line, and the sections. The line of a section has its name,
//! its length and its unpacked length. Each section is a zlib stream of lines:
//!
//! - `definitions`: the definitions of all v3 documents, each once, as members of a JSON object;
//! - `paths`: the paths of all v3 documents, one after the other, as members of a JSON object;
//! - `openapi-v3`: a line per document: its path; the document with [`SCHEMAS`] and [`PATHS`] in place of these
//!   members; the numbers of its definitions; its number of paths. These four are separated by tabs;
//! - `openapi-v2`: the v2 document;
//! - `discovery`: a line per document: its name, a tab and the document.

use flate2::read::ZlibDecoder;
use std::io::Read;

/// Replaces the definitions of a document.
const SCHEMAS: char = '\u{1}';
/// Replaces the paths of a document.
const PATHS: char = '\u{2}';

/// The documents of a release, in JSON without white space.
#[derive(Clone, Debug)]
pub struct Api {
    packed: &'static [u8],
    documents: Vec<Document>,
    definitions: String,
    /// The start and end of each definition.
    lines: Vec<(usize, usize)>,
}

/// An OpenAPI v3 document.
#[derive(Clone, Debug)]
struct Document {
    path: String,
    template: String,
    definitions: Vec<usize>,
    /// The number of the first path and the number of paths.
    paths: (usize, usize),
}

impl Api {
    pub(crate) fn unpack(packed: &'static [u8]) -> Api {
        let (mut documents, mut first) = (Vec::new(), 0);
        for line in section(packed, "openapi-v3").lines() {
            let mut parts = line.split('\t');
            let mut part = || parts.next().unwrap_or_default();
            let (path, template, definitions, paths) = (part(), part(), part(), part());
            let paths = (first, paths.parse().unwrap_or_default());
            first += paths.1;
            documents.push(Document {
                path: path.to_owned(),
                template: template.to_owned(),
                definitions: definitions.split(',').filter_map(|number| number.parse().ok()).collect(),
                paths,
            });
        }
        let definitions = section(packed, "definitions");
        let lines = lines(&definitions);
        Api { packed, documents, definitions, lines }
    }

    /// Returns the paths of the OpenAPI v3 documents below `/openapi/v3/`, sorted: `api/v1`, `apis/apps/v1` and others.
    pub fn openapi_v3_paths(&self) -> impl Iterator<Item = &str> {
        self.documents.iter().map(|document| document.path.as_str())
    }

    /// Returns the OpenAPI v3 document with that path.
    pub fn openapi_v3(&self, path: &str) -> Option<String> {
        self.openapi_v3_of(|other| other == path).pop().map(|(_, document)| document)
    }

    /// Returns the OpenAPI v3 documents whose paths are wanted, in the order of their paths.
    pub fn openapi_v3_of(&self, wanted: impl Fn(&str) -> bool) -> Vec<(&str, String)> {
        let paths = section(self.packed, "paths");
        let lines = lines(&paths);
        let documents = self.documents.iter().filter(|document| wanted(&document.path));
        documents.map(|document| (document.path.as_str(), self.print(document, &paths, &lines))).collect()
    }

    fn print(&self, document: &Document, paths: &str, lines: &[(usize, usize)]) -> String {
        let mut out = String::new();
        let (first, count) = document.paths;
        for piece in document.template.split_inclusive([SCHEMAS, PATHS]) {
            out.push_str(piece.trim_end_matches([SCHEMAS, PATHS]));
            if piece.ends_with(SCHEMAS) {
                let ranges = document.definitions.iter().filter_map(|number| self.lines.get(*number));
                join(&mut out, &self.definitions, ranges);
            } else if piece.ends_with(PATHS) {
                join(&mut out, paths, lines.iter().skip(first).take(count));
            }
        }
        out
    }

    /// Returns the definitions of all OpenAPI v3 documents as a JSON object. Those that differ between documents are
    /// members of it several times.
    ///
    /// # Example
    /// ```
    /// let definitions = kubeshape_builtin::BuiltInDocuments::newest().api().definitions();
    /// assert!(definitions.contains(r#""io.k8s.api.core.v1.Pod":{"#));
    /// ```
    pub fn definitions(&self) -> String {
        let mut out = String::from("{");
        join(&mut out, &self.definitions, self.lines.iter());
        out.push('}');
        out
    }

    /// Returns the OpenAPI v2 document.
    pub fn openapi_v2(&self) -> String {
        section(self.packed, "openapi-v2")
    }

    /// Returns the discovery documents with their names.
    pub fn discovery(&self) -> Vec<(String, String)> {
        let documents = section(self.packed, "discovery");
        let pairs = documents.lines().filter_map(|line| line.split_once('\t'));
        pairs.map(|(name, document)| (name.to_owned(), document.to_owned())).collect()
    }
}

/// The start and end of each line.
fn lines(text: &str) -> Vec<(usize, usize)> {
    let mut start = 0;
    let range = |line: &str| {
        let range = (start, start + line.len());
        start = range.1 + 1;
        range
    };
    text.lines().map(range).collect()
}

/// Appends parts of a section, with commas between them.
fn join<'r>(out: &mut String, text: &str, ranges: impl Iterator<Item = &'r (usize, usize)>) {
    for (number, (start, end)) in ranges.enumerate() {
        if number > 0 {
            out.push(',');
        }
        out.push_str(text.get(*start..*end).unwrap_or_default());
    }
}

/// Unpacks a section. This cannot fail: the sections were packed by this project and are part of the program. A test
/// unpacks all of them.
fn section(packed: &[u8], name: &str) -> String {
    let end = packed.windows(2).position(|pair| pair == b"\n\n").unwrap_or(0);
    let (head, mut rest) = packed.split_at(end);
    rest = rest.get(2..).unwrap_or_default();
    for line in String::from_utf8_lossy(head).lines() {
        let mut words = line.split(' ');
        let own_name = words.next();
        let mut number = || words.next().and_then(|word| word.parse::<usize>().ok()).unwrap_or_default();
        let (length, unpacked) = (number(), number());
        let (this, others) = rest.split_at(length.min(rest.len()));
        if own_name == Some(name) {
            let mut text = String::with_capacity(unpacked);
            let read = ZlibDecoder::new(this).read_to_string(&mut text);
            debug_assert!(read.is_ok(), "{name}: {read:?}");
            return text;
        }
        rest = others;
    }
    String::new()
}
