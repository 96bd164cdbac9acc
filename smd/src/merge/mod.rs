//! Applies and updates objects, and finds who owns which field afterwards and which fields conflict (upstream package
//! `merge`).

mod conflict;
mod converter;
mod prune;
#[cfg(test)]
mod tests;
mod update;

pub use conflict::{Conflict, Conflicts};
pub use converter::{ConvertError, Converter, SameVersion};
pub use prune::{PruneCause, PruneError, PruneStep};
pub use update::{Error, Ignored, Outcome, Updater};
