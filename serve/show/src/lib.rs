//! kubectl's views of APIs and objects, without a cluster.
//!
//! - [`jsonpath`] is client-go's dialect of JSONPath.
//! - [`explain`] prints the fields of a kind like `kubectl explain`.
//! - [`table`] creates the tables of `kubectl get` from the columns of a CustomResourceDefinition or a built-in kind.

pub mod explain;
pub mod jsonpath;
pub mod table;
