//! CustomResourceDefinitions and structural schemas.
//!
//! What an API server makes of a CustomResourceDefinition before it publishes or stores anything:
//!
//! - [`read`] reads manifests of `apiextensions.k8s.io/v1` and `v1beta1` into [`Crd`]: decoded,
//!   defaulted and converted to v1 as the server does it, all mistakes with their places;
//! - [`convert`] and [`validate`] check a schema against the rules of structural schemas, with the errors
//!   the server gives; [`usable`] decides whether the schema of a version is used at all, and
//!   [`Structural`] proves that one is;
//! - [`unfold`] brings a structural schema into the normal form that everything else starts from;
//! - [`regex`] knows the regular expressions that a `pattern` may hold.
//!
//! There is no type of its own for structural schemas: one is a [`Schema`](kubeshape_schema::Schema)
//! that keeps the rules. Its normal form is the unfolded one, where int-or-string is written out as two
//! alternatives; printed in the order of the API's type it is what `--to structural` shows.
//!
//! # What does not belong here
//! Documents that hold the schemas (paths, definitions, lists) are publishing's. Nothing here reads
//! files or prints.
//!
//! # What is not here yet
//! Each will be a module of its own beside these: the validation of whole CustomResourceDefinitions
//! (names, scope, versions, printer columns, rules for list types and defaults, changes), defaulting,
//! pruning, value validation, list types, embedded metadata, and the rules in CEL.
//!
//! # Example: from a manifest to the schema in use
//! ```
//! use kubeshape_schema::{Bump, print};
//! use kubeshape_structural::{read, unfold, usable};
//! use kubeshape_yaml::{Limits, Stream, Tape};
//!
//! let source = "
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
//!     schema:
//!       openAPIV3Schema:
//!         type: object
//!         properties: {port: {x-kubernetes-int-or-string: true}}
//! ";
//! let mut tape = Tape::new();
//! Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
//! let arena = Bump::new();
//! let crd = read::read(tape.document(source).root().unwrap(), &arena).value.unwrap();
//! let version = &crd.versions[0];
//! let structural = usable(version.schema, version.at).value.unwrap();
//! let mut out = Vec::new();
//! print::schema(&mut out, unfold(structural, &arena), print::Style::V3);
//! let port = r#"{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true}"#;
//! assert_eq!(String::from_utf8_lossy(&out), format!(r#"{{"type":"object","properties":{{"port":{port}}}}}"#));
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

mod check;
mod convert;
mod crd;
pub mod read;
pub mod regex;
mod structural;
mod unfold;

pub use check::{BadValue, ErrorType, StructuralError, validate};
pub use convert::{ConvertError, ConvertErrorKind, convert};
pub use crd::{ApiVersion, Column, Crd, Names, Scale, Scope, Status, Version};
pub use structural::{Structural, usable};
pub use unfold::unfold;
