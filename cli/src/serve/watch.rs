//! Watches files: with events of the system, or by polling where these are not available.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod inotify;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod portable;

#[cfg(any(target_os = "linux", target_os = "android"))]
use self::inotify::System;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
use self::portable::System;

use super::event::{Change, Changes, Event};
use super::inputs::Places;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// How often files are polled.
const POLL: Duration = Duration::from_secs(2);

/// A report of the system.
#[derive(Debug)]
enum Notice {
    /// Something changed at these paths.
    Changes(Vec<(PathBuf, Change)>),
    /// Some changes were not reported. If there is a reason, it is an error.
    Missed(Option<io::Error>),
    /// There will be no more reports.
    #[cfg_attr(not(any(target_os = "linux", target_os = "android")), allow(dead_code))]
    End(io::Error),
}

/// Sends the hub events about changes in folders.
pub(super) struct Watcher {
    events: Sender<Event>,
    changes: Changes,
    /// `None` if events of the system are not available.
    system: Option<System>,
    watched: BTreeSet<PathBuf>,
}

impl Watcher {
    /// Creates a watcher without folders.
    pub(super) fn new(events: Sender<Event>, changes: Changes) -> Watcher {
        let (tell, seen) = (events.clone(), changes.clone());
        let made = System::new(move |told| {
            let event = match told {
                Notice::Changes(changes) => {
                    if !seen.add(changes, Instant::now()) {
                        return;
                    }
                    Event::Files
                }
                Notice::Missed(None) => Event::Rescan,
                Notice::Missed(Some(error)) => {
                    tracing::warn!(%error, "some changes of files were missed; looking at all of them");
                    Event::Rescan
                }
                Notice::End(error) => return poll(tell.clone(), &error),
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

    /// Watches the folders of `places`, and no others. If a folder is new, the hub checks all files again, because
    /// something may have happened in it before.
    pub(super) fn follow(&mut self, places: &Places) {
        let Some(system) = &mut self.system else { return };
        self.changes.concern(places.clone());
        for folder in self.watched.difference(&places.watched) {
            system.unwatch(folder);
        }
        let mut watched = BTreeSet::new();
        let mut failure = None;
        for folder in &places.watched {
            // A folder that was replaced by another one with the same name needs a new watch. The system keeps one
            // watch per folder, so watching a folder twice does no harm.
            match system.watch(folder) {
                Ok(()) => {
                    watched.insert(folder.clone());
                }
                // It was deleted in the meantime, and its parent reports that.
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
    fn poll(&mut self, error: &io::Error) {
        self.system = None;
        poll(self.events.clone(), error);
    }
}

/// Starts to poll the files, because of an error.
fn poll(events: Sender<Event>, error: &io::Error) {
    tracing::warn!(%error, "the system does not tell about changes; files are looked at every {POLL:?}");
    // The thread ends when the hub does.
    let looking = move || {
        while events.send(Event::Rescan).is_ok() {
            std::thread::sleep(POLL);
        }
    };
    if let Err(error) = std::thread::Builder::new().name("poll".to_owned()).spawn(looking) {
        tracing::error!(%error, "changes of files are not noticed");
    }
}

fn is_gone(error: &io::Error, folder: &Path) -> bool {
    error.kind() == io::ErrorKind::NotFound || !folder.exists()
}
