//! The limits of a proof.

use kubeshape_validate::Release;

/// The limits of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Objects of each version.
    pub objects: usize,
    /// Reviews that are sent. A fifth of them is for making objects smaller.
    pub reviews: usize,
    /// Objects of a review.
    pub batch: usize,
    /// How often an object is converted while it is made smaller.
    pub shrinking: usize,
    /// Faults of a definition that are reported.
    pub faults: usize,
    /// The largest object in bytes of JSON.
    pub bytes: usize,
    /// The version of reviews: one of [`REVIEW_VERSIONS`](crate::REVIEW_VERSIONS).
    pub review: &'static str,
    /// The choice among values if there are too many.
    pub seed: u64,
    /// The Kubernetes release whose rules apply.
    pub release: Release,
}

impl Default for Effort {
    /// 1,000 objects per version, 10,000 reviews of 50 objects, 64 attempts per fault, 500 faults, 1 MiB per object,
    /// `v1`, the newest release.
    fn default() -> Effort {
        Effort {
            objects: 1_000,
            reviews: 10_000,
            batch: 50,
            shrinking: 64,
            faults: 500,
            bytes: 1 << 20,
            review: "v1",
            seed: 0,
            release: Release::DEFAULT,
        }
    }
}
