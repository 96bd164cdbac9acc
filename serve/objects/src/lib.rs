//! Objects of an API server: storage, and responses to requests.
//!
//! [`Api`] handles requests: create, get, list, watch, update, patch, server-side apply, delete, and the subresources
//! `status` and `scale` of custom resources, in every representation of a real server (JSON, YAML, CBOR, `Table`,
//! `PartialObjectMetadata`), and in those of the proposal "Alternate representations of API resources". It does no IO:
//! a [`Request`] contains the client's input, a [`Moment`] the time and the random numbers. The caller owns the
//! [`Store`](store::Store) of objects.
//!
//! # Example: create an object and read it
//! ```
//! use kubeshape_objects::{Api, Moment, Request, store::Store};
//! use kubeshape_registry::Registry;
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
//!     schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer, default: 1}}}}
//! ", kubeshape_input::Limits::default()));
//!
//! let api = Api::new(registry);
//! let mut store = Store::default();
//! let tab = br#"{"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "t"}}"#;
//! let post = Request { method: "POST", path: "/apis/example.com/v1/tabs", body: tab, ..Request::default() };
//! let moment = Moment { uid: "6d3ab1ff-a1b4-4a63-9f3c-5b1d2f4f9c5e", ..Moment::default() };
//! let created = api.answer(&mut store, &post, &moment).unwrap();
//! assert_eq!(created.code, 201);
//!
//! let get = Request { path: "/apis/example.com/v1/tabs/t", ..Request::default() };
//! let found = api.answer(&mut store, &get, &moment).unwrap();
//! assert!(found.text().contains(r#""size":1"#));
//! ```

pub mod accept;
pub mod access;
mod api;
mod cbor;
mod derived;
mod form;
mod generic;
mod options;
mod path;
mod proto;
mod raw;
pub mod select;
mod status;
pub mod store;
pub mod target;
mod value;
mod wire;

pub use api::{
    Advisor, Api, Documents, HookCall, Hooks, MAX_LIST_GROWTH, Moment, Outcome, Plugin, Reply, Request, Reviewed,
    Settled, Signer, Todo, Watch, WatchEnd, Write, pod_security,
};
pub use derived::MAX_CELLS;
pub use form::MAX_FORM_GROWTH;
pub use generic::generic_kinds;
pub use kubeshape_policy::json_patch::MAX_COPIED;
pub use kubeshape_smd::value::Stop;
pub use status::{Cause, Details, GroupResource, Status};
pub use store::DEFINITIONS;
pub use value::{MAX_BODY, MAX_EXPANDED};
pub use wire::{json_to_protobuf, protobuf_to_json};
