//! What a change of a CustomResourceDefinition does to those who live with it.
//!
//! [`definitions`] compares an old and a new definition. Each [`Change`] has a code, its places in both, and a
//! [`Class`] for each [`Consumer`] whom it concerns: objects that are stored, writers, readers, server-side apply.
//! It compares what schemas mean and not their texts: a bound that nothing can reach is no change, and a description is
//! never more than cosmetic. What cannot be decided is [`Class::Risky`], and says why.
//!
//! [`upgrade::plan`] tells how a cluster gets from the old definition to the new one, step by step.
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
//! assert_eq!(changes[0].detail, "maximum is 3, and there was none");
//! assert_eq!(changes[0].class_for(Consumer::Writers), Some(Class::Breaking));
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

mod bounds;
mod change;
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

pub use change::{Change, Class, Consumer};
pub use confirm::definitions;
pub use document::{Documents, KindChanges, documents};
pub use exempt::{Day, Exemption, ExemptionError, Exemptions};
pub use witness::proof::{Effort, Outcome, Proof, Witness};
pub use witness::witnesses;
