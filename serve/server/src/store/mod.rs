//! What the server publishes, as a function of the input files: bytes in, immutable snapshots out. The cost of a change
//! depends on the size of the change. A store does not read files or the clock.
//!
//! A file has any number of CustomResourceDefinitions, lists of them, and OpenAPI documents. What is published depends
//! only on the files, not on the order in which they were read:
//!
//! - If several CustomResourceDefinitions have the same name, the first one is used, by name of the file and then by
//!   position in the file. If two claim the same name in a group, the first one gets it, and the other one is not
//!   published (condition `NamesAccepted`, apiextensions-apiserver `pkg/controller/status`).
//! - A group version of CustomResourceDefinitions takes precedence over those of documents of inputs, of the base and
//!   of downstream servers, in this order.
//! - If a group version defines a name twice (with the rules above, this is only possible for lists), it has no
//!   document. kube-apiserver keeps its earlier document.
//! - A version that is no longer served has no document. kube-apiserver keeps the document until the
//!   CustomResourceDefinition is deleted.
//!
//! The exception is a file that cannot be read: its last good content is used. If there is none, the parts that can be
//! read are published.

mod base;
mod groups;
mod index;
mod parallel;
mod paths;
mod read;
mod remotes;
mod v2;

pub use base::{BaseDocuments, BaseError};
use index::DocumentAddress;
pub use index::Index;

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
use kubeshape_schema::Release;
use paths::Members;
use read::{Content, OpenApi, Resource};
use remotes::{Part, Remote, path_of};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

/// Options of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreOptions {
    /// Whether to reproduce upstream's faults in documents.
    pub profile: Profile,
    /// How ETags of large documents are computed.
    pub tags: Tags,
    /// Whether `meta.k8s.io/v1` is published: the kinds to which all resources can be converted.
    pub generic_kinds: bool,
    /// The release whose documents are published if there is no base.
    pub release: Release,
}

/// A file that is new, changed or deleted.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its name. Files are sorted by name.
    pub name: Arc<str>,
    /// Its content; `None` if it was deleted.
    pub content: Option<Bytes>,
}

/// The source of the CustomResourceDefinition of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// From the files.
    OfFiles,
    /// It is given, as JSON. Those of files are ignored.
    Given(Bytes),
    /// It is missing, regardless of the files.
    Gone,
}

/// How a document changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is new.
    Added,
    /// Its content changed.
    Changed,
    /// It was removed.
    Removed,
}

/// The effect of a change.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// v3 documents that changed, by path, with their reasons.
    pub documents: Vec<(Arc<str>, Reason)>,
    /// Groups whose discovery changed.
    pub groups: Vec<Arc<str>>,
    /// Findings about the changed files and about the names that CustomResourceDefinitions claim.
    pub findings: Vec<Finding>,
    /// The first finding of each file that cannot be read now.
    pub broken: Vec<Finding>,
    /// Whether there is a new snapshot.
    pub changed: bool,
    /// Refused changes, with the quality of their contents. They are forgotten.
    pub refused: Vec<(Change, Quality)>,
    /// Changes to unreadable contents: the last good content of the file is published.
    pub kept: Vec<Change>,
}

impl Applied {
    /// Returns whether the content of a change is published, or its deletion.
    pub fn has_taken(&self, change: &Change) -> bool {
        let is_it = |other: &Change| other.name == change.name && other.content == change.content;
        !self.refused.iter().any(|(other, _)| is_it(other)) && !self.kept.iter().any(is_it)
    }
}

/// The quality of the new content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// All of it can be read. A deleted file and an unchanged content are also whole.
    Whole,
    /// Something in it cannot be read.
    Broken,
    /// It has nothing to publish, and the file had something before.
    Empty,
}

/// Group versions of documents, by the place of the document and the index in it.
type DocumentVersions = BTreeMap<(Place, usize), Arc<GroupVersion>>;

/// Returns the placeholder for the file name of a CustomResourceDefinition that a client wrote.
fn given(name: &str) -> Arc<str> {
    format!("the stored {name}").into()
}

/// The path of the v2 document.
const V2: &str = "openapi/v2";

/// The name of a file and the index in it.
type Place = (Arc<str>, usize);

/// A file.
#[derive(Clone, Debug, Default)]
struct File {
    bytes: Bytes,
    /// The published content.
    content: Content,
    /// Whether all of `content` could be read.
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
/// assert!(snapshot.index.document().json().to_bytes().starts_with(br#"{"paths":{"apis/example.com/v1":{"serverRelativeURL":"#));
/// let v2 = snapshot.v2.as_ref().as_ref().unwrap();
/// assert!(v2.json().len() > 1000);
/// # Ok::<(), kubeshape_server::BaseError>(())
/// ```
///
/// Changes of a clone do not affect the original; both share unchanged parts.
#[derive(Clone, Debug)]
pub struct Store {
    options: StoreOptions,
    /// The release of Kubernetes whose documents are the base, if it is not that of a cluster.
    release: Option<Release>,
    publisher: Arc<Publisher>,
    base: Documents,
    files: BTreeMap<Arc<str>, File>,
    /// Files that cannot be read.
    broken: BTreeSet<Arc<str>>,
    /// Names of CustomResourceDefinitions that do not come from files.
    given: BTreeSet<Arc<str>>,
    /// All CustomResourceDefinitions by name.
    names: BTreeMap<Arc<str>, BTreeMap<Place, Arc<Resource>>>,
    /// Those that are used, by group.
    claims: BTreeMap<Arc<str>, BTreeMap<Place, Arc<Resource>>>,
    /// The groups and places of those that are used.
    counting: BTreeMap<Arc<str>, (Arc<str>, Place)>,
    /// Those that are published, by group and name.
    group_members: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Arc<Resource>>>,
    /// Those that are published, by name.
    published: imbl::OrdMap<Arc<str>, Arc<Resource>>,
    /// The same by path of their group versions, with the index of the version.
    members: BTreeMap<Arc<str>, Members>,
    /// Findings about the names that the CustomResourceDefinitions of a group claim.
    conflicts: BTreeMap<Arc<str>, Vec<Finding>>,
    /// Findings about CustomResourceDefinitions with the same name.
    duplicates: BTreeMap<Arc<str>, Vec<Finding>>,
    /// Findings about group versions that define a name twice.
    merge_conflicts: BTreeMap<Arc<str>, Finding>,
    /// Documents of inputs by path.
    documents: BTreeMap<Arc<str>, BTreeMap<Place, Arc<Document>>>,
    /// Findings about documents that another one hides, by path.
    hidden: BTreeMap<Arc<str>, Vec<Finding>>,
    /// The group versions of documents, by group.
    document_groups: BTreeMap<Arc<str>, DocumentVersions>,
    v2_documents: BTreeMap<Place, Bytes>,
    /// Downstream servers by position, then by name.
    remotes: BTreeMap<(usize, Arc<str>), Remote>,
    /// Their parts of the v2 document.
    parts: Arc<[Part]>,
    /// Where the v3 documents are, by path.
    addresses: BTreeMap<Arc<str>, DocumentAddress>,
    aggregated: Pieces<GroupKey>,
    v2: v2::Merging,
    snapshot: Arc<Snapshot>,
}

/// The effects of a change.
#[derive(Debug, Default)]
struct Affected {
    /// CustomResourceDefinitions.
    names: BTreeSet<Arc<str>>,
    groups: BTreeSet<Arc<str>>,
    paths: BTreeSet<Arc<str>>,
    /// Paths of documents of inputs.
    documents: BTreeSet<Arc<str>>,
    v2: bool,
    /// The parts of downstream servers in the v2 document.
    parts: bool,
}

impl Affected {
    /// Marks a group version in discovery, which also decides the source of responses for its document.
    fn group_version(&mut self, group: &Arc<str>, version: &str) {
        self.groups.insert(Arc::clone(group));
        self.paths.insert(path_of(group, version));
    }

    /// Marks a document, which also decides whose group version discovery shows.
    fn document(&mut self, path: &Arc<str>) {
        self.documents.insert(Arc::clone(path));
        self.paths.insert(Arc::clone(path));
        if let Some((group, _)) = split::group_version(path) {
            self.groups.insert(group.into());
        }
    }
}

impl Store {
    /// Creates a store without files.
    ///
    /// # Errors
    /// A document of the base cannot be used.
    pub fn new(base: BaseDocuments, options: StoreOptions, now: SystemTime) -> Result<Store, BaseError> {
        let release = base.release;
        let (mut documents, sources) = Documents::read(base, options, now)?;
        if options.generic_kinds {
            documents.add_generic_kinds(now);
        }
        let definitions = match sources.is_empty() {
            true => Base::builtin_of(options.release),
            false if release.is_some() => Base::of_release(&sources, false)?,
            false => Base::from_documents(&sources)?,
        };
        let publisher =
            Arc::new(Publisher::new(definitions, Options { profile: options.profile, ..Options::default() }));
        let v2 = v2::Merging::new(documents.v2.as_ref(), options)?;
        let served = release.or(publisher.base().named_release()).unwrap_or(publisher.base().release());
        let snapshot = paths::empty(&documents, served, options.tags, now);
        let mut store = Store {
            options,
            release,
            publisher,
            files: BTreeMap::new(),
            broken: BTreeSet::new(),
            given: BTreeSet::new(),
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
            addresses: BTreeMap::new(),
            aggregated: Pieces::new(64),
            v2,
            snapshot: Arc::new(snapshot),
            base: documents,
        };
        let mut touched = Affected { v2: true, ..Affected::default() };
        touched.paths.extend(store.base.v3.keys().cloned());
        touched.groups.extend(store.base.groups.keys().cloned());
        store.publish(touched, now);
        Ok(store)
    }

    /// The release whose documents are the base. For those of a cluster it is that of its `/version`, else the one that
    /// its OpenAPI documents name. `None` if neither names one that is known.
    pub fn release(&self) -> Option<Release> {
        let version =
            self.base.version.as_deref().and_then(|text| serde_json::from_slice::<serde_json::Value>(text).ok());
        let named = version.and_then(|version| version["gitVersion"].as_str()?.parse().ok());
        named.or(self.release).or(self.publisher.base().named_release())
    }

    /// Returns the current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    /// All findings about the current files.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        let of_files = self.files.values().flat_map(|file| file.content.findings.iter().chain(&file.broken));
        let of_names = self.duplicates.values().chain(self.conflicts.values()).chain(self.hidden.values()).flatten();
        self.base.findings.iter().chain(of_files).chain(of_names).chain(self.merge_conflicts.values())
    }

    /// Returns the number of published CustomResourceDefinitions.
    pub fn published(&self) -> usize {
        self.published.len()
    }

    /// Applies changes of files. The next snapshot has all of them.
    pub fn apply(&mut self, changes: Vec<Change>, now: SystemTime) -> Applied {
        self.apply_if(changes, now, |_| true)
    }

    /// Applies the changes of files whose contents `accept` accepts, and returns the others.
    pub fn apply_if(&mut self, changes: Vec<Change>, now: SystemTime, accept: impl Fn(Quality) -> bool) -> Applied {
        self.apply_to(Affected::default(), changes, now, accept)
    }

    /// Sets the sources of CustomResourceDefinitions: clients that wrote or deleted them, or files again.
    pub fn define(&mut self, definitions: Vec<(Arc<str>, Definition)>, now: SystemTime) -> Applied {
        let mut touched = Affected::default();
        let changes = definitions.into_iter().map(|(name, definition)| {
            touched.names.insert(Arc::clone(&name));
            let change = |content| Change { name: given(&name), content };
            match definition {
                Definition::OfFiles => {
                    self.given.remove(&name);
                    change(None)
                }
                Definition::Given(text) => {
                    self.given.insert(Arc::clone(&name));
                    change(Some(text))
                }
                Definition::Gone => {
                    self.given.insert(Arc::clone(&name));
                    change(None)
                }
            }
        });
        let changes = changes.collect();
        self.apply_to(touched, changes, now, |_| true)
    }

    fn apply_to(
        &mut self,
        mut touched: Affected,
        changes: Vec<Change>,
        now: SystemTime,
        accept: impl Fn(Quality) -> bool,
    ) -> Applied {
        let mut applied = Applied::default();
        let publisher = &self.publisher;
        let contents = parallel::map(&changes, |change| {
            let bytes = change.content.as_ref()?;
            let is_same = self.files.get(&change.name).is_some_and(|file| file.bytes == *bytes);
            // If a file changes several times, only the first change can be compared with the current content.
            (!is_same).then(|| read::read(&change.name, bytes, publisher, now))
        });
        for (change, content) in changes.into_iter().zip(contents) {
            let quality = self.quality(&change, content.as_ref());
            if !accept(quality) {
                applied.refused.push((change, quality));
                continue;
            }
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

    /// Returns whether something in a file can be published.
    pub fn has_content(&self, name: &str) -> bool {
        self.files.get(name).is_some_and(|file| !file.content.is_empty())
    }

    fn quality(&self, change: &Change, content: Option<&Content>) -> Quality {
        match content {
            Some(content) if content.is_broken() => Quality::Broken,
            Some(content) if content.is_empty() && self.has_content(&change.name) => Quality::Empty,
            _ => Quality::Whole,
        }
    }

    /// Applies a change. `content` is the new content, if it differs from the current one.
    fn change(
        &mut self,
        change: Change,
        content: Option<Content>,
        now: SystemTime,
        touched: &mut Affected,
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
        if !is_whole && file.was_whole {
            applied.kept.push(Change { name: Arc::clone(&name), content: Some(file.bytes.clone()) });
        } else {
            self.remove(&name, &file.content, touched);
            self.add(&name, &content, touched);
            file.content = content;
            file.content.findings.retain(|finding| !finding.is_error());
            file.was_whole |= is_whole;
        }
        self.files.insert(name, file);
    }

    fn add(&mut self, file: &Arc<str>, content: &Content, touched: &mut Affected) {
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

    fn remove(&mut self, file: &Arc<str>, content: &Content, touched: &mut Affected) {
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

    /// Sets the state of a downstream server.
    pub fn set_remote(&mut self, state: RemoteState, now: SystemTime) -> Applied {
        let mut touched = self.take_remote(&state.name);
        let place = (state.position, Arc::clone(&state.name));
        let remote = Remote::new(state);
        remote.touch(&mut touched);
        self.remotes.insert(place, remote);
        self.apply_remote(touched, now)
    }

    /// Removes a downstream server.
    pub fn remove_remote(&mut self, name: &str, now: SystemTime) -> Applied {
        let touched = self.take_remote(name);
        self.apply_remote(touched, now)
    }

    fn take_remote(&mut self, name: &str) -> Affected {
        let mut touched = Affected::default();
        self.remotes.retain(|(_, other), remote| {
            let is_it = **other == *name;
            if is_it {
                remote.touch(&mut touched);
            }
            !is_it
        });
        touched
    }

    fn apply_remote(&mut self, touched: Affected, now: SystemTime) -> Applied {
        let before = Arc::clone(&self.snapshot);
        let (documents, groups) = self.publish(touched, now);
        Applied { changed: !Arc::ptr_eq(&before, &self.snapshot), documents, groups, ..Applied::default() }
    }
}
