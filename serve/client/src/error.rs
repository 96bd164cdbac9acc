//! Why something cannot be fetched.

use crate::transport::TransportError;

/// Why something cannot be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {fault}")]
pub struct Error {
    /// The path that was requested: `/openapi/v3/apis/apps/v1`
    pub path: String,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is none.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The server refuses.
    #[error("the server answers with status {status}{}", said(.message))]
    Status {
        /// 401, 403, 503, …
        status: u16,
        /// What it says: the message of a `Status`. Empty if it says nothing.
        message: String,
    },
    /// It redirects to somewhere else than another version of the document.
    #[error("the server redirects to elsewhere: {0:?}")]
    Redirect(String),
    /// The document changes faster than it can be read.
    #[error("the server redirects too often")]
    Redirects,
    /// The body is not what it should be.
    #[error("{0}")]
    Content(String),
    /// It is not in the cache, and no request may be sent.
    #[error("it is not in the cache; fetch it once with a connection to the cluster")]
    NotCached,
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

impl Fault {
    /// The status of a refusal.
    pub fn status(&self) -> Option<u16> {
        match self {
            Fault::Status { status, .. } => Some(*status),
            _ => None,
        }
    }
}
