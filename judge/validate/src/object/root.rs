//! The role of a value, and the members that every object has.

/// The role of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// A whole object: its type and its metadata are kept, declared or not.
    Resource,
    /// A whole object whose metadata is decoded: also, nothing inside its type and its metadata is removed.
    Decoded,
    /// Any value.
    Value,
}

/// Returns whether a key is one of the three that every object has.
pub(super) fn is_meta(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind" | "metadata")
}
