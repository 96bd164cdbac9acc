//! What the build script has printed: the definitions and paths of Kubernetes 1.36 (see `build.rs`).

use super::Definition;
use crate::operations::Place;
use crate::paths::{PathTemplate, Paths};
use crate::template::{Slot, Template};
use crate::texts::Texts;
use std::borrow::Cow;

/// The definitions as JSON, with descriptions.
pub(super) const DEFINITIONS: &str = include_str!(concat!(env!("OUT_DIR"), "/definitions.json"));

/// The definitions as JSON, without descriptions: all that types need.
pub(super) const STRUCTURE: &str = include_str!("definitions.json");

pub(super) fn texts() -> Texts {
    include!(concat!(env!("OUT_DIR"), "/texts.in"))
}

/// The definitions as documents hold them, sorted by name.
pub(super) fn definitions() -> Vec<Definition> {
    include!(concat!(env!("OUT_DIR"), "/printed.in")).into()
}

/// The paths by form, then cluster-scoped and namespaced.
pub(super) fn paths() -> [[Paths; 2]; 3] {
    include!(concat!(env!("OUT_DIR"), "/paths.in"))
}
