//! Bounds on work, memory and nesting.

/// The maximum nesting of a rule of the grammar, as upstream.
pub(crate) const MAX_DEPTH: usize = 250;

/// The maximum number of characters of an expression, as upstream.
pub(crate) const MAX_SOURCE: usize = 100_000;

/// The macros of an expression may copy this number of nodes, and [`COPIES_PER_CHARACTER`] more for each of its
/// characters. `optMap` copies its target, so each call in a chain doubles the nodes. Upstream has no such bound: it runs
/// for hours.
pub const FREE_COPIES: usize = 2_000;
/// See [`FREE_COPIES`].
pub const COPIES_PER_CHARACTER: usize = 4;

/// The maximum number of values that an evaluation may visit. Upstream's costs count only outermost values. Upstream
/// has no such bound: it runs for hours.
pub const MAX_STEPS: u64 = 50_000_000;

/// The maximum number of bytes of strings and lists that an evaluation may create. Upstream has no such bound: it runs
/// out of memory.
pub const MAX_MADE: u64 = 512 << 20;

/// The maximum length of a string that a function may build, in bytes. Upstream has no such bound.
pub const MAX_TEXT: usize = 64 << 20;

/// The maximum number of elements of a list that a function may build. Upstream has no such bound: it runs out of
/// memory.
pub const MAX_ELEMENTS: usize = 10_000_000;
