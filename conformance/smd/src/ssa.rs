//! Sequences of applies and updates through the whole stack.

use crate::managed::{answer, text, time};
use crate::{Schemas, Verdict, set_of};
use kubeshape_smd::fieldpath::Filter;
use kubeshape_smd::managed::{ChangeApiVersion, FieldManager, Gvk, Kinds};
use kubeshape_smd::{Bump, ToValue as _, Value};
use serde_json::Value as Json;

/// Replays one sequence and tells the verdict of each operation by its place.
pub fn compare(record: &Json, schemas: &Schemas, tell: &mut dyn FnMut(usize, Verdict)) {
    if let Err(error) = replay(record, schemas, tell) {
        tell(0, Verdict::Missing(error));
    }
}

/// What an endpoint resets, by version and subresource.
type Reset<'a> = Vec<(&'a str, &'a str, Filter<'a>)>;

fn replay(record: &Json, schemas: &Schemas, tell: &mut dyn FnMut(usize, Verdict)) -> Result<(), String> {
    let arena = Bump::new();
    let kind = text(&record["resourceKind"]);
    let mut kinds = Kinds::default();
    for (version, ty) in record["types"].as_object().into_iter().flatten() {
        kinds.0.push((Gvk::new(version, kind), schemas.named(&record["schema"], ty)?));
    }
    let versions = ChangeApiVersion(kinds.0.iter().map(|(gvk, _)| gvk.api_version()).collect());
    let mut reset: Reset<'_> = Vec::new();
    for (endpoint, set) in record["resetFields"].as_object().into_iter().flatten() {
        let (version, subresource) = endpoint.split_once(' ').unwrap_or((endpoint, ""));
        reset.push((version, subresource, Filter::Exclude(set_of(set, &arena)?)));
    }
    let mut live: Option<Value<'_>> = None;
    for (at, op) in record["ops"].as_array().into_iter().flatten().enumerate() {
        let recorded = object_of(op, &arena);
        if op["op"] == "set" {
            live = recorded;
            continue;
        }
        let before = live.map(|live| at_version(live, text(&op["version"]), &arena));
        let before = before.ok_or("an operation on nothing")?;
        let (version, subresource) = (text(&op["version"]), text(&op["subresource"]));
        let filters = reset.iter().filter(|(_, of, _)| *of == subresource);
        let manager = FieldManager::new(Gvk::new(version, kind), &kinds, &versions)
            .subresource(subresource)
            .reset_fields(filters.map(|(version, _, filter)| (*version, filter.clone())).collect());
        let manager = arena.alloc(manager);
        let (found, verdict) = answer(manager, op, before, time(&op["time"])?, &arena);
        // The next operation stands on the recorded answer, so that a difference is told once.
        if op["error"].is_null() {
            live = found.filter(|_| verdict == Verdict::Equal).or(recorded);
        }
        tell(at, verdict);
    }
    Ok(())
}

/// The object of a record with its managed fields.
fn object_of<'a>(op: &'a Json, arena: &'a Bump) -> Option<Value<'a>> {
    let mut object = op.get("live")?.clone();
    if !op["managedFields"].is_null() {
        object["metadata"]["managedFields"] = op["managedFields"].clone();
    }
    let object: &'a Json = arena.alloc(object);
    Some(object.to_value(arena))
}

fn at_version<'a>(object: Value<'a>, version: &'a str, arena: &'a Bump) -> Value<'a> {
    match object {
        Value::Map(map) => Value::Map(map.with("apiVersion", Some(Value::String(version)), arena)),
        other => other,
    }
}
