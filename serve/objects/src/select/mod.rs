//! Label selectors and field selectors: the objects that a list, a watch or a deletion applies to.

mod fields;
mod labels;

pub use fields::{FieldSelector, UnsupportedField};
pub use labels::{LabelError, LabelSelector};
