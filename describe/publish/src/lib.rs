//! What kube-apiserver publishes for CustomResourceDefinitions.
//!
//! [`Publisher`] reads CustomResourceDefinitions as [`kubeshape_structural::read`] returns them. For each, it builds
//! the OpenAPI v3 and v2 documents and the structured-merge-diff schema. [`MergeV3`] and [`MergeV2`] merge the parts of
//! many CustomResourceDefinitions as a server does. The output depends only on the definitions, the [`Base`] and the
//! [`Options`].

mod alternates;
mod base;
mod fragments;
pub mod names;
mod operations;
mod paths;
mod release;
mod resource;
mod root;
mod smd;
mod template;
mod texts;

pub use alternates::with_alternates;
pub use base::{Base, BaseError};
pub use fragments::{
    Fragment, GroupVersionDocument, GroupVersionParts, MergeConflict, MergeV2, MergeV3, PathPart, Piece, V2Form,
    V2Fragments, V3Fragments, write_v3,
};
pub use kubeshape_convert::aggregate::merge::{Destination, MergeError, Merged, Overlay, Section, SharedParts};
pub use kubeshape_schema::Profile;
pub use resource::{Options, Publisher, Resource, ResourceVersion, Shape};
pub use smd::{SmdCompat, SmdError};
