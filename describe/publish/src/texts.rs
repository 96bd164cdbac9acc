//! Descriptions in documents that are not part of a shared definition.

use std::collections::BTreeMap;

/// Descriptions in documents that are not part of a shared definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Texts {
    /// `apiVersion` of every object.
    pub(crate) api_version: String,
    /// `kind` of every object.
    pub(crate) kind: String,
    /// `metadata` of every object.
    pub(crate) object_metadata: String,
    /// `metadata` of every list.
    pub(crate) list_metadata: String,
    /// The path parameter `namespace`.
    pub(crate) namespace: String,
    /// Query parameters by name.
    pub(crate) query: BTreeMap<String, String>,
    /// `fieldManager` of patches.
    pub(crate) patch_field_manager: String,
}

impl Texts {
    pub(crate) fn query(&self, name: &str, patch: bool) -> &str {
        if patch && name == "fieldManager" {
            return &self.patch_field_manager;
        }
        self.query.get(name).map_or("", String::as_str)
    }
}
