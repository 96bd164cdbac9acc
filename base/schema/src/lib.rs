//! The schema node that all crates of kubeshape share, and what belongs to it.
//!
//! [`Schema`] is OpenAPI v3 as Kubernetes uses it, with its extensions and the few spellings of v2. A dialect is a
//! reader and a printer for it. [`Note`] has the findings and losses that every conversion returns with its result.
//!
//! # Example: read a schema and print it as OpenAPI v3
//! ```
//! use kubeshape_schema::{Bump, print, read};
//! use kubeshape_yaml::{Limits, Stream, Tape};
//!
//! let source = "type: object\nproperties:\n  y: {type: string}\n";
//! let mut tape = Tape::new();
//! Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
//! let arena = Bump::new();
//! let mut reader = read::Reader::new(&arena, read::Rules::Crd);
//! let schema = reader.schema(tape.document(source).root().unwrap());
//! let mut out = Vec::new();
//! print::schema(&mut out, &schema, print::Style::V3);
//! // An unquoted y is a boolean for Kubernetes; a note says so.
//! assert_eq!(out, br#"{"type":"object","properties":{"true":{"type":"string"}}}"#);
//! assert_eq!(reader.into_notes().len(), 1);
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

mod asked;
mod changes;
mod code;
pub mod compact;
mod dialect;
pub mod field;
mod gvk;
pub mod json;
mod level;
pub mod names;
mod nearest;
pub mod node;
mod note;
mod number;
pub mod order;
pub mod print;
mod profile;
pub mod read;
pub mod reference;
mod release;
mod same;

pub use asked::AskedRelease;
pub use bumpalo::Bump;
pub use code::{Code, NoteKind};
pub use dialect::Dialect;
pub use gvk::{Gvk, parse_group_version};
pub use json::Json;
pub use kubeshape_yaml::go::escape;
pub use level::{Level, LevelRules, Levels, Selector, SelectorError};
pub use nearest::{did_you_mean, nearest, question};
pub use node::{Additional, Dependency, ExternalDocs, Extra, Flags, Items, Property, Rule, Schema, Type};
pub use note::{Converted, Note};
pub use number::thousands;
pub use profile::Profile;
pub use release::{Release, Releases, ReleasesError, runs};
