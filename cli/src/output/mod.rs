//! Results: their names, their formats, and writing them completely or not at all.

pub(crate) mod format;
pub(crate) mod names;
mod prune;
mod stage;

pub(crate) use prune::prune;
pub(crate) use stage::{Stage, Staged};
