//! Tests of input that nobody would give on purpose. There is always an answer, never a crash, and it does not take
//! long.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::common::{Folder, crd, crd_with_schema, is_root, json, report};
use std::fs;
use std::io::Write;

const GOOD: &str = "apis__example.com__v1_openapi.json";

/// Runs the bad text alone, and next to a good file in a folder.
#[track_caller]
fn refused(name: &str, content: &[u8], parts: &[&str]) -> String {
    let folder = Folder::new();
    folder.write(&format!("in/{name}"), content).write("in/good.yaml", crd("widgets", &["v1"]));
    let run = folder.run(&format!("convert in/{name} --to v3 -o alone"));
    run.says(1, parts);
    assert_eq!((folder.names("alone"), run.out.as_str()), (vec![], ""));
    folder.run("convert in --to v3 -o out").says(1, parts);
    assert_eq!(folder.names("out"), [GOOD]);
    run.err
}

#[test]
fn templates() {
    let helm = b"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {{ .Values.name }}\n  labels: {{- include \"x\" . | nindent 4 }}\n";
    let err = refused("template.yaml", helm, &["error[KS1001]", "--> in/template.yaml:4:", "{{ .Values.name }}"]);
    assert!(err.contains("helm template") && err.contains("kubeshape explain-code KS1001"), "{err}");
    refused("block.yaml", b"{{- if .Values.crds }}\na: 1\n{{- end }}\n", &["error[KS1001]", "--> in/block.yaml:1:"]);
}

#[test]
fn truncated() {
    let text = crd("widgets", &["v1"]).replace("{type: integer, default: 1}", "{type: integer, def");
    refused("cut.yaml", text.as_bytes(), &["error[KS1001]", "in/cut.yaml:"]);
    refused(
        "cut.json",
        br#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "Custom"#,
        &["error[KS1001]", "in/cut.json:1:"],
    );
}

#[test]
fn binary() {
    let noise: Vec<u8> = (0..5000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    refused("noise.yaml", &noise, &["error[KS1001]", "in/noise.yaml:1:"]);
    refused("zero.yaml", &[0; 1000], &["error[KS1001]", "in/zero.yaml:1:1"]);
    refused("latin.yaml", b"a: \xE4\xF6\xFC\n", &["error[KS1001]", "in/latin.yaml:1:4"]);
}

#[test]
fn a_hundred_thousand_levels() {
    let text = "[".repeat(100_000);
    refused("flow.yaml", text.as_bytes(), &["error[KS1002]", "in/flow.yaml:1:"]);
    refused("flow.json", "{\"a\":".repeat(100_000).as_bytes(), &["error[KS1002]", "in/flow.json:1:"]);
    let text = "- ".repeat(100_000);
    refused("block.yaml", text.as_bytes(), &["error[KS1002]", "in/block.yaml:1:"]);
    let mut text = crd_with_schema("type: object");
    text.truncate(text.len() - "        type: object\n".len());
    for n in 0..2000 {
        let indent = " ".repeat(8 + n);
        text.extend([indent.as_str(), "type: object\n", &indent, "items:\n"]);
    }
    refused("schema.yaml", text.as_bytes(), &["error[KS1002]", "in/schema.yaml:"]);
}

#[test]
fn billion_laughs() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let aliases = vec![format!("*a{}", n - 1); 10].join(", ");
        text.extend(["a", &n.to_string(), ": &a", &n.to_string(), " [", &aliases, "]\n"]);
    }
    // An error or a limit: Kubernetes refuses such a document, too.
    refused("laughs.yaml", text.as_bytes(), &["error[KS100", "in/laughs.yaml:", "aliases"]);
}

#[test]
fn a_line_of_200_megabytes() {
    let folder = Folder::new();
    folder.write("long.yaml", "a: ");
    let mut file = fs::OpenOptions::new().append(true).open(folder.path("long.yaml")).unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..200 {
        file.write_all(&piece).unwrap();
    }
    drop(file);
    let run = folder.run("convert long.yaml --to v3");
    run.says(1, &["error[KS1002]", "--> long.yaml:1:"]);
    assert!(run.err.len() < 2000, "the line is not printed: {}", run.err.len());
}

#[test]
fn an_input_above_the_byte_limit_is_not_read() {
    let folder = Folder::new();
    fs::File::create(folder.path("huge.yaml")).unwrap().set_len(300 << 20).unwrap();
    folder.run("convert huge.yaml --to v3").says(1, &["error[KS1002]", "--> huge.yaml", "it has 314572800 bytes"]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let piece = vec![b' '; 1 << 20];
    for _ in 0..300 {
        encoder.write_all(&piece).unwrap();
    }
    folder.write("bomb.yaml.gz", encoder.finish().unwrap());
    folder.run("convert bomb.yaml.gz --to v3").says(1, &["error[KS1002]", "uncompressed it has more than"]);
}

/// Returns the published schema of the kind.
#[track_caller]
fn published(schema: &str, parts: &[&str]) -> serde_json::Value {
    let folder = Folder::new();
    folder.write("a.yaml", crd_with_schema(schema));
    let run = folder.run("convert a.yaml --to v3");
    run.says(0, parts);
    json(&run.out)["components"]["schemas"]["com.example.v1.Widget"].clone()
}

#[test]
fn without_schema() {
    let folder = Folder::new();
    let text = crd("widgets", &["v1"]);
    let (head, _) = text.split_once("    schema:").unwrap();
    folder.write("a.yaml", head);
    let run = folder.run("convert a.yaml --to v3 --to v2 --to smd --to structural -o out --report r.ndjson");
    run.says(0, &["warning[KS3004]: a.yaml:10:5"]);
    assert_eq!(folder.names("out"), [GOOD, "swagger.json", "widgets.example.com/schema.smd.yaml"]);
    let schema = json(&folder.read(&format!("out/{GOOD}")))["components"]["schemas"]["com.example.v1.Widget"].clone();
    assert_eq!(schema["type"], "object");
    assert!(schema["properties"].is_null());
    assert_eq!(report(&folder.read("r.ndjson"))[0]["version"], "v1");
}

#[test]
fn with_a_reference() {
    let schema = published(
        "type: object\nproperties:\n  spec: {$ref: '#/definitions/Spec'}",
        &["warning[KS3001]: a.yaml:17:", "$ref"],
    );
    assert!(schema["properties"].is_null());
}

#[test]
fn with_unknown_keywords() {
    let schema = published(
        "type: object\nproperties:\n  spec: {type: object, const: 1, if: {}, $defs: {}, minimun: 2}",
        &["warning[KS1006]: a.yaml:17:", "const", "warnings not shown: 1 more of KS1006"],
    );
    assert_eq!(schema["properties"]["spec"], serde_json::json!({"type": "object"}));
}

#[test]
fn with_types_that_do_not_exist() {
    let schema =
        published("type: object\nproperties:\n  spec: {type: strin}", &["warning[KS3003]: a.yaml:17:", "strin"]);
    assert!(schema["properties"].is_null());
}

#[test]
fn keys_that_yaml_reads_differently_and_duplicate_keys() {
    let schema = published(
        "type: object\nproperties:\n  y: {type: string}\n  on: {type: integer}\n  a: {type: string}\n  a: {type: integer}",
        &["warning[KS1004]: a.yaml:17:11", "warning[KS1003]: a.yaml:20:11", "line 19, column 11"],
    );
    assert_eq!(schema["properties"]["true"]["type"], "integer");
    assert_eq!(schema["properties"]["a"]["type"], "integer");
}

#[test]
fn wrong_types_in_every_field() {
    // Every scalar and every container of a whole manifest is replaced in turn by a value of a wrong type.
    let manifest = json(
        r#"{
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com", "labels": {"a": "b"}, "annotations": {"a": "b"}, "generation": 1, "finalizers": ["a"]},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "preserveUnknownFields": false,
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList", "shortNames": ["w"], "categories": ["all"]},
            "conversion": {"strategy": "None"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "deprecated": true, "deprecationWarning": "old",
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s"}},
                "additionalPrinterColumns": [{"name": "n", "type": "string", "jsonPath": ".a", "format": "", "description": "", "priority": 1}],
                "selectableFields": [{"jsonPath": ".spec.a"}],
                "schema": {"openAPIV3Schema": {
                    "type": "object", "title": "t", "description": "d", "required": ["spec"], "nullable": false,
                    "properties": {"spec": {"type": "object", "properties": {
                        "a": {"type": "string", "maxLength": 1, "minLength": 0, "pattern": "a", "enum": ["a"], "format": "date"},
                        "n": {"type": "number", "maximum": 1, "exclusiveMaximum": true, "minimum": 0, "exclusiveMinimum": true, "multipleOf": 1},
                        "l": {"type": "array", "items": {"type": "string"}, "maxItems": 1, "minItems": 0, "uniqueItems": false, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
                        "m": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 1, "minProperties": 0, "x-kubernetes-map-type": "granular"},
                        "j": {"allOf": [{"type": "string"}], "anyOf": [{"type": "string"}], "oneOf": [{"type": "string"}], "not": {"type": "string"}},
                        "x": {"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-embedded-resource": true,
                              "x-kubernetes-validations": [{"rule": "true", "message": "m", "messageExpression": "m", "reason": "r", "fieldPath": ".a", "optionalOldSelf": true}]},
                        "e": {"externalDocs": {"url": "u", "description": "d"}, "example": 1, "default": 1}
                    }}}
                }}
            }]
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}], "acceptedNames": {"plural": "widgets", "kind": "Widget"}, "storedVersions": ["v1"]}
    }"#,
    );
    let folder = Folder::new();
    let mut places = Vec::new();
    collect(&manifest, String::new(), &mut places);
    assert!(places.len() > 100);
    for (n, place) in places.iter().enumerate() {
        let mut changed = manifest.clone();
        let value = changed.pointer_mut(place).unwrap();
        *value = match value {
            serde_json::Value::String(_) | serde_json::Value::Number(_) => serde_json::json!([{}]),
            serde_json::Value::Bool(_) => serde_json::json!("true"),
            _ => serde_json::json!("text"),
        };
        // Each gets its own name, so that none is a duplicate.
        let text = changed.to_string().replace("widgets", &format!("w{n}s"));
        folder.write(&format!("in/{n:04}.json"), text);
    }
    let run = folder.run("convert in --to v3 --to v2 --to smd --to structural --per resource -o out --report r.ndjson");
    run.says(1, &["error[KS1005]"]);
    let lines = report(&folder.read("r.ndjson"));
    let mut without = Vec::new();
    for (n, place) in places.iter().enumerate() {
        let input = format!("in/{n:04}.json");
        let of: Vec<_> =
            lines.iter().filter(|line| line["input"] == input.as_str() && line["code"] == "KS1005").collect();
        if of.is_empty() {
            without.push(place.as_str());
        } else {
            assert!(
                of.iter()
                    .all(|line| line["line"] == 1
                        && line["pointer"].as_str().is_some_and(|p| p.starts_with(place.as_str()))),
                "{place}: {of:?}"
            );
        }
    }
    // Places that take any value (upstream ignores a text in `items`), or that would make it another kind of object.
    let any = |place: &str| {
        ["default", "example", "enum/0", "l/items"].iter().any(|end| place.ends_with(end))
            || ["/apiVersion", "/kind", ""].contains(&place)
    };
    assert_eq!(without.into_iter().filter(|place| !any(place)).collect::<Vec<_>>(), [""; 0]);
}

fn collect(value: &serde_json::Value, place: String, out: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) => {
            members.iter().for_each(|(key, value)| collect(value, format!("{place}/{key}"), out));
        }
        serde_json::Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, value)| collect(value, format!("{place}/{n}"), out));
        }
        _ => {}
    }
    out.push(place);
}

#[test]
fn empty_folders() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("empty/inner")).unwrap();
    folder.run("convert empty --to v3 -o out").says(
        1,
        &[
            "error[KS1008]",
            "--> empty",
            "neither a CustomResourceDefinition nor an OpenAPI document was found in the folder",
        ],
    );
    folder.write("in/a.yaml", crd("widgets", &["v1"]));
    folder.run("convert empty in --to v3 -o out").says(1, &["error[KS1008]", "--> empty"]);
    assert_eq!(folder.names("out"), [GOOD]);
}

#[test]
fn unreadable_inputs() {
    let folder = Folder::new();
    folder.write("in/a.yaml", crd("widgets", &["v1"]));
    folder
        .run("convert in missing.yaml --to v3 -o out")
        .says(2, &["error[KS1007]", "--> missing.yaml", "no such file or directory"]);
    assert_eq!(folder.names("out"), [GOOD]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("loop.yaml", folder.path("in/loop.yaml")).unwrap();
        std::os::unix::fs::symlink(folder.path("in"), folder.path("in/again")).unwrap();
        folder.run("convert in --to v3 -o out --report r.ndjson").says(2, &["error[KS1007]", "--> in/loop.yaml"]);
        let line = &report(&folder.read("r.ndjson"))[0];
        assert_eq!(
            (line["code"].as_str(), line["line"].as_u64(), line["pointer"].as_str()),
            (Some("KS1007"), None, None)
        );
    }
    #[cfg(unix)]
    if !is_root() {
        use std::os::unix::fs::PermissionsExt;
        for name in ["in/b.yaml", "in/closed/c.yaml"] {
            folder.write(name, crd("gadgets", &["v1"]));
        }
        fs::set_permissions(folder.path("in/b.yaml"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(folder.path("in/closed"), fs::Permissions::from_mode(0o000)).unwrap();
        folder.run("convert in --to v3 -o out").says(2, &["--> in/b.yaml", "--> in/closed", "permission denied"]);
        fs::set_permissions(folder.path("in/closed"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let _ = is_root;
}

#[test]
fn broken_documents_in_a_stream_of_good_ones() {
    let folder = Folder::new();
    let text = format!("{}---\na: [\n---\n{}", crd("widgets", &["v1"]), crd("gadgets", &["v1"]));
    folder.write("a.yaml", text);
    folder.run("convert a.yaml --to v3 --per resource -o out").says(1, &["error[KS1001]", "--> a.yaml:"]);
    assert_eq!(folder.names("out"), ["gadgets.example.com/v1.v3.json", "widgets.example.com/v1.v3.json"]);
}

#[test]
fn crds_that_are_not_crds() {
    let folder = Folder::new();
    folder.write("version.yaml", crd("widgets", &["v1"]).replace("k8s.io/v1\n", "k8s.io/v2\n"));
    folder.run("convert version.yaml --to v3").says(1, &["error[KS1011]", "--> version.yaml:1:13"]);
    let text = crd("widgets", &["v1"]);
    folder.write("none.yaml", text.split_once("  versions:").unwrap().0);
    folder.run("convert none.yaml --to v3").says(1, &["error[KS1010]", "--> none.yaml:"]);
    folder.write("null.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n");
    folder.run("convert null.yaml --to v3").says(1, &["--> null.yaml:"]);
}
