//! The two types that every conversion adds, for values without a schema.

use super::build::{Builder, MapDef, Ref};
use super::model::{AtomId, Relationship, Scalar, Schema};

/// The type of values that are always replaced as a whole.
pub const UNTYPED_ATOMIC: &str = "__untyped_atomic_";

/// The type of values whose shape is deduced: maps are merged, lists are replaced.
pub const UNTYPED_DEDUCED: &str = "__untyped_deduced_";

/// Adds the atom of [`UNTYPED_ATOMIC`]: any scalar, an atomic list, an atomic map.
pub fn untyped_atomic_atom(builder: &mut Builder) -> AtomId {
    untyped(builder, UNTYPED_ATOMIC, Relationship::Atomic)
}

/// Adds the atom of [`UNTYPED_DEDUCED`]: any scalar, an atomic list, a separable map.
pub fn untyped_deduced_atom(builder: &mut Builder) -> AtomId {
    untyped(builder, UNTYPED_DEDUCED, Relationship::Separable)
}

/// Adds the types [`UNTYPED_ATOMIC`] and [`UNTYPED_DEDUCED`], which kube-openapi appends to every schema
/// (`schemaconv`).
pub fn add_untyped_types(builder: &mut Builder) {
    let atomic = untyped_atomic_atom(builder);
    builder.type_def(UNTYPED_ATOMIC, atomic);
    let deduced = untyped_deduced_atom(builder);
    builder.type_def(UNTYPED_DEDUCED, deduced);
}

/// The items of a list are atomic in both types.
fn untyped(builder: &mut Builder, members: &str, relationship: Relationship<'_>) -> AtomId {
    let list = builder.list(Ref::named(UNTYPED_ATOMIC), Some(Relationship::Atomic), []);
    let fields = builder.open();
    let def = MapDef { element: Ref::named(members), relationship: Some(relationship), unions: &[] };
    let map = builder.map(fields, def);
    builder.atom(Some(Scalar::Untyped), Some(list), Some(map))
}

/// Returns the schema for objects without a schema: [`UNTYPED_ATOMIC`] and [`UNTYPED_DEDUCED`].
///
/// # Example: maps are merged, lists are not
/// ```
/// use kubeshape_smd::schema::{Relationship, UNTYPED_DEDUCED, deduced};
/// let schema = deduced();
/// let any = schema.find_type(UNTYPED_DEDUCED).unwrap().atom();
/// assert_eq!(any.map().unwrap().relationship(), Some(Relationship::Separable));
/// assert_eq!(any.list().unwrap().relationship(), Some(Relationship::Atomic));
/// ```
pub fn deduced() -> Schema {
    let mut builder = Builder::new();
    add_untyped_types(&mut builder);
    // Two small atoms are neither too deep nor too large.
    builder.finish().unwrap_or_default()
}
