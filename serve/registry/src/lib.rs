//! The APIs that a set of inputs defines, and an API server's operations on their objects.
//!
//! A [`Registry`] reads CustomResourceDefinitions, OpenAPI documents and structured-merge-diff schemas, each under a
//! name, and knows the kinds that they define: names, scope, versions, subresources, printer columns, the location of
//! the schema, and the type by which server-side apply merges objects. Inputs are set, replaced and removed one at a
//! time. Expensive parts are built per kind at their first use, and shared by threads. Nothing public borrows a string
//! or an arena: a registry can live in a static, an `Arc`, or a struct of yours.
//!
//! [`Registry::judge`] reports what a server does with a custom resource before it stores it: [`Judgement`].
//!
//! The operations of server-side apply have two layers with the same behavior:
//!
//! - [`Registry::apply`], [`update`](Registry::update), [`create`](Registry::create), [`extract`](Registry::extract),
//!   [`compare`](Registry::compare), [`merge`](Registry::merge) and [`field_set`](Registry::field_set) take and return
//!   [`Object`]s, which own their data. Their [`Error`]s have conflicts and invalid fields as data, with locations.
//! - [`Registry::endpoint`] returns an [`Endpoint`], which works on borrowed [`Value`](kubeshape_smd::Value)s in the
//!   caller's arena. [`Registry::explain`] converts its errors to owned ones.
//!
//! # Example: two managers, one field
//! ```
//! use kubeshape_registry::{Object, Registry, WriteOptions};
//! use std::time::SystemTime;
//!
//! let mut registry = Registry::default();
//! registry.set_input("tabs", kubeshape_input::read("tabs.yaml", b"
//! apiVersion: apiextensions.k8s.io/v1
//! kind: CustomResourceDefinition
//! metadata: {name: tabs.example.com}
//! spec:
//!   group: example.com
//!   scope: Cluster
//!   names: {plural: tabs, kind: Tab}
//!   versions:
//!   - name: v1
//!     served: true
//!     storage: true
//!     schema: {openAPIV3Schema: {type: object, properties: {
//!       spec: {type: object, properties: {size: {type: integer}}}}}}
//! ", kubeshape_input::Limits::default()));
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let tab = |file: &'static str, size: u32| {
//!     let text = format!("apiVersion: example.com/v1\nkind: Tab\nmetadata: {{name: t}}\nspec:\n  size: {size}\n");
//!     Object::read(file, text.as_bytes())
//! };
//! let live = registry.apply(None, &tab("alice.yaml", 1)?, &WriteOptions::new("alice", now))?;
//! let error = registry.apply(Some(&live), &tab("bob.yaml", 2)?, &WriteOptions::new("bob", now)).unwrap_err();
//! assert_eq!(error.to_string(), r#"Apply failed with 1 conflict: conflict with "alice": .spec.size"#);
//! let conflict = &error.conflicts()[0];
//! assert_eq!((conflict.manager.as_str(), conflict.path.as_str()), ("alice", ".spec.size"));
//! assert_eq!(conflict.location.as_ref().unwrap().to_string(), "bob.yaml:5:9");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod client_side;
mod definition;
mod document_schema;
mod duplicates;
mod endpoint;
mod error;
mod explain;
mod extract;
pub mod kind;
mod kubectl;
pub mod locate;
mod location;
pub mod merge_patch;
mod name;
mod object;
mod operations;
mod options;
pub mod policy;
mod prepared;
pub mod print;
mod registry;
mod schema_location;
pub mod strategic;
mod typed;
mod validate;

pub use client_side::{CLIENT_SIDE_MANAGER, ClientSideError};
pub use definition::{Definition, Form, resources_of_document};
pub use document_schema::DocumentSchema;
pub use duplicates::{Duplicate, duplicate_fields, strict_yaml_error};
pub use endpoint::{Endpoint, Read, Verb};
pub use error::{
    Conflict, Conflicts, EndpointError, Error, FieldError, FieldErrorKind, Invalid, KindError, ManagerError,
    SubresourceError, TypeError,
};
pub use explain::{Locations, managed_fields_error};
pub use extract::extract_applied;
pub use kind::Kind;
pub use kubectl::Sampled;
pub use location::Location;
pub use name::{KindNames, KindQuery, guessed_plural};
pub use object::{FieldSet, Object, Owner, describe, managed};
pub use operations::Comparison;
pub use options::{Now, WriteOptions};
pub use registry::{Family, Profile, Registry, Settings, SmdCompat};
pub use schema_location::Declarations;
pub use validate::{Judgement, Request, Requests};

pub use kubeshape_schema::field;
pub use kubeshape_smd::managed::{Gvk, Operation, Status, Time};
pub use kubeshape_validate::Release;
