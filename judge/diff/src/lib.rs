//! Reports how a change of a CustomResourceDefinition affects its users.
//!
//! [`definitions`] compares an old and a new definition. Each [`Change`] has a code, its places in both definitions,
//! and a [`Class`] for each affected [`Consumer`]: stored objects, writers, readers, server-side apply. Schemas are
//! compared by meaning, not by text: a bound that no value can reach is not a change, and a description is at most
//! cosmetic. Undecidable changes are [`Class::Risky`]; their detail says why.
//!
//! [`upgrade::plan`] lists the steps that take a cluster from the old definition to the new one.
//!
//! # Example
//! ```
//! use kubeshape_diff::{Class, Consumer, definitions};
//! use kubeshape_schema::{Bump, Code};
//! use kubeshape_structural::read;
//! use kubeshape_yaml::{Limits, Stream, Tape};
//!
//! let text = |size: &str| format!("
//! apiVersion: apiextensions.k8s.io/v1
//! kind: CustomResourceDefinition
//! metadata: {{name: tabs.example.com}}
//! spec:
//!   group: example.com
//!   scope: Namespaced
//!   names: {{plural: tabs, kind: Tab}}
//!   versions:
//!   - name: v1
//!     served: true
//!     storage: true
//!     schema: {{openAPIV3Schema: {{type: object, properties: {{size: {size}}}}}}}
//! ");
//! let (old, new) = (text("{type: integer}"), text("{type: integer, maximum: 3}"));
//! let (mut old_tape, mut new_tape) = (Tape::new(), Tape::new());
//! Stream::new(old.as_bytes(), Limits::default())?.next(&mut old_tape).transpose()?;
//! Stream::new(new.as_bytes(), Limits::default())?.next(&mut new_tape).transpose()?;
//! let arena = Bump::new();
//! let old = read::read(old_tape.document(&old).root().unwrap(), &arena).value.unwrap();
//! let new = read::read(new_tape.document(&new).root().unwrap(), &arena).value.unwrap();
//! let changes = definitions(&old, &new);
//! assert_eq!(changes[0].code, Code::DiffBound);
//! assert_eq!(changes[0].path, "size");
//! assert_eq!(changes[0].detail, "maximum 3 added");
//! assert_eq!(changes[0].class_for(Consumer::Writers), Some(Class::Breaking));
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

mod bounds;
mod change;
mod combined;
mod confirm;
mod definition;
mod document;
mod exempt;
mod findings;
mod implication;
mod moves;
mod pruning;
mod refusal;
mod satisfiable;
mod schema;
mod server_fields;
mod types;
pub mod upgrade;
mod witness;

pub use change::{Change, Class, Consumer, MarkedIn};
pub use confirm::{definitions, definitions_in};
pub use document::{Documents, KindChanges, documents};
pub use exempt::{Day, Exemption, ExemptionError, Exemptions};
pub use witness::proof::{Effort, Outcome, Proof, Witness};
pub use witness::witnesses;
