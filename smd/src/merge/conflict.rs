//! Fields that another manager owns.

use crate::Bump;
use crate::fieldpath::{DisplayPath, ManagedFields, PathElement, Set, SetBuilder};
use crate::value::Value;
use std::fmt::{self, Display, Formatter};

/// A field that another manager owns and that would change (upstream `merge.Conflict`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict<'a> {
    /// The manager that owns it.
    pub manager: &'a str,
    /// The field.
    pub path: Vec<PathElement<'a>>,
}

/// All conflicts: managers by name, the fields of each in the order of [`Set::iter`] (upstream `merge.Conflicts`).
///
/// # Example: how conflicts read
/// ```
/// use kubeshape_smd::Bump;
/// use kubeshape_smd::fieldpath::{ManagedFields, PathElement, SetBuilder, VersionedSet};
/// use kubeshape_smd::merge::Conflicts;
///
/// let arena = Bump::new();
/// let mut set = SetBuilder::new(&arena);
/// set.insert(&[PathElement::FieldName("spec"), PathElement::FieldName("replicas")]);
/// let mut owned = ManagedFields::new();
/// owned.insert("scaler", VersionedSet { set: set.finish(), api_version: "apps/v1", applied: false });
///
/// assert_eq!(Conflicts::from_managers(&owned).to_string(), r#"conflict with "scaler": .spec.replicas"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts<'a>(pub Vec<Conflict<'a>>);

impl<'a> Conflicts<'a> {
    /// Every field of every manager (upstream `merge.ConflictsFromManagers`).
    pub fn from_managers(managers: &ManagedFields<'a>) -> Self {
        let mut conflicts = Conflicts(Vec::new());
        for (manager, fields) in managers.iter() {
            conflicts.add(manager, fields.set);
        }
        conflicts
    }

    /// Adds every field of the set.
    pub(super) fn add(&mut self, manager: &'a str, fields: Set<'a>) {
        self.0.extend(fields.iter().map(|path| Conflict { manager, path }));
    }

    /// The fields of all managers in one set.
    pub fn to_set(&self, arena: &'a Bump) -> Set<'a> {
        let mut fields = SetBuilder::new(arena);
        for conflict in &self.0 {
            fields.insert(&conflict.path);
        }
        fields.finish()
    }
}

impl Display for Conflict<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "conflict with {}: {}", Value::String(self.manager), DisplayPath(&self.path))
    }
}

impl Display for Conflicts<'_> {
    /// One alone in a line, several below the line of their manager.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let [one] = self.0.as_slice() {
            return one.fmt(f);
        }
        let mut conflicts: Vec<_> = self.0.iter().collect();
        conflicts.sort_by_key(|conflict| conflict.manager);
        let mut before = None;
        for conflict in conflicts {
            if before != Some(conflict.manager) {
                if before.is_some() {
                    f.write_str("\n")?;
                }
                write!(f, "conflicts with {}:", Value::String(conflict.manager))?;
                before = Some(conflict.manager);
            }
            write!(f, "\n- {}", DisplayPath(&conflict.path))?;
        }
        Ok(())
    }
}
