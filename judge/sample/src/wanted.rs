//! Values that a sample must contain.

use super::path::child;
use kubeshape_value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A step from a value to one inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The value of a property.
    Property(&'a str),
    /// The first item of a list.
    Item,
    /// The value of a key that is not a property.
    Key(&'a str),
}

/// Optional parts that a sample must contain or must not contain.
#[derive(Clone, Debug, Default)]
pub struct Wanted<'a> {
    /// Values by path. If `None`, a value is built.
    values: BTreeMap<String, Option<Value<'a>>>,
    /// The keys of maps, by the path of the map.
    keys: BTreeMap<String, Vec<&'a str>>,
    /// Lists that have an item.
    lists: BTreeSet<String>,
    absent: BTreeSet<String>,
}

impl<'a> Wanted<'a> {
    /// Requires a value at the end of these steps, and everything above it. If `value` is given, it is used.
    pub fn want(&mut self, steps: &[Step<'a>], value: Option<Value<'a>>) {
        let mut path = String::new();
        for step in steps {
            let next = match step {
                Step::Property(name) => child(&path, name),
                Step::Item => {
                    self.lists.insert(path.clone());
                    format!("{path}[0]")
                }
                Step::Key(key) => {
                    self.keys.entry(path.clone()).or_default().push(key);
                    format!("{path}[{key}]")
                }
            };
            self.values.entry(next.clone()).or_default();
            path = next;
        }
        if value.is_some() {
            self.values.insert(path, value);
        }
    }

    /// Leaves out the value at the end of these steps, unless it is required.
    pub fn leave_out(&mut self, steps: &[Step<'a>]) {
        let mut path = String::new();
        for step in steps {
            path = match step {
                Step::Property(name) => child(&path, name),
                Step::Item => format!("{path}[0]"),
                Step::Key(key) => format!("{path}[{key}]"),
            };
        }
        self.absent.insert(path);
    }

    pub(super) fn holds(&self, path: &str) -> bool {
        self.values.contains_key(path)
    }

    pub(super) fn value(&self, path: &str) -> Option<Value<'a>> {
        self.values.get(path).copied().flatten()
    }

    pub(super) fn keys(&self, path: &str) -> &[&'a str] {
        self.keys.get(path).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has_item(&self, path: &str) -> bool {
        self.lists.contains(path)
    }

    pub(super) fn lacks(&self, path: &str) -> bool {
        self.absent.contains(path)
    }
}
