//! Who owns what: a set per manager, at a version.

use super::set::Set;

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

    /// How many managers there are.
    pub fn len(&self) -> usize {
        self.managers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.managers.is_empty()
    }
}
