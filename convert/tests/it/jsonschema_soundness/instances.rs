//! Values for a schema: most of them match it, some nearly.

use serde_json::{Map, Value, json};

/// A small random number generator. The seed determines everything.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn choose(&mut self, from: &[Value]) -> Value {
        from[self.below(from.len())].clone()
    }
}

/// Returns a value for the schema, sometimes with unknown fields or values of any kind in it.
pub(crate) fn instance(schema: &Value, random: &mut Random) -> Value {
    let wild = random.one_in(3);
    fitting(schema, random, wild, 0)
}

fn fitting(s: &Value, random: &mut Random, wild: bool, depth: usize) -> Value {
    if depth > 14 || (s["nullable"] == true && random.one_in(4)) {
        return Value::Null;
    }
    if wild && depth > 0 && random.one_in(12) {
        return anything(random);
    }
    if let Some(values) = s["enum"].as_array().filter(|values| !values.is_empty()) {
        return random.choose(values);
    }
    if s["x-kubernetes-int-or-string"] == true {
        return random.choose(&[json!(5), json!("50%"), json!("a")]);
    }
    match s["type"].as_str() {
        Some("object") => object(s, random, wild, depth),
        Some("array") => {
            let least = s["minItems"].as_u64().unwrap_or(0).min(4) as usize;
            let count = least + random.below(3);
            Value::Array((0..count).map(|_| fitting(&s["items"], random, wild, depth + 1)).collect())
        }
        Some("string") => string(s, random),
        Some(ty @ ("integer" | "number")) => number(s, random, ty == "integer"),
        Some("boolean") => json!(random.one_in(2)),
        _ if s["properties"].is_object() => object(s, random, wild, depth),
        _ => anything(random),
    }
}

fn object(s: &Value, random: &mut Random, wild: bool, depth: usize) -> Value {
    let mut out = Map::new();
    let required: Vec<&str> = s["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, inner) in s["properties"].as_object().into_iter().flatten() {
        if required.contains(&name.as_str()) || random.one_in(2) {
            out.insert(name.clone(), fitting(inner, random, wild, depth + 1));
        }
    }
    for name in required {
        if !out.contains_key(name) {
            out.insert(name.to_owned(), anything(random));
        }
    }
    if let Some(additional) = s.get("additionalProperties") {
        for name in ["k", "l"] {
            out.insert(name.to_owned(), fitting(additional, random, wild, depth + 1));
        }
    }
    if s["x-kubernetes-embedded-resource"] == true {
        out.insert("apiVersion".to_owned(), json!("v1"));
        out.insert("kind".to_owned(), json!("Pod"));
    }
    if (wild || s["x-kubernetes-preserve-unknown-fields"] == true) && random.one_in(3) {
        out.insert("unknown".to_owned(), anything(random));
    }
    Value::Object(out)
}

fn string(s: &Value, random: &mut Random) -> Value {
    let least = s["minLength"].as_u64().unwrap_or(0).min(40) as usize;
    if s["format"] == "uuid" && random.one_in(2) {
        return json!("0123abcd-0123-0123-0123-0123456789AB");
    }
    if s["format"] == "byte" && random.one_in(2) {
        return json!("YQ==");
    }
    let texts = ["a", "aa", "aaa", "abc", "1.5", "", "é", "x", "name", "a-b.c", "10Gi", "/path", "a\nb", "2020-01-01"];
    let text = texts[random.below(texts.len())];
    if text.chars().count() < least { json!("a".repeat(least)) } else { json!(text) }
}

fn number(s: &Value, random: &mut Random, whole: bool) -> Value {
    let mut candidates = vec![0.0, 1.0, 2.0, 7.0, -1.0, 80.0, 3e9];
    for bound in ["minimum", "maximum", "multipleOf"] {
        if let Some(n) = s[bound].as_f64().filter(|n| n.abs() < 9e15) {
            candidates.extend([n, n + 1.0, n - 1.0]);
        }
    }
    let n: f64 = candidates[random.below(candidates.len())];
    if whole || n.fract() == 0.0 { json!(n.trunc() as i64) } else { json!(n) }
}

fn anything(random: &mut Random) -> Value {
    random.choose(&[
        Value::Null,
        json!(true),
        json!(0),
        json!(1.5),
        json!("a"),
        json!([]),
        json!([1, "a", null, {"b": {}}]),
        json!({}),
        json!({"a": 1, "name": "b", "c": {"d": [{"e": 1}]}}),
    ])
}
