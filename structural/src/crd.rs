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

/// The parts of `status` that discovery uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Status<'a> {
    /// `acceptedNames`, without defaults.
    pub accepted: Option<Names<'a>>,
    /// Whether the condition `Established` is true; `None` if it is absent.
    pub established: Option<bool>,
    /// Whether the condition `Terminating` is true.
    pub terminating: bool,
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
    pub scale: Option<Scale<'a>>,
    /// `additionalPrinterColumns`
    pub columns: &'a [Column<'a>],
    /// JSON paths of `selectableFields`, as written.
    pub selectable_fields: &'a [&'a str],
    /// Location: the version's entry in the tape. For a v1beta1 manifest without `versions`, it is the entry of `spec`.
    pub at: u32,
}

/// `subresources.scale`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Scale<'a> {
    /// `specReplicasPath`
    pub spec_replicas_path: &'a str,
    /// `statusReplicasPath`
    pub status_replicas_path: &'a str,
    /// `labelSelectorPath`
    pub label_selector_path: Option<&'a str>,
}

/// One of `additionalPrinterColumns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Column<'a> {
    /// `name`
    pub name: &'a str,
    /// `type`
    pub column_type: &'a str,
    /// `format`
    pub format: &'a str,
    /// `description`
    pub description: &'a str,
    /// `priority`
    pub priority: i32,
    /// `jsonPath` (v1beta1: `JSONPath`)
    pub json_path: &'a str,
}
