//! Group, version and kind.

use crate::value::Value;
use std::fmt;

/// The type of an object: its `apiVersion` and its `kind`.
///
/// # Example: of an object
/// ```
/// use kubeshape_smd::{Bump, ToValue, managed::Gvk};
/// let arena = Bump::new();
/// let object = serde_json::json!({"apiVersion": "apps/v1", "kind": "Deployment"});
/// let gvk = Gvk::of(object.to_value(&arena));
/// assert_eq!(gvk, Gvk::new("apps/v1", "Deployment"));
/// assert_eq!((gvk.group(), gvk.version()), ("apps", "v1"));
/// assert_eq!(gvk.to_string(), "apps/v1, Kind=Deployment");
/// assert_eq!(Gvk::default().to_string(), "/, Kind=");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gvk<'a> {
    api_version: &'a str,
    kind: &'a str,
}

impl<'a> Gvk<'a> {
    /// Of these. An `apiVersion` with more than one slash is none: as upstream decides, everything is empty then.
    pub fn new(api_version: &'a str, kind: &'a str) -> Self {
        match api_version.split_once('/') {
            Some((_, version)) if version.contains('/') => Gvk::default(),
            Some(("", version)) => Gvk { api_version: version, kind },
            _ => Gvk { api_version, kind },
        }
    }

    /// What an object says of itself.
    pub fn of(object: Value<'a>) -> Self {
        let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
        Gvk::new(text("apiVersion"), text("kind"))
    }

    /// `group/version`, or `version` alone.
    pub fn api_version(self) -> &'a str {
        self.api_version
    }

    /// The group, empty for the core one.
    pub fn group(self) -> &'a str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The version.
    pub fn version(self) -> &'a str {
        self.api_version.split_once('/').map_or(self.api_version, |(_, version)| version)
    }

    /// The kind.
    pub fn kind(self) -> &'a str {
        self.kind
    }
}

impl fmt::Display for Gvk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group(), self.version(), self.kind)
    }
}
