//! What the server publishes, as a function of the files it was given: bytes in, immutable snapshots out, at a cost
//! that follows the size of a change. Reads no file and no clock.
//!
//! A file holds any number of CustomResourceDefinitions, lists of them and OpenAPI documents. What is published depends on
//! the files alone, not on the order in which they came:
//!
//! - Of several CustomResourceDefinitions of one name the first counts, by name of the file, then by place in it. Of two that
//!   ask for one name in their group, the first has it, and the other one is not published (condition `NamesAccepted` of apiextensions-apiserver `pkg/controller/status`).
//! - A group version that CustomResourceDefinitions make hides one of an input's document, of the base and of
//!   downstream servers, in this order.
//! - Two definitions of one name within a group version (which the names above rule out, but for lists) leave the group
//!   version without a document; kube-apiserver keeps its document of before.
//! - A version that is no longer served loses its document; kube-apiserver keeps it until the CustomResourceDefinition is
//!   deleted.
//!
//! The exception is a file that cannot be read: it keeps what it held when it was last whole. One that never was publishes
//! what can be read of it.

mod base;
mod groups;
mod parallel;
mod paths;
mod read;
mod remotes;
mod v2;

pub use base::{BaseDocuments, BaseError};

use crate::body::Tags;
use crate::document::Document;
use crate::pieces::Pieces;
use crate::remote::RemoteState;
use crate::snapshot::Snapshot;
use base::Documents;
use bytes::Bytes;
use groups::GroupKey;
use kubeshape_convert::graph::split;
use kubeshape_discovery::GroupVersion;
use kubeshape_input::Finding;
use kubeshape_publish::{Base, Options, Profile, Publisher};
use paths::Members;
use read::{Content, OpenApi, Resource};
use remotes::{Part, Remote, path_of};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

/// How a store publishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreOptions {
    /// Whether upstream's faults are kept in documents.
    pub profile: Profile,
    /// How large documents are named in their ETags.
    pub tags: Tags,
}

/// A file that came, changed or went.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its name; files are ordered by it.
    pub name: Arc<str>,
    /// What it holds; `None` if it is gone.
    pub content: Option<Bytes>,
}

/// What became of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is new.
    Added,
    /// It has another content.
    Changed,
    /// It is gone.
    Removed,
}

/// What a change led to.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// v3 documents that changed, by path, with their reasons.
    pub documents: Vec<(Arc<str>, Reason)>,
    /// Groups whose discovery changed.
    pub groups: Vec<Arc<str>>,
    /// What there is to say about the changed files and about the names that definitions ask for.
    pub findings: Vec<Finding>,
    /// All files that cannot be read now, with the first reason of each.
    pub broken: Vec<Finding>,
    /// Whether there is a new snapshot.
    pub changed: bool,
}

/// Group versions that documents show, by the place of the document and the one in it.
type DocumentVersions = BTreeMap<(Place, usize), Arc<GroupVersion>>;

/// The path of the v2 document.
const V2: &str = "openapi/v2";

/// Name of a file and place in it.
type Place = (Arc<str>, usize);

/// A file.
#[derive(Debug, Default)]
struct File {
    bytes: Bytes,
    /// What is published of it.
    content: Content,
    /// Whether `content` was whole.
    was_whole: bool,
    /// Why the newest content is not published.
    broken: Vec<Finding>,
}

/// What a server publishes. See the [module](self).
///
/// # Example
/// ```
/// use kubeshape_server::{BaseDocuments, Change, Store, StoreOptions};
/// use std::time::SystemTime;
///
/// let mut store = Store::new(BaseDocuments::default(), StoreOptions::default(), SystemTime::UNIX_EPOCH)?;
/// let file = "
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: crontabs.example.com}
/// spec:
///   group: example.com
///   scope: Namespaced
///   names: {plural: crontabs, kind: CronTab}
///   versions:
///   - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
/// ";
/// let change = Change { name: "crontab.yaml".into(), content: Some(file.into()) };
/// let applied = store.apply(vec![change], SystemTime::UNIX_EPOCH);
/// assert!(applied.findings.is_empty());
/// let snapshot = store.snapshot();
/// assert!(snapshot.v3.contains_key("apis/example.com/v1"));
/// assert!(snapshot.index.json().to_bytes().starts_with(br#"{"paths":{"apis/example.com/v1":{"serverRelativeURL":"#));
/// let v2 = snapshot.v2.as_ref().as_ref().unwrap();
/// assert!(v2.json().len() > 1000);
/// # Ok::<(), kubeshape_server::BaseError>(())
/// ```
#[derive(Debug)]
pub struct Store {
    options: StoreOptions,
    publisher: Arc<Publisher>,
    base: Documents,
    files: BTreeMap<Arc<str>, File>,
    /// Those that cannot be read.
    broken: BTreeSet<Arc<str>>,
    /// All definitions by their names.
    names: BTreeMap<Arc<str>, BTreeMap<Place, Arc<Resource>>>,
    /// Those that count, by group.
    claims: BTreeMap<Arc<str>, BTreeMap<Place, Arc<Resource>>>,
    /// Where those that count stand: their groups and places.
    counting: BTreeMap<Arc<str>, (Arc<str>, Place)>,
    /// Those that are published, by group and name.
    group_members: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Arc<Resource>>>,
    /// Those that are published, by name.
    published: imbl::OrdMap<Arc<str>, Arc<Resource>>,
    /// The same by path of their group versions, with the place among their versions.
    members: BTreeMap<Arc<str>, Members>,
    /// What there is to say about the names that definitions of a group ask for.
    conflicts: BTreeMap<Arc<str>, Vec<Finding>>,
    /// The same of definitions that have one name.
    duplicates: BTreeMap<Arc<str>, Vec<Finding>>,
    /// The same of group versions that define one name twice.
    merge_conflicts: BTreeMap<Arc<str>, Finding>,
    /// Documents of inputs by path.
    documents: BTreeMap<Arc<str>, BTreeMap<Place, Arc<Document>>>,
    /// What there is to say about those that another one hides, by path.
    hidden: BTreeMap<Arc<str>, Vec<Finding>>,
    /// The group versions that they show, by group.
    document_groups: BTreeMap<Arc<str>, DocumentVersions>,
    v2_documents: BTreeMap<Place, Bytes>,
    /// By position, then by name.
    remotes: BTreeMap<(usize, Arc<str>), Remote>,
    /// What they add to the v2 document.
    parts: Arc<[Part]>,
    index: Pieces<Arc<str>>,
    aggregated: Pieces<GroupKey>,
    v2: Arc<v2::Merging>,
    snapshot: Arc<Snapshot>,
}

/// What has to be looked at again.
#[derive(Debug, Default)]
struct Touched {
    /// CustomResourceDefinitions.
    names: BTreeSet<Arc<str>>,
    groups: BTreeSet<Arc<str>>,
    paths: BTreeSet<Arc<str>>,
    /// Paths of documents of inputs.
    documents: BTreeSet<Arc<str>>,
    v2: bool,
    /// What downstream servers add to the v2 document.
    parts: bool,
}

impl Touched {
    /// A group version in discovery, which also decides who answers for its document.
    fn group_version(&mut self, group: &Arc<str>, version: &str) {
        self.groups.insert(Arc::clone(group));
        self.paths.insert(path_of(group, version));
    }

    /// A document, which also decides whose group version is shown.
    fn document(&mut self, path: &Arc<str>) {
        self.documents.insert(Arc::clone(path));
        self.paths.insert(Arc::clone(path));
        if let Some((group, _)) = split::group_version(path) {
            self.groups.insert(group.into());
        }
    }
}

impl Store {
    /// A store without files.
    ///
    /// # Errors
    /// A document of the base cannot be used.
    pub fn new(base: BaseDocuments, options: StoreOptions, now: SystemTime) -> Result<Store, BaseError> {
        let (documents, sources) = Documents::read(base, options.profile, now)?;
        let definitions = if sources.is_empty() { Base::builtin() } else { Base::from_documents(&sources)? };
        let publisher =
            Arc::new(Publisher::new(definitions, Options { profile: options.profile, ..Options::default() }));
        let v2 = Arc::new(v2::Merging::new(documents.v2.as_ref())?);
        let snapshot = paths::empty(&documents, options.tags, now);
        let mut store = Store {
            options,
            publisher,
            files: BTreeMap::new(),
            broken: BTreeSet::new(),
            names: BTreeMap::new(),
            claims: BTreeMap::new(),
            counting: BTreeMap::new(),
            group_members: BTreeMap::new(),
            published: imbl::OrdMap::new(),
            members: BTreeMap::new(),
            conflicts: BTreeMap::new(),
            duplicates: BTreeMap::new(),
            merge_conflicts: BTreeMap::new(),
            documents: BTreeMap::new(),
            hidden: BTreeMap::new(),
            document_groups: BTreeMap::new(),
            v2_documents: BTreeMap::new(),
            remotes: BTreeMap::new(),
            parts: Arc::new([]),
            index: Pieces::new(64),
            aggregated: Pieces::new(64),
            v2,
            snapshot: Arc::new(snapshot),
            base: documents,
        };
        let mut touched = Touched { v2: true, ..Touched::default() };
        touched.paths.extend(store.base.v3.keys().cloned());
        touched.groups.extend(store.base.groups.keys().cloned());
        store.publish(touched, now);
        Ok(store)
    }

    /// What is published now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    /// Everything there is to say about the files that are there.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        let of_files = self.files.values().flat_map(|file| file.content.findings.iter().chain(&file.broken));
        let of_names = self.duplicates.values().chain(self.conflicts.values()).chain(self.hidden.values()).flatten();
        self.base.findings.iter().chain(of_files).chain(of_names).chain(self.merge_conflicts.values())
    }

    /// How many CustomResourceDefinitions are published.
    pub fn published(&self) -> usize {
        self.published.len()
    }

    /// Takes changes of files over. All of them are visible in the next snapshot, or none.
    pub fn apply(&mut self, changes: Vec<Change>, now: SystemTime) -> Applied {
        let mut applied = Applied::default();
        let mut touched = Touched::default();
        let publisher = &self.publisher;
        let contents = parallel::map(&changes, |change| {
            let bytes = change.content.as_ref()?;
            let is_same = self.files.get(&change.name).is_some_and(|file| file.bytes == *bytes);
            // Of several changes of one file all but the first may differ from what is there.
            (!is_same).then(|| read::read(&change.name, bytes, publisher, now))
        });
        for (change, content) in changes.into_iter().zip(contents) {
            self.change(change, content, now, &mut touched, &mut applied);
        }
        let names = std::mem::take(&mut touched.names);
        let groups = self.settle_names(&names);
        applied.findings.extend(names.iter().filter_map(|name| self.duplicates.get(name)).flatten().cloned());
        for group in groups {
            self.settle_group(&group, &mut touched);
            applied.findings.extend(self.conflicts.get(&group).into_iter().flatten().cloned());
        }
        for path in std::mem::take(&mut touched.documents) {
            self.settle_document(&path);
            applied.findings.extend(self.hidden.get(&path).into_iter().flatten().cloned());
        }
        let paths = touched.paths.clone();
        let before = Arc::clone(&self.snapshot);
        let (documents, groups) = self.publish(touched, now);
        applied.findings.extend(paths.iter().filter_map(|path| self.merge_conflicts.get(path)).cloned());
        applied.changed = !Arc::ptr_eq(&before, &self.snapshot);
        (applied.documents, applied.groups) = (documents, groups);
        let broken = self.broken.iter().filter_map(|name| self.files.get(name)?.broken.first());
        applied.broken = broken.cloned().collect();
        applied
    }

    /// Takes a change over; `content` is what was read of it, if it differs from what was there.
    fn change(
        &mut self,
        change: Change,
        content: Option<Content>,
        now: SystemTime,
        touched: &mut Touched,
        applied: &mut Applied,
    ) {
        let Change { name, content: bytes } = change;
        let Some(bytes) = bytes else {
            self.broken.remove(&name);
            if let Some(file) = self.files.remove(&name) {
                self.remove(&name, &file.content, touched);
            }
            return;
        };
        if self.files.get(&name).is_some_and(|file| file.bytes == bytes) {
            return;
        }
        let content = content.unwrap_or_else(|| read::read(&name, &bytes, &self.publisher, now));
        applied.findings.extend(content.findings.iter().cloned());
        let mut file = self.files.remove(&name).unwrap_or_default();
        let is_whole = !content.is_broken();
        file.bytes = bytes;
        file.broken = content.findings.iter().filter(|finding| finding.is_error()).cloned().collect();
        if is_whole {
            self.broken.remove(&name);
        } else {
            self.broken.insert(Arc::clone(&name));
        }
        if is_whole || !file.was_whole {
            self.remove(&name, &file.content, touched);
            self.add(&name, &content, touched);
            file.content = content;
            file.content.findings.retain(|finding| !finding.is_error());
            file.was_whole |= is_whole;
        }
        self.files.insert(name, file);
    }

    fn add(&mut self, file: &Arc<str>, content: &Content, touched: &mut Touched) {
        for (i, resource) in content.resources.iter().enumerate() {
            let name = Arc::clone(&resource.name);
            touched.names.insert(Arc::clone(&name));
            self.names.entry(name).or_default().insert((Arc::clone(file), i), Arc::clone(resource));
        }
        for (i, document) in content.documents.iter().enumerate() {
            let place = (Arc::clone(file), i);
            match document {
                OpenApi::V3(path, document, groups) => {
                    for (n, (group, version)) in groups.iter().enumerate() {
                        touched.group_version(group, &version.version);
                        let versions = self.document_groups.entry(Arc::clone(group)).or_default();
                        versions.insert((place.clone(), n), Arc::clone(version));
                    }
                    let path = path.clone().or_else(|| base::path_of_file(file)).unwrap_or_else(|| Arc::clone(file));
                    touched.document(&path);
                    self.documents.entry(path).or_default().insert(place, Arc::clone(document));
                }
                OpenApi::V2(json) => {
                    touched.v2 = true;
                    touched.documents.insert(V2.into());
                    self.v2_documents.insert(place, json.clone());
                }
            }
        }
    }

    fn remove(&mut self, file: &Arc<str>, content: &Content, touched: &mut Touched) {
        for (i, resource) in content.resources.iter().enumerate() {
            touched.names.insert(Arc::clone(&resource.name));
            if let Some(places) = self.names.get_mut(&resource.name) {
                places.remove(&(Arc::clone(file), i));
                if places.is_empty() {
                    self.names.remove(&resource.name);
                }
            }
        }
        for (i, document) in content.documents.iter().enumerate() {
            let place = (Arc::clone(file), i);
            match document {
                OpenApi::V3(path, _, groups) => {
                    for (n, (group, version)) in groups.iter().enumerate() {
                        touched.group_version(group, &version.version);
                        if let Some(versions) = self.document_groups.get_mut(group) {
                            versions.remove(&(place.clone(), n));
                        }
                    }
                    let path = path.clone().or_else(|| base::path_of_file(file)).unwrap_or_else(|| Arc::clone(file));
                    if let Some(places) = self.documents.get_mut(&path) {
                        places.remove(&place);
                        if places.is_empty() {
                            self.documents.remove(&path);
                        }
                    }
                    touched.document(&path);
                }
                OpenApi::V2(_) => {
                    touched.v2 = true;
                    touched.documents.insert(V2.into());
                    self.v2_documents.remove(&place);
                }
            }
        }
    }

    /// Takes over what a downstream server publishes now.
    pub fn set_remote(&mut self, state: RemoteState, now: SystemTime) -> Applied {
        let mut touched = self.take_remote(&state.name);
        let place = (state.position, Arc::clone(&state.name));
        let remote = Remote::new(state);
        remote.touch(&mut touched);
        self.remotes.insert(place, remote);
        self.apply_remote(touched, now)
    }

    /// Forgets a downstream server.
    pub fn remove_remote(&mut self, name: &str, now: SystemTime) -> Applied {
        let touched = self.take_remote(name);
        self.apply_remote(touched, now)
    }

    fn take_remote(&mut self, name: &str) -> Touched {
        let mut touched = Touched::default();
        self.remotes.retain(|(_, other), remote| {
            let is_it = **other == *name;
            if is_it {
                remote.touch(&mut touched);
            }
            !is_it
        });
        touched
    }

    fn apply_remote(&mut self, touched: Touched, now: SystemTime) -> Applied {
        let before = Arc::clone(&self.snapshot);
        let (documents, groups) = self.publish(touched, now);
        Applied { changed: !Arc::ptr_eq(&before, &self.snapshot), documents, groups, ..Applied::default() }
    }
}
