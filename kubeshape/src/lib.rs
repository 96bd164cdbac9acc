//! Every shape in which Kubernetes shows and treats an API, without a cluster.
//!
//! An API server takes CustomResourceDefinitions and serves their APIs: it publishes OpenAPI documents, merges the
//! objects that clients apply, and keeps a record of who owns which field. This crate does the same as a library. It
//! gives the server's answers byte for byte, works offline, and says in every case what is lost or refused, and where.
//!
//! Here is a CustomResourceDefinition as the server publishes it in OpenAPI v3:
//!
//! ```
//! # const TABS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crds/tabs.yaml"));
//! let crd = kubeshape::Crd::read("tabs.yaml", TABS)?;
//! let document = crd.v3("v1")?;
//! assert!(document.text().starts_with(r#"{"openapi":"3.0.0","#));
//! # Ok::<(), kubeshape::Findings>(())
//! ```
//!
//! # Overview
//!
//! - A [`Crd`] is a CustomResourceDefinition. It is converted to OpenAPI v3 and v2, to the structured-merge-diff schema
//!   of server-side apply, and to JSON Schema.
//! - A [`Document`] is an OpenAPI document of either dialect. It is converted to the other one, and to the same
//!   schemas.
//! - An [`Api`] holds the kinds of many such inputs, and does to objects what the server does: create, update, apply.
//! - An [`Object`] is any object of Kubernetes. It knows where it was read from, and who owns its fields.
//! - `test::Server` is an API server in the process, for tests of controllers and clients (feature `test`).
//! - `Lifecycles` says which fields are alpha, beta or deprecated (feature `lifecycle`).
//! - A [`Finding`] is an error, a warning or a loss, with its location. [`Error`] is why a request was refused.
//!
//! All of these own their data. They can be sent to other threads and kept as long as you like. Nothing in this crate
//! opens a file or a connection, reads a clock, or prints.
//!
//! # Usage
//!
//! Add the crate with `cargo add kubeshape`. Then read a definition and write a document:
//!
//! ```no_run
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let crd = kubeshape::Crd::read("tabs.yaml", std::fs::read("tabs.yaml")?)?;
//!     std::fs::write("tabs.v1.json", crd.v3("v1")?.into_bytes())?;
//!     Ok(())
//! }
//! ```
//!
//! # Examples
//!
//! - [Convert a CustomResourceDefinition](#convert-a-customresourcedefinition)
//! - [Convert a document to another dialect](#convert-a-document-to-another-dialect)
//! - [Apply a configuration, and look at the conflicts](#apply-a-configuration-and-look-at-the-conflicts)
//! - [Check an object before it is admitted](#check-an-object-before-it-is-admitted)
//! - [Ask who owns the fields of an object](#ask-who-owns-the-fields-of-an-object)
//! - [Plan the upgrade of a definition](#plan-the-upgrade-of-a-definition)
//! - [Share an API of many inputs between threads](#share-an-api-of-many-inputs-between-threads)
//!
//! In these examples, `TABS` is [the text of a CustomResourceDefinition][tabs] with one version `v1`. Its field
//! `spec.title` is nullable.
//!
//! [tabs]: https://github.com/kubeshape/kubeshape/blob/main/kubeshape/examples/crds/tabs.yaml
//!
//! ### Convert a CustomResourceDefinition
//!
//! Each shape comes with its losses. OpenAPI v2 has no nullable values, for example:
//!
//! ```
//! # const TABS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crds/tabs.yaml"));
//! use kubeshape::Crd;
//!
//! let crd = Crd::read("tabs.yaml", TABS)?;
//! let (v3, v2) = (crd.v3("v1")?, crd.v2("v1")?);
//! let (merge, schema) = (crd.smd()?, crd.json_schema("v1")?);
//! assert!(v3.text().contains(r#""nullable":true"#) && v2.text().contains(r#""x-nullable":true"#));
//! assert!(merge.text().starts_with("types:") && schema.text().starts_with(r#"{"$schema":"#));
//! let loss = v2.losses().next().unwrap();
//! assert!(loss.to_string().starts_with("tabs.yaml:26:17: KS2204 A member that OpenAPI v2 lacks becomes an extension"));
//! # Ok::<(), kubeshape::Findings>(())
//! ```
//!
//! ### Convert a document to another dialect
//!
//! A [`Document`] knows its dialect. The conversion lists what the other dialect cannot express:
//!
//! ```
//! use kubeshape::Document;
//!
//! let source = r#"{"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": {}, "components":
//!   {"schemas": {"Size": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}}"#;
//! let v2 = Document::read("sizes.json", source)?.v2()?;
//! assert!(v2.text().starts_with(r#"{"swagger":"2.0","#));
//! let loss = v2.losses().next().unwrap();
//! assert_eq!(loss.to_string(), "sizes.json:2:24: KS2202 OpenAPI v2 has no oneOf, anyOf and not: anyOf");
//! # Ok::<(), kubeshape::Findings>(())
//! ```
//!
//! ### Apply a configuration, and look at the conflicts
//!
//! [`Api::apply`] is server-side apply. A conflict names the other manager, the field, both values, and the places:
//!
//! ```
//! # const TABS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crds/tabs.yaml"));
//! # use std::time::SystemTime;
//! use kubeshape::{Api, Object, WriteOptions};
//!
//! # let now = SystemTime::UNIX_EPOCH;
//! let api = Api::read([("tabs.yaml", TABS)])?;
//! let tab = |size| format!("apiVersion: example.com/v1\nkind: Tab\nmetadata: {{name: t}}\nspec: {{size: {size}}}\n");
//! let live = api.apply(None, &Object::read("a.yaml", tab(1))?, &WriteOptions::new("alice", now))?;
//! let error = api.apply(Some(&live), &Object::read("b.yaml", tab(2))?, &WriteOptions::new("bob", now)).unwrap_err();
//! let conflict = &error.conflicts()[0];
//! assert_eq!((conflict.manager.as_str(), conflict.path.as_str()), ("alice", ".spec.size"));
//! assert_eq!(conflict.location.as_ref().unwrap().to_string(), "b.yaml:4:14");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ### Check an object before it is admitted
//!
//! [`Api::judge`] does what the server does before it stores a custom resource: it drops unknown fields, inserts
//! defaults, and checks metadata, schema and rules in CEL. This function is the core of an admission check:
//!
//! ```
//! # const TABS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crds/tabs.yaml"));
//! use kubeshape::{Api, Error, Object, Request};
//!
//! fn admit(api: &Api, object: &Object, strict: bool) -> Result<(), String> {
//!     let judgement = api.judge(Request::Create(object)).map_err(|error: Error| error.to_string())?;
//!     let unknown = judgement.unknown.iter().filter(|_| strict).map(|field| format!("unknown field {field}"));
//!     let errors = judgement.errors.iter().map(ToString::to_string).chain(judgement.refusal.map(str::to_owned));
//!     let reasons: Vec<String> = unknown.chain(errors).collect();
//!     if reasons.is_empty() { Ok(()) } else { Err(reasons.join("\n")) }
//! }
//!
//! let api = Api::read([("tabs.yaml", TABS)])?;
//! let tab = "{apiVersion: example.com/v1, kind: Tab, metadata: {name: t, namespace: web}, spec: {size: big, sise: 1}}";
//! let text = "unknown field spec.sise\nspec.size: Invalid value: \"string\": spec.size in body must be of type integer: \"string\"";
//! assert_eq!(admit(&api, &Object::read("tab.yaml", tab)?, true).unwrap_err(), text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ### Ask who owns the fields of an object
//!
//! [`Object::owners`] reads the managed fields of an object. [`Api::field_set`] says which fields an object has:
//!
//! ```
//! # const TABS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crds/tabs.yaml"));
//! # use std::time::SystemTime;
//! use kubeshape::{Api, Object, WriteOptions};
//!
//! # let now = SystemTime::UNIX_EPOCH;
//! let api = Api::read([("tabs.yaml", TABS)])?;
//! let tab = Object::read("a.yaml", "{apiVersion: example.com/v1, kind: Tab, spec: {ports: [{number: 80}]}}")?;
//! assert!(api.field_set(&tab)?.contains(".spec.ports[number=80].number"));
//! let live = api.create(&tab, &WriteOptions::new("kubectl", now))?;
//! let owners = live.owners()?;
//! assert_eq!((owners[0].manager.as_str(), owners[0].operation.as_str()), ("kubectl", "Update"));
//! assert_eq!(owners[0].fields.paths()[0], ".spec");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ### Plan the upgrade of a definition
//!
//! A server refuses a definition without a version in which objects are stored. [`Crd::upgrade_to`] gives the steps
//! that lead to it, with the definitions that are needed on the way:
//!
//! ```
//! # const TABS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crds/tabs.yaml"));
//! use kubeshape::{Cluster, Crd};
//!
//! let (old, new) = (Crd::read("old.yaml", TABS)?, Crd::read("new.yaml", TABS.replace("name: v1", "name: v2"))?);
//! let plan = old.upgrade_to(&new, &Cluster::default())?;
//! assert_eq!((plan.refused.len(), plan.steps.len(), plan.is_safe()), (1, 4, true));
//! assert_eq!(plan.steps[1].commands, ["kubectl get tabs.v2.example.com --all-namespaces -o json | kubectl replace -f -"]);
//! # Ok::<(), kubeshape::Findings>(())
//! ```
//!
//! ### Share an API of many inputs between threads
//!
//! An [`Api`] is built lazily, kind by kind. Inputs are replaced by name while other threads work with a clone:
//!
//! ```
//! # const TABS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/crds/tabs.yaml"));
//! use kubeshape::{Api, Object};
//! use std::thread;
//!
//! let gadgets = TABS.replace("tabs", "gadgets").replace("Tab", "Gadget").replace("[tb]", "[]");
//! let mut api = Api::read([("tabs.yaml", TABS), ("gadgets.yaml", gadgets.as_str())])?;
//! let shared = api.clone();
//! let worker = thread::spawn(move || shared.by_name("tb").iter().map(|kind| kind.kind().to_owned()).collect::<Vec<_>>());
//! api.remove("tabs.yaml");
//! assert_eq!(api.kinds().map(|kind| kind.kind()).collect::<Vec<_>>(), ["Gadget"]);
//! assert_eq!(worker.join().unwrap(), ["Tab"]);
//! # Ok::<(), kubeshape::Findings>(())
//! ```
//!
//! # Where to go deeper
//!
//! This crate is a thin layer over others, which are its modules here. They borrow where this crate owns, and let you
//! keep arenas and buffers between calls; use them where speed or control matters.
//!
//! - [`yaml`] reads YAML and JSON as Kubernetes does, with a place for every node.
//! - [`input`] reads whole inputs and returns what each document is.
//! - [`schema`] is the schema node that everything shares, with its reader, its printer, and the codes of findings.
//! - [`structural`] reads CustomResourceDefinitions and decides whether their schemas are structural.
//! - [`convert`] holds OpenAPI documents and the conversions between dialects, the reference graph, protobuf.
//! - [`publish`] is what an API server publishes for CustomResourceDefinitions, alone or merged into its own documents.
//! - [`discovery`] is API discovery in every form.
//! - [`diff`] says what a change of a definition does, and how a cluster gets to the new one.
//! - [`smd`] is structured merge diff: typed values, sets of fields, apply and update, managed fields.
//! - [`validate`] checks definitions and custom resources as an API server does before it stores them.
//! - `builtin` has the kinds of Kubernetes' releases (feature `builtin`); [`Api::read_release`] reads them.
//! - `lifecycle` reads the lifecycles of fields and kinds, checks them and warns of them (feature `lifecycle`).
//! - [`ownership`] says who owns fields, what an apply of a set would do, and which patch hands fields over.
//! - [`policy`] judges requests with admission policies.
//! - [`registry`] holds kinds and does what an API server does with objects; [`Api`] is made of it.

mod api;
mod converted;
mod crd;
mod document;
#[cfg(feature = "lifecycle")]
mod lifecycles;
#[cfg(feature = "test")]
pub mod test;

pub use api::Api;
pub use converted::{Converted, Findings, Options};
pub use crd::Crd;
pub use document::Document;
#[cfg(feature = "lifecycle")]
pub use lifecycles::Lifecycles;

pub use kubeshape_convert::jsonschema::Draft;
pub use kubeshape_diff::upgrade::{Cluster, Plan};
pub use kubeshape_input::{Code, Finding, Place, Shape};
pub use kubeshape_ownership::{Ownership, hand_over};
pub use kubeshape_registry::{
    Comparison, Conflict, Error, FieldError, FieldErrorKind, FieldSet, Gvk, Judgement, Kind, Location, Object, Owner,
    Profile, Release, Request, SmdCompat, WriteOptions,
};
pub use kubeshape_schema::Dialect;

#[cfg(feature = "builtin")]
pub use kubeshape_builtin as builtin;
pub use kubeshape_convert as convert;
pub use kubeshape_diff as diff;
pub use kubeshape_discovery as discovery;
pub use kubeshape_input as input;
#[cfg(feature = "lifecycle")]
pub use kubeshape_lifecycle as lifecycle;
pub use kubeshape_ownership as ownership;
pub use kubeshape_policy as policy;
pub use kubeshape_publish as publish;
pub use kubeshape_registry as registry;
pub use kubeshape_schema as schema;
pub use kubeshape_smd as smd;
pub use kubeshape_structural as structural;
pub use kubeshape_validate as validate;
pub use kubeshape_yaml as yaml;
