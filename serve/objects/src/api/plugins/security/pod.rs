//! The parts of a Pod that checks read.

use super::super::part::{items, member, text};
use kubeshape_smd::Value;
use kubeshape_smd::value::Map;

/// A Pod, or the template of one.
pub(super) struct Pod<'v> {
    pub(super) annotations: Map<'v>,
    pub(super) spec: Value<'v>,
    /// All containers in the order of upstream's `visitContainers`.
    pub(super) containers: Vec<Container<'v>>,
}

/// A container of any kind.
#[derive(Clone, Copy)]
pub(super) struct Container<'v> {
    pub(super) name: &'v str,
    pub(super) value: Value<'v>,
}

impl<'v> Pod<'v> {
    pub(super) fn new(metadata: Value<'v>, spec: Value<'v>) -> Pod<'v> {
        let annotations = metadata.get("annotations").and_then(Value::as_map).unwrap_or(Map::EMPTY);
        let lists = ["initContainers", "containers", "ephemeralContainers"].into_iter();
        let all = lists.flat_map(|list| items(spec, &[list]));
        let containers = all.map(|value| Container { name: text(*value, &["name"]), value: *value }).collect();
        Pod { annotations, spec, containers }
    }

    /// Returns whether the Pod says that it is one of Windows.
    pub(super) fn is_windows(&self) -> bool {
        text(self.spec, &["os", "name"]) == "windows"
    }

    /// Returns whether the users of the Pod are not those of its node.
    pub(super) fn has_own_users(&self) -> bool {
        member(self.spec, &["hostUsers"]) == Some(Value::Bool(false))
    }

    /// Returns the names of the containers for which a condition is true.
    pub(super) fn containers_with(&self, mut is_bad: impl FnMut(Value<'v>) -> bool) -> Vec<&'v str> {
        self.containers.iter().filter(|container| is_bad(container.value)).map(|container| container.name).collect()
    }
}
