//! The specification of a CustomResourceDefinition as its manifest has it: decoded, without defaults, not converted.
//!
//! [`Manifest::decode`](crate::read::Manifest::decode) returns it together with the [`Crd`](crate::Crd), the form that
//! publishing uses.

use crate::{Column, Names, Scale};
use kubeshape_schema::Schema;
use kubeshape_yaml::Node;

/// `spec`. Members that v1 has only per version and v1beta1 also at the top have both places.
#[derive(Clone, Copy, Debug)]
pub struct Spec<'a> {
    /// `group`
    pub group: &'a str,
    /// `version`, in v1beta1 only.
    pub version: &'a str,
    /// `names`
    pub names: Names<'a>,
    /// `scope`, as written.
    pub scope: &'a str,
    /// `validation` of v1beta1: the schema of all versions.
    pub validation: Option<Validation<'a>>,
    /// The subresources of all versions.
    pub subresources: Option<Subresources<'a>>,
    /// `versions`
    pub versions: &'a [Version<'a>],
    /// The printer columns of all versions.
    pub columns: Option<&'a [Column<&'a str>]>,
    /// The selectable fields of all versions: their JSON paths.
    pub selectable_fields: Option<&'a [&'a str]>,
    /// `conversion`
    pub conversion: Option<Conversion<'a>>,
    /// `preserveUnknownFields`
    pub preserve_unknown_fields: Option<bool>,
    /// The mapping, or the definition if it has none: for the locations of errors.
    pub node: Node<'a>,
    /// Whether the definition has a `spec` that is not null.
    pub is_written: bool,
}

/// One of `versions`.
#[derive(Clone, Copy, Debug)]
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
    /// `schema`
    pub schema: Option<Validation<'a>>,
    /// `subresources`
    pub subresources: Option<Subresources<'a>>,
    /// `additionalPrinterColumns`
    pub columns: Option<&'a [Column<&'a str>]>,
    /// `selectableFields`: their JSON paths.
    pub selectable_fields: Option<&'a [&'a str]>,
    /// The mapping, for the locations of errors.
    pub node: Node<'a>,
}

/// `schema` of a version, `validation` of v1beta1.
#[derive(Clone, Copy, Debug)]
pub struct Validation<'a> {
    /// `openAPIV3Schema`
    pub schema: Option<&'a Schema<'a>>,
}

/// `subresources`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subresources<'a> {
    /// Whether `status` is present.
    pub status: bool,
    /// `scale`
    pub scale: Option<Scale<&'a str>>,
}

/// `conversion`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conversion<'a> {
    /// `strategy`
    pub strategy: &'a str,
    /// `webhook.clientConfig`
    pub client_config: Option<ClientConfig<'a>>,
    /// `webhook.conversionReviewVersions`
    pub review_versions: &'a [&'a str],
}

/// How the server reaches a webhook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientConfig<'a> {
    /// `url`
    pub url: Option<&'a str>,
    /// `service`
    pub service: Option<Service<'a>>,
    /// `caBundle`, decoded.
    pub ca_bundle: &'a [u8],
}

/// A reference to a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Service<'a> {
    /// `namespace`
    pub namespace: &'a str,
    /// `name`
    pub name: &'a str,
    /// `path`
    pub path: Option<&'a str>,
    /// `port`
    pub port: Option<i32>,
}

impl<'a> Spec<'a> {
    /// Returns an empty specification.
    pub(crate) fn empty(node: Node<'a>, is_written: bool) -> Spec<'a> {
        Spec {
            group: "",
            version: "",
            names: Names::default(),
            scope: "",
            validation: None,
            subresources: None,
            versions: &[],
            columns: None,
            selectable_fields: None,
            conversion: None,
            preserve_unknown_fields: None,
            node,
            is_written,
        }
    }

    /// Returns a member as written.
    pub fn member(&self, name: &str) -> Option<Node<'a>> {
        self.node.get(name).filter(|_| self.is_written)
    }

    /// Returns the location of a member, or that of the mapping if the member is missing.
    pub fn at(&self, member: &str) -> u32 {
        self.member(member).unwrap_or(self.node).index()
    }

    /// Returns the version of a v1beta1 definition that has a `version` and no `versions`
    /// (upstream: `SetDefaults_CustomResourceDefinitionSpec`).
    pub fn single_version(&self) -> Option<Version<'a>> {
        let is_single = self.versions.is_empty() && !self.version.is_empty();
        is_single.then(|| Version { name: self.version, served: true, storage: true, ..Version::empty(self.node) })
    }
}

impl<'a> Version<'a> {
    /// Returns an empty version.
    pub(crate) fn empty(node: Node<'a>) -> Version<'a> {
        Version {
            name: "",
            served: false,
            storage: false,
            deprecated: false,
            deprecation_warning: None,
            schema: None,
            subresources: None,
            columns: None,
            selectable_fields: None,
            node,
        }
    }

    /// Returns the location of a member, or that of the mapping if the member is missing.
    pub fn at(&self, member: &str) -> u32 {
        self.node.get(member).unwrap_or(self.node).index()
    }
}
