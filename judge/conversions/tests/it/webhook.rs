//! A conversion webhook in memory, and the definition that it converts.

use kubeshape_conversions::{Effort, Report, Webhook, prove};
use kubeshape_schema::Bump;
use kubeshape_structural::read;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};

/// The schema of `v1`. In `v2`, `spec.mode` is `spec.speed` with values in lower case, `spec.owner` is a list, and
/// `spec.limits` is below `spec.resources`.
const V1: &str = r#"
        type: object
        properties:
          spec:
            type: object
            properties:
              mode: {type: string, enum: [Fast, Slow, "Off"]}
              owner: {type: string, minLength: 1}
              limits: {type: object, properties: {cpu: {x-kubernetes-int-or-string: true}, memory: {type: string}}}
              size: {type: integer, minimum: 0, maximum: 10}
              ratio: {type: number}
              large: {type: integer, format: int64}
              enabled: {type: boolean}
              note: {type: string, nullable: true}
              code: {type: string, pattern: '^[0-9]+$'}
              tags: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer}}}
              labels: {type: object, additionalProperties: {type: string}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              level: {type: integer, default: 3}
          status:
            type: object
            properties:
              phase: {type: string}
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}"#;

pub(crate) fn definition() -> String {
    let v2 = V1
        .replace(
            r#"mode: {type: string, enum: [Fast, Slow, "Off"]}"#,
            r#"speed: {type: string, enum: [fast, slow, "off"]}"#,
        )
        .replace("owner: {type: string, minLength: 1}", "owners: {type: array, items: {type: string}}")
        .replace("limits: {type: object,", "resources: {type: object, properties: {limits: {type: object,")
        .replace("memory: {type: string}}}", "memory: {type: string}}}}}");
    let version = |name: &str, schema: &str| {
        let storage = name == "v1";
        format!(
            "  - name: {name}\n    served: true\n    storage: {storage}\n    subresources: {{status: {{}}}}\n    \
             schema:\n      openAPIV3Schema:{schema}\n"
        )
    };
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: tabs.example.com}}\n\
         spec:\n  group: example.com\n  scope: Namespaced\n  names: {{plural: tabs, kind: Tab}}\n  versions:\n{}{}",
        version("v1", V1),
        version("v2", &v2)
    )
}

/// Converts an object as it should be.
pub(crate) fn converted(object: &mut Value, to: &str) {
    let forth = to == "example.com/v2";
    object["apiVersion"] = json!(to);
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let texts = [("Fast", "fast"), ("Slow", "slow"), ("Off", "off")];
    let (old, new) = if forth { ("mode", "speed") } else { ("speed", "mode") };
    if let Some(mode) = spec.remove(old) {
        let text = mode.as_str().unwrap_or_default();
        let pair = texts.into_iter().find(|(one, two)| text == if forth { *one } else { *two });
        let (one, two) = pair.unwrap_or_default();
        spec.insert(new.to_owned(), json!(if forth { two } else { one }));
    }
    if forth {
        if let Some(owner) = spec.remove("owner") {
            spec.insert("owners".to_owned(), json!([owner]));
        }
        if let Some(limits) = spec.remove("limits") {
            spec.insert("resources".to_owned(), json!({ "limits": limits }));
        }
    } else {
        back(object);
    }
    if forth {
        forward_annotation(object);
    }
}

/// Restores what only `v2` can say from an annotation, and keeps it there.
fn back(object: &mut Value) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let mut kept = serde_json::Map::new();
    if let Some(owners) = spec.remove("owners") {
        match owners.as_array().map(Vec::as_slice) {
            Some([Value::String(owner)]) if !owner.is_empty() => {
                spec.insert("owner".to_owned(), json!(owner));
            }
            _ => {
                kept.insert("owners".to_owned(), owners);
            }
        }
    }
    if let Some(resources) = spec.remove("resources") {
        match resources.get("limits") {
            Some(limits) => {
                spec.insert("limits".to_owned(), limits.clone());
            }
            None => {
                kept.insert("resources".to_owned(), resources);
            }
        }
    }
    if !kept.is_empty() {
        object["metadata"]["annotations"]["example.com/kept"] = json!(Value::Object(kept).to_string());
    }
}

fn forward_annotation(object: &mut Value) {
    let annotations = object["metadata"]["annotations"].as_object_mut();
    let Some(kept) = annotations.and_then(|all| all.remove("example.com/kept")) else { return };
    let kept: Value = serde_json::from_str(kept.as_str().unwrap_or_default()).unwrap_or_default();
    for (key, value) in kept.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
}

type Change<'c> = &'c dyn Fn(&mut Value, &str);

/// A webhook that changes each converted object further.
pub(crate) struct Changing<'c> {
    pub(crate) change: Change<'c>,
}

impl Webhook for Changing<'_> {
    fn convert(&mut self, review: &[u8]) -> Result<Vec<u8>, String> {
        let review: Value = serde_json::from_slice(review).map_err(|error| error.to_string())?;
        let to = review["request"]["desiredAPIVersion"].as_str().unwrap_or_default();
        let mut objects = review["request"]["objects"].clone();
        for object in objects.as_array_mut().into_iter().flatten() {
            converted(object, to);
            (self.change)(object, to);
        }
        let result = json!({"status": "Success"});
        let response = json!({"uid": review["request"]["uid"], "result": result, "convertedObjects": objects});
        let review = json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response});
        Ok(review.to_string().into_bytes())
    }
}

/// Proves a webhook of the definition.
pub(crate) fn proved(webhook: &mut dyn Webhook, effort: &Effort) -> Report {
    let source = definition();
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let arena = Bump::new();
    let crd = read::read(tape.document(&source).root().unwrap(), &arena).value.unwrap();
    prove(&crd, &[], webhook, effort)
}
