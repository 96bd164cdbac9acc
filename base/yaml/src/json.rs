//! JSON as Kubernetes' YAML to JSON conversion prints it.

use crate::go::escape::{self, Escape};
use crate::go::number::{self, Number};
use crate::resolve::{self, Value};
use crate::{Kind, Node};

/// How JSON is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether mappings are printed sorted by the bytes of their keys, as Go prints maps, and only the last of repeated
    /// keys; else all pairs are printed in document order.
    pub sorted: bool,
    /// Whether `<`, `>` and `&` are escaped, as Go does by default.
    pub escape_html: bool,
}

impl Default for Options {
    /// The options of Kubernetes' conversion: sorted, with HTML escaped.
    fn default() -> Self {
        Options { sorted: true, escape_html: true }
    }
}

/// Appends a node as JSON.
///
/// # Example
/// ```
/// use kubeshape_yaml::{Limits, Stream, Tape, json};
/// let source = "b: 010\na: [yes, <x>]\n";
/// let mut stream = Stream::new(source.as_bytes(), Limits::default()).unwrap();
/// let mut tape = Tape::new();
/// stream.next(&mut tape).unwrap().unwrap();
/// let mut out = Vec::new();
/// json::write(tape.document(source).root().unwrap(), &mut out, json::Options::default());
/// assert_eq!(String::from_utf8(out).unwrap(), r#"{"a":[true,"\u003cx\u003e"],"b":8}"#);
/// ```
pub fn write(node: Node<'_>, out: &mut Vec<u8>, options: Options) {
    // What is left to print, the next on top.
    enum Task<'a> {
        Node(Node<'a>),
        Pair(Node<'a>, Node<'a>),
        Sign(u8),
    }
    let mut tasks = vec![Task::Node(node)];
    let mut pairs: Vec<(Node<'_>, Node<'_>)> = Vec::new();
    while let Some(task) = tasks.pop() {
        let node = match task {
            Task::Sign(sign) => {
                out.push(sign);
                continue;
            }
            Task::Pair(key, value) => {
                write_str(key.text(), out, options.escape_html);
                out.push(b':');
                value
            }
            Task::Node(node) => node,
        };
        match node.kind() {
            Kind::Seq => {
                out.push(b'[');
                tasks.push(Task::Sign(b']'));
                let from = tasks.len();
                for (n, item) in node.items().enumerate() {
                    if n > 0 {
                        tasks.push(Task::Sign(b','));
                    }
                    tasks.push(Task::Node(item));
                }
                tasks[from..].reverse();
            }
            Kind::Map => {
                out.push(b'{');
                tasks.push(Task::Sign(b'}'));
                let from = tasks.len();
                pairs.clear();
                pairs.extend(node.pairs());
                if options.sorted {
                    // The sort is stable: of equal keys, the last one written stays last.
                    pairs.sort_by(|a, b| a.0.text().cmp(b.0.text()));
                }
                for n in 0..pairs.len() {
                    let (key, value) = pairs[n];
                    if options.sorted && pairs.get(n + 1).is_some_and(|(next, _)| next.text() == key.text()) {
                        continue;
                    }
                    if tasks.len() > from {
                        tasks.push(Task::Sign(b','));
                    }
                    tasks.push(Task::Pair(key, value));
                }
                tasks[from..].reverse();
            }
            _ => scalar(node, out, options),
        }
    }
}

fn scalar(node: Node<'_>, out: &mut Vec<u8>, options: Options) {
    match node.kind() {
        Kind::Null | Kind::Seq | Kind::Map => out.extend_from_slice(b"null"),
        Kind::False => out.extend_from_slice(b"false"),
        Kind::True => out.extend_from_slice(b"true"),
        Kind::Str => write_str(node.text(), out, options.escape_html),
        Kind::Int | Kind::Float => {
            // Doubles are printed as doubles: -0.0 as -0.
            let value = if node.document().is_json() {
                match number::from_json_literal(node.text()) {
                    Some(Number::Int(n)) => Value::Int(n),
                    Some(Number::Uint(n)) => Value::Uint(n),
                    Some(Number::Float(n)) => Value::Float(n),
                    None => Value::Null,
                }
            } else {
                resolve::plain(node.text())
            };
            match value {
                Value::Int(n) => number::write_int(n, out),
                Value::Uint(n) => number::write_uint(n, out),
                Value::Float(n) => number::write_json(n, out),
                _ => out.extend_from_slice(b"null"),
            }
        }
    }
}

/// Appends a string as a JSON string, escaped as Go's `encoding/json` escapes it.
///
/// # Example
/// ```
/// let mut out = Vec::new();
/// kubeshape_yaml::json::write_str("a\n\"<\u{1}", &mut out, true);
/// assert_eq!(out, br#""a\n\"\u003c\u0001""#);
/// ```
pub fn write_str(text: &str, out: &mut Vec<u8>, escape_html: bool) {
    escape::string(out, text, if escape_html { Escape::Html } else { Escape::Lines });
}

/// Appends JSON with members and items on lines of their own, indented by two blanks per level as Go's `json.Indent`
/// does. Drops blanks between and after its tokens, and adds no line end. Invalid JSON stays
/// invalid.
///
/// ```
/// let mut out = Vec::new();
/// kubeshape_yaml::json::indent(br#"{"a":[1,{}]}"#, &mut out);
/// assert_eq!(out, b"{\n  \"a\": [\n    1,\n    {}\n  ]\n}");
/// ```
pub fn indent(json: &[u8], out: &mut Vec<u8>) {
    Indenter::default().piece(json, out);
}

/// Does the same as [`indent`] for JSON in pieces, which may begin and end anywhere.
///
/// ```
/// let (mut indenter, mut out) = (kubeshape_yaml::json::Indenter::default(), Vec::new());
/// for piece in [&b"{\"a\":[1,{"[..], b"}]}"] {
///     indenter.piece(piece, &mut out);
/// }
/// assert_eq!(out, b"{\n  \"a\": [\n    1,\n    {}\n  ]\n}");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Indenter {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    /// Whether a collection is open and nothing of it is printed.
    is_open: bool,
}

impl Indenter {
    /// Appends a piece.
    pub fn piece(&mut self, json: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        while let Some(&byte) = json.get(at) {
            if self.in_text {
                if std::mem::take(&mut self.is_escaped) {
                    out.push(byte);
                    at += 1;
                    continue;
                }
                let end = memchr::memchr2(b'"', b'\\', &json[at..]).map_or(json.len(), |n| at + n);
                out.extend_from_slice(&json[at..end]);
                if let Some(&sign) = json.get(end) {
                    out.push(sign);
                    (self.in_text, self.is_escaped) = (sign != b'"', sign != b'"');
                }
                at = end + 1;
                continue;
            }
            at += 1;
            if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                continue;
            }
            if std::mem::take(&mut self.is_open) {
                if matches!(byte, b'}' | b']') {
                    out.push(byte);
                    continue;
                }
                self.depth += 1;
                self.line(out);
            }
            match byte {
                b'"' => {
                    self.in_text = true;
                    out.push(byte);
                }
                b'{' | b'[' => {
                    self.is_open = true;
                    out.push(byte);
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.line(out);
                    out.push(byte);
                }
                b',' => {
                    out.push(byte);
                    self.line(out);
                }
                b':' => out.extend_from_slice(b": "),
                _ => out.push(byte),
            }
        }
    }

    fn line(&self, out: &mut Vec<u8>) {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', self.depth * 2));
    }
}

#[cfg(test)]
mod tests {
    use super::{Indenter, indent};

    #[test]
    fn strings_keep_their_bytes_and_empty_collections_stay_on_their_line() {
        let mut out = Vec::new();
        indent(br#"{"a,{\"":[ ],"b":{},"c":["\\",1 , null]}"#, &mut out);
        let expected = "{\n  \"a,{\\\"\": [],\n  \"b\": {},\n  \"c\": [\n    \"\\\\\",\n    1,\n    null\n  ]\n}";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }

    #[test]
    fn pieces_give_what_the_whole_gives() {
        let json = br#"{"a,{\"":[ ],"b":{},"c":["\\",1 , null, {"d\\\"e":[{}]}]}"#;
        let mut whole = Vec::new();
        indent(json, &mut whole);
        for size in 1..json.len() {
            let (mut indenter, mut out) = (Indenter::default(), Vec::new());
            json.chunks(size).for_each(|piece| indenter.piece(piece, &mut out));
            assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&whole), "pieces of {size}");
        }
    }
}
