//! Equality of schemas without their locations, as decided by `equality.Semantic.DeepEqual` of `k8s.io/apimachinery`:
//! an absent list and an empty one are equal.

use crate::{Additional, Dependency, Extra, Flags, Items, Property, Schema};

/// Flags that distinguish a missing list from an empty one.
const WRITTEN: Flags = Flags::PROPERTIES_WRITTEN.with(Flags::REQUIRED_WRITTEN);

impl<'a> Schema<'a> {
    /// Returns `true` if both schemas are equal apart from their locations.
    ///
    /// # Example
    /// ```
    /// use kubeshape_schema::Schema;
    /// let a = Schema { format: "int32", at: 1, ..Schema::default() };
    /// assert!(a.says_the_same(&Schema { at: 2, ..a }));
    /// assert!(!a.says_the_same(&Schema { format: "int64", ..a }));
    /// ```
    pub fn says_the_same(&self, other: &Schema<'a>) -> bool {
        std::ptr::eq(self, other)
            || self.subtree.without(WRITTEN) == other.subtree.without(WRITTEN)
                && self.flags.without(WRITTEN) == other.flags.without(WRITTEN)
                && self.ty == other.ty
                && self.description == other.description
                && self.format == other.format
                && self.reference == other.reference
                && self.required == other.required
                && self.enumeration == other.enumeration
                && self.default == other.default
                && properties(self.properties, other.properties)
                && items(self.items, other.items)
                && additional(self.additional, other.additional)
                && extra(self.extra(), other.extra())
    }
}

fn properties<'a>(a: &[Property<'a>], b: &[Property<'a>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.name == b.name && a.schema.says_the_same(&b.schema))
}

fn list<'a>(a: &[Schema<'a>], b: &[Schema<'a>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.says_the_same(b))
}

fn items(a: Option<Items<'_>>, b: Option<Items<'_>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(Items::One(a)), Some(Items::One(b))) => a.says_the_same(b),
        (Some(Items::Many(a)), Some(Items::Many(b))) => list(a, b),
        _ => false,
    }
}

fn additional(a: Option<Additional<'_>>, b: Option<Additional<'_>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(Additional::Allowed(a)), Some(Additional::Allowed(b))) => a == b,
        (Some(Additional::Schema(a)), Some(Additional::Schema(b))) => a.says_the_same(b),
        _ => false,
    }
}

fn extra(a: &Extra<'_>, b: &Extra<'_>) -> bool {
    std::ptr::eq(a, b)
        || list(a.all_of, b.all_of)
            && list(a.one_of, b.one_of)
            && list(a.any_of, b.any_of)
            && match (a.not, b.not) {
                (Some(a), Some(b)) => a.says_the_same(b),
                (a, b) => a.is_none() && b.is_none(),
            }
            && properties(a.pattern_properties, b.pattern_properties)
            && properties(a.definitions, b.definitions)
            && dependencies(a.dependencies, b.dependencies)
            && additional(a.additional_items, b.additional_items)
            && plain(a) == plain(b)
}

fn dependencies(a: &[(&str, Dependency<'_>)], b: &[(&str, Dependency<'_>)]) -> bool {
    let same = |a: &Dependency<'_>, b: &Dependency<'_>| match (a, b) {
        (Dependency::Names(a), Dependency::Names(b)) => a == b,
        (Dependency::Schema(a), Dependency::Schema(b)) => a.says_the_same(b),
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same(&a.1, &b.1))
}

/// Returns the members that have no schemas.
fn plain<'a>(extra: &Extra<'a>) -> Extra<'a> {
    Extra {
        all_of: &[],
        one_of: &[],
        any_of: &[],
        not: None,
        pattern_properties: &[],
        definitions: &[],
        dependencies: &[],
        additional_items: None,
        list_map_keys_written: false,
        validations_written: false,
        ..*extra
    }
}
