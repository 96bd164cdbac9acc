//! What a cluster's garbage collector and its namespace controller do after a deletion, without a wait.
//!
//! - The dependents of a deleted object are deleted, those with another owner lose the reference (upstream:
//!   `attemptToDeleteItem`).
//! - An object with the finalizer `orphan` goes, and its dependents stay without a reference to it.
//! - An object with the finalizer `foregroundDeletion` goes when no dependent with `blockOwnerDeletion` is left.
//! - The objects in a terminating namespace are deleted, and the namespace goes when none is left.
//!
//! Unlike on a cluster, an object whose owner was never there stays: files have references to objects of other
//! clusters.

use super::{Api, Moment, Outcome, Request};
use crate::raw;
use crate::store::{Change, Event, Key, Store, Stored, Then, Verb};
use crate::value;
use imbl::OrdMap;
use kubeshape_smd::Bump;
use kubeshape_yaml::Tape;
use serde_json::{Value, json};
use std::sync::Arc;

/// The client that these requests name (upstream: the controller manager).
const CLIENT: &str = "kube-controller-manager/v1";
const MERGE_PATCH: &str = "application/merge-patch+json";
/// How often changes lead to further changes, one after the other: a policy could change an object each time.
const MAX_DEPTH: usize = 256;
pub(super) const FOREGROUND: &str = "foregroundDeletion";
pub(super) const ORPHAN: &str = "orphan";

/// What is left to do after deletions. Owners can have many dependents, so a server works in portions and lets others
/// write in between.
#[derive(Clone, Debug, Default)]
pub struct Todo(OrdMap<Task, Progress>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// The dependents of an object that was deleted: its uid and its key.
    Release(Arc<str>, Key),
    /// An object that is being deleted, and has a finalizer that is about its dependents.
    Finalize(Key),
    /// A namespace that is being deleted.
    Empty(Key),
}

#[derive(Clone, Debug, Default)]
struct Progress {
    /// The last object that was looked at.
    after: Option<Key>,
    /// How many changes led to this one.
    depth: usize,
    /// Something changed behind `after`: begin again when this is done, at this depth.
    again: Option<usize>,
    /// A dependent that was looked at keeps its owner.
    is_blocked: bool,
}

impl Todo {
    /// Returns whether nothing is left.
    pub fn is_done(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, task: Task, depth: usize) {
        match self.0.get_mut(&task) {
            Some(known) => known.again = known.after.is_some().then_some(depth),
            None if depth <= MAX_DEPTH => {
                self.0.insert(task, Progress { depth, ..Progress::default() });
            }
            None => {}
        }
    }

    fn next(&mut self) -> Option<(Task, Progress)> {
        let (task, progress) = self.0.get_min().cloned()?;
        self.0.remove(&task);
        Some((task, progress))
    }

    /// Adds what follows from the changes after a revision.
    fn note(&mut self, api: &Api, store: &Store, after: u64, depth: usize) {
        for event in &store.events_after(after).unwrap_or_default() {
            if event.verb == Verb::Deleted {
                self.note_deleted(api, store, event, depth);
            } else if is_terminating(&event.object) {
                self.add(finishing(&event.key), depth);
            }
        }
    }

    /// An object is gone: so are its dependents, and those may go that waited for it.
    fn note_deleted(&mut self, api: &Api, store: &Store, event: &Event, depth: usize) {
        let is_terminating = |key: &Key| store.get(key).is_some_and(|stored| is_terminating(stored));
        let namespace = event.key.namespace();
        let key = namespace_key(namespace);
        if !namespace.is_empty() && is_terminating(&key) {
            self.add(Task::Empty(key), depth);
        }
        let metadata = metadata(&event.object);
        for reference in metadata["ownerReferences"].as_array().into_iter().flatten() {
            if let Some(owner) = owner_of(api, store, reference, namespace).filter(is_terminating) {
                self.add(Task::Finalize(owner), depth);
            }
        }
        let uid = metadata["uid"].as_str().unwrap_or_default();
        if store.dependents(uid, None).next().is_some() {
            self.add(Task::Release(uid.into(), event.key.clone()), depth);
        }
    }
}

impl Api {
    /// Does what follows from deletions after a revision, and what `todo` has from before. It stops when nothing is left, or
    /// when it has looked at `most` objects: then `todo` has the rest, and the next call should begin at the revision that
    /// this one made.
    ///
    /// Changes that follow from changes end after 256 in a row: the dependents of dependents. What finalizers of clients or
    /// admission policies keep stays.
    ///
    /// # Example
    /// ```
    /// use kubeshape_objects::{Api, Moment, Todo, store::Store};
    ///
    /// let (mut store, mut todo) = (Store::default(), Todo::default());
    /// let before = store.revision();
    /// Api::default().collect(&mut store, before, &mut todo, 1_000, &Moment::default());
    /// assert!(todo.is_done());
    /// assert_eq!(store.revision(), before);
    /// ```
    pub fn collect(&self, store: &mut Store, after: u64, todo: &mut Todo, most: usize, moment: &Moment<'_>) {
        let mut collector = Collector { api: self, store, moment };
        todo.note(self, collector.store, after, 1);
        let mut left = most;
        while left > 0
            && let Some((task, mut progress)) = todo.next()
        {
            let before = collector.store.revision();
            let looked = match &task {
                Task::Release(uid, owner) => collector.release(uid, owner, &mut progress, left),
                Task::Finalize(key) => collector.finalize(key, &mut progress, left),
                Task::Empty(namespace) => collector.empty(namespace, &mut progress, left),
            };
            let (depth, is_done) = (progress.depth + 1, looked < left);
            if !is_done {
                todo.0.insert(task, progress);
            } else if let Some(depth) = progress.again {
                todo.add(task, depth);
            }
            todo.note(self, collector.store, before, depth);
            left = left.saturating_sub(looked.max(1));
        }
    }

    /// Returns what a server that stopped in the middle had left to do, as far as the history goes back.
    pub fn unfinished(&self, store: &Store) -> Todo {
        let mut todo = Todo::default();
        let terminating = store.objects().filter(|(_, object)| is_terminating(object));
        for (key, _) in terminating {
            todo.add(finishing(key), 1);
        }
        todo.note(self, store, store.forgotten(), 1);
        todo
    }
}

/// What a change of an object that is being deleted may lead to.
fn finishing(key: &Key) -> Task {
    if is_namespace(key) { Task::Empty(key.clone()) } else { Task::Finalize(key.clone()) }
}

struct Collector<'c, 'm> {
    api: &'c Api,
    store: &'c mut Store,
    moment: &'c Moment<'m>,
}

impl Collector<'_, '_> {
    /// Deletes the next dependents of an object that is gone, if they have no other owner. Returns how many it looked at,
    /// as all tasks do: fewer than `most` if it is done.
    fn release(&mut self, uid: &str, owner: &Key, progress: &mut Progress, most: usize) -> usize {
        let (looked, dependents) = self.dependents(uid, owner, progress, most);
        for key in dependents {
            let others = self.references(&key, |reference| reference["uid"] != uid);
            // An owner that is deleted in the foreground waits for this object, and does not keep it.
            let keeps = |reference: &Value| {
                let other =
                    owner_of(self.api, self.store, reference, key.namespace()).and_then(|key| self.store.get(&key));
                other.is_some_and(|other| !has_finalizer(other, FOREGROUND))
            };
            if others.iter().any(keeps) {
                self.patch(&key, &json!({"metadata": {"ownerReferences": others}}));
            } else {
                self.delete(&key, "Background");
            }
        }
        looked
    }

    /// An object that is being deleted has done with its dependents.
    fn finalize(&mut self, key: &Key, progress: &mut Progress, most: usize) -> usize {
        let Some(stored) = self.store.get(key).filter(|stored| is_terminating(stored)).cloned() else { return 0 };
        let metadata = metadata(&stored);
        let uid = metadata["uid"].as_str().unwrap_or_default();
        let finalizer = [ORPHAN, FOREGROUND].into_iter().find(|name| has_finalizer(&stored, name));
        let Some(finalizer) = finalizer else { return 0 };
        let (looked, dependents) = self.dependents(uid, key, progress, most);
        for dependent in dependents {
            if finalizer == ORPHAN {
                let others = self.references(&dependent, |reference| reference["uid"] != uid);
                let others = if others.is_empty() { Value::Null } else { others.into() };
                self.patch(&dependent, &json!({"metadata": {"ownerReferences": others}}));
            } else {
                self.delete_in_foreground(&dependent);
                let blocks = |reference: &Value| reference["uid"] == uid && reference["blockOwnerDeletion"] == true;
                progress.is_blocked |= !self.references(&dependent, blocks).is_empty();
            }
        }
        if looked < most && !progress.is_blocked {
            self.without_finalizer(key, &metadata, finalizer);
        }
        looked
    }

    /// Deletes a dependent before its owner.
    fn delete_in_foreground(&mut self, key: &Key) {
        let Some(stored) = self.store.get(key).filter(|stored| !is_terminating(stored)) else { return };
        let metadata = metadata(stored);
        let uid = metadata["uid"].as_str().unwrap_or_default();
        let has_dependents = self.store.dependents(uid, None).next().is_some();
        self.delete(key, if has_dependents { "Foreground" } else { "Background" });
    }

    /// Deletes what is in a terminating namespace, and the namespace when nothing is left.
    fn empty(&mut self, namespace: &Key, progress: &mut Progress, most: usize) -> usize {
        if !self.store.get(namespace).is_some_and(|stored| is_terminating(stored)) {
            return 0;
        }
        let mut looked = 0;
        while looked < most
            && let Some(key) = self.store.next_in_namespace(namespace.name(), progress.after.as_ref()).cloned()
        {
            looked += 1;
            if !self.store.get(&key).is_some_and(|stored| is_terminating(stored)) {
                self.delete(&key, "Background");
            }
            progress.after = Some(key);
        }
        if looked < most {
            self.delete_empty(namespace);
        }
        looked
    }

    /// Deletes a terminating namespace if nothing is in it.
    fn delete_empty(&mut self, namespace: &Key) {
        if self.store.next_in_namespace(namespace.name(), None).is_none()
            && let Some(stored) = self.store.get(namespace).filter(|stored| !has_finalizers(stored))
            && let Some(served) = self.api.of_kind("v1", "Namespace")
        {
            let (mut tape, arena) = (Tape::new(), Bump::new());
            let text = stored.json();
            let Ok(live) = value::parsed(&text, &mut tape, &arena) else { return };
            let then = Then::Deleted(served.draft(live, &arena));
            let change = Change { key: namespace.clone(), expected: Some(stored.revision), then };
            let _ = self.store.commit(&[change]);
        }
    }

    /// The next objects that name an owner, and how many were looked at: if it has a namespace, objects of others are not
    /// its dependents.
    fn dependents(&self, uid: &str, owner: &Key, progress: &mut Progress, most: usize) -> (usize, Vec<Key>) {
        let namespace = owner.namespace();
        let next: Vec<Key> = self.store.dependents(uid, progress.after.as_ref()).take(most).cloned().collect();
        let looked = next.len();
        progress.after = next.last().or(progress.after.as_ref()).cloned();
        (looked, next.into_iter().filter(|key| namespace.is_empty() || key.namespace() == namespace).collect())
    }

    /// Some of the owner references of an object.
    fn references(&self, key: &Key, is_wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let Some(stored) = self.store.get(key) else { return Vec::new() };
        let Value::Array(references) = metadata(stored)["ownerReferences"].take() else { return Vec::new() };
        references.into_iter().filter(is_wanted).collect()
    }

    fn without_finalizer(&mut self, key: &Key, metadata: &Value, finalizer: &str) {
        let kept = metadata["finalizers"].as_array().into_iter().flatten().filter(|name| *name != finalizer);
        let kept: Vec<&Value> = kept.collect();
        let kept = if kept.is_empty() { Value::Null } else { json!(kept) };
        self.patch(key, &json!({"metadata": {"finalizers": kept}}));
    }

    fn patch(&mut self, key: &Key, patch: &Value) {
        if let Some(path) = self.path(key) {
            self.send("PATCH", &path, "", MERGE_PATCH, &patch.to_string());
        }
    }

    fn delete(&mut self, key: &Key, policy: &str) {
        if let Some(path) = self.path(key) {
            self.send("DELETE", &path, &format!("propagationPolicy={policy}"), "", "");
        }
    }

    fn path(&self, key: &Key) -> Option<String> {
        let object: Value = serde_json::from_slice(&self.store.get(key)?.json()).ok()?;
        let (api_version, kind) = (object["apiVersion"].as_str()?, object["kind"].as_str()?);
        let objects = self.api.path_of(api_version, kind, key.namespace())?;
        Some(format!("{objects}/{}", key.name()))
    }

    /// Sends a request as the collector. What is refused stays as it is.
    fn send(&mut self, method: &str, path: &str, query: &str, content_type: &str, body: &str) {
        let body = body.as_bytes();
        let request = Request { method, path, query, content_type, user_agent: CLIENT, body, ..Request::default() };
        if let Some(Outcome::Write(write)) = self.api.prepare(self.store, &request, self.moment) {
            // Nobody else writes meanwhile.
            let _ = self.api.commit(self.store, &write);
        }
    }
}

/// The owner that a reference names, if it is there with this uid.
fn owner_of(api: &Api, store: &Store, reference: &Value, namespace: &str) -> Option<Key> {
    let text = |key: &str| reference[key].as_str().unwrap_or_default();
    let served = api.of_kind(text("apiVersion"), text("kind"))?;
    let key = Key::new(&served.id, if served.namespaced { namespace } else { "" }, text("name"));
    let stored = store.get(&key)?;
    (metadata(stored)["uid"] == reference["uid"]).then_some(key)
}

/// The key of a namespace.
fn namespace_key(name: &str) -> Key {
    Key::new(&Arc::from(NAMESPACES), "", name)
}

/// The storage key of namespaces.
const NAMESPACES: &str = "v1 namespaces";

fn is_namespace(key: &Key) -> bool {
    *key.resource == *NAMESPACES
}

/// The metadata of a stored object.
fn metadata(stored: &Stored) -> Value {
    let text = stored.json();
    raw::member(&text, "metadata").and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default()
}

/// Whether an object is being deleted.
fn is_terminating(stored: &Stored) -> bool {
    let text = stored.json();
    raw::member(&text, "metadata").and_then(|metadata| raw::member(metadata, "deletionTimestamp")).is_some()
}

fn has_finalizers(stored: &Stored) -> bool {
    metadata(stored)["finalizers"].as_array().is_some_and(|all| !all.is_empty())
}

fn has_finalizer(stored: &Stored, name: &str) -> bool {
    metadata(stored)["finalizers"].as_array().is_some_and(|all| all.iter().any(|known| known == name))
}
