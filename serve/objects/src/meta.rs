//! `ObjectMeta` as Go's struct prints it: members in the order of the struct, empty ones left out.

use crate::proto;
use kubeshape_smd::Value;
use kubeshape_smd::managed::Time;
use kubeshape_smd::value::Map;

/// The members in the order of Go's struct.
const MEMBERS: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];
const OWNER: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
const ENTRY: [&str; 7] = ["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"];

/// Appends metadata as JSON.
pub(crate) fn json(metadata: Value<'_>, out: &mut Vec<u8>) {
    members(metadata, &MEMBERS, out, |key, value, out| match (key, value) {
        ("ownerReferences", Value::List(items)) => {
            list(items, out, |item, out| members(item, &OWNER, out, |_, value, out| value.write_go_json(out)));
        }
        ("managedFields", Value::List(items)) => {
            list(items, out, |item, out| members(item, &ENTRY, out, |_, value, out| value.write_go_json(out)));
        }
        (_, value) => value.write_go_json(out),
    });
}

/// Members that Go leaves out if they are empty.
fn is_empty(value: Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        Value::Int(n) => n == 0,
        _ => false,
    }
}

fn members(value: Value<'_>, order: &[&str], out: &mut Vec<u8>, write: impl Fn(&str, Value<'_>, &mut Vec<u8>)) {
    out.push(b'{');
    let mut first = true;
    for key in order {
        // The number of seconds is a pointer in Go: 0 is a value.
        let keeps_zero = *key == "deletionGracePeriodSeconds";
        let found = value.get(key).filter(|value| !is_empty(*value) || (keeps_zero && matches!(value, Value::Int(_))));
        let Some(value) = found else { continue };
        if !first {
            out.push(b',');
        }
        first = false;
        Value::String(key).write_go_json(out);
        out.push(b':');
        write(key, value, out);
    }
    out.push(b'}');
}

fn list(items: &[Value<'_>], out: &mut Vec<u8>, write: impl Fn(Value<'_>, &mut Vec<u8>)) {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(*item, out);
    }
    out.push(b']');
}

/// Metadata as protobuf.
pub(crate) fn protobuf(metadata: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default();
    for (number, key) in
        [(1, "name"), (2, "generateName"), (3, "namespace"), (4, "selfLink"), (5, "uid"), (6, "resourceVersion")]
    {
        proto::text(&mut out, number, text(key));
    }
    proto::number(&mut out, 7, int(metadata, "generation").unwrap_or(0));
    proto::bytes(&mut out, 8, &time(text("creationTimestamp")));
    if let Some(deleted) = metadata.get("deletionTimestamp").and_then(Value::as_str) {
        proto::bytes(&mut out, 9, &time(deleted));
    }
    if let Some(seconds) = int(metadata, "deletionGracePeriodSeconds") {
        proto::number(&mut out, 10, seconds);
    }
    for (number, key) in [(11, "labels"), (12, "annotations")] {
        for (key, value) in metadata.get(key).and_then(Value::as_map).unwrap_or(Map::EMPTY).entries() {
            let mut pair = Vec::new();
            proto::text(&mut pair, 1, key);
            proto::text(&mut pair, 2, value.as_str().unwrap_or_default());
            proto::bytes(&mut out, number, &pair);
        }
    }
    for owner in items(metadata, "ownerReferences") {
        let text = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut one = Vec::new();
        for (number, key) in [(1, "kind"), (3, "name"), (4, "uid"), (5, "apiVersion")] {
            proto::text(&mut one, number, text(key));
        }
        for (number, key) in [(6, "controller"), (7, "blockOwnerDeletion")] {
            if let Some(Value::Bool(yes)) = owner.get(key) {
                proto::number(&mut one, number, i64::from(yes));
            }
        }
        proto::bytes(&mut out, 13, &one);
    }
    for finalizer in items(metadata, "finalizers") {
        proto::text(&mut out, 14, finalizer.as_str().unwrap_or_default());
    }
    for entry in items(metadata, "managedFields") {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut one = Vec::new();
        for (number, key) in [(1, "manager"), (2, "operation"), (3, "apiVersion")] {
            proto::text(&mut one, number, text(key));
        }
        if entry.get("time").is_some() {
            proto::bytes(&mut one, 4, &time(text("time")));
        }
        proto::text(&mut one, 6, text("fieldsType"));
        if let Some(fields) = entry.get("fieldsV1") {
            let (mut raw, mut json) = (Vec::new(), Vec::new());
            fields.write_go_json(&mut json);
            proto::bytes(&mut raw, 1, &json);
            proto::bytes(&mut one, 7, &raw);
        }
        proto::text(&mut one, 8, text("subresource"));
        proto::bytes(&mut out, 17, &one);
    }
    out
}

fn items<'a>(metadata: Value<'a>, key: &str) -> &'a [Value<'a>] {
    metadata.get(key).and_then(Value::as_list).unwrap_or_default()
}

fn int(value: Value<'_>, key: &str) -> Option<i64> {
    match value.get(key) {
        Some(Value::Int(n)) => Some(n),
        _ => None,
    }
}

/// A `Timestamp`; of no time an empty one.
fn time(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(Time(seconds)) = Time::parse(text) {
        proto::number(&mut out, 1, seconds);
        proto::number(&mut out, 2, 0);
    }
    out
}
