//! What differs between an object and the same object after a way to another version and back.

use kubeshape_cel::Quantity;
use kubeshape_schema::{Code, Flags, Schema};
use kubeshape_value::{Map, Value};
use kubeshape_yaml::go::Time;
use kubeshape_yaml::go::time::parse_duration;
use std::cmp::Ordering;
use std::fmt::Write as _;

/// The longest value in a message, in characters.
const MAX_SHOWN: usize = 60;
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
            _ if is_empty(before) && is_empty(after) => self.changed(Code::ConversionEmpty, before, after),
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
                (Some(before), None) if is_empty(before) => {
                    walk.tell(Code::ConversionEmpty, format!("{} is gone afterwards", shown(before)));
                }
                (Some(before), None) => {
                    walk.tell(Code::ConversionLost, format!("{} is gone afterwards", shown(before)));
                }
                (None, Some(after)) => {
                    let code = if in_metadata || is_only_annotations(&walk.path, after) {
                        Code::ConversionAnnotation
                    } else if is_empty(after) {
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

    fn list(&mut self, before: &[Value<'_>], after: &[Value<'_>], schema: Option<&Schema<'_>>) {
        if before == after {
            return;
        }
        let item = schema.and_then(Schema::item);
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
