//! Kinds that are deprecated or no longer served, in the words of the server's warnings.
//!
//! `builtin.txt` has the built-in kinds. Its source is the tags `+k8s:prerelease-lifecycle-gen:…` of `k8s.io/api` and
//! its siblings, for kinds whose types are gone those of the last release that had them, and for `ComponentStatus` and
//! `Endpoints`, which have no tags, the warnings of the server. A kind without a tag for its end is deprecated three
//! releases after it was introduced, and removed three releases later, as prerelease-lifecycle-gen decides.
//!
//! [`declared`] reads the same from Go types.

mod declared;

use crate::Version;
use std::fmt::Write as _;

pub(crate) use declared::is_kind;
pub use declared::{Declared, KindKey, KindTag, declared, of_type, tags};
pub use kubeshape_discovery::deprecated::{CustomVersion, best, custom_warning};

/// The newest release whose sources the table is made from.
pub const NEWEST: Version = Version { major: 1, minor: 36 };

const BUILT_IN: &str = include_str!("builtin.txt");

/// Since when a built-in kind is there, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindLifecycle<'t> {
    /// `policy/v1beta1`
    pub api_version: &'t str,
    /// `PodSecurityPolicy`
    pub kind: &'t str,
    /// The first release that has it.
    pub introduced: Version,
    /// The first release that warns of it.
    pub deprecated: Version,
    /// The first release that does not serve it; none if it stays.
    pub removed: Option<Version>,
    /// What to use in its place: `discovery.k8s.io/v1 EndpointSlice`.
    pub replacement: Option<&'t str>,
}

/// All built-in kinds with a limited life, by API version and kind.
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

/// What is known of a built-in kind.
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

/// Judges an object by its kind, in a release or, without one, in all that are known: whether it is not served any
/// more, and the warning of the server. None if there is nothing to report.
pub fn judge(api_version: &str, kind: &str, release: Option<Version>) -> Option<(bool, String)> {
    let known = find(api_version, kind)?;
    let release = release.unwrap_or(NEWEST);
    known.is_deprecated(release).then(|| (known.is_removed(release), known.warning()))
}

impl KindLifecycle<'_> {
    /// Whether a server of the release warns of it (upstream: `deprecation.IsDeprecated`).
    pub fn is_deprecated(&self, release: Version) -> bool {
        release >= self.deprecated
    }

    /// Whether a server of the release does not serve it any more.
    pub fn is_removed(&self, release: Version) -> bool {
        self.removed.is_some_and(|removed| release >= removed)
    }

    /// The warning of the server (upstream: `deprecation.WarningMessage`).
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
