//! Int-or-string written out as two alternatives.

use crate::Structural;
use crate::check::is_int_or_string;
use kubeshape_schema::{Additional, Bump, Extra, Flags, Items, Property, Schema, Type};

/// Gives every node of the spine with `x-kubernetes-int-or-string` the two alternatives that say so in
/// plain OpenAPI (spec: structural, "Unfold", publishing, "Structural schema → OpenAPI schema"; upstream
/// `Structural.Unfold`).
///
/// A node without `anyOf` gets `anyOf: [{type: integer}, {type: string}]`. A node with another `anyOf`
/// gets a first member of `allOf` that holds it. A node that has the alternatives in one of these places
/// stays as it is. Branches of junctors are not visited. This is the normal form of a structural schema.
///
/// Unchanged subtrees are shared with the argument; a schema without int-or-string is returned at once.
///
/// # Example
/// ```
/// use kubeshape_schema::{Bump, Flags, Schema, Type};
/// use kubeshape_structural::{Structural, unfold};
/// let flags = Flags::INT_OR_STRING;
/// let property = Schema { flags, subtree: flags, ..Schema::default() };
/// let properties = [kubeshape_schema::Property { name: "port", at: 0, schema: property }];
/// let root = Schema { ty: Type::Object, properties: &properties, subtree: flags, ..Schema::default() };
/// let arena = Bump::new();
/// let unfolded = unfold(Structural::new(&root).unwrap(), &arena);
/// let types: Vec<_> = unfolded.properties[0].schema.extra().any_of.iter().map(|s| s.ty).collect();
/// assert_eq!(types, [Type::Integer, Type::String]);
/// ```
pub fn unfold<'a>(schema: Structural<'a>, arena: &'a Bump) -> &'a Schema<'a> {
    let schema = schema.schema();
    match node(schema, arena) {
        Some(changed) => arena.alloc(changed),
        None => schema,
    }
}

/// The changed node, or `None` where nothing changes.
fn node<'a>(schema: &'a Schema<'a>, arena: &'a Bump) -> Option<Schema<'a>> {
    if !schema.subtree.any(Flags::INT_OR_STRING) {
        return None;
    }
    let own = own(schema, arena);
    let properties = properties(schema.properties, arena);
    let items = schema.item().and_then(|item| node(item, arena));
    let additional = schema.additional_schema().and_then(|inner| node(inner, arena));
    if own.is_none() && properties.is_none() && items.is_none() && additional.is_none() {
        return None;
    }
    let mut changed = *schema;
    // Whatever changed got alternatives, itself or below.
    changed.subtree = changed.subtree.with(Flags::JUNCTOR);
    if let Some(extra) = own {
        changed.extra = Some(extra);
        changed.flags = changed.flags.with(Flags::JUNCTOR);
    }
    if let Some(properties) = properties {
        changed.properties = properties;
    }
    if let Some(item) = items {
        changed.items = Some(Items::One(arena.alloc(item)));
    }
    if let Some(inner) = additional {
        changed.additional = Some(Additional::Schema(arena.alloc(inner)));
    }
    Some(changed)
}

fn properties<'a>(list: &'a [Property<'a>], arena: &'a Bump) -> Option<&'a [Property<'a>]> {
    let mut copy: Option<&'a mut [Property<'a>]> = None;
    for (i, property) in list.iter().enumerate() {
        if let Some(schema) = node(&property.schema, arena) {
            copy.get_or_insert_with(|| arena.alloc_slice_copy(list))[i].schema = schema;
        }
    }
    copy.map(|copy| &*copy)
}

/// The node's own alternatives, where it needs them.
fn own<'a>(schema: &Schema<'a>, arena: &'a Bump) -> Option<&'a Extra<'a>> {
    if !schema.flags.any(Flags::INT_OR_STRING) {
        return None;
    }
    let extra = schema.extra();
    let first = extra.all_of.first().map(|first| first.extra().any_of);
    if is_int_or_string(extra.any_of) || first.is_some_and(is_int_or_string) {
        return None;
    }
    let alternative = |ty| Schema { ty, at: schema.at, ..Schema::default() };
    let any_of: &'a [Schema<'a>] = arena.alloc([alternative(Type::Integer), alternative(Type::String)]);
    if extra.any_of.is_empty() {
        return Some(arena.alloc(Extra { any_of, ..*extra }));
    }
    let either = Schema {
        at: schema.at,
        flags: Flags::JUNCTOR,
        subtree: Flags::JUNCTOR,
        extra: Some(arena.alloc(Extra { any_of, ..Extra::default() })),
        ..Schema::default()
    };
    let mut all_of = bumpalo::collections::Vec::with_capacity_in(extra.all_of.len() + 1, arena);
    all_of.push(either);
    all_of.extend_from_slice(extra.all_of);
    Some(arena.alloc(Extra { all_of: all_of.into_bump_slice(), ..*extra }))
}
