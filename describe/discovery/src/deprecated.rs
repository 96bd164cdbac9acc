//! Warnings about deprecated versions of custom resources, with the server's messages.

use crate::version_order;
use std::fmt::Write as _;

/// A version of a CustomResourceDefinition.
#[derive(Clone, Copy, Debug)]
pub struct CustomVersion<'t> {
    /// `v1beta1`
    pub name: &'t str,
    /// Whether the server serves it.
    pub served: bool,
    /// `deprecated`
    pub deprecated: bool,
    /// `deprecationWarning`
    pub warning: Option<&'t str>,
}

/// Returns the best version that is served and not deprecated, in the order of versions.
pub fn best<'t>(versions: &[CustomVersion<'t>]) -> Option<&'t str> {
    let good = versions.iter().filter(|version| version.served && !version.deprecated).map(|version| version.name);
    good.min_by(|a, b| version_order(a, b))
}

/// Returns the warning of a server about a version of a custom resource, or `None` if it is not deprecated. If the
/// definition has no warning of its own, the message names the [`best`] version if that is a better one (upstream:
/// `defaultDeprecationWarning` of apiextensions-apiserver).
///
/// # Example
/// ```
/// use kubeshape_discovery::deprecated::{CustomVersion, best, custom_warning};
/// let version = |name, deprecated| CustomVersion { name, served: true, deprecated, warning: None };
/// let versions = [version("v1alpha1", true), version("v1beta1", false), version("v1", false)];
/// let text = custom_warning("example.com", "Widget", &versions[0], best(&versions)).unwrap();
/// assert_eq!(text, "example.com/v1alpha1 Widget is deprecated; use example.com/v1 Widget");
/// assert_eq!(custom_warning("example.com", "Widget", &versions[1], best(&versions)), None);
/// ```
pub fn custom_warning(group: &str, kind: &str, version: &CustomVersion<'_>, best: Option<&str>) -> Option<String> {
    if !version.deprecated {
        return None;
    }
    if let Some(warning) = version.warning {
        return Some(warning.to_owned());
    }
    let mut out = format!("{group}/{} {kind} is deprecated", version.name);
    if let Some(best) = best.filter(|best| version_order(best, version.name).is_lt()) {
        let _ = write!(out, "; use {group}/{best} {kind}");
    }
    Some(out)
}
