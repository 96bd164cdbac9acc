//! Structural schemas as rules see them: declared types, and names of properties in expressions.

mod decl;
pub mod escape;

pub use decl::{DeclType, declares_metadata};

/// The maximum size of a request, in bytes.
pub(crate) const MAX_REQUEST: i64 = 3 * 1024 * 1024;
