//! Reduces a structural schema to what clients of OpenAPI v2 understand, as `ToStructuralOpenAPIV2` of
//! `k8s.io/apiextensions-apiserver` does.
//!
//! Old clients reject documents with keywords of v3, and objects with undeclared fields. So if v2 cannot express that
//! null or an unknown field is allowed, the result has no restriction. It accepts every value that the original
//! accepts.

use kubeshape_schema::{Additional, Bump, Code, Extra, Flags, Items, Note, Property, Schema, Type};

/// A subtree without any of these flags does not change.
const TOUCHED: Flags =
    Flags::NULLABLE.with(Flags::PRESERVE_UNKNOWN).with(Flags::JUNCTOR).with(Flags::ARRAY_WITHOUT_ITEMS);

/// Returns the OpenAPI v2 form of a structural schema in normal form. Subtrees that do not change are shared with the
/// source. Losses are added to `notes`.
pub fn openapi_v2<'a>(
    schema: &'a Schema<'a>,
    arena: &'a Bump,
    mut notes: Option<&mut Vec<Note<'a>>>,
) -> &'a Schema<'a> {
    match reduce(schema, arena, &mut notes) {
        Some(changed) => arena.alloc(changed),
        None => schema,
    }
}

fn reduce<'a>(s: &Schema<'a>, arena: &'a Bump, notes: &mut Option<&mut Vec<Note<'a>>>) -> Option<Schema<'a>> {
    if !s.subtree.any(TOUCHED) {
        return None;
    }
    let mut t = *s;
    let changed = reduce_own(s, &mut t, arena, notes);
    (reduce_children(&mut t, arena, notes) || changed).then_some(t)
}

/// Reduces `t`, a copy of `s`, without its children. Returns whether it changed.
fn reduce_own<'a>(s: &Schema<'a>, t: &mut Schema<'a>, arena: &'a Bump, notes: &mut Option<&mut Vec<Note<'a>>>) -> bool {
    let mut changed = false;
    let mut lose = |code: Code, detail: String| {
        if let Some(notes) = notes.as_deref_mut() {
            notes.push(Note::new(code, s.at, detail));
        }
    };
    if s.flags.any(Flags::JUNCTOR) {
        let e = s.extra();
        let code = if is_int_or_string(s) { Code::V2IntOrString } else { Code::V2Junctor };
        lose(
            code,
            named(&[
                ("allOf", !e.all_of.is_empty()),
                ("oneOf", !e.one_of.is_empty()),
                ("anyOf", !e.any_of.is_empty()),
                ("not", e.not.is_some()),
            ]),
        );
        t.extra = Some(arena.alloc(Extra { all_of: &[], one_of: &[], any_of: &[], not: None, ..*e }));
        t.flags = t.flags.without(Flags::JUNCTOR);
        changed = true;
    }
    if s.flags.any(Flags::NULLABLE) {
        lose(
            Code::V2Nullable,
            named(&[
                ("nullable", true),
                ("type", s.ty != Type::Absent),
                ("items", s.items.is_some()),
                ("properties", !s.properties.is_empty()),
            ]),
        );
        t.ty = Type::Absent;
        t.flags = t.flags.without(Flags::NULLABLE);
        t.items = None;
        t.properties = &[];
        changed = true;
    }
    let preserves = s.flags.any(Flags::PRESERVE_UNKNOWN);
    if preserves && (t.items.is_some() || !t.properties.is_empty()) {
        lose(Code::V2PreserveUnknown, named(&[("items", t.items.is_some()), ("properties", !t.properties.is_empty())]));
        t.items = None;
        t.properties = &[];
        changed = true;
    }
    if t.items.is_none() && t.ty == Type::Array {
        lose(Code::V2ArrayWithoutItems, "type".to_owned());
        t.ty = Type::Absent;
        changed = true;
    }
    if preserves && t.ty == Type::Object {
        lose(Code::V2PreserveUnknownType, "type".to_owned());
        t.ty = Type::Absent;
        changed = true;
    }
    if !t.required.is_empty() && t.properties.iter().any(|p| p.schema.flags.any(Flags::NULLABLE)) {
        let nullable = |name: &str| t.properties.iter().any(|p| p.name == name && p.schema.flags.any(Flags::NULLABLE));
        let kept: Vec<&'a str> = t.required.iter().copied().filter(|name| !nullable(name)).collect();
        if kept.len() < t.required.len() {
            let lost: Vec<&str> = t.required.iter().copied().filter(|name| nullable(name)).collect();
            lose(Code::V2RequiredNullable, lost.join(", "));
            t.required = arena.alloc_slice_copy(&kept);
            changed = true;
        }
    }
    if let Some(Additional::Schema(inner)) = t.additional
        && inner.flags.any(Flags::NULLABLE)
        && !t.required.is_empty()
    {
        lose(Code::V2RequiredMap, t.required.join(", "));
        t.required = &[];
        changed = true;
    }
    changed
}

fn reduce_children<'a>(t: &mut Schema<'a>, arena: &'a Bump, notes: &mut Option<&mut Vec<Note<'a>>>) -> bool {
    let mut changed = reduce_properties(t, arena, notes);
    if let Some(Items::One(item)) = t.items
        && let Some(item) = reduce_one(item, arena, notes)
    {
        t.items = Some(Items::One(item));
        changed = true;
    }
    if let Some(Additional::Schema(inner)) = t.additional
        && let Some(inner) = reduce_one(inner, arena, notes)
    {
        t.additional = Some(Additional::Schema(inner));
        changed = true;
    }
    changed
}

fn reduce_properties<'a>(t: &mut Schema<'a>, arena: &'a Bump, notes: &mut Option<&mut Vec<Note<'a>>>) -> bool {
    let mut properties: Option<&'a mut [Property<'a>]> = None;
    for (i, property) in t.properties.iter().enumerate() {
        if let Some(schema) = reduce(&property.schema, arena, notes) {
            properties.get_or_insert_with(|| arena.alloc_slice_copy(t.properties))[i].schema = schema;
        }
    }
    let changed = properties.is_some();
    if let Some(properties) = properties {
        t.properties = properties;
    }
    changed
}

fn reduce_one<'a>(s: &Schema<'a>, arena: &'a Bump, notes: &mut Option<&mut Vec<Note<'a>>>) -> Option<&'a Schema<'a>> {
    reduce(s, arena, notes).map(|schema| &*arena.alloc(schema))
}

/// Returns whether the junctors only express that the value is an integer or a string.
fn is_int_or_string(s: &Schema<'_>) -> bool {
    let e = s.extra();
    s.flags.any(Flags::INT_OR_STRING)
        && e.all_of.is_empty()
        && e.one_of.is_empty()
        && e.not.is_none()
        && matches!(e.any_of, [a, b] if a.ty == Type::Integer && b.ty == Type::String)
}

/// Returns the names of the members that are present.
fn named(members: &[(&str, bool)]) -> String {
    let names: Vec<&str> = members.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
    names.join(", ")
}
