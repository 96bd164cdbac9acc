//! Rules that neither the table nor CEL can express. The files refer to them by name. There is a module for each API
//! group.

mod access;
mod admission;
mod apps;
mod batch;
mod certificates;
mod common;
mod core;
mod devices;
mod flow;
mod limits;
mod misc;
mod network;
mod others;
mod pods;
mod scaling;
mod services;
mod storage;
mod warnings;

pub use admission::{MAX_ANNOTATION_EXPRESSION, admission_errors};

use super::metadata::{metadata, metadata_of_update};
use super::{At, Found};
use kubeshape_value::{Bump, Map, Value};

/// A native rule. It gets a field, and adds its errors.
pub(super) type Check = fn(&At<'_, '_>, &mut Found);

/// The rules of a group, by name.
type Names = &'static [(&'static str, Check)];

const GROUPS: [Names; 18] = [
    METADATA,
    access::NAMES,
    admission::NAMES,
    apps::NAMES,
    batch::NAMES,
    certificates::NAMES,
    core::NAMES,
    devices::NAMES,
    flow::NAMES,
    limits::NAMES,
    misc::NAMES,
    network::NAMES,
    others::NAMES,
    pods::NAMES,
    scaling::NAMES,
    services::NAMES,
    storage::NAMES,
    warnings::NAMES,
];

/// Rules that all groups use.
const METADATA: Names = &[("metadata", metadata), ("metadata of update", metadata_of_update)];

pub(super) fn named(name: &str) -> Option<Check> {
    GROUPS.iter().flat_map(|names| names.iter()).find(|(known, _)| *known == name).map(|(_, check)| *check)
}

/// Returns the text of a member. Empty if it is absent.
fn text<'a>(value: Value<'a>, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a member. `Null` if it is absent.
fn get<'a>(value: Value<'a>, key: &str) -> Value<'a> {
    value.get(key).unwrap_or(Value::Null)
}

/// Returns a value with a member replaced or removed.
fn with<'a>(value: Value<'a>, key: &'a str, member: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    Value::Map(value.as_map().unwrap_or(Map::EMPTY).with(key, member, arena))
}

/// Returns a string, which is empty if it is absent.
fn string(value: Value<'_>) -> Value<'_> {
    if value.is_null() { Value::String("") } else { value }
}

/// Returns the items of a member that is a list. Empty if it is absent.
fn items<'a>(value: Value<'a>, key: &str) -> &'a [Value<'a>] {
    value.get(key).and_then(Value::as_list).unwrap_or_default()
}

/// Returns the entries of a member that is a map. Empty if it is absent.
fn entries<'a>(value: Value<'a>, key: &str) -> &'a [(&'a str, Value<'a>)] {
    value.get(key).and_then(Value::as_map).map(Map::entries).unwrap_or_default()
}

/// Returns whether a member is true.
fn flag(value: Value<'_>, key: &str) -> bool {
    matches!(value.get(key), Some(Value::Bool(true)))
}

/// Returns the number of a member.
fn number(value: Value<'_>, key: &str) -> Option<i64> {
    if let Some(Value::Int(number)) = value.get(key) { Some(number) } else { None }
}
