//! Objects of built-in kinds beside the types of a document.

use kubeshape_schema::Bump;
use kubeshape_validate::typed::{Decoded, Typed};
use kubeshape_value::ToValue;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};

fn document() -> Value {
    json!({"definitions": {
        "example.v1.Tab": {"type": "object", "required": ["name", "mode"], "properties": {
            "name": {"type": "string"},
            "mode": {"type": "string", "enum": ["A", "B"], "default": "A"},
            "size": {"type": "integer", "format": "int32"},
            "count": {"type": "integer", "format": "int64"},
            "data": {"type": "object", "additionalProperties": {"type": "string", "format": "byte"}},
            "limits": {"type": "object", "additionalProperties": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"}},
            "port": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString"},
            "at": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time"},
            "below": {"type": "array", "items": {"$ref": "#/definitions/example.v1.Tab"}},
            "any": {"type": "object"},
            "status": {"$ref": "#/definitions/example.v1.Tab"}}},
        "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": "string", "format": "int-or-string"},
        "io.k8s.apimachinery.pkg.apis.meta.v1.Time": {"type": "string", "format": "date-time"},
        "example.v1.Loop": {"$ref": "#/definitions/example.v1.Loop"}}})
}

fn decode(definition: &str, object: &Value) -> Decoded {
    decode_in(&document(), definition, object)
}

fn decode_in(document: &Value, definition: &str, object: &Value) -> Decoded {
    let source = document.to_string();
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let typed = Typed::of_document(tape.document(&source).root().unwrap(), definition).unwrap();
    let arena = Bump::new();
    typed.decode(object.to_value(&arena))
}

fn errors(object: &Value) -> Vec<String> {
    decode("example.v1.Tab", object)
        .errors
        .into_iter()
        .map(|error| format!("{}: {}", error.path, error.message))
        .collect()
}

#[test]
fn values_that_go_takes_are_no_errors() {
    let object = json!({
        "name": "a", "size": 2_147_483_647, "count": 4.0, "data": {"a": "YQ=="}, "limits": {"cpu": "500m", "memory": 1.5},
        "port": "http", "at": "2026-01-02T03:04:05Z", "any": [1], "below": [null, {"name": "b", "port": 80}]});
    assert_eq!(errors(&object), [""; 0]);
    assert_eq!(errors(&json!({"name": null, "size": null, "data": null, "port": null, "at": null})), [""; 0]);
}

#[test]
fn values_of_other_types_have_gos_texts() {
    let object = json!({
        "name": 1, "size": 2_147_483_648_i64, "count": 1.5, "data": {"a": "Y"}, "limits": {"cpu": "1 Gi", "x": true},
        "port": 1.5, "at": "yesterday", "below": [{"below": "x"}]});
    assert_eq!(
        errors(&object),
        [
            "at: parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\"",
            "below[0].below: json: cannot unmarshal string into Go struct field Tab.below.below of type []v1.Tab",
            "count: json: cannot unmarshal number 1.5 into Go struct field Tab.count of type int64",
            "data.a: illegal base64 data at input byte 0",
            "limits.cpu: quantities must match the regular expression \
             '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            "limits.x: quantities must match the regular expression \
             '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            "name: json: cannot unmarshal number into Go struct field Tab.name of type string",
            "port: json: cannot unmarshal number 1.5 into Go struct field Tab.port of type int32",
            "size: json: cannot unmarshal number 2147483648 into Go struct field Tab.size of type int32",
        ]
    );
}

#[test]
fn fields_are_unknown_by_their_exact_names() {
    let decoded = decode("example.v1.Tab", &json!({"Name": 1, "below": [{"nope": 1}], "any": {"x": 1}}));
    assert_eq!(decoded.unknown, ["Name", "below[0].nope"]);
}

#[test]
fn what_a_document_requires_is_no_error_and_not_asked_of_a_status() {
    let decoded = decode("example.v1.Tab", &json!({"mode": "C", "below": [{}], "status": {"mode": "D"}}));
    let departures: Vec<String> = decoded.departures.iter().map(ToString::to_string).collect();
    assert_eq!(
        departures,
        [
            "below[0].name: Required value",
            "mode: Unsupported value: \"C\": supported values: \"A\", \"B\"",
            "name: Required value"
        ]
    );
    assert_eq!(decoded.errors, []);
}

#[test]
fn references_without_end_are_followed_no_further() {
    let decoded = decode("example.v1.Loop", &json!({"a": 1}));
    assert_eq!((decoded.unknown.len(), decoded.errors.len()), (0, 0));
}

/// Parts of Kubernetes' own document of v3, where fields have the zero values of Go as defaults.
fn own_document() -> Value {
    json!({"components": {"schemas": {
        "io.k8s.api.core.v1.Pod": {"type": "object",
            "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}],
            "properties": {
                "spec": {"default": {}, "allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"}]},
                "empty": {"$ref": "#/components/schemas/io.k8s.api.core.v1.Empty"},
                "volume": {"$ref": "#/components/schemas/io.k8s.api.core.v1.Volume"},
                "wait": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time"}}},
        "io.k8s.api.core.v1.Empty": {"type": "object"},
        "io.k8s.api.core.v1.Volume": {"type": "object", "properties": {"emptyDir": {"type": "object", "properties": {"a": {}}}}},
        "io.k8s.api.core.v1.Container": {"type": "object", "required": ["name"], "properties": {
            "imagePullPolicy": {"type": "string"}, "name": {"type": "string", "default": ""}}},
        "io.k8s.apimachinery.pkg.apis.meta.v1.Time": {"type": "string", "format": "date-time"},
        "com.example.v1.Tab": {"type": "object", "required": ["name"],
            "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Tab"}],
            "properties": {"name": {"type": "string", "default": ""}}}}}})
}

fn decode_own(definition: &str, object: &Value) -> Decoded {
    decode_in(&own_document(), definition, object)
}

#[test]
fn errors_name_the_go_types_that_documents_lack() {
    let errors = |object| -> Vec<String> {
        let errors = decode_own("io.k8s.api.core.v1.Pod", &object).errors;
        errors.into_iter().map(|error| error.message).collect()
    };
    assert_eq!(
        errors(json!({"spec": {"imagePullPolicy": 1}, "volume": {"emptyDir": 1}})),
        [
            "json: cannot unmarshal number into Go struct field Container.spec.imagePullPolicy of type v1.PullPolicy",
            "json: cannot unmarshal number into Go struct field Volume.volume.VolumeSource.emptyDir of type struct",
        ]
    );
    assert_eq!(
        errors(json!({"empty": 1})),
        ["json: cannot unmarshal number into Go struct field Pod.empty of type v1.Empty"]
    );
}

#[test]
fn the_first_error_is_that_of_a_type_that_reads_itself() {
    let errors = decode_own("io.k8s.api.core.v1.Pod", &json!({"empty": 1, "spec": 1, "wait": "x"})).errors;
    let paths: Vec<&str> = errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["wait", "empty", "spec"]);
}

#[test]
fn the_zero_value_of_go_fills_in_no_required_field() {
    let departures = |definition: &str, object: &Value| decode_own(definition, object).departures.len();
    assert_eq!(departures("io.k8s.api.core.v1.Container", &json!({})), 1);
    // That of a custom resource does.
    assert_eq!(departures("com.example.v1.Tab", &json!({})), 0);
}

#[test]
fn a_struct_that_is_always_there_in_go_is_asked_for_what_it_requires() {
    let refer = |name: &str| json!({"allOf": [{"$ref": format!("#/components/schemas/{name}")}], "default": {}});
    // Each struct has many structs, down to one that requires something.
    let wide = |below: &str| {
        let fields: serde_json::Map<String, Value> = (0..40).map(|n| (format!("f{n}"), refer(below))).collect();
        json!({"type": "object", "properties": fields})
    };
    let mut document = json!({"components": {"schemas": {
        "io.k8s.api.apps.v1.Deployment": {"type": "object", "properties": {
            "spec": refer("io.k8s.api.apps.v1.DeploymentSpec"), "status": refer("io.k8s.api.apps.v1.DeploymentSpec")}},
        "io.k8s.api.apps.v1.DeploymentSpec": {"type": "object", "required": ["selector"], "properties": {
            "selector": {"type": "string"},
            "pointer": {"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"},
            "strategy": refer("io.k8s.api.apps.v1.Strategy")}},
        "io.k8s.api.apps.v1.Strategy": {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}}}}});
    for n in 0..9 {
        document["components"]["schemas"][format!("io.k8s.api.apps.v1.W{n}")] =
            wide(&format!("io.k8s.api.apps.v1.W{}", n + 1));
    }
    document["components"]["schemas"]["io.k8s.api.apps.v1.W9"] = wide("io.k8s.api.apps.v1.Strategy");
    let text = document.to_string();
    let mut tape = Tape::new();
    Stream::new(text.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let root = tape.document(&text).root().unwrap();
    let departures = |definition: &str, object: Value| -> Vec<String> {
        let arena = Bump::new();
        let typed = Typed::of_document(root, definition).unwrap();
        typed.decode(object.to_value(&arena)).departures.iter().map(ToString::to_string).collect()
    };
    let expected = ["spec.selector: Required value", "spec.strategy.type: Required value"];
    assert_eq!(departures("io.k8s.api.apps.v1.Deployment", json!({})), expected);
    assert_eq!(departures("io.k8s.api.apps.v1.Deployment", json!({"spec": {}})), expected);
    let spec = json!({"spec": {"selector": "a", "strategy": {"type": "b"}}});
    assert_eq!(departures("io.k8s.api.apps.v1.Deployment", spec), Vec::<String>::new());
    assert!(departures("io.k8s.api.apps.v1.W0", json!({})).len() < 1_000);
}

#[test]
fn unknown_fields_are_told_once() {
    let decoded =
        decode_own("io.k8s.api.core.v1.Pod", &json!({"spec": {"name": "a"}, "nope": {"b": 1}, "empty": {"c": 1}}));
    assert_eq!(decoded.unknown, ["empty.c", "nope"]);
    let twice = ["spec.name", "nope", "nope.b", "nope[0]", "nopes", "empty.c"].map(|path| (path.to_owned(), ()));
    let told: Vec<String> = decoded.told_twice(twice.to_vec()).into_iter().map(|(path, ())| path).collect();
    assert_eq!(told, ["spec.name", "nopes"]);
}
