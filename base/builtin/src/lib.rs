//! The API of Kubernetes itself, by release.
//!
//! Every release of `k8s.io/kubernetes` contains the OpenAPI and discovery documents of its API server. This crate has
//! those documents without their descriptions, compressed. They keep the facts: definitions with types, formats,
//! references, required fields, list types and keys, merge keys, defaults and enums; paths with verbs and
//! group-version-kinds; names, short names, categories and scopes of resources. Like upstream's, the documents contain
//! all group versions, including those that a server does not serve by default, such as alpha ones.
//!
//! A cluster's own documents contain more: they have descriptions, and show what the cluster serves. Only with these,
//! hashes of documents are equal to those of a cluster.
//!
//! # Example: the merge keys of a release
//! ```
//! use kubeshape_builtin::BuiltInDocuments;
//!
//! let documents: BuiltInDocuments = "1.34".parse()?;
//! let apps = documents.api().openapi_v3("apis/apps/v1").unwrap();
//! assert!(apps.contains(r#""x-kubernetes-patch-merge-key":"containerPort""#));
//! # Ok::<(), kubeshape_builtin::NoDocuments>(())
//! ```

mod api;
mod documents;
mod overlay;

pub use api::Api;
pub use documents::{BuiltInDocuments, NoDocuments};
pub use overlay::{CONSTRAINTS, OVERLAY};
