//! Kinds that are deprecated or no longer served, with the server's warnings.
//!
//! `builtin.txt` has the built-in kinds. Its sources are the tags `+k8s:prerelease-lifecycle-gen:…` of `k8s.io/api` and
//! its siblings; for removed types, the tags of the last release that had them; and for `ComponentStatus` and
//! `Endpoints`, which have no tags, the warnings of the server. A kind without a tag for its end is deprecated three
//! releases after its introduction, and removed three releases later, as prerelease-lifecycle-gen decides.
//!
//! [`declared`] reads the same from Go types.

mod declared;

use crate::Version;
use kubeshape_schema::Release;
use std::fmt::Write as _;

pub(crate) use declared::is_kind;
pub use declared::{Declared, KindKey, KindTag, declared, of_type, tags};
pub use kubeshape_discovery::deprecated::{CustomVersion, best, custom_warning};

/// The newest release in the table.
pub const NEWEST: Version = Version { major: 1, minor: Release::NEWEST.minor() as u32 };

const BUILT_IN: &str = include_str!("builtin.txt");

/// The releases of a built-in kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindLifecycle<'t> {
    /// `policy/v1beta1`
    pub api_version: &'t str,
    /// `PodSecurityPolicy`
    pub kind: &'t str,
    /// The first release that has it.
    pub introduced: Version,
    /// The first release that warns about it.
    pub deprecated: Version,
    /// The first release that does not serve it; `None` if it is not removed.
    pub removed: Option<Version>,
    /// The replacement: `discovery.k8s.io/v1 EndpointSlice`.
    pub replacement: Option<&'t str>,
}

/// Returns all built-in kinds with a limited lifetime, sorted by API version and kind.
pub fn built_in() -> impl Iterator<Item = KindLifecycle<'static>> {
    BUILT_IN.lines().filter_map(line)
}

fn line(text: &'static str) -> Option<KindLifecycle<'static>> {
    let mut parts = text.splitn(6, ' ');
    let (api_version, kind) = (parts.next().filter(|first| !first.starts_with('#'))?, parts.next()?);
    let mut release = || Some(parts.next()?.parse().ok().map(|minor| Version { major: 1, minor }));
    let (introduced, deprecated, removed) = (release()??, release()??, release()?);
    Some(KindLifecycle { api_version, kind, introduced, deprecated, removed, replacement: parts.next() })
}

/// Returns the releases of a built-in kind.
///
/// # Example
/// ```
/// use kubeshape_lifecycle::{Version, kinds};
/// let kind = kinds::find("policy/v1beta1", "PodSecurityPolicy").unwrap();
/// assert_eq!(kind.warning(), "policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+");
/// assert!(kind.is_deprecated(Version::parse("1.22").unwrap()));
/// assert!(kind.is_removed(Version::parse("1.25").unwrap()));
/// ```
pub fn find(api_version: &str, kind: &str) -> Option<KindLifecycle<'static>> {
    built_in().find(|known| known.kind == kind && known.api_version == api_version)
}

/// Returns whether the kind of an object is no longer served, and the warning of the server, in a release or, without
/// one, in all known releases. `None` if there is nothing to report.
pub fn judge(api_version: &str, kind: &str, release: Option<Version>) -> Option<(bool, String)> {
    let known = find(api_version, kind)?;
    let release = release.unwrap_or(NEWEST);
    known.is_deprecated(release).then(|| (known.is_removed(release), known.warning()))
}

impl KindLifecycle<'_> {
    /// Returns whether a server of the release warns about it (upstream: `deprecation.IsDeprecated`).
    pub fn is_deprecated(&self, release: Version) -> bool {
        release >= self.deprecated
    }

    /// Returns whether a server of the release no longer serves it.
    pub fn is_removed(&self, release: Version) -> bool {
        self.removed.is_some_and(|removed| release >= removed)
    }

    /// Returns the warning of the server (upstream: `deprecation.WarningMessage`).
    pub fn warning(&self) -> String {
        let mut out = format!("{} {} is deprecated in {}+", self.api_version, self.kind, self.deprecated);
        if let Some(removed) = self.removed {
            let _ = write!(out, ", unavailable in {removed}+");
        }
        if let Some(replacement) = self.replacement {
            let _ = write!(out, "; use {replacement}");
        }
        out
    }
}
