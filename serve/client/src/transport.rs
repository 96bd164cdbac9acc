//! The interface for sending requests to a server.

use std::time::Duration;

/// A GET request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Path and query below the server's address: `/openapi/v3`
    pub path: &'a str,
    /// The media types that the client accepts.
    pub accept: &'static str,
    /// The ETag of the last response, for `If-None-Match`.
    pub tag: Option<&'a str>,
    /// The maximum size of the body, in bytes after decompression.
    pub limit: usize,
}

/// The response to a request, with any status.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// 200, 304, 404, …
    pub status: u16,
    /// `ETag`, as sent.
    pub tag: Option<String>,
    /// `Location`
    pub location: Option<String>,
    /// `Retry-After` in seconds.
    pub retry_after: Option<Duration>,
    /// The body, decompressed.
    pub body: Vec<u8>,
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The server cannot be reached, or its certificate is not trusted.
    #[error("no connection: {0}")]
    Connect(String),
    /// There are no credentials: a plugin failed, or a file cannot be read.
    #[error("no credentials: {0}")]
    Credentials(String),
    /// The connection broke before the end of the response.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// The server is too slow.
    #[error("no answer within {} seconds", .0.as_secs())]
    Timeout(Duration),
    /// The body is too large.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// The request cannot be sent.
    #[error("no request: {0}")]
    Request(String),
}

/// Sends requests to one server.
///
/// With the feature `cluster`, `Cluster` is the transport for servers in kubeconfig files. Tests have others.
pub trait Transport: Send + Sync {
    /// Sends a request, and waits for the whole response.
    ///
    /// # Errors
    /// See [`TransportError`]. A response with any status is not an error.
    fn get(&self, request: Request<'_>) -> impl Future<Output = Result<Response, TransportError>> + Send;

    /// Sends a request with a streamed response, and waits for its first line, which is the body of the result; it is
    /// empty if the server ends the response before. A transport that does not implement it cannot watch.
    ///
    /// # Errors
    /// See [`TransportError`]; [`Timeout`](TransportError::Timeout) if there is no line within `most`.
    fn event(
        &self,
        request: Request<'_>,
        most: Duration,
    ) -> impl Future<Output = Result<Response, TransportError>> + Send {
        let _ = (request, most);
        async { Err(TransportError::Request("this transport does not watch".to_owned())) }
    }
}

impl<T: Transport> Transport for &T {
    fn get(&self, request: Request<'_>) -> impl Future<Output = Result<Response, TransportError>> + Send {
        (**self).get(request)
    }

    fn event(
        &self,
        request: Request<'_>,
        most: Duration,
    ) -> impl Future<Output = Result<Response, TransportError>> + Send {
        (**self).event(request, most)
    }
}
