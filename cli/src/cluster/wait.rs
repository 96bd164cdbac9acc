//! Waits until a cluster changes.
//!
//! The cluster is polled at intervals, because an index has no watch. Its CustomResourceDefinitions have one: if the
//! user may list them, a change of one is noticed immediately, and the cluster is polled before the end of the
//! interval.

use super::asked::Asked;
use kubeshape_client::{Change, Error};
use std::time::{Duration, Instant};

/// A server needs a moment until it publishes a changed definition. So it is polled after this time, and again after
/// twice as long, until the interval is reached.
const SOON: Duration = Duration::from_millis(500);

/// How long to wait.
#[derive(Debug)]
pub(super) struct Waiting {
    /// The interval.
    refresh: Duration,
    /// The next interval.
    next: Duration,
    /// The known version of the list of definitions.
    version: Option<String>,
    /// Whether the server refuses to watch definitions.
    is_refused: bool,
}

impl Waiting {
    pub(super) fn new(refresh: Duration) -> Waiting {
        Waiting { refresh, next: refresh, version: None, is_refused: false }
    }

    /// Records the version of the list of definitions. Later changes end [`wait`](Self::wait).
    pub(super) fn begin(&mut self, asked: &Asked) {
        if self.version.is_some() || self.is_refused {
            return;
        }
        match asked.definitions_version() {
            Ok(version) if version.is_empty() => self.is_refused = true,
            Ok(version) => self.version = Some(version),
            Err(error) => self.lost(&error),
        }
    }

    /// Waits for the interval, or until a definition changes.
    pub(super) fn wait(&mut self, asked: &Asked) {
        let begin = Instant::now();
        let most = self.next;
        self.next = (self.next * 2).min(self.refresh);
        if let Some(version) = &self.version {
            match asked.change(version, most) {
                Ok(Change::None) => {}
                Ok(Change::Unknown) => self.version = None,
                Ok(Change::To(version)) => {
                    self.version = Some(version);
                    self.next = SOON.min(self.refresh);
                    std::thread::sleep(self.next);
                    return;
                }
                Err(error) => self.lost(&error),
            }
        }
        std::thread::sleep(most.saturating_sub(begin.elapsed()));
    }

    fn lost(&mut self, error: &Error) {
        self.version = None;
        self.is_refused = error.fault.status().is_some_and(|status| (400..500).contains(&status) && status != 429);
    }
}
