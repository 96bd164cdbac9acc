//! The normal form of structural schemas, in which int-or-string is two alternatives.

use crate::Structural;
use crate::check::is_int_or_string;
use kubeshape_schema::{Additional, Bump, Extra, Flags, Items, Property, Schema, Type};

/// Returns the normal form of a structural schema, as upstream's `NewStructural` and `Structural.Unfold` create it. The
/// server publishes this form, and every printer and conversion starts from it.
///
/// - A node of the spine with `x-kubernetes-int-or-string` gets the two alternatives of plain OpenAPI. If it has no
///   `anyOf`, it gets `anyOf: [{type: integer}, {type: string}]`. If it has another `anyOf`, a new first member of
///   `allOf` has the alternatives. A node that has them in one of these places does not change.
/// - A branch of a junctor loses `additionalProperties: false`, which has no structural form.
///
/// Unchanged subtrees are shared with the argument. A schema with neither int-or-string nor junctors is returned as it
/// is.
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

/// Returns the changed node, or `None` if nothing changes.
fn node<'a>(schema: &'a Schema<'a>, arena: &'a Bump) -> Option<Schema<'a>> {
    if !schema.subtree.any(Flags::INT_OR_STRING.with(Flags::JUNCTOR)) {
        return None;
    }
    let cleaned = branches(schema, arena);
    let own = own(schema, cleaned.unwrap_or(schema.extra()), arena);
    let mut changed = children(schema, arena, node);
    if let Some(extra) = own.or(cleaned) {
        let changed = changed.get_or_insert(*schema);
        changed.extra = Some(extra);
        changed.flags = changed.flags.with(Flags::JUNCTOR);
    }
    if let Some(changed) = &mut changed {
        // A changed node now has a junctor, in itself or below.
        changed.subtree = changed.subtree.with(Flags::JUNCTOR);
    }
    changed
}

/// Changes a branch of a junctor and everything below it.
fn branch<'a>(schema: &'a Schema<'a>, arena: &'a Bump) -> Option<Schema<'a>> {
    let mut changed = children(schema, arena, branch);
    if let Some(extra) = branches(schema, arena) {
        changed.get_or_insert(*schema).extra = Some(extra);
    }
    if matches!(schema.additional, Some(Additional::Allowed(false))) {
        changed.get_or_insert(*schema).additional = None;
    }
    changed
}

type Change<'a> = fn(&'a Schema<'a>, &'a Bump) -> Option<Schema<'a>>;

/// Returns the node with changed properties, items and additional properties.
fn children<'a>(schema: &'a Schema<'a>, arena: &'a Bump, change: Change<'a>) -> Option<Schema<'a>> {
    let mut changed = None;
    let mut properties: Option<&'a mut [Property<'a>]> = None;
    for (i, property) in schema.properties.iter().enumerate() {
        if let Some(schema_there) = change(&property.schema, arena) {
            properties.get_or_insert_with(|| arena.alloc_slice_copy(schema.properties))[i].schema = schema_there;
        }
    }
    if let Some(properties) = properties {
        changed.get_or_insert(*schema).properties = properties;
    }
    if let Some(item) = schema.item().and_then(|item| change(item, arena)) {
        changed.get_or_insert(*schema).items = Some(Items::One(arena.alloc(item)));
    }
    if let Some(inner) = schema.additional_schema().and_then(|inner| change(inner, arena)) {
        changed.get_or_insert(*schema).additional = Some(Additional::Schema(arena.alloc(inner)));
    }
    changed
}

/// Returns the node's junctors with changed branches.
fn branches<'a>(schema: &'a Schema<'a>, arena: &'a Bump) -> Option<&'a Extra<'a>> {
    if !schema.flags.any(Flags::JUNCTOR) {
        return None;
    }
    let extra = schema.extra();
    let lists = [extra.all_of, extra.any_of, extra.one_of].map(|list| branch_list(list, arena));
    let not = extra.not.and_then(|not| branch(not, arena));
    if lists.iter().all(Option::is_none) && not.is_none() {
        return None;
    }
    let [all_of, any_of, one_of] = lists;
    Some(arena.alloc(Extra {
        all_of: all_of.unwrap_or(extra.all_of),
        any_of: any_of.unwrap_or(extra.any_of),
        one_of: one_of.unwrap_or(extra.one_of),
        not: not.map(|not| &*arena.alloc(not)).or(extra.not),
        ..*extra
    }))
}

fn branch_list<'a>(list: &'a [Schema<'a>], arena: &'a Bump) -> Option<&'a [Schema<'a>]> {
    let mut copy: Option<&'a mut [Schema<'a>]> = None;
    for (i, schema) in list.iter().enumerate() {
        if let Some(changed) = branch(schema, arena) {
            copy.get_or_insert_with(|| arena.alloc_slice_copy(list))[i] = changed;
        }
    }
    copy.map(|copy| &*copy)
}

/// Returns the node with the two alternatives, if it needs them.
fn own<'a>(schema: &Schema<'a>, extra: &'a Extra<'a>, arena: &'a Bump) -> Option<&'a Extra<'a>> {
    if !schema.flags.any(Flags::INT_OR_STRING) {
        return None;
    }
    let first = extra.all_of.first().map(|first| first.extra().any_of);
    let is_either = |any_of| is_int_or_string(any_of, true);
    if is_either(extra.any_of) || first.is_some_and(is_either) {
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
