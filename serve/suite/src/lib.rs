//! Test suites of CustomResourceDefinitions.
//!
//! A [`Suite`] is a YAML document with the name of a definition, objects that are created or updated, and the expected
//! object or error for each. The format is that of the suites of `openshift/api`, whose authors run them with an API
//! server and etcd (`tests/generator.go` there). [`Suite::run`] runs them with `kubeshape-registry` instead, with the
//! same results. [`Suite::run_on`] runs them on a [`Server`].
//!
//! # Example
//! ```
//! use kubeshape_registry::Location;
//! use kubeshape_suite::Suite;
//! use std::sync::Arc;
//!
//! let read = |name: &'static str, text: &str| {
//!     let input = kubeshape_input::read(name, text.as_bytes(), kubeshape_input::Limits::default());
//!     Location::root(Arc::new(input.documents.into_iter().next().unwrap()))
//! };
//! let definition = read("tabs.yaml", "
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
//!     schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer, default: 1, maximum: 9}}}}
//! ");
//! let suite = Suite::read(&read("tab.testsuite.yaml", "
//! name: Tab
//! crdName: tabs.example.com
//! tests:
//!   onCreate:
//!   - name: has a default
//!     initial: |
//!       apiVersion: example.com/v1
//!       kind: Tab
//!     expected: |
//!       apiVersion: example.com/v1
//!       kind: Tab
//!       size: 1
//!   - name: must not be too large
//!     initial: |
//!       apiVersion: example.com/v1
//!       kind: Tab
//!       size: 10
//!     expectedError: \"should be less than or equal to 9\"
//! "))?;
//! let outcomes = suite.run(&definition, None)?;
//! assert!(outcomes.iter().all(|outcome| outcome.has_passed()));
//! # Ok::<(), Box<kubeshape_input::Finding>>(())
//! ```

mod compare;
mod definition;
mod policies;
mod read;
mod run;
mod server;
mod update;

pub use kubeshape_yaml::edit::{Edit, apply as apply_edits};
pub use policies::Tested;
pub use read::{Case, Part, Request, Sender, Suite};
pub use run::{Answer, Failure, InReleases, Outcome};
pub use server::Server;
pub use update::expect_answer;
