//! The cost of a request: it is sent again and again, over several connections, to a server whose time is read.

use super::client::{Connection, Request};
use super::process::Server;
use std::io;
use std::time::{Duration, Instant};

/// Connections that have a request under way at the same time.
const CONNECTIONS: usize = 8;

/// What a request costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// Processor time of the server for one request, in seconds.
    pub(super) seconds: f64,
    /// Length of the body on the wire.
    pub(super) bytes: usize,
}

/// Sends a request again and again for `time`, after a tenth of it to warm up. Every answer must have the status.
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
