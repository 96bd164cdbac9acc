//! Label selectors and field selectors: the objects that a list, a watch or a deletion applies to.

mod fields;

pub use fields::{FieldSelector, UnsupportedField};
pub use kubeshape_validate::selector::{LabelError, LabelSelector};
