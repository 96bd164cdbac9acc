//! Owned fields: a set per manager, at a version.

use super::set::Set;
use crate::Bump;
use std::cmp::Ordering;

/// The fields that a manager owns, with the names of one version of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionedSet<'a> {
    /// The fields.
    pub set: Set<'a>,
    /// The version whose names the fields have, such as `apps/v1`.
    pub api_version: &'a str,
    /// Whether they were applied, not updated.
    pub applied: bool,
}

impl<'a> Set<'a> {
    /// Returns the paths that are in any of the sets. The result is the same as uniting them one after the other. It
    /// unites halves, so that each set is walked as few times as possible.
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
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a manager's fields.
    pub fn get(&self, manager: &str) -> Option<&VersionedSet<'a>> {
        let at = self.managers.binary_search_by(|(name, _)| (*name).cmp(manager)).ok()?;
        Some(&self.managers[at].1)
    }

    /// Sets a manager's fields and replaces earlier ones.
    pub fn insert(&mut self, manager: &'a str, fields: VersionedSet<'a>) {
        match self.managers.binary_search_by(|(name, _)| (*name).cmp(manager)) {
            Ok(at) => self.managers[at].1 = fields,
            Err(at) => self.managers.insert(at, (manager, fields)),
        }
    }

    /// Removes a manager and returns its fields.
    pub fn remove(&mut self, manager: &str) -> Option<VersionedSet<'a>> {
        let at = self.managers.binary_search_by(|(name, _)| (*name).cmp(manager)).ok()?;
        Some(self.managers.remove(at).1)
    }

    /// Keeps the managers for which `keep` returns `true`. It may change their fields.
    pub fn retain(&mut self, mut keep: impl FnMut(&'a str, &mut VersionedSet<'a>) -> bool) {
        self.managers.retain_mut(|(name, fields)| keep(name, fields));
    }

    /// Returns the managers in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &VersionedSet<'a>)> {
        self.managers.iter().map(|(name, fields)| (*name, fields))
    }

    /// Returns the fields that managers own in one of the two lists, but not in the other (upstream
    /// `ManagedFields.Difference`).
    ///
    /// If the version of a manager differs, all its fields in the other list are returned. Managers without a
    /// difference are left out. Only sets of the same manager are compared: the lists are two states of one object.
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

    /// Returns the number of managers.
    pub fn len(&self) -> usize {
        self.managers.len()
    }

    /// Returns whether there are no managers.
    pub fn is_empty(&self) -> bool {
        self.managers.is_empty()
    }
}
