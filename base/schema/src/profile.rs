//! Whether upstream's faults are kept.

/// Whether upstream's faults are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// Documents, bytes and verdicts as kube-apiserver's, faults included.
    #[default]
    Kube,
    /// Faults put right.
    Faithful,
}
