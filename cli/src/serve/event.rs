//! What the hub is told by the watcher, by signals and by aggregated servers.

use kubeshape_server::RemoteState;
use std::path::PathBuf;

/// Something that may change what is served.
#[derive(Debug)]
pub(super) enum Event {
    /// Something changed at these paths.
    Files(Vec<PathBuf>),
    /// Something changed, and nobody knows where.
    Rescan,
    /// Everything is to be read again (SIGHUP).
    Reload,
    /// An aggregated server publishes something else.
    Remote(Box<RemoteState>),
    /// The server stops.
    Stop,
}
