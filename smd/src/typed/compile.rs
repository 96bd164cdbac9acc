//! A schema made ready for walks: references resolved, overrides applied, fields sorted.

use super::TypedValue;
use super::error::ValidationErrors;
use super::validate::Duplicates;
use crate::schema::Schema;
use crate::value::Value;

/// The types of a schema, made ready for walking over values (upstream `typed.Parser`).
///
/// Built once and shared: it holds no lock and no cache.
#[derive(Clone, Debug)]
pub struct Types {
    schema: Schema,
}

/// A type of [`Types`] (upstream `typed.ParseableType`).
#[derive(Clone, Copy, Debug)]
pub struct Type<'t> {
    pub(super) types: &'t Types,
    pub(super) id: u32,
}

impl Types {
    /// Makes a schema ready.
    pub fn new(schema: Schema) -> Types {
        Types { schema }
    }

    /// The types for objects without a schema: [`Types::named`] of `__untyped_deduced_` merges maps and replaces lists.
    pub fn deduced() -> Types {
        Types::new(crate::schema::deduced())
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The type of that name.
    pub fn named(&self, name: &str) -> Option<Type<'_>> {
        let _ = name;
        todo!()
    }
}

impl<'t> Type<'t> {
    /// The types it is one of.
    pub fn types(self) -> &'t Types {
        self.types
    }

    /// Whether both are the same type of the same [`Types`].
    pub fn is(self, other: Type<'_>) -> bool {
        std::ptr::eq(self.types, other.types) && self.id == other.id
    }
}

impl<'a> Type<'a> {
    /// Checks a value and gives it the type.
    ///
    /// # Errors
    /// Everything by which the value is not of the type.
    pub fn validate(self, value: Value<'a>, duplicates: Duplicates) -> Result<TypedValue<'a>, ValidationErrors> {
        let _ = (value, duplicates);
        todo!()
    }
}
