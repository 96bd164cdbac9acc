//! Discovery: which groups, versions and resources a server has (KEP-3352; spec: publishing, "Discovery").
//!
//! One model, [`Group`], for every form: the aggregated list (`apidiscovery.k8s.io` v2, v2beta1) and the
//! unaggregated documents (`APIGroupList`, `APIGroup`, `APIResourceList`, `APIVersions`), each as JSON, indented
//! JSON, YAML and protobuf.

mod model;

pub use model::{Freshness, Group, GroupVersion, Kind, Origin, Priority, Resource, Scope, Subresource};
