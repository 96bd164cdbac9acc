//! A line of the report, as it is written and read back.

use crate::args::Shape;
use kubeshape_schema::escape::{self, Escape};
use kubeshape_schema::{Code, NoteKind};

/// A line of the report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry<'a> {
    pub(crate) pointer: Option<&'a str>,
    pub(crate) input: Option<&'a str>,
    pub(crate) place: Option<(usize, usize)>,
    pub(crate) resource: Option<&'a str>,
    pub(crate) version: Option<&'a str>,
    pub(crate) shape: Option<Shape>,
    pub(crate) detail: &'a str,
}

/// How the kind begins in a line of the report: [`is_finding`] reads it back.
const KIND: &str = "{\"code\":\"KS0000\",\"kind\":\"";

impl Entry<'_> {
    /// Appends the line.
    pub(crate) fn write(&self, code: Code, out: &mut Vec<u8>) {
        let text = |out: &mut Vec<u8>, name: &str, value: Option<&str>| {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            match value {
                Some(value) => escape::string(out, value, Escape::Plain),
                None => out.extend_from_slice(b"null"),
            }
        };
        let number = |out: &mut Vec<u8>, name: &str, value: Option<usize>| {
            let value = value.map_or_else(|| "null".to_owned(), |n| n.to_string());
            out.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
        };
        out.extend_from_slice(format!("{{\"code\":\"{code}\",\"kind\":\"{}\"", code.kind().name()).as_bytes());
        text(out, "pointer", self.pointer);
        text(out, "input", self.input);
        number(out, "line", self.place.map(|(line, _)| line));
        number(out, "column", self.place.map(|(_, column)| column));
        text(out, "resource", self.resource);
        text(out, "version", self.version);
        text(out, "shape", self.shape.map(Shape::name));
        text(out, "detail", Some(self.detail));
        out.extend_from_slice(b"}\n");
    }
}

/// Whether a line of the report is a finding about the input, as opposed to a loss.
pub(crate) fn is_finding(line: &[u8]) -> bool {
    let kind = line.get(KIND.len()..).unwrap_or_default();
    [NoteKind::Error, NoteKind::Warning].iter().any(|k| kind.starts_with(k.name().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_report_has_all_members() {
        let mut out = Vec::new();
        let entry = Entry {
            pointer: Some("/a~1b"),
            input: Some("a.yaml"),
            place: Some((3, 7)),
            resource: Some("widgets.example.com"),
            version: Some("v1"),
            shape: Some(Shape::V2),
            detail: "\"<x>\"",
        };
        entry.write(Code::V2Junctor, &mut out);
        Entry { detail: "gone", ..Entry::default() }.write(Code::Unreadable, &mut out);
        let expected = concat!(
            r#"{"code":"KS2001","kind":"widened","pointer":"/a~1b","input":"a.yaml","line":3,"column":7,"#,
            r#""resource":"widgets.example.com","version":"v1","shape":"v2","detail":"\"<x>\""}"#,
            "\n",
            r#"{"code":"KS1007","kind":"error","pointer":null,"input":null,"line":null,"column":null,"#,
            r#""resource":null,"version":null,"shape":null,"detail":"gone"}"#,
            "\n"
        );
        assert_eq!(String::from_utf8_lossy(&out), expected);
        let lines: Vec<bool> = out.split_inclusive(|b| *b == b'\n').map(is_finding).collect();
        assert_eq!(lines, [false, true]);
    }
}
