//! Faults that are put into a conversion that is right: each is found.

use crate::webhook::{Changing, proved};
use kubeshape_conversions::{Effort, Report, Webhook};
use kubeshape_schema::Code;
use serde_json::{Value, json};

/// A fault in a conversion: its name, and what it does to a converted object.
type Injected = (String, Box<dyn Fn(&mut Value, &str)>);

/// The paths of `v1` and `v2` that faults are put into.
const FIELDS: [(&str, &str); 18] = [
    ("/spec", "mode"),
    ("/spec", "owner"),
    ("/spec/limits", "cpu"),
    ("/spec/limits", "memory"),
    ("/spec", "size"),
    ("/spec", "ratio"),
    ("/spec", "large"),
    ("/spec", "enabled"),
    ("/spec", "note"),
    ("/spec", "code"),
    ("/spec", "tags"),
    ("/spec", "ports"),
    ("/spec", "labels"),
    ("/spec", "free"),
    ("/spec", "level"),
    ("/status", "phase"),
    ("/status", "conditions"),
    ("/spec", "limits"),
];
const V1: &str = "example.com/v1";
const V2: &str = "example.com/v2";

fn injected(name: String, change: impl Fn(&mut Value, &str) + 'static) -> Injected {
    (name, Box::new(change))
}

/// Changes a field of objects that are converted to `v1`.
fn field(name: &str, (parent, key): (&'static str, &'static str), change: impl Fn(&mut Value) + 'static) -> Injected {
    injected(format!("{name} {parent}/{key}"), move |object, to| {
        let value = object.pointer_mut(parent).and_then(|parent| parent.get_mut(key));
        if let (V1, Some(value)) = (to, value) {
            change(value);
        }
    })
}

fn all() -> Vec<Injected> {
    let mut out = Vec::new();
    for (parent, key) in FIELDS {
        // The field is dropped.
        out.push(injected(format!("drop {parent}/{key}"), move |object, to| {
            if let (V1, Some(parent)) = (to, object.pointer_mut(parent).and_then(Value::as_object_mut)) {
                parent.remove(key);
            }
        }));
        // The field is renamed.
        out.push(injected(format!("rename {parent}/{key}"), move |object, to| {
            if let (V1, Some(parent)) = (to, object.pointer_mut(parent).and_then(Value::as_object_mut))
                && let Some(value) = parent.remove(key)
            {
                parent.insert(format!("{key}s2"), value);
            }
        }));
        // A string becomes a list, a list a string, and so on.
        out.push(field("retype", (parent, key), |value| {
            *value = match &*value {
                Value::String(text) => json!([text]),
                Value::Number(n) => json!(n.to_string()),
                Value::Bool(yes) => json!(yes.to_string()),
                other => json!(other.to_string()),
            };
        }));
    }
    for key in ["mode", "owner", "code", "note"] {
        out.push(field("cut", ("/spec", key), |value| {
            if let Some(text) = value.as_str() {
                *value = json!(text.chars().take(2).collect::<String>());
            }
        }));
        out.push(field("upper", ("/spec", key), |value| {
            if let Some(text) = value.as_str() {
                *value = json!(format!("{}x", text.to_uppercase()));
            }
        }));
        out.push(field("empty", ("/spec", key), |value| *value = json!("")));
    }
    for text in ["Fast", "Slow", "Off"] {
        for other in ["Fast", "Slow", "Off"].into_iter().filter(|other| *other != text) {
            out.push(field(&format!("map {text} to {other}"), ("/spec", "mode"), move |value| {
                if value == text {
                    *value = json!(other);
                }
            }));
        }
    }
    for (key, count) in [("tags", 0), ("tags", 1), ("tags", 2), ("ports", 0), ("ports", 1)] {
        out.push(field(&format!("truncate to {count}"), ("/spec", key), move |value| {
            value.as_array_mut().map(|items| items.truncate(count)).unwrap_or_default();
        }));
    }
    for key in ["tags", "ports"] {
        out.push(field("sort", ("/spec", key), |value| {
            let Some(items) = value.as_array_mut() else { return };
            items.sort_by_key(Value::to_string);
        }));
        out.push(field("reverse", ("/spec", key), |value| {
            value.as_array_mut().map(|items| items.reverse()).unwrap_or_default();
        }));
        out.push(field("empty list to null", ("/spec", key), |value| {
            if value.as_array().is_some_and(Vec::is_empty) {
                *value = Value::Null;
            }
        }));
    }
    out.push(field("drop one key of", ("/spec", "labels"), |value| {
        if let Some(first) = value.as_object().filter(|map| map.len() > 1).and_then(|map| map.keys().next().cloned()) {
            value.as_object_mut().map(|map| map.remove(&first)).unwrap_or_default();
        }
    }));
    out.push(injected("null becomes absent".to_owned(), |object, to| {
        let spec = object.pointer_mut("/spec").and_then(Value::as_object_mut);
        if let (V1, Some(spec)) = (to, spec.filter(|spec| spec.get("note").is_some_and(Value::is_null))) {
            spec.remove("note");
        }
    }));
    for (key, least) in [("size", 0), ("large", 0), ("level", 3)] {
        out.push(injected(format!("default of {key}"), move |object, to| {
            let spec = object.pointer_mut("/spec").and_then(Value::as_object_mut);
            if let (V1, Some(spec)) = (to, spec)
                && spec.get(key).is_none_or(|value| value == least)
            {
                spec.insert(key.to_owned(), json!(7));
            }
        }));
    }
    out.push(field("round", ("/spec", "large"), |value| {
        if let Some(n) = value.as_i64() {
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
            let rounded = n as f64 as i64;
            *value = json!(rounded);
        }
    }));
    out.push(field("floor", ("/spec", "ratio"), |value| {
        if let Some(n) = value.as_f64() {
            *value = json!(n.floor());
        }
    }));
    for key in [true, false] {
        out.push(field(&format!("{key} becomes its opposite:"), ("/spec", "enabled"), move |value| {
            if value.as_bool() == Some(key) {
                *value = json!(!key);
            }
        }));
    }
    for part in ["labels", "annotations", "name", "uid", "namespace"] {
        out.push(injected(format!("drop metadata {part}"), move |object, _| {
            object["metadata"].as_object_mut().unwrap().remove(part);
        }));
    }
    out.push(injected("another kind".to_owned(), |object, _| object["kind"] = json!("Other")));
    out.push(injected("the old version".to_owned(), |object, to| {
        object["apiVersion"] = json!(if to == V1 { V2 } else { V1 });
    }));
    out.push(injected("no spec".to_owned(), |object, to| {
        if to == V2 {
            object.as_object_mut().unwrap().remove("spec");
        }
    }));
    out.push(injected("a new label".to_owned(), |object, _| object["metadata"]["labels"]["a"] = json!("not valid!")));
    out.push(injected("other finalizers".to_owned(), |object, _| object["metadata"]["finalizers"] = json!(["a/b"])));
    out
}

/// Returns the findings that a webhook without a fault has, too.
fn texts(report: &Report) -> Vec<String> {
    report.faults.iter().map(|fault| format!("{} {} {} {}", fault.code, fault.from, fault.to, fault.path)).collect()
}

#[test]
fn a_conversion_that_is_right_has_no_fault() {
    let report = proved(&mut Changing { change: &|_, _| {} }, &Effort::default());
    let faults: Vec<_> = report.faults.iter().filter(|fault| fault.code != Code::ConversionAnnotation).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(report.stopped, None);
    assert!(report.versions.iter().all(|tried| tried.objects > 60 && tried.skipped == 0), "{:?}", report.versions);
    assert!(report.versions.iter().all(|tried| tried.missing.is_empty()), "{:?}", report.versions);
}

#[test]
fn every_injected_fault_is_found() {
    let faults = all();
    assert!(faults.len() >= 100, "{}", faults.len());
    let right = texts(&proved(&mut Changing { change: &|_, _| {} }, &Effort::default()));
    let effort = Effort { shrinking: 0, ..Effort::default() };
    let mut missed = Vec::new();
    for (name, change) in &faults {
        let report = proved(&mut Changing { change }, &effort);
        if texts(&report).iter().all(|text| right.contains(text)) {
            missed.push(name);
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn the_smallest_object_shows_the_fault() {
    let change = |object: &mut Value, to: &str| {
        if let (V1, Some(items)) = (to, object.pointer_mut("/spec/tags").and_then(Value::as_array_mut)) {
            items.truncate(2);
        }
    };
    let report = proved(&mut Changing { change: &change }, &Effort::default());
    let lost = report.faults.iter().find(|fault| fault.code == Code::ConversionLost).unwrap();
    assert_eq!((lost.from.as_str(), lost.to.as_str(), lost.path.as_str()), ("v1", "v2", "spec.tags"));
    assert_eq!(lost.detail, "3 items before, 2 afterwards");
    assert_eq!(lost.object["spec"].as_object().unwrap().keys().collect::<Vec<_>>(), ["tags"]);
    assert_eq!(lost.object["spec"]["tags"].as_array().unwrap().len(), 3);
    assert!(lost.object.get("status").is_none());
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let effort = Effort { objects: 40, seed: 7, ..Effort::default() };
    let change = |object: &mut Value, _: &str| {
        object["spec"].as_object_mut().map(|spec| spec.remove("ports")).unwrap_or_default();
    };
    let proof = || proved(&mut Changing { change: &change }, &effort);
    let report = proof();
    assert_eq!(report, proof());
    assert!(report.versions.iter().all(|tried| tried.objects <= 40 && tried.skipped > 0), "{:?}", report.versions);
}

#[test]
fn only_faults_of_empty_values_have_a_lower_level() {
    let levels = |change: &dyn Fn(&mut Value, &str)| {
        let report = proved(&mut Changing { change }, &Effort { shrinking: 0, ..Effort::default() });
        let of_v1 = report.faults.into_iter().filter(|fault| fault.from == "v1" && fault.path.starts_with("spec.tags"));
        of_v1.map(|fault| fault.code).collect::<Vec<_>>()
    };
    let tags = |object: &mut Value, keep: &dyn Fn(&Value) -> bool| {
        if let Some(items) = object.pointer_mut("/spec/tags").and_then(Value::as_array_mut) {
            items.retain(|item| keep(item));
        }
    };
    let drop_empty = |object: &mut Value, _: &str| tags(object, &|item| *item != "");
    assert_eq!(levels(&drop_empty), [Code::ConversionOfEmpty]);
    let drop_all = |object: &mut Value, _: &str| tags(object, &|_| false);
    assert_eq!(levels(&drop_all), [Code::ConversionLost]);
}

#[test]
fn the_order_of_lists_with_keys_is_written_differently() {
    let change = |object: &mut Value, to: &str| {
        if let (V1, Some(items)) = (to, object.pointer_mut("/spec/ports").and_then(Value::as_array_mut)) {
            items.reverse();
        }
    };
    let report = proved(&mut Changing { change: &change }, &Effort { shrinking: 0, ..Effort::default() });
    let codes: Vec<_> =
        report.faults.iter().filter(|fault| fault.path == "spec.ports").map(|fault| fault.code).collect();
    assert_eq!(codes, [Code::ConversionWritten; 2]);
}

#[test]
fn values_that_only_repeat_defaults_say_nothing() {
    // `level` has the default 3, so a server adds it to a new `spec`.
    let change = |object: &mut Value, to: &str| {
        if let (V1, Some(object)) = (to, object.as_object_mut()) {
            object.entry("spec").or_insert_with(|| json!({"note": ""}));
        }
    };
    let report = proved(&mut Changing { change: &change }, &Effort { shrinking: 0, ..Effort::default() });
    let faults: Vec<_> = report.faults.iter().filter(|fault| fault.path == "spec").collect();
    assert!(!faults.is_empty() && faults.iter().all(|fault| fault.code == Code::ConversionEmpty), "{faults:#?}");
}

/// A webhook that reads `spec.note` as a duration.
struct Reading;

impl Webhook for Reading {
    fn convert(&mut self, review: &[u8]) -> Result<Vec<u8>, String> {
        let read: Value = serde_json::from_slice(review).map_err(|error| error.to_string())?;
        for object in read["request"]["objects"].as_array().into_iter().flatten() {
            match object.pointer("/spec/note").map(|note| note.as_str().unwrap_or_default()) {
                None | Some("90s" | "") => {}
                Some(note) if note.starts_with(|c: char| c.is_ascii_digit()) => {
                    return Err(format!("no unit: {note:?}"));
                }
                Some(note) => return Err(format!("not a duration: {note:?}")),
            }
        }
        Changing { change: &|_, _| {} }.convert(review)
    }
}

#[test]
fn a_failure_is_one_finding_with_the_field_that_fails() {
    let report = proved(&mut Reading, &Effort::default());
    let fails: Vec<_> = report.faults.iter().filter(|fault| fault.code == Code::ConversionFails).collect();
    assert_eq!(fails.len(), 2, "{fails:#?}");
    assert!(fails.iter().all(|fault| fault.path == "spec.note"), "{fails:#?}");
}
