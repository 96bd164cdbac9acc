//! How much of everything clients get.

mod rate;

pub(crate) use rate::Rate;

use std::time::Duration;

/// Limits on connections and requests. The defaults suit a server that anybody can reach.
///
/// ```
/// use kubeshape_server::Limits;
///
/// let limits = Limits { connections: 100, ..Limits::default() };
/// assert_eq!(limits.header_bytes, 64 * 1024);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at the same time. Beyond, idle ones are closed and new ones wait in the backlog of the system.
    pub connections: usize,
    /// Requests per second over all clients; `None` is no limit. Beyond is 429.
    pub rate: Option<u32>,
    /// Bytes of the head of a request. Beyond is 431.
    pub header_bytes: usize,
    /// Fields in the head of a request. Beyond is 431.
    pub header_fields: usize,
    /// Bytes of the body of a request that are read at most.
    pub body_bytes: usize,
    /// Streams of a connection at the same time (HTTP/2).
    pub streams: u32,
    /// Time for the TLS handshake.
    pub handshake: Duration,
    /// Time from the first byte of a request to the end of its head; for the first request, from the connection.
    pub header: Duration,
    /// Time for an answer to begin. Beyond is 504.
    pub request: Duration,
    /// Time without a request after which a connection is closed.
    pub idle: Duration,
    /// Time in which a client must take at least some of an answer.
    pub stall: Duration,
    /// Time in which running requests may end when the server stops.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 10_000,
            rate: None,
            header_bytes: 64 * 1024,
            header_fields: 100,
            body_bytes: 3 * 1024 * 1024,
            streams: 250,
            handshake: Duration::from_secs(10),
            header: Duration::from_secs(10),
            request: Duration::from_secs(60),
            idle: Duration::from_secs(120),
            stall: Duration::from_secs(30),
            grace: Duration::from_secs(30),
        }
    }
}
