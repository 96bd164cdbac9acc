//! Which releases of Kubernetes install a CustomResourceDefinition, and what each of them refuses.
//!
//! [`Check`] evaluates one manifest for several releases, and merges the answers into a [`Report`]: a [`Problem`] for
//! each error and warning, with the releases that have it and its location in the manifest, and an [`Answer`] per
//! release. The rules of the releases are in [`kubeshape_validate::crd`]; this crate decides which code an error has,
//! its location, and what it means for the definition as a whole.
//!
//! # Example
//! ```
//! use kubeshape_check::{Check, Releases};
//! use kubeshape_schema::{Bump, Code};
//! use kubeshape_structural::read::manifests;
//! use kubeshape_yaml::{Limits, Stream, Tape};
//!
//! let text = "
//! apiVersion: apiextensions.k8s.io/v1
//! kind: CustomResourceDefinition
//! metadata: {name: tabs.example.com}
//! spec:
//!   group: example.com
//!   scope: Namespaced
//!   names: {plural: tabs, kind: Tab}
//!   versions:
//!   - name: v1
//!     served: true
//!     storage: true
//!     schema: {openAPIV3Schema: {type: object, properties: {spec: {properties: {}}}}}
//! ";
//! let mut tape = Tape::new();
//! Stream::new(text.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
//! let (definitions, _) = manifests(tape.document(text).node(0));
//! let arena = Bump::new();
//! let releases: Releases = "1.30..1.32".parse()?;
//! let report = Check::new(releases).definition(definitions[0], &arena);
//! assert_eq!(report.problems[0].note.code, Code::CrdStructural);
//! assert_eq!(report.verdict(|_| "tab.yaml".to_owned()), "no release of 1.30 to 1.32 installs it: see tab.yaml");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod advice;
mod check;
mod code;
mod costs;
mod dropped;
mod expressions;
pub mod fix;
mod place;
mod report;
mod settle;
pub mod trim;

pub use check::Check;
pub use kubeshape_schema::{Releases, ReleasesError};
pub use report::{Answer, Costs, Part, Problem, Report};
pub use settle::{Settled, settle};
