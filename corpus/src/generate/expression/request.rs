//! Expressions with variables and values.

use super::{Expressions, Type, damaged};
use crate::generate::Draw;
use serde_json::{Value as Json, json};

/// Returns an expression with variables, their types and values, in the form of a request to the Go program.
pub fn request(draw: &mut Draw) -> Json {
    const VARIABLES: &[(&str, &str)] = &[
        ("i", "int"),
        ("s", "string"),
        ("b", "bool"),
        ("u", "uint"),
        ("d", "double"),
        ("li", "list(int)"),
        ("ls", "list(string)"),
        ("ms", "map(string, string)"),
        ("ml", "map(string, list(int))"),
        ("t", "google.protobuf.Timestamp"),
        ("du", "google.protobuf.Duration"),
        ("by", "bytes"),
        ("ll", "list(list(string))"),
        ("o", "optional_type(int)"),
        ("x", "dyn"),
        ("os", "optional_type(string)"),
        ("ld", "list(dyn)"),
        ("lm", "list(map(string, int))"),
    ];
    let mut variables: Vec<(String, Type)> = Vec::new();
    for _ in 0..draw.below(4) {
        let (name, ty) = *draw.pick(VARIABLES);
        if variables.iter().all(|(known, _)| known != name) {
            variables.push((name.to_owned(), Type::parse(ty)));
        }
    }
    let wrong = if draw.percent(15) { 8 } else { 0 };
    let depth = *draw.pick(&[1, 2, 2, 3, 3, 3, 4, 5]);
    let mut expressions = Expressions::new(draw, &variables, wrong);
    let ty = expressions.any_type(2);
    let mut text = expressions.expression(&ty, depth);
    if draw.percent(12) {
        text = damaged(draw, &text);
    }
    let types: serde_json::Map<String, Json> =
        variables.iter().map(|(name, ty)| (name.clone(), json!(ty.to_string()))).collect();
    let mut bindings = serde_json::Map::new();
    for (name, ty) in &variables {
        if draw.percent(95) {
            bindings.insert(name.clone(), value(draw, ty));
        }
    }
    json!({"expr": text, "vars": types, "bindings": bindings})
}

/// A value of a type, in the form of the records.
fn value(draw: &mut Draw, ty: &Type) -> Json {
    match (ty.name.as_str(), &ty.inner[..]) {
        ("list", [element]) => (0..draw.below(4)).map(|_| value(draw, element)).collect(),
        ("map", [_, inner]) => {
            let keys = ["a", "b", "k", "b c", ""];
            let from = draw.below(keys.len());
            let pairs: Vec<Json> = keys[from..].iter().take(3).map(|key| json!([key, value(draw, inner)])).collect();
            json!({"map": pairs})
        }
        ("optional_type", [inner]) => {
            let items: Vec<Json> = (0..draw.below(2)).map(|_| value(draw, inner)).collect();
            json!({"optional": items})
        }
        ("bool", _) => json!(draw.percent(50)),
        ("int", _) => json!(draw.pick(&[0, 1, -1, 5, 100, i64::MAX, i64::MIN])),
        ("uint", _) => json!({"uint": draw.pick(&[0, 1, 7, u64::MAX])}),
        ("double", _) => {
            let values = [json!(0.5), json!(-2.0), json!("NaN"), json!("Infinity"), json!(1e300), json!("-0")];
            json!({"double": draw.pick(&values)})
        }
        ("bytes", _) => json!({"bytes": draw.pick(&["", "YQ==", "/wA=", "w6k="])}),
        ("google.protobuf.Duration", _) => json!({"duration": draw.pick(&["0s", "1.5s", "-3600s", "9223372036s"])}),
        ("google.protobuf.Timestamp", _) => {
            let times = ["2009-02-13T23:31:30.123Z", "1970-01-01T00:00:00Z", "2000-02-29T00:00:00Z"];
            json!({"timestamp": draw.pick(&times)})
        }
        ("string", _) => {
            let texts = ["", "a", "foo bar", "\u{e9}t\u{e9}", "1", "10.0.0.1", "a,b", "\u{1F600}x", "1Gi", "ABC"];
            json!(draw.pick(&texts))
        }
        ("dyn", _) => {
            let types = ["int", "string", "list(int)", "map(string, int)", "double", "bool", "null_type"];
            let other = Type::parse(draw.text(&types));
            value(draw, &other)
        }
        _ => Json::Null,
    }
}
