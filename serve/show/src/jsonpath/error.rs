//! The limits of templates, and why they cannot be applied.

/// The maximum number of values that a template visits. A template that repeats the results of `..` multiplies its
/// work.
pub const MAX_STEPS: usize = 10_000_000;

/// The maximum number of bytes that a template writes, up to the last value.
pub const MAX_OUTPUT: usize = 64 << 20;

/// Why a template cannot be applied. The messages are upstream's, except where upstream has no error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A field that no value has.
    #[error("{0} is not found")]
    NotFound(String),
    /// An index into a value that is not a list.
    #[error("{0} is not array or slice")]
    NotList(&'static str),
    /// A filter of a value that is not a list.
    #[error("{0} is not array or slice and cannot be filtered")]
    NotFiltered(String),
    /// An index beyond the list.
    #[error("array index out of bounds: index {index}, length {length}")]
    OutOfBounds {
        /// The index.
        index: i64,
        /// The length of the list.
        length: usize,
    },
    /// A start after the end.
    #[error("starting index {start} is greater than ending index {end}")]
    Start {
        /// The start.
        start: i64,
        /// The end.
        end: i64,
    },
    /// A step of zero or less.
    #[error("step must be > 0")]
    Step,
    /// A side of a comparison with several values.
    #[error("can only compare one element at a time")]
    Several,
    /// An unknown operator.
    #[error("unrecognized filter operator {0}")]
    Operator(String),
    /// A side of a comparison that is null, a list or a map.
    #[error("invalid type for comparison")]
    ComparisonType,
    /// Sides of a comparison with different types.
    #[error("incompatible types for comparison")]
    Comparison,
    /// `{end}` without `{range}`.
    #[error("not in range, nothing to end")]
    NothingToEnd,
    /// An unknown word.
    #[error("unrecognized identifier {0}")]
    Identifier(String),
    /// A step that needs a value has none. Upstream panics.
    #[error("there is no value here (kubectl crashes on this template)")]
    NoValue,
    /// The template visits more than [`MAX_STEPS`] values, writes more than [`MAX_OUTPUT`] bytes, or nests ranges too
    /// deeply.
    #[error("the template does more than {MAX_STEPS} steps, or writes more than {} MB", MAX_OUTPUT >> 20)]
    TooMuch,
}
