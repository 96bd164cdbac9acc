//! Which objects a list, a watch or a deletion is about: label selectors and field selectors.

mod fields;
mod labels;

pub use fields::{FieldSelector, UnsupportedField};
pub use labels::{LabelError, LabelSelector};
