//! Tests of broken and odd documents. There is always an answer with a position, and the good inputs next to them are
//! converted.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, Run, crd, json, report};

/// Returns a document with these schemas, one per line from line 5 on.
fn document(schemas: &str) -> String {
    format!(
        "openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\npaths: {{}}\ncomponents: {{schemas: {{\n{schemas}\n}}}}\n"
    )
}

/// Converts a text alone, and returns the lines of its report.
fn lines(text: impl AsRef<[u8]>, to: &str) -> (Run, Vec<serde_json::Value>) {
    let folder = Folder::new();
    folder.write("a.yaml", text);
    let run = folder.run(&format!("convert a.yaml --to {to} -o out.json --report r.ndjson"));
    let lines = report(&folder.read("r.ndjson"));
    (run, lines)
}

/// Checks that the text is an error with a position and writes nothing, and that the good documents next to it are
/// converted.
#[track_caller]
fn refused(name: &str, text: &[u8], parts: &[&str]) {
    let folder = Folder::new();
    folder.write(&format!("in/{name}"), text).write("in/good.yaml", document("A: {type: string}"));
    folder.write("in/crd.yaml", crd("widgets", &["v1"]));
    let alone = folder.run(&format!("convert in/{name} --to v3 -o alone"));
    alone.says(1, parts);
    assert_eq!((folder.names("alone"), alone.out.as_str()), (vec![], ""));
    folder.run("convert in --to v3 -o out").says(1, parts);
    let schemas = json(&folder.read("out/openapi.json"))["components"]["schemas"].clone();
    assert!(schemas["A"].is_object() && schemas["com.example.v1.Widget"].is_object(), "{schemas}");
}

/// Checks that there is a warning with this code at this line and pointer, and that the document is converted.
#[track_caller]
fn warned(text: &str, code: &str, line: u64, pointer: &str, detail: &str) {
    let (run, lines) = lines(text, "v3");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let found = lines.iter().find(|entry| entry["code"] == code).unwrap_or_else(|| panic!("{code}: {lines:?}"));
    assert_eq!((found["line"].as_u64(), found["pointer"].as_str()), (Some(line), Some(pointer)), "{found}");
    assert!(found["detail"].as_str().unwrap().contains(detail), "{found}");
    assert!(run.err.contains(&format!("warning[{code}]: a.yaml:{line}:")), "{}", run.err);
}

#[test]
fn dangling_references() {
    let text = document("A: {$ref: '#/components/schemas/Gone'}");
    warned(&text, "KS4101", 5, "/components/schemas/A", "#/components/schemas/Gone");
}

#[test]
fn remote_references() {
    let text = document("A: {type: object},\nB: {items: {$ref: 'other.yaml#/A'}}");
    warned(&text, "KS4102", 6, "/components/schemas/B/items", "other.yaml#/A");
}

#[test]
fn references_to_something_that_is_not_a_schema() {
    let text = document("A: {$ref: '#/info'}");
    warned(&text, "KS4103", 5, "/components/schemas/A", "#/info");
}

#[test]
fn circular_references() {
    let text = document("A: {$ref: '#/components/schemas/B'},\nB: {$ref: '#/components/schemas/A'}");
    warned(&text, "KS4104", 5, "/components/schemas/A", "");
    for to in ["v2", "smd", "jsonschema --kind A", "v3 --inline", "v3 --inline --recursion cut", "v3 --kind A"] {
        let (run, _) = lines(&text, to);
        assert!(matches!(run.code, Some(0 | 1)), "{to}: {}", run.err);
    }
}

#[test]
fn references_with_escapes_lead_to_their_definitions() {
    let folder = Folder::new();
    let definition = r#"A: {items: {$ref: '#/components/schemas/a~1b~0c'}},
B: {items: {$ref: '#/components/schemas/x%20y'}},
"a/b~c": {type: string},
"x y": {type: string}"#;
    folder.write("a.yaml", document(definition));
    let run = folder.run("convert a.yaml --to v3 --kind A");
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(json(&run.out)["components"]["schemas"]["a/b~c"].is_object(), "{}", run.out);
}

#[test]
fn operations_with_the_same_id() {
    let operation = "{get: {operationId: same, responses: {default: {description: d}}}}";
    let text =
        format!("openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\npaths:\n  /a: {operation}\n  /b: {operation}\n");
    warned(&text, "KS4105", 5, "/paths/~1b/get", "same");
}

#[test]
fn numbers_beyond_64_bits() {
    let (run, _) = lines(document("A: {maximum: 123456789012345678901234567890, minimum: 1e400}"), "v3");
    assert!(matches!(run.code, Some(0 | 1)) && !run.err.contains("panicked"), "{}", run.err);
    let folder = Folder::new();
    folder.write("a.yaml", document("A: {maximum: 123456789012345678901234567890}"));
    let run = folder.run("convert a.yaml --to v3");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(json(&run.out)["components"]["schemas"]["A"]["maximum"], 1.234_567_890_123_456_8e29);
    folder.write("b.yaml", document("A: {maxLength: 123456789012345678901234567890}"));
    folder.run("convert b.yaml --to v3").says(1, &["error[KS1005]", "--> b.yaml:5:16"]);
}

#[test]
fn invalid_utf_8() {
    let mut text = br#"{"openapi":"3.0.0","info":{"title":""#.to_vec();
    text.extend(b"\xE4\xF6\",\"version\":\"1\"},\"paths\":{}}");
    refused("latin.json", &text, &["error[KS1001]", "--> in/latin.json:1:37"]);
}

#[test]
fn truncated() {
    let text = document("A: {type: object, properties: {a: {type: str");
    refused("cut.yaml", text.trim_end_matches("\n}}\n").as_bytes(), &["error[KS1001]", "--> in/cut.yaml:"]);
    let json = br#"{"swagger":"2.0","info":{"title":"t","ver"#;
    refused("cut.json", json, &["error[KS1001]", "--> in/cut.json:1:"]);
}

#[test]
fn truncated_protobuf() {
    let folder = Folder::new();
    folder.write("a.yaml", document("A: {type: object, description: something longer}"));
    folder.run("convert a.yaml --to v3 -o a.pb").is_silent();
    let bytes = folder.bytes("a.pb");
    refused("cut.pb", &bytes[..bytes.len() - 5], &["error[KS1007]", "--> in/cut.pb"]);
}

#[test]
fn wrong_types() {
    refused(
        "a.yaml",
        document("A: {type: object, properties: [a]}").as_bytes(),
        &["error[KS1005]", "--> in/a.yaml:5:31"],
    );
    let text = "openapi: 3.0.0\ninfo: {title: [t], version: '1'}\npaths: {}\n";
    refused("b.yaml", text.as_bytes(), &["error[KS1005]", "--> in/b.yaml:2:15"]);
    let text = br#"{"swagger":"2.0","paths":{"/a":{"get":{"parameters":{"name":"x"}}}}}"#;
    refused("c.json", text, &["error[KS1005]", "--> in/c.json:1:"]);
}

#[test]
fn wrong_types_everywhere() {
    // Every value of a document is replaced in turn by a value of a wrong type. The answer has a position, or is not
    // needed.
    let good = json(
        r##"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"servers":[{"url":"/"}],"paths":{"/a":{"get":{
            "operationId":"a","tags":["x"],"parameters":[{"name":"p","in":"query","schema":{"type":"string"}}],
            "requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}},
            "responses":{"200":{"description":"d","headers":{"H":{"schema":{"type":"integer"}}}}}}}},
        "components":{"schemas":{"A":{"type":"object","properties":{"b":{"type":"array","items":{"type":"string"}}},
            "required":["b"],"additionalProperties":false,"x-kubernetes-group-version-kind":[{"group":"g","kind":"A","version":"v1"}]}},
            "securitySchemes":{"S":{"type":"http","scheme":"basic"}}}}"##,
    );
    let folder = Folder::new();
    let mut places = Vec::new();
    collect(&good, String::new(), &mut places);
    places.retain(|place| !place.is_empty() && place != "/openapi");
    assert!(places.len() > 40);
    for (n, place) in places.iter().enumerate() {
        let mut changed = good.clone();
        let value = changed.pointer_mut(place).unwrap();
        *value = if value.is_string() { serde_json::json!([{}]) } else { serde_json::json!("text") };
        folder.write(&format!("{n}.json"), changed.to_string());
        let run = folder.run(&format!("convert {n}.json --to v3,v2,smd,jsonschema -o out-{n}"));
        assert!(matches!(run.code, Some(0 | 1)), "{place}: {}", run.err);
        assert_eq!(run.code == Some(1), run.err.contains("error["), "{place}: {}", run.err);
        // In a long line, the position is a path in the document.
        let has_place = [":1:", ", at /"].iter().any(|at| run.err.contains(&format!("--> {n}.json{at}")));
        assert_eq!(run.code == Some(1), has_place, "{place}: {}", run.err);
    }
}

fn collect(value: &serde_json::Value, place: String, out: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (key, value) in members {
                collect(value, format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        serde_json::Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, value)| collect(value, format!("{place}/{n}"), out));
        }
        _ => {}
    }
    out.push(place);
}

#[test]
fn duplicate_keys() {
    let text = br#"{"openapi":"3.0.0","info":{"title":"t","title":"u","version":"1"},"paths":{}}"#;
    let (run, lines) = lines(text, "v3");
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.err);
    assert!(
        lines.iter().any(|line| line["line"] == 1 && line["code"].as_str().unwrap().starts_with("KS10")),
        "{lines:?}"
    );
}

#[test]
fn deep_or_large_documents() {
    let folder = Folder::new();
    let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(600), "}".repeat(600));
    let head = r#"{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{},"components":{"schemas":{"A":"#;
    folder.write("deep.json", format!("{head}{deep}}}}}}}"));
    folder.run("convert deep.json --to v3").says(1, &["error[KS1002]", "--> deep.json:1:"]);
    let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(500), "}".repeat(500));
    folder.write("deep.json", format!("{head}{deep}}}}}}}"));
    for to in ["v3", "v2", "smd", "jsonschema", "v3 --inline", "v3 --per group-version", "v3 --rename short"] {
        let run = folder.run(&format!("convert deep.json --to {to} -o out"));
        assert!(matches!(run.code, Some(0 | 1)) && !run.err.contains("panicked"), "{to}: {}", run.err);
    }
    let many: Vec<String> =
        (0..50_000).map(|n| format!(r##""D{n}":{{"items":{{"$ref":"#/components/schemas/D{}"}}}}"##, n / 2)).collect();
    let text = format!("{}{}}}}}}}", head.trim_end_matches("\"A\":").to_owned() + "", many.join(","));
    folder.write("many.json", &text);
    let run = folder.run("convert many.json --to v3");
    assert_eq!((run.code, run.out.len()), (Some(0), text.len()), "{}", run.err);
}
