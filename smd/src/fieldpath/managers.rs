//! Who owns what: a set per manager, at a version.

use super::set::Set;
use crate::Bump;
use std::cmp::Ordering;

/// The fields that a manager owns, in the spelling of one version of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionedSet<'a> {
    /// The fields.
    pub set: Set<'a>,
    /// The version in whose spelling they are, such as `apps/v1`.
    pub api_version: &'a str,
    /// Whether they were applied, not updated.
    pub applied: bool,
}

impl<'a> Set<'a> {
    /// The paths that are in any of the sets: as if one after the other were united with those before it, but half by
    /// half, so that no set is walked more often than needs be.
    #[must_use]
    pub fn union_all(sets: &[Set<'a>], arena: &'a Bump) -> Set<'a> {
        match sets {
            [] => Set::EMPTY,
            [set] => *set,
            sets => {
                let (first, second) = sets.split_at(sets.len() / 2);
                Set::union_all(first, arena).union(Set::union_all(second, arena), arena)
            }
        }
    }
}

/// The managers of an object by name (upstream `fieldpath.ManagedFields`), sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedFields<'a> {
    managers: Vec<(&'a str, VersionedSet<'a>)>,
}

impl<'a> ManagedFields<'a> {
    /// No managers.
    pub fn new() -> Self {
        Self::default()
    }

    /// A manager's fields.
    pub fn get(&self, manager: &str) -> Option<&VersionedSet<'a>> {
        let at = self.managers.binary_search_by(|(name, _)| (*name).cmp(manager)).ok()?;
        Some(&self.managers[at].1)
    }

    /// Sets a manager's fields, in place of those it had.
    pub fn insert(&mut self, manager: &'a str, fields: VersionedSet<'a>) {
        match self.managers.binary_search_by(|(name, _)| (*name).cmp(manager)) {
            Ok(at) => self.managers[at].1 = fields,
            Err(at) => self.managers.insert(at, (manager, fields)),
        }
    }

    /// Forgets a manager and returns what it had.
    pub fn remove(&mut self, manager: &str) -> Option<VersionedSet<'a>> {
        let at = self.managers.binary_search_by(|(name, _)| (*name).cmp(manager)).ok()?;
        Some(self.managers.remove(at).1)
    }

    /// Keeps the managers for which this holds; their fields may be changed on the way.
    pub fn retain(&mut self, mut keep: impl FnMut(&'a str, &mut VersionedSet<'a>) -> bool) {
        self.managers.retain_mut(|(name, fields)| keep(name, fields));
    }

    /// The managers in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &VersionedSet<'a>)> {
        self.managers.iter().map(|(name, fields)| (*name, fields))
    }

    /// What the managers of either own and those of the other do not (upstream `ManagedFields.Difference`).
    ///
    /// Where the version of a manager differs, all that it owns in the other is reported; a manager for whom nothing is
    /// left is not. No other sets are looked at: this compares two states of one object.
    ///
    /// # Example: who came, and who changed
    /// ```
    /// use kubeshape_smd::{Bump, fieldpath::{ManagedFields, Set, VersionedSet}};
    /// let arena = Bump::new();
    /// let set = |text: &'static str| Set::read_json(text.as_bytes(), &arena);
    /// let owns = |set| VersionedSet { set, api_version: "v1", applied: true };
    /// let (mut before, mut after) = (ManagedFields::new(), ManagedFields::new());
    /// before.insert("a", owns(set(r#"{"f:x":{},"f:y":{}}"#)?));
    /// after.insert("a", owns(set(r#"{"f:y":{},"f:z":{}}"#)?));
    /// after.insert("b", owns(set(r#"{"f:x":{}}"#)?));
    /// let changed = before.difference(&after, &arena);
    /// assert_eq!(changed.get("a").unwrap().set.to_string(), ".x\n.z");
    /// assert_eq!(changed.get("b").unwrap().set.to_string(), ".x");
    /// # Ok::<(), kubeshape_smd::fieldpath::SetError>(())
    /// ```
    #[must_use]
    pub fn difference(&self, other: &ManagedFields<'a>, arena: &'a Bump) -> ManagedFields<'a> {
        let mut managers = Vec::new();
        let (mut left, mut right) = (self.managers.iter().peekable(), other.managers.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return ManagedFields { managers },
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let mine = if order.is_le() { left.next() } else { None };
            let theirs = if order.is_ge() { right.next() } else { None };
            match (mine, theirs) {
                (Some((_, mine)), Some(entry @ (_, theirs))) if mine.api_version != theirs.api_version => {
                    managers.push(*entry);
                }
                (Some((name, mine)), Some((_, theirs))) => {
                    let gone = mine.set.difference(theirs.set, arena);
                    let set = gone.union(theirs.set.difference(mine.set, arena), arena);
                    if !set.is_empty() {
                        managers.push((*name, VersionedSet { set, applied: false, ..*theirs }));
                    }
                }
                (Some(entry), None) | (None, Some(entry)) => {
                    if !entry.1.set.is_empty() {
                        managers.push(*entry);
                    }
                }
                (None, None) => {}
            }
        }
    }

    /// How many managers there are.
    pub fn len(&self) -> usize {
        self.managers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.managers.is_empty()
    }
}
