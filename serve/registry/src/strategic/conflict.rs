//! Detects whether two patches change the same fields (upstream: `MergingMapsHaveConflicts`).

use super::Error;
use super::diff::{Lists, with_lists};
use super::go::{AsString, Plain, deep_equal};
use super::list::{DIRECTIVE, Items, deduplicate, items_of};
use super::schema::{Field, Strategy, Type};
use crate::print::write_yaml;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::emit::Emitter;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Compares patches.
pub(super) struct Conflicts<'a> {
    arena: &'a Bump,
    /// Lists of scalars that upstream sorts in place before it compares them. The error shows them sorted.
    sorted: RefCell<Lists<'a>>,
}

impl<'a> Conflicts<'a> {
    pub(super) fn new(arena: &'a Bump) -> Conflicts<'a> {
        Conflicts { arena, sorted: RefCell::default() }
    }

    /// Returns the error with both patches as YAML.
    pub(super) fn error(&self, patch: Map<'a>, changes: Map<'a>) -> Error {
        let text = |map| {
            let mut out = Vec::new();
            write_yaml(Value::Map(self.compared(map)), &mut Emitter::new(&mut out).folding());
            String::from_utf8_lossy(&out).into_owned()
        };
        Error::Conflict { patch: text(patch), changes: text(changes) }
    }

    /// Returns a patch as upstream leaves it: with sorted lists.
    pub(super) fn compared(&self, patch: Map<'a>) -> Map<'a> {
        let lists = self.sorted.borrow();
        let entries = patch.entries().iter().map(|(key, value)| (*key, with_lists(*value, &lists, self.arena)));
        Map::from_entries(entries.collect(), self.arena)
    }

    fn values(&self, a: Value<'a>, b: Value<'a>, field: Option<Field<'_>>) -> Result<bool, Error> {
        match (a, b) {
            (Value::Map(a), Value::Map(b)) => {
                let (own, other) = (a.get(DIRECTIVE), b.get(DIRECTIVE));
                let is_same = match (own, other) {
                    (Some(own), Some(other)) => deep_equal(own, other),
                    (own, other) => own.is_none() && other.is_none(),
                };
                if !is_same {
                    return Ok(true);
                }
                match field {
                    Some(field) if field.strategy != Strategy::Replace => self.maps(a, b, field.below),
                    _ => Ok(false),
                }
            }
            (Value::List(a), Value::List(b)) => field.map_or(Ok(true), |field| self.lists(a, b, field)),
            (Value::Map(_) | Value::List(_), _) => Ok(true),
            (a, b) => Ok(!deep_equal(a, b)),
        }
    }

    /// Returns whether two patches have a conflict.
    ///
    /// # Errors
    /// A field is unknown, or lists cannot be compared.
    pub(super) fn objects(&self, a: Map<'a>, b: Map<'a>, of: Type<'_>) -> Result<bool, Error> {
        let field = Field { below: of, retains: false, strategy: Strategy::Usual, key: "" };
        self.values(Value::Map(a), Value::Map(b), Some(field))
    }

    /// Returns whether two maps have a conflict in a key of both.
    fn maps(&self, a: Map<'a>, b: Map<'a>, of: Type<'_>) -> Result<bool, Error> {
        for (key, own) in a.entries() {
            if *key == DIRECTIVE || *key == "$retainKeys" {
                continue;
            }
            let Some(other) = b.get(key) else { continue };
            let field = match own {
                Value::List(_) => Some(of.list_field(key)?),
                Value::Map(_) => Some(of.object_field(key)?),
                _ => None,
            };
            if self.values(*own, other, field)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn lists(&self, a: &'a [Value<'a>], b: &'a [Value<'a>], field: Field<'_>) -> Result<bool, Error> {
        let items = items_of(&[a, b])?;
        let usual = Field { strategy: Strategy::Usual, key: "", ..field };
        if field.strategy == Strategy::Merge {
            if items == Items::Scalars {
                return Ok(false);
            }
            let (a, b) = (by_key(a, field.key)?, by_key(b, field.key)?);
            for (key, own) in a {
                if let Some(other) = b.get(&key)
                    && self.values(own, *other, Some(usual))?
                {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        if a.len() != b.len() {
            return Ok(true);
        }
        let (a, b) = if items == Items::Scalars { (self.sorted(a), self.sorted(b)) } else { (a, b) };
        // Upstream panics if only one of the lists has duplicates.
        if a.len() > b.len() {
            return Ok(true);
        }
        for (own, other) in a.iter().zip(b) {
            if self.values(*own, *other, Some(usual))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sorts scalars as Go prints them, without duplicates, and notes what upstream leaves in the list.
    fn sorted(&self, items: &'a [Value<'a>]) -> &'a [Value<'a>] {
        let mut sorted = items.to_vec();
        let left = deduplicate(&mut sorted);
        sorted.sort_by_cached_key(|item| Plain(*item).to_string());
        let count = sorted.len();
        sorted.extend(left.into_iter().rev());
        let memory = &*self.arena.alloc_slice_copy(&sorted);
        self.sorted.borrow_mut().insert(items.as_ptr().addr(), memory);
        &memory[..count]
    }
}

/// Returns the items of a merging list by their keys (upstream: `sliceOfMapsToMapOfMaps`).
fn by_key<'a>(items: &'a [Value<'a>], key: &str) -> Result<BTreeMap<String, Value<'a>>, Error> {
    let mut named = BTreeMap::new();
    for item in items {
        let Value::Map(map) = item else { return Err(Error::MergingItem(Plain(Value::List(items)).to_string())) };
        let missing = || Error::MergingKey { key: key.to_owned(), item: Plain(*item).to_string() };
        let value = map.get(key).ok_or_else(missing)?;
        named.insert(AsString(value).to_string(), *item);
    }
    Ok(named)
}
