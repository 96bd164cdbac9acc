//! What an expression may cost at most, before any object is seen.

mod calls;
mod estimate;

pub(crate) use estimate::{endless, estimate};

use crate::release::AskedRelease;
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
    /// One number.
    pub const fn fixed(value: u64) -> Range {
        Range { min: value, max: value }
    }

    /// From nothing to no bound.
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

/// Tells how large values are, by the path that leads to them from a variable: `self`, `spec`, `@items`.
pub trait Sizes {
    /// The size of the value at a path in the release whose costs are estimated; `None` if nothing is known.
    fn size(&self, path: &[&str], release: &AskedRelease) -> Option<Range>;
}

/// Nothing is known about any size.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownSizes;

impl Sizes for UnknownSizes {
    fn size(&self, _path: &[&str], _release: &AskedRelease) -> Option<Range> {
        None
    }
}

/// Whether a function of Kubernetes' libraries costs one, whatever its arguments are.
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

/// Whether a signature goes through the shorter one of two values.
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

/// Whether values of the type have the size 1.
fn is_scalar(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        Type::Wrapper(inner) => is_scalar(inner),
        other => other.as_optional().is_some_and(is_scalar),
    }
}
