//! Calls of upstream's `merge` package: whole scenarios, single calls of the updater, conflicts.

mod converter;
mod scenario;

use crate::fieldpath::{filter_of, managers_of};
use crate::{Schemas, Verdict, set_of, typed_value_of};
use converter::Conversion;
use kubeshape_smd::fieldpath::ManagedFields;
use kubeshape_smd::merge::{Conflicts, Error, Ignored, Outcome, Updater};
use kubeshape_smd::typed::{Emptied, TypedValue};
use kubeshape_smd::{Bump, ToValue as _};
use serde_json::{Map, Value as Json, json};

/// Upstream's error for a configuration that cannot exist here.
const BOTH_SET: &str = "IgnoreFilter and IgnoreFilter may not both be set";

/// Replays one call.
pub fn compare(kind: &str, record: &Json, schemas: &Schemas) -> Verdict {
    let arena = Bump::new();
    match kind {
        "testcase" => scenario::replay(record, schemas, &arena),
        "updater" => {
            let conversion = Conversion::recorded(&record["conversions"], schemas, &arena);
            let verdict = conversion.and_then(|conversion| {
                let updater = updater_of(&record["options"], conversion, &arena)?;
                Ok(match &updater {
                    Some(updater) => call(updater, record, schemas, &arena)?,
                    None => Verdict::of("error", &json!(BOTH_SET), &record["error"]),
                })
            });
            verdict.unwrap_or_else(Verdict::Missing)
        }
        "conflicts.fromManagers" => conflicts(record, &arena).unwrap_or_else(Verdict::Missing),
        other => Verdict::Missing(format!("unknown kind {other:?}")),
    }
}

/// Returns the updater with these options, or `None` if they contradict each other.
fn updater_of<'a, C>(options: &'a Json, converter: C, arena: &'a Bump) -> Result<Option<Updater<'a, C>>, String> {
    let (fields, filters) = (options["ignoredFields"].as_object(), options["ignoreFilter"].as_object());
    let ignored = match (fields, filters) {
        (_, Some(filters)) if fields.is_none_or(Map::is_empty) => {
            let filters = filters.iter().map(|(version, filter)| Ok((version.as_str(), filter_of(filter, arena)?)));
            Ignored::Filters(filters.collect::<Result<_, String>>()?)
        }
        (_, Some(_)) => return Ok(None),
        (Some(fields), None) => {
            let fields = fields.iter().map(|(version, set)| Ok((version.as_str(), set_of(set, arena)?)));
            Ignored::Fields(fields.collect::<Result<_, String>>()?)
        }
        (None, None) => Ignored::Nothing,
    };
    let return_input_on_noop = options["returnInputOnNoop"] == json!(true);
    Ok(Some(Updater { converter, ignored, return_input_on_noop, emptied: Emptied::Null }))
}

/// Replays a single call of the updater.
fn call<'a>(
    updater: &'a Updater<'a, Conversion<'a>>,
    call: &'a Json,
    schemas: &'a Schemas,
    arena: &'a Bump,
) -> Result<Verdict, String> {
    let (live, object) =
        (typed_value_of(&call["live"], schemas, arena)?, typed_value_of(&call["object"], schemas, arena)?);
    let managers = managers_of(&call["managers"], arena)?;
    let (version, manager) = (text(&call["version"]), text(&call["manager"]));
    let answer = if call["op"] == "apply" {
        updater.apply(live, object, version, managers, manager, call["force"] == json!(true), arena)
    } else {
        updater.update(live, object, version, managers, manager, arena)
    };
    Ok(match answer {
        Err(error) => {
            let found = conflicts_of(&error);
            Verdict::of("error", &call["error"], &json!(error.to_string()))
                .and(|| Verdict::of("conflicts", &sorted(call.get("conflicts")), &sorted(Some(&found))))
        }
        Ok(Outcome { object, managers }) => {
            let expected = match &call["result"] {
                Json::Null => None,
                result => Some(typed_value_of(result, schemas, arena)?),
            };
            Verdict::of("error", &call["error"], &Json::Null)
                .and(|| same_object("result", expected, object))
                .and(|| same_managers("resultManagers", &call["resultManagers"], &managers))
        }
    })
}

/// Replays how conflicts are created from managers.
fn conflicts(record: &Json, arena: &Bump) -> Result<Verdict, String> {
    let conflicts = Conflicts::from_managers(&managers_of(&record["managers"], arena)?);
    let found = json_of_conflicts(&conflicts);
    let set = conflicts.to_set(arena);
    let expected = set_of(&record["set"], arena)?;
    Ok(Verdict::of("text", &record["text"], &json!(conflicts.to_string()))
        .and(|| Verdict::of("conflicts", &sorted(record.get("conflicts")), &sorted(Some(&found))))
        .and(|| Verdict::of("set", &expected.to_json(), &set.to_json())))
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

fn same_managers(what: &str, expected: &Json, found: &ManagedFields<'_>) -> Verdict {
    let found: Result<Map<_, _>, String> = found
        .iter()
        .map(|(name, fields)| {
            let set = fields.set.to_json().map_err(|error| error.to_string())?;
            let set: Json = serde_json::from_str(&set).map_err(|error| error.to_string())?;
            let fields = json!({"apiVersion": fields.api_version, "applied": fields.applied, "set": set});
            Ok((name.to_owned(), fields))
        })
        .collect();
    let none = json!({});
    let expected = if expected.is_null() { &none } else { expected };
    match found {
        Ok(found) => Verdict::of(what, &expected.to_string(), &Json::Object(found).to_string()),
        Err(error) => Verdict::Differing(format!("{what}: {error}")),
    }
}

fn same_object(what: &str, expected: Option<TypedValue<'_>>, found: Option<TypedValue<'_>>) -> Verdict {
    let same = match (expected, found) {
        (Some(a), Some(b)) => a.value() == b.value() && a.ty().is(b.ty()),
        (None, None) => true,
        _ => false,
    };
    if same {
        Verdict::Equal
    } else {
        Verdict::Differing(format!("{what}: expected {}, found {}", show(expected), show(found)))
    }
}

fn show(object: Option<TypedValue<'_>>) -> String {
    match object.map(TypedValue::value) {
        None => "no object".to_owned(),
        Some(None) => "an absent value".to_owned(),
        Some(Some(value)) => value.to_serde().to_string(),
    }
}

fn conflicts_of(error: &Error<'_>) -> Json {
    match error {
        Error::Conflicts(conflicts) => json_of_conflicts(conflicts),
        _ => Json::Null,
    }
}

fn json_of_conflicts(conflicts: &Conflicts<'_>) -> Json {
    let each = conflicts.0.iter().map(|conflict| {
        let path = conflict.path.iter().map(|element| {
            let mut out = Vec::new();
            element.write(&mut out).ok().and_then(|()| String::from_utf8(out).ok())
        });
        json!({"manager": conflict.manager, "path": path.collect::<Vec<_>>(), "text": conflict.to_string()})
    });
    Json::Array(each.collect())
}

/// Returns conflicts in a defined order.
fn sorted(conflicts: Option<&Json>) -> Vec<String> {
    let mut texts: Vec<_> = conflicts.and_then(Json::as_array).into_iter().flatten().map(ToString::to_string).collect();
    texts.sort();
    texts
}

/// Returns the value of a YAML document.
fn yaml_of<'a>(source: &str, arena: &'a Bump) -> Result<kubeshape_smd::Value<'a>, String> {
    use kubeshape_yaml::{Limits, Stream, Tape};
    let mut tape = Tape::new();
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).map_err(|error| error.to_string())?;
    stream.next(&mut tape).transpose().map_err(|error| error.to_string())?;
    let scratch = Bump::new();
    Ok(tape.document(source).root().map_or(kubeshape_smd::Value::Null, |root| root.to_value(&scratch).copy_into(arena)))
}
