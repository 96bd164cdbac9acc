//! The releases that are asked.

use kubeshape_validate::Release;
use std::fmt;
use std::str::FromStr;

/// One release or several successive ones.
///
/// # Example
/// ```
/// use kubeshape_check::Releases;
///
/// let releases: Releases = "1.28..1.30".parse()?;
/// assert_eq!(releases.iter().map(|release| release.to_string()).collect::<Vec<_>>(), ["1.28", "1.29", "1.30"]);
/// assert_eq!("1.30".parse::<Releases>()?.to_string(), "1.30");
/// assert!("1.31..1.30".parse::<Releases>().is_err());
/// # Ok::<(), kubeshape_check::ReleasesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Releases {
    first: Release,
    last: Release,
}

impl Releases {
    /// All releases whose rules are known.
    pub const ALL: Releases = Releases { first: Release::OLDEST, last: Release::NEWEST };

    /// A single release.
    pub const fn one(release: Release) -> Releases {
        Releases { first: release, last: release }
    }

    /// The oldest one.
    pub fn first(self) -> Release {
        self.first
    }

    /// The newest one.
    pub fn last(self) -> Release {
        self.last
    }

    /// Whether it is more than one.
    pub fn is_range(self) -> bool {
        self.first != self.last
    }

    /// The releases, the oldest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Release> {
        Release::all().filter(move |release| (self.first..=self.last).contains(release))
    }
}

impl Default for Releases {
    fn default() -> Releases {
        Releases::one(Release::DEFAULT)
    }
}

/// `1.30`, or `1.28 to 1.30`
impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_range() { write!(f, "{} to {}", self.first, self.last) } else { write!(f, "{}", self.first) }
    }
}

/// A text that names no releases.
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
        let Some((first, last)) = text.split_once("..") else { return release(text).map(Releases::one) };
        let first = if first.is_empty() { Release::OLDEST } else { release(first)? };
        let last = match last.strip_prefix('=').unwrap_or(last) {
            "" => Release::NEWEST,
            last => release(last)?,
        };
        if first > last {
            return Err(ReleasesError(format!("{first} is newer than {last}")));
        }
        Ok(Releases { first, last })
    }
}

fn release(text: &str) -> Result<Release, ReleasesError> {
    let unknown = || ReleasesError(format!("there is no release `{text}` among those whose rules are known"));
    let number = text.strip_prefix('v').unwrap_or(text);
    let mut parts = number.split('.');
    let (Some("1"), Some(minor), patch, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(unknown());
    };
    if patch.is_some_and(|patch| patch.parse::<u32>().is_err()) {
        return Err(unknown());
    }
    minor.parse().ok().and_then(Release::new).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::Releases;

    #[test]
    fn what_names_no_releases_is_refused_with_what_does() {
        for text in ["", "1", "2.30", "1.27", "1.99", "1.x", "1.30.x", "1.28..1.99", "latest", "1.30.1.2"] {
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
}
