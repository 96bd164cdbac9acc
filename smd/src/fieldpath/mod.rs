//! Field paths and sets of them, which record who owns a field.
//!
//! A [`Set`] is a trie over [`PathElement`]s. It is small, `Copy`, and borrows an arena. An operation on two sets
//! creates nodes only where the result differs from both, and shares everything else. Whether a set has a path is
//! independent of the paths below or above it.
//!
//! # Example: read a field set, subtract another, write what is left
//! ```
//! use kubeshape_smd::{Bump, fieldpath::Set};
//! let arena = Bump::new();
//! let mine = Set::read_json(br#"{"f:spec":{"f:replicas":{},"f:paused":{}}}"#, &arena)?;
//! let theirs = Set::read_json(br#"{"f:spec":{"f:replicas":{}}}"#, &arena)?;
//! assert_eq!(mine.difference(theirs, &arena).to_json()?, r#"{"f:spec":{"f:paused":{}}}"#);
//! # Ok::<(), kubeshape_smd::fieldpath::SetError>(())
//! ```

mod algebra;
mod build;
mod display;
mod element;
mod filter;
mod from_value;
mod json;
mod managers;
mod schema;
mod set;
#[cfg(test)]
mod tests;

pub use build::SetBuilder;
pub(crate) use build::Stack;
pub use display::DisplayPath;
pub use element::{Path, PathElement};
pub use filter::{ElementMatcher, Filter, Matcher};
pub use json::{ElementError, SetError};
pub use managers::{ManagedFields, VersionedSet};
pub(crate) use set::order;
pub use set::{Entry, Iter, Set};
