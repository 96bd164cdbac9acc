//! State that all requests share.

use crate::auth::Authenticator;
use crate::features::Emulation;
use crate::http::pages::Pages;
use crate::metrics::Metrics;
use crate::objects::Objects;
use crate::snapshot::{LazyV2, Live};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The state of the endpoints.
#[derive(Clone, Debug)]
pub struct Endpoints {
    /// The snapshot that is served.
    pub live: Arc<Live>,
    /// Whether to answer requests that kube-apiserver refuses with 406 or not at all (`--extensions on`).
    pub extensions: bool,
    /// `host:port` at which clients reach the server, for `serverAddressByClientCIDRs`.
    pub advertise: Arc<str>,
    /// Metrics.
    pub metrics: Arc<Metrics>,
    /// The checks of `/readyz`, `/livez` and `/healthz`.
    pub readiness: Arc<Readiness>,
    /// Decides who may read why a check fails; `None` for everyone.
    pub authenticator: Option<Authenticator>,
    /// The emulated release; `None` for the newest one.
    pub emulation: Option<Emulation>,
    /// The OpenAPI v2 document without custom resources, which is served if the emulated release does not publish them.
    pub v2_without_custom_resources: Option<Arc<LazyV2>>,
    /// The served objects; `None` if only schemas are served.
    pub objects: Option<Arc<Objects>>,
    /// The web application that browsers get; `None` for none.
    pub pages: Option<Arc<Pages>>,
}

/// Named readiness checks. Each passes, or fails with a reason.
#[derive(Debug, Default)]
pub struct Readiness {
    checks: Mutex<BTreeMap<Arc<str>, Option<Arc<str>>>>,
}

impl Readiness {
    /// Sets a check. Without a reason it passes.
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
