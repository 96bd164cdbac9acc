//! A resource that is served.

use crate::status::GroupResource;
use kubeshape_registry::kind::{Kind, Scale, Scope};
use kubeshape_registry::{Registry, Requests};
use kubeshape_show::table::Convertor;
use kubeshape_smd::managed::Gvk;
use std::sync::Arc;

/// A custom resource in one version.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: Arc<str>,
    /// `widgets.example.com`: by this, objects are stored.
    pub(super) id: Arc<str>,
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) list_kind: String,
    pub(super) namespaced: bool,
    /// The `apiVersion` in which objects are stored.
    pub(super) storage: String,
    /// The warning that the version is deprecated.
    pub(super) warning: Option<String>,
    /// What is prepared of it, at its first use.
    definition: Kind,
    /// JSON paths of the fields that selectors may name, beside the name and the namespace.
    pub(super) selectable: Vec<Arc<str>>,
    scale: Option<Scale>,
    subresources: Vec<Arc<str>>,
}

impl Served {
    /// The resource of a kind, if its definition serves it.
    pub(super) fn of(kind: &Kind, registry: &Registry) -> Option<Served> {
        let (resource, version) = (kind.resource()?, kind.version()?);
        if !version.served || !kind.definition().is_custom_resource() {
            return None;
        }
        let storage = registry
            .versions(kind.group(), kind.kind())
            .find(|kind| kind.version().is_some_and(|version| version.storage))
            .unwrap_or(kind);
        let warning = version.deprecated.then(|| match &version.deprecation_warning {
            Some(text) => text.to_string(),
            None => format!("{} {} is deprecated", kind.api_version(), kind.kind()),
        });
        Some(Served {
            group: kind.group().to_owned(),
            version: kind.version_name().to_owned(),
            plural: Arc::clone(&resource.plural),
            id: format!("{}.{}", resource.plural, kind.group()).into(),
            api_version: kind.api_version().to_owned(),
            kind: kind.kind().to_owned(),
            list_kind: resource.list_kind.as_ref().map_or_else(|| format!("{}List", kind.kind()), ToString::to_string),
            namespaced: resource.scope == Scope::Namespaced,
            storage: storage.api_version().to_owned(),
            warning,
            definition: kind.clone(),
            selectable: version.selectable_fields.clone(),
            scale: version.scale.clone(),
            subresources: resource.subresources.clone(),
        })
    }

    /// What judges its objects.
    pub(super) fn requests(&self) -> Option<Requests> {
        self.definition.requests()
    }

    /// What makes the rows of its tables.
    pub(super) fn convertor(&self) -> Convertor {
        self.definition.convertor().unwrap_or_else(|_| Convertor::names())
    }

    pub(super) fn group_resource(&self) -> GroupResource<'_> {
        GroupResource { group: &self.group, resource: &self.plural }
    }

    pub(super) fn gvk(&self) -> Gvk<'_> {
        Gvk::new(&self.api_version, &self.kind)
    }

    pub(super) fn has_status(&self) -> bool {
        self.subresources.iter().any(|name| **name == *"status")
    }

    pub(super) fn scale(&self) -> Option<&Scale> {
        self.scale.as_ref()
    }
}
