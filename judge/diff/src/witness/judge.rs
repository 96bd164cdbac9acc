//! Validates an object by two definitions.

use super::proof::{Outcome, is_about_stored};
use kubeshape_sample::Step;
use kubeshape_schema::field::Error;
use kubeshape_schema::{Bump, Code};
use kubeshape_validate::object::Resource;
use kubeshape_validate::strict::{Fields, unknown_field};
use kubeshape_value::Map;
use kubeshape_value::Value;

/// Validates objects by two definitions, looking at the place of a change.
pub(super) struct Judge<'o> {
    pub(super) old: &'o Resource<'o>,
    new: &'o Resource<'o>,
    /// The path of the value, with dots only.
    path: String,
    code: Code,
}

/// What the new definition does with an object that the old one accepts.
pub(super) struct Seen {
    pub(super) outcome: Outcome,
    pub(super) errors: Vec<String>,
}

impl<'o> Judge<'o> {
    pub(super) fn new(old: &'o Resource<'_>, new: &'o Resource<'_>, steps: &[Step<'_>], code: Code) -> Judge<'o> {
        let mut path = String::new();
        for step in steps {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(match step {
                Step::Property(name) | Step::Key(name) => name,
                Step::Item => "0",
            });
        }
        Judge { old, new, path: dotted(&path), code }
    }

    /// Returns what differs for this object at the place of the change, or `None` if the old definition rejects it or
    /// the new one treats the value the same.
    pub(super) fn see(&self, object: Value<'o>, arena: &'o Bump) -> Option<Seen> {
        let before = self.old.decode(object, arena).ok()?;
        if !before.unknown.is_empty() {
            return None;
        }
        let before = self.old.create(before.value, arena);
        if !before.errors.is_empty() {
            return None;
        }
        let after = match self.new.decode(object, arena) {
            Ok(after) => after,
            Err(error) => return Some(Seen { outcome: Outcome::Refused, errors: vec![error] }),
        };
        let dropped: Vec<String> = after
            .unknown
            .iter()
            .filter(|path| self.is_here(path))
            .map(|path| unknown_field(path, Fields::Pruned))
            .collect();
        if !dropped.is_empty() {
            return Some(Seen { outcome: Outcome::Dropped, errors: dropped });
        }
        let after = self.new.create(after.value, arena);
        let errors: Vec<String> =
            after.errors.iter().filter(|error| self.is_here(place(error))).map(ToString::to_string).collect();
        if !errors.is_empty() {
            return Some(Seen { outcome: Outcome::Refused, errors });
        }
        if is_about_stored(self.code) && after.errors.is_empty() && before.stored != after.stored {
            return Some(Seen { outcome: Outcome::StoredOtherwise, errors: Vec::new() });
        }
        None
    }

    /// Returns whether the new definition accepts an update that changes something else.
    pub(super) fn keeps(&self, object: Value<'o>, arena: &'o Bump) -> bool {
        let Ok(old) = self.old.decode(object, arena) else { return false };
        let stored = self.old.create(old.value, arena).stored;
        let Ok(live) = self.new.decode(stored, arena) else { return false };
        let label = Map::from_entries(vec![("kubeshape", Value::String("changed"))], arena);
        let metadata = live.value.get("metadata").and_then(Value::as_map).unwrap_or(Map::EMPTY);
        let metadata = metadata.with("labels", Some(Value::Map(label)), arena);
        let Value::Map(map) = live.value else { return false };
        let changed = Value::Map(map.with("metadata", Some(Value::Map(metadata)), arena));
        self.new.update(changed, live.value, arena).errors.is_empty()
    }

    /// Returns whether a path is the place of the change, or below it.
    fn is_here(&self, path: &str) -> bool {
        let path = dotted(path);
        if self.path.is_empty() {
            return true;
        }
        match path.strip_prefix(self.path.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with('.'),
            // A rule may name another field, and logic reports the value around it.
            None => matches!(self.code, Code::DiffRule),
        }
    }
}

/// Returns the path of an error. Errors of logic and of number ranges contain it in their message (upstream:
/// `kube-openapi/pkg/validation/errors`).
fn place(error: &Error) -> &str {
    let detail = error.detail.as_str();
    match error.path.as_str() {
        "" | "<nil>" => match detail.split('"').nth(1) {
            Some(name) => name,
            None => detail.rsplit_once(" in ").map_or("", |(_, name)| name),
        },
        path => path,
    }
}

/// Normalizes a path so that keys and indices are plain steps: `a[0].b` becomes `a.0.b`.
fn dotted(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '[' if out.is_empty() => {}
            '[' => out.push('.'),
            ']' => {}
            c => out.push(c),
        }
    }
    out
}
