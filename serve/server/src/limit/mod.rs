//! Limits on clients.

mod caller;
#[cfg(test)]
mod guide;
mod held;
mod rate;

pub(crate) use caller::Caller;
pub(crate) use held::{Full, Held, Holdings, Share};
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
    /// Open connections. When the limit is reached, others make room: first those that wait for their clients, then
    /// those whose responses take longest; clients without a valid token before others. No request is cut while the
    /// server works for it.
    pub connections: usize,
    /// Requests per second from all clients; `None` for no limit. More are refused with 429.
    pub rate: Option<u32>,
    /// Bytes in the head of a request. A longer head is refused with 431.
    pub header_bytes: usize,
    /// Fields in the head of a request. More are refused with 431.
    pub header_fields: usize,
    /// The maximum bytes of the body of a request.
    pub body_bytes: usize,
    /// The maximum bytes of all request bodies about objects, over all connections. More are refused with 429.
    pub received_bytes: usize,
    /// The maximum bytes of all responses with objects, over all connections. More are refused with 429.
    pub sent_bytes: usize,
    /// Concurrent streams of a connection (HTTP/2).
    pub streams: u32,
    /// Time for the TLS handshake.
    pub handshake: Duration,
    /// Time from the first byte of a request to the end of its head. For the first request, time from the connection.
    pub header: Duration,
    /// Time until a response begins. A later one is replaced by 504.
    pub request: Duration,
    /// The time that the server works for a request about objects, or computes a document for one client. Longer work
    /// is stopped, and the response is 504.
    pub work: Duration,
    /// Time after which a connection without requests is closed.
    pub idle: Duration,
    /// The time in which a client must read as much of its responses as [`Limits::slowest`] requires. Otherwise the
    /// connection is cut.
    pub stall: Duration,
    /// Bytes per second that a client must read while a response waits for it.
    pub slowest: u32,
    /// The time from the latest beginning of a response to its end, however fast the client is. Otherwise the
    /// connection is cut.
    pub answer: Duration,
    /// Frames per second that a client may send in addition to those that belong to responses (HTTP/2). The frames of
    /// ten seconds may come together. Otherwise the connection is cut.
    pub frames: u32,
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
            received_bytes: 64 * 1024 * 1024,
            sent_bytes: 512 * 1024 * 1024,
            streams: 100,
            handshake: Duration::from_secs(10),
            header: Duration::from_secs(10),
            request: Duration::from_mins(1),
            work: Duration::from_secs(30),
            idle: Duration::from_mins(2),
            stall: Duration::from_secs(30),
            slowest: 1024,
            answer: Duration::from_mins(10),
            frames: 200,
            grace: Duration::from_secs(30),
        }
    }
}
