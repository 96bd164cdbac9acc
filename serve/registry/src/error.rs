//! Why a request is refused, as data that owns everything.
//!
//! The texts are the server's; what a server has no text for is said in our own words. Places are there where the
//! objects were read from inputs.

use crate::location::Location;
use kubeshape_schema::did_you_mean;
use kubeshape_smd::managed::{Operation, Status, Time};
use std::fmt;

/// Why a request is refused, or a question about an object has no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such kind (404).
    #[error(transparent)]
    Kind(#[from] KindError),
    /// The kind has no such subresource (404).
    #[error(transparent)]
    Subresource(#[from] SubresourceError),
    /// The name of the field manager is none (422).
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
        /// What is wrong with them.
        message: String,
        /// Where.
        location: Option<Location>,
    },
    /// The configuration has managed fields, which it must not (400).
    #[error("{message}")]
    ManagedFieldsGiven {
        /// The server's words.
        message: String,
        /// Where they stand.
        location: Option<Location>,
    },
    /// Two objects are of different kinds or versions.
    #[error("expected two objects of one version and kind, found {0} and {1}")]
    DifferentKinds(String, String),
    /// Anything else that the server refuses.
    #[error("{message}")]
    Refused {
        /// The server's words.
        message: String,
        /// The code of its answer: 400, 409 or 500.
        code: u16,
    },
}

impl Error {
    /// What the server answers.
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

    /// The conflicts; none unless that is why the request was refused.
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

/// A kind that no definition has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindError {
    /// What the object says; empty if it says nothing.
    pub api_version: String,
    /// What the object says; empty if it says nothing.
    pub kind: String,
    /// The versions in which there is such a kind of that group.
    pub versions: Vec<String>,
    /// Kinds whose names are near to it, the nearest first.
    pub nearest: Vec<String>,
    /// Whether there are any kinds.
    pub has_kinds: bool,
    /// Whether there are types of which no definition says which kind they are of.
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
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => f.write_str(", expected one of the kinds in the schemas"),
        }
    }
}

/// A subresource that a kind does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubresourceError {
    /// The version and group of the kind.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The subresource.
    pub subresource: String,
    /// Those that it has.
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

/// A type that no definition has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeError {
    /// Its name.
    pub name: String,
    /// Names that are near to it, the nearest first.
    pub nearest: Vec<String>,
}

impl std::error::Error for TypeError {}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no schema has a type called {}", self.name)?;
        self.nearest.first().map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
    }
}

/// A name that no field manager can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a field manager has a name of 1 to 128 bytes, all of them printable characters; found {name:?}")]
pub struct ManagerError {
    /// The name.
    pub name: String,
}

/// Fields that other managers own and that an apply would change. The text is the server's.
#[derive(Clone, Debug)]
pub struct Conflicts {
    pub(crate) message: String,
    /// The conflicts: managers by their identifiers, the fields of each in the order of its set.
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

/// A field that another manager owns and that would change.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The name of the manager.
    pub manager: String,
    /// How it came to own the field; none if its entry is none of the server's.
    pub operation: Option<Operation>,
    /// The version at which it wrote; empty if it applied.
    pub api_version: String,
    /// The subresource through which it wrote; empty for the object itself.
    pub subresource: String,
    /// When, if the conflict says so; those of the server never do.
    pub time: Option<Time>,
    /// The field: `.spec.ports[number=80].name`.
    pub path: String,
    /// The value that it has, in the manager's version; none if it is absent.
    pub live: Option<serde_json::Value>,
    /// The value that it would get.
    pub new: Option<serde_json::Value>,
    /// Where the configuration sets it.
    pub location: Option<Location>,
    /// Where the live object has it.
    pub live_location: Option<Location>,
    /// `conflict with "manager"`, as the server words it.
    pub message: String,
}

/// `conflict with "manager": .spec.replicas`
impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.path)
    }
}

/// An object that does not fit its type. The text is the server's.
#[derive(Clone, Debug)]
pub struct Invalid {
    pub(crate) message: String,
    /// Whether it is the live object, not the one of the request.
    pub is_live: bool,
    /// What is wrong with it, in the order of its text where that is known. Never empty.
    pub errors: Vec<FieldError>,
}

impl std::error::Error for Invalid {}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What is wrong with one field.
#[derive(Clone, Debug)]
pub struct FieldError {
    /// The field, as the server writes it: `.spec.ports[number=80].name`; empty for the whole object.
    pub path: String,
    /// The field as a JSON pointer: `/spec/ports/0/name`.
    pub pointer: String,
    /// What is wrong.
    pub kind: FieldErrorKind,
    /// The server's words.
    pub message: String,
    /// Where to point at: the value, or its key where the value is long or the key is wrong.
    pub location: Option<Location>,
    /// Where the value stands.
    pub value: Option<Location>,
    /// Where its type is declared; of a field that is not declared, where that of the value around it is.
    pub declared: Option<Location>,
}

/// What can be wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldErrorKind {
    /// The schema does not declare it.
    Undeclared {
        /// Its name.
        name: String,
        /// Declared names that are near to it, the nearest first.
        nearest: Vec<String>,
        /// The other versions of the kind; none if it has no others.
        declared_by: Option<Vec<String>>,
    },
    /// Two items of a list are the same one.
    Duplicate,
    /// The value does not fit the type.
    Type,
}

/// The server's words, and what is near to a field that is not declared.
impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.kind {
            FieldErrorKind::Undeclared { nearest, .. } => f.write_str(&did_you_mean(nearest)),
            _ => Ok(()),
        }
    }
}
