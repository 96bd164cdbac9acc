//! Runtime costs of calls.

use crate::cost::{compares, is_flat};
use crate::library::Kube;
use crate::release::{Change, Language};
use crate::value::{List, Value};

/// Returns the cost of walking through a string: a tenth of its length.
#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
pub(crate) fn traverse(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

pub(crate) const STRING_FACTOR: f64 = 0.1;
const REGEX_FACTOR: f64 = 0.25;

fn size(value: &Value<'_>) -> u64 {
    value.size().unwrap_or(1)
}

/// Like [`size`], for the value inside an optional.
fn inner_size(value: &Value<'_>) -> u64 {
    match value {
        Value::Optional(Some(inner)) => inner_size(inner),
        other => size(other),
    }
}

fn regex(text: u64, pattern: u64) -> u64 {
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
    let text = ((1.0 + text as f64) * STRING_FACTOR).ceil() as u64;
    text * traverse(pattern, REGEX_FACTOR)
}

#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn full_traversal(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => (text.len() as f64 * STRING_FACTOR) as u64,
        Value::Bytes(bytes) => (bytes.len() as f64 * STRING_FACTOR) as u64,
        Value::List(list) => list.iter().map(|item| full_traversal(&item)).sum(),
        Value::Map(map) => map.iter().map(|(key, value)| full_traversal(&key) + full_traversal(&value)).sum(),
        _ => 1,
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn list_call(size: u64, factor: f64) -> u64 {
    let cost = size as f64 * factor;
    // Upstream converts a negative cost to a huge one.
    let cost = if cost < 0.0 { cost as i64 as u64 } else { cost as u64 };
    cost.wrapping_add(11)
}

/// Reproduces upstream's cost of sorting, which fails the whole evaluation if the value is not a list.
fn self_compare(list: &Value<'_>) -> Result<u64, String> {
    if !matches!(list, Value::List(_)) {
        let method = match list {
            Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Duration(_)
            | Value::Timestamp(_) => "Contains",
            _ => "Add",
        };
        let ty = crate::value::print::go_type(list);
        return Err(format!(
            "internal error: interface conversion: {ty} is not traits.Lister: missing method {method}"
        ));
    }
    let size = size(list);
    let text = matches!(list, Value::List(list) if matches!(first(list), Some(Value::String(_) | Value::Bytes(_))));
    Ok(list_call(size.saturating_mul(size), if text { 2.1 } else { 2.0 }))
}

fn first<'a>(list: &List<'a>) -> Option<Value<'a>> {
    list.get(0)
}

/// How the cost of a call is computed. Determined once for each signature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charge {
    own: Own,
    /// Used if `own` has no cost for the arguments.
    standard: Standard,
}

/// Costs of library functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    Nothing,
    Fixed(u64),
    /// Both lists, multiplied by this number.
    Pairs(u64),
    /// The resulting list.
    MadeList,
    /// The list.
    Flatten,
    /// The list, multiplied by the second argument.
    FlattenTo,
    /// The square of the size of the argument with this number.
    Square(usize),
    /// Everything inside the receiver.
    All,
    /// The first string, multiplied by this number.
    Text(u8),
    /// Like `Text(1)`, from [`Change::QuantitiesCost`] on.
    Quantity,
    /// The resulting string.
    Join,
    /// A string and a regular expression.
    Search,
    /// A network and an address. The flag says that the address is a string.
    Address(bool),
    /// Two networks. The flag says that the second one is a string.
    Network(bool),
    /// A named format and a string.
    Validate,
    /// A comparison of values of Kubernetes' types.
    Equality,
}

/// Costs of functions of the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standard {
    One,
    First,
    Second,
    /// The shorter argument.
    Compare,
    /// Both arguments.
    Join,
    Matches,
    /// Like `Matches`, from [`Change::MatchesAsFunction`] on.
    MatchesFunction,
    Contains,
    /// The second argument; before [`Change::PrefixesCost`], the first one.
    Affix,
}

impl Charge {
    /// `a == b`
    pub(crate) const EQUALS: Charge = Charge { own: Own::Equality, standard: Standard::Compare };
    /// `a != b`
    pub(crate) const NOT_EQUALS: Charge = Charge { own: Own::Nothing, standard: Standard::Compare };

    /// Returns the charge of a signature. `overload` is empty if several can be reached.
    pub(crate) fn of(function: &str, overload: &str) -> Charge {
        let own = match overload {
            "list_sets_contains_list" | "list_sets_intersects_list" => Own::Pairs(1),
            "list_sets_equivalent_list" => Own::Pairs(2),
            "list_slice" | "lists_range" | "list_reverse" => Own::MadeList,
            "list_flatten" => Own::Flatten,
            "list_flatten_int" => Own::FlattenTo,
            "list_distinct" => Own::Square(0),
            other if other.starts_with("list_") && other.ends_with("_sort") => Own::Square(0),
            other if other.ends_with("_sortByAssociatedKeys") => Own::Square(1),
            _ => Own::of(function, overload),
        };
        let standard = match overload {
            "starts_with_string" | "ends_with_string" => Standard::Affix,
            "string_to_bytes" | "bytes_to_string" | "strings_quote" | "string_format" => Standard::First,
            "in_list" => Standard::Second,
            other if compares(other) => Standard::Compare,
            "add_string" | "add_bytes" => Standard::Join,
            "matches_string" => Standard::Matches,
            "matches" => Standard::MatchesFunction,
            "contains_string" => Standard::Contains,
            _ => Standard::One,
        };
        Charge { own, standard }
    }

    /// Returns the charge in a release.
    pub(crate) fn in_release(self, language: &Language) -> Charge {
        let own = match self.own {
            Own::Quantity if !language.has(Change::QuantitiesCost) => Own::Nothing,
            own => own,
        };
        let standard = match self.standard {
            Standard::MatchesFunction if !language.has(Change::MatchesAsFunction) => Standard::One,
            Standard::Affix if !language.has(Change::PrefixesCost) => Standard::First,
            standard => standard,
        };
        Charge { own, standard }
    }

    /// Returns the cost of comparing two strings of these sizes.
    pub(crate) fn shorter(a: usize, b: usize) -> u64 {
        traverse(a.min(b) as u64, STRING_FACTOR)
    }

    /// Returns whether every call costs 1.
    pub(crate) fn is_one(self) -> bool {
        self.own == Own::Nothing && self.standard == Standard::One
    }

    /// Returns whether the cost depends on the result. All other calls are charged before they run, so that a call that
    /// costs too much does not run.
    pub(crate) fn needs_result(self) -> bool {
        matches!(self.own, Own::MadeList | Own::Join)
    }

    /// Returns whether the cost depends on everything inside the receiver.
    pub(crate) fn goes_through(self) -> bool {
        self.own == Own::All
    }

    /// Returns the cost of a call. `result` is used only if [`needs_result`](Charge::needs_result).
    #[inline]
    pub(crate) fn call(self, args: &[Value<'_>], result: &Value<'_>) -> Result<u64, String> {
        if self.own != Own::Nothing
            && let Some(cost) = self.own.call(args, result)?
        {
            return Ok(cost);
        }
        Ok(match self.standard {
            Standard::One => 1,
            other => other.call(args),
        })
    }
}

impl Own {
    fn of(function: &str, overload: &str) -> Own {
        match function {
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => Own::All,
            "ip" if overload == "cidr_ip" => Own::Fixed(1),
            "jsonpatch.escapeKey"
            | "url"
            | "lowerAscii"
            | "upperAscii"
            | "substring"
            | "trim"
            | "cidr"
            | "isIP"
            | "isCIDR"
            | "semver"
            | "isSemver"
            | "ip" => Own::Text(1),
            "quantity" | "isQuantity" => Own::Quantity,
            "replace" | "split" | "ip.isCanonical" => Own::Text(2),
            "join" => Own::Join,
            "find" | "findAll" => Own::Search,
            "check" => Own::Fixed(350_000),
            "containsIP" => Own::Address(overload == "cidr_contains_ip_string"),
            "containsCIDR" => Own::Network(overload == "cidr_contains_cidr_string"),
            "validate" => Own::Validate,
            "_==_" => Own::Equality,
            name if is_flat(name) => Own::Fixed(1),
            _ => Own::Nothing,
        }
    }

    /// Returns `None` if this table has no cost for the arguments.
    fn call(self, args: &[Value<'_>], result: &Value<'_>) -> Result<Option<u64>, String> {
        let text = |index: usize, factor: f64| args.get(index).map(|arg| traverse(size(arg), factor));
        Ok(match self {
            Own::Nothing => None,
            Own::Fixed(cost) => Some(cost),
            Own::Pairs(times) => Some(1 + size(&args[0]) * size(&args[1]) * times),
            Own::MadeList => Some(list_call(size(result), 1.0)),
            Own::Flatten => Some(list_call(size(&args[0]), 1.0)),
            #[allow(clippy::cast_precision_loss)]
            Own::FlattenTo => {
                let Value::Int(depth) = args[1] else {
                    let ty = crate::value::print::go_type(&args[1]);
                    return Err(format!("internal error: interface conversion: ref.Val is {ty}, not types.Int"));
                };
                Some(list_call(size(&args[0]), depth as f64))
            }
            Own::Square(index) => Some(self_compare(&args[index])?),
            Own::All => Some(args.first().map_or(0, full_traversal)),
            Own::Quantity => text(0, STRING_FACTOR),
            Own::Text(times) => text(0, f64::from(times) * STRING_FACTOR),
            Own::Join => Some(traverse(size(result), 2.0 * STRING_FACTOR)),
            Own::Search => match args {
                [searched, pattern, ..] => Some(regex(size(searched), size(pattern))),
                _ => None,
            },
            Own::Address(is_text) => (args.len() >= 2).then(|| {
                let cost = traverse(size(&args[0]) * 2, STRING_FACTOR);
                cost + if is_text { text(1, STRING_FACTOR).unwrap_or(0) } else { 0 }
            }),
            Own::Network(is_text) => (args.len() >= 2).then(|| {
                let own = size(&args[0]);
                let cost = traverse(own * 2, STRING_FACTOR) + traverse(own, STRING_FACTOR) + 1;
                cost + if is_text { text(1, STRING_FACTOR).unwrap_or(0) } else { 0 }
            }),
            Own::Validate => match args {
                [Value::Kube(Kube::Format(format)), value] => Some(regex(size(value), format.regex_size)),
                _ => None,
            },
            Own::Equality => matches!(args.first(), Some(Value::Kube(_))).then_some(1),
        })
    }
}

impl Standard {
    fn call(self, args: &[Value<'_>]) -> u64 {
        match self {
            Standard::One => 1,
            Standard::First => traverse(inner_size(&args[0]), STRING_FACTOR),
            Standard::Second => inner_size(&args[1]),
            Standard::Compare => traverse(inner_size(&args[0]).min(inner_size(&args[1])), STRING_FACTOR),
            Standard::Join => traverse(inner_size(&args[0]) + inner_size(&args[1]), STRING_FACTOR),
            Standard::Affix => traverse(inner_size(&args[1]), STRING_FACTOR),
            Standard::Matches | Standard::MatchesFunction => regex(inner_size(&args[0]), inner_size(&args[1])),
            Standard::Contains => {
                traverse(inner_size(&args[0]), STRING_FACTOR) * traverse(inner_size(&args[1]), STRING_FACTOR)
            }
        }
    }
}
