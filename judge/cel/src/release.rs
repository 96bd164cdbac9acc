//! Releases of Kubernetes, the language changes of each, and the range of releases for which recorded answers are the
//! same.

use kubeshape_schema::Release as Server;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The release of a server, and the functions that exist in it: two minor releases of those of
/// [`kubeshape_schema::Release`].
///
/// Older releases are treated as the oldest one, newer releases as the newest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    minor: u8,
    functions: u8,
}

impl Release {
    /// The oldest.
    pub const OLDEST: Release = Release::of_server(Server::OLDEST);
    /// The newest.
    pub const NEWEST: Release = Release::of_server(Server::NEWEST);

    const fn of_server(release: Server) -> Release {
        let minor = release.minor() as u8;
        Release { minor, functions: minor }
    }

    /// Returns the release for expressions that are already stored: all functions exist.
    pub fn stored(minor: u8) -> Release {
        let minor = minor.clamp(Release::OLDEST.minor, Release::NEWEST.minor);
        Release { minor, functions: minor }
    }

    /// Returns the release for new expressions: only the functions of the release before exist, so that the server can
    /// be rolled back to it.
    pub fn new_expressions(minor: u8) -> Release {
        let stored = Release::stored(minor);
        Release { functions: stored.minor - 1, ..stored }
    }

    /// Returns the minor release of the server.
    pub fn minor(self) -> u8 {
        self.minor
    }

    /// Returns the minor release whose functions exist.
    pub fn functions(self) -> u8 {
        self.functions
    }
}

/// The range of minor releases for which every recorded question has the same answer.
///
/// It begins with all releases, and every question narrows it. It can be shared by threads.
#[derive(Debug)]
pub struct SameAnswers {
    from: AtomicU8,
    to: AtomicU8,
}

impl Default for SameAnswers {
    fn default() -> SameAnswers {
        SameAnswers { from: AtomicU8::new(0), to: AtomicU8::new(u8::MAX) }
    }
}

impl SameAnswers {
    /// Returns whether the release `1.minor` has something that came with `1.since`, and records the question.
    pub fn has(&self, minor: u8, since: u8) -> bool {
        let has = minor >= since;
        let kept = if has { since..=u8::MAX } else { 0..=since.saturating_sub(1) };
        self.narrow(&kept);
        has
    }

    /// Returns the range of minor releases.
    pub fn range(&self) -> RangeInclusive<u8> {
        self.from.load(Ordering::Relaxed)..=self.to.load(Ordering::Relaxed)
    }

    /// Narrows the range to `kept`.
    pub fn narrow(&self, kept: &RangeInclusive<u8>) {
        // Most questions change nothing. Then threads only read and do not disturb each other.
        if self.from.load(Ordering::Relaxed) < *kept.start() {
            self.from.fetch_max(*kept.start(), Ordering::Relaxed);
        }
        if self.to.load(Ordering::Relaxed) > *kept.end() {
            self.to.fetch_min(*kept.end(), Ordering::Relaxed);
        }
    }
}

/// A release that records the questions about it.
///
/// All code that depends on a release asks this type. The release itself is private, so that no question is missed.
#[derive(Clone, Debug)]
pub struct AskedRelease {
    release: Release,
    same: Arc<SameAnswers>,
}

impl AskedRelease {
    /// Creates a release whose questions narrow `same`.
    pub fn new(release: Release, same: &Arc<SameAnswers>) -> AskedRelease {
        AskedRelease { release, same: same.clone() }
    }

    /// Returns whether the server has a change.
    pub(crate) fn has(&self, change: Change) -> bool {
        self.same.has(self.release.minor, change.since())
    }

    /// Returns whether the functions that came with a release exist.
    pub(crate) fn knows(&self, since: impl Into<Since>) -> bool {
        let since = match since.into() {
            Since { minor, of_server: true } => return self.same.has(self.release.minor, minor),
            Since { minor, .. } => minor,
        };
        // New expressions use the functions of an older release than that of the server.
        let behind = self.release.minor - self.release.functions;
        self.same.has(self.release.minor, since + behind)
    }
}

impl From<Release> for AskedRelease {
    fn from(release: Release) -> AskedRelease {
        AskedRelease { release, same: Arc::default() }
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

crate::changes! {
    /// What changed for every expression with a release of the server, whichever functions exist.
    since: u8 = |minor| minor;
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
        /// Messages of the checker print the type of an optional as `optional_type(T)`, not as `optional(T)`.
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
