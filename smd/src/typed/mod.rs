//! Values with a type: validating, comparing, merging, removing and extracting (upstream package `typed`).

mod compare;
mod compile;
mod error;
mod field_set;
mod get;
mod go;
mod items;
mod merge;
mod nodes;
mod prune;
mod reconcile;
mod remove;
#[cfg(test)]
mod tests;
mod validate;

pub use compare::{CompareError, Comparison};
pub use compile::{Type, Types};
pub use error::{ValidationError, ValidationErrorKind, ValidationErrors};
pub use kubeshape_schema::nearest;
pub use remove::{Emptied, KeyFields};
pub use validate::Duplicates;

use crate::value::Value;

/// A value and its type. Without a value the object is absent, which is not null.
#[derive(Clone, Copy, Debug)]
pub struct TypedValue<'a> {
    pub(crate) value: Option<Value<'a>>,
    pub(crate) ty: Type<'a>,
    checked: Checked,
}

/// What was checked of a value. Operations skip what cannot fail for a checked value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Checked {
    No,
    /// It matches its type, but lists may have duplicate items.
    WithDuplicates,
    Strictly,
}

impl<'a> TypedValue<'a> {
    /// Creates a typed value without a check. The caller knows that it matches the type, or does not care (upstream
    /// `AsTypedUnvalidated`).
    ///
    /// # Example: an absent object
    /// ```
    /// use kubeshape_smd::typed::{TypedValue, Types};
    /// use kubeshape_smd::{Bump, schema};
    /// let (types, arena) = (Types::deduced(), Bump::new());
    /// let absent = TypedValue::unvalidated(None, types.named(schema::UNTYPED_DEDUCED).unwrap());
    /// assert!(absent.value().is_none());
    /// assert!(absent.to_field_set(&arena).unwrap().is_empty());
    /// ```
    pub fn unvalidated(value: Option<Value<'a>>, ty: Type<'a>) -> Self {
        TypedValue { value, ty, checked: Checked::No }
    }

    /// Returns the value, or `None` if the object is absent.
    pub fn value(self) -> Option<Value<'a>> {
        self.value
    }

    /// Returns the type.
    pub fn ty(self) -> Type<'a> {
        self.ty
    }

    /// Returns whether comparing a value with itself can fail: the schema has a list whose items have no path elements.
    pub(crate) fn can_fail_with_itself(self) -> bool {
        self.ty.types.tables.unknown_items
    }

    /// Checks that both values can be walked together.
    fn same_type(self, other: TypedValue<'_>) -> Result<(), CompareError> {
        if !std::ptr::eq(self.ty.types, other.ty.types) {
            return Err(CompareError::OtherSchema);
        }
        if self.ty.id != other.ty.id {
            return Err(CompareError::OtherType(self.ty.name().to_owned(), other.ty.name().to_owned()));
        }
        Ok(())
    }
}

/// Returns whether both are the same list or map in memory.
#[inline]
fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Map(a), Value::Map(b)) => std::ptr::eq(a.entries(), b.entries()),
        (Value::List(a), Value::List(b)) => std::ptr::eq(a, b),
        _ => false,
    }
}
