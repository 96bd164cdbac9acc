//! Watching files: with events of the system or, where these are not available, by polling.

use super::event::Event;
use super::inputs::Places;
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::Duration;

/// How often files are polled.
const POLL: Duration = Duration::from_secs(2);

/// Sends the hub events about changes in folders.
pub(super) struct Watcher {
    events: Sender<Event>,
    /// `None` if events of the system are not available.
    system: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
}

impl Watcher {
    /// A watcher without folders.
    pub(super) fn new(events: Sender<Event>) -> Watcher {
        let tell = events.clone();
        let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let _ = tell.send(match event {
                Ok(event) if event.need_rescan() => Event::Rescan,
                Ok(event) if is_change(event.kind) => Event::Files(event.paths),
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(%error, "some changes of files were missed; looking at all of them");
                    Event::Rescan
                }
            });
        });
        let mut watcher = Watcher { events, system: None, watched: BTreeSet::new() };
        match made {
            Ok(system) => watcher.system = Some(system),
            Err(error) => watcher.poll(&error),
        }
        watcher
    }

    /// Watches the folders of `places`, and no others.
    pub(super) fn follow(&mut self, places: &Places) {
        let Some(system) = &mut self.system else { return };
        for folder in self.watched.difference(&places.watched) {
            // The folder may be deleted, and its watch with it.
            let _ = system.unwatch(folder);
        }
        let mut watched = BTreeSet::new();
        let mut failure = None;
        for folder in &places.watched {
            // A folder that was replaced by another one with the same name needs a new watch. The system keeps one watch per
            // folder, so watching a folder twice is harmless.
            match system.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    watched.insert(folder.clone());
                }
                // It was deleted meanwhile, and its parent reports that.
                Err(error) if is_gone(&error, folder) => {}
                Err(error) => failure = Some(error),
            }
        }
        self.watched = watched;
        if let Some(error) = failure {
            self.poll(&error);
        }
    }

    /// Starts to poll the files.
    fn poll(&mut self, error: &notify::Error) {
        tracing::warn!(%error, "the system does not tell about changes; files are looked at every {POLL:?}");
        self.system = None;
        let events = self.events.clone();
        // It ends when the hub does.
        let looking = move || {
            while events.send(Event::Rescan).is_ok() {
                std::thread::sleep(POLL);
            }
        };
        if let Err(error) = std::thread::Builder::new().name("poll".to_owned()).spawn(looking) {
            tracing::error!(%error, "changes of files are not noticed");
        }
    }
}

/// Whether an event tells that a content may have changed. Reading a file also causes events.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Other => true,
    }
}

fn is_gone(error: &notify::Error, folder: &Path) -> bool {
    matches!(error.kind, notify::ErrorKind::PathNotFound) || !folder.exists()
}
