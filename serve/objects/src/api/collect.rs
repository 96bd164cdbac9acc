//! What a cluster's garbage collector and its namespace controller do after a deletion, at once.
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
use kubeshape_smd::Bump;
use kubeshape_yaml::Tape;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The client that these requests name (upstream: the controller manager).
const CLIENT: &str = "kube-controller-manager/v1";
const MERGE_PATCH: &str = "application/merge-patch+json";
/// How often changes lead to further changes, one after the other: a policy could change an object each time.
const MAX_ROUNDS: usize = 256;
pub(super) const FOREGROUND: &str = "foregroundDeletion";
pub(super) const ORPHAN: &str = "orphan";

impl Api {
    /// Does what follows from deletions after a revision. It ends when nothing changes any more, or after 256 changes
    /// that follow from each other: the dependents of dependents. What finalizers of clients or admission policies keep
    /// stays.
    ///
    /// # Example
    /// ```
    /// use kubeshape_objects::{Api, Moment, store::Store};
    ///
    /// let mut store = Store::default();
    /// let before = store.revision();
    /// Api::default().collect(&mut store, before, &Moment::default());
    /// assert_eq!(store.revision(), before);
    /// ```
    pub fn collect(&self, store: &mut Store, after: u64, moment: &Moment<'_>) {
        let mut seen = after;
        for _ in 0..MAX_ROUNDS {
            let events = store.events_after(seen).unwrap_or_default();
            if events.is_empty() {
                return;
            }
            seen = store.revision();
            let (mut owners, mut namespaces) = (BTreeSet::new(), BTreeSet::new());
            let mut collector = Collector { api: self, store, moment };
            for event in &events {
                if event.verb == Verb::Deleted {
                    collector.deleted(event, &mut owners, &mut namespaces);
                } else if is_terminating(&event.object) {
                    let all = if is_namespace(&event.key) { &mut namespaces } else { &mut owners };
                    all.insert(event.key.clone());
                }
            }
            for owner in &owners {
                collector.finalize(owner);
            }
            for namespace in &namespaces {
                collector.empty(namespace);
            }
        }
    }
}

struct Collector<'c, 'm> {
    api: &'c Api,
    store: &'c mut Store,
    moment: &'c Moment<'m>,
}

impl Collector<'_, '_> {
    /// An object is gone: so are its dependents, and those may go that waited for it.
    fn deleted(&mut self, event: &Event, owners: &mut BTreeSet<Key>, namespaces: &mut BTreeSet<Key>) {
        let metadata = metadata(&event.object);
        let references = metadata["ownerReferences"].as_array().into_iter().flatten();
        owners.extend(references.filter_map(|reference| self.owner(reference, event.key.namespace())));
        if !event.key.namespace().is_empty() {
            let namespace = namespace_key(event.key.namespace());
            if self.store.get(&namespace).is_some_and(|namespace| is_terminating(namespace)) {
                namespaces.insert(namespace);
            }
        }
        let uid = metadata["uid"].as_str().unwrap_or_default();
        for key in self.dependents(uid, &event.key) {
            let others = self.references(&key, |reference| reference["uid"] != uid);
            // An owner that is deleted in the foreground waits for this object, and does not keep it.
            let namespace = key.namespace().to_owned();
            let keeps = |reference: &Value| {
                let owner = self.owner(reference, &namespace).and_then(|owner| self.store.get(&owner));
                owner.is_some_and(|owner| !has_finalizer(owner, FOREGROUND))
            };
            if others.iter().any(keeps) {
                self.patch(&key, &json!({"metadata": {"ownerReferences": others}}));
            } else {
                self.delete(&key, "Background");
            }
        }
    }

    /// An object that is being deleted has done with its dependents.
    fn finalize(&mut self, key: &Key) {
        let Some(stored) = self.store.get(key).filter(|stored| is_terminating(stored)).cloned() else { return };
        let metadata = metadata(&stored);
        let uid = metadata["uid"].as_str().unwrap_or_default();
        if has_finalizer(&stored, ORPHAN) {
            for dependent in self.dependents(uid, key) {
                let others = self.references(&dependent, |reference| reference["uid"] != uid);
                let others = if others.is_empty() { Value::Null } else { others.into() };
                self.patch(&dependent, &json!({"metadata": {"ownerReferences": others}}));
            }
            self.without_finalizer(key, &metadata, ORPHAN);
        } else if has_finalizer(&stored, FOREGROUND) {
            for dependent in self.dependents(uid, key) {
                let has_dependents = self.store.get(&dependent).is_some_and(|stored| {
                    let uid = self::metadata(stored)["uid"].as_str().unwrap_or_default().to_owned();
                    self.store.dependents(&uid).next().is_some()
                });
                let is_going = self.store.get(&dependent).is_some_and(|stored| is_terminating(stored));
                if !is_going {
                    self.delete(&dependent, if has_dependents { "Foreground" } else { "Background" });
                }
            }
            let blocks = |reference: &Value| reference["uid"] == uid && reference["blockOwnerDeletion"] == true;
            let is_blocked = self.dependents(uid, key).iter().any(|key| !self.references(key, blocks).is_empty());
            if !is_blocked {
                self.without_finalizer(key, &metadata, FOREGROUND);
            }
        }
    }

    /// Deletes what is in a terminating namespace, and the namespace when nothing is left.
    fn empty(&mut self, namespace: &Key) {
        if !self.store.get(namespace).is_some_and(|stored| is_terminating(stored)) {
            return;
        }
        let is_in = |key: &Key| key.namespace() == namespace.name();
        let objects = self.store.objects().filter(|(key, stored)| is_in(key) && !is_terminating(stored));
        let objects: Vec<Key> = objects.map(|(key, _)| key.clone()).collect();
        for key in objects {
            self.delete(&key, "Background");
        }
        let is_left = self.store.objects().any(|(key, _)| is_in(key));
        if !is_left
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

    /// The objects that name an owner: all of them if it is cluster-scoped, else those of its namespace.
    fn dependents(&self, uid: &str, owner: &Key) -> Vec<Key> {
        let namespace = owner.namespace();
        let all = self.store.dependents(uid).filter(|key| namespace.is_empty() || key.namespace() == namespace);
        all.cloned().collect()
    }

    /// Some of the owner references of an object.
    fn references(&self, key: &Key, is_wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let Some(stored) = self.store.get(key) else { return Vec::new() };
        let Value::Array(references) = metadata(stored)["ownerReferences"].take() else { return Vec::new() };
        references.into_iter().filter(is_wanted).collect()
    }

    /// The owner that a reference names, if it is there with this uid.
    fn owner(&self, reference: &Value, namespace: &str) -> Option<Key> {
        let text = |key: &str| reference[key].as_str().unwrap_or_default();
        let served = self.api.of_kind(text("apiVersion"), text("kind"))?;
        let key = Key::new(&served.id, if served.namespaced { namespace } else { "" }, text("name"));
        let stored = self.store.get(&key)?;
        (metadata(stored)["uid"] == reference["uid"]).then_some(key)
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
