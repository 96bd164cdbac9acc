//! Rows and answers as lines of JSON.

use super::{Answer, Files, Row, Worker};
use kubeshape::Findings;
use kubeshape_input::Limits;
use kubeshape_schema::Bump;
use kubeshape_smd::Value;
use kubeshape_yaml::{Kind, Node, Stream, Tape};
use serde_json::json;
use std::borrow::Cow;
use std::path::Path;

/// Works on lines, and reuses its buffers.
pub(crate) struct Lines<'t> {
    worker: Worker<'t>,
    tape: Tape,
    files: Files,
    /// Whether rows may name files.
    paths: bool,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(worker: Worker<'t>, paths: bool) -> Lines<'t> {
        Lines { worker, tape: Tape::new(), files: Files::default(), paths }
    }

    /// Works on a line, and appends its answer as a line. Returns the verdict.
    pub(crate) fn line(&mut self, number: u64, line: &[u8], out: &mut Vec<u8>) -> &'static str {
        let (id, answer) = self.answer(number, line);
        Lines::write(&id, number, &answer, out);
        answer.verdict
    }

    /// Appends an answer as a line.
    pub(crate) fn write(id: &serde_json::Value, number: u64, answer: &Answer, out: &mut Vec<u8>) {
        let mut made = json!({ "id": id, "line": number, "verdict": answer.verdict, "findings": answer.findings });
        if !answer.results.is_empty() {
            made["results"] = json!(answer.results);
        }
        // Writing to a vector cannot fail, and all members of a finding are valid in JSON.
        let _ = serde_json::to_writer(&mut *out, &made);
        out.push(b'\n');
    }

    fn answer(&mut self, number: u64, line: &[u8]) -> (serde_json::Value, Answer) {
        let broken = |detail: &str| {
            let answer = Answer::refused(&format!("the row is no JSON object: {detail}"), &format!("line {number}"));
            (serde_json::Value::Null, answer)
        };
        let mut tape = std::mem::take(&mut self.tape);
        let read = Stream::new(line, Limits::default()).map(|mut stream| stream.next(&mut tape));
        let made = match (read, std::str::from_utf8(line)) {
            (Ok(Some(Ok(()))), Ok(text)) if line.trim_ascii_start().starts_with(b"{") => {
                match tape.document(text).root().filter(|root| root.kind() == Kind::Map) {
                    Some(root) => self.row(number, text, root),
                    None => broken("it is something else"),
                }
            }
            (Ok(Some(Err(error))) | Err(error), _) => broken(&error.to_string()),
            (_, Err(_)) => broken("it is not UTF-8"),
            _ => broken("it does not begin with a brace"),
        };
        self.tape = tape;
        made
    }

    fn row(&mut self, number: u64, line: &str, root: Node<'_>) -> (serde_json::Value, Answer) {
        let arena = Bump::new();
        let member = |name: &str| root.get(name).filter(|node| node.kind() != Kind::Null);
        let id = member("id").map_or(serde_json::Value::Null, |node| Value::from_node(node, &arena).to_serde());
        let name = match (member("name").and_then(Node::as_str), member("path").and_then(Node::as_str), &id) {
            (Some(name), _, _) | (None, Some(name), _) => Cow::Borrowed(name),
            (_, _, serde_json::Value::String(id)) => Cow::Owned(id.clone()),
            _ => Cow::Owned(format!("line {number}")),
        };
        let text = |names: &[&str]| {
            let node = names.iter().find_map(|name| member(name))?;
            Some(match node.kind() {
                Kind::Map | Kind::Seq => Cow::Borrowed(line.get(node.span()).unwrap_or_default()),
                _ => Cow::Borrowed(node.as_str().unwrap_or_default()),
            })
        };
        // A number here is an error, not an empty text.
        let is_text = |node: Node<'_>| matches!(node.kind(), Kind::Map | Kind::Seq) || node.as_str().is_some();
        let has_texts = ["text", "object", "new", "old"].iter().filter_map(|name| member(name)).all(is_text);
        let old = text(&["old"]).unwrap_or_default();
        let row = |text| Row { name: &name, text, old: old.as_bytes() };
        let answer = match (text(&["text", "object", "new"]), member("path").and_then(Node::as_str)) {
            _ if !has_texts => Answer::refused("text, object, old and new must be strings or objects", &name),
            (Some(text), _) => self.worker.answer(row(text.as_bytes())),
            (None, Some(_)) if !self.paths => Answer::refused("rows may name files only with --paths", &name),
            (None, Some(path)) => match self.files.read(Path::new(path), &name) {
                Ok(bytes) => self.worker.answer(row(bytes)),
                Err(Findings(findings)) => Answer::new("refused", findings),
            },
            (None, None) => Answer::refused("the row has none of text, object, path and new", &name),
        };
        (id, answer)
    }
}
