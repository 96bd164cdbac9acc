//! Answers of the Kubernetes libraries, as `conformance/oracle` prints them.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The answers for a stream of manifests.
#[derive(Clone, Debug, Deserialize)]
pub struct FileAnswer {
    /// The name of the stream.
    pub id: String,
    /// The CustomResourceDefinitions in the order of the stream.
    pub crds: Vec<CrdAnswer>,
    /// All of them merged, if this was requested.
    pub merged: Option<Merged>,
}

/// The answer for one manifest: either `error`, or all other members.
#[derive(Clone, Debug, Deserialize)]
pub struct CrdAnswer {
    /// Why it cannot be decoded.
    pub error: Option<String>,
    /// `metadata.name`
    #[serde(default)]
    pub name: String,
    /// `v1` or `v1beta1`
    #[serde(default)]
    pub api_version: String,
    /// After defaulting.
    #[serde(default)]
    pub preserve_unknown_fields: bool,
    /// The message of a library's panic, if it panicked.
    pub panic: Option<String>,
    /// The schema of server-side apply.
    pub smd: Option<Box<RawValue>>,
    /// Why there is none.
    pub smd_error: Option<String>,
    /// The versions in order.
    #[serde(default)]
    pub versions: Vec<VersionAnswer>,
}

/// The answer for one version.
#[derive(Clone, Debug, Deserialize)]
pub struct VersionAnswer {
    /// Its name.
    pub version: String,
    /// Whether it is served.
    pub served: bool,
    /// Whether it is the storage version.
    pub storage: bool,
    /// Whether it has a schema.
    #[serde(default)]
    pub has_schema: bool,
    /// Why the schema does not convert.
    pub new_structural_error: Option<String>,
    /// The v3 document, byte for byte.
    pub v3: Option<Box<RawValue>>,
    /// Why there is none.
    pub v3_error: Option<String>,
    /// The v2 document with the escapes of Go's `encoding/json`.
    pub v2: Option<Box<RawValue>>,
    /// Why there is none.
    pub v2_error: Option<String>,
}

/// The merged documents.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Merged {
    /// One per group version, ordered by path.
    #[serde(default)]
    pub v3: Vec<MergedV3>,
    /// The v2 document.
    pub v2: Option<MergedV2>,
}

/// The v3 document of a group version: either `error`, or all other members.
#[derive(Clone, Debug, Deserialize)]
pub struct MergedV3 {
    /// `apis/GROUP/VERSION`
    pub path: String,
    /// Names of its CustomResourceDefinitions.
    pub crds: Vec<String>,
    /// Those with a failure of a library.
    #[serde(default)]
    pub failed_crds: Vec<String>,
    /// Why there is no document.
    pub error: Option<String>,
    /// Upper-case hexadecimal SHA-512 of the document.
    #[serde(default)]
    pub etag: String,
    /// The document, byte for byte.
    pub doc: Option<Box<RawValue>>,
}

/// The v2 document: either `error`, or all other members.
#[derive(Clone, Debug, Deserialize)]
pub struct MergedV2 {
    /// Names of its CustomResourceDefinitions.
    pub crds: Vec<String>,
    /// Those with a failure of a library.
    #[serde(default)]
    pub failed_crds: Vec<String>,
    /// Why there is no document.
    pub error: Option<String>,
    /// Upper-case hexadecimal SHA-512 of the document.
    #[serde(default)]
    pub etag: String,
    /// The document, byte for byte.
    pub doc: Option<Box<RawValue>>,
}

/// The answer for a whole OpenAPI document. Absent values could not be computed or do not apply.
#[derive(Clone, Debug, Deserialize)]
pub struct DocumentAnswer {
    /// The name of the document.
    #[serde(alias = "file")]
    pub id: String,
    /// `v2`, `v3`, `other` (neither of them) or `unreadable` (neither JSON nor YAML).
    pub kind: String,
    /// Why it is unreadable.
    pub error: Option<String>,
    /// Why the typed document rejects it; then the conversions that need it are absent.
    pub parse_error: Option<String>,
    /// The typed document, printed with the escapes of Go's `encoding/json`.
    pub json: Option<Box<RawValue>>,
    /// Upper-case hexadecimal SHA-512 of `json`.
    pub json_etag: Option<String>,
    /// The same for a v2 document as it is served, without those escapes.
    pub served_etag: Option<String>,
    /// The v3 document that a v2 document is converted to.
    pub v3: Option<Box<RawValue>>,
    /// Upper-case hexadecimal SHA-512 of `v3`.
    pub v3_etag: Option<String>,
    /// Why there is none.
    pub v3_error: Option<String>,
    /// The protobuf form of `json`.
    pub proto: Option<ProtoAnswer>,
    /// Its bytes, compressed and in base64, if they are at most 16 KiB.
    pub proto_gzip_base64: Option<String>,
    /// The protobuf form of `v3`.
    pub v3_proto: Option<ProtoAnswer>,
    /// Its bytes, compressed and in base64, if they are at most 16 KiB.
    pub v3_proto_gzip_base64: Option<String>,
    /// The protobuf form of the document itself. A YAML document is first converted to JSON with sorted keys.
    pub source_proto: Option<ProtoAnswer>,
    /// The schema of server-side apply, without unions.
    pub smd: Option<Box<RawValue>>,
    /// The same with unions, if there are any.
    pub smd_with_unions: Option<Box<RawValue>>,
    /// Why there is none; lines are sorted.
    pub smd_error: Option<String>,
    /// The schema of server-side apply where unknown fields are preserved.
    pub smd_preserve: Option<Box<RawValue>>,
    /// Why there is none; lines are sorted.
    pub smd_preserve_error: Option<String>,
}

/// The protobuf form of a document: either `error`, or the other members.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct ProtoAnswer {
    /// Hexadecimal SHA-256 of the bytes.
    #[serde(default)]
    pub sha256: String,
    /// Their number.
    #[serde(default)]
    pub len: usize,
    /// Why the document has no such form.
    pub error: Option<String>,
}
