//! The estimated cost of an expression, before any object is known.

mod calls;
mod estimate;

pub(crate) use estimate::{endless, estimate, estimate_within};

use crate::release::Language;
use crate::types::Type;

/// A range of costs or of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// At least this.
    pub min: u64,
    /// At most this; `u64::MAX` if there is no bound.
    pub max: u64,
}

impl Range {
    /// Returns a range of one number.
    pub const fn fixed(value: u64) -> Range {
        Range { min: value, max: value }
    }

    /// From zero to unbounded.
    pub const UNKNOWN: Range = Range { min: 0, max: u64::MAX };

    pub(crate) fn plus(self, other: Range) -> Range {
        Range { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(crate) fn times(self, other: Range) -> Range {
        Range { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    pub(crate) fn scaled(self, factor: f64) -> Range {
        Range { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    pub(crate) fn union(self, other: Range) -> Range {
        Range { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn scale(value: u64, factor: f64) -> u64 {
    const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
    let value = value as f64;
    if value > 0.0 && factor > 0.0 && value > TWO_TO_64 / factor {
        return u64::MAX;
    }
    let scaled = (value * factor).ceil();
    if scaled >= TWO_TO_64 { u64::MAX } else { scaled as u64 }
}

/// Returns the sizes of values. A value is named by the path that leads to it from a variable: `self`, `spec`,
/// `@items`.
pub trait Sizes {
    /// Returns the size of the value at a path, in the release whose costs are estimated; `None` if it is unknown.
    fn size(&self, path: &[&str], language: &Language) -> Option<Range>;
}

/// No size is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownSizes;

impl Sizes for UnknownSizes {
    fn size(&self, _path: &[&str], _release: &Language) -> Option<Range> {
        None
    }
}

/// Returns whether a function of Kubernetes' libraries costs 1 for all arguments.
pub(crate) fn is_flat(function: &str) -> bool {
    matches!(
        function,
        "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast"
            | "format.named"
            | "sign"
            | "asInteger"
            | "isInteger"
            | "asApproximateFloat"
            | "isGreaterThan"
            | "isLessThan"
            | "compareTo"
            | "add"
            | "sub"
            | "major"
            | "minor"
            | "patch"
            | "getScheme"
            | "getHostname"
            | "getHost"
            | "getPort"
            | "getEscapedPath"
            | "getQuery"
            | "serviceAccount"
            | "path"
            | "group"
            | "resource"
            | "subresource"
            | "namespace"
            | "name"
            | "allowed"
            | "reason"
            | "error"
            | "errored"
    )
}

/// Returns whether a signature walks through the shorter one of two values.
pub(crate) fn compares(overload: &str) -> bool {
    matches!(
        overload,
        "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals"
    )
}

/// Returns whether values of the type have the size 1.
fn is_scalar(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        Type::Wrapper(inner) => is_scalar(inner),
        other => other.as_optional().is_some_and(is_scalar),
    }
}
