//! Releases of Kubernetes, and in which of them a rule changed.

/// A minor release of Kubernetes 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release(u32);

impl Release {
    /// The oldest release whose rules are known.
    pub const OLDEST: Release = Release(28);
    /// The newest release whose rules are known.
    pub const NEWEST: Release = Release(37);
    /// The release that holds where none is named.
    pub const DEFAULT: Release = Release(36);

    /// The release `1.minor`, if its rules are known.
    pub fn new(minor: u32) -> Option<Release> {
        (Self::OLDEST.0..=Self::NEWEST.0).contains(&minor).then_some(Release(minor))
    }

    /// All releases whose rules are known, the oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Release> {
        (Self::OLDEST.0..=Self::NEWEST.0).map(Release)
    }

    /// The minor number.
    pub fn minor(self) -> u32 {
        self.0
    }

    /// Whether this release has a change.
    pub fn has(self, change: Change) -> bool {
        self >= change.since()
    }
}

impl std::fmt::Display for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

impl Default for Release {
    fn default() -> Release {
        Release::DEFAULT
    }
}

/// What changed in the rules for definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// `selectableFields` is known to the decoder.
    SelectableFieldsKnown,
    /// `selectableFields` is kept and checked.
    SelectableFields,
    /// `optionalOldSelf` is known to the decoder.
    OptionalOldSelfKnown,
    /// `additionalProperties: false` is allowed below `allOf`, `anyOf`, `oneOf` and `not`.
    NestedAdditionalPropertiesFalse,
    /// Formats that the server does not know give a warning, in schemas of strings.
    UnknownStringFormats,
    /// Formats that the server does not know give a warning, in schemas of other types.
    UnknownOtherFormats,
    /// The formats `k8s-short-name` and `k8s-long-name` are checked.
    NameFormats,
    /// The same formats give no warning.
    NameFormatsRecognized,
    /// The formats of numbers are checked.
    NumberFormats,
    /// Sets of objects or arrays give a warning.
    SetOfOtherThanScalars,
    /// Messages are shorter.
    ShortMessages,
}

impl Change {
    /// The first release with the change.
    pub fn since(self) -> Release {
        let minor = match self {
            Change::OptionalOldSelfKnown => 29,
            Change::SelectableFieldsKnown => 30,
            Change::SelectableFields | Change::NestedAdditionalPropertiesFalse => 31,
            Change::UnknownStringFormats | Change::NameFormats | Change::ShortMessages => 34,
            Change::NameFormatsRecognized => 35,
            Change::UnknownOtherFormats | Change::NumberFormats => 36,
            Change::SetOfOtherThanScalars => 37,
        };
        Release(minor)
    }
}
