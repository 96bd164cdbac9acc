//! Values with a type: validating, comparing, merging, removing and extracting (spec: smd, "Typed operations").

mod compare;
mod compile;
mod error;
mod field_set;
mod items;
mod merge;
mod nodes;
mod reconcile;
mod remove;
#[cfg(test)]
mod tests;
mod validate;

pub use compare::{CompareError, Comparison};
pub use compile::{Type, Types};
pub use error::{ValidationError, ValidationErrorKind, ValidationErrors};
pub use remove::KeyFields;
pub use validate::Duplicates;

use crate::value::Value;

/// A value and its type. No value means that the object is absent, which is not null.
#[derive(Clone, Copy, Debug)]
pub struct TypedValue<'a> {
    pub(crate) value: Option<Value<'a>>,
    pub(crate) ty: Type<'a>,
}

impl<'a> TypedValue<'a> {
    /// Takes a value of which the caller knows that it fits the type, or does not care.
    pub fn unvalidated(value: Option<Value<'a>>, ty: Type<'a>) -> Self {
        TypedValue { value, ty }
    }

    /// The value; none if the object is absent.
    pub fn value(self) -> Option<Value<'a>> {
        self.value
    }

    /// The type.
    pub fn ty(self) -> Type<'a> {
        self.ty
    }
}
