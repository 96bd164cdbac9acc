//! CustomResourceDefinitions and structural schemas.
//!
//! This crate does what an API server does with a CustomResourceDefinition before it publishes or stores anything:
//!
//! - [`read`] reads manifests of `apiextensions.k8s.io/v1` and `v1beta1` into [`Crd`]. It decodes them, sets defaults
//!   and converts them to v1 as the server does, and reports every mistake with its location.
//! - [`convert`] and [`validate`] check a schema against the rules of structural schemas and give the server's errors.
//!   [`usable`] decides whether the server uses the schema of a version. A [`Structural`] is a schema that passed.
//! - [`unfold`] converts a structural schema to the normal form from which all conversions start.
//! - [`openapi_v2`] reduces a structural schema to the keywords that clients of OpenAPI v2 understand.
//! - [`regex`] checks the regular expressions of `pattern`.
//!
//! Structural schemas have no node type of their own: a structural schema is a [`Schema`](kubeshape_schema::Schema)
//! that follows the rules. In its normal form, int-or-string is expressed as two alternatives. `--to structural` prints
//! this form in the order of the API's type.
//!
//! # What does not belong here
//! Documents that contain schemas (paths, definitions, lists) belong to `kubeshape-publish`. Nothing here reads files
//! or prints.
//!
//! Whole CustomResourceDefinitions (names, scope, versions, printer columns, changes) and custom resources are checked
//! by `kubeshape-validate`.
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
mod openapi_v2;
pub mod read;
pub mod regex;
mod structural;
mod unfold;
pub mod written;

pub use check::{validate, validate_undocumented};
pub use convert::{ConvertError, ConvertErrorKind, convert};
pub use crd::{ApiVersion, Column, Crd, Names, Scale, Scope, Status, Version};
pub use openapi_v2::openapi_v2;
pub use structural::{Structural, usable};
pub use unfold::unfold;
