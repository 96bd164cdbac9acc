//! Bounds that keep answers small and stacks shallow.

/// How deeply a rule of the grammar may nest, as upstream.
pub(crate) const MAX_DEPTH: usize = 250;

/// How many characters an expression may have, as upstream.
pub(crate) const MAX_SOURCE: usize = 100_000;

/// How many values an evaluation may look at where upstream's costs count only the outermost ones. Upstream has no such
/// bound: it runs for hours.
pub const MAX_STEPS: u64 = 50_000_000;

/// How many bytes of strings and lists an evaluation may make. Upstream has no such bound: it runs out of memory.
pub const MAX_MADE: u64 = 512 << 20;

/// The longest string that a function may build, in bytes. Upstream has no such bound.
pub const MAX_TEXT: usize = 64 << 20;

/// How many elements a list may have that a function builds. Upstream has no such bound: it runs out of memory.
pub const MAX_ELEMENTS: usize = 10_000_000;
