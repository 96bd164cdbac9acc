//! Fields that another manager owns.

use crate::fieldpath::{ManagedFields, PathElement};
use std::fmt;

/// A field that another manager owns and that would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict<'a> {
    /// The manager that owns it.
    pub manager: &'a str,
    /// The field.
    pub path: Vec<PathElement<'a>>,
}

/// All conflicts: managers by name, the fields of each in the order of [`Set::iter`](crate::fieldpath::Set::iter).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts<'a>(pub Vec<Conflict<'a>>);

impl<'a> Conflicts<'a> {
    /// Every field of every manager.
    pub fn from_managers(managers: &ManagedFields<'a>) -> Self {
        let _ = managers;
        todo!()
    }
}

impl fmt::Display for Conflicts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        todo!()
    }
}
