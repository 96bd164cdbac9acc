//! Whether upstream's faults are kept.

/// Whether upstream's faults are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// Documents, bytes and results are those of kube-apiserver, faults included.
    #[default]
    Kube,
    /// Faults are corrected.
    Faithful,
}
