//! Which fields of a Kubernetes API are alpha, beta or deprecated, since which release and behind which feature gate.
//!
//! [`Types`] reads Go types with the tags of KEP-2558 (`+lifecycle:kubernetes:…`) and those that Kubernetes' sources
//! have (`+featureGate`, `+k8s:ifEnabled`, `Deprecated:` paragraphs), and [`Features`] reads the feature gates.
//! Together they give the lifecycle of each field ([`fields`]). [`lint`] checks them, [`annotate`] writes them into
//! OpenAPI documents and CustomResourceDefinitions, [`diff`] compares two releases, and [`warn`] says which fields of
//! an object are alpha, beta, deprecated or off in a cluster. [`entries`] says the same of the fields of a definition,
//! and which entries are not written correctly. [`docs`] writes reference pages. [`kinds`] knows which kinds are
//! deprecated.
//!
//! The crate does no IO: strings come in, and data goes out.
//!
//! # Example: the example of the proposal
//! ```
//! use kubeshape_input::Source;
//! use kubeshape_lifecycle::{Features, Options, Types, annotate};
//!
//! let types = "package v1
//!
//! type Frobber struct {
//!     Height *int32 `json:\"height\"`
//!     Param  string `json:\"param\"`
//!     // width indicates how wide the object is.
//!     // +optional
//!     // +lifecycle:kubernetes:minVersion=v1.20,status=alpha,featureGate=Frobber2D
//!     Width *int32 `json:\"width,omitempty\"`
//! }
//! ";
//! let gates = "package features
//!
//! const (
//!     // owner: @you
//!     // alpha: v1.20
//!     Frobber2D utilfeature.Feature = \"Frobber2D\"
//! )
//!
//! var gates = map[utilfeature.Feature]utilfeature.FeatureSpec{
//!     Frobber2D: {Default: false, PreRelease: utilfeature.Alpha},
//! }
//! ";
//! let (types, _) = Types::read([Source::from_text("example/v1/types.go", types)]);
//! let (features, _) = Features::read([Source::from_text("kube_features.go", gates)]);
//! let document = "swagger: '2.0'
//! definitions:
//!   io.k8s.example.v1.Frobber:
//!     properties:
//!       width:
//!         type: integer
//! ";
//! let input = kubeshape_input::read("swagger.yaml", document.as_bytes(), kubeshape_input::Limits::default());
//! let result = annotate::annotate(&input.documents, &types, &features, &Options::default());
//! assert!(result.text.ends_with(
//! "        type: integer
//!         x-kubernetes-api-lifecycle:
//!           kubernetes:
//!             minVersion: v1.20
//!             status: alpha
//!             featureGate: Frobber2D
//! "
//! ));
//! ```

pub mod annotate;
pub mod diff;
pub mod docs;
pub mod entries;
mod features;
pub mod fields;
mod go;
pub mod kinds;
pub mod lint;
mod roots;
mod tag;
mod types;
mod version;
pub mod warn;

pub use features::{Features, Gate, Spec};
pub use fields::{Lifecycle, Options};
pub use go::{GoField, GoFile, GoType, Json, Step, TypeRef};
pub use tag::{Fault, KUBERNETES, Key, LifecycleTag, Line};
pub use types::{Package, TypePlace, Types};
pub use version::{Stage, Version};
