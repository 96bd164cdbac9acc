//! The types of JSON values that a schema accepts.

use kubeshape_schema::{Flags, Schema, Type};

/// A set of types of JSON values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    const BOOLEAN: u8 = 1;
    const INTEGER: u8 = 2;
    /// Numbers that are not integers.
    const FRACTION: u8 = 4;
    const STRING: u8 = 8;
    const ARRAY: u8 = 16;
    const OBJECT: u8 = 32;
    const ALL: u8 = 63;

    /// All types.
    pub(crate) const ANY: Types = Types(Types::ALL);

    /// Returns the types that a schema accepts, without null.
    pub(crate) fn of(schema: &Schema<'_>) -> Types {
        Types(match schema.ty {
            _ if schema.flags.any(Flags::INT_OR_STRING) => Types::INTEGER | Types::STRING,
            Type::Absent | Type::Other | Type::Several => Types::ALL,
            Type::Array => Types::ARRAY,
            Type::Boolean => Types::BOOLEAN,
            Type::Integer => Types::INTEGER,
            Type::Number => Types::INTEGER | Types::FRACTION,
            Type::Object => Types::OBJECT,
            Type::String => Types::STRING,
        })
    }

    /// Returns whether server-side apply sees the same types: it has one type for numbers.
    pub(crate) fn owned(self) -> Types {
        let numbers = Types::INTEGER | Types::FRACTION;
        if self.has_numbers() { Types(self.0 | numbers) } else { self }
    }

    /// Returns the types that the other set lacks.
    pub(crate) fn without(self, other: Types) -> Types {
        Types(self.0 & !other.0)
    }

    pub(crate) fn both(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn has_booleans(self) -> bool {
        self.0 & Types::BOOLEAN != 0
    }

    pub(crate) fn has_fractions(self) -> bool {
        self.0 & Types::FRACTION != 0
    }

    pub(crate) fn has_integers(self) -> bool {
        self.0 & Types::INTEGER != 0
    }

    pub(crate) fn has_numbers(self) -> bool {
        self.0 & (Types::INTEGER | Types::FRACTION) != 0
    }

    pub(crate) fn has_strings(self) -> bool {
        self.0 & Types::STRING != 0
    }

    pub(crate) fn has_arrays(self) -> bool {
        self.0 & Types::ARRAY != 0
    }

    pub(crate) fn has_objects(self) -> bool {
        self.0 & Types::OBJECT != 0
    }
}

/// Returns the type of a schema in words.
pub(crate) fn name(schema: &Schema<'_>) -> &'static str {
    if schema.flags.any(Flags::INT_OR_STRING) {
        return "integer or string";
    }
    match schema.ty {
        Type::Absent | Type::Other | Type::Several => "any type",
        known => known.name(),
    }
}
