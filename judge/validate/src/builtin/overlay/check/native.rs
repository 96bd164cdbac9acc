//! Rules that the files name because neither the table nor CEL can say them, with a file for each API group.

mod access;
mod admission;
mod apps;
mod batch;
mod common;
mod core;
mod devices;
mod limits;
mod misc;
mod network;
mod others;
mod pods;
mod scaling;
mod storage;
mod warnings;

use super::{At, Found};
use kubeshape_value::{Bump, Map, Value};

/// A native rule. It sees a field, and adds what it finds.
pub(super) type Check = fn(&At<'_, '_>, &mut Found);

/// The rules of a group, by name.
type Names = &'static [(&'static str, Check)];

const GROUPS: [Names; 15] = [
    METADATA,
    access::NAMES,
    admission::NAMES,
    apps::NAMES,
    batch::NAMES,
    core::NAMES,
    devices::NAMES,
    limits::NAMES,
    misc::NAMES,
    network::NAMES,
    others::NAMES,
    pods::NAMES,
    scaling::NAMES,
    storage::NAMES,
    warnings::NAMES,
];

/// What all groups use.
const METADATA: Names = &[("metadata", metadata), ("metadata of update", metadata_of_update)];

/// The metadata of the object as that of a new one: `ValidateObjectMeta`, which some kinds call for updates, too.
fn metadata(at: &At<'_, '_>, found: &mut Found) {
    found.errors.extend(at.scope.metadata.errors(at.scope.root, at.scope.namespaced));
}

/// `ValidateObjectMetaUpdate`, with the names of finalizers where the kind checks them.
pub(super) fn metadata_of_update(at: &At<'_, '_>, found: &mut Found) {
    let Some(old) = at.scope.old else { return };
    found.errors.extend(at.scope.metadata.errors_of_update(at.scope.root, old));
}

pub(super) fn named(name: &str) -> Option<Check> {
    GROUPS.iter().flat_map(|names| names.iter()).find(|(known, _)| *known == name).map(|(_, check)| *check)
}

/// The text of a member; empty if it is absent.
fn text<'a>(value: Value<'a>, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A member; `Null` if it is absent.
fn get<'a>(value: Value<'a>, key: &str) -> Value<'a> {
    value.get(key).unwrap_or(Value::Null)
}

/// A value with another member, or without it.
fn with<'a>(value: Value<'a>, key: &'a str, member: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    Value::Map(value.as_map().unwrap_or(Map::EMPTY).with(key, member, arena))
}

/// The items of a member that is a list; none if it is absent.
fn items<'a>(value: Value<'a>, key: &str) -> &'a [Value<'a>] {
    value.get(key).and_then(Value::as_list).unwrap_or_default()
}

/// The entries of a member that is a map; none if it is absent.
fn entries<'a>(value: Value<'a>, key: &str) -> &'a [(&'a str, Value<'a>)] {
    value.get(key).and_then(Value::as_map).map(Map::entries).unwrap_or_default()
}

/// Whether a member is true.
fn flag(value: Value<'_>, key: &str) -> bool {
    matches!(value.get(key), Some(Value::Bool(true)))
}

/// The number of a member.
fn number(value: Value<'_>, key: &str) -> Option<i64> {
    if let Some(Value::Int(number)) = value.get(key) { Some(number) } else { None }
}
