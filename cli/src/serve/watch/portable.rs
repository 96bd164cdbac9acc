//! Changes in folders, reported by the `notify` crate.

use super::super::event::Change;
use super::Notice;
use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{ErrorKind, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::io;
use std::path::Path;

/// The watches of this process.
#[derive(Debug)]
pub(super) struct System(RecommendedWatcher);

impl System {
    /// Starts a thread that calls `tell` with each report.
    ///
    /// # Errors
    /// The system has no events about files.
    pub(super) fn new(mut tell: impl FnMut(Notice) + Send + 'static) -> io::Result<System> {
        let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
            Ok(event) if event.need_rescan() => tell(Notice::Missed(None)),
            Ok(event) => {
                if let Some(change) = change(event.kind) {
                    tell(Notice::Changes(event.paths.into_iter().map(|path| (path, change)).collect()));
                }
            }
            Err(error) => tell(Notice::Missed(Some(io::Error::other(error)))),
        });
        made.map(System).map_err(io::Error::other)
    }

    /// Watches a folder.
    ///
    /// # Errors
    /// It is gone, or there are too many watches.
    pub(super) fn watch(&mut self, folder: &Path) -> io::Result<()> {
        self.0.watch(folder, RecursiveMode::NonRecursive).map_err(|error| match error.kind {
            ErrorKind::PathNotFound => io::ErrorKind::NotFound.into(),
            _ => io::Error::other(error),
        })
    }

    /// Stops watching a folder.
    pub(super) fn unwatch(&mut self, folder: &Path) {
        // The folder may have been deleted, and its watch with it.
        let _ = self.0.unwatch(folder);
    }
}

/// Returns what an event says about its paths. Returns `None` if it is about reading, or repeats other events.
fn change(kind: EventKind) -> Option<Change> {
    Some(match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => Change::Closed,
        EventKind::Modify(ModifyKind::Name(RenameMode::To)) => Change::Named,
        // A rename reports both names again, after an event for each.
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Name(RenameMode::Both)) => return None,
        EventKind::Modify(ModifyKind::Metadata(_)) => Change::Other,
        EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Other => {
            Change::Open
        }
    })
}
