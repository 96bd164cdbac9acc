//! File descriptors: their limit, and how many connections it allows.

use crate::error::describe;
use kubeshape_input::Finding;

/// Descriptors that are reserved for other uses than connections of clients: input files, listening sockets, the
/// watcher, the log, and connections to aggregated servers.
pub(super) const RESERVE: usize = 64;

/// Raises the soft limit on open files to the hard limit. Returns the number of connections that this allows, at most
/// `wanted`, when some descriptors are for other listening sockets.
pub(super) fn connections(wanted: usize, sockets: usize) -> usize {
    let Some(limit) = raised() else { return wanted };
    let room = room(limit, sockets);
    if room < wanted {
        tracing::info!(
            "the system allows {limit} open files, so at most {room} connections are served; raise it with `ulimit -n`"
        );
    }
    wanted.min(room)
}

/// Returns the number of connections that a limit allows. If the limit is small, a quarter of it is for connections.
fn room(limit: usize, sockets: usize) -> usize {
    limit.saturating_sub(RESERVE + sockets).max(limit / 4).max(1)
}

/// Raises the limit on open files as far as possible, and returns it. Returns `None` if there is no limit.
#[cfg(unix)]
fn raised() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let before = getrlimit(Resource::Nofile);
    if before.current != before.maximum {
        // If it cannot be raised that far, the soft limit stays.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before });
    }
    getrlimit(Resource::Nofile).current.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
fn raised() -> Option<usize> {
    None
}

/// Returns whether an input cannot be read only because the system has no resources at the moment.
#[cfg(unix)]
pub(super) fn is_shortage(finding: &Finding) -> bool {
    use rustix::io::Errno;
    [Errno::MFILE, Errno::NFILE, Errno::NOMEM]
        .iter()
        .any(|errno| finding.detail.ends_with(&describe(&std::io::Error::from(*errno))))
}

#[cfg(not(unix))]
pub(super) fn is_shortage(_: &Finding) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_descriptors_are_reserved_for_files() {
        for (limit, expected) in [(1, 1), (40, 10), (64, 16), (200, 136), (1024, 960), (20_000, 19_936)] {
            assert_eq!(room(limit, 0), expected, "{limit}");
        }
        assert_eq!(room(20_000, 256), 19_680);
    }

    #[cfg(unix)]
    #[test]
    fn a_shortage_is_distinguished_from_other_errors() {
        let finding = |errno: rustix::io::Errno| {
            Finding::new(kubeshape_input::Code::Unreadable, describe(&std::io::Error::from(errno)))
        };
        assert!(is_shortage(&finding(rustix::io::Errno::MFILE)));
        assert!(!is_shortage(&finding(rustix::io::Errno::NOENT)));
        assert!(!is_shortage(&finding(rustix::io::Errno::ACCESS)));
    }
}
