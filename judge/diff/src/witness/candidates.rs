//! Creates values that may show a change.

use super::proof::{Effort, is_about_stored};
use crate::findings::{Spot, Subject};
use crate::implication::Memo;
use crate::refusal::{only, probes as at_the_ends, refused};
use crate::server_fields::Role;
use kubeshape_sample::{MAX_ITEMS, Step, values};
use kubeshape_schema::{Bump, Code, Extra, Flags, Schema, Type};
use kubeshape_validate::object::Validator;
use kubeshape_value::Map;
use kubeshape_value::Value;

type Steps<'a> = Vec<Step<'a>>;

/// What the object must and must not contain.
#[derive(Clone, Default)]
pub(super) struct Attempt<'a> {
    pub(super) wants: Vec<(Steps<'a>, Option<Value<'a>>)>,
    pub(super) leave_out: Vec<Steps<'a>>,
}

impl<'a> Attempt<'a> {
    fn holds(steps: &[Step<'a>], value: Option<Value<'a>>) -> Attempt<'a> {
        Attempt { wants: vec![(steps.to_vec(), value)], leave_out: Vec::new() }
    }
}

/// Returns what to try for a change, the most likely first.
pub(super) fn attempts<'a>(
    code: Code,
    spot: &Spot<'a>,
    steps: &[Step<'a>],
    effort: &Effort,
    memo: &mut Memo,
    arena: &'a Bump,
) -> Vec<Attempt<'a>> {
    let below = |step: Step<'a>| {
        let mut all = steps.to_vec();
        all.push(step);
        all
    };
    let most = effort.values;
    match (code, spot.subject) {
        (Code::DiffRequired, Subject::Field(name)) => {
            let mut attempt = Attempt::holds(steps, None);
            attempt.leave_out.push(below(Step::Property(name)));
            vec![attempt]
        }
        (Code::DiffSubresource, Subject::Field(name)) => {
            let steps = [Step::Property(name)];
            let schema = spot.old.property(name).or_else(|| spot.new.property(name));
            let given = schema.map(|schema| values(schema, 3, arena)).unwrap_or_default();
            given.into_iter().map(|value| Attempt::holds(&steps, Some(value))).collect()
        }
        (Code::DiffFieldGone | Code::DiffRenamed, _) => {
            let old: &'a Schema<'a> = arena.alloc(spot.old);
            let given = values(old, 3, arena).into_iter().map(|value| Attempt::holds(steps, Some(value)));
            [Attempt::holds(steps, None)].into_iter().chain(given).collect()
        }
        (_, Subject::Field(key)) => {
            // Fields without a property: of a wrong type, or of any type.
            let (old, new) = (spot.old.additional_schema(), spot.new.additional_schema());
            let any: &'a Schema<'a> = old.unwrap_or_else(|| arena.alloc(Schema::of_type(Type::Absent)));
            let refused = refused_by(new, any, Role::Nothing, values(any, most, arena), arena);
            refused.into_iter().map(|value| Attempt::holds(&below(Step::Key(key)), Some(value))).collect()
        }
        // A server's own checks of resources are in no schema.
        (_, Subject::Keyword("embedded")) => {
            let old: &'a Schema<'a> = arena.alloc(spot.old);
            let given = values(old, most, arena).into_iter().map(|value| Attempt::holds(steps, Some(value)));
            [Attempt::holds(steps, None)].into_iter().chain(given).collect()
        }
        (Code::DiffUnique, _) => twice(spot, steps, most, arena),
        (Code::DiffDefault, _) => {
            let mut attempt = Attempt::default();
            let above = steps.split_last().map_or(&[][..], |(_, above)| above);
            attempt.wants.push((above.to_vec(), None));
            attempt.leave_out.push(steps.to_vec());
            vec![attempt]
        }
        _ if is_about_stored(code) || matches!(code, Code::DiffNull | Code::DiffPruningEnds) => {
            vec![Attempt::holds(steps, Some(Value::Null))]
        }
        _ => {
            let mut out: Vec<Attempt<'a>> = of_values(code, spot, most, memo, arena)
                .into_iter()
                .map(|value| Attempt::holds(steps, Some(value)))
                .collect();
            if matches!(code, Code::DiffRule | Code::DiffLogic | Code::DiffLogicStricter | Code::DiffEnum) {
                out.insert(0, Attempt::holds(steps, None));
            }
            out
        }
    }
}

/// Returns values that a schema rejects, or any values without a schema.
fn refused_by<'a>(
    schema: Option<&'a Schema<'a>>,
    old: &'a Schema<'a>,
    own: Role,
    values: Vec<Value<'a>>,
    arena: &'a Bump,
) -> Vec<Value<'a>> {
    let accepts = Validator::new(old, arena);
    let Some(schema) = schema else { return values };
    let refuses = Validator::new(schema, arena);
    let is_one = |value: &Value<'a>| {
        let whole = own.whole(*value, arena);
        accepts.is_valid(whole) && !refuses.is_valid(whole)
    };
    values.into_iter().filter(is_one).collect()
}

/// Returns values that the old schema accepts and the changed part of the new one rejects.
fn of_values<'a>(code: Code, spot: &Spot<'a>, most: usize, memo: &mut Memo, arena: &'a Bump) -> Vec<Value<'a>> {
    let (old, new): (&'a Schema<'a>, &'a Schema<'a>) = (arena.alloc(spot.old), arena.alloc(spot.new));
    let mut tried = Vec::new();
    for schema in narrowed(code, spot, arena) {
        // A few long lists suffice, and samples have no longer ones.
        let items = schema.extra().min_items.map_or(0, |items| usize::try_from(items).unwrap_or_default());
        if items <= MAX_ITEMS {
            tried.extend(values(arena.alloc(schema), most.min(1 + MAX_ITEMS / items.max(1)), arena));
        }
    }
    tried.extend(probes(code, spot, arena));
    tried.extend(values(old, most, arena));
    if code == Code::DiffRule {
        return tried;
    }
    let demand: &'a Schema<'a> = arena.alloc(demand(code, spot, new, arena));
    if let Subject::Keyword(_) = spot.subject {
        // The values that caused the change come first.
        let mut ends = at_the_ends(old, demand, arena, memo);
        ends.splice(0..0, refused(old, (spot.also, spot.own), demand, arena, memo));
        match code {
            Code::DiffText | Code::DiffTextUnknown | Code::DiffLogic | Code::DiffLogicStricter => {
                tried.splice(0..0, ends);
            }
            _ => tried.extend(ends),
        }
    }
    let mut out = refused_by(Some(demand), old, spot.own, tried, arena);
    if let Some(also) = spot.also {
        let demands = Validator::new(also, arena);
        out.retain(|value| demands.is_valid(*value));
    }
    out.dedup_by(|a, b| a == b);
    out.truncate(most);
    out
}

/// Returns a schema with only the changed part.
fn demand<'a>(code: Code, spot: &Spot<'a>, new: &Schema<'a>, arena: &'a Bump) -> Schema<'a> {
    let any = Schema::of_type(Type::Absent);
    match (code, spot.subject) {
        (Code::DiffType, _) => {
            Schema { ty: new.ty, flags: new.flags.without(Flags::NULLABLE.with(Flags::EMBEDDED_RESOURCE)), ..any }
        }
        (Code::DiffEnum, _) => Schema { enumeration: new.enumeration, ..any },
        (_, Subject::Keyword(keyword)) => only(new, keyword, arena).unwrap_or(*new),
        _ => *new,
    }
}

/// Narrows the old schema to values that are likely to be rejected now.
fn narrowed<'a>(code: Code, spot: &Spot<'a>, arena: &'a Bump) -> Vec<Schema<'a>> {
    // If any type is possible, use the one that the keyword is about.
    let ty = match spot.subject {
        _ if spot.old.ty != Type::Absent || spot.old.flags.any(Flags::INT_OR_STRING) => spot.old.ty,
        Subject::Keyword("minProperties" | "maxProperties") => Type::Object,
        Subject::Keyword("minItems" | "maxItems") => Type::Array,
        Subject::Keyword("minLength" | "maxLength") => Type::String,
        Subject::Keyword("minimum" | "maximum") => Type::Number,
        _ => spot.old.ty,
    };
    let (old, new) = (&Schema { ty, ..spot.old }, spot.new.extra());
    let with = |extra: Extra<'a>, flags: Flags| Schema { extra: Some(arena.alloc(extra)), flags, ..*old };
    let extra = *old.extra();
    let less = |bound: Option<i64>| bound.map(|bound| bound.saturating_sub(1));
    let more = |bound: Option<i64>| bound.map(|bound| bound.saturating_add(1));
    match (code, spot.subject) {
        (Code::DiffType, _) => {
            let flags = old.flags.without(Flags::INT_OR_STRING);
            [Type::String, Type::Boolean, Type::Number, Type::Integer, Type::Object, Type::Array]
                .into_iter()
                .map(|ty| Schema { ty, flags, ..*old })
                .collect()
        }
        (Code::DiffEnum, _) => {
            let gone: Vec<_> =
                old.enumeration.iter().filter(|value| !spot.new.enumeration.contains(value)).copied().collect();
            if gone.is_empty() {
                Vec::new()
            } else {
                vec![Schema { enumeration: arena.alloc_slice_copy(&gone), ..*old }]
            }
        }
        (_, Subject::Keyword(keyword)) => {
            let flags = old.flags;
            match keyword {
                "minimum" => {
                    let bound = new.minimum;
                    let steps = [
                        (bound, flags.without(Flags::EXCLUSIVE_MAXIMUM)),
                        (bound.map(|bound| bound - 1.0), flags.without(Flags::EXCLUSIVE_MAXIMUM)),
                        (bound, flags.with(Flags::EXCLUSIVE_MAXIMUM)),
                    ];
                    steps.map(|(maximum, flags)| with(Extra { maximum, ..extra }, flags)).to_vec()
                }
                "maximum" => {
                    let bound = new.maximum;
                    let steps = [
                        (bound, flags.without(Flags::EXCLUSIVE_MINIMUM)),
                        (bound.map(|bound| bound + 1.0), flags.without(Flags::EXCLUSIVE_MINIMUM)),
                        (bound, flags.with(Flags::EXCLUSIVE_MINIMUM)),
                    ];
                    steps.map(|(minimum, flags)| with(Extra { minimum, ..extra }, flags)).to_vec()
                }
                "minLength" => vec![with(Extra { max_length: less(new.min_length), ..extra }, flags)],
                "maxLength" => vec![with(Extra { min_length: more(new.max_length), ..extra }, flags)],
                "minItems" => vec![with(Extra { max_items: less(new.min_items), ..extra }, flags)],
                "maxItems" => vec![with(Extra { min_items: more(new.max_items), ..extra }, flags)],
                "minProperties" => vec![with(Extra { max_properties: less(new.min_properties), ..extra }, flags)],
                "maxProperties" => vec![with(Extra { min_properties: more(new.max_properties), ..extra }, flags)],
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Returns a list with a duplicate item, or with two items that have the same keys.
fn twice<'a>(spot: &Spot<'a>, steps: &[Step<'a>], most: usize, arena: &'a Bump) -> Vec<Attempt<'a>> {
    let Some(item) = spot.old.item() else { return Vec::new() };
    let keys = spot.new.extra().list_map_keys;
    let mut required: Vec<&'a str> = item.required.to_vec();
    required.extend(keys.iter().filter(|key| !item.required.contains(key)));
    let item: &'a Schema<'a> = arena.alloc(Schema { required: arena.alloc_slice_copy(&required), ..*item });
    let items = values(item, most, arena);
    let mut out = Vec::new();
    for (at, value) in items.iter().enumerate() {
        let mut pairs = vec![*value];
        // Fields that are no longer keys make the items differ.
        for key in spot.old.extra().list_map_keys.iter().filter(|key| !keys.contains(key)) {
            let (Value::Map(map), Some(schema)) = (*value, item.property(key)) else { continue };
            let other = values(schema, 3, arena).into_iter().find(|other| map.get(key) != Some(*other));
            pairs.extend(other.map(|other| Value::Map(Map::with(map, key, Some(other), arena))));
        }
        // If the old list requires different items, they differ in fields that are no longer keys.
        for other in items.iter().skip(at + 1) {
            let (Value::Map(first), Value::Map(other)) = (*value, *other) else { continue };
            let same = keys.iter().fold(other, |map, key| Map::with(map, key, first.get(key), arena));
            pairs.push(Value::Map(same));
        }
        for other in pairs {
            out.push(Attempt::holds(steps, Some(Value::List(arena.alloc_slice_copy(&[*value, other])))));
        }
    }
    out.truncate(most);
    out
}

/// Returns longer lists and strings than samples have.
const LONGEST: usize = 1 << 18;

/// Returns values that people seldom write.
fn probes<'a>(code: Code, spot: &Spot<'a>, arena: &'a Bump) -> Vec<Value<'a>> {
    let (old, new) = (spot.old.extra(), spot.new.extra());
    let length = |bound: Option<i64>| bound.and_then(|bound| usize::try_from(bound).ok());
    let text = |text: String| Value::String(arena.alloc_str(&text));
    match (code, spot.subject) {
        (Code::DiffText | Code::DiffTextUnknown, _) => {
            let least = length(old.min_length).unwrap_or_default().min(LONGEST);
            [
                "", " ", "é", "_", "!", "-", ".", "/", "A", "0", "a", "a b", "\n", "%", "1a", "a1", "A1", "a-", "a.b",
                "a/b", "1.5",
            ]
            .into_iter()
            .map(|probe| {
                let missing = least.saturating_sub(probe.chars().count());
                let fill = probe.chars().last().unwrap_or('a');
                text(probe.chars().chain(std::iter::repeat_n(fill, missing)).collect())
            })
            .collect()
        }
        (_, Subject::Keyword("maxLength")) => {
            let Some(most) = length(new.max_length).filter(|most| *most < LONGEST) else { return Vec::new() };
            // Base64 comes in groups of four.
            [most + 1, (most / 4 + 1) * 4].into_iter().map(|count| text("a".repeat(count))).collect()
        }
        (_, Subject::Keyword("maxItems")) => {
            let Some(most) = length(new.max_items).filter(|most| *most < LONGEST) else { return Vec::new() };
            let Some(item) = spot.old.item() else { return Vec::new() };
            let Some(first) = values(item, 1, arena).first().copied() else { return Vec::new() };
            let keys = old.list_map_keys;
            let numbers = (0_i64..).take(most + 1);
            let items = numbers.map(|at| match (old.list_type, first) {
                (Some("set"), Value::String(_)) => text(format!("example-{at}")),
                (Some("set"), Value::Int(_)) => Value::Int(at),
                (Some("map"), Value::Map(map)) => {
                    let named = |map: Map<'a>, key: &&'a str| {
                        let value = match map.get(key) {
                            Some(Value::Int(_)) => Value::Int(at + 1),
                            _ => text(format!("example-{at}")),
                        };
                        Map::with(map, key, Some(value), arena)
                    };
                    Value::Map(keys.first().into_iter().fold(map, named))
                }
                _ => first,
            });
            let items: Vec<Value<'a>> = items.collect();
            vec![Value::List(arena.alloc_slice_copy(&items))]
        }
        _ => Vec::new(),
    }
}
