//! The definitions and paths of Kubernetes 1.36, printed in advance, so that nothing is printed when a program starts.
//!
//! The test in `print.rs` writes `printed/` again.

use super::Definition;
use crate::operations::Place;
use crate::paths::{PathTemplate, Paths};
use crate::template::{Slot, Template};
use crate::texts::Texts;
use std::borrow::Cow;

/// The definitions as JSON, with descriptions.
pub(super) const DEFINITIONS: &str = include_str!("definitions.json");

pub(super) fn texts() -> Texts {
    include!("printed/texts.in")
}

/// Returns the definitions as documents contain them, sorted by name.
pub(super) fn definitions() -> Vec<Definition> {
    include!("printed/definitions.in").into()
}

/// Returns the paths by form, then cluster-scoped and namespaced.
pub(super) fn paths() -> [[Paths; 2]; 3] {
    include!("printed/paths.in")
}
