//! Helpers of tests over recorded documents.

pub(crate) mod distance;
mod unpacked;

use kubeshape_convert::{v2, v3};
use kubeshape_schema::{Bump, Note, Profile};
use kubeshape_yaml::{Kind, Limits, Node, Stream, Tape};
use serde_json::Value;
use std::error::Error;
use std::path::{Path, PathBuf};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(crate) use kubeshape_corpus::folder_named_by as folder;
pub(crate) use unpacked::bytes;

/// Returns all files below a folder whose names have this ending, sorted.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Calls `f` with the root of the first document that has content.
pub(crate) fn with_root<T>(source: &[u8], f: impl FnOnce(Node<'_>) -> Result<T>) -> Result<T> {
    let mut tape = Tape::new();
    let mut stream = Stream::new(source, Limits::default())?;
    let text = stream.source();
    while let Some(read) = stream.next(&mut tape) {
        read?;
        if tape.has_content() {
            break;
        }
    }
    f(tape.document(text).root().ok_or("no document")?)
}

/// Converts a v2 document to v3. Returns it, or `None` if there is no result, and the notes as `code detail`. Printing
/// during the conversion must give the same.
pub(crate) fn v3_of(source: &[u8], profile: Profile) -> Result<(Option<Vec<u8>>, Vec<String>)> {
    with_root(source, |root| {
        let arena = Bump::new();
        let read = v2::read(root, &arena, profile);
        let document = read.value.ok_or_else(|| notes(&read.notes).join("; "))?;
        let converted = v3::from_v2::convert(&document, &arena, profile);
        let out = converted.value.map(|document| {
            let mut out = Vec::new();
            document.print(&mut out, profile);
            out
        });
        let mut streamed = Vec::new();
        let printed = v3::from_v2::print(&document, &mut streamed, profile);
        let streamed = printed.value.then_some(streamed);
        if streamed != out || by_place(printed.notes) != by_place(converted.notes.clone()) {
            return Err("printing during the conversion gives another document, or other notes".into());
        }
        Ok((out, notes(&converted.notes)))
    })
}

fn by_place(mut notes: Vec<Note<'_>>) -> Vec<Note<'_>> {
    notes.sort_by_key(|note| note.at);
    notes
}

pub(crate) fn notes(notes: &[Note<'_>]) -> Vec<String> {
    notes.iter().map(|note| format!("{} {}", note.code, note.detail)).collect()
}

/// Reads a document as plain JSON.
pub(crate) fn value(source: &[u8]) -> Result<Value> {
    with_root(source, |root| Ok(to_value(root)))
}

fn to_value(node: Node<'_>) -> Value {
    match node.kind() {
        Kind::Null => Value::Null,
        Kind::False => Value::Bool(false),
        Kind::True => Value::Bool(true),
        Kind::Int | Kind::Float => {
            node.as_number().and_then(|n| serde_json::Number::from_f64(n.as_f64())).map_or(Value::Null, Value::Number)
        }
        Kind::Str => Value::String(node.text().to_owned()),
        Kind::Seq => Value::Array(node.items().map(to_value).collect()),
        Kind::Map => Value::Object(node.pairs().map(|(key, value)| (key.text().to_owned(), to_value(value))).collect()),
    }
}
