//! Sequences of applies and updates through the whole stack.

use crate::managed::{answer, text, time};
use crate::{Schemas, Verdict, set_of};
use kubeshape_smd::fieldpath::Filter;
use kubeshape_smd::managed::{ChangeApiVersion, FieldManager, Gvk, Kinds, ObjectConverter};
use kubeshape_smd::merge::ConvertError;
use kubeshape_smd::{Bump, ToValue as _, Value};
use serde_json::Value as Json;

/// Replays one sequence and passes the verdict of each operation with its index to `report`.
pub fn compare(record: &Json, schemas: &Schemas, report: &mut dyn FnMut(usize, Verdict)) {
    if let Err(error) = replay(record, schemas, report) {
        report(0, Verdict::Missing(error));
    }
}

/// The fields that an endpoint resets, by its version and subresource.
type Reset<'a> = Vec<(&'a str, &'a str, Filter<'a>)>;

fn replay(record: &Json, schemas: &Schemas, report: &mut dyn FnMut(usize, Verdict)) -> Result<(), String> {
    let arena = Bump::new();
    let kind = text(&record["resourceKind"]);
    let mut kinds = Kinds::default();
    for (version, ty) in record["types"].as_object().into_iter().flatten() {
        kinds.0.push((Gvk::new(version, kind), schemas.named(&record["schema"], ty)?));
    }
    let versions = Conversion {
        versions: ChangeApiVersion(kinds.0.iter().map(|(gvk, _)| gvk.api_version()).collect()),
        only: record["only"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(version, names)| (version.as_str(), names.as_array().into_iter().flatten().map(text).collect()))
            .collect(),
    };
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
        // An endpoint resets fields at its own version only: fields that others own at another version are compared in
        // full.
        let filters = reset.iter().filter(|(at, of, _)| (*at, *of) == (version, subresource));
        let manager = FieldManager::new(Gvk::new(version, kind), &kinds, &versions)
            .subresource(subresource)
            .compat(schemas.compat)
            .reset_fields(filters.map(|(version, _, filter)| (*version, filter.clone())).collect());
        let manager = arena.alloc(manager);
        let (found, verdict) = answer(manager, op, before, time(&op["time"])?, &arena);
        // The next operation starts from the recorded answer, so that a difference is reported once.
        if op["error"].is_null() {
            live = found.filter(|_| verdict == Verdict::Equal).or(recorded);
        }
        report(at, verdict);
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

/// Changes the `apiVersion`, and drops fields that only other versions have.
struct Conversion<'a> {
    versions: ChangeApiVersion<'a>,
    /// The fields of the object and of its spec that no other version has, by version.
    only: Vec<(&'a str, Vec<&'a str>)>,
}

impl ObjectConverter for Conversion<'_> {
    fn convert<'a>(&'a self, object: Value<'a>, api_version: &str, arena: &'a Bump) -> Result<Value<'a>, ConvertError> {
        let object = self.versions.convert(object, api_version, arena)?;
        let dropped = self.only.iter().filter(|(version, _)| *version != api_version).flat_map(|(_, names)| names);
        Ok(dropped.fold(object, |object, name| {
            let object = without(object, name, arena);
            match (object, object.get("spec")) {
                (Value::Map(map), Some(spec)) => Value::Map(map.with("spec", Some(without(spec, name, arena)), arena)),
                _ => object,
            }
        }))
    }
}

fn without<'a>(value: Value<'a>, name: &'a str, arena: &'a Bump) -> Value<'a> {
    match value {
        Value::Map(map) if map.get(name).is_some() => Value::Map(map.with(name, None, arena)),
        other => other,
    }
}

fn at_version<'a>(object: Value<'a>, version: &'a str, arena: &'a Bump) -> Value<'a> {
    match object {
        Value::Map(map) => Value::Map(map.with("apiVersion", Some(Value::String(version)), arena)),
        other => other,
    }
}
