//! Group, version and kind of objects.

use bumpalo::Bump;
use std::cmp::Ordering;
use std::fmt;

/// The type of an object: its `apiVersion` and its `kind` (upstream `schema.GroupVersionKind`).
///
/// Values are ordered by group, version and kind.
///
/// # Example: the kind of an object
/// ```
/// use kubeshape_schema::{Bump, Gvk};
/// let deployment = Gvk::new("apps/v1", "Deployment");
/// assert_eq!((deployment.group(), deployment.version(), deployment.kind()), ("apps", "v1", "Deployment"));
/// assert_eq!(deployment.to_string(), "apps/v1, Kind=Deployment");
///
/// let arena = Bump::new();
/// let pod = Gvk::from_parts("", "v1", "Pod", &arena);
/// assert_eq!((pod.api_version(), pod), ("v1", Gvk::new("v1", "Pod")));
/// assert_eq!(Gvk::default().to_string(), "/, Kind=");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gvk<'a> {
    api_version: &'a str,
    /// The length of the group. A slash follows the group unless it is empty.
    group: usize,
    kind: &'a str,
}

impl<'a> Gvk<'a> {
    /// Returns the type with this `apiVersion` and this kind.
    ///
    /// An `apiVersion` with more than one slash is invalid. Then the result is empty, and so is its kind, as in
    /// upstream's `FromAPIVersionAndKind` for unstructured objects.
    pub fn new(api_version: &'a str, kind: &'a str) -> Self {
        match api_version.split_once('/') {
            Some((_, version)) if version.contains('/') => Gvk::default(),
            Some(("", version)) => Gvk { api_version: version, group: 0, kind },
            Some((group, _)) => Gvk { api_version, group: group.len(), kind },
            None => Gvk { api_version, group: 0, kind },
        }
    }

    /// Returns the type with this group, version and kind. If there is a group, the `apiVersion` is allocated in the
    /// arena.
    pub fn from_parts(group: &str, version: &'a str, kind: &'a str, arena: &'a Bump) -> Self {
        let api_version =
            if group.is_empty() { version } else { arena.alloc_str(&[group, "/", version].concat()) as &str };
        Gvk { api_version, group: group.len(), kind }
    }

    /// Returns `group/version`, or only the version in the core group.
    pub fn api_version(self) -> &'a str {
        self.api_version
    }

    /// Returns the group, which is empty for the core group.
    pub fn group(self) -> &'a str {
        self.api_version.get(..self.group).unwrap_or_default()
    }

    /// The version.
    pub fn version(self) -> &'a str {
        match self.group {
            0 => self.api_version,
            group => self.api_version.get(group + 1..).unwrap_or_default(),
        }
    }

    /// The kind.
    pub fn kind(self) -> &'a str {
        self.kind
    }

    fn parts(self) -> [&'a str; 3] {
        [self.group(), self.version(), self.kind]
    }
}

/// Returns the group and the version of an `apiVersion`; the group of the core is empty.
///
/// # Errors
/// Returns the message of upstream's `ParseGroupVersion` about an `apiVersion` with more than one slash.
///
/// # Example
/// ```
/// use kubeshape_schema::parse_group_version;
///
/// assert_eq!(parse_group_version("apps/v1"), Ok(("apps", "v1")));
/// assert_eq!(parse_group_version("v1"), Ok(("", "v1")));
/// assert_eq!(parse_group_version("a/b/c").unwrap_err(), "unexpected GroupVersion string: a/b/c");
/// ```
pub fn parse_group_version(text: &str) -> Result<(&str, &str), String> {
    match text.split_once('/') {
        Some((_, version)) if version.contains('/') => Err(format!("unexpected GroupVersion string: {text}")),
        Some(parts) => Ok(parts),
        None => Ok(("", text)),
    }
}

impl Ord for Gvk<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl PartialOrd for Gvk<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Gvk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group(), self.version(), self.kind)
    }
}
