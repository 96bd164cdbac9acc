//! Whether a value is of its type.

/// Whether sets and keyed lists may hold an item twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// No: what is applied must not.
    Refused,
    /// Yes: what is stored may.
    Allowed,
}
