//! Objects by resource, namespace and name, and the history of their changes.
//!
//! A [`Store`] is persistent: a clone costs nothing, and later changes of one do not change the other. A server swaps the store
//! of its readers for a changed one; a list or a watch reads the one that it began with, and no reader holds a lock.
//!
//! Each change makes a revision. The texts of objects hold it as `metadata.resourceVersion`.

use crate::api::DEFINITIONS;
use crate::derived::Derived;
use arc_swap::ArcSwapOption;
use bytes::Bytes;
use imbl::{OrdMap, Vector};
use std::sync::{Arc, OnceLock};

/// An object as it is stored.
#[derive(Debug)]
pub struct Stored {
    /// The revision of its last change.
    pub revision: u64,
    /// The object: compact JSON, keys in order, and a line break.
    text: Bytes,
    /// What lists show of it, once it was shown.
    derived: OnceLock<Box<Derived>>,
    /// What a definition made of it when it was last read.
    reading: ArcSwapOption<Reading>,
}

/// What a version of a definition makes of a stored object: it drops what it does not know, and inserts its defaults. It is made
/// at the first read, and kept with the object until the definition changes.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The version of a definition, which no other one is equal to.
    by: Arc<Reader>,
    /// What it made; none if that is what is stored.
    pub(crate) other: Option<Arc<Stored>>,
}

/// Tells a version of a definition from all others, also from what it was before.
#[derive(Debug)]
struct Reader;

impl Reading {
    /// A new reader, which reads an object as it is stored.
    pub(crate) fn as_stored() -> Arc<Reading> {
        Arc::new(Reading { by: Arc::new(Reader), other: None })
    }

    /// The same reader, which makes this of an object.
    pub(crate) fn as_other(&self, other: Arc<Stored>) -> Arc<Reading> {
        Arc::new(Reading { by: Arc::clone(&self.by), other: Some(other) })
    }
}

/// Another object of the same text and revision: nothing is known of it yet.
impl Clone for Stored {
    fn clone(&self) -> Stored {
        Stored::new(self.revision, self.text.clone())
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Stored) -> bool {
        (self.revision, &self.text) == (other.revision, &other.text)
    }
}

impl Eq for Stored {}

impl Stored {
    /// An object of a revision; its text is compact JSON with a line break, as [`line`](Self::line) gives it.
    pub fn new(revision: u64, text: Bytes) -> Stored {
        Stored { revision, text, derived: OnceLock::new(), reading: ArcSwapOption::empty() }
    }

    /// Whether a reader is known to read it as it is stored.
    pub(crate) fn is_read_as_stored(&self, reading: &Arc<Reading>) -> bool {
        self.reading.load().as_ref().is_some_and(|known| Arc::ptr_eq(known, reading))
    }

    /// What a reader made of it, if that is known.
    pub(crate) fn reading(&self, by: &Reading) -> Option<Arc<Reading>> {
        self.reading.load_full().filter(|reading| Arc::ptr_eq(&reading.by, &by.by))
    }

    /// Keeps what a reader made of it, in place of what another one made.
    pub(crate) fn keep(&self, reading: Arc<Reading>) {
        self.reading.store(Some(reading));
    }

    /// An object that is not stored, of its JSON.
    pub(crate) fn of_json(json: &[u8]) -> Stored {
        Stored::new(0, [json, b"\n"].concat().into())
    }

    pub(crate) fn derived(&self) -> &Derived {
        self.derived.get_or_init(Box::default)
    }

    /// The object as compact JSON.
    pub fn json(&self) -> Bytes {
        self.text.slice(..self.text.len().saturating_sub(1))
    }

    /// The same without a handle of its own.
    pub(crate) fn as_json(&self) -> &[u8] {
        self.text.split_last().map_or(&[], |(_, json)| json)
    }

    /// The object as compact JSON, with a line break.
    pub fn line(&self) -> Bytes {
        self.text.clone()
    }

    /// The object as a text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.text).unwrap_or_default()
    }
}

/// Where an object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The resource and its group: `widgets.example.com`.
    pub resource: Arc<str>,
    /// `namespace/name`, or the name alone for objects of the cluster.
    pub path: Arc<str>,
}

impl Key {
    /// The key of an object; without namespace for objects of the cluster.
    pub fn new(resource: &Arc<str>, namespace: &str, name: &str) -> Key {
        let path = if namespace.is_empty() { name.into() } else { format!("{namespace}/{name}").into() };
        Key { resource: Arc::clone(resource), path }
    }

    /// The namespace; empty for objects of the cluster.
    pub fn namespace(&self) -> &str {
        self.path.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.path.split_once('/').map_or(&*self.path, |(_, name)| name)
    }
}

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The object is new.
    Added,
    /// The object changed.
    Modified,
    /// The object is gone.
    Deleted,
}

/// A change.
#[derive(Clone, Debug)]
pub struct Event {
    /// What happened.
    pub verb: Verb,
    /// To which object.
    pub key: Key,
    /// The object afterwards; a deleted one as it was, with the revision of its deletion.
    pub object: Arc<Stored>,
    /// The object before.
    pub before: Option<Arc<Stored>>,
}

/// A text of an object with a place for the revision.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Compact JSON, without the revision.
    text: Vec<u8>,
    /// Where the revision belongs.
    at: usize,
    /// Who reads it as it is, if that is known.
    reading: Option<Arc<Reading>>,
}

impl Draft {
    /// Compact JSON without a revision, and the place where it belongs.
    pub(crate) fn new(text: Vec<u8>, at: usize) -> Draft {
        Draft { text, at, reading: None }
    }

    /// The same, for a reader who is known to read it as it is.
    pub(crate) fn read_as_stored(self, reading: Arc<Reading>) -> Draft {
        Draft { reading: Some(reading), ..self }
    }

    /// The text with a revision.
    pub(crate) fn with_revision(&self, revision: &str) -> Vec<u8> {
        let (before, behind) = self.text.split_at(self.at.min(self.text.len()));
        // A line break may follow. To grow for it would double the memory of every object.
        let mut text = Vec::with_capacity(self.text.len() + revision.len() + 1);
        for part in [before, revision.as_bytes(), behind] {
            text.extend_from_slice(part);
        }
        text
    }

    /// The object without a revision: one that is not stored.
    pub(crate) fn not_stored(&self) -> Arc<Stored> {
        self.object(0, self.without_revision())
    }

    fn without_revision(&self) -> Vec<u8> {
        const MEMBER: usize = "\"resourceVersion\":\"".len();
        let (mut start, mut end) = (self.at.saturating_sub(MEMBER), (self.at + 1).min(self.text.len()));
        if start > 0 && self.text.get(start - 1) == Some(&b',') {
            start -= 1;
        } else if self.text.get(end) == Some(&b',') {
            end += 1;
        }
        [&self.text[..start], &self.text[end..]].concat()
    }

    /// The object with a revision.
    pub(crate) fn stored(&self, revision: u64) -> Arc<Stored> {
        self.object(revision, self.with_revision(&revision.to_string()))
    }

    fn object(&self, revision: u64, mut text: Vec<u8>) -> Arc<Stored> {
        text.push(b'\n');
        let stored = Stored::new(revision, text.into());
        if let Some(reading) = &self.reading {
            stored.keep(Arc::clone(reading));
        }
        Arc::new(stored)
    }
}

/// A change that is not made yet.
#[derive(Clone, Debug)]
pub struct Change {
    /// The object.
    pub(crate) key: Key,
    /// The revision that the object must still have; `None` if there must be none.
    pub(crate) expected: Option<u64>,
    /// What becomes of it.
    pub(crate) then: Then,
}

/// What becomes of an object.
#[derive(Clone, Debug)]
pub(crate) enum Then {
    Stored(Draft),
    /// It goes. The text is what it was at last.
    Deleted(Draft),
}

/// The object changed since a request looked at it: the request has to be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the object has been modified")]
pub struct Outdated;

/// The revision that a reader asks for is not kept any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the history begins after revision {oldest}")]
pub struct Forgotten {
    /// The last revision whose change is not kept.
    pub oldest: u64,
}

/// How much a store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all objects. Nothing is added beyond it.
    pub objects: usize,
    /// Bytes of one object.
    pub object: usize,
    /// Bytes of all CustomResourceDefinitions: what a server makes of them takes several times as much.
    pub definitions: usize,
    /// Changes in the history.
    pub changes: usize,
    /// Bytes of objects in the history.
    pub history: usize,
}

/// As etcd's: 2 GiB of objects, and 1.5 MiB for one. Definitions are limited here only.
impl Default for Limits {
    fn default() -> Limits {
        Limits { objects: 2 << 30, object: 3 << 19, definitions: 256 << 20, changes: 100_000, history: 64 << 20 }
    }
}

/// An object that is too large, or one too many. The texts are etcd's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// The object is larger than an object may be.
    #[error("etcdserver: request is too large")]
    Object,
    /// All objects together are larger than they may be.
    #[error("etcdserver: mvcc: database space exceeded")]
    Store,
}

/// What is kept of a store when its process ends.
#[derive(Clone, Debug, Default)]
pub struct Saved {
    /// The revision of the last change.
    pub revision: u64,
    /// The last revision whose change is not in the history.
    pub forgotten: u64,
    /// The objects.
    pub objects: Vec<(Key, Arc<Stored>)>,
    /// The history, in the order of revisions.
    pub history: Vec<Event>,
}

/// The objects of a server.
///
/// # Example: a store keeps what it was
/// ```
/// use kubeshape_objects::store::Store;
///
/// let store = Store::default();
/// assert_eq!(store.revision(), 1);
/// assert!(store.events_after(1).unwrap().is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    revision: u64,
    objects: OrdMap<Key, Arc<Stored>>,
    /// Bytes of the objects.
    bytes: usize,
    /// Bytes of the definitions among them.
    definitions: usize,
    history: Vector<Event>,
    history_bytes: usize,
    /// The last revision whose change is not in the history.
    forgotten: u64,
    limits: Limits,
}

impl Default for Store {
    fn default() -> Store {
        Store::new(Limits::default())
    }
}

impl Store {
    /// A store without objects. As in etcd, the first revision is 1.
    pub fn new(limits: Limits) -> Store {
        Store {
            revision: 1,
            objects: OrdMap::new(),
            bytes: 0,
            definitions: 0,
            history: Vector::new(),
            history_bytes: 0,
            forgotten: 1,
            limits,
        }
    }

    /// A store as it was saved: with its objects, and with the history that its limits allow.
    ///
    /// # Example
    /// ```
    /// use kubeshape_objects::store::{Key, Limits, Saved, Store, Stored};
    ///
    /// let object = Stored::new(7, "{}\n".into());
    /// let key = Key::new(&"tabs.example.com".into(), "", "a");
    /// let saved = Saved { revision: 9, forgotten: 9, objects: vec![(key.clone(), object.into())], ..Saved::default() };
    /// let store = Store::restore(Limits::default(), saved);
    /// assert_eq!((store.revision(), store.get(&key).unwrap().revision), (9, 7));
    /// assert!(store.events_after(8).is_err());
    /// ```
    pub fn restore(limits: Limits, saved: Saved) -> Store {
        let mut store = Store::new(limits);
        store.bytes = saved.objects.iter().map(|(_, object)| object.text.len()).sum();
        let definitions = saved.objects.iter().filter(|(key, _)| *key.resource == *DEFINITIONS);
        store.definitions = definitions.map(|(_, object)| object.text.len()).sum();
        store.objects = saved.objects.into_iter().collect();
        store.history_bytes = saved.history.iter().map(|event| event.object.text.len()).sum();
        store.history = saved.history.into_iter().collect();
        store.revision = saved.revision.max(store.revision);
        store.forgotten = saved.forgotten.max(store.forgotten);
        store.forget();
        store
    }

    /// The last revision whose change is not in the history.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The revision of the last change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Takes a later revision as the one of the last change: the next change gets the one after it. An earlier one is ignored.
    pub fn advance(&mut self, revision: u64) {
        if revision > self.revision {
            self.revision = revision;
            if self.history.is_empty() {
                self.forgotten = revision;
            }
        }
    }

    /// An object.
    pub fn get(&self, key: &Key) -> Option<&Arc<Stored>> {
        self.objects.get(key)
    }

    /// All objects, in the order of their keys.
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &Arc<Stored>)> {
        self.objects.iter()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The objects of a resource whose paths begin with a text and are not before another one, in the order of their paths:
    /// `"default/"` for a namespace, `""` for all.
    pub fn list<'s>(
        &'s self,
        resource: &Arc<str>,
        prefix: &'s str,
        from: &str,
    ) -> impl Iterator<Item = (&'s Key, &'s Arc<Stored>)> + use<'s> {
        let start = if from > prefix { from } else { prefix };
        let first = Key { resource: Arc::clone(resource), path: start.into() };
        let resource = Arc::clone(resource);
        let range = self.objects.range(first..);
        range.take_while(move |(key, _)| key.resource == resource && key.path.starts_with(prefix))
    }

    /// Whether there is room for a change.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn has_room(&self, change: &Change) -> Result<(), Full> {
        let Then::Stored(draft) = &change.then else { return Ok(()) };
        if draft.text.len() > self.limits.object {
            return Err(Full::Object);
        }
        let old = self.get(&change.key).map_or(0, |old| old.text.len());
        let after = (self.bytes + draft.text.len()).saturating_sub(old);
        let is_definition = *change.key.resource == *DEFINITIONS;
        let definitions = (self.definitions + draft.text.len()).saturating_sub(old);
        let is_full = after > self.limits.objects || (is_definition && definitions > self.limits.definitions);
        if is_full && draft.text.len() > old { Err(Full::Store) } else { Ok(()) }
    }

    /// Makes changes, each with a revision of its own.
    ///
    /// # Errors
    /// An object is not what a change expects. Then nothing changes.
    pub fn commit(&mut self, changes: &[Change]) -> Result<Vec<Arc<Stored>>, Outdated> {
        let is_current = |change: &Change| self.get(&change.key).map(|stored| stored.revision) == change.expected;
        if !changes.iter().all(is_current) {
            return Err(Outdated);
        }
        Ok(changes.iter().map(|change| self.make(change)).collect())
    }

    fn make(&mut self, change: &Change) -> Arc<Stored> {
        self.revision += 1;
        let key = change.key.clone();
        let (verb, object, before) = match &change.then {
            Then::Stored(draft) => {
                let object = draft.stored(self.revision);
                let before = self.objects.insert(key.clone(), Arc::clone(&object));
                (if before.is_some() { Verb::Modified } else { Verb::Added }, object, before)
            }
            Then::Deleted(draft) => (Verb::Deleted, draft.stored(self.revision), self.objects.remove(&key)),
        };
        let before_bytes = before.as_ref().map_or(0, |before: &Arc<Stored>| before.text.len());
        let after = if verb == Verb::Deleted { 0 } else { object.text.len() };
        self.bytes = (self.bytes + after).saturating_sub(before_bytes);
        if *change.key.resource == *DEFINITIONS {
            self.definitions = (self.definitions + after).saturating_sub(before_bytes);
        }
        self.history_bytes += object.text.len();
        self.history.push_back(Event { verb, key, object: Arc::clone(&object), before });
        self.forget();
        object
    }

    fn forget(&mut self) {
        while self.history.len() > self.limits.changes || self.history_bytes > self.limits.history {
            let Some(oldest) = self.history.pop_front() else { break };
            self.history_bytes = self.history_bytes.saturating_sub(oldest.object.text.len());
            self.forgotten = oldest.object.revision;
        }
    }

    /// The changes after a revision, in their order.
    ///
    /// # Errors
    /// Some of them are not kept any more.
    pub fn events_after(&self, revision: u64) -> Result<Vector<Event>, Forgotten> {
        if revision < self.forgotten {
            return Err(Forgotten { oldest: self.forgotten });
        }
        let (mut low, mut high) = (0, self.history.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.history.get(middle) {
                Some(event) if event.object.revision <= revision => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(self.history.skip(low))
    }

    /// The store as it was at a revision.
    ///
    /// # Errors
    /// The changes since then are not kept any more.
    pub fn at(&self, revision: u64) -> Result<Store, Forgotten> {
        let mut old = self.clone();
        for event in self.events_after(revision)?.iter().rev() {
            match &event.before {
                Some(before) => old.objects.insert(event.key.clone(), Arc::clone(before)),
                None => old.objects.remove(&event.key),
            };
        }
        old.revision = revision.min(self.revision);
        Ok(old)
    }
}
