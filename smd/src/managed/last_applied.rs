//! The annotation in which client-side apply keeps the last configuration.

/// The annotation in which `kubectl apply` keeps the last configuration.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
