//! The estimated cost of calls of library functions.

// The casts are of numbers that are not negative.
#![allow(clippy::cast_sign_loss)]

use super::Range;
use super::is_flat;
use crate::release::{Change, Language};
use crate::types::Type;

/// What is known about an argument.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) ty: Type,
    pub(super) size: Option<Range>,
    /// For lists: the type of the elements, and their size if it is known.
    pub(super) item: Option<(Type, Option<Range>)>,
    pub(super) literal: Option<i64>,
}

impl Operand {
    pub(super) fn known(&self) -> Range {
        self.size.unwrap_or(Range::UNKNOWN)
    }

    /// Returns the value of a literal number that is not negative, or the default.
    fn number(&self, default: u64) -> u64 {
        self.literal.map_or(default, |value| u64::try_from(value).unwrap_or(0))
    }
}

type Estimate = Option<(Range, Option<Range>)>;

const ONE: Range = Range::fixed(1);

// It returns an `Option` only because its callers do.
#[allow(clippy::unnecessary_wraps)]
fn list_call(factor: f64, size: Range) -> Estimate {
    Some((size.scaled(factor).plus(ONE).plus(Range::fixed(10)), Some(size)))
}

fn extension(overload: &str, target: Option<&Operand>, args: &[Operand]) -> Estimate {
    match (overload, target, args) {
        ("list_sets_contains_list" | "list_sets_intersects_list", _, [a, b]) => {
            Some((a.known().times(b.known()).scaled(1.0).plus(ONE), None))
        }
        ("list_sets_equivalent_list", _, [a, b]) => Some((a.known().times(b.known()).scaled(2.0).plus(ONE), None)),
        ("list_slice", Some(target), [start, end]) => {
            let (start, end) = (start.number(0), end.number(target.known().max));
            list_call(1.0, Range::fixed(end.wrapping_sub(start)))
        }
        ("lists_range", None, [count]) => list_call(1.0, Range::fixed(count.number(u64::MAX))),
        ("list_reverse" | "list_flatten", Some(target), []) => list_call(1.0, target.known()),
        #[allow(clippy::cast_precision_loss)]
        ("list_flatten_int", Some(target), [depth]) => list_call(depth.number(u64::MAX) as f64, target.known()),
        ("list_distinct", Some(target), []) => list_call(2.0, target.known().times(target.known())),
        (_, Some(target), []) if overload.starts_with("list_") && overload.ends_with("_sort") => {
            let text = matches!(overload, "list_string_sort" | "list_bytes_sort");
            list_call(if text { 2.1 } else { 2.0 }, target.known().times(target.known()))
        }
        (_, Some(_), [keys]) if overload.ends_with("_sortByAssociatedKeys") => {
            let text = overload.starts_with("list_string_") || overload.starts_with("list_bytes_");
            list_call(if text { 2.1 } else { 2.0 }, keys.known().times(keys.known()))
        }
        _ => None,
    }
}

/// Estimates the cost of a function outside the standard library, and the size of its result.
pub(super) fn estimate(
    function: &str,
    overload: &str,
    target: Option<&Operand>,
    args: &[Operand],
    language: &Language,
) -> Estimate {
    if let Some(found) = extension(overload, target, args) {
        return Some(found);
    }
    let traverse = |size: Range| Some((size.scaled(0.1), None));
    match (function, target, args) {
        ("check", ..) => Some((Range::fixed(350_000), None)),
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(target), _) => {
            let Some((ty, size)) = &target.item else { return traverse(target.known()) };
            let mut each = ONE;
            if matches!(ty, Type::String | Type::Bytes) {
                each = each.plus(size.unwrap_or(Range::UNKNOWN).scaled(0.1));
            }
            Some((target.known().times(each), None))
        }
        ("url" | "jsonpatch.escapeKey", _, [text]) => {
            let size = language.has(Change::BoundedEquality).then(|| text.known());
            Some((text.known().scaled(0.1), size))
        }
        ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(target), _) => {
            Some((target.known().scaled(0.1), Some(target.known())))
        }
        ("replace", Some(target), [old, new, ..]) => Some(replace(target.known(), old.known(), new.known())),
        ("split", Some(target), _) => {
            let size = target.known();
            let max = args.get(1).and_then(|most| most.literal).map_or(size.max, |most| most as u64);
            Some((size.scaled(0.2), Some(Range { min: 0, max })))
        }
        ("join", Some(target), _) => Some(join(target, args.first())),
        ("find" | "findAll", Some(target), [pattern, ..]) => {
            let size = target.known();
            let text = size.plus(ONE).scaled(0.1);
            Some((text.times(pattern.known().scaled(0.25)), Some(Range { min: 0, max: size.max })))
        }
        ("ip", ..) if overload == "cidr_ip" => Some((ONE, None)),
        ("quantity" | "isQuantity", ..) if !language.has(Change::QuantitiesCost) => None,
        ("cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver", _, [text, ..]) => {
            traverse(text.known())
        }
        ("ip.isCanonical", _, [text, ..]) => Some((text.known().scaled(0.2), None)),
        ("containsIP", _, [other, ..]) => {
            let size = Range { min: 4, max: 16 };
            let cost = size.plus(size).scaled(0.1);
            let other = (overload == "cidr_contains_ip_string").then(|| other.known().scaled(0.1));
            Some((other.map_or(cost, |other| cost.plus(other)), None))
        }
        ("containsCIDR", _, [other, ..]) => {
            let size = Range { min: 4, max: 16 };
            let cost = size.plus(size).scaled(0.1).plus(size.scaled(0.1)).plus(ONE);
            let other = (overload == "cidr_contains_cidr_string").then(|| other.known().scaled(0.1));
            Some((other.map_or(cost, |other| cost.plus(other)), None))
        }
        ("validate", _, [text, ..]) => Some((text.known().scaled(0.1).scaled(128.0 * 0.25), None)),
        (name, ..) if is_flat(name) => Some((ONE, None)),
        ("_==_", _, [a, b]) if a.ty.name() == b.ty.name() => {
            let cost = match a.ty.name() {
                "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver" => ONE,
                "kubernetes.NamedFormat" => Range { min: 1, max: 64 }.scaled(0.1),
                "kubernetes.URL" => {
                    let max = b.size.map_or(1, |size| size.max);
                    Range { min: 1, max }.scaled(0.1)
                }
                _ => return None,
            };
            language.has(Change::BoundedEquality).then_some((cost, None))
        }
        _ => None,
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn quotient(a: u64, b: u64) -> u64 {
    (a as f64 / b as f64).ceil() as u64
}

fn replace(size: Range, old: Range, new: Range) -> (Range, Option<Range>) {
    let (mut count, mut kept) = (Range::fixed(0), Range::fixed(0));
    if old.min == 0 {
        count.max = size.max.saturating_add(1);
        kept.max = size.max;
    } else if new.max <= old.min {
        kept.max = size.max;
    } else {
        count.max = quotient(size.max, old.min);
    }
    if old.max == 0 {
        count.min = size.min.saturating_add(1);
        kept.min = size.min;
    } else if old.max <= new.min {
        kept.min = size.min;
    } else {
        count.min = quotient(size.min, old.max);
    }
    (size.scaled(0.2), Some(count.times(new).plus(kept)))
}

fn join(target: &Operand, separator: Option<&Operand>) -> (Range, Option<Range>) {
    let list = target.known();
    let mut size = match &target.item {
        Some((_, item)) => list.times(item.unwrap_or(Range::UNKNOWN)),
        None => Range::fixed(0),
    };
    if let Some(separator) = separator {
        let between = Range { min: list.min.saturating_sub(1), max: list.max.saturating_sub(1) };
        size = size.plus(separator.known().times(between));
    }
    (size.scaled(0.1), Some(size))
}
