//! kubeshape as WebAssembly.
//!
//! A [`Session`] holds inputs, and answers questions about their kinds. All answers are JSON. The explorer asks these
//! questions and shows the answers; it decides nothing itself. The npm package has the same session.
//!
//! # Example
//! ```
//! let mut session = kubeshape_js::Session::default();
//! session.set("tab.yaml", b"
//! apiVersion: apiextensions.k8s.io/v1
//! kind: CustomResourceDefinition
//! metadata: {name: tabs.example.com}
//! spec:
//!   group: example.com
//!   scope: Namespaced
//!   names: {plural: tabs, kind: Tab}
//!   versions:
//!   - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}
//! ");
//! assert_eq!(session.kinds()[0]["kind"], "Tab");
//! let tree = session.tree("example.com/v1", "Tab");
//! assert_eq!(tree["names"].as_array().and_then(|names| names.last()), Some(&"size".into()));
//! ```
#![cfg_attr(not(target_family = "wasm"), forbid(unsafe_code))]

#[cfg(target_family = "wasm")]
mod bindings;
mod compare;
mod copies;
mod definitions;
mod field;
mod graph;
mod lines;
mod merge;
mod objects;
mod session;
mod shapes;
mod site;
mod tree;

pub use session::Session;
