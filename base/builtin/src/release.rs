//! The releases whose API this crate has.

use crate::Api;
use std::fmt;
use std::str::FromStr;

/// The releases, oldest first: the patch release from which the documents were taken, and the documents.
///
/// To add a release, add a line here and an empty file, and run `cargo xtask builtin --update`.
const RELEASES: [(&str, &[u8]); 7] = [
    ("1.31.14", include_bytes!("../data/1.31.bin")),
    ("1.32.13", include_bytes!("../data/1.32.bin")),
    ("1.33.13", include_bytes!("../data/1.33.bin")),
    ("1.34.4", include_bytes!("../data/1.34.bin")),
    ("1.35.4", include_bytes!("../data/1.35.bin")),
    ("1.36.3", include_bytes!("../data/1.36.bin")),
    ("1.37.2", include_bytes!("../data/1.37.bin")),
];

/// A release of Kubernetes: a minor version, such as 1.34. The API does not change between its patch releases, except
/// for corrections.
///
/// # Example: releases and their names
/// ```
/// use kubeshape_builtin::Release;
///
/// let release: Release = "v1.34.1".parse()?;
/// assert_eq!(release.to_string(), "1.34");
/// assert!(release < Release::newest());
/// # Ok::<(), kubeshape_builtin::UnknownRelease>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// The index in `RELEASES`.
    at: usize,
}

/// The error for a release without documents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no release of Kubernetes is called {name:?}; known are {}", known())]
pub struct UnknownRelease {
    /// The name as given.
    pub name: String,
}

impl Release {
    /// Returns all releases, oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Release> + ExactSizeIterator {
        (0..RELEASES.len()).map(|at| Release { at })
    }

    /// Returns the newest release.
    pub fn newest() -> Release {
        Release { at: RELEASES.len() - 1 }
    }

    /// Returns the patch release from which the documents were taken, such as `1.34.4`.
    pub fn version(self) -> &'static str {
        RELEASES[self.at].0
    }

    /// Returns the minor version, such as `1.34`.
    pub fn minor(self) -> &'static str {
        minor(self.version())
    }

    /// Unpacks the documents. This takes a few milliseconds.
    pub fn api(self) -> Api {
        Api::unpack(self.packed())
    }

    /// Returns the documents as they are stored.
    pub fn packed(self) -> &'static [u8] {
        RELEASES[self.at].1
    }
}

/// Returns the first two numbers of a version.
fn minor(version: &str) -> &str {
    let end = version.match_indices('.').nth(1).map_or(version.len(), |(at, _)| at);
    &version[..end]
}

fn known() -> String {
    Release::all().map(Release::minor).collect::<Vec<_>>().join(", ")
}

/// The documents of a release. There are none before 1.31.
impl TryFrom<kubeshape_schema::Release> for Release {
    type Error = UnknownRelease;

    fn try_from(release: kubeshape_schema::Release) -> Result<Release, UnknownRelease> {
        release.without_patch().to_string().parse()
    }
}

/// The release whose rules are those of the documents.
impl From<Release> for kubeshape_schema::Release {
    fn from(release: Release) -> kubeshape_schema::Release {
        release.minor().parse().unwrap_or_default()
    }
}

/// Reads `1.34`, `v1.34`, and any patch release of it, such as `1.34.2` and `v1.34.2-gke.100`.
impl FromStr for Release {
    type Err = UnknownRelease;

    fn from_str(name: &str) -> Result<Release, UnknownRelease> {
        let version = name.strip_prefix('v').unwrap_or(name);
        let patch = version.strip_prefix(minor(version)).unwrap_or_default();
        let digit = |at| patch.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        let found = Release::all().find(|release| release.minor() == minor(version));
        found.filter(|_| patch.is_empty() || digit(1)).ok_or_else(|| UnknownRelease { name: name.to_owned() })
    }
}

/// The minor version.
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.minor())
    }
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Release({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_found_by_its_minor_version() {
        let of = |name: &str| name.parse::<Release>().map(Release::minor).ok();
        for name in ["1.31", "v1.31", "1.31.0", "v1.31.99", "v1.31.5-eks-1"] {
            assert_eq!(of(name), Some("1.31"), "{name}");
        }
        for name in ["", "1", "1.3", "1.310", "31", "1.31.", "1.31.x", "vv1.31", "1.31 ", "latest"] {
            assert_eq!(of(name), None, "{name}");
        }
    }

    #[test]
    fn every_release_has_rules_and_the_newest_ones_are_the_same() {
        for release in Release::all() {
            let rules = kubeshape_schema::Release::from(release);
            assert_eq!(rules.to_string(), release.minor());
            assert_eq!(Release::try_from(rules), Ok(release));
        }
        assert_eq!(kubeshape_schema::Release::from(Release::newest()), kubeshape_schema::Release::NEWEST);
        assert!(Release::try_from(kubeshape_schema::Release::OLDEST).is_err(), "there are no documents of 1.28");
    }

    #[test]
    fn the_error_lists_what_is_known() {
        let error = "1.9".parse::<Release>().expect_err("not known").to_string();
        let known = "1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.37";
        assert_eq!(error, format!("no release of Kubernetes is called \"1.9\"; known are {known}"));
    }
}
