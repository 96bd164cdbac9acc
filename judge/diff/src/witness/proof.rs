//! What a search for witnesses may cost, and what it finds.

use kubeshape_schema::Code;
use kubeshape_validate::Release;
use std::fmt;

/// How much is tried for witnesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Changes of a definition that get a witness.
    pub changes: usize,
    /// Values that are tried for a change.
    pub values: usize,
    /// How often an object is made anew for a value, because the old definition refuses it.
    pub rounds: usize,
    /// How often an object is judged while it is made smaller.
    pub shrinking: usize,
    /// Bytes of a witness as JSON.
    pub bytes: usize,
    /// Bytes that are used for one change before nothing more is tried.
    pub memory: usize,
    /// Bytes that are used for all changes of a definition, one after the other, before nothing more is tried.
    pub work: usize,
    /// The release of Kubernetes whose server judges.
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

/// What the new definition makes of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server refuses the object.
    Refused,
    /// The server drops fields of it, and refuses it if field validation is strict.
    Dropped,
    /// The server stores something else.
    StoredOtherwise,
}

impl Outcome {
    /// The name: `refused`, `dropped`, `stored otherwise`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Refused => "refused",
            Outcome::Dropped => "dropped",
            Outcome::StoredOtherwise => "stored otherwise",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An object that the old definition accepts, and what the new one makes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The object, as a user would write it.
    pub object: serde_json::Value,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The server's words: errors, or the fields that it drops.
    pub errors: Vec<String>,
    /// Whether the object can be updated where it is stored already and keeps what is shown: the server does not complain about
    /// what did not change (KEP-4008).
    pub is_ratcheted: bool,
}

/// What stands for a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// Objects do not show it: it is compatible for writers and for storage, or not about values.
    NotNeeded,
    /// An object shows it.
    Witness(Box<Witness>),
    /// No object was found; the reason.
    None(String),
}

/// Whether only another stored object shows the change.
pub(super) fn is_about_stored(code: Code) -> bool {
    matches!(code, Code::DiffNull | Code::DiffNullWider | Code::DiffDefault | Code::DiffSubresource)
}
