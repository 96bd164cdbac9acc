//! Minor releases of Kubernetes.

use kubeshape_schema::Release;
use std::fmt;

/// The number of a minor release, as a tag or table gives it: `v1.36`. Unlike a [`Release`], it may be one that nobody
/// knows yet, or that never existed.
///
/// # Example
/// ```
/// use kubeshape_lifecycle::Version;
/// assert_eq!(Version::parse("1.36").unwrap().to_string(), "v1.36");
/// assert!(Version::strict("1.36").is_none());
/// assert!(Version::strict("v1.09").is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// The number before the dot, 1 or more.
    pub major: u32,
    /// The number after the dot.
    pub minor: u32,
}

/// The last accepted minor release: the current one is v1.37, and a year has three.
const LAST_MINOR: u32 = 49;

impl Version {
    /// Returns whether Kubernetes has this release, or will have it within the next four years. Tags name releases in
    /// advance.
    ///
    /// # Example
    /// ```
    /// use kubeshape_lifecycle::Version;
    /// let exists = |text| Version::parse(text).is_some_and(Version::exists);
    /// assert!(exists("v1.0") && exists("v1.38"));
    /// assert!(!exists("v7.3") && !exists("v99.1") && !exists("v1.200") && !exists("v0.21"));
    /// ```
    pub fn exists(self) -> bool {
        self.major == 1 && self.minor <= LAST_MINOR
    }

    /// Parses a version of a tag: `^v[1-9][0-9]*\.(0|[1-9][0-9]*)$` (KEP-2558).
    pub fn strict(text: &str) -> Option<Version> {
        let (major, minor) = text.strip_prefix('v')?.split_once('.')?;
        let number = |digits: &str| {
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            let is_short = digits == "0" || !digits.starts_with('0');
            if is_number && is_short { digits.parse().ok() } else { None }
        };
        let version = Version { major: number(major)?, minor: number(minor)? };
        (version.major > 0).then_some(version)
    }

    /// Parses a version of a comment or a spec: the `v` is optional, and a patch release is ignored.
    pub fn parse(text: &str) -> Option<Version> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts = text.splitn(3, '.');
        let number = |part: Option<&str>| part.filter(|p| p.bytes().all(|b| b.is_ascii_digit()))?.parse().ok();
        Some(Version { major: number(parts.next())?, minor: number(parts.next())? })
    }
}

/// The number of the release, or that of the minor release of a patch release
impl From<Release> for Version {
    fn from(release: Release) -> Version {
        Version { major: 1, minor: release.minor().into() }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}", self.major, self.minor)
    }
}

/// How stable a feature or a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// It may change or be removed at any time.
    Alpha,
    /// It is tested, and may still change.
    Beta,
    /// It is generally available.
    Ga,
    /// It will be removed.
    Deprecated,
}

impl Stage {
    /// Returns the word in tags, and `ga` for general availability.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Alpha => "alpha",
            Stage::Beta => "beta",
            Stage::Ga => "ga",
            Stage::Deprecated => "deprecated",
        }
    }

    /// Returns the stage of a status in a tag. `ga` is not a status.
    pub fn of_status(text: &str) -> Option<Stage> {
        [Stage::Alpha, Stage::Beta, Stage::Deprecated].into_iter().find(|stage| stage.name() == text)
    }

    /// Returns the stage of a constant of the package `featuregate`, or of the word before a version in a gate's
    /// comment.
    pub(crate) fn of_word(text: &str) -> Option<Stage> {
        match text.to_ascii_lowercase().as_str() {
            "alpha" => Some(Stage::Alpha),
            "beta" => Some(Stage::Beta),
            "ga" | "stable" => Some(Stage::Ga),
            "deprecated" => Some(Stage::Deprecated),
            _ => None,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
