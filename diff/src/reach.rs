//! Whether a value that the old schema takes can be refused by a keyword of the new one.

use kubeshape_schema::{Bump, Extra, Flags, Schema, Type};
use kubeshape_smd::Value;
use kubeshape_validate::object::Validator;

/// A schema with one keyword of another one, without a type.
pub(crate) fn only<'a>(schema: &Schema<'a>, keyword: &str, arena: &'a Bump) -> Option<Schema<'a>> {
    let any = Schema::of_type(Type::Absent);
    let of = *schema.extra();
    let none = Extra::default();
    let with = |extra: Extra<'a>, flag: Flags| {
        let flags = if schema.flags.any(flag) { flag } else { Flags::NONE };
        Some(Schema { extra: Some(arena.alloc(extra)), flags, ..any })
    };
    match keyword {
        "minimum" => with(Extra { minimum: of.minimum, ..none }, Flags::EXCLUSIVE_MINIMUM),
        "maximum" => with(Extra { maximum: of.maximum, ..none }, Flags::EXCLUSIVE_MAXIMUM),
        "minLength" => with(Extra { min_length: of.min_length, ..none }, Flags::NONE),
        "maxLength" => with(Extra { max_length: of.max_length, ..none }, Flags::NONE),
        "minItems" => with(Extra { min_items: of.min_items, ..none }, Flags::NONE),
        "maxItems" => with(Extra { max_items: of.max_items, ..none }, Flags::NONE),
        "minProperties" => with(Extra { min_properties: of.min_properties, ..none }, Flags::NONE),
        "maxProperties" => with(Extra { max_properties: of.max_properties, ..none }, Flags::NONE),
        "multipleOf" => with(Extra { multiple_of: of.multiple_of, ..none }, Flags::NONE),
        "pattern" => with(Extra { pattern: of.pattern, ..none }, Flags::PATTERN),
        "format" => Some(Schema { format: schema.format, flags: Flags::FORMAT, ..any }),
        _ => None,
    }
}

/// Whether a keyword of the new schema may refuse what the old one takes. It is decided where the old schema names its values, and for
/// the empty text; otherwise the answer is yes.
pub(crate) fn reaches(old: &Schema<'_>, new: &Schema<'_>, keyword: &'static str) -> bool {
    let arena = Bump::new();
    let old: &Schema<'_> = arena.alloc(*old);
    if !old.enumeration.is_empty() {
        let Some(only) = only(new, keyword, &arena) else { return true };
        let only: &Schema<'_> = arena.alloc(only);
        let (accepts, refuses) = (Validator::new(old, &arena), Validator::new(only, &arena));
        let mut values = old.enumeration.iter().map(|value| Value::from_json(value, &arena));
        return values.any(|value| accepts.is_valid(value) && !refuses.is_valid(value));
    }
    if keyword == "minLength" && new.extra().min_length == Some(1) {
        return Validator::new(old, &arena).is_valid(Value::String(""));
    }
    true
}
