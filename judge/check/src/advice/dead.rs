//! Advice about keywords that never reject a value.

use super::{each_inner, place};
use kubeshape_schema::{Code, Extra, Flags, Json, Note, Schema, Type};
use kubeshape_yaml::{Document, Node};

/// The types of values that a keyword checks.
const NUMBERS: &[Type] = &[Type::Integer, Type::Number];
const STRINGS: &[Type] = &[Type::String];
const LISTS: &[Type] = &[Type::Array];
const OBJECTS: &[Type] = &[Type::Object];

/// Reports dead keywords of a schema and its subschemas. The reader bounds the nesting.
pub(super) fn about(schema: &Schema<'_>, document: Document<'_>, notes: &mut Vec<Note<'static>>) {
    of_value(schema, document, notes);
    each_inner(schema, &mut |inner| about(inner, document, notes));
}

/// Reports keywords of one schema that are dead because of its type or another keyword.
fn of_value(schema: &Schema<'_>, document: Document<'_>, notes: &mut Vec<Note<'static>>) {
    let types: &[Type] = match schema.ty {
        _ if schema.flags.any(Flags::INT_OR_STRING) => &[Type::Integer, Type::String],
        Type::Array => LISTS,
        Type::Boolean => &[Type::Boolean],
        Type::Integer => &[Type::Integer],
        Type::Number => &[Type::Number],
        Type::Object => OBJECTS,
        Type::String => STRINGS,
        Type::Absent | Type::Other | Type::Several => &[],
    };
    if !types.is_empty() {
        of_type(schema, schema, types, document, notes);
    }
    if schema.flags.any(Flags::NULLABLE) && has_enum(schema) {
        let at = place(document.node(schema.at), "nullable");
        notes.push(Note::new(Code::AdviceNullableEnum, at, "the enum refuses null, also where it lists null"));
    }
}

/// Reports keywords of a schema that its type makes dead, also in its junctors, which describe the same value.
fn of_type(
    schema: &Schema<'_>,
    typed: &Schema<'_>,
    types: &[Type],
    document: Document<'_>,
    notes: &mut Vec<Note<'static>>,
) {
    let extra = schema.extra();
    let node = document.node(schema.at);
    let name = if typed.flags.any(Flags::INT_OR_STRING) { "integer or string" } else { typed.type_name() };
    for (keyword, looks_at) in keywords(schema) {
        if !looks_at.iter().any(|ty| types.contains(ty)) {
            let detail = format!("`{keyword}` means nothing for a value of type {name}");
            notes.push(Note::new(Code::AdviceDeadKeyword, place(node, keyword), detail));
        }
    }
    for (keyword, bound, is_there) in [
        ("exclusiveMinimum", "minimum", schema.flags.any(Flags::EXCLUSIVE_MINIMUM) && extra.minimum.is_none()),
        ("exclusiveMaximum", "maximum", schema.flags.any(Flags::EXCLUSIVE_MAXIMUM) && extra.maximum.is_none()),
    ] {
        if is_there {
            let detail = format!("`{keyword}` means nothing without `{bound}` beside it");
            notes.push(Note::new(Code::AdviceDeadKeyword, place(node, keyword), detail));
        }
    }
    let written: Vec<Node<'_>> = node.get("enum").into_iter().flat_map(Node::items).collect();
    for (at, value) in schema.enumeration.iter().enumerate() {
        if !types.iter().any(|ty| is_of(value, *ty)) {
            let detail = format!("no value of type {name} is equal to {}", text(value));
            let at = written.get(at).map_or(schema.at, |node| node.index());
            notes.push(Note::new(Code::AdviceDeadKeyword, at, detail));
        }
    }
    let junctors = extra.all_of.iter().chain(extra.any_of).chain(extra.one_of).chain(extra.not);
    for inner in junctors {
        of_type(inner, typed, types, document, notes);
    }
}

/// Returns the keywords of a schema that check values of only some types.
fn keywords(schema: &Schema<'_>) -> Vec<(&'static str, &'static [Type])> {
    let Extra { minimum, maximum, multiple_of, min_length, max_length, pattern, .. } = *schema.extra();
    let Extra { min_items, max_items, min_properties, max_properties, .. } = *schema.extra();
    let all = [
        ("minimum", NUMBERS, minimum.is_some()),
        ("maximum", NUMBERS, maximum.is_some()),
        ("multipleOf", NUMBERS, multiple_of.is_some()),
        ("minLength", STRINGS, min_length.is_some()),
        ("maxLength", STRINGS, max_length.is_some()),
        ("pattern", STRINGS, !pattern.is_empty()),
        ("minItems", LISTS, min_items.is_some()),
        ("maxItems", LISTS, max_items.is_some()),
        ("uniqueItems", LISTS, schema.flags.any(Flags::UNIQUE_ITEMS)),
        ("minProperties", OBJECTS, min_properties.is_some()),
        ("maxProperties", OBJECTS, max_properties.is_some()),
        ("required", OBJECTS, !schema.required.is_empty()),
    ];
    all.into_iter().filter(|(.., is_there)| *is_there).map(|(keyword, types, _)| (keyword, types)).collect()
}

/// Returns whether an enum value has a type. Null has none: no value equals it.
fn is_of(value: &Json<'_>, ty: Type) -> bool {
    match (value, ty) {
        (Json::Bool(_), ty) => ty == Type::Boolean,
        (Json::Str(_), ty) => ty == Type::String,
        (Json::Array(_), ty) => ty == Type::Array,
        (Json::Object(_), ty) => ty == Type::Object,
        (Json::Null, _) => false,
        (Json::Float(n), Type::Integer) => n.fract() == 0.0,
        (_, ty) => NUMBERS.contains(&ty),
    }
}

/// Formats the value for a message; lists and objects only by their kind.
fn text(value: &Json<'_>) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(yes) => yes.to_string(),
        Json::Str(text) => format!("{text:?}"),
        Json::Array(_) => "a list".to_owned(),
        Json::Object(_) => "an object".to_owned(),
        Json::Int(n) => n.to_string(),
        Json::Float(n) => n.to_string(),
    }
}

/// Returns whether an enum restricts the value.
fn has_enum(schema: &Schema<'_>) -> bool {
    !schema.enumeration.is_empty() || schema.extra().all_of.iter().any(has_enum)
}
