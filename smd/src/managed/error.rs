//! Errors of operations, with upstream's messages.

use super::conflict::{Cause, ConflictError};
use super::{DecodeError, EncodeError, Gvk, object};
use crate::merge;
use crate::typed::ValidationErrors;
use crate::value::Value;
use std::fmt;

/// The name of an object as errors print it: `namespace/name; group/version, Kind=Kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectName<'a> {
    /// The namespace. Empty if there is none.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
    /// The type.
    pub gvk: Gvk<'a>,
}

/// An object that could not be converted to a typed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The configuration of an apply.
    Patch,
    /// The live object of an apply.
    LiveOfApply,
    /// The new object of an update.
    New,
    /// The live object of an update.
    LiveOfUpdate,
}

/// An object that could not be converted to another version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// The new object of an update, to the version of the endpoint.
    New,
    /// The live object, to the version of the endpoint.
    Live,
    /// The result of an apply, to the version of the endpoint.
    Applied,
    /// The result of an apply, to the hub version.
    ToHub,
}

/// Why an apply or update failed. The message is upstream's, and [`status`](Error::status) is the response of the
/// server.
///
/// The error borrows from the operands. [`OwnedError`] borrows nothing, and `?` converts to it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<'a> {
    /// The configuration has another type than the endpoint (400).
    #[error("invalid object type: {0}")]
    InvalidObjectType(Gvk<'a>),
    /// The configuration has another version than the endpoint (400).
    #[error("Incorrect version specified in apply patch. Specified patch version: {patch}, expected: {expected}")]
    WrongVersion {
        /// The version of the configuration.
        patch: &'a str,
        /// The version of the endpoint.
        expected: &'a str,
    },
    /// The configuration has managed fields (400).
    #[error("metadata.managedFields must be nil")]
    ManagedFieldsNotNil,
    /// Other managers own fields that would change (409).
    #[error("{0}")]
    Conflicts(ConflictError<'a>),
    /// The managed fields of the live object cannot be read.
    #[error("failed to decode managed fields: {0}")]
    Decode(DecodeError),
    /// The managed fields cannot be written.
    #[error("failed to encode managed fields: {0}")]
    Encode(EncodeError),
    /// An object does not match its type. [`ValidationErrors`] has the paths.
    #[error("{step} ({object}){}: {errors}", step.suffix())]
    Invalid {
        /// Which object.
        step: Step,
        /// Its name.
        object: Box<ObjectName<'a>>,
        /// What is wrong with it.
        errors: ValidationErrors,
    },
    /// There is no type for an object.
    #[error("{step} ({object}){}: no corresponding type for {gvk}", step.suffix())]
    NoType {
        /// Which object.
        step: Step,
        /// Its name.
        object: Box<ObjectName<'a>>,
        /// The type that is missing.
        gvk: Gvk<'a>,
    },
    /// An object cannot be converted to another version.
    #[error("{}", conversion(*what, object, version, error))]
    Convert {
        /// Which object.
        what: Conversion,
        /// Its name.
        object: Box<ObjectName<'a>>,
        /// The target version.
        version: &'a str,
        /// Why.
        error: merge::ConvertError,
    },
    /// The owners cannot be updated.
    #[error("failed to update ManagedFields ({object}): {error}")]
    Update {
        /// The new object.
        object: Box<ObjectName<'a>>,
        /// Why.
        error: merge::Error<'a>,
    },
    /// The configuration cannot be merged.
    #[error("{0}")]
    Apply(merge::Error<'a>),
    /// The fields that existed before the first apply cannot be tracked.
    #[error("failed to create manager for existing fields: {0}")]
    BeforeFirstApply(Box<Error<'a>>),
    /// The result of an apply is not an object, because everything was removed.
    #[error("failed to convert new typed object ({object}) to object: {error}")]
    NotAnObject {
        /// The configuration.
        object: Box<ObjectName<'a>>,
        /// A description of the result.
        error: String,
    },
    /// The object is not a map.
    #[error("the object is not a map")]
    NoMap,
}

/// Upstream names the version only for the new object of an update.
fn conversion(what: Conversion, object: &ObjectName<'_>, version: &str, error: &merge::ConvertError) -> String {
    match what {
        Conversion::New => format!("failed to convert new object ({object}) to proper version ({version}): {error}"),
        Conversion::Live => format!("failed to convert live object ({object}) to proper version: {error}"),
        Conversion::Applied => format!("failed to convert new object ({object}) to proper version: {error}"),
        Conversion::ToHub => format!("failed to convert to unversioned ({object}): {error}"),
    }
}

/// An [`Error`] that borrows nothing: its message, the response of the server, and the errors of an object.
///
/// # Example: return an error that outlives its arena
/// ```
/// use kubeshape_smd::managed::{FieldManager, Gvk, OwnedError, SameObject, Time};
/// use kubeshape_smd::{Bump, ToValue, typed::Types};
/// use serde_json::{Value, json};
///
/// fn apply(live: &Value, config: &Value) -> Result<Value, OwnedError> {
///     let types = Types::deduced();
///     let ty = types.named("__untyped_deduced_").unwrap();
///     let things = FieldManager::new(Gvk::new("v1", "Thing"), &ty, &SameObject);
///     let arena = Bump::new();
///     let live = Some(live.to_value(&arena));
///     let after = things.apply(live, config.to_value(&arena), "me", false, Time(0), &arena)?;
///     Ok(after.to_serde())
/// }
///
/// let error = apply(&json!({}), &json!({"apiVersion": "v2", "kind": "Thing"})).unwrap_err();
/// assert_eq!(error.to_string(), "invalid object type: /v2, Kind=Thing");
/// assert_eq!(error.status().code, 400);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OwnedError {
    message: String,
    status: Status,
    validation_errors: Option<(Step, ValidationErrors)>,
}

impl OwnedError {
    /// Returns the response of the server, see [`Error::status`].
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Returns the errors of an object, if it does not match its type.
    pub fn validation_errors(&self) -> Option<(Step, &ValidationErrors)> {
        self.validation_errors.as_ref().map(|(step, errors)| (*step, errors))
    }
}

impl From<Error<'_>> for OwnedError {
    fn from(error: Error<'_>) -> OwnedError {
        let (message, status) = (error.to_string(), error.status());
        let validation_errors = match error {
            Error::Invalid { step, errors, .. } => Some((step, errors)),
            _ => None,
        };
        OwnedError { message, status, validation_errors }
    }
}

/// The response of the server to an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The code of the response: 400, 409 or 500.
    pub code: u16,
    /// `BadRequest`, `Conflict`, or empty.
    pub reason: &'static str,
    /// One cause per conflict.
    pub causes: Vec<Cause>,
}

impl Error<'_> {
    /// Returns the response of the server: 400 for a configuration that is not allowed, 409 for conflicts, else 500.
    pub fn status(&self) -> Status {
        let (code, reason, causes) = match self {
            Error::InvalidObjectType(_) | Error::WrongVersion { .. } | Error::ManagedFieldsNotNil => {
                (400, "BadRequest", Vec::new())
            }
            Error::Conflicts(conflicts) => (409, "Conflict", conflicts.causes()),
            _ => (500, "", Vec::new()),
        };
        Status { code, reason, causes }
    }

    /// Returns the errors of an object, if it does not match its type.
    pub fn validation_errors(&self) -> Option<(Step, &ValidationErrors)> {
        match self {
            Error::Invalid { step, errors, .. } => Some((*step, errors)),
            _ => None,
        }
    }
}

impl<'a> ObjectName<'a> {
    /// Returns the name of an object.
    pub fn of(object: Value<'a>) -> Self {
        ObjectName {
            namespace: object::meta_text(object, "namespace"),
            name: object::meta_text(object, "name"),
            gvk: object.gvk(),
        }
    }
}

impl fmt::Display for ObjectName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}; {}", self.namespace, self.name, self.gvk)
    }
}

impl Step {
    fn suffix(self) -> &'static str {
        match self {
            Step::Patch | Step::LiveOfApply => "",
            Step::New | Step::LiveOfUpdate => " to smd typed",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Patch => "failed to create typed patch object",
            Step::LiveOfApply => "failed to create typed live object",
            Step::New => "failed to convert new object",
            Step::LiveOfUpdate => "failed to convert live object",
        })
    }
}
