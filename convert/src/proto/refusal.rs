//! Why a document has no protobuf form.

use std::fmt;

use kubeshape_schema::{Code, Note};
use kubeshape_yaml::Kind;

/// One reason why a document has no protobuf form, with its place.
///
/// gnostic refuses a whole document for one of them; here all are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where: the entry in the document's tape ([`kubeshape_yaml::Node::index`]). For a member that has no place in
    /// the model its key, for a member that is missing the object.
    pub at: u32,
    /// What was found there and what was expected.
    pub problem: Problem,
}

/// What is wrong at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The model's message has no such member.
    Unknown {
        /// The message's name.
        message: &'static str,
    },
    /// A member that the model requires is not there.
    Missing {
        /// The message's name.
        message: &'static str,
        /// The member's name.
        member: &'static str,
    },
    /// A value of another type.
    Type {
        /// What the member holds.
        expected: &'static str,
        /// What stands there.
        found: Kind,
    },
    /// A text that is none of those that the member may hold.
    Value {
        /// The texts that are.
        allowed: &'static [&'static str],
    },
    /// A list in place of an object, of names and values in turn, whose last name has no value: gnostic crashes.
    Odd,
    /// The JSON text is not YAML, as which gnostic reads it.
    Yaml {
        /// Why.
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

/// What a kind of value is called.
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
