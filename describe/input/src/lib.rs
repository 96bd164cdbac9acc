//! Reads inputs: bytes in, documents with locations out.
//!
//! An input is the content of a file, of standard input or of a response. It may be compressed (gzip, Zstandard), and
//! contains a stream of YAML or JSON documents, or one OpenAPI document in protobuf. Everything in kubeshape that reads
//! inputs uses this crate, so that all of it agrees on the contents of an input and on its errors.
//!
//! - [`read`] reads a whole input into owned [`Document`]s.
//! - [`Reader`] reads one input after the other into the same memory, and lends one document at a time.
//! - [`Content`] is the kind of a document: a CustomResourceDefinition, an OpenAPI document, a list, any other object.
//! - [`Finding`] is an error, a warning or a loss with its location. [`Resolver`] creates one from a [`Note`], which
//!   the conversions return.
//!
//! The crate does no IO: the caller opens files and decides which of them are inputs.
//!
//! # Example: the documents of a file
//! ```
//! use kubeshape_input::{Content, Limits, read};
//!
//! let file = b"
//! apiVersion: v1
//! kind: Namespace
//! metadata: {name: first}
//! ---
//! apiVersion: v1
//! kind: Namespace
//! metadata: {name: 'second}
//! ";
//! let input = read("namespaces.yaml", file, Limits::default());
//! assert_eq!(input.documents.len(), 1);
//! assert_eq!(input.documents[0].content(), Content::Object);
//! assert_eq!(
//!     input.findings[0].to_string(),
//!     "namespaces.yaml:8:18: KS1001 The input is not YAML or JSON that Kubernetes accepts: the single quote that \
//!      begins here is not closed: found the end of the source, expected '; close it",
//! );
//! ```

mod advice;
mod build;
mod capped;
mod content;
mod derive;
mod document;
mod finding;
mod lines;
mod reader;
mod resolve;
mod skim;
mod source;
mod unpack;

pub use build::{BuildFile, KUSTOMIZATIONS, listed};
pub use capped::{Capped, MOST_OF_A_CODE};
pub use content::{Content, describe, skipped};
pub use derive::may_define;
pub use document::{Document, DocumentRef};
pub use finding::{Finding, Shape};
pub use lines::{Excerpt, Lines, Place};
pub use reader::{Documents, Input, Reader, read};
pub use resolve::Resolver;
pub use skim::{Defined, skim};
pub use source::Source;
pub use unpack::{UnpackError, unpack};

pub use kubeshape_schema::{Code, Note, NoteKind};
pub use kubeshape_yaml::Limits;
