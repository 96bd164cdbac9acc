//! Counts of inputs, results, findings and losses.

use kubeshape_schema::NoteKind;

/// The counts of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) files: usize,
    pub(crate) documents: usize,
    pub(crate) resources: usize,
    pub(crate) versions: usize,
    pub(crate) openapi: usize,
    pub(crate) skipped: usize,
    pub(crate) failed: usize,
    /// Inputs among the failed ones whose bytes could not be read.
    pub(crate) unreadable: usize,
    pub(crate) results: usize,
    pub(crate) pruned: usize,
    pub(crate) tally: Tally,
}

/// The number of findings and losses of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally([u64; 7]);

impl Tally {
    const KINDS: [NoteKind; 7] = [
        NoteKind::Error,
        NoteKind::Warning,
        NoteKind::Dropped,
        NoteKind::Widened,
        NoteKind::Narrowed,
        NoteKind::Renamed,
        NoteKind::Approximated,
    ];

    /// Counts one.
    pub(crate) fn count(&mut self, kind: NoteKind) {
        self.0[kind as usize] += 1;
    }

    /// Adds another tally.
    pub(crate) fn add(&mut self, other: &Tally) {
        for (sum, n) in self.0.iter_mut().zip(other.0) {
            *sum += n;
        }
    }

    /// Subtracts the losses of another tally.
    pub(crate) fn remove_losses(&mut self, other: &Tally) {
        for kind in Self::KINDS.into_iter().filter(|kind| kind.is_loss()) {
            self.0[kind as usize] -= other.get(kind);
        }
    }

    /// The count of a kind.
    pub(crate) fn get(&self, kind: NoteKind) -> u64 {
        self.0[kind as usize]
    }

    /// The counts of losses, in a fixed order.
    pub(crate) fn losses(&self) -> impl Iterator<Item = (NoteKind, u64)> + '_ {
        Self::KINDS.into_iter().filter(|kind| kind.is_loss()).map(|kind| (kind, self.get(kind)))
    }
}
