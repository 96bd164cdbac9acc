//! What an evaluation takes in addition to its cost. Upstream's costs do not count what nested values hold, nor what
//! memory results take, so that a cheap expression can run for hours or fill all memory.

use crate::decls::Name;
use crate::library::Kube;
use crate::limits::{MAX_MADE, MAX_STEPS};
use crate::value::{List, Map, Value};
use kubeshape_structural::regex::compiled_size;
use std::sync::Arc;

/// What was taken so far.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// Values looked at, and 64 bytes of a string as one.
    pub(super) steps: u64,
    /// Bytes of strings and lists that were made, also of those that are gone.
    made: u64,
}

/// Bytes of a string that count as one step.
const STEP: u64 = 64;
/// What a step counts for in functions that take several times as long for it as others.
const SLOW: u64 = 4;
/// Bytes of a compiled pattern that count as one step.
const COMPILED_STEP: u64 = 8;

impl Meter {
    /// Before a call. `compiles`: whether a pattern is compiled for it.
    pub(super) fn before(&mut self, function: Name, args: &[Value<'_>], compiles: bool) -> Result<(), String> {
        let left = MAX_STEPS.saturating_sub(self.steps);
        let steps = match (function, args) {
            (Name::Equals | Name::NotEquals, [a, b]) => equality(a, b, left),
            (Name::In | Name::IndexOf | Name::LastIndexOf, [a @ Value::List(_), b] | [b, a @ Value::List(_)]) => {
                equality(a, a, left).saturating_add(flat(b))
            }
            (Name::SetsContains | Name::SetsIntersects | Name::SetsEquivalent, [a, b]) => {
                pairs(a, b, left).saturating_add(pairs(b, a, left))
            }
            (Name::Distinct, [list]) => pairs(list, list, left),
            // Printing and comparing takes longer than looking.
            (Name::Format | Name::Sum | Name::Min | Name::Max | Name::IsSorted, _) => {
                args.iter().map(|arg| deep(arg, left)).sum::<u64>().saturating_mul(SLOW)
            }
            // Upstream counts the length of a pattern. What is compiled can be far more.
            (Name::Matches | Name::Find | Name::FindAll, [text, Value::String(pattern), ..]) if compiles => {
                flat(text).saturating_add(compiled_size(pattern) as u64 / COMPILED_STEP)
            }
            (Name::IsUrl | Name::IsIp | Name::FindAll | Name::Split | Name::Replace, _) => {
                args.iter().map(flat).sum::<u64>().saturating_mul(2 * SLOW)
            }
            (Name::Quantity | Name::IsQuantity, [Value::String(text)]) => digits(text.len() as u64),
            _ => args.iter().map(flat).sum(),
        };
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            return Err(format!("the evaluation looks at more than {MAX_STEPS} values"));
        }
        Ok(())
    }

    /// Before a list grows by another one. A list that no one else holds grows in place.
    pub(super) fn join(&mut self, a: &Value<'_>, b: &Value<'_>) -> Result<(), String> {
        let in_place = match a {
            Value::List(List::Made(items) | List::Added(items)) => Arc::strong_count(items) == 1,
            _ => false,
        };
        let length = |value: &Value<'_>| if let Value::List(list) = value { list.len() as u64 } else { 0 };
        self.make(length(b) + if in_place { 0 } else { length(a) }, size_of::<Value<'_>>() as u64)
    }

    /// Before a list grows by one.
    pub(super) fn append(&mut self, items: &Arc<Vec<Value<'_>>>) -> Result<(), String> {
        let copied = if Arc::strong_count(items) == 1 { 0 } else { items.len() as u64 };
        self.make(1 + copied, size_of::<Value<'_>>() as u64)
    }

    /// After a value was made.
    pub(super) fn after(&mut self, result: &Value<'_>) -> Result<(), String> {
        match result {
            Value::String(text) => self.make(text.len() as u64, 1),
            Value::Bytes(bytes) => self.make(bytes.len() as u64, 1),
            Value::List(List::Made(items) | List::Added(items) | List::Joined(_, items)) => {
                self.make(items.len() as u64, size_of::<Value<'_>>() as u64)
            }
            _ => Ok(()),
        }
    }

    /// Before a list of this many items is made.
    pub(super) fn list(&mut self, length: usize) -> Result<(), String> {
        self.make(length as u64, size_of::<Value<'_>>() as u64)
    }

    fn make(&mut self, count: u64, size: u64) -> Result<(), String> {
        self.made = self.made.saturating_add(count.saturating_mul(size));
        if self.made > MAX_MADE {
            return Err(format!("the evaluation makes more than {MAX_MADE} bytes of values"));
        }
        Ok(())
    }
}

/// What looking at a string or a quantity takes, and finding an element of a list in parts; other values are free.
fn flat(value: &Value<'_>) -> u64 {
    match value {
        Value::List(List::Parts(parts)) => parts.len() as u64,
        Value::String(text) => text.len() as u64 / STEP,
        Value::Bytes(bytes) => bytes.len() as u64 / STEP,
        Value::Kube(Kube::Quantity(quantity, _)) => digits(quantity.digits().into()),
        _ => 0,
    }
}

/// Reading and printing a long number takes the square of its length.
fn digits(count: u64) -> u64 {
    (count / 128).saturating_pow(2)
}

fn is_nested(value: &Value<'_>) -> bool {
    matches!(value, Value::List(_) | Value::Map(_) | Value::Optional(_))
}

/// What comparing two values takes at most: no more than going through one of them.
fn equality(a: &Value<'_>, b: &Value<'_>, left: u64) -> u64 {
    if !is_nested(a) || !is_nested(b) {
        return flat(a).min(flat(b));
    }
    match deep(a, left) {
        steps if steps > left => deep(b, left),
        steps => steps,
    }
}

/// What comparing each element of a list with each of another one takes.
fn pairs(a: &Value<'_>, b: &Value<'_>, left: u64) -> u64 {
    let Value::List(others) = b else { return 0 };
    deep(a, left).saturating_mul(others.len() as u64)
}

/// Everything that a value holds, however often it holds it; counting ends when there is more than is left.
fn deep(value: &Value<'_>, left: u64) -> u64 {
    fn count(value: &Value<'_>, left: &mut u64) -> Option<()> {
        *left = left.checked_sub(1 + flat(value))?;
        match value {
            Value::List(List::Made(items) | List::Added(items) | List::Joined(_, items)) => {
                items.iter().try_for_each(|item| count(item, left))
            }
            Value::List(list) => list.iter().try_for_each(|item| count(&item, left)),
            Value::Map(Map::Made(entries)) => entries.values().try_for_each(|entry| count(&entry.1, left)),
            Value::Map(map) => map.iter().try_for_each(|(_, value)| count(&value, left)),
            Value::Optional(Some(inner)) => count(inner, left),
            _ => Some(()),
        }
    }
    let mut rest = left;
    match count(value, &mut rest) {
        Some(()) => left - rest,
        None => left + 1,
    }
}
