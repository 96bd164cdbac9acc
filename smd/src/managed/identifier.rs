//! Identifiers of managers.

use super::{entries::RawEntry, object};
use crate::Bump;
use kubeshape_schema::escape::{self, Escape};
use std::fmt;

/// The operation by which a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    /// Returns `Apply` or `Update`.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        }
    }

    /// Returns the operation with that name.
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

/// The parts of an entry that distinguish it from other entries (upstream `BuildManagerIdentifier`).
///
/// The version distinguishes updates only: a manager has one entry for everything it applied to a subresource, but one
/// entry per version for what it updated.
///
/// # Example: the string form of an identifier
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
    /// The operation by which it came to own fields.
    pub operation: Operation,
    /// The version at which it wrote.
    pub api_version: &'a str,
    /// The subresource through which it wrote. Empty for the object itself.
    pub subresource: &'a str,
}

impl<'a> Identifier<'a> {
    /// Returns the string form, which orders managers and is their key in
    /// [`ManagedFields`](crate::fieldpath::ManagedFields): JSON as Go writes it. Empty members are omitted, and so is
    /// the version of an apply.
    pub fn text(&self, arena: &'a Bump) -> &'a str {
        self.text_by(&mut Vec::new(), arena)
    }

    /// Does the same with the buffer `out`, which is cleared first.
    pub(super) fn text_by(&self, out: &mut Vec<u8>, arena: &'a Bump) -> &'a str {
        let api_version = if self.operation == Operation::Apply { "" } else { self.api_version };
        out.clear();
        out.push(b'{');
        if !self.manager.is_empty() {
            out.extend_from_slice(br#""manager":"#);
            write_text(self.manager, out);
            out.push(b',');
        }
        out.extend_from_slice(match self.operation {
            Operation::Apply => br#""operation":"Apply""#,
            Operation::Update => br#""operation":"Update""#,
        });
        if !api_version.is_empty() {
            out.extend_from_slice(br#","apiVersion":"#);
            write_text(api_version, out);
        }
        if !self.subresource.is_empty() {
            out.extend_from_slice(br#","subresource":"#);
            write_text(self.subresource, out);
        }
        out.push(b'}');
        // All bytes come from strings, so they are UTF-8.
        arena.alloc_str(std::str::from_utf8(out).unwrap_or_default())
    }

    /// Reads the string form of an identifier. The version of an apply is empty. Returns `None` if the string is not an
    /// identifier.
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

/// Appends a JSON string. Names of managers and versions are short and mostly need no escapes.
fn write_text(text: &str, out: &mut Vec<u8>) {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/' | b'_' | b':')) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        escape::string(out, text, Escape::Html);
    }
}
