//! Numbers as they come out of Kubernetes' YAML to JSON conversion.

/// A number in the form that its JSON literal has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A literal without fraction and exponent that fits a signed 64-bit integer.
    Int(i64),
    /// A literal without fraction and exponent that only fits an unsigned 64-bit integer.
    Uint(u64),
    /// Any other number.
    Float(f64),
}

impl Number {
    /// The number as a double.
    #[allow(clippy::cast_precision_loss)]
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Uint(n) => n as f64,
            Number::Float(n) => n,
        }
    }
}

/// Reads a JSON number literal: `1` is an integer, `1.0` and `1e3` are not.
pub fn from_json_literal(text: &str) -> Option<Number> {
    let _ = text;
    None
}

/// Reads a plain YAML scalar that was resolved to a number. A float whose JSON form is integral
/// (`1.0`, `1e3`) is an integer, because it has passed through JSON when anyone sees it.
pub fn from_yaml_scalar(text: &str) -> Option<Number> {
    let _ = text;
    None
}
