//! Other spellings of a printed JSON document: indented, or YAML.

use crate::args::Format;
use kubeshape_schema::escape::{self, Escape};
use kubeshape_yaml::{Kind, Limits, Node, Stream, Tape};

/// Rewrites compact JSON and keeps its buffers.
#[derive(Debug, Default)]
pub(crate) struct Formatter {
    tape: Tape,
    out: Vec<u8>,
}

impl Formatter {
    /// The document in a format. Compact JSON stays as it is, because its bytes are hashed; everything else ends in a
    /// line break.
    pub(crate) fn format<'a>(&'a mut self, json: &'a [u8], format: Format, pretty: bool) -> &'a [u8] {
        self.out.clear();
        match format {
            Format::Json if !pretty => return json,
            Format::Json => {
                indented(json, &mut self.out);
                self.out.push(b'\n');
            }
            Format::Yaml => {
                let limits = Limits { bytes: usize::MAX, depth: 4096, nodes: usize::MAX, alias_nodes: 0, scalar: usize::MAX };
                let read = Stream::new(json, limits).ok().and_then(|mut stream| {
                    let source = stream.source();
                    stream.next(&mut self.tape)?.ok()?;
                    self.tape.document(source).root()
                });
                match read {
                    Some(root) => yaml(root, &mut self.out),
                    // JSON is YAML.
                    None => self.out.extend_from_slice(json),
                }
            }
        }
        &self.out
    }
}

/// Appends JSON with members and items on lines of their own, indented by two spaces.
fn indented(json: &[u8], out: &mut Vec<u8>) {
    let mut depth = 0;
    let mut at = 0;
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', 2 * depth));
    };
    while let Some(&byte) = json.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let start = at - 1;
                while let Some(&byte) = json.get(at) {
                    at += 1 + usize::from(byte == b'\\');
                    if byte == b'"' {
                        break;
                    }
                }
                out.extend_from_slice(&json[start..at.min(json.len())]);
            }
            b'{' | b'[' => {
                out.push(byte);
                if json.get(at) == Some(&(byte + 2)) {
                    out.push(byte + 2);
                    at += 1;
                } else {
                    depth += 1;
                    line(out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(b',');
                line(out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.push(byte),
        }
    }
}

/// Appends a document as block YAML, in the layout that Kubernetes' tools print.
fn yaml(root: Node<'_>, out: &mut Vec<u8>) {
    match root.kind() {
        Kind::Map | Kind::Seq if !root.is_empty() => block(root, 0, out),
        _ => {
            scalar(root, 0, out);
            out.push(b'\n');
        }
    }
}

/// The lines of a container that is not empty; the first one is not indented.
fn block(node: Node<'_>, indent: usize, out: &mut Vec<u8>) {
    if node.kind() == Kind::Seq {
        for (i, item) in node.items().enumerate() {
            if i > 0 {
                spaces(indent, out);
            }
            out.extend_from_slice(b"- ");
            match item.kind() {
                Kind::Map | Kind::Seq if !item.is_empty() => block(item, indent + 2, out),
                _ => {
                    scalar(item, indent + 2, out);
                    out.push(b'\n');
                }
            }
        }
        return;
    }
    for (i, (key, value)) in node.pairs().enumerate() {
        if i > 0 {
            spaces(indent, out);
        }
        text(key.text(), None, out);
        out.push(b':');
        match value.kind() {
            Kind::Map if !value.is_empty() => {
                out.push(b'\n');
                spaces(indent + 2, out);
                block(value, indent + 2, out);
            }
            Kind::Seq if !value.is_empty() => {
                out.push(b'\n');
                spaces(indent, out);
                block(value, indent, out);
            }
            _ => {
                out.push(b' ');
                scalar(value, indent + 2, out);
                out.push(b'\n');
            }
        }
    }
}

fn spaces(n: usize, out: &mut Vec<u8>) {
    out.extend(std::iter::repeat_n(b' ', n));
}

fn scalar(node: Node<'_>, indent: usize, out: &mut Vec<u8>) {
    match node.kind() {
        Kind::Map => out.extend_from_slice(b"{}"),
        Kind::Seq => out.extend_from_slice(b"[]"),
        Kind::Null => out.extend_from_slice(b"null"),
        Kind::True => out.extend_from_slice(b"true"),
        Kind::False => out.extend_from_slice(b"false"),
        Kind::Int | Kind::Float => out.extend_from_slice(node.text().as_bytes()),
        Kind::Str => text(node.text(), Some(indent), out),
    }
}

/// A text: plain if every reader takes it as one, as a literal block if it has lines, else quoted.
fn text(text: &str, indent: Option<usize>, out: &mut Vec<u8>) {
    if is_plain(text) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    if let Some(indent) = indent.filter(|_| is_literal(text)) {
        let body = text.strip_suffix('\n');
        out.extend_from_slice(if body.is_some() { b"|" } else { b"|-" });
        for line in body.unwrap_or(text).split('\n') {
            out.push(b'\n');
            if !line.is_empty() {
                spaces(indent, out);
                out.extend_from_slice(line.as_bytes());
            }
        }
        return;
    }
    quoted(text, out);
}

/// A text in double quotes. Beyond what JSON escapes, line breaks of YAML 1.1 and what it calls not printable.
fn quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut from = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| !is_printable(*c)) {
        escape::body(out, &text[from..at], Escape::Plain);
        from = at + c.len_utf8();
        match c {
            '\u{7F}'..='\u{FFFF}' => out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes()),
            c => escape::body(out, c.encode_utf8(&mut [0; 4]), Escape::Plain),
        }
    }
    escape::body(out, &text[from..], Escape::Plain);
    out.push(b'"');
}

/// Whether a character can stand in YAML 1.1 as it is and breaks no line.
fn is_printable(c: char) -> bool {
    match c {
        '\u{2028}' | '\u{2029}' => false,
        ' '..='~' | '\u{A0}'..='\u{FEFE}' | '\u{FF00}'..='\u{FFFD}' | '\u{10000}'.. => true,
        _ => false,
    }
}

/// Whether a text can stand unquoted. Narrower than YAML allows, so that readers of YAML 1.1 and 1.2 agree.
fn is_plain(text: &str) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    // A letter or a path: no number, date, marker or indicator begins so.
    if !(first.is_alphabetic() || first == '/' || first == '$' || first == '(' || first == '_') {
        return false;
    }
    let words = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    if words.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return false;
    }
    text.chars().all(is_printable)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([' ', ':'])
}

/// Whether a text reads well, and back, as a literal block.
fn is_literal(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\n', '\t'])
        && !text.ends_with("\n\n")
        && !text.lines().any(|line| line.ends_with([' ', '\t']))
        && text.chars().all(|c| c == '\n' || is_printable(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(json: &str, format: Format, pretty: bool) -> String {
        String::from_utf8_lossy(Formatter::default().format(json.as_bytes(), format, pretty)).into_owned()
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
- \"- x\"
- \"1\"
- \"yes\"
- \"a: b\"
";
        assert_eq!(formatted(json, Format::Yaml, false), expected);
    }

    #[test]
    fn yaml_reads_back_as_the_json_it_was_made_of() {
        let texts = [
            "", " ", "a", "~", "null", "Yes", "1e3", "0x1", "1_0", ".5", "a:", "a: b", "a #b", "a#b", "#a", "- a", "---", "...",
            "a\nb", "a\nb\n", "a\n\nb", "a\n\n", "\na", " a\nb", "a \nb", "a\tb", "\u{85}", "\u{2028}", "\u{feff}", "é", "日本\n語", "\u{7f}", "😀", "a\u{9f}b\nc",
            "\u{0}", "a\r\nb", "{a}", "[a]", "a, b", "*a", "&a", "!a", "|", ">", "%a", "@a", "`a", "\"a\"", "'a'", "a\\b", "=", "<<",
            "2001-01-01", "inf", ".inf", "a\n  b\nc", "a\n# b", "---\na", "a\n--- b", "/a", "$a", "NaN",
        ];
        let json = serde_json::json!({ "items": texts.as_slice(), "keys": texts.iter().map(|t| (*t, t)).collect::<std::collections::BTreeMap<_, _>>() });
        let yaml = formatted(&json.to_string(), Format::Yaml, false);
        let mut tape = Tape::new();
        let mut stream = Stream::new(yaml.as_bytes(), Limits::default()).expect("UTF-8");
        let source = stream.source();
        stream.next(&mut tape).expect("a document").unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        let mut back = Vec::new();
        kubeshape_yaml::json::write(tape.document(source).root().expect("content"), &mut back, kubeshape_yaml::json::Options::default());
        let back: serde_json::Value = serde_json::from_slice(&back).expect("JSON");
        assert_eq!(back, json, "{yaml}");
    }
}
