//! Events from the watcher, signals and aggregated servers.

use super::inputs::Places;
use kubeshape_server::{Branched, RemoteState};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Something that may change what is served.
#[derive(Debug)]
pub(super) enum Event {
    /// There are [`Changes`] of files.
    Files,
    /// Files changed, but the paths are not known.
    Rescan,
    /// All files have to be read again (SIGHUP).
    Reload,
    /// Clients changed CustomResourceDefinitions of these names.
    Definitions(Vec<Arc<str>>),
    /// A client makes a world.
    Branched(Branched),
    /// The state of an aggregated server changed.
    Remote(Box<RemoteState>),
    /// The server stops.
    Stop,
}

/// What the system reports about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Its content is complete: a writer closed it.
    Closed,
    /// It was renamed to this name, and is complete.
    Named,
    /// A program is writing to it, and the system will report when the file is closed.
    Writing,
    /// It is new, or it is written where the system does not report when the file is closed. More changes may follow.
    Open,
    /// It was removed, and was not a folder. More changes may follow.
    Gone,
    /// Something else about it changed, such as its mode.
    Other,
}

/// If more paths than this wait for the hub, it checks all files instead.
pub(super) const MANY: usize = 10_000;
/// A file that is not closed within this time is read anyway.
const SLOW: Duration = Duration::from_secs(5);

/// Changed paths that the hub has not taken yet. The hub is notified when a path is new among them and when its file is
/// complete, so a file that is written in many steps wakes it twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes(Arc<Mutex<Pending>>);

#[derive(Debug, Default)]
struct Pending {
    paths: BTreeMap<PathBuf, State>,
    /// Whether there were too many paths.
    overflowed: bool,
    /// Only changes at these places matter.
    places: Arc<Places>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Complete,
    Open,
    /// The time at which writing began.
    Writing(Instant),
}

impl Changes {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the places that matter.
    pub(super) fn concern(&self, places: Places) {
        self.pending().places = Arc::new(places);
    }

    /// Adds changes of paths. Returns whether the hub has to be notified.
    pub(super) fn add(&self, changes: Vec<(PathBuf, Change)>, now: Instant) -> bool {
        let places = Arc::clone(&self.pending().places);
        // Only files are written. A removed file cannot be checked, and links that matter are known.
        let concerns = |(path, change): &(PathBuf, Change)| match change {
            Change::Closed | Change::Writing | Change::Gone => places.concern_file(path),
            _ => places.concern(path),
        };
        let mut tell = false;
        for (path, change) in changes.into_iter().filter(concerns) {
            let mut pending = self.pending();
            if pending.overflowed {
                return tell;
            }
            let before = pending.paths.get(&path).copied();
            let after = match (change, before) {
                (Change::Closed | Change::Named, _) | (Change::Other, None) => State::Complete,
                (Change::Open | Change::Gone, _) => State::Open,
                (Change::Writing, Some(State::Writing(since))) => State::Writing(since),
                (Change::Writing, _) => State::Writing(now),
                (Change::Other, Some(state)) => state,
            };
            tell |= before.is_none() || (after == State::Complete && before != Some(after));
            pending.paths.insert(path, after);
            if pending.paths.len() > MANY {
                pending.paths.clear();
                pending.overflowed = true;
            }
        }
        tell
    }

    /// Returns whether more changes may follow for one of the paths.
    pub(super) fn is_ongoing(&self) -> bool {
        let pending = self.pending();
        pending.overflowed || pending.paths.values().any(|state| *state != State::Complete)
    }

    /// Returns the time at which a file that is still being written has to be read anyway.
    pub(super) fn due(&self) -> Option<Instant> {
        let of = |state: &State| if let State::Writing(since) = state { Some(*since + SLOW) } else { None };
        self.pending().paths.values().filter_map(of).min()
    }

    /// Takes the paths, except those of files that are still being written. Takes none if there were too many. Returns
    /// whether there was anything.
    pub(super) fn take(&self, into: &mut Taken, now: Instant) -> bool {
        let mut pending = self.pending();
        let waits = |state: &State| matches!(state, State::Writing(since) if now < *since + SLOW);
        let (waiting, taken): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut pending.paths).into_iter().partition(|(_, state)| waits(state));
        pending.paths = waiting;
        let any = pending.overflowed || !taken.is_empty();
        into.overflowed |= std::mem::take(&mut pending.overflowed);
        into.paths.extend(taken.into_keys());
        any
    }
}

/// Paths that the hub took.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) paths: BTreeSet<PathBuf>,
    /// Whether any file may have changed.
    pub(super) overflowed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(names: &[&str]) -> Changes {
        let changes = Changes::default();
        changes.concern(Places::of_files(names));
        changes
    }

    #[test]
    fn the_hub_is_notified_of_new_changes_and_of_complete_files() {
        let now = Instant::now();
        let changes = changes(&["/a", "/b"]);
        let add = |path: &str, change| changes.add(vec![(path.into(), change)], now);
        assert!(add("/a", Change::Writing));
        assert!(!add("/a", Change::Writing) && !add("/a", Change::Other));
        assert!(add("/b", Change::Open) && !add("/b", Change::Open));
        assert!(add("/a", Change::Closed) && !add("/a", Change::Closed) && changes.is_ongoing());
        assert!(add("/b", Change::Closed) && !changes.is_ongoing());
        assert!(!add("/elsewhere", Change::Closed), "another program's temporary file");
        let mut taken = Taken::default();
        assert!(changes.take(&mut taken, now) && taken.paths.len() == 2 && !taken.overflowed);
        assert!(!changes.take(&mut taken, now));
        assert!(add("/a", Change::Closed));
    }

    #[test]
    fn a_file_that_is_being_written_waits_for_its_writer_but_not_forever() {
        let now = Instant::now();
        let changes = changes(&["/a", "/b"]);
        for seconds in 0..4 {
            changes.add(vec![("/a".into(), Change::Writing)], now + Duration::from_secs(seconds));
        }
        changes.add(vec![("/b".into(), Change::Open)], now);
        let mut taken = Taken::default();
        assert!(changes.take(&mut taken, now) && taken.paths.len() == 1 && changes.due() == Some(now + SLOW));
        assert!(!changes.take(&mut taken, now));
        assert!(changes.take(&mut taken, now + SLOW) && taken.paths.len() == 2 && changes.due().is_none());
    }

    #[test]
    fn the_number_of_waiting_paths_is_bounded() {
        let names: Vec<String> = (0..=MANY).map(|i| format!("/{i}")).collect();
        let changes = changes(&names.iter().map(String::as_str).collect::<Vec<_>>());
        for name in &names {
            changes.add(vec![(name.into(), Change::Closed)], Instant::now());
        }
        let mut taken = Taken::default();
        assert!(changes.take(&mut taken, Instant::now()) && taken.overflowed && taken.paths.is_empty());
    }
}
