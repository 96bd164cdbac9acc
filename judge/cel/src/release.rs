//! The language of a release, and what changed in it with each release.

use kubeshape_schema::{AskedRelease, Release};

/// The language of a server: what its release evaluates, and the functions that exist.
///
/// All code that depends on a release asks this type, which records the questions. It is the same in all releases in
/// [`AskedRelease::same`].
///
/// # Example
/// ```
/// use kubeshape_cel::{Env, Language, Release};
///
/// let release = Release::nearest(33);
/// assert!(Env::new(Language::stored(release)).compile("semver('1.2.3')").is_ok());
/// assert!(Env::new(Language::new_expressions(release)).compile("semver('1.2.3')").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Language {
    release: AskedRelease,
    /// The number of minor releases that the functions are behind the release.
    behind: u8,
}

impl Language {
    /// Returns the language of expressions that are already stored: all functions of the release exist.
    pub fn stored(release: impl Into<AskedRelease>) -> Language {
        Language { release: release.into(), behind: 0 }
    }

    /// Returns the language of new expressions: only the functions of the release before exist, so that the server can
    /// be rolled back to it.
    pub fn new_expressions(release: impl Into<AskedRelease>) -> Language {
        Language { release: release.into(), behind: 1 }
    }

    /// Returns whether the server has a change.
    pub(crate) fn has(&self, change: Change) -> bool {
        self.release.has(change)
    }

    /// Returns whether the functions that came with a release exist.
    pub(crate) fn knows(&self, since: impl Into<Since>) -> bool {
        let Since { minor, of_server } = since.into();
        let behind = if of_server { 0 } else { self.behind };
        self.release.has(Release::of_minor(minor.saturating_add(behind)))
    }
}

/// The language of expressions that are already stored.
impl From<Release> for Language {
    fn from(release: Release) -> Language {
        Language::stored(release)
    }
}

/// The minor release that brought a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Since {
    minor: u8,
    /// Whether new expressions can use it immediately, because it came with a new version of a library that older
    /// releases also have.
    of_server: bool,
}

impl Since {
    pub(crate) const NEVER: Since = Since { minor: u8::MAX, of_server: true };

    /// Parses `33`, or `33+` if it depends on the server.
    pub(crate) fn parse(text: &str) -> Option<Since> {
        let minor = text.strip_suffix('+').unwrap_or(text);
        Some(Since { minor: minor.parse().ok()?, of_server: minor != text })
    }
}

impl From<u8> for Since {
    fn from(minor: u8) -> Since {
        Since { minor, of_server: false }
    }
}

kubeshape_schema::changes! {
    /// What changed for every expression with a release of the server, whichever functions exist.
    29 {
        /// `has()` costs no more than its operand.
        FreePresenceTests,
        /// Errors about `has()` are placed at its argument.
        PlacesOfHas,
        /// The checker reports no errors that only follow from others, and leaves elements of several types to the
        /// checks of literals.
        ErrorsOnce,
        /// The longest value of a string enum bounds the length of the string.
        EnumsBoundLength,
    }
    30 {
        /// The cost of a quantity includes parsing its string.
        QuantitiesCost,
    }
    31 {
        /// Selecting a field of a variable that is an error costs nothing.
        ErrorsEndPaths,
        /// Messages print the type of an optional as `optional_type(T)` or `optional_type`, not as `optional(T)` or
        /// `optional`.
        OptionalTypes,
        /// Calls of `format` with a literal string are checked when they are compiled.
        FormatCalls,
    }
    32 {
        /// Comparing two quantities, addresses, networks or URLs has a bounded cost.
        BoundedEquality,
        /// Errors about an empty expression are placed before its beginning.
        PlaceOfNothing,
        /// `indexOf` and `lastIndexOf` return -1 if their offset is at or after the end of the string, and do not fail.
        OffsetsAfterEnd,
    }
    33 {
        /// The estimate uses the size of the value that a variable is bound to.
        SizesOfVariables,
        /// The sizes of the items of literal lists and maps, and of the argument of `dyn()`, are known.
        SizesOfEntries,
        /// The grammar allows names in backticks.
        QuotedFieldsInGrammar,
        /// Syntax errors show percent signs as they are, and not as `fmt.Sprintf` prints them without arguments.
        PlainSyntaxErrors,
    }
    34 {
        /// `maxLength` bounds values with `x-kubernetes-int-or-string`.
        IntOrStringLength,
        /// `lastIndexOf` returns -1 in an empty string, and does not fail.
        LastIndexInEmpty,
    }
    37 {
        /// Field names in backticks are accepted.
        QuotedFields,
        /// `matches(text, pattern)` costs as much as `text.matches(pattern)`.
        MatchesAsFunction,
        /// Estimates use the maximum length of the two names in the metadata of a resource.
        NamesOfResources,
        /// The cost of `startsWith` and `endsWith` includes reading their argument.
        PrefixesCost,
        /// `duration()` does not accept integers.
        NoDurationsOfIntegers,
        /// An optional keeps its nested value when a condition chooses the optional.
        OptionalsKeepValues,
    }
}
