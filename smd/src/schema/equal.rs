//! Equality of schemas (upstream `schema/equals.go`).

use super::model::Schema;
use super::view::{Atom, Field, List, Map, TypeDef, TypeRef, Union};

impl PartialEq for Schema {
    fn eq(&self, other: &Schema) -> bool {
        self.types().eq(other.types())
    }
}

impl Eq for Schema {}

impl PartialEq for TypeDef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.atom() == other.atom()
    }
}

/// The same of scalar, list and map must be present, but only the first of them is compared. That decides whether two
/// values have the same shape, so it must stay as upstream.
impl PartialEq for Atom<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (scalar, list, map) = (self.scalar(), self.list(), self.map());
        let (other_scalar, other_list, other_map) = (other.scalar(), other.list(), other.map());
        if list.is_some() != other_list.is_some() || map.is_some() != other_map.is_some() {
            return false;
        }
        match (scalar, other_scalar) {
            (Some(a), Some(b)) => a == b,
            (None, None) => match (list, other_list) {
                (Some(a), Some(b)) => a == b,
                _ => map == other_map,
            },
            _ => false,
        }
    }
}

/// Overrides are compared by their contents; upstream compares their addresses.
impl PartialEq for TypeRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.named() == other.named()
            && self.relationship() == other.relationship()
            && self.nullable() == other.nullable()
            && self.inlined() == other.inlined()
    }
}

impl PartialEq for List<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.relationship() == other.relationship()
            && self.keys().eq(other.keys())
            && self.element_type() == other.element_type()
    }
}

impl PartialEq for Map<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.relationship() == other.relationship()
            && self.element_type() == other.element_type()
            && self.fields().eq(other.fields())
            && self.unions().eq(other.unions())
    }
}

impl PartialEq for Field<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
            && self.default_json() == other.default_json()
            && self.type_ref() == other.type_ref()
    }
}

impl PartialEq for Union<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.discriminator() == other.discriminator()
            && self.deduce_invalid_discriminator() == other.deduce_invalid_discriminator()
            && self
                .fields()
                .map(|f| (f.field_name(), f.discriminator_value()))
                .eq(other.fields().map(|f| (f.field_name(), f.discriminator_value())))
    }
}
