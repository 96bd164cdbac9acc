//! What is known about one kind in one version.
//!
//! Everything that is decided per kind hangs on [`Kind`]: the names, the [`Type`] of server-side apply, and what judges
//! requests ([`Kind::requests`]). What is expensive is built at first use.

use crate::definition::Definition;
use kubeshape_smd::managed::Gvk;
use kubeshape_smd::schema::UNTYPED_DEDUCED;
use kubeshape_smd::typed::Type;
use std::sync::Arc;

/// A kind in one version: `Widget` of `example.com/v1`.
#[derive(Clone, Debug)]
// `kind` is the name of the member of an object that holds it.
#[allow(clippy::struct_field_names)]
pub struct Kind {
    pub(crate) api_version: Arc<str>,
    pub(crate) kind: Arc<str>,
    pub(crate) definition: Arc<Definition>,
    /// The name of the type in the definition's types.
    pub(crate) type_name: Arc<str>,
    /// The node of the schema: of a version's in a CustomResourceDefinition, of a definition's in an OpenAPI document.
    pub(crate) schema: Option<u32>,
    pub(crate) resource: Option<Resource>,
    pub(crate) version: Option<Version>,
    /// The fields at the top of an object that requests to the object and to its status leave alone.
    pub(crate) reset: [&'static [&'static str]; 2],
}

/// The names of a resource, and where its objects live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// `widgets`
    pub plural: Arc<str>,
    /// `widget`; of a built-in resource the kind in lower case.
    pub singular: Arc<str>,
    /// `wd`; no OpenAPI document has them, but discovery documents beside it in one input.
    pub short_names: Vec<Arc<str>>,
    /// `all`; as the short names.
    pub categories: Vec<Arc<str>>,
    /// `WidgetList`; no OpenAPI document says which kind is the list of which.
    pub list_kind: Option<Arc<str>>,
    /// Where objects live.
    pub scope: Scope,
    /// The subresources: `status`, `scale`, and of built-in resources others.
    pub subresources: Vec<Arc<str>>,
}

pub use kubeshape_discovery::Scope;

/// What a CustomResourceDefinition says of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Whether the server serves it.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
    /// Whether clients are warned of it.
    pub deprecated: bool,
    /// The text of that warning, if it is not the usual one.
    pub deprecation_warning: Option<Arc<str>>,
    /// The columns that `kubectl get` prints.
    pub columns: Vec<Column>,
    /// JSON paths of the fields that field selectors may name.
    pub selectable_fields: Vec<Arc<str>>,
    /// Where replicas stand, if there is a `/scale`.
    pub scale: Option<Scale>,
}

/// A printer column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The head of the column.
    pub name: Arc<str>,
    /// `string`, `integer`, `date` …
    pub column_type: Arc<str>,
    /// `name` marks the column with the name of the object.
    pub format: Arc<str>,
    /// What it shows.
    pub description: Arc<str>,
    /// 0 is always shown, greater ones with `-o wide`.
    pub priority: i32,
    /// The path of the value in the object.
    pub json_path: Arc<str>,
}

/// Where the replicas of `/scale` stand in the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// `.spec.replicas`
    pub spec_replicas_path: Arc<str>,
    /// `.status.replicas`
    pub status_replicas_path: Arc<str>,
    /// `.status.selector`
    pub label_selector_path: Option<Arc<str>>,
}

impl Kind {
    /// Group, version and kind.
    pub fn gvk(&self) -> Gvk<'_> {
        Gvk::new(&self.api_version, &self.kind)
    }

    /// The group, empty for the core one.
    pub fn group(&self) -> &str {
        self.gvk().group()
    }

    /// The version.
    pub fn version_name(&self) -> &str {
        self.gvk().version()
    }

    /// `group/version`, or `version` alone.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// The kind.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The resource; none if the definition says nothing of resources, as a structured-merge-diff schema and an
    /// OpenAPI document without paths do.
    pub fn resource(&self) -> Option<&Resource> {
        self.resource.as_ref()
    }

    /// What the CustomResourceDefinition says of the version; none if the kind comes from anything else.
    pub fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// The subresources, as far as requests to others are refused: those of a CustomResourceDefinition. An OpenAPI
    /// document may lack paths, so that it does not rule out any.
    pub fn subresources(&self) -> Option<&[Arc<str>]> {
        let resource = self.resource.as_ref().filter(|_| self.version.is_some())?;
        Some(&resource.subresources)
    }

    /// What defines the kind.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The type of its objects in server-side apply, which is built at the first call. None only if the definition
    /// has no type of the name that the kind was given.
    pub fn merge_type(&self) -> Option<Type<'_>> {
        let types = self.definition.types();
        types.named(&self.type_name).or_else(|| types.named(UNTYPED_DEDUCED))
    }

    /// The name of that type among those of the definition.
    pub fn type_name(&self) -> &str {
        if self.is_deduced() { UNTYPED_DEDUCED } else { &self.type_name }
    }

    /// Whether the schema cannot be used, so that the type is deduced from the objects.
    pub fn is_deduced(&self) -> bool {
        self.definition.types().named(&self.type_name).is_none()
    }

    /// The fields at the top of an object that requests to a subresource neither change nor own; `""` is the object
    /// itself (upstream: `GetResetFields` and `PrepareForUpdate` of the strategies of registries).
    pub fn reset_fields(&self, subresource: &str) -> &'static [&'static str] {
        match subresource {
            "" => self.reset[0],
            "status" => self.reset[1],
            _ => &[],
        }
    }
}
