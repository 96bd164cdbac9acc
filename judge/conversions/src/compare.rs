//! What differs between an object and the same object after a way to another version and back.

use kubeshape_cel::Quantity;
use kubeshape_schema::{Bump, Code, Flags, Schema};
use kubeshape_validate::object::without_defaults;
use kubeshape_value::{Map, Value};
use kubeshape_yaml::go::Time;
use kubeshape_yaml::go::time::parse_duration;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The longest value in a message, in characters.
const MAX_SHOWN: usize = 60;
/// Go's zero values of durations and quantities.
const ZERO_DURATION: &str = "0s";
const ZERO_QUANTITY: &str = "0";
/// The maximum number of differences of one object.
const MAX_FOUND: usize = 1_000;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) code: Code,
    /// The path of the value, as in the server's errors: `spec.ports[0].name`.
    pub(crate) path: String,
    /// The same without the numbers of items and the keys of maps: `spec.ports[*].name`.
    pub(crate) shape: String,
    pub(crate) detail: String,
}

/// Returns the differences, in the order of their paths.
pub(crate) fn differences(before: Value<'_>, after: Value<'_>, schema: Option<&Schema<'_>>) -> Vec<Difference> {
    let mut walk = Walk { path: String::new(), shape: String::new(), found: Vec::new() };
    walk.value(before, after, schema);
    walk.found
}

/// Returns whether a value is null, false, 0 or empty, or has only such members.
pub(crate) fn is_empty(value: Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) => true,
        Value::Float(n) => n == 0.0,
        Value::String(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.entries().iter().all(|(_, value)| is_empty(*value)),
        Value::Bool(true) | Value::Int(_) => false,
    }
}

/// Returns whether a value says as much as its absence: it is empty, or a default of its schema, or has only such
/// members. Go writes structures that are not pointers, zero quantities and zero durations, too.
fn says_nothing(value: Value<'_>, schema: Option<&Schema<'_>>) -> bool {
    let is_either = schema.is_some_and(|schema| schema.flags.any(Flags::INT_OR_STRING));
    let arena = Bump::new();
    match value {
        Value::String(text) => text.is_empty() || text == ZERO_DURATION || is_either && text == ZERO_QUANTITY,
        Value::Map(_) => {
            let Value::Map(map) = without_defaults(value, schema, &arena) else { return false };
            map.entries().iter().all(|(key, value)| {
                let below = schema.and_then(|schema| schema.property(key).or_else(|| schema.additional_schema()));
                says_nothing(*value, below)
            })
        }
        other => is_empty(other),
    }
}

/// Returns whether a value and all values below it say something, apart from the metadata of the object.
pub(crate) fn is_plain(object: Value<'_>) -> bool {
    fn is_full(value: Value<'_>) -> bool {
        match value {
            Value::List(items) => !items.is_empty() && items.iter().all(|item| is_full(*item)),
            Value::Map(map) => !map.is_empty() && map.entries().iter().all(|(_, value)| is_full(*value)),
            other => !is_empty(other),
        }
    }
    object.as_map().is_some_and(|map| {
        map.entries().iter().all(|(key, value)| matches!(*key, "apiVersion" | "kind" | "metadata") || is_full(*value))
    })
}

/// Returns the value as JSON, or the beginning of it.
pub(crate) fn shown(value: Value<'_>) -> String {
    let mut json = Vec::new();
    value.write_go_json(&mut json);
    let text = String::from_utf8_lossy(&json);
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

struct Walk {
    path: String,
    shape: String,
    found: Vec<Difference>,
}

impl Walk {
    fn tell(&mut self, code: Code, detail: String) {
        if self.found.len() < MAX_FOUND {
            self.found.push(Difference { code, path: self.path.clone(), shape: self.shape.clone(), detail });
        }
    }

    /// Compares what is below a step.
    fn below(&mut self, step: &Step<'_>, compare: impl FnOnce(&mut Walk)) {
        let (path, shape) = (self.path.len(), self.shape.len());
        match step {
            Step::Property(name) => {
                for text in [&mut self.path, &mut self.shape] {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(name);
                }
            }
            Step::Key(key) => {
                let _ = write!(self.path, "[{key}]");
                self.shape.push_str("[*]");
            }
            Step::Item(at) => {
                let _ = write!(self.path, "[{at}]");
                self.shape.push_str("[*]");
            }
        }
        compare(self);
        self.path.truncate(path);
        self.shape.truncate(shape);
    }

    fn value(&mut self, before: Value<'_>, after: Value<'_>, schema: Option<&Schema<'_>>) {
        match (before, after) {
            (Value::Map(before), Value::Map(after)) => self.map(before, after, schema),
            (Value::List(before), Value::List(after)) => self.list(before, after, schema),
            _ if before == after => {}
            _ if says_nothing(before, schema) && says_nothing(after, schema) => {
                self.changed(Code::ConversionEmpty, before, after);
            }
            _ if is_same(before, after, schema) => self.changed(Code::ConversionWritten, before, after),
            _ => self.changed(Code::ConversionChanged, before, after),
        }
    }

    fn changed(&mut self, code: Code, before: Value<'_>, after: Value<'_>) {
        self.tell(code, format!("{} is {} afterwards", shown(before), shown(after)));
    }

    fn map(&mut self, before: Map<'_>, after: Map<'_>, schema: Option<&Schema<'_>>) {
        let in_metadata = matches!(self.path.as_str(), "metadata.labels" | "metadata.annotations");
        let mut keys: Vec<&str> = before.entries().iter().chain(after.entries()).map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let property = schema.and_then(|schema| schema.property(key));
            let below = property.or_else(|| schema.and_then(Schema::additional_schema));
            let is_free = in_metadata || property.is_none() && below.is_some();
            let step = if is_free { Step::Key(key) } else { Step::Property(key) };
            self.below(&step, |walk| match (before.get(key), after.get(key)) {
                (Some(before), Some(after)) => walk.value(before, after, below),
                (Some(before), None) if says_nothing(before, below) => {
                    walk.tell(Code::ConversionEmpty, format!("{} is gone afterwards", shown(before)));
                }
                (Some(before), None) => {
                    walk.tell(Code::ConversionLost, format!("{} is gone afterwards", shown(before)));
                }
                (None, Some(after)) => {
                    let code = if in_metadata || is_only_annotations(&walk.path, after) {
                        Code::ConversionAnnotation
                    } else if says_nothing(after, below) {
                        Code::ConversionEmpty
                    } else {
                        Code::ConversionAdded
                    };
                    walk.tell(code, format!("{} is new afterwards", shown(after)));
                }
                (None, None) => {}
            });
        }
    }

    /// Compares lists whose items have keys.
    fn keyed(&mut self, before: &[Value<'_>], after: &[Value<'_>], keys: &[&str], item: Option<&Schema<'_>>) {
        let mut left: BTreeMap<String, Vec<Value<'_>>> = BTreeMap::new();
        for item in after.iter().rev() {
            left.entry(key_of(*item, keys)).or_default().push(*item);
        }
        let found = self.found.len();
        let mut has_same = true;
        for (at, value) in before.iter().enumerate() {
            let other = left.get_mut(&key_of(*value, keys)).and_then(Vec::pop);
            has_same &= other.is_some();
            if let Some(other) = other {
                self.below(&Step::Item(at), |walk| walk.value(*value, other, item));
            }
        }
        let is_known = has_same && before.len() == after.len();
        if !is_known {
            self.found.truncate(found);
            return self.in_order(before, after, item);
        }
        if self.found.len() == found {
            let detail = format!("the {} items have another order afterwards", before.len());
            self.tell(Code::ConversionWritten, detail);
        }
    }

    fn list(&mut self, before: &[Value<'_>], after: &[Value<'_>], schema: Option<&Schema<'_>>) {
        if before == after {
            return;
        }
        let item = schema.and_then(Schema::item);
        if let Some(keys) = schema.and_then(keys_of) {
            return self.keyed(before, after, keys, item);
        }
        self.in_order(before, after, item);
    }

    fn in_order(&mut self, before: &[Value<'_>], after: &[Value<'_>], item: Option<&Schema<'_>>) {
        match before.len().cmp(&after.len()) {
            Ordering::Equal => {
                let sorted = |items: &[Value<'_>]| {
                    let mut texts: Vec<String> = items.iter().map(ToString::to_string).collect();
                    texts.sort_unstable();
                    texts
                };
                if sorted(before) == sorted(after) {
                    let detail = format!("the {} items have another order afterwards", before.len());
                    return self.tell(Code::ConversionChanged, detail);
                }
                for (at, (before, after)) in before.iter().zip(after).enumerate() {
                    self.below(&Step::Item(at), |walk| walk.value(*before, *after, item));
                }
            }
            order => {
                let code = if order == Ordering::Greater { Code::ConversionLost } else { Code::ConversionAdded };
                let (before, after) = (before.len(), after.len());
                let s = if before == 1 { "" } else { "s" };
                self.tell(code, format!("{before} item{s} before, {after} afterwards"));
            }
        }
    }
}

/// Returns the keys of the items of a list whose order has no meaning: none for a set, whose items are compared as a
/// whole. `None` if the order has a meaning.
fn keys_of<'s>(schema: &Schema<'s>) -> Option<&'s [&'s str]> {
    match schema.extra().list_type {
        Some("set") => Some(&[]),
        Some("map") => Some(schema.extra().list_map_keys),
        _ => None,
    }
}

/// Returns the text of the keys of an item, or of the whole item.
fn key_of(item: Value<'_>, keys: &[&str]) -> String {
    match item {
        Value::Map(map) if !keys.is_empty() => {
            let values = keys.iter().map(|key| map.get(key).unwrap_or(Value::Null).to_string());
            values.collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}

enum Step<'s> {
    Property(&'s str),
    Key(&'s str),
    Item(usize),
}

/// Returns whether an object that had no labels or annotations got some.
fn is_only_annotations(path: &str, value: Value<'_>) -> bool {
    matches!(path, "metadata.labels" | "metadata.annotations") && !is_empty(value)
}

/// Returns whether both are the same quantity, duration or time: Go's types write them in their own form.
fn is_same(before: Value<'_>, after: Value<'_>, schema: Option<&Schema<'_>>) -> bool {
    let is_either = schema.is_some_and(|schema| schema.flags.any(Flags::INT_OR_STRING));
    let text = |value: Value<'_>| match value {
        Value::String(text) => Some(text.to_owned()),
        Value::Int(n) if is_either => Some(n.to_string()),
        Value::Float(n) if is_either => Some(n.to_string()),
        _ => None,
    };
    let (Some(before), Some(after)) = (text(before), text(after)) else { return false };
    if before == after {
        return true;
    }
    if let (Some(before), Some(after)) = (parse_duration(&before), parse_duration(&after)) {
        return before == after;
    }
    if let (Some(before), Some(after)) = (Time::parse(&before), Time::parse(&after)) {
        return before == after;
    }
    let quantities = (Quantity::parse(&before), Quantity::parse(&after));
    is_either && matches!(quantities, (Ok(before), Ok(after)) if before.is_same(&after))
}
