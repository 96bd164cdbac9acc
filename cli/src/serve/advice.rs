//! Lifecycle warnings for clients: about fields, from `x-kubernetes-api-lifecycle` in the inputs, and about built-in
//! kinds.

use arc_swap::ArcSwap;
use kubeshape_input::Document;
use kubeshape_lifecycle::warn::{Cluster, Deprecations, Inputs};
use kubeshape_objects::Advisor;
use kubeshape_server::Emulation;
use kubeshape_yaml::Node;
use std::sync::Arc;

/// The lifecycles of what is served. The hub changes them; requests read them.
#[derive(Debug)]
pub(super) struct Lifecycles {
    cluster: Cluster,
    deprecations: Deprecations,
    inputs: ArcSwap<Inputs>,
}

impl Lifecycles {
    pub(super) fn new(cluster: Cluster) -> Lifecycles {
        let deprecations = Deprecations::new(cluster.release);
        Lifecycles { cluster, deprecations, inputs: ArcSwap::default() }
    }

    /// Returns the gates of the command line that no schema names.
    pub(super) fn unnamed_gates(&self) -> Vec<&str> {
        let inputs = self.inputs.load();
        let gates = self.cluster.gates.keys().map(String::as_str);
        gates.filter(|gate| !Emulation::has_gate(gate) && !inputs.has_gate(gate)).collect()
    }

    /// Reads a document that does not change.
    pub(super) fn read(&self, name: &Arc<str>, bytes: &[u8]) {
        self.change(|inputs| inputs.read(Arc::clone(name), bytes));
    }

    /// Sets the current documents of a file.
    pub(super) fn set(&self, name: &Arc<str>, documents: &[Document]) {
        self.change(|inputs| inputs.set(Arc::clone(name), documents));
    }

    fn change(&self, change: impl FnOnce(&mut Inputs)) {
        let mut inputs = Inputs::clone(&self.inputs.load());
        change(&mut inputs);
        self.inputs.store(Arc::new(inputs));
    }
}

impl Advisor for Lifecycles {
    fn kind(&self, api_version: &str, kind: &str) -> Option<String> {
        self.deprecations.of(api_version, kind).map(str::to_owned)
    }

    fn has_fields(&self, api_version: &str, kind: &str) -> bool {
        self.inputs.load().has(api_version, kind)
    }

    fn fields(&self, object: Node<'_>) -> Vec<String> {
        let warnings = self.inputs.load().warnings(object, &self.cluster);
        warnings.into_iter().map(|warning| warning.text).collect()
    }
}
