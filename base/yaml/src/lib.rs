//! YAML and JSON as Kubernetes reads them, with a location for every node.
//!
//! [`Stream`] splits a source into documents and reads each into a [`Tape`], a flat list of nodes with byte ranges.
//! [`Document`] and [`Node`] give access to it. Values are those of Kubernetes' converter (`YAMLToJSON`, go-yaml's
//! second version): YAML 1.1 booleans and octal numbers, keys that become strings, merge keys, and the same inputs
//! rejected. [`Tape::read_as_third`] gives scalars the values of its third version, which kustomize uses.
//!
//! Three readers give the same nodes: a fast one for machine-written block YAML, a full one for all YAML, and one for
//! JSON. [`emit`] prints YAML, [`json`] prints JSON.
//!
//! ```
//! use kubeshape_yaml::{Kind, Limits, Stream, Tape};
//!
//! let source = "enabled: yes\nmode: 0644\n";
//! let mut stream = Stream::new(source.as_bytes(), Limits::default())?;
//! let mut tape = Tape::new();
//! while let Some(document) = stream.next(&mut tape) {
//!     document?;
//!     let root = tape.document(source).root().unwrap();
//!     assert_eq!(root.get("enabled").unwrap().kind(), Kind::True);
//!     assert_eq!(root.get("mode").unwrap().as_number().unwrap().as_f64(), 420.0);
//! }
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```
mod append;
mod chars;
mod compose;
pub mod edit;
pub mod emit;
mod error;
mod fast;
pub mod go;
pub mod json;
mod json_read;
mod kind;
mod limits;
mod origin;
mod parents;
mod parse;
pub mod percent;
pub mod pointer;
mod positions;
mod resolve;
mod scalars;
mod scan;
mod stream;
mod tape;
mod third;

/// Returns the kind that Kubernetes gives a scalar without quotes and tag.
///
/// # Example
/// ```
/// use kubeshape_yaml::{Kind, plain_scalar};
/// assert_eq!(plain_scalar("yes"), Kind::True);
/// assert_eq!(plain_scalar("1_000"), Kind::Int);
/// assert_eq!(plain_scalar("yes!"), Kind::Str);
/// ```
pub fn plain_scalar(text: &str) -> Kind {
    resolve::plain_kind(text.as_bytes())
}

pub use append::{Added, Addition};
pub use error::{Error, Position};
pub use go::number::{self, Number};
pub use kind::Kind;
pub use limits::Limits;
pub use parents::Parents;
pub use positions::Positions;
pub use stream::{Path, Stream};
pub use tape::{Document, Entry, Flags, Items, Node, Pairs, Tape};
pub use third::Third;
