//! The hub: a thread that owns the store. It handles events, applies changes to the store, and swaps snapshots. Nothing
//! else changes what is served. Without events, it waits.

use super::event::Event;
use super::inputs::{Inputs, Scan};
use super::secrets::Secrets;
use super::watch::Watcher;
use super::{descriptors, finding};
use kubeshape_input::Finding;
use kubeshape_schema::Levels;
use kubeshape_server::{Applied, Live, Metrics, Readiness, Reason, RemoteState, Store};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant, SystemTime};

/// Changes come in bursts. A burst ends when there was no event for this time.
const QUIET: Duration = Duration::from_millis(25);
/// A burst is handled after this time, even if it goes on.
const LONGEST: Duration = Duration::from_millis(500);
/// When files are read again that could not be read because the system had no room.
const AGAIN: Duration = Duration::from_secs(1);
/// Number of broken files that `/readyz` names.
const NAMED: usize = 5;

/// The name of the check for the inputs in `/readyz`.
pub(super) const INPUTS: &str = "inputs";

/// The owner of the store.
pub(super) struct Hub {
    pub(super) store: Store,
    pub(super) inputs: Inputs,
    pub(super) secrets: Secrets,
    pub(super) live: Arc<Live>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) readiness: Arc<Readiness>,
    pub(super) watcher: Option<Watcher>,
    /// The first finding of each file that cannot be read.
    pub(super) broken: Vec<Finding>,
    /// The levels of findings.
    pub(super) levels: Levels,
}

/// The result of the first scan.
pub(super) struct FirstScan {
    /// Those that cannot be read, and why.
    pub(super) unreadable: Vec<Finding>,
    /// What there is to say about what was passed over.
    pub(super) passed_over: Vec<Finding>,
    pub(super) applied: Applied,
}

/// The events of a burst.
#[derive(Debug, Default)]
struct Burst {
    paths: BTreeSet<PathBuf>,
    everything: bool,
    secrets: bool,
    remotes: Vec<RemoteState>,
    stop: bool,
}

impl Burst {
    fn add(&mut self, event: Event) {
        match event {
            Event::Files(paths) => self.paths.extend(paths),
            Event::Rescan => self.everything = true,
            Event::Reload => (self.everything, self.secrets) = (true, true),
            Event::Remote(state) => self.remotes.push(*state),
            Event::Stop => self.stop = true,
        }
    }

    /// Adds events that have arrived in the meantime. Returns whether there were any.
    fn take_in(&mut self, events: &Receiver<Event>) -> bool {
        let mut any = false;
        loop {
            match events.try_recv() {
                Ok(event) => self.add(event),
                Err(TryRecvError::Empty) => return any,
                Err(TryRecvError::Disconnected) => {
                    self.stop = true;
                    return any;
                }
            }
            any = true;
        }
    }
}

impl Hub {
    /// Handles events until the server stops.
    pub(super) fn run(mut self, events: &Receiver<Event>) {
        while let Some(event) = self.next(events) {
            let mut burst = Burst::default();
            burst.add(event);
            let until = Instant::now() + LONGEST;
            // Editors write in several steps, with many events. Sleeping, unlike waiting, is not interrupted by them.
            // States of aggregated servers are complete, so they are handled at once.
            while !burst.stop && (burst.everything || !burst.paths.is_empty()) && Instant::now() < until {
                std::thread::sleep(QUIET);
                if !burst.take_in(events) {
                    break;
                }
            }
            if burst.stop {
                return;
            }
            self.take(burst);
        }
    }

    /// Waits for the next event. What could not be read for want of resources is read again after a while.
    fn next(&self, events: &Receiver<Event>) -> Option<Event> {
        if !self.inputs.unreadable().any(descriptors::is_shortage) {
            return events.recv().ok();
        }
        match events.recv_timeout(AGAIN) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => Some(Event::Rescan),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    fn take(&mut self, burst: Burst) {
        for state in burst.remotes {
            let began = Instant::now();
            tracing::debug!(server = &*state.name, "an aggregated server publishes something else");
            let applied = self.store.set_remote(state, SystemTime::now());
            self.publish(&applied, began, true);
        }
        if burst.secrets || burst.paths.iter().any(|path| self.secrets.places().concern(path)) {
            self.secrets.reload();
        }
        let began = Instant::now();
        let scan = if burst.everything {
            self.inputs.scan(&burst.paths)
        } else if burst.paths.iter().any(|path| self.inputs.places().concern(path)) {
            self.inputs.rescan(&burst.paths)
        } else {
            return;
        };
        self.follow();
        self.apply(scan, began);
    }

    /// Watches the folders of the current files.
    pub(super) fn follow(&mut self) {
        if let Some(watcher) = &mut self.watcher {
            watcher.follow(&self.inputs.places().clone().with(self.secrets.paths()));
        }
    }

    /// Applies changed files.
    fn apply(&mut self, scan: Scan, began: Instant) {
        for Finding { input, code, detail, .. } in &scan.unreadable {
            tracing::warn!(file = input.as_deref(), %code, reason = detail, "a file cannot be read; what it held before is served");
        }
        scan.passed_over.iter().for_each(|finding| finding::log(finding, &self.levels));
        let files = scan.changes.len();
        let before = std::mem::take(&mut self.broken);
        let applied = self.store.apply(scan.changes, SystemTime::now());
        for finding in &applied.findings {
            finding::log(finding, &self.levels);
        }
        for repaired in before.iter().filter(|old| applied.broken.iter().all(|new| new.input != old.input)) {
            tracing::info!(file = repaired.input.as_deref(), "a file that was broken is whole again, or gone");
        }
        self.broken.clone_from(&applied.broken);
        self.publish(&applied, began, false);
        if applied.changed {
            let documents = applied.documents.len();
            tracing::info!(files, documents, groups = applied.groups.len(), "changed files are served");
        }
        if files > 0 || !scan.unreadable.is_empty() {
            let fine = self.broken.is_empty() && self.inputs.unreadable().next().is_none();
            self.metrics.reloaded(if fine { "success" } else { "failure" });
        }
        self.report();
    }

    /// Reads the inputs for the first time. Returns what was read, for messages about it.
    pub(super) fn first(&mut self) -> FirstScan {
        let began = Instant::now();
        let Scan { changes, unreadable, passed_over } = self.inputs.scan(&BTreeSet::new());
        let applied = self.store.apply(changes, SystemTime::now());
        self.broken.clone_from(&applied.broken);
        self.publish(&applied, began, false);
        self.report();
        FirstScan { unreadable, passed_over, applied }
    }

    /// Serves the current snapshot of the store.
    fn publish(&self, applied: &Applied, began: Instant, remote: bool) {
        if !applied.changed {
            return;
        }
        let snapshot = self.store.snapshot();
        let made = began.elapsed();
        if !applied.groups.is_empty() {
            let began = Instant::now();
            // Make it here, so that no request waits for it.
            snapshot.discovery.aggregated.hash();
            let time = made / u32::try_from(applied.groups.len()).unwrap_or(u32::MAX) + began.elapsed();
            self.metrics.discovery_aggregated(time);
            self.metrics.regenerated("discovery", if remote { "remote" } else { "update" }, time);
        }
        // They are made together, so the time of each is not known.
        let each = made / u32::try_from(applied.documents.len().max(1)).unwrap_or(u32::MAX);
        if !applied.documents.is_empty() {
            self.metrics.regenerated("index", if remote { "remote" } else { "update" }, each);
        }
        for (_, reason) in &applied.documents {
            let reason = match reason {
                _ if remote => "remote",
                Reason::Added => "add",
                Reason::Changed => "update",
                Reason::Removed => "delete",
            };
            self.metrics.regenerated("v3", reason, each);
        }
        self.live.swap(snapshot);
    }

    /// Updates readiness and metrics of the files.
    fn report(&self) {
        let reasons: Vec<String> = self.inputs.unreadable().chain(&self.broken).map(finding::line).collect();
        let reason = (!reasons.is_empty()).then(|| {
            let more = reasons.len().saturating_sub(NAMED);
            let named = reasons[..reasons.len() - more].join("; ");
            if more == 0 { named } else { format!("{named}; and {more} more") }
        });
        self.readiness.set(INPUTS, reason.as_deref());
        self.metrics.ready(INPUTS, reason.is_none());
        self.metrics.files(self.inputs.len().saturating_sub(reasons.len()), reasons.len());
    }
}
