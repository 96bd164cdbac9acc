//! The representations of objects and lists. Each kind of representation has its own file.

mod description;
mod export;
mod partial;
mod room;
mod scale;
mod table;

use crate::accept::Form;
use crate::status::Status;
use crate::{cbor, value};
use kubeshape_registry::print;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::emit::Emitter;
use kubeshape_yaml::go::escape::{Escape, string};
use kubeshape_yaml::{Tape, json};

pub(crate) use description::{description, descriptions};
pub(crate) use export::{Exported, metadata as exported_metadata, without_defaults};
pub(crate) use partial::{
    list_meta, object_meta, partial, partial_head, partial_list, partial_list_protobuf, partial_protobuf,
};
pub use room::MAX_FORM_GROWTH;
pub(crate) use room::Room;
pub(crate) use scale::{AUTOSCALING, Scale};
pub(crate) use table::{ColumnOptions, IncludeObject, Rows, Table, csv, tabular};

/// The group version of the kinds that every resource can be converted to.
pub(crate) const META_V1: &str = "meta.k8s.io/v1";

/// The `ListMeta` of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListMeta {
    pub(crate) revision: String,
    /// The token of the next page; empty on the last one.
    pub(crate) token: String,
    pub(crate) remaining: Option<i64>,
}

impl ListMeta {
    /// Appends it as Go's struct prints it.
    pub(super) fn typed(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        let start = out.len();
        for (key, text) in [("resourceVersion", &self.revision), ("continue", &self.token)] {
            if !text.is_empty() {
                separate(out, start);
                out.extend_from_slice(format!("\"{key}\":").as_bytes());
                string(out, text, Escape::Html);
            }
        }
        if let Some(remaining) = self.remaining {
            separate(out, start);
            out.extend_from_slice(format!("\"remainingItemCount\":{remaining}").as_bytes());
        }
        out.push(b'}');
    }

    /// Appends it as the map of an unstructured list prints it.
    fn untyped(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"continue\":");
        string(out, &self.token, Escape::Html);
        if let Some(remaining) = self.remaining {
            out.extend_from_slice(format!(",\"remainingItemCount\":{remaining}").as_bytes());
        }
        out.extend_from_slice(b",\"resourceVersion\":");
        string(out, &self.revision, Escape::Html);
        out.push(b'}');
    }
}

fn separate(out: &mut Vec<u8>, start: usize) {
    if out.len() > start {
        out.push(b',');
    }
}

/// Prints a `List` of `v1` or `meta.k8s.io/v1` as compact JSON. Items contain their kinds.
pub(crate) fn generic_list(api_version: &str, items: &[&[u8]], meta: &ListMeta) -> Vec<u8> {
    let mut out = format!(r#"{{"kind":"List","apiVersion":"{api_version}","metadata":"#).into_bytes();
    meta.typed(&mut out);
    out.extend_from_slice(b",\"items\":[");
    join(items.iter(), &mut out, |item, out| out.extend_from_slice(item));
    out.extend_from_slice(b"]}");
    out
}

/// Appends items with commas between them, as long as there is room.
///
/// # Errors
/// There is no more room.
pub(super) fn join_within<T>(
    items: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    room: Room<'_>,
    mut each: impl FnMut(T, &mut Vec<u8>) -> Result<(), Status>,
) -> Result<(), Status> {
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        each(item, out)?;
        room.holds(out.len())?;
    }
    Ok(())
}

/// Appends items with commas between them.
pub(super) fn join<T>(items: impl Iterator<Item = T>, out: &mut Vec<u8>, mut each: impl FnMut(T, &mut Vec<u8>)) {
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        each(item, out);
    }
}

/// Prints a list of custom resources as compact JSON, given the JSON of its items.
pub(crate) fn list(api_version: &str, kind: &str, items: &[&[u8]], meta: &ListMeta) -> Vec<u8> {
    let length: usize = items.iter().map(|item| item.len() + 1).sum();
    let mut out = Vec::with_capacity(length + 256);
    out.extend_from_slice(b"{\"apiVersion\":");
    string(&mut out, api_version, Escape::Html);
    out.extend_from_slice(b",\"items\":[");
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item);
    }
    out.extend_from_slice(b"],\"kind\":");
    string(&mut out, kind, Escape::Html);
    out.extend_from_slice(b",\"metadata\":");
    meta.untyped(&mut out);
    out.push(b'}');
    out
}

/// Prints a list of objects of a built-in kind as compact JSON, given the JSON of its items. Items omit their kind.
pub(crate) fn typed_list(api_version: &str, list: &str, kind: &str, items: &[&[u8]], meta: &ListMeta) -> Vec<u8> {
    let length: usize = items.iter().map(|item| item.len() + 1).sum();
    let mut out = Vec::with_capacity(length + 256);
    let head = |out: &mut Vec<u8>, kind: &str| {
        out.extend_from_slice(b"{\"kind\":");
        string(out, kind, Escape::Html);
        out.extend_from_slice(b",\"apiVersion\":");
        string(out, api_version, Escape::Html);
        out.push(b',');
    };
    let mut of_item = Vec::new();
    head(&mut of_item, kind);
    head(&mut out, list);
    out.extend_from_slice(b"\"metadata\":");
    meta.typed(&mut out);
    out.extend_from_slice(b",\"items\":[");
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match item.strip_prefix(&*of_item) {
            Some(rest) => {
                out.push(b'{');
                out.extend_from_slice(rest);
            }
            None => out.extend_from_slice(item),
        }
    }
    out.extend_from_slice(b"]}");
    out
}

/// Prints a value as YAML, as servers do.
///
/// # Errors
/// There is no room for it.
pub(crate) fn yaml(value: Value<'_>, room: Room<'_>) -> Result<Vec<u8>, Status> {
    let mut out = Vec::new();
    let mut emitter = Emitter::new(&mut out).folding().within(room.most);
    print::write_yaml_until(value, &mut emitter, &|| room.stop.is_set());
    room.holds(out.len())?;
    Ok(out)
}

/// The bytes indented between two checks.
const PIECE: usize = 4 << 10;

/// Indents JSON.
fn indented(compact: &[u8], room: Room<'_>) -> Result<Vec<u8>, Status> {
    let (mut indenter, mut out) = (json::Indenter::default(), Vec::with_capacity(compact.len() * 2));
    for piece in compact.chunks(PIECE) {
        indenter.piece(piece, &mut out);
        room.holds(out.len())?;
    }
    Ok(out)
}

/// Converts a JSON body to a form: compact with a line break, indented without one, YAML, or CBOR.
///
/// # Errors
/// There is no room for it.
pub(crate) fn encode(compact: Vec<u8>, form: Form, room: Room<'_>) -> Result<Vec<u8>, Status> {
    Ok(match form {
        Form::Cbor => cbor::of_json(&compact).unwrap_or(compact),
        // Rows are never made from JSON.
        Form::Json | Form::Protobuf | Form::Csv => {
            let mut out = compact;
            out.push(b'\n');
            out
        }
        Form::Indented => indented(&compact, room)?,
        Form::Yaml => {
            let (mut tape, arena) = (Tape::new(), Bump::new());
            if value::read(&compact, &mut tape).is_err() {
                return Ok(compact);
            }
            let text = std::str::from_utf8(&compact).unwrap_or_default();
            let value = tape.document(text).root().map_or(Value::Null, |root| Value::from_node(root, &arena));
            yaml(value, room)?
        }
    })
}
