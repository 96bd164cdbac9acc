//! Which values the forms of a schema accept, by the `jsonschema` crate.

use super::instances::{Random, instance};
use super::sources::Case;
use jsonschema::{Draft, Validator};
use kubeshape_publish::Shape;
use kubeshape_schema::Code;
use serde_json::{Map, Value, json};

/// Counts of the values tried: a test that accepts all or none of them shows nothing.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) tried: usize,
    pub(crate) accepted: usize,
    pub(crate) refused_by_v3_alone: usize,
}

impl Counts {
    pub(crate) fn assert_telling(&self) {
        let Counts { tried, accepted, refused_by_v3_alone } = *self;
        assert!(accepted * 5 > tried, "{accepted} of {tried} values are accepted");
        assert!(accepted < tried && refused_by_v3_alone > 0, "v2 is not seen to be wider in {tried} values");
    }
}

/// Compares v2 with v3. Of the notes about narrowing, only the null of a whole resource is narrower than v3.
pub(crate) fn check(case: &Case<'_, '_>, values: u64, counts: &mut Counts) {
    let v3 = validator(case, &case.v3);
    let v2 = validator(case, &case.v2);
    let narrowed = case.notes(Shape::V2).iter().any(|note| note.code == Code::V2RootNullable);
    for seed in 0..values {
        let value = instance(&case.v3, &mut Random::new(seed + 1));
        counts.tried += 1;
        let (in_v3, in_v2) = (v3.is_valid(&value), v2.is_valid(&value));
        counts.accepted += usize::from(in_v3);
        counts.refused_by_v3_alone += usize::from(in_v2 && !in_v3);
        assert!(
            in_v2 || !in_v3 || (narrowed && value.is_null()),
            "{}: v3 accepts and v2 refuses {value}\nv3 {}\nv2 {}",
            case.label,
            case.v3,
            case.v2
        );
    }
}

#[allow(clippy::result_large_err)]
fn validator(case: &Case<'_, '_>, schema: &Value) -> Validator {
    let translated = translate(schema);
    let options = || jsonschema::options().with_draft(Draft::Draft4).should_validate_formats(false).clone();
    options()
        .build(&translated)
        .or_else(|_| options().build(&without_patterns(&translated)))
        .unwrap_or_else(|error| panic!("{}: {error} in {translated}", case.label))
}

/// Converts a schema of Kubernetes to JSON Schema of draft 4, which has the same bounds and exclusive bounds.
fn translate(schema: &Value) -> Value {
    let Some(members) = schema.as_object() else { return schema.clone() };
    let mut out = Map::new();
    for (keyword, value) in members {
        let translated = match keyword.as_str() {
            "properties" => {
                let inner = value.as_object().into_iter().flatten();
                Value::Object(inner.map(|(name, inner)| (name.clone(), translate(inner))).collect())
            }
            "items" | "additionalProperties" | "not" => translate(value),
            "allOf" | "anyOf" | "oneOf" => {
                Value::Array(value.as_array().into_iter().flatten().map(translate).collect())
            }
            "type" if members.get("nullable") == Some(&Value::Bool(true)) => json!([value, "null"]),
            "required" | "enum" => {
                let mut unique: Vec<Value> = Vec::new();
                for item in value.as_array().into_iter().flatten().filter(|item| keyword == "enum" || item.is_string())
                {
                    if !unique.contains(item) {
                        unique.push(item.clone());
                    }
                }
                Value::Array(unique)
            }
            // Bounds that the meta-schema does not allow have no effect.
            "multipleOf" if value.as_f64().is_none_or(|n| n <= 0.0) => continue,
            "exclusiveMaximum" if !members.contains_key("maximum") => continue,
            "exclusiveMinimum" if !members.contains_key("minimum") => continue,
            "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties"
                if !value.is_u64() =>
            {
                continue;
            }
            "type" | "maximum" | "minimum" | "multipleOf" | "exclusiveMaximum" | "exclusiveMinimum" | "maxLength"
            | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties" | "uniqueItems" | "pattern" => {
                value.clone()
            }
            _ => continue,
        };
        out.insert(keyword.clone(), translated);
    }
    Value::Object(out)
}

/// Removes regular expressions of Go that ECMA does not accept.
fn without_patterns(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let kept = members.iter().filter(|(keyword, value)| !(keyword.as_str() == "pattern" && value.is_string()));
            Value::Object(kept.map(|(keyword, value)| (keyword.clone(), without_patterns(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_patterns).collect()),
        other => other.clone(),
    }
}
