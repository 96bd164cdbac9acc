//! How many inputs are generated.

/// The number of inputs, and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of streams of manifests, and of YAML documents.
    pub count: u64,
    /// The seed of the first.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { count: 2000, seed: 1 }
    }
}
