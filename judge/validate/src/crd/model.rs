//! CustomResourceDefinitions in the form that upstream validates: `apiextensions.CustomResourceDefinition`, the
//! internal version. Settings that all versions share are at the top, as in the paths of errors.

use crate::metadata::ObjectMeta;
use kubeshape_schema::Schema;
use kubeshape_structural::Status;
use kubeshape_structural::written::{Spec, Subresources, Validation, Version};
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
    /// The mapping of the status, for the locations of errors.
    pub status_node: Option<Node<'a>>,
    /// The manifest, for the locations of errors.
    pub node: Node<'a>,
}

/// Returns the schemas in upstream's order: that of all versions, then those of versions.
pub(super) fn schemas<'s, 'a>(spec: &'s Spec<'a>) -> impl Iterator<Item = &'a Schema<'a>> + use<'s, 'a> {
    let all = spec.validation.and_then(|validation| validation.schema);
    all.into_iter().chain(spec.versions.iter().filter_map(|version| version.schema?.schema))
}

/// The versions of a definition by name. If two have the same name, the first one is used.
pub(super) struct ByVersion<'s, 'a> {
    spec: &'s Spec<'a>,
    versions: HashMap<&'a str, &'a Version<'a>>,
    has_subresources: bool,
    has_schemas: bool,
}

impl<'s, 'a> ByVersion<'s, 'a> {
    /// Collects the versions, for many look-ups.
    pub(super) fn new(spec: &'s Spec<'a>) -> ByVersion<'s, 'a> {
        let mut versions = HashMap::with_capacity(spec.versions.len());
        for version in spec.versions {
            versions.entry(version.name).or_insert(version);
        }
        ByVersion {
            spec,
            versions,
            has_subresources: spec.versions.iter().any(|version| version.subresources.is_some()),
            has_schemas: spec.versions.iter().any(|version| version.schema.is_some()),
        }
    }

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

/// Returns whether two optional schemas are equal: `Semantic.DeepEqual`.
pub(super) fn same_validation<'a>(a: Option<Validation<'a>>, b: Option<Validation<'a>>) -> bool {
    match (a.map(|a| a.schema), b.map(|b| b.schema)) {
        (None, None) | (Some(None), Some(None)) => true,
        (Some(Some(a)), Some(Some(b))) => a.says_the_same(b),
        _ => false,
    }
}
