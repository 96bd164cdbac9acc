//! Limits of a reader.

/// Limits on one source. A source that exceeds one gives an [`Error`](crate::Error) with a location, never a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of the whole source in bytes (at most 4 GiB − 1).
    pub bytes: usize,
    /// Maximum nesting of sequences and mappings, in levels.
    pub depth: usize,
    /// Maximum number of nodes of one document, with aliases and merge keys expanded.
    pub nodes: usize,
    /// Maximum number of nodes of one document that come from aliases and merge keys.
    pub alias_nodes: usize,
    /// Maximum size of one scalar in bytes.
    pub scalar: usize,
}

impl Limits {
    /// For sources printed from values already read: only the depth is limited, to 4096.
    pub const PRINTED: Limits =
        Limits { bytes: usize::MAX, depth: 4096, nodes: usize::MAX, alias_nodes: 0, scalar: usize::MAX };
}

impl Default for Limits {
    /// 256 MiB, 512 levels, 16 million nodes, 1 million of them through aliases, scalars of 64 MiB.
    fn default() -> Self {
        Limits { bytes: 256 << 20, depth: 512, nodes: 16_000_000, alias_nodes: 1_000_000, scalar: 64 << 20 }
    }
}
