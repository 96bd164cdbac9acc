//! The defaults that a server adds.

use crate::{Encoding, File, Knowledge};
use kubeshape_input::Limits;
use kubeshape_yaml::{Kind, Node, Stream, Tape};
use lsp_types::{InlayHint, InlayHintLabel, InlayHintTooltip, Range};

/// The maximum number of hints of a file, and of letters of one.
const MOST: usize = 5_000;
const LONGEST: usize = 80;

/// Returns the members that the server adds to the objects of a range, each at the end of the line of what gets it.
pub fn hints<K: Knowledge>(file: &File, range: Range, encoding: Encoding, knowledge: &mut K) -> Vec<InlayHint> {
    let mut out = Vec::new();
    if !file.is_manifest() || file.masked.is_some() {
        return out;
    }
    let (from, to) = (file.text().offset(range.start, encoding), file.text().offset(range.end, encoding));
    for part in file.parts().iter().filter(|part| part.range.start <= to && from <= part.range.end) {
        let documents = file.documents(part);
        if !documents.is_whole {
            continue;
        }
        let text = file.source().get(part.range.clone()).unwrap_or_default();
        let stored = knowledge.stored(&file.name, text);
        let objects = documents.documents.iter().flat_map(kubeshape_input::Document::objects);
        let objects = objects.filter(|object| object.kind() == Kind::Map);
        for (object, stored) in objects.zip(&stored) {
            let mut tape = Tape::new();
            let read = Stream::new(stored.as_bytes(), Limits::default()).map(|mut stream| stream.next(&mut tape));
            let (Ok(Some(Ok(()))), Some(root)) = (read, tape.document(stored).root()) else { continue };
            let mut added = Vec::new();
            for (key, value) in object.pairs() {
                // The server's own records are no defaults.
                if !matches!(key.text(), "metadata" | "status")
                    && let Some(after) = root.get(key.text())
                {
                    members(key, value, after, &mut added);
                }
            }
            for (at, text) in added {
                let offset = at + part.range.start;
                let line = file.text().line_of(offset);
                let (start, content) = file.text().line(line);
                if out.len() < MOST && from <= offset && offset <= to {
                    out.push(InlayHint {
                        position: file.text().position(start + content.len(), encoding),
                        label: InlayHintLabel::String(text),
                        kind: None,
                        text_edits: None,
                        tooltip: Some(InlayHintTooltip::String("the server adds this".to_owned())),
                        padding_left: Some(true),
                        padding_right: None,
                        data: None,
                    });
                }
            }
        }
    }
    out
}

/// Adds the members that a value gets, with the position of what has the value.
fn members(at: Node<'_>, sent: Node<'_>, stored: Node<'_>, out: &mut Vec<(usize, String)>) {
    match (sent.kind(), stored.kind()) {
        (Kind::Map, Kind::Map) => {
            let new = stored.pairs().filter(|(key, _)| sent.get(key.text()).is_none());
            let texts: Vec<String> = new.map(|(key, value)| format!("{}: {}", key.text(), short(value))).collect();
            if !texts.is_empty() {
                out.push((at.span().start, cut(&texts.join(", "))));
            }
            for (key, value) in sent.pairs() {
                if let Some(after) = stored.get(key.text()) {
                    members(key, value, after, out);
                }
            }
        }
        (Kind::Seq, Kind::Seq) if sent.len() == stored.len() => {
            for (item, after) in sent.items().zip(stored.items()) {
                members(item, item, after, out);
            }
        }
        _ => {}
    }
}

fn short(value: Node<'_>) -> String {
    match value.kind() {
        Kind::Map => {
            let members: Vec<String> =
                value.pairs().take(4).map(|(key, value)| format!("{}: {}", key.text(), short(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Kind::Seq => format!("[{}]", value.items().take(4).map(short).collect::<Vec<_>>().join(", ")),
        Kind::Null => "null".to_owned(),
        _ if value.text().is_empty() => "\"\"".to_owned(),
        _ => value.text().to_owned(),
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}
