//! Decides without a search whether an object with a value at some place exists: only types and bounds may constrain
//! the value, the way to it, and its siblings.
//!
//! Answers are one-sided: if the answer is no, such an object may still exist, and a search has to find it.

use crate::combined::checked_format;
use crate::types::Types;
use kubeshape_sample::{MAX_ITEMS, Step};
use kubeshape_schema::{Additional, Flags, Schema, Type};
use std::collections::{HashMap, HashSet};

/// Most nested values.
const DEPTH: usize = 24;
/// The longest string, and the range in which a double is exact.
const LONGEST: i64 = 1 << 16;
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Results by address of the schema.
#[derive(Default)]
pub(crate) struct Satisfiability {
    values: HashMap<usize, bool>,
    /// How many required fields may have no value.
    missing: HashMap<usize, usize>,
    /// The names of required fields.
    required: HashMap<usize, HashSet<Box<str>>>,
}

fn address(schema: &Schema<'_>) -> usize {
    std::ptr::from_ref(schema).addr()
}

/// Returns whether only type and bounds constrain the value as a whole.
pub(crate) fn is_node(schema: &Schema<'_>) -> bool {
    !schema.flags.any(Flags::JUNCTOR.with(Flags::VALIDATIONS)) && schema.enumeration.is_empty()
}

/// Returns whether all strings of some length fit, so that enough distinct items exist for any list.
fn is_any_text(schema: &Schema<'_>) -> bool {
    let extra = schema.extra();
    let int_or_string = schema.flags.any(Flags::INT_OR_STRING);
    is_node(schema)
        && schema.ty == Type::String
        && !int_or_string
        && extra.pattern.is_empty()
        && checked_format(schema).is_empty()
        && extra.max_length.is_none_or(|most| most >= 64 && most >= extra.min_length.unwrap_or_default())
}

impl Satisfiability {
    /// Returns whether a schema certainly accepts some value.
    pub(crate) fn has_value(&mut self, schema: &Schema<'_>) -> bool {
        self.value(schema, 0)
    }

    fn value(&mut self, schema: &Schema<'_>, depth: usize) -> bool {
        if depth > DEPTH || !is_node(schema) {
            return false;
        }
        let extra = schema.extra();
        if schema.flags.any(Flags::INT_OR_STRING) {
            return is_free(schema);
        }
        match schema.ty {
            Type::Boolean => true,
            Type::Integer | Type::Number => has_number(schema),
            Type::String => {
                let (least, most) = (extra.min_length.unwrap_or_default(), extra.max_length.unwrap_or(LONGEST));
                extra.pattern.is_empty() && checked_format(schema).is_empty() && least <= most && least <= LONGEST
            }
            Type::Array => {
                let (least, most) = (extra.min_items.unwrap_or_default(), extra.max_items.unwrap_or(i64::MAX));
                let has_items = |me: &mut Satisfiability| {
                    least == 1 && most >= 1 && schema.item().is_some_and(|item| me.known(item, depth + 1))
                };
                most >= 0 && (least <= 0 || has_items(self))
            }
            Type::Object => {
                let (least, most) = (extra.min_properties.unwrap_or_default(), extra.max_properties);
                let count = i64::try_from(schema.required.len()).unwrap_or(i64::MAX);
                !schema.flags.any(Flags::EMBEDDED_RESOURCE)
                    && least <= count
                    && most.is_none_or(|most| most >= count)
                    && self.missing(schema, depth) == 0
            }
            Type::Absent => is_free(schema),
            Type::Other | Type::Several => false,
        }
    }

    /// Like [`Satisfiability::value`], cached: for schemas that do not move.
    fn known(&mut self, schema: &Schema<'_>, depth: usize) -> bool {
        if let Some(known) = self.values.get(&address(schema)) {
            return *known;
        }
        let found = self.value(schema, depth);
        self.values.insert(address(schema), found);
        found
    }

    /// Returns how many required fields may have no value.
    fn missing(&mut self, schema: &Schema<'_>, depth: usize) -> usize {
        schema.required.iter().filter(|name| !self.field(schema, name, depth)).count()
    }

    /// Returns whether a field has a value: by default, or because one exists.
    fn field(&mut self, schema: &Schema<'_>, name: &str, depth: usize) -> bool {
        match (schema.property(name), schema.additional) {
            (Some(property), _) => property.default.is_some() || self.known(property, depth + 1),
            (None, Some(Additional::Schema(property))) => self.known(property, depth + 1),
            (None, additional) => {
                additional == Some(Additional::Allowed(true)) || schema.flags.any(Flags::PRESERVE_UNKNOWN)
            }
        }
    }

    /// Returns whether a schema accepts a list with more items than `most`.
    pub(crate) fn has_longer_list(&mut self, schema: &Schema<'_>, most: i64) -> bool {
        let extra = schema.extra();
        let count = most.saturating_add(1).max(extra.min_items.unwrap_or_default());
        if !is_node(schema)
            || !Types::of(schema).has_arrays()
            || extra.max_items.is_some_and(|most| most < count)
            || usize::try_from(count).is_ok_and(|count| count > MAX_ITEMS)
        {
            return false;
        }
        let Some(item) = schema.item() else { return false };
        let differ = match extra.list_type {
            Some("set") => is_any_text(item),
            Some("map") => extra.list_map_keys.iter().any(|key| item.property(key).is_some_and(is_any_text)),
            _ => !schema.flags.any(Flags::UNIQUE_ITEMS) || is_any_text(item),
        };
        differ && self.known(item, 0)
    }

    /// Returns whether an object can have an additional field with some value.
    pub(crate) fn takes(&mut self, schema: &Schema<'_>, name: &str, is_root: bool) -> bool {
        is_node(schema)
            && (is_root || !schema.flags.any(Flags::EMBEDDED_RESOURCE))
            && self.is_free_beside(schema, name, is_root)
            && schema.additional_schema().is_none_or(|schema| self.has_value(schema))
    }

    /// Returns whether objects with a value at the end of these steps exist, if the last schema accepts the value.
    pub(crate) fn leads(&mut self, root: &Schema<'_>, steps: &[Step<'_>]) -> bool {
        if !is_root(root) {
            return false;
        }
        let mut schema = root;
        for (at, step) in steps.iter().enumerate() {
            let is_last = at + 1 == steps.len();
            if !is_node(schema) || schema.flags.any(Flags::EMBEDDED_RESOURCE) {
                return false;
            }
            let extra = schema.extra();
            let next = match step {
                Step::Item => {
                    if !Types::of(schema).has_arrays()
                        || extra.min_items.is_some_and(|least| least > 1)
                        || extra.max_items.is_some_and(|most| most < 1)
                    {
                        return false;
                    }
                    schema.item()
                }
                Step::Property(name) | Step::Key(name) => {
                    if !Types::of(schema).has_objects() || !self.is_free_beside(schema, name, at == 0) {
                        return false;
                    }
                    match schema.property(name).or_else(|| schema.additional_schema()) {
                        Some(next) => Some(next),
                        // Other fields are not in the schema.
                        None if matches!(step, Step::Key(_)) && schema.flags.any(Flags::PRESERVE_UNKNOWN) => None,
                        None => return false,
                    }
                }
            };
            match next {
                Some(next) => schema = next,
                None => return is_last,
            }
        }
        true
    }

    /// Returns whether a schema requires a field.
    pub(crate) fn requires(&mut self, schema: &Schema<'_>, name: &str) -> bool {
        if schema.required.len() < 8 {
            return schema.required.contains(&name);
        }
        // Copies of a schema share the names.
        let names = self.required.entry(schema.required.as_ptr().addr());
        names.or_insert_with(|| schema.required.iter().map(|name| Box::from(*name)).collect()).contains(name)
    }

    /// Returns whether an object can have a field in addition to the required ones.
    fn is_free_beside(&mut self, schema: &Schema<'_>, name: &str, is_root: bool) -> bool {
        let extra = schema.extra();
        // Every object has these three.
        let own = |name: &str| is_root && matches!(name, "apiVersion" | "kind" | "metadata");
        let is_required = self.requires(schema, name);
        let count = schema.required.len() + usize::from(!is_required);
        let count = i64::try_from(if is_root { count + 3 } else { count }).unwrap_or(i64::MAX);
        if extra.max_properties.is_some_and(|most| most < count)
            || extra.min_properties.is_some_and(|least| least > 1 && least > count)
        {
            return false;
        }
        let missing = if let Some(missing) = self.missing.get(&address(schema)) {
            *missing
        } else {
            let missing = schema.required.iter().filter(|name| !own(name) && !self.field(schema, name, 0)).count();
            self.missing.insert(address(schema), missing);
            missing
        };
        let is_one = !own(name) && is_required && !self.field(schema, name, 0);
        missing == usize::from(is_one)
    }
}

/// Returns whether the schema does not restrict the fields that a server handles itself.
fn is_root(schema: &Schema<'_>) -> bool {
    let is_text = |name| {
        schema
            .property(name)
            .is_none_or(|schema| schema.ty == Type::String && is_free(&Schema { ty: Type::Absent, ..*schema }))
    };
    let is_object = schema
        .property("metadata")
        .is_none_or(|schema| is_node(schema) && schema.properties.is_empty() && schema.required.is_empty());
    is_text("apiVersion") && is_text("kind") && is_object
}

/// Returns whether a schema does not restrict values.
fn is_free(schema: &Schema<'_>) -> bool {
    let extra = schema.extra();
    is_node(schema)
        && schema.format.is_empty()
        && extra.pattern.is_empty()
        && [extra.minimum, extra.maximum, extra.multiple_of].iter().all(Option::is_none)
        && [extra.min_length, extra.max_length, extra.min_items, extra.max_items].iter().all(Option::is_none)
        && [extra.min_properties, extra.max_properties].iter().all(Option::is_none)
        && schema.required.is_empty()
        && schema.properties.is_empty()
        && schema.items.is_none()
        && schema.additional.is_none()
        && schema.reference.is_empty()
        && !schema.flags.any(Flags::EMBEDDED_RESOURCE)
}

/// Returns whether an integer exists within the bounds of a schema.
fn has_number(schema: &Schema<'_>) -> bool {
    let extra = schema.extra();
    let step = |flag: Flags| if schema.flags.any(flag) { 1.0 } else { 0.0 };
    let least = extra.minimum.map(|least| least.ceil() + step(Flags::EXCLUSIVE_MINIMUM));
    let most = extra.maximum.map(|most| most.floor() - step(Flags::EXCLUSIVE_MAXIMUM));
    let is_bounded = extra.minimum.is_some() || extra.maximum.is_some();
    // Integers are rejected if a bound is not an integer (upstream: `IsValueValidAgainstRange`).
    let is_whole = |bound: Option<f64>| schema.ty != Type::Integer || bound.is_none_or(|bound| bound.fract() == 0.0);
    extra.multiple_of.is_none()
        && (schema.format.is_empty() || !is_bounded)
        && is_whole(extra.minimum)
        && is_whole(extra.maximum)
        && is_exact(schema)
        && least.zip(most).is_none_or(|(least, most)| least <= most)
}

/// Returns whether numbers outside the bounds exist.
pub(crate) fn is_exact(schema: &Schema<'_>) -> bool {
    let extra = schema.extra();
    [extra.minimum, extra.maximum].into_iter().flatten().all(|bound| bound.abs() < EXACT)
}
