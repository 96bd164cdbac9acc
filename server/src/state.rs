//! What all requests share.

use crate::metrics::Metrics;
use crate::snapshot::Live;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What the endpoints work with.
#[derive(Clone, Debug)]
pub struct Endpoints {
    /// The snapshot that is served.
    pub live: Arc<Live>,
    /// Whether to answer what kube-apiserver answers with 406 or not at all (`--extensions on`).
    pub extensions: bool,
    /// `host:port` under which clients reach the server, for `serverAddressByClientCIDRs`.
    pub advertise: Arc<str>,
    /// Metrics.
    pub metrics: Arc<Metrics>,
    /// What `/readyz` and its kin answer.
    pub readiness: Arc<Readiness>,
}

/// Named checks behind `/readyz`, each fine or with the reason why it is not.
#[derive(Debug, Default)]
pub struct Readiness {
    checks: Mutex<BTreeMap<Arc<str>, Option<Arc<str>>>>,
}

impl Readiness {
    /// Sets a check: `None` is fine.
    pub fn set(&self, check: &str, reason: Option<&str>) {
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        checks.insert(check.into(), reason.map(Arc::from));
    }

    /// Removes a check.
    pub fn remove(&self, check: &str) {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner).remove(check);
    }

    /// All checks by name.
    pub fn checks(&self) -> Vec<(Arc<str>, Option<Arc<str>>)> {
        let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        checks.iter().map(|(name, reason)| (Arc::clone(name), reason.clone())).collect()
    }
}
