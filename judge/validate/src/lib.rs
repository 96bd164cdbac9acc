//! Validation before storage, as in an API server.
//!
//! - [`body`] checks requests before their objects are decoded.
//! - [`builtin`] checks the metadata of built-in kinds.
//! - [`crd`] checks whole CustomResourceDefinitions, on creation and on update.
//! - [`object`] checks custom resources against a structural schema, and prunes and defaults them.
//! - [`typed`] checks objects of built-in kinds as far as OpenAPI documents describe them.
//! - [`strict`] has the server's messages about unknown and duplicate fields.
//!
//! Errors are [`field::Error`](kubeshape_schema::field::Error)s with upstream's type, path, value and message, and a
//! location.

pub mod body;
pub mod builtin;
pub mod crd;
mod literal;
pub mod metadata;
pub mod object;
mod release;
pub mod selector;
pub mod strict;
pub mod typed;
mod webhook;
mod words;

pub use kubeshape_schema::names;
pub use release::{AskedRelease, Change, Release};
