//! Merges a referenced schema with the siblings of the reference.

use kubeshape_schema::{Additional, Bump, Extra, Flags, Items, Json, Property, Schema, Type, order};

/// Merges two schemas into one. The siblings of the reference override members that only describe; values must satisfy
/// both schemas. If one schema cannot express that, the referenced one becomes a branch of `allOf`, and the flag is
/// set.
pub(super) fn merged<'a>(base: &Schema<'a>, own: &Schema<'a>, arena: &'a Bump) -> (Schema<'a>, bool) {
    if let Some(merged) = in_one(base, own, arena) {
        return (settled(merged), true);
    }
    let extra = own.extra();
    let mut branches = extra.all_of.to_vec();
    branches.push(*base);
    let extra = Extra { all_of: arena.alloc_slice_copy(&branches), ..*extra };
    (settled(Schema { extra: Some(arena.alloc(extra)), ..*own }), false)
}

fn in_one<'a>(base: &Schema<'a>, own: &Schema<'a>, arena: &'a Bump) -> Option<Schema<'a>> {
    if own.ty == Type::Absent && own.flags.any(Flags::NULLABLE) {
        // Without a type, `nullable` has no meaning; with one it would have.
        return None;
    }
    let mut out = *base;
    out.at = own.at;
    out.flags = base.flags.with(own.flags);
    override_text(&mut out.description, own.description);
    out.default = own.default.or(base.default);
    out.required = united(base.required, own.required, arena);
    one_of_two(&mut out.format, own.format, |text: &str| text.is_empty())?;
    one_of_two(&mut out.enumeration, own.enumeration, <[_]>::is_empty)?;
    if own.ty != Type::Absent {
        let same = own.ty == base.ty && own.extra().types == base.extra().types;
        if base.ty != Type::Absent && !(same && own.type_name() == base.type_name()) {
            return None;
        }
        if base.ty == Type::Absent && base.flags.any(Flags::NULLABLE) {
            return None;
        }
        // Null must be allowed by both.
        if base.ty != Type::Absent && own.flags.any(Flags::NULLABLE) != base.flags.any(Flags::NULLABLE) {
            return None;
        }
        out.ty = own.ty;
    }
    out.items = match (base.items, own.items) {
        (items, None) | (None, items) => items,
        _ => return None,
    };
    (out.properties, out.additional) = members(base, own, arena)?;
    // The base may have a reference that stays.
    out.reference = base.reference;
    out.extra = match (base.extra, own.extra) {
        (extra, None) | (None, extra) => extra,
        (Some(base), Some(own)) => Some(arena.alloc(extras(base, own, arena)?)),
    };
    // Bounds are merged with their exclusive flags.
    let (b, o) = (base.extra(), own.extra());
    let bounds = Flags::EXCLUSIVE_MAXIMUM.with(Flags::EXCLUSIVE_MINIMUM);
    let bounded =
        |flags: Flags, extra: &Extra<'_>| flags.any(bounds) || extra.maximum.is_some() || extra.minimum.is_some();
    if bounded(base.flags, b) && bounded(own.flags, o) {
        return None;
    }
    // `additionalItems` restricts items beyond a list of schemas.
    let positional =
        |schema: &Schema<'_>| matches!(schema.items, Some(Items::Many(_))) || schema.extra().additional_items.is_some();
    if (positional(base) && own.items.is_some()) || (positional(own) && base.items.is_some()) {
        return None;
    }
    Some(out)
}

/// Merges properties and additional properties: those of one schema, or those of both if neither restricts the other's.
fn members<'a>(
    base: &Schema<'a>,
    own: &Schema<'a>,
    arena: &'a Bump,
) -> Option<(&'a [Property<'a>], Option<Additional<'a>>)> {
    let closed = |schema: &Schema<'_>| schema.additional.is_some() || !schema.extra().pattern_properties.is_empty();
    let any = |schema: &Schema<'_>| closed(schema) || !schema.properties.is_empty();
    match (any(base), any(own)) {
        (_, false) => Some((base.properties, base.additional)),
        (false, true) => Some((own.properties, own.additional)),
        (true, true) if closed(base) || closed(own) => None,
        (true, true) => {
            let mut all = [base.properties, own.properties].concat();
            all.sort_by(|a, b| order::utf16(a.name, b.name));
            let apart = all.windows(2).all(|pair| pair[0].name != pair[1].name);
            apart.then(|| (&*arena.alloc_slice_copy(&all), None))
        }
    }
}

fn extras<'a>(base: &'a Extra<'a>, own: &'a Extra<'a>, arena: &'a Bump) -> Option<Extra<'a>> {
    let mut out = *base;
    // Descriptions override.
    override_text(&mut out.title, own.title);
    override_text(&mut out.discriminator, own.discriminator);
    out.external_docs = own.external_docs.or(base.external_docs);
    out.example = own.example.or(base.example);
    out.list_type = own.list_type.or(base.list_type);
    out.map_type = own.map_type.or(base.map_type);
    if !own.list_map_keys.is_empty() {
        out.list_map_keys = own.list_map_keys;
    }
    out.list_map_keys_written |= own.list_map_keys_written;
    out.validations_written |= own.validations_written;
    // Restrictions that can be combined.
    out.validations = concatenated(base.validations, own.validations, arena);
    out.all_of = concatenated(base.all_of, own.all_of, arena);
    // Restrictions that can occur only once.
    option(&mut out.maximum, own.maximum)?;
    option(&mut out.minimum, own.minimum)?;
    option(&mut out.multiple_of, own.multiple_of)?;
    option(&mut out.max_length, own.max_length)?;
    option(&mut out.min_length, own.min_length)?;
    option(&mut out.max_items, own.max_items)?;
    option(&mut out.min_items, own.min_items)?;
    option(&mut out.max_properties, own.max_properties)?;
    option(&mut out.min_properties, own.min_properties)?;
    one_of_two(&mut out.pattern, own.pattern, |text: &str| text.is_empty())?;
    one_of_two(&mut out.other_type, own.other_type, |text: &str| text.is_empty())?;
    one_of_two(&mut out.id, own.id, |text: &str| text.is_empty())?;
    one_of_two(&mut out.schema_uri, own.schema_uri, |text: &str| text.is_empty())?;
    one_of_two(&mut out.types, own.types, <[_]>::is_empty)?;
    one_of_two(&mut out.one_of, own.one_of, <[_]>::is_empty)?;
    one_of_two(&mut out.any_of, own.any_of, <[_]>::is_empty)?;
    one_of_two(&mut out.pattern_properties, own.pattern_properties, <[_]>::is_empty)?;
    one_of_two(&mut out.definitions, own.definitions, <[_]>::is_empty)?;
    one_of_two(&mut out.dependencies, own.dependencies, <[_]>::is_empty)?;
    option(&mut out.not, own.not)?;
    option(&mut out.additional_items, own.additional_items)?;
    out.extensions = extensions(base.extensions, own.extensions, arena)?;
    Some(out)
}

/// Merges extensions. They only describe, but other members that the reader kept may restrict.
fn extensions<'a>(
    base: &'a [(&'a str, Json<'a>)],
    own: &'a [(&'a str, Json<'a>)],
    arena: &'a Bump,
) -> Option<&'a [(&'a str, Json<'a>)]> {
    match (base, own) {
        (all, []) | ([], all) => return Some(all),
        _ => {}
    }
    let describes = |name: &str| kubeshape_schema::read::is_extension(name) || name == "discriminator";
    let clash = |(name, value): &&(&str, Json<'_>)| {
        !describes(name) && base.iter().any(|(other, theirs)| other == name && theirs != value)
    };
    if own.iter().any(|extension| clash(&extension)) {
        return None;
    }
    let mut all = [base, own].concat();
    let kept = order::sort_last_wins(&mut all, |(name, _)| name);
    Some(arena.alloc_slice_copy(&all[..kept]))
}

fn override_text<'a>(base: &mut &'a str, own: &'a str) {
    if !own.is_empty() {
        *base = own;
    }
}

/// Uses the present one, or either if they are equal.
fn one_of_two<T: Copy + PartialEq>(base: &mut T, own: T, is_absent: impl Fn(T) -> bool) -> Option<()> {
    if is_absent(*base) {
        *base = own;
    } else if !is_absent(own) && *base != own {
        return None;
    }
    Some(())
}

fn option<T: Copy + PartialEq>(base: &mut Option<T>, own: Option<T>) -> Option<()> {
    match (*base, own) {
        (_, None) => {}
        (None, _) => *base = own,
        (one, other) if one == other => {}
        _ => return None,
    }
    Some(())
}

fn united<'a>(base: &'a [&'a str], own: &'a [&'a str], arena: &'a Bump) -> &'a [&'a str] {
    match (base, own) {
        (all, []) | ([], all) => all,
        _ => {
            let mut all = base.to_vec();
            all.extend(own.iter().filter(|name| !base.contains(name)));
            arena.alloc_slice_copy(&all)
        }
    }
}

fn concatenated<'a, T: Copy>(base: &'a [T], own: &'a [T], arena: &'a Bump) -> &'a [T] {
    match (base, own) {
        (all, []) | ([], all) => all,
        _ => arena.alloc_slice_copy(&[base, own].concat()),
    }
}

/// Returns the schema with the flags that follow from its members.
pub(super) fn settled(mut schema: Schema<'_>) -> Schema<'_> {
    let extra = schema.extra();
    let flags = &mut schema.flags;
    flags.set(Flags::REF, !schema.reference.is_empty());
    flags.set(Flags::OTHER_TYPE, schema.ty == Type::Other);
    flags.set(Flags::DEFAULT, schema.default.is_some());
    flags.set(Flags::FORMAT, !schema.format.is_empty());
    flags.set(Flags::ARRAY_WITHOUT_ITEMS, schema.ty == Type::Array && schema.items.is_none());
    flags.set(Flags::PATTERN, !extra.pattern.is_empty());
    flags.set(Flags::VALIDATIONS, !extra.validations.is_empty());
    flags.set(Flags::LIST_TYPE, extra.list_type.is_some());
    let junctor = !(extra.all_of.is_empty() && extra.any_of.is_empty() && extra.one_of.is_empty());
    flags.set(Flags::JUNCTOR, junctor || extra.not.is_some());
    let structural = extra.pattern_properties.is_empty()
        && extra.definitions.is_empty()
        && extra.dependencies.is_empty()
        && extra.additional_items.is_none()
        && extra.id.is_empty()
        && extra.schema_uri.is_empty()
        && schema.reference.is_empty()
        && !matches!(schema.items, Some(Items::Many(_)));
    flags.set(Flags::NOT_STRUCTURAL, !structural);
    let mut subtree = schema.flags;
    crate::model::visit_schema(&schema, &mut |_, inner| subtree = subtree.with(inner.subtree));
    schema.subtree = subtree;
    schema
}
