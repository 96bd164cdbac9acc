//! What schemas say together that apply to the same value.

use crate::bounds::is_number_of_go;
use crate::types::Types;
use kubeshape_schema::{Bump, Extra, Flags, Schema, Type};
use kubeshape_structural::regex::Texts;
use kubeshape_validate::object::Format;
use kubeshape_value::Value;

/// Most schemas in conjunction, and most cases.
pub(crate) const MOST: usize = 64;
/// Most values of an enumeration.
pub(crate) const VALUES: usize = 1_000;

/// Returns the schemas and the branches of their `allOf`, or `None` if there are too many.
pub(crate) fn spread<'s>(all: &[&'s Schema<'s>]) -> Option<Vec<&'s Schema<'s>>> {
    let mut out = all.to_vec();
    let mut at = 0;
    while let Some(schema) = out.get(at) {
        for branch in schema.extra().all_of {
            if !out.iter().any(|known| std::ptr::eq(*known, branch)) {
                out.push(branch);
            }
        }
        if out.len() > MOST {
            return None;
        }
        at += 1;
    }
    Some(out)
}

/// Splits values by branch or by type. Returns `None` if there is nothing to split.
pub(crate) fn cases<'s>(all: &[&'s Schema<'s>], of: &Schema<'s>, arena: &'s Bump) -> Option<Vec<Vec<&'s Schema<'s>>>> {
    for (at, schema) in all.iter().enumerate() {
        let extra = schema.extra();
        let (branches, is_one) = match (extra.any_of, extra.one_of) {
            ([], []) => continue,
            ([], branches) => (branches, true),
            (branches, _) => (branches, false),
        };
        if branches.len() > MOST || all.len() + branches.len() > MOST {
            return None;
        }
        let left = if is_one { Extra { one_of: &[], ..*extra } } else { Extra { any_of: &[], ..*extra } };
        let mut rest = all.to_vec();
        rest[at] = arena.alloc(Schema { extra: Some(arena.alloc(left)), ..**schema });
        let case = |chosen: usize| {
            let mut case = rest.clone();
            case.push(&branches[chosen]);
            // In oneOf, the other branches must reject the value.
            for (_, other) in branches.iter().enumerate().filter(|(other, _)| is_one && *other != chosen) {
                let extra = Extra { not: Some(other), ..Extra::default() };
                case.push(arena.alloc(Schema { extra: Some(arena.alloc(extra)), ..Schema::of_type(Type::Absent) }));
            }
            case
        };
        return Some((0..branches.len()).map(case).collect());
    }
    // Results depend on the type only where there is logic.
    let extra = of.extra();
    if extra.any_of.is_empty() && extra.one_of.is_empty() && extra.not.is_none() {
        return None;
    }
    let taken = types(all);
    let kinds = [
        (Type::Boolean, taken.has_booleans()),
        (Type::Number, taken.has_fractions()),
        (Type::Integer, taken.has_numbers() && !taken.has_fractions()),
        (Type::String, taken.has_strings()),
        (Type::Array, taken.has_arrays()),
        (Type::Object, taken.has_objects()),
    ];
    let kinds: Vec<Type> = kinds.into_iter().filter_map(|(ty, has)| has.then_some(ty)).collect();
    if kinds.len() < 2 {
        return None;
    }
    let case = |ty: Type| {
        let mut case = all.to_vec();
        let of_type: &'s Schema<'s> = arena.alloc(Schema::of_type(ty));
        case.push(of_type);
        case
    };
    Some(kinds.into_iter().map(case).collect())
}

/// The strings that all schemas accept, without formats.
pub(crate) struct Language<'s> {
    pub(crate) patterns: Vec<&'s str>,
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
}

impl<'s> Language<'s> {
    pub(crate) fn of(all: &[&'s Schema<'s>]) -> Language<'s> {
        let length = |bound: i64| u64::try_from(bound).unwrap_or_default();
        let patterns = all.iter().map(|schema| schema.extra().pattern).filter(|pattern| !pattern.is_empty());
        Language {
            patterns: patterns.collect(),
            least: all.iter().filter_map(|schema| schema.extra().min_length).map(length).max().unwrap_or_default(),
            most: all.iter().filter_map(|schema| schema.extra().max_length).map(length).min(),
        }
    }

    pub(crate) fn texts(&self) -> Texts<'_> {
        Texts { matched: &self.patterns, unmatched: &[], least: self.least, most: self.most }
    }
}

pub(crate) fn types(all: &[&Schema<'_>]) -> Types {
    all.iter().fold(Types::ANY, |types, schema| types.both(Types::of(schema)))
}

pub(crate) fn has(all: &[&Schema<'_>], flag: Flags) -> bool {
    all.iter().any(|schema| schema.flags.any(flag))
}

/// Returns whether an enumeration is a subset of another one.
pub(crate) fn lists_less(schema: &Schema<'_>, of: &Schema<'_>) -> bool {
    let (own, others) = (schema.enumeration, of.enumeration);
    !own.is_empty() && own.len().max(others.len()) <= VALUES && own.iter().all(|value| others.contains(value))
}

pub(crate) fn required<'s>(all: &[&'s Schema<'s>]) -> Vec<&'s str> {
    let mut out: Vec<&str> = all.iter().flat_map(|schema| schema.required).copied().collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// Returns the schemas of a field.
pub(crate) fn values_of<'s>(all: &[&'s Schema<'s>], name: &str) -> Vec<&'s Schema<'s>> {
    all.iter().filter_map(|schema| schema.property(name).or_else(|| schema.additional_schema())).collect()
}

/// Returns whether null is accepted. As in kube-openapi, an enumeration never contains it.
pub(crate) fn takes_null(schema: &Schema<'_>) -> bool {
    let has_type = schema.ty != Type::Absent || schema.flags.any(Flags::INT_OR_STRING);
    schema.enumeration.is_empty() && (!has_type || schema.flags.any(Flags::NULLABLE))
}

pub(crate) fn no_number(all: &[&Schema<'_>]) -> bool {
    let bounds = |bound: fn(&Extra<'_>) -> Option<f64>| {
        all.iter().filter_map(move |schema| bound(schema.extra())).filter(|bound| is_number_of_go(*bound))
    };
    let least = bounds(|extra| extra.minimum).reduce(f64::max);
    let most = bounds(|extra| extra.maximum).reduce(f64::min);
    // The fraction of a bound may be lost.
    least.zip(most).is_some_and(|(least, most)| least.trunc() > most.trunc())
}

pub(crate) fn no_list(all: &[&Schema<'_>]) -> bool {
    let least = all.iter().filter_map(|schema| schema.extra().min_items).max();
    let most = all.iter().filter_map(|schema| schema.extra().max_items).min();
    least.zip(most).is_some_and(|(least, most)| least > most)
}

pub(crate) fn without_not<'s>(schema: &Schema<'s>, arena: &'s Bump) -> Schema<'s> {
    Schema { extra: Some(arena.alloc(Extra { not: None, ..*schema.extra() })), ..*schema }
}

/// Returns whether a schema has only a pattern, so that its complement is the strings that do not match.
pub(crate) fn is_only_pattern(schema: &Schema<'_>) -> bool {
    let extra = schema.extra();
    let rest = Extra { pattern: "", ..*extra };
    !extra.pattern.is_empty()
        && rest == Extra::default()
        && schema.ty == Type::Absent
        && schema.enumeration.is_empty()
        && schema.format.is_empty()
        && schema.required.is_empty()
        && schema.properties.is_empty()
        && schema.items.is_none()
        && schema.additional.is_none()
}

/// Returns the format of a schema if a server checks it (`StripUnsupportedFormatsPostProcess`) and it rejects anything:
/// every integer fits `int64`, and every number `double`.
pub(crate) fn checked_format<'s>(schema: &Schema<'s>) -> &'s str {
    let format = schema.format;
    let is_checked = match schema.ty {
        _ if format.is_empty() => false,
        _ if schema.flags.any(Flags::INT_OR_STRING) => Format::named(format).is_some(),
        Type::Integer => format == "int32",
        Type::Number => format == "float",
        Type::Absent | Type::Other | Type::Several | Type::String => Format::named(format).is_some(),
        Type::Array | Type::Boolean | Type::Object => false,
    };
    if is_checked { format } else { "" }
}

/// Returns the numbers that a server compares with numbers, which have to fit the format, too.
pub(crate) fn bounds_of(schema: &Schema<'_>) -> impl Iterator<Item = f64> {
    let extra = schema.extra();
    [extra.minimum, extra.maximum, extra.multiple_of].into_iter().flatten()
}

/// A number as a value, as an integer if it is one that a double holds exactly.
#[expect(clippy::cast_possible_truncation, reason = "whole numbers that a double holds exactly")]
pub(crate) fn number<'a>(value: f64) -> Value<'a> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT { Value::Int(value as i64) } else { Value::Float(value) }
}

/// Returns whether every string or number of one format satisfies another one.
pub(crate) fn implies_format(format: &str, other: &str) -> bool {
    match (Format::named(format), Format::named(other)) {
        _ if format == other => true,
        (_, Some(Format::Password)) => true,
        (Some(format), Some(other)) => {
            format == other
                || matches!(
                    (format, other),
                    (Format::Uuid3 | Format::Uuid4 | Format::Uuid5, Format::Uuid)
                        | (Format::Isbn10 | Format::Isbn13, Format::Isbn)
                        | (Format::ShortName, Format::LongName)
                )
        }
        _ => false,
    }
}
