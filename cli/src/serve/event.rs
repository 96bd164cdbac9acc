//! Events from the watcher, signals and aggregated servers.

use kubeshape_server::RemoteState;
use std::path::PathBuf;

/// Something that may change what is served.
#[derive(Debug)]
pub(super) enum Event {
    /// Files changed at these paths.
    Files(Vec<PathBuf>),
    /// Files changed, and the paths are not known.
    Rescan,
    /// All files have to be read again (SIGHUP).
    Reload,
    /// The state of an aggregated server changed.
    Remote(Box<RemoteState>),
    /// The server stops.
    Stop,
}
