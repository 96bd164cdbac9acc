//! Objects by resource, namespace and name, and the history of their changes.
//!
//! A [`Store`] is persistent: a clone is free, and later changes of one do not affect the other. A server replaces the
//! store with a changed one. A list or a watch keeps the one that it started with, so readers take no lock.
//!
//! Each change creates a revision. Objects contain it as `metadata.resourceVersion`.

mod draft;
mod stored;

pub use draft::Draft;
use imbl::ordmap::DiffItem;
use imbl::{OrdMap, OrdSet, Vector};
use std::ops::Bound;
use std::sync::Arc;
pub(crate) use stored::Reading;
pub use stored::Stored;
use stored::owners;

/// The key of the stored CustomResourceDefinitions among the resources of a store.
pub const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// The location of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The resource and its group: `widgets.example.com`.
    pub resource: Arc<str>,
    /// `namespace/name`, or only the name for cluster-scoped objects.
    pub path: Arc<str>,
}

impl Key {
    /// Creates the key of an object. The namespace is empty for cluster-scoped objects.
    pub fn new(resource: &Arc<str>, namespace: &str, name: &str) -> Key {
        let path = if namespace.is_empty() { name.into() } else { format!("{namespace}/{name}").into() };
        Key { resource: Arc::clone(resource), path }
    }

    /// Returns the namespace; empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        self.path.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        self.path.split_once('/').map_or(&*self.path, |(_, name)| name)
    }
}

/// The type of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The object is new.
    Added,
    /// The object changed.
    Modified,
    /// The object was deleted.
    Deleted,
}

/// A change.
#[derive(Clone, Debug)]
pub struct Event {
    /// The type of the change.
    pub verb: Verb,
    /// The object's key.
    pub key: Key,
    /// The object afterwards; a deleted one as it was, with the revision of its deletion.
    pub object: Arc<Stored>,
    /// The object before.
    pub before: Option<Arc<Stored>>,
}

/// A pending change.
#[derive(Clone, Debug)]
pub struct Change {
    /// The object.
    pub(crate) key: Key,
    /// The expected revision of the object; `None` if it must not exist.
    pub(crate) expected: Option<u64>,
    /// The action.
    pub(crate) then: Then,
}

/// What to do with an object.
#[derive(Clone, Debug)]
pub(crate) enum Then {
    Stored(Draft),
    /// Delete it. The JSON is its last state.
    Deleted(Draft),
}

impl Change {
    /// Returns whether the object goes.
    pub(crate) fn is_deletion(&self) -> bool {
        matches!(self.then, Then::Deleted(_))
    }
}

impl Then {
    /// Returns the JSON of the object afterwards, without its revision. `None` if it is gone.
    pub(crate) fn text(&self) -> Option<Vec<u8>> {
        match self {
            Then::Stored(draft) => Some(draft.with_revision("")),
            Then::Deleted(_) => None,
        }
    }
}

/// The object changed since the request read it: retry the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the object has been modified")]
pub struct Outdated;

/// The requested revision is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the history begins after revision {oldest}")]
pub struct Forgotten {
    /// The last revision whose change was dropped.
    pub oldest: u64,
}

/// Limits of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all objects.
    pub objects: usize,
    /// Bytes of one object.
    pub object: usize,
    /// Bytes of all CustomResourceDefinitions: a server needs several times as much memory for them.
    pub definitions: usize,
    /// Changes in the history.
    pub changes: usize,
    /// Bytes of objects in the history.
    pub history: usize,
}

/// The limits of etcd: 2 GiB of objects, and 1.5 MiB for one. The limit of definitions is ours.
impl Default for Limits {
    fn default() -> Limits {
        Limits { objects: 2 << 30, object: 3 << 19, definitions: 256 << 20, changes: 100_000, history: 64 << 20 }
    }
}

/// An object is too large, or the store is full. The messages are etcd's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// The object is too large.
    #[error("etcdserver: request is too large")]
    Object,
    /// The store is full.
    #[error("etcdserver: mvcc: database space exceeded")]
    Store,
}

/// The saved content of a store.
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
/// # Example
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
    /// The objects that have owners, by the uid of each owner.
    owned: OrdSet<(Arc<str>, Key)>,
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
    /// Creates an empty store. The first revision is 1, as in etcd.
    pub fn new(limits: Limits) -> Store {
        Store {
            revision: 1,
            objects: OrdMap::new(),
            owned: OrdSet::new(),
            bytes: 0,
            definitions: 0,
            history: Vector::new(),
            history_bytes: 0,
            forgotten: 1,
            limits,
        }
    }

    /// Restores a saved store: its objects, and as much history as the limits allow.
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
        let owned = store.objects.iter().flat_map(|(key, object)| owners(object).map(|uid| (uid, key.clone())));
        store.owned = owned.collect();
        store.history_bytes = saved.history.iter().map(|event| event.object.text.len()).sum();
        store.history = saved.history.into_iter().collect();
        store.revision = saved.revision.max(store.revision);
        store.forgotten = saved.forgotten.max(store.forgotten);
        store.forget();
        store
    }

    /// Returns the same objects at the same revision, without the history.
    ///
    /// # Example
    /// ```
    /// use kubeshape_objects::store::Store;
    ///
    /// let mut store = Store::default();
    /// store.advance(7);
    /// let without = store.without_history();
    /// assert_eq!((without.revision(), without.forgotten()), (7, 7));
    /// ```
    #[must_use]
    pub fn without_history(&self) -> Store {
        let history = Vector::new();
        Store { history, history_bytes: 0, forgotten: self.revision, ..self.clone() }
    }

    /// The last revision whose change is not in the history.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Sets other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Store {
        let mut store = Store { limits, ..self };
        store.forget();
        store
    }

    /// Returns the bytes of the objects.
    pub fn bytes_of_objects(&self) -> usize {
        self.bytes
    }

    /// Returns the bytes of the objects and of the history.
    pub fn bytes(&self) -> usize {
        self.bytes + self.history_bytes
    }

    /// Returns the revision of the last change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Advances the revision: the next change gets the one after it. An earlier revision is ignored.
    pub fn advance(&mut self, revision: u64) {
        if revision > self.revision {
            self.revision = revision;
            if self.history.is_empty() {
                self.forgotten = revision;
            }
        }
    }

    /// Returns an object.
    pub fn get(&self, key: &Key) -> Option<&Arc<Stored>> {
        self.objects.get(key)
    }

    /// All objects, in the order of their keys.
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &Arc<Stored>)> {
        self.objects.iter()
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Returns the objects of a resource whose paths have a prefix and are not before another path, sorted by path:
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

    /// The objects that name an owner by its uid, in the order of their keys, after one of them if given.
    pub(crate) fn dependents<'s>(&'s self, uid: &str, after: Option<&Key>) -> impl Iterator<Item = &'s Key> + use<'s> {
        let uid: Arc<str> = uid.into();
        let start = match after {
            Some(key) => Bound::Excluded((Arc::clone(&uid), key.clone())),
            None => Bound::Included((Arc::clone(&uid), Key { resource: Arc::from(""), path: Arc::from("") })),
        };
        let range = self.owned.range((start, Bound::Unbounded));
        range.take_while(move |(owner, _)| *owner == uid).map(|(_, key)| key)
    }

    /// The first object in a namespace, or the next one after another.
    pub(crate) fn next_in_namespace(&self, namespace: &str, after: Option<&Key>) -> Option<&Key> {
        let mut start = after.map_or(Bound::Unbounded, |key| Bound::Excluded(key.clone()));
        loop {
            let (key, _) = self.objects.range((start, Bound::Unbounded)).next()?;
            if key.namespace() == namespace {
                return Some(key);
            }
            let first = Key { resource: Arc::clone(&key.resource), path: format!("{namespace}/").into() };
            start = if *key < first {
                Bound::Included(first)
            } else {
                // Names have only ASCII characters: this is behind all objects of the resource.
                Bound::Excluded(Key { resource: Arc::clone(&key.resource), path: Arc::from("\u{10ffff}") })
            };
        }
    }

    /// Returns the limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Checks that there is room for a change.
    ///
    /// # Errors
    /// There is no room.
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

    /// Applies changes. Each gets its own revision.
    ///
    /// # Errors
    /// An object does not have the expected revision. Then nothing changes.
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
        for uid in before.iter().flat_map(|before| owners(before)) {
            self.owned.remove(&(uid, change.key.clone()));
        }
        if verb != Verb::Deleted {
            self.owned.extend(owners(&object).map(|uid| (uid, change.key.clone())));
        }
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

    /// Makes the changes after which the objects are those of an earlier state. Each has its own revision, so watches
    /// see them. Unchanged objects keep their revisions.
    pub fn return_to(&mut self, earlier: &Store) {
        let mut changes = Vec::new();
        for item in self.objects.clone().diff(&earlier.objects) {
            let (key, stored, then): (&Key, &Arc<Stored>, fn(Draft) -> Then) = match item {
                DiffItem::Add(key, stored) | DiffItem::Update { new: (key, stored), .. } => (key, stored, Then::Stored),
                DiffItem::Remove(key, stored) => (key, stored, Then::Deleted),
            };
            let expected = self.get(key).map(|stored| stored.revision);
            let draft = Draft::of_stored(stored);
            changes.extend(draft.map(|draft| Change { key: key.clone(), expected, then: then(draft) }));
        }
        // Definitions are needed for their objects.
        changes.sort_by_key(|change| *change.key.resource != *DEFINITIONS);
        for change in &changes {
            self.make(change);
        }
    }

    /// Returns the changes after a revision, in order.
    ///
    /// # Errors
    /// Some of them are no longer kept.
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

    /// Returns the store at a past revision.
    ///
    /// # Errors
    /// The changes since then are no longer kept.
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
