//! Values for a schema: most of them match it, some nearly.

use serde_json::{Map, Value, json};

/// A small random number generator. The seed determines everything.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn choose<'v, T>(&mut self, from: &'v [T]) -> &'v T {
        &from[self.below(from.len() as u64) as usize]
    }
}

/// Returns a value for the schema, sometimes with a part replaced by any value.
pub(crate) fn instance(schema: &Value, random: &mut Random) -> Value {
    let mut value = fitting(schema, random, 0);
    if random.one_in(3) {
        disturb(&mut value, random);
    }
    value
}

fn fitting(schema: &Value, random: &mut Random, depth: usize) -> Value {
    let is = |keyword: &str| schema[keyword] == true;
    if depth > 12 {
        return Value::Null;
    }
    if is("nullable") && random.one_in(4) {
        return Value::Null;
    }
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
        return random.choose(values).clone();
    }
    match schema["type"].as_str() {
        Some("object") => object(schema, random, depth),
        Some("array") => array(schema, random, depth),
        Some("string") => string(schema, random),
        Some("integer") => number(schema, random, true),
        Some("number") => number(schema, random, false),
        Some("boolean") => Value::Bool(random.one_in(2)),
        _ => match schema["anyOf"].as_array().filter(|branches| !branches.is_empty()) {
            Some(branches) => fitting(random.choose(branches), random, depth + 1),
            None if is("x-kubernetes-int-or-string") => random.choose(&[json!(5), json!("50%")]).clone(),
            None if schema["properties"].is_object() => object(schema, random, depth),
            None => anything(random),
        },
    }
}

fn object(schema: &Value, random: &mut Random, depth: usize) -> Value {
    let mut out = Map::new();
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let wanted = if required.contains(&name.as_str()) { !random.one_in(30) } else { random.one_in(2) };
        if wanted {
            out.insert(name.clone(), fitting(inner, random, depth + 1));
        }
    }
    for name in required.into_iter().filter(|name| schema["properties"].get(name).is_none()) {
        out.insert(name.to_owned(), anything(random));
    }
    if schema["additionalProperties"].is_object() {
        for name in ["k", "l"] {
            out.insert(name.to_owned(), fitting(&schema["additionalProperties"], random, depth + 1));
        }
    }
    if random.one_in(5) {
        out.insert("unknown".to_owned(), anything(random));
    }
    Value::Object(out)
}

fn array(schema: &Value, random: &mut Random, depth: usize) -> Value {
    let least = schema["minItems"].as_u64().unwrap_or(0).min(6);
    let most = schema["maxItems"].as_u64().unwrap_or(3).min(6).max(least);
    let n = least + random.below(most - least + 1);
    Value::Array((0..n).map(|_| fitting(&schema["items"], random, depth + 1)).collect())
}

fn string(schema: &Value, random: &mut Random) -> Value {
    let least = schema["minLength"].as_u64().unwrap_or(0).min(40) as usize;
    let text = random
        .choose(&["a", "b", "aa", "aaa", "abc", "1.5", "", "é", "x", "name", "a-b.c", "10Gi", "/path"])
        .to_string();
    Value::String(if text.len() < least { "a".repeat(least) } else { text })
}

fn number(schema: &Value, random: &mut Random, whole: bool) -> Value {
    let mut candidates = vec![0.0, 1.0, 2.0, 7.0, -1.0, 80.0];
    for bound in ["minimum", "maximum", "multipleOf"] {
        if let Some(n) = schema[bound].as_f64().filter(|n| n.abs() < 9e15) {
            candidates.extend([n, n + 1.0, n - 1.0]);
        }
    }
    let n = *random.choose(&candidates);
    if whole || n.fract() == 0.0 { json!(n.trunc() as i64) } else { json!(n) }
}

fn anything(random: &mut Random) -> Value {
    let values = [
        Value::Null,
        json!(true),
        json!(0),
        json!(-3),
        json!(1.5),
        json!("a"),
        json!(""),
        json!([]),
        json!([1, "a", null]),
        json!({}),
        json!({"a": 1, "name": "b"}),
    ];
    random.choose(&values).clone()
}

/// Replaces one part of the value with any value, or removes a member.
fn disturb(value: &mut Value, random: &mut Random) {
    let here = random.one_in(4);
    match value {
        Value::Object(members) if !here && !members.is_empty() => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = random.choose(&names);
            if random.one_in(5) {
                members.remove(name);
            } else if let Some(inner) = members.get_mut(name) {
                disturb(inner, random);
            }
        }
        Value::Array(items) if !here && !items.is_empty() => {
            let n = random.below(items.len() as u64) as usize;
            disturb(&mut items[n], random);
        }
        value => *value = anything(random),
    }
}
