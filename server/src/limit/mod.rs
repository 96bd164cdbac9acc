//! Limits on clients.

mod caller;
mod rate;

pub(crate) use caller::Caller;
pub(crate) use rate::Rate;

use std::time::Duration;

/// Limits on connections and requests. The defaults are safe for a public server.
///
/// ```
/// use kubeshape_server::Limits;
///
/// let limits = Limits { connections: 100, ..Limits::default() };
/// assert_eq!(limits.header_bytes, 64 * 1024);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open connections. When the limit is reached, idle ones are closed, and new ones wait in the backlog of the system.
    pub connections: usize,
    /// Requests per second from all clients; `None` for no limit. More are answered with 429.
    pub rate: Option<u32>,
    /// Bytes in the head of a request. A longer head is answered with 431.
    pub header_bytes: usize,
    /// Fields in the head of a request. More are answered with 431.
    pub header_fields: usize,
    /// Bytes that are read of the body of a request.
    pub body_bytes: usize,
    /// Concurrent streams of a connection (HTTP/2).
    pub streams: u32,
    /// Time for the TLS handshake.
    pub handshake: Duration,
    /// Time from the first byte of a request to the end of its head. For the first request, time from the connection.
    pub header: Duration,
    /// Time until a response begins. A later one is replaced by 504.
    pub request: Duration,
    /// Time after which a connection without requests is closed.
    pub idle: Duration,
    /// Time in which a client must read at least a part of a response.
    pub stall: Duration,
    /// Time that running requests have to finish when the server stops.
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
