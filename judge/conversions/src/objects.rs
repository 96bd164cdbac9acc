//! Objects of a version that show what a conversion does: each field of the schema, with several values.

use crate::compare::is_empty;
use kubeshape_sample::{Step, Wanted, sample, sample_with, values};
use kubeshape_schema::{Bump, Extra, Flags, Schema, Type};
use kubeshape_validate::object::Resource;
use kubeshape_value::{Map, Value};
use std::cell::Cell;
use std::collections::BTreeSet;

/// The maximum number of values in a schema that get objects of their own.
const MAX_TARGETS: usize = 50_000;
/// The maximum depth of such a value.
const MAX_DEPTH: usize = 24;
/// The maximum number of values of an enumeration.
const MAX_ENUM: usize = 64;
/// The number of other values of a field.
const VALUES: usize = 2;
/// The longest list whose items are put into another order.
const MAX_LIST: usize = 16;
/// How many values are tried for a field until one is not empty.
const FULL: usize = 3;
/// How many members are tried for an object until one makes it not empty.
const MAX_MEMBERS: usize = 8;
/// The number of empty values of an object for which others are looked for.
const MAX_FILLED: usize = 256;
/// How often an object is built for a value if the schema rejects it.
const ROUNDS: usize = 12;
/// Values that programs confuse or round: the first integer that a double does not have, and strings that look like
/// something else.
const LARGE: i64 = 9_007_199_254_740_993;
const TEXTS: [&str; 7] = [
    "90s",
    "1500ms",
    "1",
    "12345678901234567890",
    "a-long-name-of-many-parts-0",
    "2000-01-01T01:00:00+01:00",
    "<ä> \"&\"",
];

/// What an object is made for.
struct Target<'a> {
    steps: Vec<Step<'a>>,
    value: Option<Value<'a>>,
}

/// An object, as a user would write it.
pub(crate) struct Object<'a> {
    pub(crate) value: Value<'a>,
    /// The field that it was made for; empty for the smallest object.
    pub(crate) field: Option<String>,
}

/// The objects of a version.
pub(crate) struct Made<'a> {
    /// The simplest first.
    pub(crate) objects: Vec<Object<'a>>,
    /// The fields for which no object was found that the version accepts.
    pub(crate) missing: BTreeSet<String>,
    /// The number of values that got no object because there are too many.
    pub(crate) skipped: usize,
}

/// Returns at most `most` objects that the version accepts. If the schema has more values than that, half of them are
/// those nearest to the root, and `seed` chooses the others.
pub(crate) fn made<'a>(resource: &Resource<'a>, most: usize, bytes: usize, seed: u64, arena: &'a Bump) -> Made<'a> {
    let mut out = Made { objects: Vec::new(), missing: BTreeSet::new(), skipped: 0 };
    let mut known: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut add = |value: Value<'_>, field: Option<String>, out: &mut Made<'a>| {
        let mut json = Vec::new();
        value.write_go_json(&mut json);
        if json.len() <= bytes && out.objects.len() < most && known.insert(json) {
            out.objects.push(Object { value: value.copy_into(arena), field });
        }
    };
    for maximal in [false, true] {
        let memory = Bump::new();
        let made = sample(resource, maximal, &memory);
        if made.problems.is_empty() {
            add(made.value, (!maximal).then(String::new), &mut out);
        }
    }
    let mut targets = resource.schema.map(|schema| targets(schema, arena)).unwrap_or_default();
    out.skipped = choose(&mut targets, most.saturating_sub(out.objects.len()), seed);
    for Target { steps, value } in &targets {
        let memory = Bump::new();
        let mut wanted = Wanted::default();
        wanted.want(steps, *value);
        let made = sample_with(resource, &wanted, ROUNDS, &memory);
        if made.problems.is_empty() {
            let kept = value.is_some_and(is_empty).then_some(steps.as_slice());
            add(filled(resource, made.value, kept, &memory), Some(shape(steps)), &mut out);
        } else if value.is_none() {
            out.missing.insert(shape(steps));
        }
    }
    out
}

/// Keeps the first half of `most` targets, and chooses the others. Returns the number of those that are left out.
fn choose(targets: &mut Vec<Target<'_>>, most: usize, seed: u64) -> usize {
    let left_out = targets.len().saturating_sub(most);
    if left_out == 0 {
        return 0;
    }
    let first = most / 2;
    let mut state = seed;
    for at in first..most {
        let others = targets.len() - at;
        let chosen = usize::try_from(next(&mut state) % others as u64).unwrap_or_default();
        targets.swap(at, at + chosen);
    }
    targets.truncate(most);
    left_out
}

/// Returns the next number of a sequence (`SplitMix64`).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the targets of a schema, those nearest to the root first.
fn targets<'a>(schema: &'a Schema<'a>, arena: &'a Bump) -> Vec<Target<'a>> {
    let mut out: Vec<Target<'a>> = Vec::new();
    let mut level: Vec<(Vec<Step<'a>>, &'a Schema<'a>)> = vec![(Vec::new(), schema)];
    for depth in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for (steps, schema) in level {
            if out.len() >= MAX_TARGETS {
                return out;
            }
            if !steps.is_empty() {
                out.push(Target { steps: steps.clone(), value: None });
                let all = values_of(schema, arena).into_iter();
                out.extend(all.map(|value| Target { steps: steps.clone(), value: Some(value) }));
            }
            if schema.flags.any(Flags::PRESERVE_UNKNOWN) {
                let value = Value::Map(Map::from_entries(
                    vec![("list", Value::List(arena.alloc_slice_copy(&[Value::Int(1), Value::String("a")])))],
                    arena,
                ));
                let key =
                    if steps.is_empty() { Step::Property("kubeshapeUnknown") } else { Step::Key("kubeshapeUnknown") };
                out.push(Target { steps: with(&steps, key), value: Some(value) });
            }
            for property in schema.properties {
                let is_own = depth == 0 && matches!(property.name, "apiVersion" | "kind" | "metadata");
                if !is_own {
                    next.push((with(&steps, Step::Property(property.name)), &property.schema));
                }
            }
            if let Some(item) = schema.item() {
                next.push((with(&steps, Step::Item), item));
            }
            if let Some(below) = schema.additional_schema() {
                next.push((with(&steps, Step::Key("key")), below));
            }
        }
        level = next;
    }
    out
}

/// Returns an object in which other values than one say something, as far as its version accepts that: a fault with it
/// is not one of empty values only.
fn filled<'a>(resource: &Resource<'a>, object: Value<'a>, kept: Option<&[Step<'a>]>, arena: &'a Bump) -> Value<'a> {
    let (Some(schema), Value::Map(map)) = (resource.schema, object) else { return object };
    for fills_objects in [true, false] {
        let left = Cell::new(MAX_FILLED);
        let fill = Fill { left: &left, fills_objects, arena };
        let members = map.entries().iter().map(|(key, value)| match (*key, schema.property(key)) {
            ("apiVersion" | "kind" | "metadata", _) | (_, None) => (*key, *value),
            (_, Some(below)) => (*key, fill.value(*value, below, after(kept, &Step::Property(key)), 0)),
        });
        let full = Value::Map(Map::from_entries(members.collect(), arena));
        let Ok(decoded) = resource.decode(full, arena) else { continue };
        if decoded.unknown.is_empty() && resource.create(decoded.value, arena).errors.is_empty() {
            return full;
        }
    }
    object
}

/// Returns the steps to the kept value that are left after one step.
fn after<'s, 'a>(kept: Option<&'s [Step<'a>]>, step: &Step<'_>) -> Option<&'s [Step<'a>]> {
    kept.and_then(<[Step<'a>]>::split_first).filter(|(first, _)| *first == step).map(|(_, rest)| rest)
}

/// Puts values in the place of empty ones.
#[derive(Clone, Copy)]
struct Fill<'f, 'a> {
    /// How many empty values may still be replaced.
    left: &'f Cell<usize>,
    /// Whether empty objects get a member, too.
    fills_objects: bool,
    arena: &'a Bump,
}

impl<'a> Fill<'_, 'a> {
    /// `kept` are the steps to a value that stays as it is.
    fn value(self, value: Value<'a>, schema: &'a Schema<'a>, kept: Option<&[Step<'a>]>, depth: usize) -> Value<'a> {
        if depth > MAX_DEPTH || kept.is_some_and(<[Step<'a>]>::is_empty) {
            return value;
        }
        match value {
            Value::Map(map) if !map.is_empty() => {
                let members = map.entries().iter().map(|(key, value)| {
                    let (step, below) = match schema.property(key) {
                        Some(property) => (Step::Property(key), Some(property)),
                        None => (Step::Key(key), schema.additional_schema()),
                    };
                    let filled = below.map_or(*value, |below| self.value(*value, below, after(kept, &step), depth + 1));
                    (*key, filled)
                });
                Value::Map(Map::from_entries(members.collect(), self.arena))
            }
            Value::List(items) if !items.is_empty() => {
                let Some(item) = schema.item() else { return value };
                let below = after(kept, &Step::Item);
                let items: Vec<_> = items.iter().map(|value| self.value(*value, item, below, depth + 1)).collect();
                Value::List(self.arena.alloc_slice_copy(&items))
            }
            Value::Map(_) if !self.fills_objects => value,
            Value::Map(_) => {
                let found = schema
                    .properties
                    .iter()
                    .take(MAX_MEMBERS)
                    .find_map(|property| Some((property.name, self.full(&property.schema, depth)?)));
                let found = found.or_else(|| Some(("key", self.full(schema.additional_schema()?, depth)?)));
                let is_open = schema.flags.any(Flags::PRESERVE_UNKNOWN);
                let found = found.or_else(|| is_open.then_some(("key", Value::String("example"))));
                found.map_or(value, |member| Value::Map(Map::from_entries(vec![member], self.arena)))
            }
            Value::List(_) => schema
                .item()
                .and_then(|item| self.full(item, depth))
                .map_or(value, |item| Value::List(self.arena.alloc_slice_copy(&[item]))),
            empty if is_empty(empty) => self.full(schema, depth).unwrap_or(value),
            other => other,
        }
    }

    /// Returns a value of the schema that is not empty.
    fn full(self, schema: &'a Schema<'a>, depth: usize) -> Option<Value<'a>> {
        self.left.set(self.left.get().checked_sub(1)?);
        let all = values(schema, FULL, self.arena).into_iter().map(|value| self.value(value, schema, None, depth + 1));
        let mut all = all.chain([Value::String("example"), Value::Int(1), Value::Bool(true)]);
        let validator = kubeshape_validate::object::Validator::new(schema, self.arena);
        all.find(|value| !is_empty(*value) && validator.is_valid(*value))
    }
}

fn with<'a>(steps: &[Step<'a>], step: Step<'a>) -> Vec<Step<'a>> {
    let mut out = steps.to_vec();
    out.push(step);
    out
}

/// Returns the path of the steps, without keys.
fn shape(steps: &[Step<'_>]) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            Step::Property(name) if out.is_empty() => out.push_str(name),
            Step::Property(name) => {
                out.push('.');
                out.push_str(name);
            }
            Step::Item | Step::Key(_) => out.push_str("[*]"),
        }
    }
    out
}

/// Returns several different items of a list, if there are some.
fn different<'a>(schema: &'a Schema<'a>, arena: &'a Bump) -> Option<Vec<Value<'a>>> {
    let extra = *schema.extra();
    let most = extra.max_items.unwrap_or(i64::MAX).min(3);
    let extra = Extra { min_items: Some(most.max(extra.min_items.unwrap_or_default())), ..extra };
    let flags = schema.flags.with(Flags::UNIQUE_ITEMS);
    let longer = &*arena.alloc(Schema { flags, extra: Some(arena.alloc(extra)), ..*schema });
    let made = values(longer, 2, arena).into_iter().find_map(Value::as_list)?;
    (made.len() > 1 && made.len() <= MAX_LIST).then(|| made.to_vec())
}

/// Returns values of one field: those that its schema names, empty ones, null, and lists and maps with up to three
/// members that are not in order.
fn values_of<'a>(schema: &'a Schema<'a>, arena: &'a Bump) -> Vec<Value<'a>> {
    let validator = kubeshape_validate::object::Validator::new(schema, arena);
    let mut out: Vec<Value<'a>> = Vec::new();
    let mut add = |value: Value<'a>| {
        if validator.is_valid(value) && !out.contains(&value) {
            out.push(value);
        }
    };
    match schema.ty {
        Type::Array => {
            add(Value::List(&[]));
            if let Some(item) = schema.item() {
                let items = different(schema, arena).unwrap_or_else(|| values(item, 3, arena));
                add(Value::List(arena.alloc_slice_copy(&items[..items.len().min(1)])));
                let mut reversed = items;
                reversed.reverse();
                add(Value::List(arena.alloc_slice_copy(&reversed[..reversed.len().min(2)])));
                add(Value::List(arena.alloc_slice_copy(&reversed)));
            }
        }
        Type::Object => {
            add(Value::Map(Map::EMPTY));
            if let Some(below) = schema.additional_schema() {
                let found = values(below, 2, arena);
                let mut entries: Vec<(&'a str, Value<'a>)> = Vec::new();
                for (key, value) in ["b.example.com/c", "a"].into_iter().zip(found.iter().chain(found.last())) {
                    entries.push((key, *value));
                    add(Value::Map(Map::from_entries(entries.clone(), arena)));
                }
            }
        }
        _ => {
            let enumerated = schema.enumeration.len().min(MAX_ENUM);
            for value in values(schema, enumerated.max(1) + VALUES, arena) {
                add(value);
            }
            for value in [Value::Bool(false), Value::Bool(true), Value::Int(0), Value::Float(0.5)] {
                add(value);
            }
            // The integer of a value that is an integer or a string has 32 bits in Kubernetes.
            if !schema.flags.any(Flags::INT_OR_STRING) {
                add(Value::Int(LARGE));
            }
            for text in ["", "example"].into_iter().chain(TEXTS) {
                add(Value::String(text));
            }
        }
    }
    if schema.flags.any(Flags::NULLABLE) {
        add(Value::Null);
    }
    out
}
