//! Results: their names, their formats, and writing them completely or not at all.

pub(crate) mod format;
mod layout;
pub(crate) mod names;
mod prune;
mod stage;

pub(crate) use layout::{Layout, Subject};
pub(crate) use prune::prune;
pub(crate) use stage::{Stage, Staged};

/// A result that was not renamed yet.
#[derive(Debug)]
pub(crate) enum Output {
    /// In a temporary file, with its name relative to the output folder.
    Staged(Staged, String),
    /// In memory, with its name.
    Held(Vec<u8>, String),
}

impl Output {
    /// The name relative to an output folder.
    pub(crate) fn name(&self) -> &str {
        match self {
            Output::Staged(_, name) | Output::Held(_, name) => name,
        }
    }
}
