//! The Common Expression Language as a Kubernetes API server runs it.
//!
//! An [`Env`] says what expressions can use. It compiles a string to an [`Ast`], which has the type and the estimated
//! cost. The `Ast` is turned into a [`Program`], which evaluates the expression over borrowed values within a budget.
//! Messages, types, costs and values are compared with recorded answers of cel-go in the environments of Kubernetes
//! 1.36, and the rules of definitions with those of ten releases.
//!
//! # What is not here
//! Messages of protobuf other than its well-known ones, and `google.protobuf.Empty`, cannot be values; objects of
//! Kubernetes have none. Rules of whole definitions and of whole objects are in `kubeshape-validate`.
//!
//! # Example: a rule over an object
//! ```
//! use kubeshape_cel::{Data, Env, Release, Type, UnknownSizes, Value};
//!
//! let env = Env::new(Release::NEWEST).with_variable("self", Type::Dyn);
//! let ast = env.compile("self.replicas <= 5 && self.name.startsWith('web')")?;
//! assert_eq!(*ast.output_type(), Type::Bool);
//! assert!(ast.estimate(&UnknownSizes).max > 0);
//!
//! let object = Data::map([("replicas", Data::Int(3)), ("name", Data::string("web-1"))]);
//! let program = ast.program()?;
//! let outcome = program.evaluate([("self", Value::from(&object))], 1_000_000);
//! assert!(matches!(outcome.result, Ok(Value::Bool(true))));
//!
//! let error = env.compile("1 + 'a'").unwrap_err();
//! assert_eq!(error.issues()[0].message, "found no matching overload for '_+_' applied to '(int, string)'");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod admission;
mod ast;
mod check;
mod cost;
mod data;
mod decls;
mod env;
mod eval;
mod issue;
mod library;
mod limits;
mod parse;
mod part;
mod raw;
mod release;
mod rules;
mod schema;
mod types;
mod value;
mod variables;
mod words;

pub use cost::{Range, Sizes, UnknownSizes};
pub use data::Data;
pub use env::{Ast, Bound, Call, Env, Program};
pub use eval::Outcome;
pub use issue::{Issue, Issues};
pub use kubeshape_schema::Release;
pub use library::authorization::{Access, Authorization, Authorizer, User, Verdict};
pub use library::{Kube, Quantity};
pub use limits::{COPIES_PER_CHARACTER, FREE_COPIES, MAX_ELEMENTS, MAX_MADE, MAX_STEPS, MAX_TEXT};
pub use raw::{Fields, Items, Raw};
pub use release::{Change, Language};
pub use rules::{CheckedRule, Rule, RuleEnv, RuleError};
pub use schema::{DeclType, declares_metadata, escape};
pub use types::Type;
pub use value::{Entries, Key, List, Map, Object, Text, Timestamp, Typed, Value};
pub use variables::NeedsSchema;
pub use words::words;
