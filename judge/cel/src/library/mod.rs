//! The libraries of functions.

pub(crate) mod authorization;
pub(crate) mod bindings;
pub(crate) mod format;
pub(crate) mod lists;
pub(crate) mod named;
pub(crate) mod net;
pub(crate) mod quantity;
pub(crate) mod regex;
pub(crate) mod semver;
pub(crate) mod standard;
pub(crate) mod strings;

use crate::types::Type;
use kubeshape_yaml::go::Url;
pub use quantity::Quantity;
use std::fmt;
use std::sync::Arc;

/// A value of a Kubernetes type.
#[derive(Clone, Debug)]
pub enum Kube {
    /// A quantity. The flag marks results of `add` and `sub`, which upstream cannot compare as the right operand.
    Quantity(Arc<quantity::Quantity>, bool),
    /// An address.
    Ip(net::Addr),
    /// A network.
    Cidr(net::Cidr),
    /// A URL.
    Url(Arc<Url>),
    /// A semantic version.
    Semver(Arc<semver::Version>),
    /// A named format.
    Format(&'static named::Format),
    /// An authorization check.
    Authorization(Arc<authorization::Authorization>),
}

impl Kube {
    /// Returns the name of the type.
    pub fn name(&self) -> &'static str {
        match self {
            Kube::Quantity(..) => "kubernetes.Quantity",
            Kube::Ip(_) => "net.IP",
            Kube::Cidr(_) => "net.CIDR",
            Kube::Url(_) => "kubernetes.URL",
            Kube::Semver(_) => "kubernetes.Semver",
            Kube::Format(_) => "kubernetes.NamedFormat",
            Kube::Authorization(value) => value.name(),
        }
    }

    pub(crate) fn type_of(&self) -> Type {
        match self {
            Kube::Ip(_) | Kube::Cidr(_) => Type::Opaque(self.name().into(), Arc::from([])),
            _ => Type::Struct(self.name().into()),
        }
    }

    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Kube::Ip(addr) => Some(if addr.is_v4() { 4 } else { 16 }),
            Kube::Cidr(cidr) => Some(u64::from(cidr.bits).div_ceil(8)),
            _ => None,
        }
    }

    pub(crate) fn go_type(&self) -> &'static str {
        match self {
            Kube::Quantity(_, false) => "cel.Quantity",
            Kube::Quantity(_, true) => "*cel.Quantity",
            Kube::Ip(_) => "cel.IP",
            Kube::Cidr(_) => "cel.CIDR",
            Kube::Url(_) => "cel.URL",
            Kube::Semver(_) => "cel.Semver",
            Kube::Format(_) => "cel.Format",
            Kube::Authorization(value) => value.go_type(),
        }
    }

    /// Compares two values like `==`. Returns `None` if their types have no comparison, or not with each other.
    pub(crate) fn equal(&self, other: &Kube) -> Option<bool> {
        Some(match (self, other) {
            (Kube::Quantity(a, _), Kube::Quantity(b, false)) => a.cmp(b) == std::cmp::Ordering::Equal,
            (Kube::Ip(a), Kube::Ip(b)) => a == b,
            (Kube::Cidr(a), Kube::Cidr(b)) => a == b,
            (Kube::Url(a), Kube::Url(b)) => a.to_string() == b.to_string(),
            (Kube::Semver(a), Kube::Semver(b)) => a.cmp(b) == std::cmp::Ordering::Equal,
            (Kube::Format(a), Kube::Format(b)) => a.name == b.name,
            _ => return None,
        })
    }
}

impl fmt::Display for Kube {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kube::Quantity(quantity, _) => quantity.fmt(f),
            Kube::Ip(addr) => addr.fmt(f),
            Kube::Cidr(cidr) => cidr.fmt(f),
            Kube::Url(url) => url.fmt(f),
            Kube::Semver(version) => version.fmt(f),
            Kube::Format(format) => f.write_str(format.name),
            Kube::Authorization(value) => value.fmt(f),
        }
    }
}
