//! Owned errors of requests.
//!
//! Messages are the server's where it has one. Places are known if the objects were read from inputs.

use crate::location::Location;
use kubeshape_schema::did_you_mean;
use kubeshape_smd::managed::{Operation, Status, Time};
use std::fmt;

/// Why a request or a query fails.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such kind (404).
    #[error(transparent)]
    Kind(#[from] KindError),
    /// The kind has no such subresource (404).
    #[error(transparent)]
    Subresource(#[from] SubresourceError),
    /// Invalid name of the field manager (422).
    #[error(transparent)]
    Manager(#[from] ManagerError),
    /// Other managers own fields that would change (409).
    #[error(transparent)]
    Conflicts(#[from] Conflicts),
    /// An object does not fit its type.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The managed fields of an object cannot be read.
    #[error("{message}")]
    ManagedFields {
        /// The error.
        message: String,
        /// Its place.
        location: Option<Location>,
    },
    /// The configuration contains managed fields, which is not allowed (400).
    #[error("{message}")]
    ManagedFieldsGiven {
        /// The server's message.
        message: String,
        /// The place of the managed fields.
        location: Option<Location>,
    },
    /// Two objects are of different kinds or versions.
    #[error("expected two objects of one version and kind, found {0} and {1}")]
    DifferentKinds(String, String),
    /// Any other error of the server.
    #[error("{message}")]
    Refused {
        /// The server's message.
        message: String,
        /// The status code: 400, 409 or 500.
        code: u16,
    },
}

impl Error {
    /// Returns the server's status code.
    pub fn status(&self) -> Status {
        let status = |code, reason| Status { code, reason, causes: Vec::new() };
        match self {
            Error::Kind(_) | Error::Subresource(_) => status(404, "NotFound"),
            Error::Manager(_) => status(422, "Invalid"),
            Error::Conflicts(conflicts) => Status { causes: conflicts.causes(), ..status(409, "Conflict") },
            Error::ManagedFieldsGiven { .. } | Error::Refused { code: 400, .. } | Error::DifferentKinds(..) => {
                status(400, "BadRequest")
            }
            Error::Invalid(_) | Error::ManagedFields { .. } => status(500, ""),
            Error::Refused { code, .. } => status(*code, ""),
        }
    }

    /// Returns the conflicts; empty if the request failed for another reason.
    pub fn conflicts(&self) -> &[Conflict] {
        match self {
            Error::Conflicts(conflicts) => &conflicts.conflicts,
            _ => &[],
        }
    }
}

/// Why there is no endpoint.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EndpointError {
    /// There is no such kind.
    #[error(transparent)]
    Kind(#[from] KindError),
    /// The kind has no such subresource.
    #[error(transparent)]
    Subresource(#[from] SubresourceError),
}

impl From<EndpointError> for Error {
    fn from(error: EndpointError) -> Error {
        match error {
            EndpointError::Kind(error) => Error::Kind(error),
            EndpointError::Subresource(error) => Error::Subresource(error),
        }
    }
}

/// An unknown kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindError {
    /// The `apiVersion` of the object; may be empty.
    pub api_version: String,
    /// The `kind` of the object; may be empty.
    pub kind: String,
    /// The versions of that group that have the kind.
    pub versions: Vec<String>,
    /// The API versions of other groups that have the kind, the nearest first.
    pub elsewhere: Box<[String]>,
    /// Kinds with similar names, the nearest first.
    pub nearest: Vec<String>,
    /// Whether any kinds are known.
    pub has_kinds: bool,
    /// Whether there are types that no definition assigns to kinds.
    pub has_types: bool,
}

impl std::error::Error for KindError {}

impl fmt::Display for KindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.api_version.as_str(), self.kind.as_str()) {
            ("", "") => f.write_str("the object has no apiVersion and kind")?,
            (version, "") => write!(f, "the object of {version:?} has no kind")?,
            ("", kind) => write!(f, "the object of kind {kind:?} has no apiVersion")?,
            (version, kind) => write!(f, "found {kind:?} of {version:?}")?,
        }
        match self.nearest.first() {
            _ if !self.versions.is_empty() => write!(f, "; the schemas have {}", self.versions.join(", ")),
            _ if !self.has_kinds && self.has_types => f.write_str("; the schemas name types without kinds"),
            _ if !self.has_kinds => f.write_str(", and there are no schemas"),
            _ if self.kind.is_empty() => Ok(()),
            _ if !self.elsewhere.is_empty() => f.write_str(&did_you_mean(&self.elsewhere)),
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => f.write_str(", expected one of the kinds in the schemas"),
        }
    }
}

/// An unknown subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubresourceError {
    /// The version and group of the kind.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The subresource.
    pub subresource: String,
    /// The subresources of the kind.
    pub subresources: Vec<String>,
    /// What defines the kind.
    pub definition: Location,
}

impl std::error::Error for SubresourceError {}

impl fmt::Display for SubresourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} has no subresource {:?}; ", self.kind, self.api_version, self.subresource)?;
        match self.subresources.as_slice() {
            [] => f.write_str("it has none"),
            known => write!(f, "it has {}", known.join(" and ")),
        }
    }
}

/// An unknown type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    /// Its name.
    pub name: String,
    /// Similar names, the nearest first.
    pub nearest: Vec<String>,
}

impl std::error::Error for TypeError {}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no schema has a type called {}", self.name)?;
        self.nearest.first().map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
    }
}

/// An invalid name of a field manager.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid field manager {name:?}: expected 1 to 128 bytes of printable characters")]
pub struct ManagerError {
    /// The name.
    pub name: String,
}

/// Fields that an apply would change and other managers own. The message is the server's.
#[derive(Clone, Debug)]
pub struct Conflicts {
    pub(crate) message: String,
    /// The conflicts: managers by identifier, the fields of each in set order.
    pub conflicts: Vec<Conflict>,
}

impl std::error::Error for Conflicts {}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Conflicts {
    fn causes(&self) -> Vec<kubeshape_smd::managed::Cause> {
        let cause = |conflict: &Conflict| kubeshape_smd::managed::Cause {
            reason: "FieldManagerConflict",
            message: conflict.message.clone(),
            field: conflict.path.clone(),
        };
        self.conflicts.iter().map(cause).collect()
    }
}

/// A field that an apply would change and another manager owns.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The name of the manager.
    pub manager: String,
    /// The operation by which it owns the field; `None` if its entry does not come from a server.
    pub operation: Option<Operation>,
    /// The version in which it wrote; empty if it applied.
    pub api_version: String,
    /// The subresource through which it wrote; empty for the object itself.
    pub subresource: String,
    /// The time, if the conflict has one. Conflicts of the server do not.
    pub time: Option<Time>,
    /// The field: `.spec.ports[number=80].name`.
    pub path: String,
    /// Its value in the manager's version; `None` if it is absent.
    pub live: Option<serde_json::Value>,
    /// The value it would get.
    pub new: Option<serde_json::Value>,
    /// Its place in the configuration.
    pub location: Option<Location>,
    /// Its place in the live object; `None` if the object does not have it.
    pub live_location: Option<Location>,
    /// `conflict with "manager"`, in the server's words.
    pub message: String,
}

/// `conflict with "manager": .spec.replicas`
impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.path)
    }
}

/// An object that does not fit its type. The message is the server's.
#[derive(Clone, Debug)]
pub struct Invalid {
    pub(crate) message: String,
    /// Whether it is the live object, not that of the request.
    pub is_live: bool,
    /// The errors, in document order if known. Never empty.
    pub errors: Vec<FieldError>,
}

impl std::error::Error for Invalid {}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// An error of one field.
#[derive(Clone, Debug)]
pub struct FieldError {
    /// The field as the server prints it: `.spec.ports[number=80].name`; empty for the whole object.
    pub path: String,
    /// The field as a JSON pointer: `/spec/ports/0/name`.
    pub pointer: String,
    /// The kind of error.
    pub kind: FieldErrorKind,
    /// The server's message.
    pub message: String,
    /// The place to point at: the value, or its key if the value is long or the key is wrong.
    pub location: Option<Location>,
    /// The place of the value.
    pub value: Option<Location>,
    /// Where its type is declared. For an undeclared field, where the type of its parent is declared.
    pub declared: Option<Location>,
}

/// The kind of error of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldErrorKind {
    /// The schema does not declare it.
    Undeclared {
        /// Its name.
        name: String,
        /// Similar declared names, the nearest first.
        nearest: Vec<String>,
        /// The other versions of the kind that declare it; `None` if there are no other versions.
        declared_by: Option<Vec<String>>,
    },
    /// A duplicate list item.
    Duplicate,
    /// The value does not fit the type.
    Type,
}

/// The server's message, and names similar to an undeclared field.
impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.kind {
            FieldErrorKind::Undeclared { nearest, .. } => f.write_str(&did_you_mean(nearest)),
            _ => Ok(()),
        }
    }
}
