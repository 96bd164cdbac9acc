//! Calls of `apimachinery/pkg/util/managedfields` and of `client-go/util/csaupgrade`.

use crate::{Schemas, Verdict, set_of};
use kubeshape_smd::fieldpath::{Path, PathElement, Set};
use kubeshape_smd::managed::{
    ConflictError, Error, FieldManager, Gvk, Identifier, Kinds, Managed, Operation, SameObject, Time, entries, extract,
    scale, upgrade,
};
use kubeshape_smd::merge::{Conflict, Conflicts};
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, ToValue as _, Value};
use serde_json::{Value as Json, json};
use std::borrow::Cow;

/// Replays one call.
pub fn compare(kind: &str, record: &Json, schemas: &Schemas) -> Verdict {
    let arena = Bump::new();
    let verdict = match kind {
        "managedfields.op" => operation(record, schemas, &arena),
        "managedfields.decode" => Ok(decode(record, &arena)),
        "managedfields.encode" => encode(record, &arena),
        "managedfields.sort" => Ok(sort(record, &arena)),
        "managedfields.identifier" => identifier(record, &arena),
        "managedfields.fieldsToSet" => fields_to_set(record, &arena),
        "managedfields.conflictError" => Ok(conflict_error(record)),
        "managedfields.extract" => extraction(record, schemas, &arena),
        "managedfields.scaleToSubresource" => Ok(to_scale(record, &arena)),
        "managedfields.scaleToParent" => Ok(to_parent(record, &arena)),
        "csaupgrade.findOwners" => find_owners(record, &arena),
        "csaupgrade.upgrade" | "csaupgrade.patch" => Ok(upgraded(kind, record, &arena)),
        other => Err(format!("unknown kind {other:?}")),
    };
    verdict.unwrap_or_else(Verdict::Missing)
}

/// Compares an apply or update through the whole stack.
fn operation(record: &Json, schemas: &Schemas, arena: &Bump) -> Result<Verdict, String> {
    let ty = schemas.named(&record["schema"], &record["type"])?;
    let live = record["liveBefore"].to_value(arena);
    let kind = Gvk::new(text(&record["version"]), live.gvk().kind());
    let kinds = Kinds(vec![(kind, ty)]);
    let test = text(&record["test"]);
    let custom = record["customStack"] == json!(true);
    let manager = FieldManager::new(kind, &kinds, &SameObject)
        .subresource(text(&record["subresource"]))
        .max_update_managers((custom && test.starts_with("TestCap")).then_some(3))
        .track_from_creation(!(custom && test.contains("BeforeFirstApply")));
    let now = time(&record["timeBefore"])?;
    Ok(answer(&manager, record, live, now, arena).1)
}

/// Runs an operation, and compares the live object afterwards, if the record has it, or the error.
pub fn answer<'a>(
    manager: &'a FieldManager<'a>,
    record: &'a Json,
    live: Value<'a>,
    now: Time,
    arena: &'a Bump,
) -> (Option<Value<'a>>, Verdict) {
    let (object, name) = (record["object"].to_value(arena), text(&record["manager"]));
    let answer = if record["op"] == "apply" {
        manager.apply(Some(live), object, name, record["force"] == json!(true), now, arena)
    } else {
        manager.update(Some(live), object, name, now, arena)
    };
    match answer {
        Ok(found) => {
            let verdict = match &record["error"] {
                Json::Null => same_live(record, found, arena),
                expected => Verdict::Differing(format!("expected {expected}, found {}", found.to_serde())),
            };
            (Some(found), verdict)
        }
        Err(error) => (None, same_error(record, &error)),
    }
}

fn same_live<'a>(record: &'a Json, found: Value<'a>, arena: &'a Bump) -> Verdict {
    let mut expected = record["live"].clone();
    if let Some(list) = record.get("managedFields")
        && !list.is_null()
    {
        expected["metadata"]["managedFields"] = list.clone();
    }
    same("live", expected.to_value(arena), found)
}

fn same(what: &str, expected: Value<'_>, found: Value<'_>) -> Verdict {
    if expected == found {
        return Verdict::Equal;
    }
    let mut at = String::new();
    let (mut expected, mut found) = (Some(expected), Some(found));
    // Finds the first path at which they differ.
    while let (Some(Value::Map(a)), Some(Value::Map(b))) = (expected, found) {
        let keys = a.entries().iter().chain(b.entries()).map(|(key, _)| *key);
        let Some(key) = keys.into_iter().find(|key| a.get(key) != b.get(key)) else { break };
        at.push('.');
        at.push_str(key);
        (expected, found) = (a.get(key), b.get(key));
    }
    let show = |value: Option<Value<'_>>| value.map_or("nothing".to_owned(), |value| value.to_serde().to_string());
    Verdict::Differing(format!("{what} at {at}: expected {}, found {}", show(expected), show(found)))
}

fn same_error(record: &Json, error: &Error<'_>) -> Verdict {
    let expected = &record["error"];
    let found = error.to_string();
    let variants = record["errorVariants"].as_array().into_iter().flatten().chain([expected]);
    let equal = variants.filter_map(Json::as_str).any(|expected| same_text(expected, &found));
    if !equal {
        return Verdict::Differing(format!("error: expected {expected}, found {found:?}"));
    }
    let status = error.status();
    if status.code == 500 {
        return Verdict::of("status", &Json::Null, record.get("status").unwrap_or(&Json::Null));
    }
    let causes: Vec<_> = status
        .causes
        .iter()
        .map(|cause| json!({"reason": cause.reason, "message": cause.message, "field": cause.field}))
        .collect();
    let mut found = json!({"code": status.code, "reason": status.reason});
    if !causes.is_empty() {
        found["causes"] = sorted(&causes);
    }
    let mut expected = record["status"].clone();
    if let Some(causes) = expected.get("causes").and_then(Json::as_array).cloned() {
        expected["causes"] = sorted(&causes);
    }
    Verdict::of("status", &expected, &found)
}

fn sorted(causes: &[Json]) -> Json {
    let mut causes = causes.to_vec();
    causes.sort_by_key(|cause| (text(&cause["message"]).to_owned(), text(&cause["field"]).to_owned()));
    json!(causes)
}

/// Errors in objects may be in any order. Errors about wrong types end with Go's representation of the value, and any
/// one of a map's undeclared fields is reported.
fn same_text(expected: &str, found: &str) -> bool {
    let undeclared = |part: &String| part.ends_with("field not declared in schema");
    let parts = |text: &str| {
        // The rest is the message of a JSON library, and Go's representation of the entry.
        let text = text.split_once("error decoding versioned set from").map_or(text, |(head, _)| head);
        let text = without_words_of_json(text);
        let text = text.as_ref();
        let (head, parts) = match text.split_once("errors:\n") {
            Some((head, parts)) => (head.to_owned(), parts),
            None => match text.split_once(": .") {
                Some((head, _)) => (format!("{head}: "), &text[head.len() + 2..]),
                None => (text.to_owned(), ""),
            },
        };
        let cut = |part: &str| part.split_once("got ").map_or(part, |(words, _)| words).trim().to_owned();
        let mut parts: Vec<String> = parts.lines().map(cut).collect();
        parts.sort();
        (head, parts)
    };
    let (expected, found) = (parts(expected), parts(found));
    expected == found || expected.0 == found.0 && expected.1.iter().chain(&found.1).all(undeclared)
}

/// Removes what `encoding/json/v2` adds to an error: it says "cannot" in one run and "unable to" in another.
fn without_words_of_json(text: &str) -> Cow<'_, str> {
    match text.split_once("error encoding set: json: ").map(|(head, words)| (head, words.rsplit(": ").next())) {
        Some((head, Some(last))) => format!("{head}error encoding set: {last}").into(),
        _ => text.into(),
    }
}

fn decode(record: &Json, arena: &Bump) -> Verdict {
    let found = match entries::decode(Some(record["managedFields"].to_value(arena)), arena) {
        Ok(managed) => {
            let entries = managed.fields.iter().map(|(text, fields)| {
                let time = managed.time(text).map(|time| time.to_string());
                let set = fields.set.to_fields_v1(arena).map(Value::to_serde).unwrap_or_default();
                let entry = json!({
                    "apiVersion": fields.api_version, "applied": fields.applied, "set": set, "time": time,
                });
                (text.to_owned(), entry)
            });
            json!({"error": null, "managers": Json::Object(entries.collect())})
        }
        Err(error) => json!({"error": error.to_string(), "managers": null}),
    };
    Verdict::of("error", &record["error"], &found["error"])
        .and(|| Verdict::of("managers", &record["managers"], &found["managers"]))
}

fn encode(record: &Json, arena: &Bump) -> Result<Verdict, String> {
    let mut managed = Managed::default();
    for (text, fields) in record["managers"].as_object().into_iter().flatten() {
        let identifier = Identifier::parse(text, arena).ok_or_else(|| format!("no identifier: {text}"))?;
        let identifier = Identifier { api_version: self::text(&fields["apiVersion"]), ..identifier };
        let time = if fields["time"].is_null() { None } else { Some(time(&fields["time"])?) };
        managed.insert(identifier, set_of(&fields["set"], arena)?, time, arena);
    }
    Ok(same_list(&record["managedFields"], entries::encode(&managed, arena).map_err(|error| error.to_string())?, arena))
}

fn sort(record: &Json, arena: &Bump) -> Verdict {
    // Go's nil list is recorded as an empty list. Sorting returns nil for nil, and an empty list for an empty list.
    let list = match &record["sorted"] {
        Json::Null if record["managedFields"].as_array().is_some_and(Vec::is_empty) => Value::Null,
        _ => record["managedFields"].to_value(arena),
    };
    same_list(&record["sorted"], Some(entries::sort(list, arena)), arena)
}

fn same_list<'a>(expected: &'a Json, found: Option<Value<'a>>, arena: &'a Bump) -> Verdict {
    same("list", expected.to_value(arena), found.unwrap_or(Value::Null))
}

fn identifier(record: &Json, arena: &Bump) -> Result<Verdict, String> {
    let entry = &record["entry"];
    let operation = text(&entry["operation"]);
    let identifier = Identifier {
        manager: text(&entry["manager"]),
        operation: Operation::parse(operation).ok_or_else(|| format!("no operation: {operation:?}"))?,
        api_version: text(&entry["apiVersion"]),
        subresource: text(&entry["subresource"]),
    };
    Ok(Verdict::of("identifier", text(&record["identifier"]), identifier.text(arena)))
}

fn fields_to_set(record: &Json, arena: &Bump) -> Result<Verdict, String> {
    let read = Set::read_json(text(&record["fieldsV1"]).as_bytes(), arena);
    let set = match (&record["error"], read) {
        (Json::Null, read) => read.map_err(|error| error.to_string())?,
        (_, Err(_)) => return Ok(Verdict::Equal),
        (expected, Ok(set)) => return Ok(Verdict::Differing(format!("expected {expected}, found {set}"))),
    };
    let found = set.to_json().map_err(|error| error.to_string())?;
    Ok(Verdict::of("set", &set_of(&record["set"], arena)?, &set)
        .and(|| Verdict::of("text", text(&record["fieldsV1"]), &found)))
}

fn conflict_error(record: &Json) -> Verdict {
    let conflicts = record["conflicts"].as_array().into_iter().flatten().map(|conflict| {
        // Only the printed form matters here.
        let path = vec![PathElement::FieldName(text(&conflict["path"]).trim_start_matches('.'))];
        Conflict { manager: text(&conflict["manager"]), path, live: None, new: None }
    });
    let error = Error::Conflicts(ConflictError::new(Conflicts(conflicts.collect())));
    same_error(record, &error)
}

fn extraction(record: &Json, schemas: &Schemas, arena: &Bump) -> Result<Verdict, String> {
    let ty = schemas.named(&record["schema"], &record["type"])?;
    let (manager, subresource) = (text(&record["manager"]), text(&record["subresource"]));
    let found = extract(record["object"].to_value(arena), ty, manager, subresource, Compat::V64, arena);
    Ok(match (&record["error"], found) {
        (Json::Null, Ok(found)) => {
            let nothing = Value::Map(kubeshape_smd::value::Map::EMPTY);
            same("result", record["result"].to_value(arena), found.unwrap_or(nothing))
        }
        (expected, Err(error)) => Verdict::of("error", expected, &json!(error.to_string())),
        (expected, Ok(found)) => Verdict::Differing(format!("expected {expected}, found {found:?}")),
    })
}

fn paths_of<'a>(record: &'a Json, arena: &'a Bump) -> Vec<(&'a str, Option<&'a Path<'a>>)> {
    let mappings = record["mappings"].as_object().into_iter().flatten();
    mappings
        .map(|(version, path)| (version.as_str(), path.as_str().map(|path| scale::replicas_path(path, arena))))
        .collect()
}

fn to_scale(record: &Json, arena: &Bump) -> Verdict {
    let parent = record.get("parent").unwrap_or(&record["managedFields"]).to_value(arena);
    let found = scale::to_scale(Some(parent), &paths_of(record, arena), Compat::V64, arena);
    read_or_refused(record, found, |found| same_list(&record["result"], found, arena))
}

fn to_parent(record: &Json, arena: &Bump) -> Verdict {
    let (parent, of_scale) = (record["parent"].to_value(arena), record["scale"].to_value(arena));
    let version = text(&record["version"]);
    let found = scale::to_parent(Some(parent), Some(of_scale), version, &paths_of(record, arena), Compat::V64, arena);
    read_or_refused(record, found, |found| same_list(&record["result"], found, arena))
}

/// Compares managed fields that were read. If they cannot be read, upstream's message is that of its JSON library.
fn read_or_refused<T, E: std::fmt::Display>(
    record: &Json,
    found: Result<T, E>,
    same: impl FnOnce(T) -> Verdict,
) -> Verdict {
    match (&record["error"], found) {
        (Json::Null, Ok(found)) => same(found),
        (Json::String(_), Err(_)) => Verdict::Equal,
        (Json::String(expected), Ok(_)) => Verdict::Differing(format!("no error, expected {expected:?}")),
        (_, Err(error)) => Verdict::Differing(format!("error {:?}", error.to_string())),
        (expected, Ok(_)) => Verdict::Missing(format!("not an error: {expected}")),
    }
}

fn find_owners(record: &Json, arena: &Bump) -> Result<Verdict, String> {
    let operation = text(&record["operation"]);
    let operation = Operation::parse(operation).ok_or_else(|| format!("no operation: {operation:?}"))?;
    let list = record["managedFields"].to_value(arena);
    let found = upgrade::find_owners(Some(list), operation, set_of(&record["fields"], arena)?, Compat::V64, arena);
    let found = (!found.is_empty()).then(|| Value::List(arena.alloc_slice_copy(&found)));
    Ok(same_list(&record["result"], found, arena))
}

fn upgraded(kind: &str, record: &Json, arena: &Bump) -> Verdict {
    let object = record["object"].to_value(arena);
    let from: Vec<_> = record["from"].as_array().into_iter().flatten().map(text).collect();
    let (to, subresource) = (text(&record["to"]), text(&record["subresource"]));
    if kind == "csaupgrade.patch" {
        let found = upgrade::upgrade_patch(object, &from, to, subresource, Compat::V64, arena);
        return read_or_refused(record, found, |found| same_list(&record["patch"], found, arena));
    }
    let found = upgrade::upgrade(object, &from, to, subresource, Compat::V64, arena);
    read_or_refused(record, found, |found| same("object", record["result"].to_value(arena), found))
}

/// Returns the string in a JSON value, or `""` if the value is not a string.
pub fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

/// Reads a time.
///
/// # Errors
/// It is not a time.
pub fn time(json: &Json) -> Result<Time, String> {
    Time::parse(text(json)).ok_or_else(|| format!("no time: {json}"))
}
