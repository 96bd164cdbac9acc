//! What a run of tests counts.

/// The numbers of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) suites: usize,
    pub(super) cases: usize,
    pub(super) scenarios: usize,
    pub(super) steps: usize,
    pub(super) expectations: usize,
    pub(super) failed: usize,
    pub(super) updated: usize,
}
