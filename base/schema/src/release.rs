//! Releases of Kubernetes.

use std::fmt;
use std::str::FromStr;

/// Minor releases that had a fault in their first patch releases, and the newest patch release with the fault.
///
/// 1.36.0 to 1.36.2 keep a map that an apply empties as `{}`. If the schema requires fields in the map, they reject
/// null for a nullable field (structured-merge-diff#330).
const FAULTY: [(u8, u8); 1] = [(36, 2)];

/// A minor release of Kubernetes 1, or one of the first patch releases that had a fault.
///
/// Patch releases behave as their minor release, except those that had a fault: they are releases of their own.
///
/// Strings are parsed only to releases whose rules are known. Only a server can emulate others
/// ([`of_minor`](Release::of_minor)).
///
/// # Example
/// ```
/// use kubeshape_schema::Release;
///
/// let release: Release = "v1.34.1".parse()?;
/// assert_eq!(release.to_string(), "1.34");
/// assert_eq!("1.36.1".parse::<Release>()?.to_string(), "1.36.1");
/// assert_eq!("1.36.3".parse::<Release>()?.to_string(), "1.36");
/// assert!(release < Release::NEWEST);
/// # Ok::<(), kubeshape_schema::ReleasesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    minor: u8,
    patch: u8,
}

impl Release {
    /// The oldest release whose rules are known.
    pub const OLDEST: Release = Release::nearest(28);
    /// The newest release whose rules are known.
    pub const NEWEST: Release = Release::nearest(37);
    /// The release that is used if none is named: the newest one.
    pub const DEFAULT: Release = Release::NEWEST;

    /// Returns the release `1.minor`, if its rules are known.
    pub fn new(minor: u8) -> Option<Release> {
        (Self::OLDEST.minor..=Self::NEWEST.minor).contains(&minor).then_some(Release::nearest(minor))
    }

    /// Returns the release `1.minor`, also if its rules are unknown.
    pub const fn of_minor(minor: u8) -> Release {
        Release { minor, patch: u8::MAX }
    }

    /// Returns the release `1.minor`, the oldest known one for older numbers, and the newest one for newer numbers.
    pub const fn nearest(minor: u8) -> Release {
        Release::of_minor(match minor {
            0..=28 => 28,
            29..=36 => minor,
            _ => 37,
        })
    }

    /// Returns all minor releases whose rules are known, oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Release> {
        (Self::OLDEST.minor..=Self::NEWEST.minor).map(Release::nearest)
    }

    /// Returns the minor number.
    pub const fn minor(self) -> u8 {
        self.minor
    }

    /// Returns the minor release of a patch release.
    #[must_use]
    pub fn without_patch(self) -> Release {
        Release::of_minor(self.minor)
    }

    /// Returns the number of the patch release, if it had a fault.
    pub fn faulty_patch(self) -> Option<u8> {
        (self.patch != u8::MAX).then_some(self.patch)
    }

    /// Returns whether it is the release `1.minor` or a newer one.
    pub fn since(self, minor: u8) -> bool {
        self.minor >= minor
    }
}

/// `1.36`, or `1.36.1`
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)?;
        self.faulty_patch().map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

impl Default for Release {
    fn default() -> Release {
        Release::DEFAULT
    }
}

/// `1.30`, `v1.30`, and any patch release of it, such as `1.30.2` and `v1.30.2-gke.100`
impl FromStr for Release {
    type Err = ReleasesError;

    fn from_str(text: &str) -> Result<Release, ReleasesError> {
        let unknown = || ReleasesError(format!("there is no release `{text}` among those whose rules are known"));
        let number = text.trim().strip_prefix('v').unwrap_or(text.trim());
        let mut parts = number.splitn(3, '.');
        let (Some("1"), Some(minor), patch) = (parts.next(), parts.next(), parts.next()) else {
            return Err(unknown());
        };
        let release = minor.parse().ok().and_then(Release::new).ok_or_else(unknown)?;
        let Some(patch) = patch else { return Ok(release) };
        let plain = patch.split(['-', '+']).next().unwrap_or_default();
        let patch = plain.parse::<u32>().map_err(|_| unknown())?;
        let faulty = FAULTY.iter().any(|(minor, last)| *minor == release.minor && patch <= u32::from(*last));
        let patch = u8::try_from(patch).ok().filter(|_| faulty).unwrap_or(u8::MAX);
        Ok(Release { patch, ..release })
    }
}

/// One release or several successive ones.
///
/// # Example
/// ```
/// use kubeshape_schema::Releases;
///
/// let releases: Releases = "1.28..1.30".parse()?;
/// assert_eq!(releases.iter().map(|release| release.to_string()).collect::<Vec<_>>(), ["1.28", "1.29", "1.30"]);
/// assert_eq!("1.30".parse::<Releases>()?.to_string(), "1.30");
/// assert!("1.31..1.30".parse::<Releases>().is_err());
/// # Ok::<(), kubeshape_schema::ReleasesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Releases {
    first: Release,
    last: Release,
}

impl Releases {
    /// All minor releases whose rules are known.
    pub const ALL: Releases = Releases { first: Release::OLDEST, last: Release::NEWEST };

    /// A single release.
    pub const fn one(release: Release) -> Releases {
        Releases { first: release, last: release }
    }

    /// Returns the oldest one.
    pub fn first(self) -> Release {
        self.first
    }

    /// Returns the newest one.
    pub fn last(self) -> Release {
        self.last
    }

    /// Returns whether it is more than one.
    pub fn is_range(self) -> bool {
        self.first != self.last
    }

    /// Returns the releases, oldest first. Ranges contain only minor releases.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Release> {
        let one = (!self.is_range()).then_some(self.first);
        let range = Release::all().filter(move |release| self.is_range() && (self.first..=self.last).contains(release));
        one.into_iter().chain(range)
    }
}

impl Default for Releases {
    fn default() -> Releases {
        Releases::one(Release::DEFAULT)
    }
}

impl From<Release> for Releases {
    fn from(release: Release) -> Releases {
        Releases::one(release)
    }
}

/// `1.30`, or `1.28 to 1.30`
impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_range() { write!(f, "{} to {}", self.first, self.last) } else { write!(f, "{}", self.first) }
    }
}

/// Returns releases in words, successive ones as a range: `1.28 to 1.30 and 1.37`. They must be in order.
pub fn runs(releases: &[Release]) -> String {
    let mut out: Vec<(Release, Release)> = Vec::new();
    for release in releases {
        match out.last_mut() {
            Some((_, last)) if last.minor() + 1 == release.minor() => *last = *release,
            _ => out.push((*release, *release)),
        }
    }
    let texts: Vec<String> = out
        .into_iter()
        .map(|(first, last)| match last.minor() - first.minor() {
            0 => first.to_string(),
            1 => format!("{first} and {last}"),
            _ => format!("{first} to {last}"),
        })
        .collect();
    texts.join(" and ")
}

/// A string that names no releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasesError(String);

impl fmt::Display for ReleasesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (oldest, newest) = (Release::OLDEST, Release::NEWEST);
        write!(
            f,
            "{}; expected a release from {oldest} to {newest}, a range such as {oldest}..{newest}, or all",
            self.0
        )
    }
}

impl std::error::Error for ReleasesError {}

/// `1.30`, `v1.30`, `1.30.2`, `1.28..1.31` (with both ends), `1.31..`, `..1.31`, `all`
impl FromStr for Releases {
    type Err = ReleasesError;

    fn from_str(text: &str) -> Result<Releases, ReleasesError> {
        let text = text.trim();
        if text == "all" {
            return Ok(Releases::ALL);
        }
        let Some((first, last)) = text.split_once("..") else { return text.parse().map(Releases::one) };
        let end = |text: &str, or| if text.is_empty() { Ok(or) } else { text.parse().map(Release::without_patch) };
        let first = end(first, Release::OLDEST)?;
        let last = end(last.strip_prefix('=').unwrap_or(last), Release::NEWEST)?;
        if first > last {
            return Err(ReleasesError(format!("{first} is newer than {last}")));
        }
        Ok(Releases { first, last })
    }
}

#[cfg(test)]
mod tests {
    use super::{Release, Releases, runs};

    #[test]
    fn successive_releases_are_named_by_their_ends() {
        let of = |minors: &[u8]| runs(&minors.iter().filter_map(|minor| Release::new(*minor)).collect::<Vec<_>>());
        assert_eq!(of(&[28, 29, 30, 37]), "1.28 to 1.30 and 1.37");
        assert_eq!(of(&[28, 29]), "1.28 and 1.29");
        assert_eq!(of(&[30]), "1.30");
    }

    #[test]
    fn strings_that_name_no_releases_are_refused_with_a_hint() {
        for text in ["", "1", "2.30", "1.27", "1.99", "1.x", "1.30.x", "1.28..1.99", "latest", "1.30.1.2", "1.30."] {
            let error = text.parse::<Releases>().expect_err(text).to_string();
            assert!(error.contains("expected a release from 1.28 to "), "{text}: {error}");
        }
        assert_eq!(
            "1.31..1.29".parse::<Releases>().expect_err("reversed").to_string().split(';').next(),
            Some("1.31 is newer than 1.29")
        );
        for (text, expected) in [("v1.31.2", "1.31"), (" 1.29..=1.31 ", "1.29 to 1.31"), ("..1.29", "1.28 to 1.29")] {
            assert_eq!(text.parse::<Releases>().map(|releases| releases.to_string()).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn patch_releases_with_a_fault_are_releases_of_their_own() {
        let of = |text: &str| text.parse::<Release>().map(|release| release.to_string());
        for (text, expected) in [
            ("1.36.0", "1.36.0"),
            ("v1.36.2-eks-1", "1.36.2"),
            ("1.36.3", "1.36"),
            ("1.36.300", "1.36"),
            ("1.35.1", "1.35"),
            ("v1.31.5-gke.100", "1.31"),
        ] {
            assert_eq!(of(text).as_deref(), Ok(expected), "{text}");
        }
        let faulty: Release = "1.36.1".parse().expect("known");
        assert!(faulty > Release::nearest(35) && faulty < Release::nearest(36));
        assert_eq!((faulty.faulty_patch(), faulty.without_patch()), (Some(1), Release::nearest(36)));
        assert_eq!(Releases::one(faulty).iter().collect::<Vec<_>>(), [faulty]);
        let range: Releases = "1.36.1..1.37".parse().expect("known");
        assert_eq!(range.iter().map(|release| release.to_string()).collect::<Vec<_>>(), ["1.36", "1.37"]);
    }
}
