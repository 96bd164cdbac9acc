//! Conflicts as the server words them (upstream `NewConflictError`).

use super::error::Cause;
use super::{Operation, Time};
use crate::fieldpath::PathElement;
use crate::merge::Conflicts;
use std::fmt;

/// A field that another manager owns and that would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerConflict<'a> {
    /// The text of the manager's identifier.
    pub identifier: &'a str,
    /// The manager's name; the whole text if it is no identifier.
    pub manager: String,
    /// How it came to own the field; none if the text is no identifier.
    pub operation: Option<Operation>,
    /// The version at which it wrote; empty if it applied.
    pub api_version: String,
    /// The subresource through which it wrote.
    pub subresource: String,
    /// When, if the identifier says so; those of the server never do.
    pub time: Option<Time>,
    /// The field.
    pub path: Vec<PathElement<'a>>,
}

/// All conflicts of an apply: managers by the text of their identifiers, the fields of each in the order of its set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictError<'a>(pub Vec<ManagerConflict<'a>>);

impl<'a> ConflictError<'a> {
    /// Of the conflicts that an updater found.
    pub fn new(conflicts: Conflicts<'a>) -> Self {
        let _ = conflicts;
        todo!()
    }

    /// The causes of the server's answer, one per conflict.
    pub fn causes(&self) -> Vec<Cause> {
        todo!()
    }
}

impl fmt::Display for ConflictError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        todo!()
    }
}
