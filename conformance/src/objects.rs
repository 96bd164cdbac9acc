//! Area `objects`: custom resources and values, pruned, defaulted and checked.

use crate::golden;
use crate::known::Known;
use crate::structural::{Call, CrdName, Expected, Files, compare_errors, records};
use crate::table::{Table, Verdict};
use kubeshape_schema::field::{Error, Path as FieldPath};
use kubeshape_schema::{Bump, Schema, read::Reader};
use kubeshape_smd::{ToValue, Value as Object};
use kubeshape_validate::object::{self, Malformed, Resource, Root, RuleOutcome, Rules, Validator};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Area `objects`.
pub fn compare(golden: &Path, corpus: &Path, known: Known) -> Table {
    let mut table = Table::new("objects", known);
    let folder = golden.join("structural");
    if !crate::has_records("objects", golden, corpus) {
        return table;
    }
    synthetic(&folder, &mut table);
    formats(&folder, &mut table);
    upstream(&folder.join("upstream-tests"), &mut table);
    embedded(&folder.join("upstream-tests"), &mut table);
    resources(&folder, corpus, &mut table);
    rules(&folder, golden, &mut table);
    crate::typed::recorded(golden, corpus, &mut table);
    table
}

/// Reads a schema. Null is not a schema.
fn with_schema<T>(source: &Value, f: impl for<'a> FnOnce(Option<&'a Schema<'a>>, &'a Bump) -> T) -> Option<T> {
    let text = source.to_string();
    let mut tape = Tape::new();
    Stream::new(text.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    let arena = Bump::new();
    let schema = Reader::new(&arena, kubeshape_schema::read::Rules::Crd).schema(tape.document(&text).root()?);
    let schema: &Schema<'_> = arena.alloc(schema);
    Some(f((!source.is_null()).then_some(schema), &arena))
}

fn errors(row: &str, label: &str, ours: &[Error], theirs: &[Expected], table: &mut Table) {
    table.add(row, label, compare_errors(ours, theirs.iter().collect()));
}

/// Compares a value with a recorded one.
fn value(row: &str, label: &str, ours: Object<'_>, theirs: &Value, table: &mut Table) {
    let verdict = match golden::first_difference(&ours.to_serde(), theirs) {
        None => Verdict::Equal,
        Some(place) => Verdict::Differing(place),
    };
    table.add(row, label, verdict);
}

fn synthetic(folder: &Path, table: &mut Table) {
    #[derive(Deserialize)]
    struct Line {
        schema: Value,
        cases: Vec<Case>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Case {
        object: Value,
        #[serde(default)]
        errors: Vec<Expected>,
        #[serde(default)]
        list_errors: Vec<Expected>,
        #[serde(default)]
        unknown: Vec<String>,
        pruned: Option<Value>,
        nulls_pruned: Option<Value>,
        defaulted: Option<Value>,
    }
    for (number, line) in records::<Line>(&folder.join("synthetic.ndjson.gz"), table).iter().enumerate() {
        with_schema(&line.schema, |schema, arena| {
            let Some(schema) = schema else { return };
            let validator = Validator::new(schema, arena);
            for (at, case) in line.cases.iter().enumerate() {
                let label = format!("{number} {at}");
                // Values of the records must live longer than the arena.
                let object = arena.alloc(case.object.clone()).to_value(arena);
                errors("synthetic errors", &label, &validator.check(object, &FieldPath::Root), &case.errors, table);
                let list = object::list_types(object, Some(schema), &FieldPath::Root);
                errors("synthetic list errors", &label, &list, &case.list_errors, table);
                let pruned = object::prune(object, Some(schema), Root::Value, arena);
                table.add("synthetic unknown", &label, crate::verdict::equal(&pruned.unknown, &case.unknown));
                let or_same = |theirs: &Option<Value>| theirs.clone().unwrap_or_else(|| case.object.clone());
                value("synthetic pruned", &label, pruned.value, &or_same(&case.pruned), table);
                let nulls = object::prune_nulls(object, Some(schema), arena);
                value("synthetic nulls", &label, nulls, &or_same(&case.nulls_pruned), table);
                let defaulted = object::default(object, Some(schema), arena).expect("few defaults");
                value("synthetic defaulted", &label, defaulted, &or_same(&case.defaulted), table);
            }
        });
    }
}

fn formats(folder: &Path, table: &mut Table) {
    #[derive(Deserialize)]
    struct Line {
        format: String,
        results: BTreeMap<String, Vec<Expected>>,
    }
    for line in records::<Line>(&folder.join("formats.ndjson.gz"), table) {
        with_schema(&serde_json::json!({"type": "string", "format": line.format}), |schema, arena| {
            let Some(schema) = schema else { return };
            let validator = Validator::new(schema, arena);
            for (text, theirs) in &line.results {
                let ours = validator.check(Object::String(text), &FieldPath::Root);
                errors("formats", &format!("{} {text:?}", line.format), &ours, theirs, table);
            }
        });
    }
}

/// Compares the calls of upstream's own tests.
fn upstream(folder: &Path, table: &mut Table) {
    let path = |call: &Call| call.inputs["path"].as_str().unwrap_or_default().to_owned();
    let theirs =
        |call: &Call| -> Vec<Expected> { serde_json::from_value(call.output["errors"].clone()).unwrap_or_default() };
    for call in records::<Call>(&folder.join("pruning.PruneWithOptions.ndjson.gz"), table) {
        with_schema(&call.inputs["schema"], |schema, arena| {
            let object = arena.alloc(call.inputs["object"].clone()).to_value(arena);
            let root = if call.inputs["isResourceRoot"] == true { Root::Resource } else { Root::Value };
            let ours = object::prune(object, schema, root, arena);
            let unknown: Vec<String> =
                serde_json::from_value(call.output["unknownFieldPaths"].clone()).unwrap_or_default();
            if call.inputs["trackUnknownFieldPaths"] == true {
                table.add("upstream pruning unknown", &call.test, crate::verdict::equal(&ours.unknown, &unknown));
            }
            value("upstream pruning", &call.test, ours.value, &call.output["object"], table);
        });
    }
    for call in records::<Call>(&folder.join("listtype.ValidateListSetsAndMaps.ndjson.gz"), table) {
        with_schema(&call.inputs["schema"], |schema, arena| {
            let object = arena.alloc(call.inputs["object"].clone()).to_value(arena);
            let ours = object::list_types(object, schema, &FieldPath::Base(&path(&call)));
            errors("upstream list types", &call.test, &ours, &theirs(&call), table);
        });
    }
    for name in ["defaulting.Default", "defaulting.PruneNonNullableNullsWithoutDefaults"] {
        for call in records::<Call>(&folder.join(format!("{name}.ndjson.gz")), table) {
            with_schema(&call.inputs["schema"], |schema, arena| {
                let object = arena.alloc(call.inputs["object"].clone()).to_value(arena);
                let ours = match name {
                    "defaulting.Default" => object::default(object, schema, arena).expect("few defaults"),
                    _ => object::prune_nulls(object, schema, arena),
                };
                value(name, &call.test, ours, &call.output["object"], table);
            });
        }
    }
    for name in [
        "validation.ValidateCustomResource",
        "validation.ValidateCustomResourceUpdate",
        "validation.RatchetingSchemaValidateUpdate",
    ] {
        for call in records::<Call>(&folder.join(format!("{name}.ndjson.gz")), table) {
            let schema = call.inputs.get("schema").or(call.inputs.get("openapi")).unwrap_or(&Value::Null);
            with_schema(schema, |schema, arena| {
                let object = arena.alloc(call.inputs["object"].clone()).to_value(arena);
                let old = arena.alloc(call.inputs["oldObject"].clone()).to_value(arena);
                let base = path(&call);
                let base = if base.is_empty() { FieldPath::Root } else { FieldPath::Base(&base) };
                let validator = schema.map(|schema| Validator::new(schema, arena));
                let ours = match &validator {
                    None => Vec::new(),
                    Some(validator) if call.inputs["ratcheting"] == true => validator.check_update(object, old, &base),
                    Some(validator) => validator.check(object, &base),
                };
                if let Some(messages) = call.output.get("messages") {
                    let ours: Vec<&str> = ours.iter().map(|error| error.detail.as_str()).collect();
                    let messages: Vec<&str> =
                        messages.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                    table.add(name, &call.test, crate::verdict::equal(&ours, &messages));
                } else {
                    errors(name, &call.test, &ours, &theirs(&call), table);
                }
            });
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Case {
    pub(crate) id: usize,
    pub(crate) crd: CrdName,
    pub(crate) version: String,
    pub(crate) object: Value,
    pub(crate) decode_error: Option<String>,
    #[serde(default)]
    pub(crate) unknown: Vec<String>,
    pub(crate) result: Option<Value>,
    #[serde(default)]
    pub(crate) errors: Vec<Expected>,
    #[serde(default)]
    pub(crate) cel: Vec<Expected>,
    pub(crate) cel_cost: Option<i64>,
    pub(crate) update: Option<usize>,
}

/// Compares calls about embedded resources.
fn embedded(folder: &Path, table: &mut Table) {
    for name in ["objectmeta.Validate", "objectmeta.validateEmbeddedResource", "objectmeta.CoerceWithOptions"] {
        for call in records::<Call>(&folder.join(format!("{name}.ndjson.gz")), table) {
            with_schema(&call.inputs["schema"], |schema, arena| {
                let object = arena.alloc(call.inputs["object"].clone()).to_value(arena);
                let root = if call.inputs["isResourceRoot"] == true { Root::Resource } else { Root::Value };
                if name != "objectmeta.CoerceWithOptions" {
                    let ours = object::embedded(object, schema, root, &FieldPath::Root, &crate::RECORDED.into());
                    let theirs: Vec<Expected> =
                        serde_json::from_value(call.output["errors"].clone()).unwrap_or_default();
                    return errors(name, &call.test, &ours, &theirs, table);
                }
                let malformed =
                    if call.inputs["dropInvalidFields"] == true { Malformed::Drop } else { Malformed::Refuse };
                match object::coerce(object, schema, root, malformed, &FieldPath::Root, arena) {
                    Ok(ours) => value(name, &call.test, ours.value, &call.output["object"], table),
                    Err(error) => {
                        let verdict = match call.output["error"].as_object() {
                            Some(_) => Verdict::Equal,
                            None => Verdict::Differing(error.to_string()),
                        };
                        table.add(name, &call.test, verdict);
                    }
                }
            });
        }
    }
}

/// Compares custom resources of real CustomResourceDefinitions.
fn resources(folder: &Path, corpus: &Path, table: &mut Table) {
    let cases = records::<Case>(&folder.join("cr-cases.ndjson.gz"), table);
    // Results are recorded as Go prints them, which does not distinguish floats from integers, so old objects are
    // decoded again.
    let objects: BTreeMap<usize, &Value> = cases.iter().map(|case| (case.id, &case.object)).collect();
    let mut files = Files { corpus, read: BTreeMap::new() };
    let mut by_version: BTreeMap<(&str, usize, &str), Vec<&Case>> = BTreeMap::new();
    for case in &cases {
        by_version.entry((&case.crd.file, case.crd.index, &case.version)).or_default().push(case);
    }
    for ((file, index, version), cases) in by_version {
        let compared = files.crd(file, index).and_then(|source| {
            let mut tape = Tape::new();
            Stream::new(source.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
            let arena = Bump::new();
            let crd = kubeshape_structural::read::read(tape.document(&source).root()?, &arena).value?;
            let version = crd.versions.iter().find(|found| found.name == version)?;
            let resource = Resource::new(&crd, version, crate::RECORDED, &arena);
            for case in &cases {
                one_resource(case, &resource, &objects, &arena, table);
            }
            Some(())
        });
        if compared.is_none() {
            table.add("reading", &format!("{file} {index} {version}"), Verdict::Missing("no such version".to_owned()));
        }
    }
}

pub(crate) fn one_resource<'a>(
    case: &Case,
    resource: &Resource<'a>,
    objects: &BTreeMap<usize, &Value>,
    arena: &'a Bump,
    table: &mut Table,
) {
    let label = format!("{} {} {}", case.crd.file, case.crd.index, case.id);
    let object = arena.alloc(case.object.clone()).to_value(arena);
    let ours = match (resource.decode(object, arena), &case.decode_error) {
        (Err(ours), Some(theirs)) => {
            return table.add("objects not decoded", &label, crate::verdict::equal(&ours, theirs));
        }
        (Ok(_), Some(theirs)) => {
            let text = format!("decoded, theirs {theirs}");
            return table.add("objects not decoded", &label, Verdict::Differing(text));
        }
        (Err(ours), None) => return table.add("objects decoded", &label, Verdict::Differing(ours)),
        (Ok(ours), None) => ours,
    };
    table.add("objects unknown", &label, crate::verdict::equal(&ours.unknown, &case.unknown));
    let mut stored = ours.value;
    let old = case.update.and_then(|id| objects.get(&id));
    if old.is_some() {
        stored = with_resource_version(stored, arena);
    }
    value("objects stored", &label, stored, case.result.as_ref().unwrap_or(&case.object), table);
    if let (Some(rules), None) = (&resource.rules, case.update) {
        let outcome = rules.check(stored, &FieldPath::Root, Rules::BUDGET);
        errors("objects cel", &label, &outcome.errors, &case.cel, table);
        if let Some(cost) = case.cel_cost {
            table.add(
                "objects celCost",
                &label,
                crate::verdict::equal(&(Rules::BUDGET - outcome.remaining_budget), &cost),
            );
        }
    }
    let (row, ours) = match old {
        None => ("objects errors", resource.validate(stored)),
        Some(old) => {
            let Ok(old) = resource.decode(arena.alloc((*old).clone()).to_value(arena), arena) else {
                return table.add("reading", &label, Verdict::Missing("the old object is not decoded".to_owned()));
            };
            let old = with_resource_version(old.value, arena);
            ("objects update errors", resource.validate_update(stored, old))
        }
    };
    errors(row, &label, &ours, &case.errors, table);
}

fn with_resource_version<'a>(object: Object<'a>, arena: &'a Bump) -> Object<'a> {
    let Some(map) = object.as_map() else { return object };
    let metadata = map.get("metadata").and_then(Object::as_map).unwrap_or_default();
    let metadata = metadata.with("resourceVersion", Some(Object::String("1")), arena);
    Object::Map(map.with("metadata", Some(Object::Map(metadata)), arena))
}

/// Compares CEL rules on values: the calls of upstream's own tests, and random schemas with three objects each.
fn rules(folder: &Path, golden: &Path, table: &mut Table) {
    for call in records::<Call>(&folder.join("upstream-tests/cel.Validate.ndjson.gz"), table) {
        one_call("cel.Validate", &call.test, &call.inputs["schema"], &call.inputs, &call.output, table);
    }
    for record in records::<Value>(&golden.join("cel/schemas.ndjson.gz"), table) {
        for (at, case) in record["cases"].as_array().into_iter().flatten().enumerate() {
            let mut inputs = case.clone();
            inputs["isResourceRoot"] = record["isResourceRoot"].clone();
            let label = format!("{} {at}", record["id"]);
            one_call("cel schemas", &label, &record["schema"], &inputs, case, table);
        }
    }
}

fn one_call(row: &str, label: &str, schema: &Value, inputs: &Value, output: &Value, table: &mut Table) {
    let unstable: Vec<&str> = match &output["unstable"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        Value::Bool(true) => vec!["errors", "cost"],
        Value::String(name) => vec![name],
        _ => Vec::new(),
    };
    with_schema(schema, |schema, arena| {
        let Some(schema) = schema else { return };
        let is_root = inputs["isResourceRoot"] == true;
        let rules = Rules::of(schema, is_root, crate::RECORDED)
            .map(|rules| rules.with_call_limit(inputs["perCallLimit"].as_u64().unwrap_or(Rules::CALL_LIMIT)));
        let object = arena.alloc(inputs["object"].clone()).to_value(arena);
        let old = arena.alloc(inputs["oldObject"].clone()).to_value(arena);
        let budget = inputs["costBudget"].as_i64().unwrap_or(Rules::BUDGET);
        let path = inputs["path"].as_str().unwrap_or_default();
        let path = if path.is_empty() { FieldPath::Root } else { FieldPath::Base(path) };
        let outcome = match &rules {
            None => RuleOutcome { errors: Vec::new(), ratcheted: Vec::new(), remaining_budget: budget },
            Some(rules) if old.is_null() => rules.check(object, &path, budget),
            Some(rules) => rules.check_update(object, old, inputs["ratcheting"] == true, &path, budget),
        };
        if !unstable.contains(&"errors") {
            let theirs: Vec<Expected> = serde_json::from_value(output["errors"].clone()).unwrap_or_default();
            errors(&format!("{row} errors"), label, &outcome.errors, &theirs, table);
        }
        if let Some(theirs) = output["remainingBudget"].as_i64().filter(|_| !unstable.contains(&"cost")) {
            let verdict = crate::verdict::equal(&outcome.remaining_budget, &theirs);
            table.add(&format!("{row} budget"), label, verdict);
        }
    });
}
