//! Checks of numbers, like kube-openapi's `numberValidator`.
//!
//! Bounds are doubles. For an integer they lose their fraction first; a bound outside the range of the schema's type is
//! an error for every value.

use super::name::{Failure, Name};
use super::outcome::{Base, Outcome, composite, failure};
use kubeshape_schema::Extra;
use kubeshape_schema::field::ErrorType;
use kubeshape_value::Value;
use kubeshape_yaml::go::number::General;

/// The range of the type and the format of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// No or several types: no range.
    Any,
    /// `type: integer`
    Integer { format: &'static str },
    /// `type: number`
    Number { format: &'static str },
}

/// A number of an object, or a bound.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
    fn as_f64(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(n) => n,
        }
    }

    fn value(self) -> Value<'static> {
        match self {
            Number::Int(n) => Value::Int(n),
            Number::Float(n) => Value::Float(n),
        }
    }
}

/// 2^63
const TWO_63: f64 = 9_223_372_036_854_775_808.0;
/// 2^53 - 1
const MAX_JSON: f64 = 9_007_199_254_740_991.0;
const EPSILON: f64 = 1e-9;

/// Converts like Go on amd64: numbers out of range become the least integer.
#[expect(clippy::cast_possible_truncation, reason = "checked before")]
pub(super) fn to_int(n: f64) -> i64 {
    if n > -TWO_63 && n < TWO_63 { n as i64 } else { i64::MIN }
}

/// Returns whether a double is treated as an integer: `swag.IsFloat64AJSONInteger`.
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "as Go converts")]
pub(super) fn is_integer(n: f64) -> bool {
    if !n.is_finite() || !(-MAX_JSON..=MAX_JSON).contains(&n) {
        return false;
    }
    #[expect(clippy::float_cmp, reason = "exactness is asked for")]
    if n == n.trunc() {
        return true;
    }
    let whole = (n as i64 as u64) as f64;
    let difference = (n - whole).abs();
    whole != 0.0 && difference / (n.abs() + whole.abs()).min(f64::MAX) < EPSILON
}

impl Range {
    /// Returns whether the range contains a number and all numbers that the schema compares it with.
    pub(super) fn takes(self, number: Number, extra: &Extra<'_>) -> bool {
        let others = [extra.multiple_of, extra.maximum, extra.minimum].into_iter().flatten().map(Number::Float);
        others.chain([number]).all(|number| self.holds(number))
    }

    fn holds(self, number: Number) -> bool {
        match (self, number) {
            (Range::Integer { format: "int32" }, Number::Int(n)) => i32::try_from(n).is_ok(),
            (Range::Integer { format: "int32" }, Number::Float(n)) => {
                n.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&n)
            }
            // The least integer prints with other digits as a double.
            (Range::Integer { .. }, Number::Float(n)) => n.fract() == 0.0 && n > -TWO_63 && n < TWO_63,
            #[expect(clippy::cast_possible_truncation, reason = "what is too large becomes infinite")]
            (Range::Number { format: "float" }, Number::Float(n)) => (n as f32).is_finite(),
            _ => true,
        }
    }

    /// Returns the error about a number that is out of range.
    fn refuses(self, number: Number, what: &str, name: &Name<'_>) -> Option<String> {
        let (type_name, format) = match self {
            Range::Any => return None,
            Range::Integer { format } => ("integer", format),
            Range::Number { format } => ("number", format),
        };
        if self.holds(number) {
            return None;
        }
        let format = if format.is_empty() { "(default format)".to_owned() } else { format!("with format {format}") };
        Some(format!("{what} value must be of type {type_name} {format} in {name}"))
    }
}

/// Checks a number against range, `multipleOf`, `maximum` and `minimum`.
pub(super) fn check(
    value: Number,
    range: Range,
    extra: &Extra<'_>,
    exclusive: [bool; 2],
    name: &Name<'_>,
    out: &mut Outcome<'_>,
) {
    refuse(range, value, "Checked", name, out);
    if let Some(factor) = extra.multiple_of {
        let native = !refuse(range, Number::Float(factor), "MultipleOf", name, out);
        multiple_of(value, factor, native, name, out);
    }
    let bounds = [
        (extra.maximum, "Maximum boundary", exclusive[0], ["less than or equal to", "less than"]),
        (extra.minimum, "Minimum boundary", exclusive[1], ["greater than or equal to", "greater than"]),
    ];
    for (at, (bound, what, exclusive, texts)) in bounds.into_iter().enumerate() {
        let Some(bound) = bound else { continue };
        let native = !refuse(range, Number::Float(bound), what, name, out);
        let (shown, order) = match value {
            Number::Int(n) if native => (Number::Int(to_int(bound)), Some(n.cmp(&to_int(bound)))),
            value => (Number::Float(bound), value.as_f64().partial_cmp(&bound)),
        };
        let Some(order) = order else { continue };
        let beyond = if at == 0 { order.is_gt() } else { order.is_lt() };
        if beyond || exclusive && order.is_eq() {
            out.fail(|base| {
                let value = if native { value } else { Number::Float(value.as_f64()) };
                let detail = format!("{name} in body should be {} {}", texts[usize::from(exclusive)], Shown(shown));
                out_of(base, name, value, detail)
            });
        }
    }
    out.matches(1);
}

fn multiple_of(value: Number, factor: f64, native: bool, name: &Name<'_>, out: &mut Outcome<'_>) {
    let (shown, positive, whole) = match value {
        Number::Int(n) if native => {
            let factor = to_int(factor);
            (Number::Int(factor), factor > 0, factor > 0 && n % factor == 0)
        }
        value => {
            let quotient = if factor < 1.0 { 1.0 / factor * value.as_f64() } else { value.as_f64() / factor };
            (Number::Float(factor), factor > 0.0, is_integer(quotient))
        }
    };
    let value = if native { value } else { Number::Float(value.as_f64()) };
    if !positive {
        out.fail(|base| {
            let detail = format!("factor MultipleOf declared for {name} must be positive: {}", Shown(shown));
            out_of(base, name, shown, detail)
        });
    } else if !whole {
        out.fail(|base| out_of(base, name, value, format!("{name} in body should be a multiple of {}", Shown(shown))));
    }
}

/// Reports a number that is out of range. The error is about the whole value, without a path.
fn refuse(range: Range, number: Number, what: &str, name: &Name<'_>, out: &mut Outcome<'_>) -> bool {
    let refused = range.refuses(number, what, name);
    let found = refused.is_some();
    if let Some(detail) = refused {
        out.fail(|base| composite(base, detail));
    }
    found
}

fn out_of(base: Base<'_>, name: &Name<'_>, value: Number, detail: String) -> Failure {
    failure(base, name, ErrorType::Invalid, base.printing.bad_value(value.value()), detail)
}

/// A number as Go's `%v` prints it.
struct Shown(Number);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Number::Int(n) => n.fmt(f),
            Number::Float(n) => General(n).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_integer;

    #[test]
    fn nearly_whole_doubles_are_treated_as_integers() {
        for (n, expected) in
            [(1.0, true), (1.5, false), (3.000_000_000_1, true), (-2.0, true), (1e16, false), (0.1, false)]
        {
            assert_eq!(is_integer(n), expected, "{n}");
        }
    }
}
