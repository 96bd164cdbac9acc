//! The limits of a search for witnesses, and its results.

use kubeshape_schema::Code;
use kubeshape_validate::Release;
use std::fmt;

/// The limits of a search for witnesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Changes of a definition that get a witness.
    pub changes: usize,
    /// Values to try for a change.
    pub values: usize,
    /// How often an object is rebuilt for a value because the old definition rejects it.
    pub rounds: usize,
    /// How often an object is validated while it is made smaller.
    pub shrinking: usize,
    /// Largest witness in bytes of JSON.
    pub bytes: usize,
    /// Bytes of memory per change.
    pub memory: usize,
    /// Bytes of memory for all changes of a definition, added up.
    pub work: usize,
    /// The Kubernetes release whose rules apply.
    pub release: Release,
}

impl Default for Effort {
    /// 1,000 changes, 12 values, 32 rounds, 64 steps, 1 MiB per witness, 64 MiB per change, 1 GiB per definition.
    fn default() -> Effort {
        Effort {
            changes: 1_000,
            values: 12,
            rounds: 32,
            shrinking: 64,
            bytes: 1 << 20,
            memory: 64 << 20,
            work: 1 << 30,
            release: Release::DEFAULT,
        }
    }
}

/// What the new definition does with a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server rejects the object.
    Refused,
    /// The server drops fields of it, and rejects it under strict field validation.
    Dropped,
    /// The server stores something else.
    StoredOtherwise,
    /// The server accepts it with other warnings.
    Warned,
    /// The server accepts it, and did not before.
    Accepted,
}

impl Outcome {
    /// Returns the name: `refused`, `dropped`, `stored otherwise`, `accepted with other warnings`, `accepted`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Refused => "refused",
            Outcome::Dropped => "dropped",
            Outcome::StoredOtherwise => "stored otherwise",
            Outcome::Warned => "accepted with other warnings",
            Outcome::Accepted => "accepted",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An object that the old definition accepts, and what the new one does with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The object, as a user would write it.
    pub object: serde_json::Value,
    /// What happens to it.
    pub outcome: Outcome,
    /// The server's messages: errors, or the dropped fields.
    pub errors: Vec<String>,
    /// Whether a stored object can still be updated if it keeps the value: the server ignores errors in unchanged parts
    /// (KEP-4008).
    pub is_ratcheted: bool,
}

/// The evidence for a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// Objects do not show it: it is compatible for writers and for storage, or not about values.
    NotNeeded,
    /// An object shows it.
    Witness(Box<Witness>),
    /// No object was found; the reason.
    None(String),
}

/// Returns whether the change shows only when a different object is stored.
pub(super) fn is_about_stored(code: Code) -> bool {
    matches!(code, Code::DiffNull | Code::DiffNullWider | Code::DiffDefault | Code::DiffSubresource)
}
