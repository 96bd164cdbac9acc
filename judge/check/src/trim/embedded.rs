//! Kubernetes' own types, which definitions copy.

use kubeshape_yaml::{Kind, Node};

/// Per line a type, as package and name, and fields that all schemas of the type have, and hardly any other schema.
const TYPES: &str = include_str!("types.txt");

/// A type of Kubernetes, and its package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Package {
    package: &'static str,
    name: &'static str,
}

impl Package {
    /// Returns whether a string names the type or its package.
    pub(super) fn is(self, wanted: &str) -> bool {
        let full = wanted.strip_prefix(self.package).and_then(|rest| rest.strip_prefix('.'));
        wanted == self.name || wanted == self.package || full == Some(self.name)
    }
}

fn types() -> impl Iterator<Item = (Package, &'static str)> {
    TYPES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (ty, fields) = line.split_once(':')?;
        let (package, name) = ty.split_once(' ')?;
        Some((Package { package, name }, fields))
    })
}

/// Returns the type that a schema copies, which its fields show.
pub(super) fn package(schema: Node<'_>) -> Option<Package> {
    let properties = schema.get("properties").filter(|properties| properties.kind() == Kind::Map)?;
    let mut names: Vec<&str> = properties.pairs().map(|(key, _)| key.text()).collect();
    names.sort_unstable();
    let has = |field: &str| names.binary_search(&field).is_ok();
    let mut found = types().filter(|(_, fields)| fields.split_whitespace().all(has));
    found.next().map(|(package, _)| package)
}

/// Returns whether a string names a known type, or a package with known types.
///
/// # Example
/// ```
/// assert!(kubeshape_check::trim::is_known("PodSpec"));
/// assert!(kubeshape_check::trim::is_known("k8s.io/api/core/v1"));
/// assert!(!kubeshape_check::trim::is_known("TabSpec"));
/// ```
pub fn is_known(name: &str) -> bool {
    types().any(|(package, _)| package.is(name))
}

/// Returns the names of the known types, in order.
pub fn known() -> Vec<&'static str> {
    let mut names: Vec<&str> = types().map(|(package, _)| package.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}
