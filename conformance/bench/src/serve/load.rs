//! Measures the cost of a request: it is sent many times over several connections, and the processor time of the server
//! is read.

use super::client::{Connection, Request};
use super::process::Server;
use std::io;
use std::time::{Duration, Instant};

/// Connections with concurrent requests.
const CONNECTIONS: usize = 8;

/// The cost of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// Processor time of the server for one request, in seconds.
    pub(super) seconds: f64,
    /// Length of the body as sent.
    pub(super) bytes: usize,
}

/// Sends a request repeatedly for `time`, after a tenth of it to warm up.
///
/// # Errors
/// The connection fails, or a response has another status than `status`.
pub(super) fn measure(server: &Server, request: &Request, status: u16, time: Duration) -> Result<Cost, String> {
    let failed = |error: io::Error| format!("{}: {error}", String::from_utf8_lossy(&request.text));
    let open = || Connection::open(server.address);
    let mut connections = (0..CONNECTIONS).map(|_| open()).collect::<io::Result<Vec<_>>>().map_err(failed)?;
    let mut cost = Cost { seconds: 0.0, bytes: 0 };
    for time in [time / 10, time] {
        let (begin, before, mut requests) = (Instant::now(), server.seconds()?, 0.0);
        while begin.elapsed() < time {
            for connection in &mut connections {
                connection.send(request).map_err(failed)?;
            }
            for connection in &mut connections {
                let answer = connection.receive().map_err(failed)?;
                if answer.status != status {
                    return Err(format!("{}: status {}", String::from_utf8_lossy(&request.text), answer.status));
                }
                cost.bytes = answer.body.len();
                requests += 1.0;
            }
        }
        cost.seconds = (server.seconds()? - before) / requests;
    }
    Ok(cost)
}
