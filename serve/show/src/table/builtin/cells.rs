//! Cells of several kinds, and their parts.

use kubeshape_value::{Map, Value};

/// Returns a nested value, by dot-separated names; null if it is missing.
pub(super) fn at<'a>(value: Value<'a>, path: &str) -> Value<'a> {
    path.split('.').try_fold(value, Value::get).unwrap_or(Value::Null)
}

/// Returns whether a field is present and not null.
pub(super) fn is_set(value: Value<'_>) -> bool {
    !value.is_null()
}

/// Returns the string of a field; empty if it is not a string.
pub(super) fn text(value: Value<'_>) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a nested string.
pub(super) fn text_at<'a>(value: Value<'a>, path: &str) -> &'a str {
    text(at(value, path))
}

/// Returns a nested number; 0 if it is missing.
pub(super) fn number_at(value: Value<'_>, path: &str) -> i64 {
    if let Value::Int(n) = at(value, path) { n } else { 0 }
}

pub(super) fn is_true(value: Value<'_>) -> bool {
    matches!(value, Value::Bool(true))
}

pub(super) fn items(value: Value<'_>) -> &[Value<'_>] {
    value.as_list().unwrap_or_default()
}

/// Returns a string, or the replacement for an empty one.
pub(super) fn or<'a>(text: &'a str, empty: &'a str) -> &'a str {
    if text.is_empty() { empty } else { text }
}

/// Returns the first condition of a type.
pub(super) fn condition<'a>(conditions: Value<'a>, of_type: &str) -> Option<Value<'a>> {
    items(conditions).iter().copied().find(|condition| text_at(*condition, "type") == of_type)
}

/// Returns whether the first condition of a type is true.
pub(super) fn has_condition(conditions: Value<'_>, of_type: &str) -> bool {
    condition(conditions, of_type).is_some_and(|condition| text_at(condition, "status") == "True")
}

/// Joins the strings of a field of each item with a separator.
pub(super) fn each(list: Value<'_>, path: &str, separator: &str) -> String {
    items(list).iter().map(|item| text_at(*item, path)).collect::<Vec<_>>().join(separator)
}

/// Lists at most `count` strings, and the number of remaining ones (upstream: `listWithMoreString`).
pub(super) fn first_of(list: &[String], count: usize) -> String {
    let (shown, rest) = (list.join(","), count.saturating_sub(list.len()));
    if rest > 0 { format!("{shown} + {rest} more...") } else { or(&shown, "<unset>").to_owned() }
}

/// Returns a time; `None` for `0001-01-01T00:00:00Z` and null.
pub(super) fn time(value: Value<'_>) -> Option<&str> {
    value.as_str().filter(|text| !matches!(*text, "" | "0001-01-01T00:00:00Z"))
}

/// Returns the creation time of an object.
pub(super) fn created(value: Value<'_>) -> String {
    time(value).unwrap_or("<unknown>").to_owned()
}

pub(super) fn ago_or_none(value: Value<'_>) -> String {
    if is_set(value) { created(value) } else { "<none>".to_owned() }
}

pub(super) fn ago_or_nothing(value: Value<'_>) -> String {
    if is_set(value) { created(value) } else { String::new() }
}

/// Returns the number of items or entries.
pub(super) fn count(value: Value<'_>) -> i64 {
    let count = match value {
        Value::List(items) => items.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    };
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns the number of keys of a ConfigMap (upstream: `printConfigMap`).
pub(super) fn config_keys(object: Value<'_>) -> i64 {
    count(at(object, "data")).saturating_add(count(at(object, "binaryData")))
}

/// Returns the number of keys of a Secret (upstream: `printSecret`). A manifest may have them in `stringData`.
pub(super) fn secret_keys(object: Value<'_>) -> i64 {
    let data = at(object, "data");
    let texts = at(object, "stringData").as_map().unwrap_or(Map::EMPTY);
    let more = texts.entries().iter().filter(|(key, _)| data.get(key).is_none()).count();
    count(data).saturating_add(i64::try_from(more).unwrap_or(i64::MAX))
}

pub(super) fn joined(value: Value<'_>) -> String {
    items(value).iter().map(|item| text(*item)).collect::<Vec<_>>().join(",")
}

/// Returns the names of containers (upstream: `layoutContainerCells`).
pub(super) fn containers(value: Value<'_>) -> String {
    each(value, "name", ",")
}

/// Returns the images of containers (upstream: `layoutContainerCells`).
pub(super) fn images(value: Value<'_>) -> String {
    each(value, "image", ",")
}

/// `Kind/name` of a reference.
pub(super) fn kind_and_name(reference: Value<'_>) -> String {
    format!("{}/{}", text_at(reference, "kind"), text_at(reference, "name"))
}

/// Returns a quantity as stored: the server stores the canonical form.
pub(super) fn quantity(value: Value<'_>) -> String {
    match value {
        Value::String(text) => text.to_owned(),
        Value::Int(n) => n.to_string(),
        Value::Float(n) => n.to_string(),
        _ => "0".to_owned(),
    }
}

/// Labels (upstream: `labels.FormatLabels`).
pub(super) fn labels(value: Value<'_>) -> String {
    let map = value.as_map().unwrap_or(Map::EMPTY);
    let mut pairs: Vec<String> = map.entries().iter().map(|(key, value)| format!("{key}={}", text(*value))).collect();
    pairs.sort();
    or(&pairs.join(","), "<none>").to_owned()
}

/// A selector (upstream: `metav1.FormatLabelSelector`).
pub(super) fn selector(value: Value<'_>) -> String {
    requirements(value).map_or_else(|| "<error>".to_owned(), |text| or(&text, "<none>").to_owned())
}

/// Returns the selector of a Deployment, which is empty if it selects everything (upstream: `printDeployment`).
pub(super) fn deployment_selector(value: Value<'_>) -> String {
    requirements(value).unwrap_or_else(|| "<invalid>".to_owned())
}

/// Returns the requirements of a selector, sorted by key (upstream: `LabelSelectorAsSelector`, `Requirement.String`).
/// `None` if one is invalid.
fn requirements(selector: Value<'_>) -> Option<String> {
    let labels = at(selector, "matchLabels").as_map().unwrap_or(Map::EMPTY);
    let labels = labels.entries().iter().map(|(key, value)| Some((*key, format!("{key}={}", text(*value)))));
    let expressions = items(at(selector, "matchExpressions")).iter().map(|expression| {
        let key = text_at(*expression, "key");
        Some((key, requirement(key, *expression)?))
    });
    let mut all: Vec<(&str, String)> = labels.chain(expressions).collect::<Option<_>>()?;
    all.sort_by_key(|(key, _)| *key);
    Some(all.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(","))
}

fn requirement(key: &str, expression: Value<'_>) -> Option<String> {
    let mut values: Vec<&str> = items(at(expression, "values")).iter().map(|value| text(*value)).collect();
    values.sort_unstable();
    match (text_at(expression, "operator"), values.as_slice()) {
        ("Exists", []) => Some(key.to_owned()),
        ("DoesNotExist", []) => Some(format!("!{key}")),
        ("In", [_, ..]) => Some(format!("{key} in ({})", values.join(","))),
        ("NotIn", [_, ..]) => Some(format!("{key} notin ({})", values.join(","))),
        _ => None,
    }
}
