//! Kubernetes API discovery: which groups, versions and resources a server has (KEP-3352).
//!
//! [`Group`] is the model of every form: the aggregated list (`apidiscovery.k8s.io` v2, v2beta1) and the unaggregated
//! documents (`APIGroupList`, `APIGroup`, `APIResourceList`, `APIVersions`), each as JSON, indented JSON, YAML and
//! protobuf.
//!
//! [`custom_resource`] returns what a CustomResourceDefinition adds, and [`established`] those of several definitions
//! that get their names. [`custom_group_versions`] and [`assemble`] build groups of them, and [`mod@print`] prints the
//! groups. [`openapi::Index`] lists the OpenAPI v3 documents of a server. [`read`] reads the documents of other
//! servers, and [`Records`] combines the documents of one cluster.

mod assemble;
mod claims;
mod combine;
mod custom;
pub mod deprecated;
mod document;
mod model;
pub mod openapi;
pub mod print;
mod priority;
pub mod read;
mod wire;

pub use assemble::{
    AggregatedKey, GroupListKey, aggregated_key, aggregated_order, assemble, group_list_key, group_list_order,
    group_version_order, version_order,
};
pub use claims::{NameConflict, NameField, established, name_conflicts};
pub use combine::Records;
pub use custom::{
    CUSTOM_RESOURCE_PRIORITY, ClaimedNames, CustomResource, custom_group_versions, custom_resource,
    storage_version_hash,
};
pub use document::group_versions_of_document;
pub use model::{Freshness, Group, GroupVersion, Kind, Origin, Priority, Resource, Scope, Subresource};
pub use priority::{UNSET_PRIORITY, built_in_priority};
