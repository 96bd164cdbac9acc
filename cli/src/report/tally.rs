//! Counts of inputs, results, findings and losses.

use kubeshape_schema::{Code, NoteKind};
use std::collections::BTreeMap;

/// The counts of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) files: usize,
    /// The size of the inputs on disk, in bytes.
    pub(crate) bytes: u64,
    pub(crate) documents: usize,
    pub(crate) resources: usize,
    pub(crate) versions: usize,
    pub(crate) openapi: usize,
    pub(crate) skipped: usize,
    pub(crate) failed: usize,
    /// The number of failed inputs whose bytes could not be read.
    pub(crate) unreadable: usize,
    pub(crate) results: usize,
    pub(crate) pruned: usize,
    pub(crate) tally: Tally,
}

/// The number of findings and losses by code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally(BTreeMap<Code, u64>);

impl Tally {
    /// Adds one to the count of a code.
    pub(crate) fn count(&mut self, code: Code) {
        *self.0.entry(code).or_default() += 1;
    }

    /// Adds another tally.
    pub(crate) fn add(&mut self, other: &Tally) {
        for (code, n) in &other.0 {
            *self.0.entry(*code).or_default() += n;
        }
    }

    /// Subtracts the losses of another tally.
    pub(crate) fn remove_losses(&mut self, other: &Tally) {
        for (code, n) in other.0.iter().filter(|(code, _)| code.kind().is_loss()) {
            if let Some(count) = self.0.get_mut(code) {
                *count -= n;
            }
        }
    }

    /// Returns the count of a code.
    pub(crate) fn of(&self, code: Code) -> u64 {
        self.0.get(&code).copied().unwrap_or_default()
    }

    /// Returns the count of a kind.
    pub(crate) fn get(&self, kind: NoteKind) -> u64 {
        self.codes().filter(|(code, _)| code.kind() == kind).map(|(_, n)| n).sum()
    }

    /// Returns the codes that were counted, in ascending order.
    pub(crate) fn codes(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        self.0.iter().map(|(code, n)| (*code, *n)).filter(|(_, n)| *n > 0)
    }
}
