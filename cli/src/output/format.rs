//! Other formats of a printed JSON document: indented JSON, YAML, protobuf.

use crate::args::Format;
use kubeshape_convert::proto;
use kubeshape_input::{Finding, Note};
use kubeshape_schema::{Converted, Dialect};
use kubeshape_yaml::emit::{Emitter, Rewriter};
use kubeshape_yaml::json::{self, Indenter};
use kubeshape_yaml::{Document, Limits, Stream, Tape};
use std::io;

/// Rewrites compact JSON and keeps its buffers.
#[derive(Debug, Default)]
pub(crate) struct Formatter {
    tape: Tape,
    out: Vec<u8>,
}

impl Formatter {
    /// A document in a format, as [`format`](Self::format) gives it.
    pub(crate) fn formatted(
        json: Vec<u8>,
        format: Format,
        pretty: bool,
        remarks: &mut Vec<Finding>,
    ) -> Option<Vec<u8>> {
        if format == Format::Json && !pretty {
            return Some(json);
        }
        let mut formatter = Formatter::default();
        formatter.format(&json, format, pretty, remarks)?;
        Some(formatter.out)
    }

    /// Returns the document in a format; `None` if the format cannot express it. Compact JSON is unchanged, because its
    /// bytes are hashed. Other output ends with a line break. Whatever the format cannot express is added to `remarks`,
    /// with pointers into the printed document.
    pub(crate) fn format<'a>(
        &'a mut self,
        json: &'a [u8],
        format: Format,
        pretty: bool,
        remarks: &mut Vec<Finding>,
    ) -> Option<&'a [u8]> {
        self.out.clear();
        match format {
            Format::Json if !pretty => return Some(json),
            Format::Json => {
                json::indent(json, &mut self.out);
                self.out.push(b'\n');
            }
            Format::Yaml => match read(json, &mut self.tape) {
                Some(source) => {
                    let mut emitter = Emitter::new(&mut self.out);
                    self.tape.document(source).root().into_iter().for_each(|root| emitter.node(root));
                }
                // JSON is YAML.
                None => self.out.extend_from_slice(json),
            },
            Format::Pb => {
                let source = read(json, &mut self.tape)?;
                self.out = encode(self.tape.document(source), remarks)?;
            }
        }
        Some(&self.out)
    }
}

/// Writes a printed JSON document that comes in pieces. It is completely in memory only for protobuf, where lengths
/// precede contents.
pub(crate) struct Writer<'w> {
    form: Form,
    buffer: Vec<u8>,
    sink: &'w mut dyn FnMut(&[u8]) -> io::Result<()>,
    /// The maximum number of bytes, and the number written.
    most: u64,
    written: u64,
    failure: Option<io::Error>,
}

/// How pieces are written.
enum Form {
    Compact,
    Indented(Indenter),
    Yaml(Box<Rewriter>),
    Protobuf(Vec<u8>),
}

/// The result of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// The whole document, with this number of bytes.
    Whole(u64),
    /// The limit was exceeded, so that the output is useless.
    TooMuch,
    /// Nothing, because the format cannot express the document.
    Nothing,
}

impl<'w> Writer<'w> {
    /// Writes at most `most` bytes to `sink`.
    pub(crate) fn new(
        format: Format,
        pretty: bool,
        most: u64,
        sink: &'w mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Writer<'w> {
        let form = match format {
            Format::Json if !pretty => Form::Compact,
            Format::Json => Form::Indented(Indenter::default()),
            Format::Yaml => Form::Yaml(Box::default()),
            Format::Pb => Form::Protobuf(Vec::new()),
        };
        Writer { form, buffer: Vec::new(), sink, most, written: 0, failure: None }
    }

    /// Writes a piece, which ends after a token.
    pub(crate) fn piece(&mut self, json: &[u8]) {
        match &mut self.form {
            _ if self.failure.is_some() || self.written > self.most => return,
            Form::Compact => return self.give(json),
            Form::Indented(indenter) => indenter.piece(json, &mut self.buffer),
            Form::Yaml(rewriter) => rewriter.piece(&String::from_utf8_lossy(json), &mut self.buffer),
            Form::Protobuf(whole) => return whole.extend_from_slice(json),
        }
        let buffer = std::mem::take(&mut self.buffer);
        self.give(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
    }

    fn give(&mut self, bytes: &[u8]) {
        self.written = self.written.saturating_add(bytes.len() as u64);
        if self.written <= self.most
            && let Err(error) = (self.sink)(bytes)
        {
            self.failure.get_or_insert(error);
        }
    }

    /// Ends the document. Whatever the format cannot express is added to `remarks`.
    ///
    /// # Errors
    /// Returns those of the sink.
    pub(crate) fn end(mut self, remarks: &mut Vec<Finding>) -> io::Result<Written> {
        match std::mem::replace(&mut self.form, Form::Compact) {
            Form::Compact => {}
            Form::Indented(_) => self.give(b"\n"),
            Form::Yaml(mut rewriter) => {
                let mut rest = Vec::new();
                rewriter.end(&mut rest);
                self.give(&rest);
            }
            Form::Protobuf(json) => match Formatter::formatted(json, Format::Pb, false, remarks) {
                Some(bytes) => self.give(&bytes),
                None => return Ok(Written::Nothing),
            },
        }
        match self.failure {
            Some(error) => Err(error),
            None if self.written > self.most => Ok(Written::TooMuch),
            None => Ok(Written::Whole(self.written)),
        }
    }
}

/// Returns the protobuf form of a printed document, if there is one.
fn encode(document: Document<'_>, remarks: &mut Vec<Finding>) -> Option<Vec<u8>> {
    let root = document.root()?;
    let dialect = Dialect::of(root).unwrap_or(Dialect::V2);
    let (value, notes) = match proto::encode(root, dialect) {
        Ok(Converted { value, notes }) => (Some(value), notes),
        Err(refusals) => (None, refusals.into_iter().map(Note::from).collect()),
    };
    remarks.extend(notes.into_iter().map(|note| {
        let mut finding = Finding::new(note.code, note.detail);
        finding.pointer = Some(document.pointer(note.at));
        finding
    }));
    value
}

/// Parses printed JSON, and returns it as a string.
pub(crate) fn read<'a>(json: &'a [u8], tape: &mut Tape) -> Option<&'a str> {
    let mut stream = Stream::new(json, Limits::PRINTED).ok()?;
    stream.next(tape)?.ok()?;
    Some(stream.source())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(json: &str, format: Format, pretty: bool) -> String {
        let mut formatter = Formatter::default();
        let formatted = formatter.format(json.as_bytes(), format, pretty, &mut Vec::new());
        String::from_utf8_lossy(formatted.unwrap_or_default()).into_owned()
    }

    /// Returns the output of a writer for a document in pieces of these tokens.
    fn written(pieces: &[&str], format: Format, pretty: bool, most: u64) -> (Written, String) {
        let mut out = Vec::new();
        let mut sink = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        let mut writer = Writer::new(format, pretty, most, &mut sink);
        for piece in pieces {
            writer.piece(piece.as_bytes());
        }
        let written = writer.end(&mut Vec::new()).expect("the sink takes everything");
        (written, String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn pieces_are_written_as_the_whole_document_and_within_the_limit() {
        let pieces = [r#"{"a":[1,"#, r#"{"b\"\n":"x \u003c\n"},"#, r#""yes"],"c""#, r#":{},"d":1.50"#, r#","e":-0}"#];
        let whole = pieces.concat();
        for (format, pretty) in [(Format::Json, false), (Format::Json, true), (Format::Yaml, false)] {
            let expected = formatted(&whole, format, pretty);
            let size = expected.len() as u64;
            assert_eq!(written(&pieces, format, pretty, size), (Written::Whole(size), expected.clone()));
            let (over, out) = written(&pieces, format, pretty, size - 1);
            assert!(over == Written::TooMuch && expected.starts_with(&out), "{format:?}: {out}");
        }
        assert_eq!(written(&pieces, Format::Pb, false, 1000), (Written::Nothing, String::new()));
    }

    #[test]
    fn compact_json_stays_as_it_is() {
        assert_eq!(formatted(r#"{"a":[1,2]}"#, Format::Json, false), r#"{"a":[1,2]}"#);
    }

    #[test]
    fn pretty_json_is_indented_by_two_spaces() {
        let json = r#"{"a":[1,{"b\"[{":"\\"}],"c":{},"d":[],"e":null}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\\\"[{\": \"\\\\\"\n    }\n  ],\n  \"c\": {},\n  \"d\": [],\n  \"e\": null\n}\n";
        assert_eq!(formatted(json, Format::Json, true), expected);
    }

    #[test]
    fn yaml_is_laid_out_as_kubernetes_tools_do() {
        let json = r#"{"a":[1,{"b":"x","c":[[true],[]]}],"d":{"e":null,"f":{}},"g":"one\ntwo\n","h":["- x","1","yes","a: b"]}"#;
        let expected = "\
a:
- 1
- b: x
  c:
  - - true
  - []
d:
  e: null
  f: {}
g: |
  one
  two
h:
- '- x'
- \"1\"
- \"yes\"
- 'a: b'
";
        assert_eq!(formatted(json, Format::Yaml, false), expected);
    }
}
