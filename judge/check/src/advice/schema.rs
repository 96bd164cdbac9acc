//! Advice about schemas.

use kubeshape_schema::{Additional, Code, Flags, Items, Json, Note, Schema, Type};

/// Fields that usually identify the items of a list, the clearest first.
const NAMES: [&str; 3] = ["name", "key", "id"];
/// Words that YAML 1.1 reads as booleans if they are not quoted.
const BOOLEANS: [&str; 22] = [
    "y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "true", "True", "TRUE", "false", "False", "FALSE", "on",
    "On", "ON", "off", "Off", "OFF",
];
/// The fields of `metav1.Condition` that clients read.
const CONDITION: [&str; 5] = ["lastTransitionTime", "message", "reason", "status", "type"];

/// Reports advice about a schema and its subschemas. The reader bounds the nesting.
pub(super) fn about(root: &Schema<'_>, notes: &mut Vec<Note<'static>>) {
    let conditions = root.property("status").and_then(|status| status.property("conditions"));
    if let Some(list) = conditions {
        self::conditions(list, notes);
    }
    walk(root, conditions.map(|list| list.at), notes);
}

fn walk(schema: &Schema<'_>, conditions: Option<u32>, notes: &mut Vec<Note<'static>>) {
    if schema.ty == Type::Array && conditions != Some(schema.at) {
        list(schema, notes);
    }
    bounds(schema, notes);
    enumeration(schema, notes);
    for property in schema.properties {
        if BOOLEANS.contains(&property.name) {
            let detail = format!("`{}` without quotes is {}", property.name, truth(property.name));
            notes.push(Note::new(Code::AdviceYamlName, property.at, detail));
        }
        walk(&property.schema, conditions, notes);
    }
    match schema.items {
        Some(Items::One(item)) => walk(item, conditions, notes),
        Some(Items::Many(items)) => items.iter().for_each(|item| walk(item, conditions, notes)),
        None => {}
    }
    if let Some(Additional::Schema(inner)) = schema.additional {
        walk(inner, conditions, notes);
    }
}

/// Reports a list of objects without a list type.
fn list(schema: &Schema<'_>, notes: &mut Vec<Note<'static>>) {
    let Some(item) = schema.item().filter(|item| item.ty == Type::Object) else { return };
    if schema.extra().list_type.is_some() {
        return;
    }
    let is_name = |name: &&&str| {
        let is_text = item.property(name).is_some_and(|property| property.ty == Type::String);
        is_text && item.required.contains(*name)
    };
    match NAMES.iter().find(is_name) {
        Some(name) => {
            let detail = format!("the items have the required field `{name}`");
            notes.push(Note::new(Code::AdviceListMap, schema.at, detail));
        }
        None => notes.push(Note::new(Code::AdviceListType, schema.at, "")),
    }
}

/// Reports an unbounded list or map around rules.
fn bounds(schema: &Schema<'_>, notes: &mut Vec<Note<'static>>) {
    let extra = schema.extra();
    let (inner, what) = match schema.ty {
        Type::Array if extra.max_items.is_none() => (schema.item(), "maxItems"),
        Type::Object if extra.max_properties.is_none() => (schema.additional_schema(), "maxProperties"),
        _ => return,
    };
    if inner.is_some_and(|inner| inner.subtree.any(Flags::VALIDATIONS)) {
        notes.push(Note::new(Code::AdviceBounds, schema.at, format!("`{what}` is absent")));
    }
}

/// Reports an enum of words that are all booleans in YAML 1.1.
fn enumeration(schema: &Schema<'_>, notes: &mut Vec<Note<'static>>) {
    let is_word = |text: &str| BOOLEANS.iter().any(|word| word.eq_ignore_ascii_case(text));
    let values = schema.enumeration;
    if values.len() > 1 && values.iter().all(|value| value.as_str().is_some_and(is_word)) {
        let words: Vec<&str> = values.iter().filter_map(Json::as_str).collect();
        notes.push(Note::new(Code::AdviceBooleanEnum, schema.at, format!("its values are {}", words.join(", "))));
    }
}

/// Reports `status.conditions` without the fields that clients read.
fn conditions(list: &Schema<'_>, notes: &mut Vec<Note<'static>>) {
    let Some(item) = list.item().filter(|item| !item.flags.any(Flags::PRESERVE_UNKNOWN)) else { return };
    let missing: Vec<&str> = CONDITION.into_iter().filter(|name| item.property(name).is_none()).collect();
    if item.ty == Type::Object && !missing.is_empty() {
        notes.push(Note::new(Code::AdviceConditions, list.at, format!("without {}", missing.join(", "))));
    }
}

fn truth(word: &str) -> &'static str {
    let is_true = word.eq_ignore_ascii_case("on") || word.starts_with(['y', 'Y', 't', 'T']);
    if is_true { "true" } else { "false" }
}
