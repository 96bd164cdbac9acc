//! Watching files: with events of the system or, where these are not available, by polling.

use super::event::{Change, Changes, Event};
use super::inputs::Places;
use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// How often files are polled.
const POLL: Duration = Duration::from_secs(2);

/// Whether the system tells when a writer closes a file (inotify).
const TELLS_CLOSING: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// Sends the hub events about changes in folders.
pub(super) struct Watcher {
    events: Sender<Event>,
    changes: Changes,
    /// `None` if events of the system are not available.
    system: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
}

impl Watcher {
    /// A watcher without folders.
    pub(super) fn new(events: Sender<Event>, changes: Changes) -> Watcher {
        let (tell, seen) = (events.clone(), changes.clone());
        let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let event = match event {
                Ok(event) if event.need_rescan() => Event::Rescan,
                Ok(event) => match change(event.kind) {
                    Some(change) if seen.add(event.paths, change, Instant::now()) => Event::Files,
                    _ => return,
                },
                Err(error) => {
                    tracing::warn!(%error, "some changes of files were missed; looking at all of them");
                    Event::Rescan
                }
            };
            let _ = tell.send(event);
        });
        let mut watcher = Watcher { events, changes, system: None, watched: BTreeSet::new() };
        match made {
            Ok(system) => watcher.system = Some(system),
            Err(error) => watcher.poll(&error),
        }
        watcher
    }

    /// Watches the folders of `places`, and no others. If a folder is new, the hub looks at all files again, because
    /// something may have happened in it before.
    pub(super) fn follow(&mut self, places: &Places) {
        let Some(system) = &mut self.system else { return };
        self.changes.concern(places.clone());
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
        if !watched.is_subset(&self.watched) {
            let _ = self.events.send(Event::Rescan);
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

/// What an event says of its paths; nothing if it is about reading, or repeats what others said.
fn change(kind: EventKind) -> Option<Change> {
    Some(match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => Change::Closed,
        EventKind::Modify(ModifyKind::Name(RenameMode::To)) => Change::Named,
        // Both names again, after an event for each.
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Name(RenameMode::Both)) => return None,
        EventKind::Modify(ModifyKind::Metadata(_)) => Change::Other,
        EventKind::Modify(ModifyKind::Data(_)) if TELLS_CLOSING => Change::Writing,
        EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Other => {
            Change::Open
        }
    })
}

fn is_gone(error: &notify::Error, folder: &Path) -> bool {
    matches!(error.kind, notify::ErrorKind::PathNotFound) || !folder.exists()
}
