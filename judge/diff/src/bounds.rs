//! Bounds of numbers, strings, lists and maps.

use crate::types::Types;
use kubeshape_schema::{Extra, Flags, Schema};
use std::cmp::Ordering;
use std::fmt::Write as _;

/// A bound that changed.
pub(crate) struct Changed {
    pub(crate) keyword: &'static str,
    /// The keyword to mark.
    pub(crate) mark: &'static str,
    pub(crate) detail: String,
    /// Whether the new bound rejects values that the old one accepted.
    pub(crate) is_stricter: bool,
}

#[derive(Clone, Copy, PartialEq)]
struct Bound {
    value: f64,
    is_exclusive: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Least,
    Most,
}

type Get = fn(&Extra<'_>) -> Option<f64>;

// Lengths are small enough for a double to represent exactly.
#[allow(clippy::cast_precision_loss)]
fn length(value: Option<i64>) -> Option<f64> {
    value.map(|value| value as f64)
}

/// Returns the changed bounds that values of these types can reach.
pub(crate) fn changes(old: &Schema<'_>, new: &Schema<'_>, types: Types) -> Vec<Changed> {
    let keywords: [(&'static str, Side, bool, Get); 8] = [
        ("minimum", Side::Least, types.has_numbers(), |extra| extra.minimum),
        ("maximum", Side::Most, types.has_numbers(), |extra| extra.maximum),
        ("minLength", Side::Least, types.has_strings(), |extra| length(extra.min_length)),
        ("maxLength", Side::Most, types.has_strings(), |extra| length(extra.max_length)),
        ("minItems", Side::Least, types.has_arrays(), |extra| length(extra.min_items)),
        ("maxItems", Side::Most, types.has_arrays(), |extra| length(extra.max_items)),
        ("minProperties", Side::Least, types.has_objects(), |extra| length(extra.min_properties)),
        ("maxProperties", Side::Most, types.has_objects(), |extra| length(extra.max_properties)),
    ];
    let mut out = Vec::new();
    for (keyword, side, is_reached, get) in keywords {
        let bound = |schema: &Schema<'_>| {
            let value = get(schema.extra())?;
            // Lengths are never negative.
            if side == Side::Least && value <= 0.0 && keyword != "minimum" {
                return None;
            }
            let exclusive = match keyword {
                "minimum" => Flags::EXCLUSIVE_MINIMUM,
                "maximum" => Flags::EXCLUSIVE_MAXIMUM,
                _ => Flags::NONE,
            };
            Some(Bound { value, is_exclusive: schema.flags.any(exclusive) })
        };
        let (old, new) = (bound(old), bound(new));
        if !is_reached || old == new {
            continue;
        }
        let is_stricter = match (old, new) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(old), Some(new)) => {
                !is_number_of_go(old.value) || !is_number_of_go(new.value) || is_stricter(side, old, new)
            }
        };
        let mark = match (keyword, old, new) {
            ("minimum", Some(old), Some(new)) if old.value.total_cmp(&new.value).is_eq() => "exclusiveMinimum",
            ("maximum", Some(old), Some(new)) if old.value.total_cmp(&new.value).is_eq() => "exclusiveMaximum",
            _ => keyword,
        };
        out.push(Changed { keyword, mark, detail: detail(keyword, old, new), is_stricter });
    }
    out.extend(multiple(old.extra().multiple_of, new.extra().multiple_of).filter(|_| types.has_numbers()));
    out
}

/// Returns whether a bound is used as the number it is. Beyond 64 bits, upstream converts it to a different integer, or
/// rejects all integers (kube-openapi: `IsValueValidAgainstRange`, `MinimumNativeType`).
pub(crate) fn is_number_of_go(bound: f64) -> bool {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    bound.abs() < LIMIT
}

fn is_stricter(side: Side, old: Bound, new: Bound) -> bool {
    match (side, new.value.total_cmp(&old.value)) {
        (_, Ordering::Equal) => new.is_exclusive && !old.is_exclusive,
        (Side::Least, order) => order == Ordering::Greater,
        (Side::Most, order) => order == Ordering::Less,
    }
}

fn detail(keyword: &str, old: Option<Bound>, new: Option<Bound>) -> String {
    let text = |bound: Bound| {
        let mut text = bound.value.to_string();
        if bound.is_exclusive {
            let _ = write!(text, " (exclusive)");
        }
        text
    };
    match (old, new) {
        (None, Some(new)) => format!("{keyword} {} added", text(new)),
        (Some(old), None) => format!("{keyword} {} removed", text(old)),
        (Some(old), Some(new)) => format!("{keyword} changed from {} to {}", text(old), text(new)),
        (None, None) => String::new(),
    }
}

fn multiple(old: Option<f64>, new: Option<f64>) -> Option<Changed> {
    if old == new {
        return None;
    }
    let plain = |value| Bound { value, is_exclusive: false };
    let is_multiple = |value: f64, of: f64| of != 0.0 && value % of == 0.0;
    let is_implied = |old, new| is_number_of_go(old) && is_number_of_go(new) && is_multiple(old, new);
    let is_stricter = new.is_some_and(|new| !old.is_some_and(|old| is_implied(old, new)));
    let detail = detail("multipleOf", old.map(plain), new.map(plain));
    Some(Changed { keyword: "multipleOf", mark: "multipleOf", detail, is_stricter })
}
