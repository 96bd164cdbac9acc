//! CustomResourceDefinitions in the form that upstream validates: `apiextensions.CustomResourceDefinition`, the
//! internal version. Settings that all versions share are at the top, as in the paths of errors.

use crate::metadata::{ObjectMeta, place};
use kubeshape_schema::Schema;
use kubeshape_structural::{Column, Names, Scale};
use kubeshape_yaml::Node;
use std::collections::HashMap;

/// A CustomResourceDefinition.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'a> {
    /// `metadata`
    pub metadata: ObjectMeta<'a>,
    /// `spec`
    pub spec: Spec<'a>,
    /// `status`
    pub status: Status<'a>,
    /// The manifest, for the locations of errors.
    pub node: Node<'a>,
}

/// `spec`
#[derive(Clone, Copy, Debug)]
pub struct Spec<'a> {
    /// `group`
    pub group: &'a str,
    /// `version`
    pub version: &'a str,
    /// `names`
    pub names: Names<'a>,
    /// `scope`, as written.
    pub scope: &'a str,
    /// The schema of all versions.
    pub validation: Option<Validation<'a>>,
    /// The subresources of all versions.
    pub subresources: Option<Subresources<'a>>,
    /// `versions`
    pub versions: &'a [Version<'a>],
    /// The printer columns of all versions.
    pub columns: Option<&'a [Column<'a>]>,
    /// The selectable fields of all versions: their JSON paths.
    pub selectable_fields: Option<&'a [&'a str]>,
    /// `conversion`
    pub conversion: Option<Conversion<'a>>,
    /// `preserveUnknownFields`
    pub preserve_unknown_fields: Option<bool>,
    /// The mapping, or the definition if it has none: for the locations of errors.
    pub node: Node<'a>,
    /// Whether the definition has a `spec`.
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
    pub columns: Option<&'a [Column<'a>]>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subresources<'a> {
    /// Whether `status` is present.
    pub status: bool,
    /// `scale`
    pub scale: Option<Scale<'a>>,
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

/// `status`
#[derive(Clone, Copy, Debug, Default)]
pub struct Status<'a> {
    /// `acceptedNames`
    pub accepted_names: Names<'a>,
    /// `storedVersions`
    pub stored_versions: Option<&'a [&'a str]>,
    /// The value of the condition `Established`, if present.
    pub established: Option<bool>,
    /// The mapping, for the locations of errors.
    pub node: Option<Node<'a>>,
}

impl<'a> Spec<'a> {
    /// Returns a member as written.
    pub fn member(&self, name: &str) -> Option<Node<'a>> {
        self.node.get(name).filter(|_| self.is_written)
    }

    /// Returns the schemas in upstream's order: that of all versions, then those of versions.
    pub(super) fn schemas(&self) -> impl Iterator<Item = &'a Schema<'a>> {
        let all = self.validation.and_then(|validation| validation.schema);
        all.into_iter().chain(self.versions.iter().filter_map(|version| version.schema?.schema))
    }

    /// Returns the versions by name, for many look-ups.
    pub(super) fn by_version(&self) -> ByVersion<'_, 'a> {
        let mut versions = HashMap::with_capacity(self.versions.len());
        for version in self.versions {
            versions.entry(version.name).or_insert(version);
        }
        ByVersion {
            spec: self,
            versions,
            has_subresources: self.versions.iter().any(|version| version.subresources.is_some()),
            has_schemas: self.versions.iter().any(|version| version.schema.is_some()),
        }
    }

    /// Returns the location of a member, or that of the mapping if the member is missing.
    pub(super) fn at(&self, member: &str) -> u32 {
        self.member(member).unwrap_or(self.node).index()
    }
}

/// The versions of a definition by name. If two have the same name, the first one is used.
pub(super) struct ByVersion<'s, 'a> {
    spec: &'s Spec<'a>,
    versions: HashMap<&'a str, &'a Version<'a>>,
    has_subresources: bool,
    has_schemas: bool,
}

impl<'a> ByVersion<'_, 'a> {
    /// `HasPerVersionSubresources` and `getSubresourcesForVersion`.
    pub(super) fn subresources_of(&self, version: &str) -> Option<Subresources<'a>> {
        if !self.has_subresources {
            return self.spec.subresources;
        }
        self.versions.get(version)?.subresources
    }

    /// Returns the schema of a version: `GetSchemaForVersion`. The outer `None` is upstream's error.
    #[allow(clippy::option_option)]
    pub(super) fn schema_of(&self, version: &str) -> Option<Option<Validation<'a>>> {
        if !self.has_schemas {
            return Some(self.spec.validation);
        }
        if self.spec.validation.is_some() {
            return None;
        }
        self.versions.get(version).map(|found| found.schema)
    }
}

impl Version<'_> {
    /// Returns the location of a member, or that of the mapping if the member is missing.
    pub(super) fn at(&self, member: &str) -> u32 {
        place(self.node, member)
    }
}

impl<'a> Validation<'a> {
    /// `Semantic.DeepEqual`
    pub(super) fn says_the_same(self, other: Validation<'a>) -> bool {
        match (self.schema, other.schema) {
            (None, None) => true,
            (Some(a), Some(b)) => a.says_the_same(b),
            _ => false,
        }
    }
}

/// Returns whether two optional schemas are equal.
pub(super) fn same_validation<'a>(a: Option<Validation<'a>>, b: Option<Validation<'a>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.says_the_same(b),
        _ => false,
    }
}
