//! Structural schemas as rules see them: declared types, and objects read through schemas.

mod decl;
pub mod escape;
mod typed;

pub use decl::{DeclType, declares_metadata};
pub use typed::Typed;

/// The maximum size of a request, in bytes.
pub(crate) const MAX_REQUEST: i64 = 3 * 1024 * 1024;
