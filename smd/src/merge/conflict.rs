//! Fields that another manager owns.

use crate::Bump;
use crate::fieldpath::{DisplayPath, ManagedFields, PathElement, Set, SetBuilder};
use crate::typed::TypedValue;
use crate::value::Value;
use std::fmt::{self, Display, Formatter};

/// A field that another manager owns and that would change (upstream `merge.Conflict`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict<'a> {
    /// The manager that owns it.
    pub manager: &'a str,
    /// The field.
    pub path: Vec<PathElement<'a>>,
    /// The live value at the manager's version. `None` if it is absent, or if only the owners are known.
    pub live: Option<Value<'a>>,
    /// The value that the operation would set.
    pub new: Option<Value<'a>>,
}

/// All conflicts: managers by name, the fields of each in the order of [`Set::iter`] (upstream `merge.Conflicts`).
///
/// # Example: how conflicts are printed
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
    /// Returns every field of every manager (upstream `merge.ConflictsFromManagers`).
    pub fn from_managers(managers: &ManagedFields<'a>) -> Self {
        let mut conflicts = Conflicts(Vec::new());
        for (manager, fields) in managers.iter() {
            let without_value = |path: Vec<PathElement<'a>>| Conflict { manager, path, live: None, new: None };
            conflicts.0.extend(fields.set.iter().map(without_value));
        }
        conflicts
    }

    /// Adds every field of the set, with the values that it has in both objects.
    pub(super) fn add(&mut self, manager: &'a str, fields: Set<'a>, live: TypedValue<'a>, new: TypedValue<'a>) {
        self.add_below(manager, fields, [live, new], &mut Vec::new());
    }

    /// The depth of a set bounds the recursion.
    fn add_below(
        &mut self,
        manager: &'a str,
        fields: Set<'a>,
        objects: [TypedValue<'a>; 2],
        path: &mut Vec<PathElement<'a>>,
    ) {
        let [live, new] = objects.map(|object| object.children(fields.entries().iter().map(|entry| entry.element)));
        let below = || fields.entries().iter().zip(live.iter().zip(&new));
        for (entry, (live, new)) in below().filter(|(entry, _)| entry.member) {
            let path = path.iter().copied().chain([entry.element]).collect();
            self.0.push(Conflict { manager, path, live: live.value(), new: new.value() });
        }
        for (entry, (live, new)) in below().filter(|(entry, _)| !entry.children.is_empty()) {
            path.push(entry.element);
            self.add_below(manager, entry.children, [*live, *new], path);
            path.pop();
        }
    }

    /// Returns the fields of all managers in one set.
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
    /// Prints one conflict on one line. Several are listed below a line for their manager.
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
