//! Why a server behind this one gives no usable response.

/// Why there is no usable response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    #[error("no connection: {0}")]
    Connect(String),
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error("no {0} in time")]
    Timeout(&'static str),
    #[error("{path} is larger than {limit} bytes")]
    TooLarge { path: String, limit: u64 },
    #[error("{0} redirects to elsewhere")]
    ForeignRedirect(String),
    #[error("{0} redirects too often")]
    TooManyRedirects(String),
    #[error("{0} is encoded in a way that was not asked for")]
    Encoding(String),
    #[error("{0} is no valid gzip")]
    Gzip(String),
    #[error("{path} is answered with status {status}")]
    Status { path: String, status: u16 },
    #[error("{path}: {fault}")]
    Content { path: String, fault: String },
    #[error("too many requests at once")]
    Busy,
    #[error("too many requests of this client at once")]
    ClientBusy,
    #[error("the client takes it too slowly")]
    SlowClient,
}

impl Failure {
    /// Returns whether the server was too slow: 504 instead of 502.
    pub(super) fn is_timeout(&self) -> bool {
        matches!(self, Failure::Timeout(_))
    }
}
