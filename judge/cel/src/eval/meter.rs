//! Work and memory of an evaluation that its cost does not include. Upstream's costs ignore nested values and the
//! memory of results, so that a cheap expression can run for hours or fill all memory.

use crate::decls::Name;
use crate::library::Kube;
use crate::limits::{MAX_MADE, MAX_STEPS};
use crate::value::{List, Map, Value};
use kubeshape_structural::regex::compiled_size;
use std::sync::Arc;

/// The amounts used so far.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// The number of visited values. 64 bytes of a string are one value.
    pub(super) steps: u64,
    /// Bytes of strings and lists created so far, including those already freed.
    made: u64,
}

/// Bytes of a string per step.
const STEP: u64 = 64;
/// The factor for functions that take several times as long per step.
const SLOW: u64 = 4;
/// Bytes of a compiled pattern per step.
const COMPILED_STEP: u64 = 8;

impl Meter {
    /// Charges a call before it runs. `compiles` says that the call compiles a pattern.
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
            // Printing and comparing take longer than visiting.
            (Name::Format | Name::Sum | Name::Min | Name::Max | Name::IsSorted, _) => {
                args.iter().map(|arg| deep(arg, left)).sum::<u64>().saturating_mul(SLOW)
            }
            // Upstream charges the length of a pattern. The compiled pattern can be far larger.
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

    /// Charges joining two lists before it happens. A list with one owner grows in place.
    pub(super) fn join(&mut self, a: &Value<'_>, b: &Value<'_>) -> Result<(), String> {
        let in_place = match a {
            Value::List(List::Made(items) | List::Added(items)) => Arc::strong_count(items) == 1,
            _ => false,
        };
        let length = |value: &Value<'_>| if let Value::List(list) = value { list.len() as u64 } else { 0 };
        self.make(length(b) + if in_place { 0 } else { length(a) }, size_of::<Value<'_>>() as u64)
    }

    /// Charges appending one element before it happens.
    pub(super) fn append(&mut self, items: &Arc<Vec<Value<'_>>>) -> Result<(), String> {
        let copied = if Arc::strong_count(items) == 1 { 0 } else { items.len() as u64 };
        self.make(1 + copied, size_of::<Value<'_>>() as u64)
    }

    /// Charges a result.
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

    /// Charges a list of this length before it is created.
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

/// Returns the steps for reading a string or a quantity, or for finding an element of a list in parts. Other values are
/// free.
fn flat(value: &Value<'_>) -> u64 {
    match value {
        Value::List(List::Parts(parts)) => parts.len() as u64,
        Value::String(text) => text.len() as u64 / STEP,
        Value::Bytes(bytes) => bytes.len() as u64 / STEP,
        Value::Kube(Kube::Quantity(quantity, _)) => digits(quantity.digits().into()),
        _ => 0,
    }
}

/// Returns the steps for reading or printing a long number: the square of its length.
fn digits(count: u64) -> u64 {
    (count / 128).saturating_pow(2)
}

fn is_nested(value: &Value<'_>) -> bool {
    matches!(value, Value::List(_) | Value::Map(_) | Value::Optional(_))
}

/// Returns the maximum steps for comparing two values: at most a walk through one of them.
fn equality(a: &Value<'_>, b: &Value<'_>, left: u64) -> u64 {
    if !is_nested(a) || !is_nested(b) {
        return flat(a).min(flat(b));
    }
    match deep(a, left) {
        steps if steps > left => deep(b, left),
        steps => steps,
    }
}

/// Returns the steps for comparing each element of a list with each element of another.
fn pairs(a: &Value<'_>, b: &Value<'_>, left: u64) -> u64 {
    let Value::List(others) = b else { return 0 };
    deep(a, left).saturating_mul(others.len() as u64)
}

/// Returns the steps for walking through a value, shared parts once per use. Stops when more than `left` are counted.
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
