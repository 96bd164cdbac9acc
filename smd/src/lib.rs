//! Structured merge diff: the rules by which server-side apply merges and compares objects.
//!
//! - [`schema`]: which lists are merged by key, which are sets, which values are replaced as a whole, and which fields
//!   exist. A schema is plain data without lifetimes and locks, so one copy serves any number of threads.
//! - [`value`]: the values of an object; everything that implements [`ToValue`] can be converted to one.
//! - [`fieldpath`]: paths to fields, sets of them, and their JSON form, `fieldsV1`.
//! - [`typed`]: values with a type, which can be checked, compared and merged.
//! - [`merge`]: applies and updates, and the conflicts between managers.
//! - [`managed`]: managed fields as objects carry them.
//!
//! Values and sets borrow an arena, a [`Bump`]: the results of an operation are allocated there, and unchanged parts
//! are shared with its operands.
//!
//! # Example: what do two managers own together?
//! ```
//! use kubeshape_smd::{Bump, fieldpath::Set};
//! let arena = Bump::new();
//! let a = Set::read_json(br#"{"f:spec":{"f:replicas":{},"f:paused":{}}}"#, &arena)?;
//! let b = Set::read_json(br#"{"f:spec":{"f:replicas":{}}}"#, &arena)?;
//! assert_eq!(a.intersection(b, &arena).to_string(), ".spec.replicas");
//! # Ok::<(), kubeshape_smd::fieldpath::SetError>(())
//! ```
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

pub use kubeshape_schema::Bump;
pub use kubeshape_value as value;
pub use kubeshape_value::{ToValue, Value};
pub use schema::Schema;
