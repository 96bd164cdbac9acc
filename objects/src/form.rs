//! The representations of objects and lists: as they are, as a `Table`, as `PartialObjectMetadata`, as a `Scale`.

use crate::accept::Form;
use crate::{meta, proto, value};
use bytes::Bytes;
use kubeshape_registry::print;
use kubeshape_show::table::{Cell, ColumnDefinition, Convertor};
use kubeshape_smd::managed::Time;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::emit::Emitter;
use kubeshape_yaml::go::escape::{Escape, string};
use kubeshape_yaml::{Tape, json};

/// What a list says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListMeta {
    pub(crate) revision: String,
    /// Where the next page begins; empty on the last one.
    pub(crate) token: String,
    pub(crate) remaining: Option<i64>,
}

impl ListMeta {
    /// As Go's struct prints it.
    fn typed(&self, out: &mut Vec<u8>) {
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

    /// As the map of an unstructured list prints it.
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

/// A list of custom resources as compact JSON, of the JSON of its items.
pub(crate) fn list(api_version: &str, kind: &str, items: &[Bytes], meta: &ListMeta) -> Vec<u8> {
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

/// A list of objects of a built-in kind as compact JSON, of the JSON of its items. Items do not say their kind.
pub(crate) fn typed_list(api_version: &str, list: &str, kind: &str, items: &[Bytes], meta: &ListMeta) -> Vec<u8> {
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

/// What stands beside the cells of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    None,
    #[default]
    Metadata,
    Object,
}

/// A `Table` as compact JSON.
#[derive(Debug)]
pub(crate) struct Table<'t> {
    pub(crate) version: &'t str,
    pub(crate) convertor: &'t Convertor,
    /// Whether the columns are told.
    pub(crate) columns: bool,
    pub(crate) include: IncludeObject,
    pub(crate) now: Time,
}

impl Table<'_> {
    /// The table of these objects: the value and the JSON of each.
    pub(crate) fn json(&self, objects: &[(Value<'_>, &[u8])], meta: &ListMeta) -> Vec<u8> {
        let mut out =
            format!(r#"{{"kind":"Table","apiVersion":"meta.k8s.io/{}","metadata":"#, self.version).into_bytes();
        meta.typed(&mut out);
        out.extend_from_slice(b",\"columnDefinitions\":");
        if self.columns {
            out.push(b'[');
            for (at, column) in self.convertor.columns().iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                definition(column, &mut out);
            }
            out.push(b']');
        } else {
            out.extend_from_slice(b"null");
        }
        out.extend_from_slice(b",\"rows\":[");
        for (at, (object, text)) in objects.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(b"{\"cells\":[");
            for (at, cell) in self.convertor.row(*object, self.now).iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                self::cell(cell, &mut out);
            }
            out.extend_from_slice(b"],\"object\":");
            match self.include {
                IncludeObject::None => out.extend_from_slice(b"null"),
                IncludeObject::Metadata => partial(self.version, *object, &mut out),
                IncludeObject::Object => out.extend_from_slice(text),
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
        out
    }
}

fn definition(column: &ColumnDefinition, out: &mut Vec<u8>) {
    let texts = [
        ("{\"name\":", &column.name),
        (",\"type\":", &column.column_type),
        (",\"format\":", &column.format),
        (",\"description\":", &column.description),
    ];
    for (key, text) in texts {
        out.extend_from_slice(key.as_bytes());
        string(out, text, Escape::Html);
    }
    out.extend_from_slice(format!(",\"priority\":{}}}", column.priority).as_bytes());
}

fn cell(cell: &Cell, out: &mut Vec<u8>) {
    match cell {
        Cell::Empty => out.extend_from_slice(b"null"),
        Cell::Text(text) => string(out, text, Escape::Html),
        Cell::Int(n) => Value::Int(*n).write_go_json(out),
        Cell::Float(n) => Value::Float(*n).write_go_json(out),
        Cell::Bool(yes) => Value::Bool(*yes).write_go_json(out),
    }
}

/// Appends the `PartialObjectMetadata` of an object.
pub(crate) fn partial(version: &str, object: Value<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(
        format!(r#"{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{version}","metadata":"#).as_bytes(),
    );
    meta::json(value::metadata(object), out);
    out.push(b'}');
}

/// The `PartialObjectMetadataList` of objects.
pub(crate) fn partial_list(version: &str, objects: &[Value<'_>], meta: &ListMeta) -> Vec<u8> {
    let mut out = format!(r#"{{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/{version}","metadata":"#)
        .into_bytes();
    meta.typed(&mut out);
    out.extend_from_slice(b",\"items\":[");
    for (at, object) in objects.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        partial(version, *object, &mut out);
    }
    out.extend_from_slice(b"]}");
    out
}

/// `PartialObjectMetadata` as protobuf, without its frame.
pub(crate) fn partial_protobuf(object: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    proto::bytes(&mut out, 1, &meta::protobuf(value::metadata(object)));
    out
}

/// `PartialObjectMetadataList` as protobuf, without its frame.
pub(crate) fn partial_list_protobuf(objects: &[Value<'_>], meta: &ListMeta) -> Vec<u8> {
    let mut out = Vec::new();
    proto::bytes(&mut out, 1, &proto::list_meta(&meta.revision, &meta.token, meta.remaining));
    for object in objects {
        proto::bytes(&mut out, 2, &partial_protobuf(*object));
    }
    out
}

/// The `Scale` of an object as Go's struct prints it, as a value whose members are in that order in [`scale_json`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale<'a> {
    /// The metadata of the scale.
    pub(crate) metadata: Value<'a>,
    pub(crate) replicas: i64,
    pub(crate) ready: i64,
    pub(crate) selector: &'a str,
}

impl<'a> Scale<'a> {
    /// Compact JSON.
    pub(crate) fn json(&self) -> Vec<u8> {
        let mut out = br#"{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":"#.to_vec();
        meta::json(self.metadata, &mut out);
        out.extend_from_slice(b",\"spec\":{");
        if self.replicas != 0 {
            out.extend_from_slice(format!("\"replicas\":{}", self.replicas).as_bytes());
        }
        out.extend_from_slice(format!("}},\"status\":{{\"replicas\":{}", self.ready).as_bytes());
        if !self.selector.is_empty() {
            out.extend_from_slice(b",\"selector\":");
            string(&mut out, self.selector, Escape::Html);
        }
        out.extend_from_slice(b"}}");
        out
    }

    /// As a value.
    pub(crate) fn to_value(self, arena: &'a Bump) -> Value<'a> {
        let mut spec = Map::EMPTY;
        if self.replicas != 0 {
            spec = spec.with("replicas", Some(Value::Int(self.replicas)), arena);
        }
        let mut status = Map::EMPTY.with("replicas", Some(Value::Int(self.ready)), arena);
        if !self.selector.is_empty() {
            status = status.with("selector", Some(Value::String(self.selector)), arena);
        }
        let members = vec![
            ("apiVersion", Value::String("autoscaling/v1")),
            ("kind", Value::String("Scale")),
            ("metadata", self.metadata),
            ("spec", Value::Map(spec)),
            ("status", Value::Map(status)),
        ];
        Value::Map(Map::from_entries(members, arena))
    }
}

/// A value as YAML, as servers print it.
pub(crate) fn yaml(value: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    print::write_yaml(value, &mut Emitter::new(&mut out).folding());
    out
}

/// What a body of JSON becomes in a form: compact with a line break, indented without, or YAML.
pub(crate) fn encode(compact: Vec<u8>, form: Form) -> Vec<u8> {
    match form {
        Form::Json | Form::Protobuf => {
            let mut out = compact;
            out.push(b'\n');
            out
        }
        Form::Indented => {
            let mut out = Vec::with_capacity(compact.len() * 2);
            json::indent(&compact, &mut out);
            out
        }
        Form::Yaml => {
            let (mut tape, arena) = (Tape::new(), Bump::new());
            if value::read(&compact, &mut tape).is_err() {
                return compact;
            }
            let text = std::str::from_utf8(&compact).unwrap_or_default();
            let value = tape.document(text).root().map_or(Value::Null, |root| Value::from_node(root, &arena));
            yaml(value)
        }
    }
}
