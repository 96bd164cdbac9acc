//! `Description`: an object as sections of labels and values, which any client can show without knowing the kind. It
//! contains what `kubectl describe` shows for unknown kinds, without events.
//!
//! A section has a title and fields, or a table. A field has a label and a value, several values, fields below it, or
//! items with fields.

use super::{ListMeta, META_V1, Room, join, join_within};
use crate::status::Status;
use crate::value::{self, meta_text, metadata};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use kubeshape_yaml::go::escape::{Escape, string};

/// The annotation with the object that kubectl applied. It repeats the object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Fields of conditions, in the order of their columns. Other fields follow by name.
const CONDITION: [&str; 5] = ["type", "status", "reason", "message", "lastTransitionTime"];
/// Words with special spelling.
const ACRONYMS: [&str; 12] = ["API", "CA", "CIDR", "CPU", "DNS", "FQDN", "HTTP", "HTTPS", "ID", "IP", "TLS", "URL"];

/// Returns the description of an object.
pub(crate) fn description(object: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    one(object, &mut out);
    out
}

/// Returns the descriptions of a list's objects, given as compact JSON.
///
/// # Errors
/// There is no room for them.
pub(crate) fn descriptions(objects: &[&[u8]], meta: &ListMeta, room: Room<'_>) -> Result<Vec<u8>, Status> {
    let mut out = format!(r#"{{"kind":"DescriptionList","apiVersion":"{META_V1}","metadata":"#).into_bytes();
    meta.typed(&mut out);
    out.extend_from_slice(b",\"items\":[");
    join_within(objects.iter(), &mut out, room, |text, out| {
        let (mut tape, arena) = (Tape::new(), Bump::new());
        one(value::parsed(text, &mut tape, &arena).unwrap_or(Value::Null), out);
        Ok(())
    })?;
    out.extend_from_slice(b"]}");
    Ok(out)
}

fn one(object: Value<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(format!(r#"{{"kind":"Description","apiVersion":"{META_V1}","metadata":{{"#).as_bytes());
    let named = ["name", "namespace", "uid", "resourceVersion"].into_iter().map(|key| (key, meta_text(object, key)));
    join(named.filter(|(_, text)| !text.is_empty()), out, |(key, value), out| member(key, value, out));
    out.extend_from_slice(b"},\"sections\":[");
    section("Metadata", out, |out| of_metadata(object, out));
    let map = object.as_map().unwrap_or(Map::EMPTY);
    let is_other = |key: &str| !["apiVersion", "kind", "metadata"].contains(&key);
    let others = map.entries().iter().filter(|(key, _)| is_other(key));
    let (sections, scalars): (Vec<_>, Vec<_>) =
        others.partition(|(_, value)| matches!(value, Value::Map(_) | Value::List(_)));
    if !scalars.is_empty() {
        out.push(b',');
        section("Object", out, |out| join(scalars.iter(), out, |(key, value), out| field(key, *value, out)));
    }
    let is_secret = map.get("kind").and_then(Value::as_str) == Some("Secret")
        && map.get("apiVersion").and_then(Value::as_str) == Some("v1");
    // The desired state comes before the observed one.
    let rank = |key: &str| match key {
        "spec" => 0,
        "status" => 2,
        _ => 1,
    };
    let mut sections = sections;
    sections.sort_by_key(|(key, _)| rank(key));
    for (key, value) in sections {
        out.push(b',');
        section(&label(key), out, |out| match value {
            Value::Map(map) => {
                let shown = map.entries().iter().filter(|(name, value)| !is_table(key, name, *value));
                join(shown, out, |(name, value), out| match value.as_str() {
                    Some(text) if is_secret && key == "data" => size(name, text, out),
                    _ => field(name, *value, out),
                });
            }
            value => field(key, value, out),
        });
        let conditions = value.get("conditions").filter(|value| is_table(key, "conditions", *value));
        if let Some(conditions) = conditions.and_then(Value::as_list) {
            out.push(b',');
            table(conditions, out);
        }
    }
    out.extend_from_slice(b"]}");
}

/// Returns whether a field is shown as a table: the conditions of a status.
fn is_table(section: &str, key: &str, value: Value<'_>) -> bool {
    let is_condition = |item: &Value<'_>| item.get("type").and_then(Value::as_str).is_some();
    let items = value.as_list().unwrap_or_default();
    section == "status" && key == "conditions" && !items.is_empty() && items.iter().all(is_condition)
}

fn section(title: &str, out: &mut Vec<u8>, fields: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'{');
    member("title", title, out);
    out.extend_from_slice(b",\"fields\":[");
    fields(out);
    out.extend_from_slice(b"]}");
}

fn member(key: &str, value: &str, out: &mut Vec<u8>) {
    string(out, key, Escape::Html);
    out.push(b':');
    string(out, value, Escape::Html);
}

/// Calls this with a field that has a label and one more member.
fn labelled(label: &str, key: &str, out: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'{');
    member("label", label, out);
    out.push(b',');
    string(out, key, Escape::Html);
    out.push(b':');
    content(out);
    out.push(b'}');
}

fn texts(label: &str, values: impl Iterator<Item = String>, out: &mut Vec<u8>) {
    labelled(label, "values", out, |out| {
        out.push(b'[');
        join(values, out, |value, out| string(out, &value, Escape::Html));
        out.push(b']');
    });
}

fn of_metadata(object: Value<'_>, out: &mut Vec<u8>) {
    let of = metadata(object);
    let text = |value: Option<Value<'_>>| value.map(plain).unwrap_or_default();
    let mut fields = vec![
        ("Name", text(of.get("name"))),
        ("Namespace", text(of.get("namespace"))),
        ("API Version", text(object.get("apiVersion"))),
        ("Kind", text(object.get("kind"))),
    ];
    for (label, key) in [
        ("Creation Timestamp", "creationTimestamp"),
        ("Deletion Timestamp", "deletionTimestamp"),
        ("Generation", "generation"),
    ] {
        fields.push((label, text(of.get(key))));
    }
    let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
    join(fields, out, |(label, text), out| labelled(label, "value", out, |out| string(out, &text, Escape::Html)));
    let comma = |out: &mut Vec<u8>| {
        if out.last() == Some(&b'}') {
            out.push(b',');
        }
    };
    let pairs = |key: &str| of.get(key).and_then(Value::as_map).unwrap_or(Map::EMPTY).entries();
    let labels = pairs("labels");
    if !labels.is_empty() {
        comma(out);
        texts("Labels", labels.iter().map(|(key, value)| format!("{key}={}", plain(*value))), out);
    }
    let annotations: Vec<_> = pairs("annotations").iter().filter(|(key, _)| *key != LAST_APPLIED).collect();
    if !annotations.is_empty() {
        comma(out);
        texts("Annotations", annotations.iter().map(|(key, value)| format!("{key}: {}", plain(*value))), out);
    }
    let list = |key: &str| of.get(key).and_then(Value::as_list).unwrap_or_default();
    let owners = list("ownerReferences");
    let is_controller = |owner: &&Value<'_>| matches!(owner.get("controller"), Some(Value::Bool(true)));
    let named = |owner: &Value<'_>| format!("{}/{}", text(owner.get("kind")), text(owner.get("name")));
    if let Some(owner) = owners.iter().find(is_controller) {
        comma(out);
        let owner = named(owner);
        labelled("Controlled By", "value", out, |out| string(out, &owner, Escape::Html));
    }
    let others: Vec<String> = owners.iter().filter(|owner| !is_controller(owner)).map(named).collect();
    if !others.is_empty() {
        comma(out);
        texts("Owned By", others.into_iter(), out);
    }
    if !list("finalizers").is_empty() {
        comma(out);
        texts("Finalizers", list("finalizers").iter().map(|name| plain(*name)), out);
    }
}

/// Returns a scalar as a string, other values as JSON.
fn plain(value: Value<'_>) -> String {
    match value {
        Value::String(text) => text.to_owned(),
        Value::Null => "<none>".to_owned(),
        other => {
            let mut json = Vec::new();
            other.write_go_json(&mut json);
            String::from_utf8_lossy(&json).into_owned()
        }
    }
}

/// Returns the size of a secret's value, shown in its place.
fn size(name: &str, base64: &str, out: &mut Vec<u8>) {
    let text = base64.trim_end_matches('=');
    let bytes = text.len() * 3 / 4;
    labelled(name, "value", out, |out| string(out, &format!("{bytes} bytes"), Escape::Html));
}

/// Appends a field. Recursion is bounded: the reader limits nesting.
fn field(key: &str, value: Value<'_>, out: &mut Vec<u8>) {
    let label = label(key);
    match value {
        Value::Map(map) if !map.is_empty() => labelled(&label, "fields", out, |out| fields(map, out)),
        Value::List(items) if items.iter().any(|item| matches!(item, Value::Map(_) | Value::List(_))) => {
            labelled(&label, "items", out, |out| {
                out.push(b'[');
                join(items.iter(), out, |item, out| {
                    out.extend_from_slice(b"{\"fields\":");
                    match item {
                        Value::Map(map) => fields(*map, out),
                        other => {
                            out.push(b'[');
                            field("", *other, out);
                            out.push(b']');
                        }
                    }
                    out.push(b'}');
                });
                out.push(b']');
            });
        }
        Value::List(items) => texts(&label, items.iter().map(|item| plain(*item)), out),
        scalar => {
            let text = if matches!(scalar, Value::Map(_)) { String::new() } else { plain(scalar) };
            labelled(&label, "value", out, |out| string(out, &text, Escape::Html));
        }
    }
}

fn fields(map: Map<'_>, out: &mut Vec<u8>) {
    out.push(b'[');
    join(map.entries().iter(), out, |(key, value), out| field(key, *value, out));
    out.push(b']');
}

/// The conditions as a table.
fn table(conditions: &[Value<'_>], out: &mut Vec<u8>) {
    let has = |key: &str| conditions.iter().any(|condition| condition.get(key).is_some());
    let mut columns: Vec<&str> = CONDITION.into_iter().filter(|key| has(key)).collect();
    let others: std::collections::BTreeSet<&str> = conditions
        .iter()
        .filter_map(|item| item.as_map())
        .flat_map(|map| map.entries().iter().map(|(key, _)| *key))
        .collect();
    // Only a few different fields are shown: a table has a cell for each of them in each row.
    columns.extend(others.into_iter().filter(|key| !CONDITION.contains(key)).take(MORE_COLUMNS));
    out.extend_from_slice(b"{\"title\":\"Conditions\",\"columns\":[");
    join(columns.iter(), out, |column, out| {
        out.push(b'{');
        member("name", &label(column), out);
        out.push(b'}');
    });
    out.extend_from_slice(b"],\"items\":[");
    join(conditions.iter(), out, |condition, out| {
        out.extend_from_slice(b"{\"columns\":[");
        join(columns.iter(), out, |column, out| {
            string(out, &condition.get(column).map(plain).unwrap_or_default(), Escape::Html);
        });
        out.extend_from_slice(b"]}");
    });
    out.extend_from_slice(b"]}");
}

/// The maximum number of columns beyond those that all conditions have.
const MORE_COLUMNS: usize = 8;

/// Returns a name as a label: `maxUnavailable` is `Max Unavailable`, `podIP` is `Pod IP` (kubectl: `smartLabelFor`).
/// Other strings are returned unchanged.
fn label(name: &str) -> String {
    if !name.chars().all(|c| c.is_ascii_alphanumeric()) || name.is_empty() {
        return name.to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    let mut previous = ' ';
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        // The last letter before a lower-case one begins a word, unless that is an `s` for several: `clusterIPs`.
        let is_next_lower = rest.peek().is_some_and(char::is_ascii_lowercase) && !rest.clone().eq(['s']);
        let begins = c.is_ascii_uppercase() && (!previous.is_ascii_uppercase() || is_next_lower);
        match words.last_mut() {
            Some(word) if !begins => word.push(c),
            _ => words.push(c.to_string()),
        }
        previous = c;
    }
    for word in &mut words {
        let upper = word.to_ascii_uppercase();
        if ACRONYMS.contains(&&*upper) {
            *word = upper;
        } else if let Some(first) = word.get_mut(..1) {
            first.make_ascii_uppercase();
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{description, label};
    use kubeshape_smd::{Bump, ToValue};
    use serde_json::{Value, json};

    fn described(object: &Value) -> Value {
        let arena = Bump::new();
        serde_json::from_slice(&description(object.to_value(&arena))).expect("JSON")
    }

    #[test]
    fn labels_are_words() {
        for (name, expected) in [
            ("replicas", "Replicas"),
            ("maxUnavailable", "Max Unavailable"),
            ("podIP", "Pod IP"),
            ("clusterIPs", "Cluster IPs"),
            ("externalURLPrefix", "External URL Prefix"),
            ("tls", "TLS"),
            ("example.com/name", "example.com/name"),
            ("", ""),
        ] {
            assert_eq!(label(name), expected, "{name}");
        }
    }

    #[test]
    fn an_object_has_sections_and_its_conditions_a_table() {
        let object = json!({
            "apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "a", "namespace": "b", "labels": {"app": "x"}, "managedFields": [{"manager": "m"}],
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
                "ownerReferences": [{"kind": "Set", "name": "s", "controller": true}]},
            "immutable": true,
            "spec": {"replicas": 1, "list": ["x", 2], "ports": [{"name": "p"}], "empty": {}},
            "status": {"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}], "phase": "Up"},
        });
        let expected = json!({
            "kind": "Description", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "a", "namespace": "b"},
            "sections": [
                {"title": "Metadata", "fields": [
                    {"label": "Name", "value": "a"}, {"label": "Namespace", "value": "b"},
                    {"label": "API Version", "value": "example.com/v1"}, {"label": "Kind", "value": "Widget"},
                    {"label": "Labels", "values": ["app=x"]}, {"label": "Controlled By", "value": "Set/s"}]},
                {"title": "Object", "fields": [{"label": "Immutable", "value": "true"}]},
                {"title": "Spec", "fields": [
                    {"label": "Empty", "value": ""}, {"label": "List", "values": ["x", "2"]},
                    {"label": "Ports", "items": [{"fields": [{"label": "Name", "value": "p"}]}]},
                    {"label": "Replicas", "value": "1"}]},
                {"title": "Status", "fields": [{"label": "Phase", "value": "Up"}]},
                {"title": "Conditions", "columns": [{"name": "Type"}, {"name": "Status"}, {"name": "Observed Generation"}],
                    "items": [{"columns": ["Ready", "True", "1"]}]}],
        });
        assert_eq!(described(&object), expected);
    }

    #[test]
    fn values_of_secrets_are_not_shown() {
        let secret =
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"key": "aGVsbG8="}});
        let data = &described(&secret)["sections"][1];
        assert_eq!(*data, json!({"title": "Data", "fields": [{"label": "key", "value": "5 bytes"}]}));
    }

    #[test]
    fn odd_objects_are_described_too() {
        for object in
            [json!(null), json!([1]), json!({}), json!({"metadata": 1, "status": {"conditions": [1]}, "spec": [[1]]})]
        {
            assert_eq!(described(&object)["kind"], "Description", "{object}");
        }
    }
}
