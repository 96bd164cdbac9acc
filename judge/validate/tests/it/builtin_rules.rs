//! Rules about the objects of built-in kinds.

use kubeshape_schema::Bump;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::{Assigned, Strategy};
use kubeshape_validate::typed::Typed;
use kubeshape_value::ToValue;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};

/// A kind with the types of the newest release.
fn strategy(api_version: &str, kind: &str, definition: &str) -> Strategy {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let path = if group.is_empty() { format!("api/{version}") } else { format!("apis/{api_version}") };
    let release: kubeshape_builtin::Release = "1.36".parse().unwrap();
    let document = release.api().openapi_v3(&path).expect("a document");
    let mut tape = Tape::new();
    Stream::new(document.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let types = Typed::of_document(tape.document(&document).root().unwrap(), definition).expect("a definition");
    Strategy::new(types, group, version, kind, kind != "Namespace", Release::DEFAULT)
}

fn created(kind: &Strategy, object: &Value) -> Vec<String> {
    let arena = Bump::new();
    let decoded = kind.decode(object.to_value(&arena), &arena).expect("a value of the type");
    let judged = kind.create(decoded.value, Assigned::default(), &arena);
    judged.errors.iter().map(ToString::to_string).collect()
}

fn updated(kind: &Strategy, object: &Value, old: &Value) -> Vec<String> {
    let arena = Bump::new();
    let object = kind.decode(object.to_value(&arena), &arena).expect("a value of the type");
    let old = kind.decode(old.to_value(&arena), &arena).expect("a value of the type");
    let judged = kind.update(object.value, old.value, Assigned::default(), &arena);
    judged.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn data_has_keys_and_frozen_data_stays() {
    let kind = strategy("v1", "ConfigMap", "io.k8s.api.core.v1.ConfigMap");
    let object = json!({"metadata": {"name": "a"}, "data": {"..": "1", "b": "2"}, "binaryData": {"b": "AA=="}});
    assert_eq!(
        created(&kind, &object),
        [
            "data[..]: Invalid value: \"..\": must not be '..'",
            "data[b]: Invalid value: \"b\": duplicate of key present in binaryData"
        ]
    );
    let with = |value: &str| json!({"metadata": {"name": "a", "namespace": "b", "resourceVersion": "1"}, "immutable": true, "data": {"a": value}});
    assert_eq!(updated(&kind, &with("1"), &with("1")), [""; 0]);
    assert_eq!(updated(&kind, &with("2"), &with("1")), ["data: Forbidden: field is immutable when `immutable` is set"]);
}

#[test]
fn types_of_secrets_need_their_keys() {
    let kind = strategy("v1", "Secret", "io.k8s.api.core.v1.Secret");
    let secret = |of: &str, data: Value| json!({"metadata": {"name": "a"}, "type": of, "data": data});
    let tls = secret("kubernetes.io/tls", json!({"tls.crt": ""}));
    assert_eq!(created(&kind, &tls), ["data[tls.key]: Required value"]);
    let docker = secret("kubernetes.io/dockercfg", json!({".dockercfg": "WzE="}));
    let detail = "unexpected end of JSON input";
    assert_eq!(
        created(&kind, &docker),
        [format!("data[.dockercfg]: Invalid value: \"<secret contents redacted>\": {detail}")]
    );
    assert_eq!(created(&kind, &secret("Opaque", json!({}))), [""; 0]);
}
