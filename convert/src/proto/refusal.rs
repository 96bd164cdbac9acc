//! Why a document has no protobuf form.

use std::fmt;

use kubeshape_schema::{Code, Note};
use kubeshape_yaml::Kind;

/// One reason why a document has no protobuf form, with its location.
///
/// gnostic rejects a whole document for one of them; here all are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Location: the entry in the document's tape ([`kubeshape_yaml::Node::index`]). For a member that the model does
    /// not have, its key; for a missing member, the object.
    pub at: u32,
    /// What was found and what was expected.
    pub problem: Problem,
}

/// The problem at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The model's message has no such member.
    Unknown {
        /// The message's name.
        message: &'static str,
    },
    /// A required member of the model is missing.
    Missing {
        /// The message's name.
        message: &'static str,
        /// The member's name.
        member: &'static str,
    },
    /// A value of another type.
    Type {
        /// The expected type.
        expected: &'static str,
        /// The type found.
        found: Kind,
    },
    /// A string that is not an allowed value of the member.
    Value {
        /// The allowed values.
        allowed: &'static [&'static str],
    },
    /// A list instead of an object, of alternating names and values, whose last name has no value: gnostic crashes.
    Odd,
    /// The JSON is not YAML, as which gnostic reads it.
    Yaml {
        /// The reason.
        reason: &'static str,
    },
}

impl From<Refusal> for Note<'static> {
    fn from(refusal: Refusal) -> Self {
        Note::new(Code::ProtoRefused, refusal.at, refusal.problem.to_string())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unknown { message } => write!(f, "{message} has no such member"),
            Problem::Missing { message, member } => write!(f, "{message} needs the member {member}"),
            Problem::Type { expected, found } => write!(f, "expected {expected}, found {}", name(*found)),
            Problem::Value { allowed } => write!(f, "expected one of {}", allowed.join(", ")),
            Problem::Odd => f.write_str("expected an object, found a list with a name and no value"),
            Problem::Yaml { reason } => f.write_str(reason),
        }
    }
}

/// Returns the name of a kind of value.
fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::False | Kind::True => "a boolean",
        Kind::Int => "an integer",
        Kind::Float => "a number",
        Kind::Str => "a text",
        Kind::Seq => "a list",
        Kind::Map => "an object",
    }
}
