//! Releases of Kubernetes, and in which of them a rule changed.

use kubeshape_cel::SameAnswers;
pub use kubeshape_schema::Release;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A release that keeps count of what it is asked: which other releases answer the same.
///
/// What a release decides is asked here and nowhere else, so that a verdict holds for all releases in [`AskedRelease::same`].
///
/// # Example
/// ```
/// use kubeshape_validate::{AskedRelease, Change, Release};
///
/// let asked = AskedRelease::from(Release::DEFAULT);
/// assert!(asked.has(Change::SelectableFields) && !asked.has(Change::SetsOfContainers));
/// let same: Vec<String> = Release::all().filter(|release| asked.same(*release)).map(|r| r.to_string()).collect();
/// assert_eq!(same, ["1.31", "1.32", "1.33", "1.34", "1.35", "1.36"]);
/// ```
#[derive(Clone, Debug)]
pub struct AskedRelease {
    release: Release,
    same: Arc<SameAnswers>,
}

impl AskedRelease {
    /// Whether the release has a change.
    pub fn has(&self, change: Change) -> bool {
        self.same.has(small(self.release), small(change.since()))
    }

    /// Whether another release gives the same answers to everything that was asked.
    pub fn same(&self, release: Release) -> bool {
        self.same.range().contains(&small(release))
    }

    /// The same release, of which nothing was asked yet.
    pub(crate) fn apart(&self) -> AskedRelease {
        self.release.into()
    }

    /// The releases that give the same answers.
    pub(crate) fn range(&self) -> RangeInclusive<u8> {
        self.same.range()
    }

    /// Whether the release itself is one of some releases.
    pub(crate) fn is_in(&self, releases: &RangeInclusive<u8>) -> bool {
        releases.contains(&small(self.release))
    }

    /// Only some releases give the same answers.
    pub(crate) fn narrow(&self, releases: &RangeInclusive<u8>) {
        self.same.narrow(releases);
    }

    /// The release for expressions that are stored already.
    pub(crate) fn of_stored_expressions(&self) -> kubeshape_cel::AskedRelease {
        kubeshape_cel::AskedRelease::new(kubeshape_cel::Release::stored(small(self.release)), &self.same)
    }

    /// The release for expressions that are new.
    pub(crate) fn of_new_expressions(&self) -> kubeshape_cel::AskedRelease {
        kubeshape_cel::AskedRelease::new(kubeshape_cel::Release::new_expressions(small(self.release)), &self.same)
    }
}

/// The minor number of a release.
fn small(release: Release) -> u8 {
    u8::try_from(release.minor()).unwrap_or(u8::MAX)
}

impl From<Release> for AskedRelease {
    fn from(release: Release) -> AskedRelease {
        AskedRelease { release, same: Arc::default() }
    }
}

impl From<&AskedRelease> for AskedRelease {
    fn from(release: &AskedRelease) -> AskedRelease {
        release.clone()
    }
}

/// What changed in the rules for definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// `optionalOldSelf` of rules is known, although it is dropped.
    KnownOptionalOldSelf,
    /// `optionalOldSelf` of rules is kept and checked.
    OptionalOldSelf,
    /// `selectableFields` is kept and checked. Older servers drop it.
    SelectableFields,
    /// `additionalProperties: false` may stand below `allOf`, `anyOf`, `oneOf` and `not`.
    NestedAdditionalPropertiesFalse,
    /// Defaults are checked for the formats `k8s-short-name` and `k8s-long-name`.
    NamesOfDefaults,
    /// Numbers must be in the range of their type and format.
    RangesOfNumbers,
    /// Values outside of an enumeration leave rules unchecked, as values of the wrong type do.
    EnumsBlockRules,
    /// Names of finalizers without a domain give a warning.
    WarningsOfFinalizers,
    /// Errors about what an update did not change are dropped, those of rules become warnings.
    Ratcheting,
    /// Of a value with several broken rules, each has the path of its own field.
    OwnFieldPaths,
    /// Errors of the schema about a status have the whole path.
    PathsOfStatus,
    /// The warning about a finalizer with a dot says that it lacks a path.
    PathsOfFinalizers,
    /// Updates of the status drop errors about what did not change, too.
    RatchetingOfStatus,
    /// Errors show values in JSON, not as Go prints them.
    ValuesInJson,
    /// Errors about long values have one wording for all of them.
    OneWordingOfLengths,
    /// Errors about stored versions say why a version must remain.
    ReasonsOfStoredVersions,
    /// Formats of strings that the server does not know give a warning.
    UnknownStringFormats,
    /// Some messages do not repeat the name of their field, and a limit of one has a singular.
    ShortMessages,
    /// Errors about broken rules show the value in place of its type.
    ValuesOfBrokenRules,
    /// Messages about keys and values of labels name label keys, and count bytes.
    LabelKeys,
    /// The formats `k8s-short-name` and `k8s-long-name` give no warning.
    NameFormats,
    /// Formats of other types than string that the server does not know give a warning.
    UnknownOtherFormats,
    /// Sets of objects and of arrays give a warning.
    SetsOfContainers,
    /// Names of services are labels of RFC 1123.
    LabelsOfServices,
    /// Of equal errors about metadata one is reported.
    MetadataErrorsOnce,
    /// Empty fields of owner references and of managed fields are required, with the place of the reference.
    RequiredFieldsOfOwners,
}

impl Change {
    /// Whether a release has the change.
    pub fn is_in(self, release: Release) -> bool {
        release.without_patch() >= self.since()
    }

    /// The first release with the change.
    pub fn since(self) -> Release {
        Release::nearest(match self {
            Change::KnownOptionalOldSelf | Change::EnumsBlockRules | Change::WarningsOfFinalizers => 29,
            Change::OptionalOldSelf | Change::Ratcheting | Change::OwnFieldPaths => 30,
            Change::SelectableFields | Change::NestedAdditionalPropertiesFalse | Change::PathsOfStatus => 31,
            Change::OneWordingOfLengths | Change::PathsOfFinalizers => 32,
            Change::ReasonsOfStoredVersions | Change::RatchetingOfStatus => 33,
            Change::UnknownStringFormats | Change::ShortMessages | Change::NamesOfDefaults | Change::ValuesInJson => 34,
            Change::LabelKeys | Change::NameFormats | Change::ValuesOfBrokenRules => 35,
            Change::UnknownOtherFormats | Change::RangesOfNumbers | Change::LabelsOfServices => 36,
            Change::SetsOfContainers | Change::MetadataErrorsOnce | Change::RequiredFieldsOfOwners => 37,
        })
    }
}
