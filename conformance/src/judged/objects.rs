//! Creation and update of objects: unknown fields, stored objects, errors, and the cost of rules.

use crate::objects::{Case, one_resource};
use crate::structural::{CrdName, Expected};
use crate::table::{Table, Verdict};
use kubeshape_corpus::generate::{Draw, definition};
use kubeshape_schema::Bump;
use kubeshape_validate::Release;
use kubeshape_validate::object::Resource;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Number of objects per definition.
pub(super) const PER_DEFINITION: u64 = 5;

/// The answer of `oracle objects` about one object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    decode_error: Option<String>,
    panic: Option<String>,
    #[serde(default)]
    unknown: Vec<String>,
    result: Option<Value>,
    #[serde(default)]
    errors: Vec<Expected>,
    #[serde(default)]
    cel: Vec<Expected>,
    cel_cost: Option<i64>,
    update_errors: Option<Vec<Expected>>,
}

/// Returns a definition and objects of it. Every second object is an update of the previous one.
pub(super) fn generated(draw: &mut Draw) -> Value {
    let definition = definition::definition(draw);
    with_objects(draw, &definition)
}

/// Returns a definition with rules, and invalid objects, to test rules with values that do not have their type.
pub(super) fn spoiled(draw: &mut Draw) -> Value {
    let definition = definition::ruled_definition(draw);
    let objects: Vec<Value> = (0..PER_DEFINITION).map(|_| definition::spoiled_resource(draw, &definition)).collect();
    json!({"definition": definition, "objects": objects})
}

/// Returns one of the given definitions with objects.
pub(super) fn of_real(draw: &mut Draw, real: &[Value]) -> Value {
    let definition = draw.pick(real).clone();
    with_objects(draw, &definition)
}

fn with_objects(draw: &mut Draw, definition: &Value) -> Value {
    let mut objects: Vec<Value> = Vec::new();
    for at in 0..PER_DEFINITION {
        let object = match objects.last() {
            Some(last) if at % 2 == 1 => definition::updated(draw, last, definition),
            _ => definition::custom_resource(draw, definition),
        };
        objects.push(object);
    }
    json!({"definition": definition, "objects": objects})
}

pub(super) fn compare(release: Release, id: &str, input: &Value, answer: &Value, table: &mut Table) {
    if answer["error"].is_string() || super::is_unstable(answer) {
        // The definition is rejected, so no server has objects of it.
        return;
    }
    let source = input["definition"].to_string();
    let compared = Stream::new(source.as_bytes(), Limits::default()).ok().and_then(|mut stream| {
        let mut tape = Tape::new();
        stream.next(&mut tape)?.ok()?;
        let arena = Bump::new();
        let crd = kubeshape_structural::read::read(tape.document(&source).root()?, &arena).value?;
        let resource = Resource::new(&crd, crd.versions.first()?, release, &arena);
        let objects = input["objects"].as_array()?;
        let by_id: BTreeMap<usize, &Value> = objects.iter().enumerate().collect();
        for (at, object) in objects.iter().enumerate() {
            let mut theirs = answer["cases"][at].clone();
            // Older libraries print a time that is not set.
            if let Some(metadata) = theirs.pointer_mut("/result/metadata").and_then(Value::as_object_mut)
                && metadata.get("creationTimestamp").is_some_and(Value::is_null)
            {
                metadata.remove("creationTimestamp");
            }
            let Ok(theirs) = serde_json::from_value::<Answer>(theirs) else {
                table.add("reading", id, Verdict::Missing(format!("no answer about object {at}")));
                continue;
            };
            if theirs.panic.is_some() {
                continue;
            }
            let name = || CrdName { file: id.to_owned(), index: 0 };
            let update = theirs.update_errors.map(|errors| Case {
                id: at,
                crd: name(),
                version: String::new(),
                object: object.clone(),
                decode_error: None,
                unknown: theirs.unknown.clone(),
                result: theirs.result.clone().map(|mut result| {
                    result["metadata"]["resourceVersion"] = json!("1");
                    result
                }),
                errors,
                cel: Vec::new(),
                cel_cost: None,
                update: at.checked_sub(1),
            });
            let case = Case {
                id: at,
                crd: name(),
                version: String::new(),
                object: object.clone(),
                decode_error: theirs.decode_error,
                unknown: theirs.unknown,
                result: theirs.result,
                errors: theirs.errors,
                cel: theirs.cel,
                cel_cost: theirs.cel_cost,
                update: None,
            };
            one_resource(&case, &resource, &by_id, &arena, table);
            if let Some(case) = update {
                one_resource(&case, &resource, &by_id, &arena, table);
            }
        }
        Some(())
    });
    if compared.is_none() {
        table.add("reading", id, Verdict::Missing("the definition is not read".to_owned()));
    }
}
