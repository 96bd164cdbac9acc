//! The hub: a thread that owns the store. It handles events, applies changes to the store, and swaps snapshots. Nothing
//! else changes what is served. Without events, it sleeps.

use super::event::{Changes, Event, Taken};
use super::inputs::{self, Inputs, Scan};
use super::resources::{Defined, Resources};
use super::secrets::Secrets;
use super::watch::Watcher;
use super::{descriptors, finding};
use kubeshape_input::{Code, Finding};
use kubeshape_schema::Levels;
use kubeshape_server::{
    Applied, Branched, Change, Definition, Features, Live, Metrics, Quality, Readiness, Reason, RemoteState, Store,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant, SystemTime};

/// Changes come in bursts. A burst ends after this time without an event. A complete file that is the only change is
/// handled without waiting.
const QUIET: Duration = Duration::from_millis(25);
/// A burst is handled after this time, even if it continues.
const LONGEST: Duration = Duration::from_millis(500);
/// When to retry files that could not be read because the system had no resources.
const AGAIN: Duration = Duration::from_secs(1);
/// The number of broken files that `/readyz` names.
const NAMED: usize = 5;

/// Why the content of an emptied file is held.
const EMPTIED: &str = "found nothing to serve in it, expected a document";

/// The name of the check for the inputs in `/readyz`.
pub(super) const INPUTS: &str = "inputs";

/// The owner of the store.
pub(super) struct Hub {
    pub(super) store: Store,
    pub(super) inputs: Inputs,
    pub(super) secrets: Secrets,
    pub(super) live: Arc<Live>,
    pub(super) metrics: Arc<Metrics>,
    /// The features that are served, for the metrics.
    pub(super) features: Features,
    pub(super) readiness: Arc<Readiness>,
    pub(super) watcher: Option<Watcher>,
    /// Changes of files that the watcher saw.
    pub(super) changes: Changes,
    /// How long content that vanished is still served.
    pub(super) grace: Duration,
    /// Such content, by file name.
    pub(super) held: BTreeMap<Arc<str>, Held>,
    /// The first finding of each file that cannot be read.
    pub(super) broken: Vec<Finding>,
    /// The levels of findings.
    pub(super) levels: Levels,
    /// The names of definitions that are published as clients wrote them.
    pub(super) given: BTreeSet<Arc<str>>,
    /// The objects that are served. `None` if only schemas are served.
    pub(super) resources: Option<Resources>,
    /// The documents of the last worlds.
    pub(super) branches: Branches,
}

/// Documents for worlds, until what is published changes.
#[derive(Default)]
pub(super) struct Branches {
    /// Those that are published now.
    current: Option<Arc<Store>>,
    /// Those of states with other definitions, by their numbers.
    others: BTreeMap<u64, Arc<Store>>,
}

/// The number of states whose documents are kept for further worlds.
const BRANCHES: usize = 4;

/// A file that was emptied or removed, but whose last content is still served.
#[derive(Debug)]
pub(super) struct Held {
    until: Instant,
    /// The change that is applied when the grace period ends.
    change: Change,
    finding: Finding,
}

/// The result of the first scan.
pub(super) struct FirstScan {
    /// Files that cannot be read, with the reason.
    pub(super) unreadable: Vec<Finding>,
    /// Findings about skipped files.
    pub(super) passed_over: Vec<Finding>,
    pub(super) applied: Applied,
}

/// The events of a burst.
#[derive(Debug, Default)]
struct Burst {
    /// Whether the watcher saw changes of files.
    files: bool,
    taken: Taken,
    everything: bool,
    secrets: bool,
    remotes: Vec<RemoteState>,
    /// The names of definitions that clients changed.
    definitions: BTreeSet<Arc<str>>,
    /// How often there were such names.
    reports: u64,
    /// Worlds that clients make.
    branched: Vec<Branched>,
    stop: bool,
}

impl Burst {
    fn add(&mut self, event: Event) {
        match event {
            Event::Files => self.files = true,
            Event::Rescan => self.everything = true,
            Event::Reload => (self.everything, self.secrets) = (true, true),
            Event::Definitions(names) => {
                self.definitions.extend(names);
                self.reports += 1;
            }
            Event::Branched(branched) => self.branched.push(branched),
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
        let mut last: Option<Instant> = None;
        // When to retry files that could not be read for lack of resources.
        let mut again: Option<Instant> = None;
        loop {
            let is_short = self.inputs.unreadable().any(descriptors::is_shortage);
            again = is_short.then(|| again.unwrap_or_else(|| Instant::now() + AGAIN));
            let due = self.held.values().map(|held| held.until).chain(self.changes.due()).chain(again).min();
            let event = match due {
                None => events.recv().map_err(RecvTimeoutError::from),
                Some(due) => events.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            let mut burst = Burst::default();
            match event {
                Ok(event) => burst.add(event),
                Err(RecvTimeoutError::Timeout) => {
                    self.release();
                    burst.everything = again.take_if(|again| *again <= Instant::now()).is_some();
                    burst.files = self.changes.due().is_some_and(|due| due <= Instant::now());
                    if !burst.everything && !burst.files {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if !burst.definitions.is_empty() {
                // Those that came meanwhile are published together.
                burst.take_in(events);
            }
            if burst.files && last.is_none_or(|last| last.elapsed() >= QUIET) {
                self.early(&mut burst, events);
            }
            let until = Instant::now() + LONGEST;
            // Editors write in several steps, with many events. Unlike waiting, sleeping is not interrupted by them.
            // States of aggregated servers are complete, so they are handled at once.
            while !burst.stop && (burst.everything || burst.files) && Instant::now() < until {
                std::thread::sleep(QUIET);
                let any = self.changes.take(&mut burst.taken, Instant::now());
                if !burst.take_in(events) && !any {
                    break;
                }
            }
            if burst.stop {
                return;
            }
            self.take(burst);
            last = Some(Instant::now());
        }
    }

    /// Serves the files of a first change at once, if they are complete and valid. All others wait for the end of the
    /// burst.
    fn early(&mut self, burst: &mut Burst, events: &Receiver<Event>) {
        let until = Instant::now() + QUIET;
        while !burst.stop && self.changes.is_ongoing() {
            match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(event) => burst.add(event),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => burst.stop = true,
            }
        }
        burst.take_in(events);
        let began = Instant::now();
        self.changes.take(&mut burst.taken, began);
        let (paths, changes): (Vec<PathBuf>, Vec<Change>) =
            self.inputs.early(&mut burst.taken.paths).into_iter().unzip();
        let files = changes.len();
        let names: Vec<Arc<str>> = changes.iter().map(|change| Arc::clone(&change.name)).collect();
        let applied = self.change(changes, |quality| quality == Quality::Whole);
        for (path, name) in paths.into_iter().zip(names) {
            if applied.refused.iter().any(|(change, _)| change.name == name) {
                burst.taken.paths.insert(path);
            } else {
                self.held.remove(&name);
            }
        }
        let files = files - applied.refused.len();
        burst.files = !burst.taken.paths.is_empty() || burst.taken.overflowed;
        if files > 0 {
            self.applied(&applied, files, began);
        }
    }

    /// Publishes the definitions that were stored by an earlier run, unless a file defines them.
    pub(super) fn publish_kept(&mut self) {
        let Some(resources) = &self.resources else { return };
        let kept: BTreeSet<Arc<str>> =
            resources.kept().into_iter().filter(|name| !resources.is_of_file(name)).collect();
        self.publish_definitions(kept);
    }

    /// Publishes definitions as they are stored.
    fn publish_definitions(&mut self, names: BTreeSet<Arc<str>>) {
        if let Some(resources) = self.resources.as_ref().filter(|_| !names.is_empty()) {
            let began = Instant::now();
            let changed = resources.changed(names);
            self.given.extend(changed.iter().map(|(name, _)| Arc::clone(name)));
            let applied = self.store.define(changed, SystemTime::now());
            for finding in &applied.findings {
                finding::log(finding, &self.levels);
            }
            self.publish(&applied, began, false);
        }
    }

    /// Answers a client that makes a world with the documents that it begins with.
    fn branch(&mut self, branched: Branched) {
        let Some(resources) = &self.resources else { return };
        if let Some(known) = self.branches.others.get(&branched.state) {
            return branched.answer(Arc::clone(known));
        }
        let changes = resources.differences(&branched.objects);
        let current = self.branches.current.get_or_insert_with(|| Arc::new(self.store.clone()));
        if changes.is_empty() {
            return branched.answer(Arc::clone(current));
        }
        let mut other = Store::clone(current);
        other.define(changes, SystemTime::now());
        let other = Arc::new(other);
        if self.branches.others.len() >= BRANCHES {
            self.branches.others.pop_first();
        }
        self.branches.others.insert(branched.state, Arc::clone(&other));
        branched.answer(other);
    }

    fn take(&mut self, burst: Burst) {
        self.publish_definitions(burst.definitions);
        if let Some(resources) = &self.resources {
            resources.objects().published(burst.reports);
        }
        burst.branched.into_iter().for_each(|branched| self.branch(branched));
        for state in burst.remotes {
            let began = Instant::now();
            tracing::debug!(server = &*state.name, "an aggregated server publishes something else");
            let applied = self.store.set_remote(state, SystemTime::now());
            self.publish(&applied, began, true);
        }
        let Taken { paths, overflowed } = burst.taken;
        if overflowed {
            self.inputs.forget();
        }
        if burst.secrets || overflowed || paths.iter().any(|path| self.secrets.places().concern(path)) {
            self.secrets.reload();
        }
        let began = Instant::now();
        let scan = if burst.everything || overflowed {
            self.inputs.scan(&paths)
        } else if paths.iter().any(|path| self.inputs.places().concern(path)) {
            self.inputs.rescan(&paths)
        } else {
            return;
        };
        if scan.is_whole {
            self.follow();
        }
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
        for change in &scan.changes {
            self.held.remove(&change.name);
        }
        let files = scan.changes.len() + scan.unreadable.len() + scan.vanished.len();
        let mut changes = scan.changes;
        for finding in scan.vanished {
            let change = Change { name: finding.input.clone().unwrap_or_default(), content: None };
            if self.store.has_content(&change.name) {
                self.hold(change, finding);
            } else {
                changes.push(change);
            }
        }
        let applied = self.change(changes, |quality| quality != Quality::Empty);
        for (change, _) in &applied.refused {
            let finding = Finding::new(Code::Unreadable, EMPTIED).in_input(Arc::clone(&change.name));
            self.hold(change.clone(), finding);
        }
        self.applied(&applied, files, began);
        self.release();
    }

    /// Logs the results of changed files.
    fn applied(&mut self, applied: &Applied, files: usize, began: Instant) {
        let before = std::mem::take(&mut self.broken);
        for finding in &applied.findings {
            finding::log(finding, &self.levels);
        }
        for repaired in before.iter().filter(|old| applied.broken.iter().all(|new| new.input != old.input)) {
            tracing::info!(file = repaired.input.as_deref(), "a file that was broken is whole again, or gone");
        }
        self.broken.clone_from(&applied.broken);
        self.publish(applied, began, false);
        if applied.changed {
            let documents = applied.documents.len();
            tracing::info!(files, documents, groups = applied.groups.len(), "changed files are served");
        }
        if files > 0 {
            self.metrics.reloaded(if self.reasons().next().is_none() { "success" } else { "failure" });
        }
        self.report();
    }

    /// Continues to serve the earlier content of a file that was emptied or removed.
    fn hold(&mut self, change: Change, mut finding: Finding) {
        let until = self.held.get(&change.name).map_or_else(|| Instant::now() + self.grace, |held| held.until);
        finding.detail = format!("{}; what it held before is served for {:?}", finding.detail, self.grace);
        tracing::warn!(file = &*change.name, reason = &*finding.detail, "a file has nothing to serve any more");
        self.held.insert(Arc::clone(&change.name), Held { until, change, finding });
    }

    /// Applies changes that were held long enough, and files that now count as deleted.
    fn release(&mut self) {
        let now = Instant::now();
        let is_over = |held: &Held| {
            let is_gone = held.change.content.is_none();
            held.until <= now || (is_gone && inputs::vanished(Path::new(&*held.change.name)).is_none())
        };
        let (over, held): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.held).into_iter().partition(|(_, held)| is_over(held));
        self.held = held;
        let over: Vec<Change> = over.into_values().map(|held| held.change).collect();
        if over.is_empty() {
            return;
        }
        for change in &over {
            tracing::warn!(file = &*change.name, "what this file held before is no longer served");
        }
        let files = over.len();
        let applied = self.change(over, |_| true);
        self.applied(&applied, files, now);
    }

    /// Applies changed files whose contents are accepted.
    fn change(&mut self, changes: Vec<Change>, accept: impl Fn(Quality) -> bool) -> Applied {
        let taken = self.resources.as_ref().map(|_| changes.clone());
        let mut applied = self.store.apply_if(changes, SystemTime::now(), accept);
        if let (Some(resources), Some(taken)) = (&mut self.resources, taken) {
            let defined = resources.change(taken.iter().filter(|change| applied.has_taken(change)));
            let Defined { names, findings, refused } = defined;
            applied.findings.extend(findings);
            // A definition that is not stored is not published either, and the stored definitions say who has a
            // contested name.
            let mut stored = resources.contested();
            stored.extend(refused);
            let is_of_files = |name: &Arc<str>| !stored.contains(name);
            let names = names.into_iter().filter(is_of_files).filter(|name| self.given.remove(name));
            let mut sources: Vec<_> = names.map(|name| (name, Definition::OfFiles)).collect();
            self.given.extend(stored.iter().cloned());
            sources.extend(resources.changed(stored));
            if !sources.is_empty() {
                let more = self.store.define(sources, SystemTime::now());
                applied.documents.extend(more.documents);
                applied.groups.extend(more.groups);
                applied.findings.extend(more.findings);
                applied.changed |= more.changed;
            }
        }
        applied
    }

    /// Reads the inputs for the first time. Returns what was read, for messages about it.
    pub(super) fn first(&mut self) -> FirstScan {
        let began = Instant::now();
        let Scan { changes, unreadable, passed_over, .. } = self.inputs.scan(&BTreeSet::new());
        let applied = self.change(changes, |_| true);
        self.broken.clone_from(&applied.broken);
        self.publish(&applied, began, false);
        self.report();
        FirstScan { unreadable, passed_over, applied }
    }

    /// Serves the current snapshot of the store.
    fn publish(&mut self, applied: &Applied, began: Instant, remote: bool) {
        if !applied.changed {
            return;
        }
        self.branches = Branches::default();
        let snapshot = self.store.snapshot();
        let made = began.elapsed();
        // They are made together, so the individual times are not known.
        let each = made / u32::try_from(applied.documents.len().max(1)).unwrap_or(u32::MAX);
        let documents = if self.features.openapi_v3 { applied.documents.as_slice() } else { &[] };
        if !documents.is_empty() {
            self.metrics.regenerated("index", if remote { "remote" } else { "update" }, each);
        }
        for (_, reason) in documents {
            let reason = match reason {
                _ if remote => "remote",
                Reason::Added => "add",
                Reason::Changed => "update",
                Reason::Removed => "delete",
            };
            self.metrics.regenerated("v3", reason, each);
        }
        self.live.swap(Arc::clone(&snapshot));
        if !applied.groups.is_empty() {
            let began = Instant::now();
            snapshot.discovery.aggregated.hash();
            let time = made / u32::try_from(applied.groups.len()).unwrap_or(u32::MAX) + began.elapsed();
            if self.features.aggregated_v2 || self.features.aggregated_v2beta1 {
                self.metrics.discovery_aggregated(time);
            }
            self.metrics.regenerated("discovery", if remote { "remote" } else { "update" }, time);
        }
    }

    /// Returns the reasons why files are broken.
    fn reasons(&self) -> impl Iterator<Item = &Finding> {
        let held = self.held.values().map(|held| &held.finding);
        let refused = self.resources.iter().flat_map(Resources::refused);
        self.inputs.unreadable().chain(&self.broken).chain(held).chain(refused)
    }

    /// Updates readiness and metrics of the files.
    fn report(&self) {
        let reasons: Vec<String> = self.reasons().map(finding::line).collect();
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
