//! A kind in one version.
//!
//! [`Kind`] has the names, the [`Type`] of server-side apply, and the validator of requests ([`Kind::requests`]).
//! Expensive parts are built at first use.

use crate::definition::Definition;
use kubeshape_smd::managed::Gvk;
use kubeshape_smd::schema::UNTYPED_DEDUCED;
use kubeshape_smd::typed::Type;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::{Strategy, reset_fields};
use std::sync::{Arc, OnceLock};

/// A kind in one version: `Widget` of `example.com/v1`.
#[derive(Clone, Debug)]
// `kind` is the name of the member in objects.
#[allow(clippy::struct_field_names)]
pub struct Kind {
    pub(crate) api_version: Arc<str>,
    pub(crate) kind: Arc<str>,
    pub(crate) definition: Arc<Definition>,
    /// The name of the type in the definition's types.
    pub(crate) type_name: Arc<str>,
    /// The schema node: of a version in a CustomResourceDefinition, or of a definition in an OpenAPI document.
    pub(crate) schema: Option<u32>,
    /// The node of the version in a CustomResourceDefinition.
    pub(crate) version_at: Option<u32>,
    pub(crate) resource: Option<Resource>,
    pub(crate) version: Option<Version>,
    /// The top-level fields that requests to the object and to its status do not change.
    pub(crate) reset: [&'static [&'static str]; 2],
    /// The rules of a built-in kind, created at first use.
    pub(crate) strategy: OnceLock<Option<Arc<Strategy>>>,
}

/// The names of a resource, and its scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// `widgets`
    pub plural: Arc<str>,
    /// `widget`; for a built-in resource the kind in lower case.
    pub singular: Arc<str>,
    /// `wd`. OpenAPI documents do not have them; discovery documents in the same input do.
    pub short_names: Vec<Arc<str>>,
    /// `all`. Known if the short names are.
    pub categories: Vec<Arc<str>>,
    /// `WidgetList`. OpenAPI documents do not contain the relation between a kind and its list.
    pub list_kind: Option<Arc<str>>,
    /// The scope.
    pub scope: Scope,
    /// The subresources: `status`, `scale`, and others for built-in resources.
    pub subresources: Vec<Arc<str>>,
}

pub use kubeshape_discovery::Scope;

/// A version of a CustomResourceDefinition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Whether the server serves it.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
    /// Whether clients get a deprecation warning.
    pub deprecated: bool,
    /// The message of that warning, if it is not the default.
    pub deprecation_warning: Option<Arc<str>>,
    /// The columns that `kubectl get` prints.
    pub columns: Vec<Column>,
    /// JSON paths of the fields that field selectors may use.
    pub selectable_fields: Vec<Arc<str>>,
    /// The paths of replicas, if there is a `/scale`.
    pub scale: Option<Scale>,
}

/// A printer column.
pub type Column = kubeshape_structural::Column<Arc<str>>;

/// The paths of replicas for `/scale`.
pub type Scale = kubeshape_structural::Scale<Arc<str>>;

impl Kind {
    /// Returns group, version and kind.
    pub fn gvk(&self) -> Gvk<'_> {
        Gvk::new(&self.api_version, &self.kind)
    }

    /// Returns the group, empty for the core group.
    pub fn group(&self) -> &str {
        self.gvk().group()
    }

    /// Returns the version.
    pub fn version_name(&self) -> &str {
        self.gvk().version()
    }

    /// Returns `group/version`, or `version` alone.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// Returns the kind.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the resource. `None` if the definition has no resources: structured-merge-diff schemas, and OpenAPI
    /// documents without paths.
    pub fn resource(&self) -> Option<&Resource> {
        self.resource.as_ref()
    }

    /// Returns the version of the CustomResourceDefinition; `None` for other definitions.
    pub fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// Returns the subresources if the list is complete: that of a CustomResourceDefinition. An OpenAPI document may
    /// lack paths, so it rules out none.
    pub fn subresources(&self) -> Option<&[Arc<str>]> {
        let resource = self.resource.as_ref().filter(|_| self.version.is_some())?;
        Some(&resource.subresources)
    }

    /// Returns the definition.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Returns the type of its objects in server-side apply, built at the first call. `None` only if the definition
    /// lacks the type that was assigned to the kind.
    pub fn merge_type(&self) -> Option<Type<'_>> {
        let types = self.definition.types();
        types.named(&self.type_name).or_else(|| types.named(UNTYPED_DEDUCED))
    }

    /// Returns the name of that type in the definition.
    pub fn type_name(&self) -> &str {
        if self.is_deduced() { UNTYPED_DEDUCED } else { &self.type_name }
    }

    /// Returns whether the schema is unusable, so that the type is deduced from the objects.
    pub fn is_deduced(&self) -> bool {
        self.definition.types().named(&self.type_name).is_none()
    }

    /// Returns the top-level fields that requests to a subresource neither change nor own; `""` is the object itself
    /// (upstream: `GetResetFields` and `PrepareForUpdate` of the strategies of registries).
    pub fn reset_fields(&self, subresource: &str) -> &'static [&'static str] {
        match subresource {
            "" => self.reset[0],
            "status" => self.reset[1],
            _ => &[],
        }
    }

    /// Returns the fields that requests to a subresource of a built-in kind do not own, either (upstream:
    /// `GetResetFields`).
    pub(crate) fn also_reset(&self, subresource: &str, release: Release) -> &'static [&'static [&'static str]] {
        if self.definition.is_custom_resource() {
            return &[];
        }
        reset_fields(Gvk::new(&self.api_version, &self.kind).group(), &self.kind, subresource, release)
    }
}
