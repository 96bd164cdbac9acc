//! Other formats of a printed JSON document: indented JSON, YAML, protobuf.

use crate::args::Format;
use kubeshape_convert::proto;
use kubeshape_input::{Finding, Note};
use kubeshape_schema::{Converted, Dialect};
use kubeshape_yaml::emit::Emitter;
use kubeshape_yaml::{Document, Limits, Stream, Tape, json};

/// Rewrites compact JSON and keeps its buffers.
#[derive(Debug, Default)]
pub(crate) struct Formatter {
    tape: Tape,
    out: Vec<u8>,
}

impl Formatter {
    /// The document in a format; `None` if the format cannot express it. Compact JSON does not change, because its bytes
    /// are hashed. Other text ends with a line break. What the format cannot express is added to `remarks`, with pointers
    /// into the printed document.
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

/// The protobuf form of a printed document; `None` if there is none.
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

/// Parses printed JSON, and returns it as text.
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
