//! Structural schemas, as rules see them: the types they declare, and objects read through them.

mod decl;
pub mod escape;
mod typed;

pub use decl::{DeclType, declares_metadata};
pub use typed::Typed;

/// What a request may have at most, in bytes.
pub(crate) const MAX_REQUEST: i64 = 3 * 1024 * 1024;
