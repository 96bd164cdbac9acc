//! Whether a value is of its type.

/// Whether sets and keyed lists may hold an item twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// No: what is applied must not.
    Refused,
    /// Yes: what is stored may.
    Allowed,
}

pub(super) fn validate<'a>(
    ty: super::Type<'a>,
    value: crate::Value<'a>,
    duplicates: Duplicates,
) -> Result<super::TypedValue<'a>, super::ValidationErrors> {
    let _ = (ty, value, duplicates);
    todo!()
}
