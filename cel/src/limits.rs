//! Bounds that keep answers small and stacks shallow.

/// How deeply a rule of the grammar may nest, as upstream.
pub(crate) const MAX_DEPTH: usize = 250;

/// How many characters an expression may have, as upstream.
pub(crate) const MAX_SOURCE: usize = 100_000;

/// How many elements a list may have that a function builds. Upstream has no such bound: it runs out of memory.
pub const MAX_ELEMENTS: usize = 10_000_000;
