//! Evaluates OpenAPI's keywords and Kubernetes' extensions over JSON, one by one, without the faults of the server's
//! validation.

use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Evaluator {
    /// Whether null has the meaning that documents give it.
    pub(crate) is_document: bool,
    pub(crate) patterns: BTreeMap<String, Option<Validator>>,
}

impl Evaluator {
    /// Returns whether the source accepts an object of its kind.
    pub(crate) fn accepts(&mut self, schema: &Value, value: &Value) -> bool {
        value.is_object() && self.value(schema, value)
    }

    fn value(&mut self, s: &Value, value: &Value) -> bool {
        let int_or_string = s["x-kubernetes-int-or-string"] == true;
        let ty = s["type"].as_str();
        let listed = s["enum"].as_array().filter(|values| !values.is_empty());
        if value.is_null() && self.is_document {
            let is_listed = listed.is_none_or(|values| values.contains(&Value::Null));
            return is_listed && (s["nullable"] == true || (ty.is_none() && self.branches(s, value)));
        }
        if value.is_null() {
            let nullable = s["nullable"] == true;
            // No enum accepts null, even if it lists it.
            return listed.is_none() && (nullable || (ty.is_none() && !int_or_string));
        }
        let fits = if int_or_string {
            value.is_string() || whole(value)
        } else {
            match ty {
                Some("object") => value.is_object(),
                Some("array") => value.is_array(),
                Some("string") => value.is_string(),
                Some("boolean") => value.is_boolean(),
                Some("integer") => whole(value),
                Some("number") => value.is_number(),
                _ => true,
            }
        };
        let format = s["format"].as_str().unwrap_or_default();
        fits && listed.is_none_or(|values| values.iter().any(|allowed| equal(allowed, value)))
            && self.branches(s, value)
            && match value {
                Value::Number(_) => number(s, value, format),
                Value::String(text) => self.string(s, text, format),
                Value::Array(items) => self.array(s, items),
                Value::Object(_) => self.object(s, value),
                _ => true,
            }
    }

    fn branches(&mut self, s: &Value, value: &Value) -> bool {
        let list = |name: &str| s[name].as_array().cloned().unwrap_or_default();
        let (all, any, one) = (list("allOf"), list("anyOf"), list("oneOf"));
        all.iter().all(|branch| self.value(branch, value))
            && (any.is_empty() || any.iter().any(|branch| self.value(branch, value)))
            && (one.is_empty() || one.iter().filter(|branch| self.value(branch, value)).count() == 1)
            && s.get("not").is_none_or(|branch| !self.value(branch, value))
    }

    fn string(&mut self, s: &Value, text: &str, format: &str) -> bool {
        let bounds = within(s, "minLength", "maxLength", text.chars().count());
        let checked = matches!(s["type"].as_str(), Some("string") | None);
        let fits = match format {
            "byte" if checked => {
                let padding = text.bytes().rev().take_while(|b| *b == b'=').count();
                let body = &text[..text.len() - padding.min(2)];
                !text.is_empty()
                    && text.len().is_multiple_of(4)
                    && body.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
            }
            "uuid" if checked => text.replace('-', "").len() == 32,
            _ => true,
        };
        bounds && fits && self.pattern(s["pattern"].as_str(), text)
    }

    /// For the expressions in these tests, Rust's language is close enough to Go's.
    fn pattern(&mut self, pattern: Option<&str>, text: &str) -> bool {
        let Some(pattern) = pattern else { return true };
        let validator = self
            .patterns
            .entry(pattern.to_owned())
            .or_insert_with(|| jsonschema::draft4::options().build(&json!({ "pattern": pattern })).ok());
        validator.as_ref().is_none_or(|validator| validator.is_valid(&json!(text)))
    }

    fn array(&mut self, s: &Value, items: &[Value]) -> bool {
        let unique = s["uniqueItems"] == true || s["x-kubernetes-list-type"] == "set";
        within(s, "minItems", "maxItems", items.len())
            && (!unique || (0..items.len()).all(|i| items[..i].iter().all(|other| !equal(other, &items[i]))))
            && s.get("items").is_none_or(|inner| items.iter().all(|item| self.value(inner, item)))
    }

    fn object(&mut self, s: &Value, value: &Value) -> bool {
        let Some(members) = value.as_object() else { return true };
        let mut required = s["required"].as_array().into_iter().flatten();
        let embedded = s["x-kubernetes-embedded-resource"] == true;
        let text = |name: &str| members.get(name).is_some_and(Value::is_string);
        // The server removes null from such a field without type. In branches, it does not.
        let is_removed = |name: &str| {
            let property = &s["properties"][name];
            property["x-kubernetes-preserve-unknown-fields"] == true
                && property["nullable"] != true
                && property.get("default").is_none()
        };
        let is_there = |name: &str| members.get(name).is_some_and(|inner| !inner.is_null() || !is_removed(name));
        within(s, "minProperties", "maxProperties", members.len())
            && required.all(|name| name.as_str().is_none_or(is_there))
            && (!embedded || text("apiVersion") && text("kind") && members.get("metadata").is_none_or(Value::is_object))
            && members.iter().all(|(name, inner)| match (s["properties"].get(name), s.get("additionalProperties")) {
                (Some(property), _) => self.value(property, inner),
                (None, Some(additional)) if additional.is_object() => self.value(additional, inner),
                (None, additional) => additional != Some(&Value::Bool(false)),
            })
    }
}

fn whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
}

fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

fn within(s: &Value, least: &str, most: &str, n: usize) -> bool {
    let n = i64::try_from(n).unwrap_or(i64::MAX);
    s[least].as_i64().is_none_or(|least| n >= least) && s[most].as_i64().is_none_or(|most| n <= most)
}

fn number(s: &Value, value: &Value, format: &str) -> bool {
    let Some(n) = value.as_f64() else { return true };
    let exclusive = |name: &str| s[name] == true;
    let least = s["minimum"].as_f64().is_none_or(|m| n > m || (n >= m && !exclusive("exclusiveMinimum")));
    let most = s["maximum"].as_f64().is_none_or(|m| n < m || (n <= m && !exclusive("exclusiveMaximum")));
    let multiple = s["multipleOf"].as_f64().is_none_or(|m| {
        // The server rejects every number if the factor is not positive; the validator that checks the result does not
        // accept a negative number as a multiple of a fraction.
        m > 0.0 && n % m == 0.0 && (m.fract() == 0.0 || n >= 0.0)
    });
    let range = match (s["type"].as_str(), format) {
        (Some("integer"), "int32") => (-2_147_483_648.0..=2_147_483_647.0).contains(&n),
        (Some("integer"), "int64") => n.abs() < 9.3e18,
        (Some("number"), "float") => n.abs() <= f64::from(f32::MAX),
        _ => true,
    };
    least && most && multiple && range
}
