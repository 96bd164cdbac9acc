//! Errors of requests.

use crate::transport::TransportError;

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {fault}")]
pub struct Error {
    /// The path that was requested: `/openapi/v3/apis/apps/v1`
    pub path: String,
    /// The error.
    pub fault: Fault,
}

/// The error of a response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is no response.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The server refuses.
    #[error("the server answers with status {status}{}", said(.message))]
    Status {
        /// 401, 403, 503, …
        status: u16,
        /// The message of a `Status`. Empty if there is none.
        message: String,
    },
    /// It redirects to somewhere else than another version of the document.
    #[error("the server redirects to elsewhere: {0:?}")]
    Redirect(String),
    /// The document changes faster than it can be read.
    #[error("the server redirects too often")]
    Redirects,
    /// The body is not the expected document.
    #[error("{0}")]
    Content(String),
    /// It is not in the cache, and requests are not allowed.
    #[error("it is not in the cache; fetch it once with a connection to the cluster")]
    NotCached,
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

impl Fault {
    /// Returns the status code of an error response.
    pub fn status(&self) -> Option<u16> {
        match self {
            Fault::Status { status, .. } => Some(*status),
            _ => None,
        }
    }
}
