//! Conversions between the dialects of Kubernetes schemas and documents.
//!
//! A conversion lives in the folder of its target: [`v2::from_structural`] makes the OpenAPI v2 form of a
//! structural schema, [`v2::merge`] lays documents of resources onto the document of a server.

pub mod v2;
