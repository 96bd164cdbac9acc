//! The protobuf messages of discovery (upstream: `generated.proto` of `k8s.io/api/apidiscovery/v2`,
//! `k8s.io/apimachinery/pkg/apis/meta/v1` and `pkg/runtime`). JSON is read into them, too.
//!
//! The server's encoder also writes empty strings, numbers and objects that Go stores by value. They are optional here,
//! and the printer sets them.

/// The first bytes of every object in protobuf form.
pub(super) const MAGIC: &[u8] = b"k8s\0";

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Unknown {
    #[prost(message, optional, tag = "1")]
    pub(super) type_meta: Option<TypeMeta>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(super) raw: Option<Vec<u8>>,
    #[prost(string, optional, tag = "3")]
    pub(super) content_encoding: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) content_type: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TypeMeta {
    #[prost(string, optional, tag = "1")]
    pub(super) api_version: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) kind: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GroupDiscoveryList {
    #[prost(message, optional, tag = "1")]
    pub(super) metadata: Option<ListMeta>,
    #[prost(message, repeated, tag = "2")]
    pub(super) items: Vec<GroupDiscovery>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ListMeta {
    #[prost(string, optional, tag = "1")]
    pub(super) self_link: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) resource_version: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) continuation: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GroupDiscovery {
    #[prost(message, optional, tag = "1")]
    pub(super) metadata: Option<ObjectMeta>,
    #[prost(message, repeated, tag = "2")]
    pub(super) versions: Vec<VersionDiscovery>,
}

/// The members of ObjectMeta that the encoder always writes. Discovery uses only the name.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ObjectMeta {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) generate_name: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) namespace: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) self_link: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub(super) uid: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub(super) resource_version: Option<String>,
    #[prost(int64, optional, tag = "7")]
    pub(super) generation: Option<i64>,
    #[prost(message, optional, tag = "8")]
    pub(super) creation_timestamp: Option<Time>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Time {}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct VersionDiscovery {
    #[prost(string, optional, tag = "1")]
    pub(super) version: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub(super) resources: Vec<ResourceDiscovery>,
    #[prost(string, optional, tag = "3")]
    pub(super) freshness: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ResourceDiscovery {
    #[prost(string, optional, tag = "1")]
    pub(super) resource: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub(super) response_kind: Option<GroupVersionKind>,
    #[prost(string, optional, tag = "3")]
    pub(super) scope: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) singular_resource: Option<String>,
    #[prost(string, repeated, tag = "5")]
    pub(super) verbs: Vec<String>,
    #[prost(string, repeated, tag = "6")]
    pub(super) short_names: Vec<String>,
    #[prost(string, repeated, tag = "7")]
    pub(super) categories: Vec<String>,
    #[prost(message, repeated, tag = "8")]
    pub(super) subresources: Vec<SubresourceDiscovery>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SubresourceDiscovery {
    #[prost(string, optional, tag = "1")]
    pub(super) subresource: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub(super) response_kind: Option<GroupVersionKind>,
    #[prost(message, repeated, tag = "3")]
    pub(super) accepted_types: Vec<GroupVersionKind>,
    #[prost(string, repeated, tag = "4")]
    pub(super) verbs: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GroupVersionKind {
    #[prost(string, optional, tag = "1")]
    pub(super) group: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) version: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) kind: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GroupList {
    #[prost(message, repeated, tag = "1")]
    pub(super) groups: Vec<Group>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Group {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub(super) versions: Vec<GroupVersion>,
    #[prost(message, optional, tag = "3")]
    pub(super) preferred_version: Option<GroupVersion>,
    #[prost(message, repeated, tag = "4")]
    pub(super) addresses: Vec<Address>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GroupVersion {
    #[prost(string, optional, tag = "1")]
    pub(super) group_version: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) version: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Address {
    #[prost(string, optional, tag = "1")]
    pub(super) client_cidr: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) server_address: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Versions {
    #[prost(string, repeated, tag = "1")]
    pub(super) versions: Vec<String>,
    #[prost(message, repeated, tag = "2")]
    pub(super) addresses: Vec<Address>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ResourceList {
    #[prost(string, optional, tag = "1")]
    pub(super) group_version: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub(super) resources: Vec<Resource>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Resource {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(bool, optional, tag = "2")]
    pub(super) namespaced: Option<bool>,
    #[prost(string, optional, tag = "3")]
    pub(super) kind: Option<String>,
    #[prost(message, optional, tag = "4")]
    pub(super) verbs: Option<Verbs>,
    #[prost(string, repeated, tag = "5")]
    pub(super) short_names: Vec<String>,
    #[prost(string, optional, tag = "6")]
    pub(super) singular_name: Option<String>,
    #[prost(string, repeated, tag = "7")]
    pub(super) categories: Vec<String>,
    #[prost(string, optional, tag = "8")]
    pub(super) group: Option<String>,
    #[prost(string, optional, tag = "9")]
    pub(super) version: Option<String>,
    #[prost(string, optional, tag = "10")]
    pub(super) storage_version_hash: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Verbs {
    #[prost(string, repeated, tag = "1")]
    pub(super) items: Vec<String>,
}
