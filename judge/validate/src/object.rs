//! Validation, pruning and defaulting of custom resources and their fields, like `pkg/apiserver/validation` and
//! `pkg/apiserver/schema` of `k8s.io/apiextensions-apiserver`.
//!
//! - [`Validator`] checks values against a schema, on creation and, with ratcheting, on update.
//! - [`prune`] removes fields that the schema does not know, [`prune_nulls`] removes nulls that it does not accept, and
//!   [`default`] adds defaults. [`without_defaults`] removes defaults again. [`prune_defaults`] removes unknown fields
//!   from the defaults of a schema.
//! - [`list_types`] finds duplicate items of sets and maps.
//! - [`decode_metadata`] and [`coerce`] bring metadata into the form that a server writes; [`embedded`] checks it in
//!   embedded resources.
//! - [`Resource`] does all of this for requests with custom resources.
//! - [`Format`] is a format of strings.
//!
//! Objects are [`Value`](kubeshape_value::Value)s. Functions that change an object return a changed copy in the
//! caller's arena, which shares the unchanged parts. Values have no locations, so the errors' `at` is 0: a caller that
//! has the source finds the location by the path.
//!
//! # Example: an object is pruned, defaulted and checked
//! ```
//! use kubeshape_schema::{Bump, field::Path, read};
//! use kubeshape_value::{ToValue, Value};
//! use kubeshape_validate::object::{self, Validator};
//! use kubeshape_yaml::{Limits, Stream, Tape};
//!
//! let source = r#"{"type": "object", "properties": {"size": {"type": "integer", "maximum": 3, "default": 5}}}"#;
//! let mut tape = Tape::new();
//! Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
//! let arena = Bump::new();
//! let mut reader = read::Reader::new(&arena, read::Rules::Crd);
//! let schema = reader.schema(tape.document(source).root().unwrap());
//!
//! let object = serde_json::json!({"colour": "red"});
//! let pruned = object::prune(object.to_value(&arena), Some(&schema), object::Root::Value, &arena);
//! assert_eq!(pruned.unknown, ["colour"]);
//! let stored = object::default(pruned.value, Some(&schema), &arena).unwrap();
//! let errors = Validator::new(&schema, &arena).check(stored, &Path::Root);
//! let text = "size: Invalid value: 5: size in body should be less than or equal to 3";
//! assert_eq!(errors[0].to_string(), text);
//! # Ok::<(), kubeshape_yaml::Error>(())
//! ```

mod before;
mod check;
mod correlate;
mod creation;
mod defaulting;
mod edit;
mod equal;
mod fit;
mod format;
mod lists;
mod members;
mod meta;
mod name;
mod number;
mod outcome;
mod pattern;
mod prepare;
mod prune_defaults;
mod pruning;
mod request;
mod root;
mod rules;
mod surroundings;
mod validator;

pub(crate) use before::{in_namespace, with_version};
pub(crate) use creation::created_as;
pub(crate) use edit::{Entries, metadata_of};
pub(crate) use equal::Printing;
pub(crate) use format::is_ip;
pub(crate) use meta::{json_name, time_error};

pub use creation::{uid_without_object, version_on_creation, without_system_metadata};
pub use defaulting::{default, prune_nulls, without_defaults};
pub use fit::{MAX_DEFAULTS, TooManyDefaults};
pub use format::Format;
pub use lists::list_types;
pub use meta::{Decoded, Malformed, coerce, decode_metadata, embedded};
pub(crate) use meta::{coerce_until_error, coerce_with};
pub use pattern::{MAX_PATTERNS, Patterns};
pub use prepare::{Purpose, Validator};
pub use prune_defaults::prune_defaults;
pub use pruning::{Pruned, prune};
pub(crate) use request::metadata_errors_with;
pub use request::{
    Checked, Judged, Object, RULES_NOT_CHECKED, Resource, common_update_errors, count_generation, deep_equal,
    keep_metadata, metadata_update_errors, refusal, with_status,
};
pub use root::Root;
pub use rules::{RuleOutcome, Rules};
pub(crate) use surroundings::Surroundings;
