//! The schemas of several inputs that change independently, as those of a server do.

use super::{Cluster, Schemas, Warning};
use crate::entries;
use crate::kinds;
use kubeshape_input::{Document, Limits};
use kubeshape_yaml::Node;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Schemas keyed by the name of their input. If several inputs have a kind, the first one by name is used.
///
/// A clone shares the contents.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Only inputs with the extension. Most do not have it.
    by_name: BTreeMap<Arc<str>, Arc<Schemas>>,
}

impl Inputs {
    /// Replaces the documents of an input.
    pub fn set(&mut self, name: Arc<str>, documents: &[Document]) {
        let mut schemas = Schemas::default();
        for document in documents {
            schemas.add_annotated(document);
        }
        if schemas.is_empty() {
            self.by_name.remove(&name);
        } else {
            self.by_name.insert(name, Arc::new(schemas));
        }
    }

    /// Like [`set`](Self::set), for a string. It is parsed only if it may have the extension.
    pub fn read(&mut self, name: Arc<str>, bytes: &[u8]) {
        let has_none = std::str::from_utf8(bytes).is_ok_and(|text| !entries::are_in(text));
        if has_none {
            self.by_name.remove(&name);
        } else {
            let input = kubeshape_input::read(Arc::clone(&name), bytes, Limits::default());
            self.set(name, &input.documents);
        }
    }

    /// Returns the input that is used for a kind.
    fn of(&self, api_version: &str, kind: &str) -> Option<&Schemas> {
        self.by_name.values().find(|schemas| schemas.has(api_version, kind)).map(|schemas| &**schemas)
    }

    /// Returns whether an input with the extension has the kind.
    pub fn has(&self, api_version: &str, kind: &str) -> bool {
        self.of(api_version, kind).is_some()
    }

    /// Returns whether a field of any input names a feature gate. `AllAlpha` and `AllBeta` match all gates.
    pub fn has_gate(&self, gate: &str) -> bool {
        ["AllAlpha", "AllBeta"].contains(&gate) || self.by_name.values().any(|schemas| schemas.gates().contains(gate))
    }

    /// Returns the fields of an object that are not generally available, as [`Schemas::warnings`] does.
    pub fn warnings<'o>(&self, object: Node<'o>, cluster: &Cluster) -> Vec<Warning<'o>> {
        let text = |key| object.get(key).and_then(Node::as_str).unwrap_or_default();
        self.of(text("apiVersion"), text("kind")).map_or_else(Vec::new, |schemas| schemas.warnings(object, cluster))
    }
}

/// The warnings about built-in kinds that a server sends with the response to every request for them.
///
/// # Example
/// ```
/// use kubeshape_lifecycle::{Version, warn::Deprecations};
/// let of = |release| Deprecations::new(Version::parse(release));
/// assert_eq!(of("1.32").of("v1", "Endpoints"), None);
/// let text = of("1.33").of("v1", "Endpoints").unwrap().to_owned();
/// assert_eq!(text, "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Deprecations {
    /// By API version and kind.
    by_kind: BTreeMap<&'static str, BTreeMap<&'static str, String>>,
}

impl Deprecations {
    /// Returns the warnings of a release, or of the newest known one if `None`.
    pub fn new(release: Option<crate::Version>) -> Deprecations {
        let mut by_kind: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for known in kinds::built_in().filter(|known| known.is_deprecated(release.unwrap_or(kinds::NEWEST))) {
            by_kind.entry(known.api_version).or_default().insert(known.kind, known.warning());
        }
        Deprecations { by_kind }
    }

    /// Returns the warning about a kind, if it is deprecated.
    pub fn of(&self, api_version: &str, kind: &str) -> Option<&str> {
        self.by_kind.get(api_version)?.get(kind).map(String::as_str)
    }
}
