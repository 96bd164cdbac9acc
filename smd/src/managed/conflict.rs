//! Conflicts with the server's messages (upstream `NewConflictError`).

use super::entries::RawEntry;
use super::{Operation, Time, object};
use crate::Bump;
use crate::fieldpath::{DisplayPath, PathElement};
use crate::merge::{Conflict, Conflicts};
use crate::value::Value;
use std::fmt;

/// A field that another manager owns and that would change. `Display` names the manager as the server does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerConflict<'a> {
    /// The manager's identifier in its string form.
    pub identifier: &'a str,
    /// The manager's name, or the whole string if it is not an identifier.
    pub manager: String,
    /// The operation by which it came to own the field. `None` if the string is not an identifier.
    pub operation: Option<Operation>,
    /// The version at which it wrote. Empty if it applied.
    pub api_version: String,
    /// The subresource through which it wrote.
    pub subresource: String,
    /// The time of the entry, if the identifier has one. The server's identifiers have none.
    pub time: Option<Time>,
    /// The field.
    pub path: Vec<PathElement<'a>>,
    /// The live value at the manager's version. `None` if it is absent.
    pub live: Option<Value<'a>>,
    /// The value that the apply would set.
    pub new: Option<Value<'a>>,
}

/// All conflicts of an apply, sorted by the managers' identifiers. The fields of each manager are in the order of its
/// set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictError<'a>(pub Vec<ManagerConflict<'a>>);

impl<'a> ManagerConflict<'a> {
    fn new(conflict: Conflict<'a>) -> Self {
        let Conflict { manager: identifier, path, live, new } = conflict;
        let arena = Bump::new();
        let entry = object::read_json(identifier, &arena).and_then(RawEntry::read);
        let read = entry.unwrap_or(RawEntry { manager: identifier, ..RawEntry::EMPTY });
        ManagerConflict {
            identifier,
            manager: read.manager.to_owned(),
            operation: Operation::parse(read.operation),
            api_version: read.api_version.to_owned(),
            subresource: read.subresource.to_owned(),
            time: read.time,
            path,
            live,
            new,
        }
    }
}

impl fmt::Display for ManagerConflict<'_> {
    /// `"manager" with subresource "scale" using v1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Value::String(&self.manager))?;
        if !self.subresource.is_empty() {
            write!(f, " with subresource {}", Value::String(&self.subresource))?;
        }
        if self.operation == Some(Operation::Update) {
            write!(f, " using {}", self.api_version)?;
            if let Some(time) = self.time {
                write!(f, " at {time}")?;
            }
        }
        Ok(())
    }
}

impl<'a> ConflictError<'a> {
    /// Converts the conflicts that an updater found.
    pub fn new(conflicts: Conflicts<'a>) -> Self {
        let mut conflicts: Vec<_> = conflicts.0.into_iter().map(ManagerConflict::new).collect();
        conflicts.sort_by(|a, b| a.identifier.cmp(b.identifier));
        ConflictError(conflicts)
    }

    /// Returns the causes of the server's response, one per conflict.
    pub fn causes(&self) -> Vec<Cause> {
        let cause = |conflict: &ManagerConflict<'_>| Cause {
            reason: "FieldManagerConflict",
            message: format!("conflict with {conflict}"),
            field: DisplayPath(&conflict.path).to_string(),
        };
        self.0.iter().map(cause).collect()
    }
}

impl fmt::Display for ConflictError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.0.as_slice() {
            return write!(f, "Apply failed with 1 conflict: conflict with {one}: {}", DisplayPath(&one.path));
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        for (at, group) in self.0.chunk_by(|a, b| a.identifier == b.identifier).enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            if let Some(first) = group.first() {
                write!(f, "conflicts with {first}:")?;
            }
            for conflict in group {
                write!(f, "\n- {}", DisplayPath(&conflict.path))?;
            }
        }
        Ok(())
    }
}

/// One conflict, as the server reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `FieldManagerConflict`.
    pub reason: &'static str,
    /// The manager that owns the field.
    pub message: String,
    /// The path.
    pub field: String,
}
