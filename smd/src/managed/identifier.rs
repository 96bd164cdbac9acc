//! Who a manager is.

use super::{entries::RawEntry, object};
use crate::Bump;
use kubeshape_schema::escape::{self, Escape};
use std::fmt;

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    /// `Apply` or `Update`.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        }
    }

    /// The operation of that name.
    pub fn parse(text: &str) -> Option<Operation> {
        match text {
            "Apply" => Some(Operation::Apply),
            "Update" => Some(Operation::Update),
            _ => None,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What tells one manager's entry from another (upstream `BuildManagerIdentifier`).
///
/// The version counts for updates only: a manager has one entry for all it applied to a subresource, but one per
/// version for what it updated.
///
/// # Example: the text of an identifier
/// ```
/// use kubeshape_smd::{Bump, managed::{Identifier, Operation}};
/// let arena = Bump::new();
/// let update = Identifier { manager: "foo", operation: Operation::Update, api_version: "v1", subresource: "" };
/// assert_eq!(update.text(&arena), r#"{"manager":"foo","operation":"Update","apiVersion":"v1"}"#);
/// let apply = Identifier { operation: Operation::Apply, subresource: "scale", ..update };
/// assert_eq!(apply.text(&arena), r#"{"manager":"foo","operation":"Apply","subresource":"scale"}"#);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identifier<'a> {
    /// The name of the manager.
    pub manager: &'a str,
    /// How it came to own fields.
    pub operation: Operation,
    /// The version at which it wrote.
    pub api_version: &'a str,
    /// The subresource through which it wrote; empty for the object itself.
    pub subresource: &'a str,
}

impl<'a> Identifier<'a> {
    /// The text that orders managers and names them in [`ManagedFields`](crate::fieldpath::ManagedFields): JSON as
    /// Go writes it, empty members omitted, and the version too if this applied.
    pub fn text(&self, arena: &'a Bump) -> &'a str {
        let api_version = if self.operation == Operation::Apply { "" } else { self.api_version };
        let members = [
            ("manager", self.manager),
            ("operation", self.operation.as_str()),
            ("apiVersion", api_version),
            ("subresource", self.subresource),
        ];
        let mut out = Vec::with_capacity(64 + self.manager.len());
        for (name, text) in members.into_iter().filter(|(_, text)| !text.is_empty()) {
            out.push(if out.is_empty() { b'{' } else { b',' });
            escape::string(&mut out, name, Escape::Plain);
            out.push(b':');
            escape::string(&mut out, text, Escape::Html);
        }
        out.push(b'}');
        // What was put together from texts is a text.
        arena.alloc_str(std::str::from_utf8(&out).unwrap_or_default())
    }

    /// Reads the text of an identifier. The version is empty if it applied. None if the text is no identifier.
    pub fn parse(text: &str, arena: &'a Bump) -> Option<Identifier<'a>> {
        let entry = RawEntry::read(object::read_json(text, arena)?)?;
        Some(Identifier {
            manager: entry.manager,
            operation: Operation::parse(entry.operation)?,
            api_version: entry.api_version,
            subresource: entry.subresource,
        })
    }
}
