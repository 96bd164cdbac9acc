//! Structured merge diff: what server-side apply knows about the shape of an object.
//!
//! Everything in structured merge diff stands on the [`schema`]: it says which lists are merged by key,
//! which are sets, which values are replaced as a whole, and which fields exist. A schema is plain data
//! without lifetimes and locks, so one copy serves any number of threads.
//!
//! # Example: read a schema and look at a list
//! ```
//! use kubeshape_smd::schema::{self, Relationship};
//! use kubeshape_yaml::{Limits, Stream, Tape};
//!
//! let source = "
//! types:
//! - name: pod
//!   map:
//!     fields:
//!     - name: ports
//!       type:
//!         list:
//!           elementType: {namedType: port}
//!           elementRelationship: associative
//!           keys: [number]
//! ";
//! let mut tape = Tape::new();
//! Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
//! let schema = schema::read(tape.document(source).root().unwrap()).unwrap();
//!
//! let pod = schema.find_type("pod").unwrap().atom().map().unwrap();
//! let ports = pod.field("ports").unwrap().type_ref().inlined().list().unwrap();
//! assert_eq!(ports.relationship(), Some(Relationship::Associative));
//! assert_eq!(ports.keys().collect::<Vec<_>>(), ["number"]);
//! // The item type is named, but this schema does not define it.
//! assert!(schema.resolve(ports.element_type()).is_none());
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

pub mod fieldpath;
pub mod managed;
pub mod merge;
pub mod schema;
pub mod typed;
pub mod value;

pub use kubeshape_schema::Bump;
pub use schema::Schema;
pub use value::{ToValue, Value};
