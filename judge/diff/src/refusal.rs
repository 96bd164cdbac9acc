//! Decides whether a part of the new schema can reject a value that the old schema accepts.

use crate::combined::{Language, bounds_of, checked_format, number};
use crate::implication::{Implication, Memo, implication};
use crate::server_fields::Role;
use kubeshape_sample::values;
use kubeshape_schema::{Bump, Extra, Flags, Schema, Type};
use kubeshape_structural::regex::Texts;
use kubeshape_validate::object::Validator;
use kubeshape_value::Value;

/// Values to try per schema.
const TRIED: usize = 8;
/// Schemas from which values are created.
const SHAPES: usize = 24;
/// Additional numbers and strings to try.
const PROBES: usize = 96;
/// The longest string to try, in characters.
const LONGEST: u64 = 1 << 16;

/// What a part of the new schema does to values that were accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It accepts all of them.
    Never,
    /// It rejects at least one.
    Certain,
    /// Unknown; the reason.
    Unknown(String),
}

/// Returns a schema with only one keyword of another schema.
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
        "allOf" => with(Extra { all_of: of.all_of, ..none }, Flags::NONE),
        "anyOf" => with(Extra { any_of: of.any_of, ..none }, Flags::NONE),
        "oneOf" => with(Extra { one_of: of.one_of, ..none }, Flags::NONE),
        "not" => with(Extra { not: of.not, ..none }, Flags::NONE),
        // The type decides which formats of numbers are checked, and a server checks bounds for them.
        "format" if matches!(schema.ty, Type::Integer | Type::Number) => {
            let bare: &Schema<'_> =
                arena.alloc(Schema { format: schema.format, flags: Flags::FORMAT, ty: schema.ty, ..any });
            let format = Validator::new(bare, arena);
            let unfit = |bound: Option<f64>| bound.filter(|bound| !format.is_valid(number(*bound)));
            let (minimum, maximum, multiple_of) = (unfit(of.minimum), unfit(of.maximum), unfit(of.multiple_of));
            Some(Schema { extra: Some(arena.alloc(Extra { minimum, maximum, multiple_of, ..none })), ..*bare })
        }
        "format" => Some(Schema { format: schema.format, flags: Flags::FORMAT, ..any }),
        _ => None,
    }
}

/// The values that a server accepts.
#[derive(Clone, Copy)]
pub(crate) struct Accepted<'a> {
    pub(crate) schema: Schema<'a>,
    /// Requirements in addition to the schema.
    pub(crate) also: Option<&'static Schema<'static>>,
    /// The role of the value for the server.
    pub(crate) own: Role,
}

/// Decides whether a keyword of the new schema can reject accepted values.
pub(crate) fn refusal(taken: &Accepted<'_>, new: &Schema<'_>, keyword: &'static str, memo: &mut Memo) -> Refusal {
    let arena = Bump::new();
    let Accepted { schema, also, own } = *taken;
    let (old, new): (&Schema<'_>, &Schema<'_>) = (arena.alloc(schema), arena.alloc(*new));
    let Some(demand) = only(new, keyword, &arena) else { return Refusal::Certain };
    let demand: &Schema<'_> = arena.alloc(demand);
    // A server sets defaults before it validates.
    let defaulted = new.properties.iter().filter(|property| property.schema.default.is_some());
    let given: Vec<&str> = defaulted.map(|property| property.name).chain(own.always().iter().copied()).collect();
    let given: &Schema<'_> =
        arena.alloc(Schema { required: arena.alloc_slice_copy(&given), ..Schema::of_type(Type::Absent) });
    let all: Vec<&Schema<'_>> = [old, given].into_iter().chain(also).collect();
    let why = match implication(&all, demand, &arena, memo) {
        Implication::Proven => return Refusal::Never,
        // The keywords are independent: whatever is not implied is rejected.
        Implication::Open(_) if also.is_none() && is_plain(old, keyword) => return Refusal::Certain,
        Implication::Open(why) | Implication::Limited(why) => why,
    };
    if refused(old, (also, own), demand, &arena, memo).is_some() { Refusal::Certain } else { Refusal::Unknown(why) }
}

/// Returns whether only this keyword decides which values reach it.
fn is_plain(old: &Schema<'_>, keyword: &str) -> bool {
    let extra = old.extra();
    let is_logic = !extra.all_of.is_empty()
        || !extra.any_of.is_empty()
        || !extra.one_of.is_empty()
        || extra.not.is_some()
        || matches!(keyword, "allOf" | "anyOf" | "oneOf" | "not");
    let is_text = matches!(keyword, "minLength" | "maxLength" | "pattern" | "format");
    let is_number = matches!(keyword, "minimum" | "maximum" | "multipleOf");
    !is_logic
        && old.enumeration.is_empty()
        && (!is_text || checked_format(old).is_empty())
        && (keyword != "format"
            || (extra.pattern.is_empty() && extra.max_length.is_none() && bounds_of(old).next().is_none()))
        && !(is_number && (extra.minimum.is_some() || extra.maximum.is_some() || extra.multiple_of.is_some()))
}

/// Searches for a value that a server accepts by one schema and another schema rejects.
pub(crate) fn refused<'a>(
    old: &'a Schema<'a>,
    (also, own): (Option<&'static Schema<'static>>, Role),
    demand: &'a Schema<'a>,
    arena: &'a Bump,
    memo: &mut Memo,
) -> Option<Value<'a>> {
    let (accepts, refuses) = (Validator::new(old, arena), Validator::new(demand, arena));
    let demands = also.map(|also| Validator::new(also, arena));
    let is_one = |value: &Value<'a>| {
        !value.is_null()
            && accepts.is_valid(own.whole(*value, arena))
            && demands.as_ref().is_none_or(|demands| demands.is_valid(*value))
            && !refuses.is_valid(own.whole(*value, arena))
    };
    let demanded = also.map(|also| probes(also, demand, arena, memo)).unwrap_or_default();
    demanded.into_iter().chain(probes(old, demand, arena, memo)).find(is_one).or_else(|| {
        shapes(old, demand, arena).into_iter().find_map(|shape| values(shape, TRIED, arena).into_iter().find(is_one))
    })
}

/// Returns values at the edges of schemas: around bounds and patterns, with and without fields.
pub(crate) fn probes<'a>(
    old: &'a Schema<'a>,
    demand: &'a Schema<'a>,
    arena: &'a Bump,
    memo: &mut Memo,
) -> Vec<Value<'a>> {
    const NAMED: usize = 1_000;
    let mut out: Vec<Value<'a>> =
        old.enumeration.iter().take(NAMED).map(|value| Value::from_json(value, arena)).collect();
    let (was, is) = (parts(old), parts(demand));
    let mut texts: Vec<String> = Vec::new();
    let mut numbers: Vec<f64> = vec![0.0, 1.0, -1.0, 0.5];
    // Strings of the old schema and of each of its parts that parts of the new one reject, one by one and all together.
    let own = Language::of(&[old]);
    let patterns = |part: &&'a Schema<'a>| {
        let pattern = part.extra().pattern;
        (!pattern.is_empty()).then_some(pattern)
    };
    let mut refusing: Vec<Vec<&str>> = is.iter().filter_map(patterns).map(|pattern| vec![pattern]).collect();
    refusing.push(is.iter().filter_map(patterns).collect());
    if refusing.len() > 2 {
        refusing.rotate_right(1);
    }
    let mut find = |texts: Texts<'_>, out: &mut Vec<String>| {
        let most = texts.most.map_or(LONGEST, |most| most.min(LONGEST));
        if let Ok(Some(text)) = memo.shortest(&Texts { most: Some(most), ..texts }) {
            out.push(text.to_string());
        }
    };
    for part in was.iter().take(SHAPES) {
        let mut language = Language::of(&[old, part]);
        language.patterns.dedup();
        for unmatched in refusing.iter().take(SHAPES) {
            find(Texts { unmatched, ..language.texts() }, &mut texts);
        }
    }
    for part in is.iter().take(SHAPES) {
        let extra = part.extra();
        if let Some(least) = extra.min_length.and_then(|least| u64::try_from(least).ok()).filter(|least| *least > 0) {
            find(Texts { most: Some(own.most.unwrap_or(u64::MAX).min(least - 1)), ..own.texts() }, &mut texts);
        }
        if let Some(most) = extra.max_length.and_then(|most| u64::try_from(most).ok()) {
            find(Texts { least: own.least.max(most.saturating_add(1)), ..own.texts() }, &mut texts);
        }
        // Strings that two branches accept.
        if !extra.pattern.is_empty() {
            let mut language = Language::of(&[old]);
            language.patterns.push(extra.pattern);
            find(language.texts(), &mut texts);
        }
    }
    for part in was.iter().chain(&is) {
        let extra = part.extra();
        for bound in [extra.minimum, extra.maximum, extra.multiple_of].into_iter().flatten() {
            numbers.extend([bound, bound - 1.0, bound + 1.0]);
        }
        match checked_format(part) {
            "int32" => numbers.extend([2_147_483_648.0, -2_147_483_649.0]),
            "float" => numbers.push(1e39),
            _ => {}
        }
        out.extend(part.enumeration.iter().take(NAMED).map(|value| Value::from_json(value, arena)));
    }
    texts.truncate(PROBES);
    numbers.truncate(PROBES);
    out.extend(texts.iter().map(|text| Value::String(arena.alloc_str(text))));
    out.extend(numbers.into_iter().map(number));
    out
}

/// Returns a schema and the branches of its logic.
fn parts<'a>(schema: &'a Schema<'a>) -> Vec<&'a Schema<'a>> {
    let mut out = vec![schema];
    let mut at = 0;
    while let Some(schema) = out.get(at) {
        let extra = schema.extra();
        let not = extra.not.map_or(&[][..], std::slice::from_ref);
        for branches in [extra.all_of, extra.any_of, extra.one_of, not] {
            let room = PROBES.saturating_sub(out.len());
            out.extend(branches.iter().take(room));
        }
        at += 1;
    }
    out
}

/// Returns the old schema, narrowed by parts of both, and with fields that parts name.
fn shapes<'a>(old: &'a Schema<'a>, demand: &'a Schema<'a>, arena: &'a Bump) -> Vec<&'a Schema<'a>> {
    let (was, is) = (parts(old), parts(demand));
    let mut out: Vec<&'a Schema<'a>> = vec![old];
    for part in was.iter().skip(1).chain(is.iter().skip(1)) {
        out.push(arena.alloc(narrowed(old, part, arena)));
    }
    out.truncate(SHAPES);
    // Fields alone and in pairs.
    let mut names: Vec<&'a str> = was.iter().chain(&is).flat_map(|part| part.required).copied().collect();
    names.extend(is.iter().flat_map(|part| part.properties).map(|property| property.name));
    names.sort_unstable();
    names.dedup();
    names.retain(|name| old.property(name).is_some());
    names.truncate(6);
    let with = |more: &[&'a str]| {
        let mut required = old.required.to_vec();
        required.extend(more.iter().filter(|name| !old.required.contains(name)));
        let required = arena.alloc_slice_copy(&required);
        &*arena.alloc(Schema { required, ..*old })
    };
    for (at, name) in names.iter().enumerate() {
        out.push(with(&[name]));
        out.extend(names[at + 1..].iter().map(|other| with(&[name, other])));
    }
    out
}

/// Adds the constraints of a part on the value itself.
fn narrowed<'a>(old: &Schema<'a>, part: &Schema<'a>, arena: &'a Bump) -> Schema<'a> {
    let (own, other) = (*old.extra(), part.extra());
    let extra = Extra {
        minimum: other.minimum.or(own.minimum),
        maximum: other.maximum.or(own.maximum),
        multiple_of: other.multiple_of.or(own.multiple_of),
        min_length: other.min_length.or(own.min_length),
        max_length: other.max_length.or(own.max_length),
        min_items: other.min_items.or(own.min_items),
        max_items: other.max_items.or(own.max_items),
        pattern: if other.pattern.is_empty() { own.pattern } else { other.pattern },
        ..own
    };
    let mut out = Schema { extra: Some(arena.alloc(extra)), flags: old.flags.with(part.flags), ..*old };
    if !part.format.is_empty() {
        out.format = part.format;
    }
    if part.ty != Type::Absent {
        out.ty = part.ty;
        out.flags = out.flags.without(Flags::INT_OR_STRING);
    }
    if !part.enumeration.is_empty() {
        out.enumeration = part.enumeration;
    }
    let mut required = old.required.to_vec();
    required.extend(part.required.iter().filter(|name| !old.required.contains(name)));
    out.required = arena.alloc_slice_copy(&required);
    if !part.properties.is_empty() {
        let mut properties = old.properties.to_vec();
        for property in &mut properties {
            if let Some(also) = part.property(property.name) {
                property.schema = narrowed(&property.schema, also, arena);
            }
        }
        out.properties = arena.alloc_slice_copy(&properties);
    }
    if let (Some(item), Some(also)) = (old.item(), part.item()) {
        out.items = Some(kubeshape_schema::Items::One(arena.alloc(narrowed(item, also, arena))));
    }
    out
}
