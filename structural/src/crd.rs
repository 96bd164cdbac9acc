//! The parts of CustomResourceDefinitions that publishing and merging use.

use kubeshape_schema::Schema;

/// The API version of the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiVersion {
    /// `apiextensions.k8s.io/v1`
    V1,
    /// `apiextensions.k8s.io/v1beta1`, already converted to v1 as the API server converts it.
    V1beta1,
}

/// `spec.scope`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Objects live in namespaces.
    Namespaced,
    /// Objects live in the cluster.
    Cluster,
    /// Any other string. The server treats it as cluster-scoped.
    Other,
}

/// A CustomResourceDefinition with defaults, as the API server decodes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crd<'a> {
    /// `metadata.name`
    pub name: &'a str,
    /// API version of the manifest.
    pub api_version: ApiVersion,
    /// `spec.group`
    pub group: &'a str,
    /// `spec.names`
    pub names: Names<'a>,
    /// `spec.scope`
    pub scope: Scope,
    /// `spec.preserveUnknownFields` after defaulting.
    pub preserve_unknown_fields: bool,
    /// `spec.versions` in order, served or not.
    pub versions: &'a [Version<'a>],
    /// `status`, if the manifest comes from a cluster.
    pub status: Status<'a>,
    /// Location: the CRD's entry in the tape.
    pub at: u32,
    /// Location: the entry of `spec.names`, or if it is absent, that of `spec` or of the manifest.
    pub names_at: u32,
}

/// The parts of `status` that discovery and validation use. If two conditions have the same type, the first one is used
/// (upstream: `IsCRDConditionTrue`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Status<'a> {
    /// `acceptedNames`, without defaults.
    pub accepted: Option<Names<'a>>,
    /// `storedVersions`
    pub stored_versions: Option<&'a [&'a str]>,
    /// Whether the condition `Established` is true; `None` if it is absent.
    pub established: Option<bool>,
    /// Whether the condition `Terminating` is true; `None` if it is absent.
    pub terminating: Option<bool>,
}

/// `spec.names`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Names<'a> {
    /// `plural`
    pub plural: &'a str,
    /// `singular`; the default is the kind in lower case.
    pub singular: &'a str,
    /// `shortNames`
    pub short_names: &'a [&'a str],
    /// `kind`
    pub kind: &'a str,
    /// `listKind`; the default is the kind followed by `List`.
    pub list_kind: &'a str,
    /// `categories`
    pub categories: &'a [&'a str],
}

/// One of `spec.versions`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Version<'a> {
    /// `name`
    pub name: &'a str,
    /// `served`
    pub served: bool,
    /// `storage`
    pub storage: bool,
    /// `deprecated`
    pub deprecated: bool,
    /// `deprecationWarning`
    pub deprecation_warning: Option<&'a str>,
    /// `schema.openAPIV3Schema`
    pub schema: Option<&'a Schema<'a>>,
    /// Whether `subresources.status` is present.
    pub status: bool,
    /// `subresources.scale`
    pub scale: Option<Scale<&'a str>>,
    /// `additionalPrinterColumns`
    pub columns: &'a [Column<&'a str>],
    /// JSON paths of `selectableFields`, as written.
    pub selectable_fields: &'a [&'a str],
    /// Location: the version's entry in the tape. For a v1beta1 manifest without `versions`, it is the entry of `spec`.
    pub at: u32,
}

/// `subresources.scale`, with strings of type `S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Scale<S> {
    /// `specReplicasPath`
    pub spec_replicas_path: S,
    /// `statusReplicasPath`
    pub status_replicas_path: S,
    /// `labelSelectorPath`
    pub label_selector_path: Option<S>,
}

impl<S: AsRef<str>> Scale<S> {
    /// Returns the same with other strings.
    pub fn map<'s, T>(&'s self, mut string: impl FnMut(&'s str) -> T) -> Scale<T> {
        Scale {
            spec_replicas_path: string(self.spec_replicas_path.as_ref()),
            status_replicas_path: string(self.status_replicas_path.as_ref()),
            label_selector_path: self.label_selector_path.as_ref().map(|path| string(path.as_ref())),
        }
    }
}

/// One of `additionalPrinterColumns`, with strings of type `S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Column<S> {
    /// `name`: the header.
    pub name: S,
    /// `type`: `string`, `integer`, `date` …
    pub column_type: S,
    /// `format`; `name` marks the column with the name of the object.
    pub format: S,
    /// `description`
    pub description: S,
    /// `priority`: 0 is always shown, higher priorities with `-o wide`.
    pub priority: i32,
    /// `jsonPath` (v1beta1: `JSONPath`)
    pub json_path: S,
}

impl<S: AsRef<str>> Column<S> {
    /// Returns the same with other strings.
    pub fn map<'s, T>(&'s self, string: impl Fn(&'s str) -> T) -> Column<T> {
        Column {
            name: string(self.name.as_ref()),
            column_type: string(self.column_type.as_ref()),
            format: string(self.format.as_ref()),
            description: string(self.description.as_ref()),
            priority: self.priority,
            json_path: string(self.json_path.as_ref()),
        }
    }
}
