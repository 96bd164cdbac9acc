//! The result accepts everything that the source accepts.

use super::generate::{Dice, schema, value};
use super::{Error, down};
use kubeshape_convert::v2::from_v3::Options;
use kubeshape_schema::Profile;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Converts a schema of OpenAPI, v2 or v3, to JSON Schema.
fn translated(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return json!({"$ref": format!("#/$defs/{name}")});
    }
    if members.get("type") == Some(&json!("file")) {
        return json!({});
    }
    let is_true = |name: &str| members.get(name) == Some(&json!(true));
    let mut out = Map::new();
    for (name, value) in members {
        let value = match name.as_str() {
            "properties" => match value {
                Value::Object(all) => {
                    all.iter().map(|(name, inner)| (name.clone(), translated(inner))).collect::<Map<_, _>>().into()
                }
                _ => continue,
            },
            "items" | "additionalProperties" | "not" => translated(value),
            "allOf" | "oneOf" | "anyOf" => value.as_array().into_iter().flatten().map(translated).collect(),
            "type" if is_true("nullable") || is_true("x-nullable") => json!([value, "null"]),
            // Kubernetes' readers know the meaning of this format of a string.
            "type" if members.get("format") == Some(&json!("int-or-string")) => json!(["string", "integer"]),
            "minimum" if is_true("exclusiveMinimum") => {
                out.insert("exclusiveMinimum".into(), value.clone());
                continue;
            }
            "maximum" if is_true("exclusiveMaximum") => {
                out.insert("exclusiveMaximum".into(), value.clone());
                continue;
            }
            "type" | "enum" | "required" | "multipleOf" | "minimum" | "maximum" | "minLength" | "maxLength"
            | "pattern" | "minItems" | "maxItems" | "uniqueItems" | "minProperties" | "maxProperties" => value.clone(),
            _ => continue,
        };
        out.insert(name.clone(), value);
    }
    out.into()
}

/// Returns a validator for a schema with definitions.
fn validator(schema: &Value, definitions: &Value) -> Result<jsonschema::Validator, Error> {
    let definitions: Map<String, Value> =
        definitions.as_object().into_iter().flatten().map(|(name, inner)| (name.clone(), translated(inner))).collect();
    let mut root = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [translated(schema)]});
    root["$defs"] = definitions.into();
    Ok(jsonschema::validator_for(&root)?)
}

const NAMES: [&str; 4] = ["A", "B", "C.d-e_1", "Pet"];

/// Removes cyclic references: references of the first definition lead to others, and those have none. Validators of
/// cycles do not terminate, and those of many paths are large.
fn without_circles(schema: &mut Value, is_first: bool) {
    match schema {
        Value::Object(members) => {
            if let Some(reference) = members.get_mut("$ref") {
                if !is_first {
                    members.clear();
                } else if reference == "#/components/schemas/A" {
                    *reference = json!("#/components/schemas/B");
                }
            }
            members.values_mut().for_each(|inner| without_circles(inner, is_first));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| without_circles(inner, is_first)),
        _ => {}
    }
}

/// Returns a value that a schema probably accepts.
fn instance(dice: &mut Dice, schema: &Value, definitions: &Value, depth: u32) -> Value {
    if depth == 0 || dice.one_in(8) {
        return value(dice, 1);
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return instance(dice, &definitions[name], definitions, depth - 1);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return dice.pick(values).clone();
    }
    if schema.get("nullable").is_some() && dice.one_in(3) {
        return Value::Null;
    }
    for junctor in ["allOf", "oneOf", "anyOf"] {
        if let Some(branches) = schema.get(junctor).and_then(Value::as_array)
            && dice.one_in(2)
        {
            return instance(dice, dice_pick(branches, depth), definitions, depth - 1);
        }
    }
    match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
        "string" => json!(dice.pick(&["a", "ab", "abc", "", "Z"])),
        // Not every validator accepts 1.0 as an integer among several types.
        "number" if dice.one_in(2) => json!(f64::from(dice.roll(5)) - 1.5),
        "number" | "integer" => json!(i64::from(dice.roll(5)) - 2),
        "boolean" => json!(dice.one_in(2)),
        "array" => {
            let empty = json!({});
            let items = schema.get("items").unwrap_or(&empty);
            (0..dice.roll(4)).map(|_| instance(dice, items, definitions, depth - 1)).collect()
        }
        "object" => {
            let mut out = Map::new();
            for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                if !dice.one_in(4) {
                    out.insert(name.clone(), instance(dice, inner, definitions, depth - 1));
                }
            }
            if let Some(inner) = schema.get("additionalProperties").filter(|inner| inner.is_object()) {
                out.insert("more".into(), instance(dice, inner, definitions, depth - 1));
            }
            out.into()
        }
        _ => value(dice, 2),
    }
}

fn dice_pick(branches: &[Value], depth: u32) -> &Value {
    &branches[depth as usize % branches.len()]
}

/// Checks values, each of which is accepted by one of the sources.
fn check(dice: &mut Dice, from: &[(&Value, &Value)], to: (&Value, &Value)) -> Result<usize, Error> {
    let result = validator(to.0, to.1)?;
    let mut accepted = 0;
    for (schema, definitions) in from {
        let source = validator(schema, definitions)?;
        for _ in 0..12 {
            let value = instance(dice, schema, definitions, 5);
            if source.is_valid(&value) {
                accepted += 1;
                if !result.is_valid(&value) {
                    return Err(format!("{value} is refused\nfrom {schema}\nto {}", to.0).into());
                }
            }
        }
    }
    Ok(accepted)
}

/// Checks definitions, body, response, parameter and form of generated schemas.
fn all_places(seed: u64, profile: Profile) -> Result<usize, Error> {
    let mut dice = Dice(seed);
    let mut definitions = Map::new();
    for (at, name) in NAMES.iter().enumerate() {
        let mut definition = schema(&mut dice, 2);
        without_circles(&mut definition, at == 0);
        definitions.insert((*name).to_owned(), definition);
    }
    let definitions = Value::from(definitions);
    let [one, two, simple, form] = [(); 4].map(|()| schema(&mut dice, 2));
    let (json, xml) = (json!({"schema": one}), json!({"schema": two}));
    let contents = json!({"application/json": json, "application/xml": xml});
    let document = json!({
        "openapi": "3.0.0", "info": {}, "components": {"schemas": definitions},
        "paths": {"/a": {
            "put": {"requestBody": {"content": contents}, "responses": {"200": {"description": "", "content": contents}}},
            "get": {"parameters": [{"name": "p", "in": "query", "schema": simple}], "responses": {}},
            "post": {"requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object", "properties": {"f": form}}}}}, "responses": {}},
        }},
    });
    let (out, notes) = down(&document.to_string(), Options { profile, keep_losses: false, ..Options::default() })?;
    let out: Value = serde_json::from_str(&out)?;
    let results = &out["definitions"];
    let mut accepted = 0;
    for (name, source) in definitions.as_object().into_iter().flatten() {
        accepted += check(&mut dice, &[(source, &definitions)], (&results[name], results))?;
    }
    let put = &out["paths"]["/a"]["put"];
    for schema in [&put["parameters"][0]["schema"], &put["responses"]["200"]["schema"]] {
        accepted += check(&mut dice, &[(&one, &definitions), (&two, &definitions)], (schema, results))?;
    }
    for (method, source) in [("get", &simple), ("post", &form)] {
        // A string stays a string in a request, however a server reads it.
        let place = format!("/paths/~1a/{method}");
        let is_text = notes.iter().any(|note| note.contains("KS2210") && note.contains(&place));
        // Null has no form outside of bodies; the API server's own readers never need one.
        let null = profile == Profile::Kube && notes.iter().any(|note| note.contains("KS2205 nullable"));
        if !is_text && !null {
            accepted +=
                check(&mut dice, &[(source, &definitions)], (&out["paths"]["/a"][method]["parameters"][0], results))?;
        }
    }
    Ok(accepted)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_source_accepts_the_result_accepts(seed: u64, kube: bool) {
        let profile = if kube { Profile::Kube } else { Profile::Faithful };
        all_places(seed, profile).map_err(|error| TestCaseError::fail(error.to_string()))?;
    }
}

#[test]
fn the_samples_are_not_trivial() -> Result<(), Error> {
    let accepted: usize = (0..200).map(|seed| all_places(seed, Profile::Faithful)).sum::<Result<_, _>>()?;
    assert!(accepted > 4000, "{accepted}");
    Ok(())
}
