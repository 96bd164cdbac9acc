//! The releases whose documents this crate has.

use crate::Api;
use kubeshape_schema::Release;
use std::fmt;
use std::str::FromStr;

/// The documents by release, oldest first: the patch release from which they were taken, and the documents.
///
/// To add a release, add a line here and an empty file, and run `cargo xtask builtin --update`.
const ALL: [(Release, &str, &[u8]); 7] = [
    (Release::nearest(31), "1.31.14", include_bytes!("../data/1.31.bin")),
    (Release::nearest(32), "1.32.13", include_bytes!("../data/1.32.bin")),
    (Release::nearest(33), "1.33.13", include_bytes!("../data/1.33.bin")),
    (Release::nearest(34), "1.34.4", include_bytes!("../data/1.34.bin")),
    (Release::nearest(35), "1.35.4", include_bytes!("../data/1.35.bin")),
    (Release::nearest(36), "1.36.3", include_bytes!("../data/1.36.bin")),
    (Release::nearest(37), "1.37.2", include_bytes!("../data/1.37.bin")),
];

/// The documents of a release. The API does not change between its patch releases, except for corrections.
///
/// # Example: the documents of a release
/// ```
/// use kubeshape_builtin::BuiltInDocuments;
///
/// let documents: BuiltInDocuments = "v1.34.1".parse()?;
/// assert_eq!((documents.release().to_string(), documents.version()), ("1.34".to_owned(), "1.34.4"));
/// assert!(documents < BuiltInDocuments::newest());
/// # Ok::<(), kubeshape_builtin::NoDocuments>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuiltInDocuments {
    /// The index in `ALL`.
    at: usize,
}

/// The error for a release without documents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no release of Kubernetes is called {name:?}; known are {}", known())]
pub struct NoDocuments {
    /// The name as given.
    pub name: String,
}

impl BuiltInDocuments {
    /// Returns those of all releases, oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = BuiltInDocuments> + ExactSizeIterator {
        (0..ALL.len()).map(|at| BuiltInDocuments { at })
    }

    /// Returns those of the newest release.
    pub fn newest() -> BuiltInDocuments {
        BuiltInDocuments { at: ALL.len() - 1 }
    }

    /// Returns the release.
    pub fn release(self) -> Release {
        ALL[self.at].0
    }

    /// Returns the patch release from which the documents were taken, such as `1.34.4`.
    pub fn version(self) -> &'static str {
        ALL[self.at].1
    }

    /// Unpacks the documents. This takes a few milliseconds.
    pub fn api(self) -> Api {
        Api::unpack(self.packed())
    }

    /// Returns the documents as they are stored.
    pub fn packed(self) -> &'static [u8] {
        ALL[self.at].2
    }
}

fn known() -> String {
    BuiltInDocuments::all().map(|documents| documents.to_string()).collect::<Vec<_>>().join(", ")
}

/// The documents of a release. There are none before 1.31.
impl TryFrom<Release> for BuiltInDocuments {
    type Error = NoDocuments;

    fn try_from(release: Release) -> Result<BuiltInDocuments, NoDocuments> {
        let found = BuiltInDocuments::all().find(|documents| documents.release() == release.without_patch());
        found.ok_or_else(|| NoDocuments { name: release.to_string() })
    }
}

/// Reads `1.34`, `v1.34`, and any patch release of it, such as `1.34.2` and `v1.34.2-gke.100`.
impl FromStr for BuiltInDocuments {
    type Err = NoDocuments;

    fn from_str(name: &str) -> Result<BuiltInDocuments, NoDocuments> {
        let found = name.parse().ok().and_then(|release: Release| release.try_into().ok());
        found.ok_or_else(|| NoDocuments { name: name.to_owned() })
    }
}

/// The release, such as `1.34`
impl fmt::Display for BuiltInDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.release().fmt(f)
    }
}

impl fmt::Debug for BuiltInDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuiltInDocuments({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_by_their_release() {
        let of = |name: &str| name.parse::<BuiltInDocuments>().map(|documents| documents.to_string()).ok();
        for name in ["1.31", "v1.31", "1.31.0", "v1.31.99", "v1.31.5-eks-1"] {
            assert_eq!(of(name).as_deref(), Some("1.31"), "{name}");
        }
        assert_eq!(of("1.36.1").as_deref(), Some("1.36"));
        for name in ["", "1", "1.3", "1.30", "1.310", "31", "1.31.", "1.31.x", "vv1.31", "latest"] {
            assert_eq!(of(name), None, "{name}");
        }
    }

    #[test]
    fn every_release_has_rules_and_the_newest_ones_are_the_same() {
        for documents in BuiltInDocuments::all() {
            let release = documents.release();
            assert_eq!(documents.version().parse::<Release>().map(Release::without_patch), Ok(release));
            assert_eq!(BuiltInDocuments::try_from(release), Ok(documents));
        }
        assert_eq!(BuiltInDocuments::newest().release(), Release::NEWEST);
        assert!(BuiltInDocuments::try_from(Release::OLDEST).is_err(), "there are no documents of 1.28");
    }

    #[test]
    fn the_error_lists_what_is_known() {
        let error = "1.9".parse::<BuiltInDocuments>().expect_err("not known").to_string();
        let known = "1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.37";
        assert_eq!(error, format!("no release of Kubernetes is called \"1.9\"; known are {known}"));
    }
}
