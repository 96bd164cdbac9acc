//! The v2 document, merged on demand from parts that are kept.
//!
//! As long as no names of resources collide, a change affects only the members of its resources. Otherwise the document
//! is merged as a whole, like by `MergeV2::finish_into`, which also defines the result.
//!
//! The parts of downstream servers are merged into the result, again as a whole when one of them changed.

use super::StoreOptions;
use super::base::BaseError;
use super::parallel;
use super::read::Resource;
use super::remotes::Part;
use crate::aggregate::merge_v2;
use crate::body::Segment;
use crate::document::Document;
use crate::pieces::{Name, Pieces};
use crate::snapshot::LazyV2;
use bytes::Bytes;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use kubeshape_objects::generic_kinds;
use kubeshape_publish::{
    Destination, MergeError, MergeV2, Overlay, Profile, Publisher, Section, SharedParts, V2Fragments,
};
use kubeshape_schema::{Dialect, Release};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

/// Returns the document of a server without one.
fn nothing(release: Release) -> Bytes {
    let release = release.without_patch();
    format!(r#"{{"swagger":"2.0","info":{{"title":"Kubernetes","version":"{release}"}},"paths":{{}}}}"#).into()
}

type Resources = OrdMap<Arc<str>, Arc<Resource>>;

/// The data kept between merges.
#[derive(Debug)]
pub(super) struct Merging {
    base: Bytes,
    state: Arc<Mutex<State>>,
}

/// A clone is for another store: it has the same base, and no merged data.
impl Clone for Merging {
    fn clone(&self) -> Merging {
        let read = self.state.lock().unwrap_or_else(PoisonError::into_inner).read.clone();
        Merging::of(self.base.clone(), read)
    }
}

impl Merging {
    /// Prepares merging into a document, or into nothing.
    pub(super) fn new(base: Option<&(Arc<str>, Bytes)>, options: StoreOptions) -> Result<Merging, BaseError> {
        let (name, base) = base.cloned().unwrap_or_else(|| ("".into(), nothing(options.release)));
        let destination = destination(&base, options).map_err(|error| BaseError::Onto { name, error })?;
        let read = Some((base.clone(), Arc::new(destination)));
        Ok(Merging::of(base, read))
    }

    fn of(base: Bytes, read: Option<(Bytes, Arc<Destination>)>) -> Merging {
        Merging { base, state: Arc::new(Mutex::new(State { read, merged: None, overlaid: None })) }
    }

    /// Returns the v2 document of these resources, merged at its first use.
    pub(super) fn lazy(
        &self,
        publisher: &Arc<Publisher>,
        resources: &Resources,
        onto: Option<&Bytes>,
        parts: &Arc<[Part]>,
        options: StoreOptions,
        now: SystemTime,
    ) -> Arc<LazyV2> {
        let (publisher, resources, state) = (Arc::clone(publisher), resources.clone(), Arc::clone(&self.state));
        let (base, parts) = (onto.unwrap_or(&self.base).clone(), Arc::clone(parts));
        Arc::new(LazyLock::new(Box::new(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let local = state.document(&publisher, &resources, &base, options, now)?;
            Ok(state.overlaid(local, &parts, options, now))
        })))
    }
}

/// The document into which resources are merged, and the last result.
#[derive(Debug)]
struct State {
    read: Option<(Bytes, Arc<Destination>)>,
    merged: Option<Merged>,
    overlaid: Option<Overlaid>,
}

/// A document merged with the parts of downstream servers.
#[derive(Debug)]
struct Overlaid {
    local: Arc<Document>,
    parts: Arc<[Part]>,
    document: Arc<Document>,
}

/// The number of resources that need each shared definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    scale: usize,
    cluster: usize,
    namespaced: usize,
}

impl Counts {
    fn flags(self) -> [bool; 3] {
        [self.scale > 0, self.cluster > 0, self.namespaced > 0]
    }

    fn count(&mut self, part: &V2Fragments, change: impl Fn(usize) -> usize) {
        if part.scale {
            self.scale = change(self.scale);
        }
        let scope = if part.namespaced { &mut self.namespaced } else { &mut self.cluster };
        *scope = change(*scope);
    }
}

/// A merged document whose parts can be changed.
#[derive(Clone, Debug)]
struct Merged {
    destination: Arc<Destination>,
    resources: Resources,
    counts: Counts,
    shared: Arc<SharedParts>,
    paths: Pieces<Name>,
    definitions: Pieces<Name>,
    document: Arc<Document>,
}

impl State {
    fn document(
        &mut self,
        publisher: &Publisher,
        resources: &Resources,
        base: &Bytes,
        options: StoreOptions,
        now: SystemTime,
    ) -> Result<Arc<Document>, Arc<str>> {
        let destination = match &self.read {
            Some((bytes, destination)) if bytes == base => Arc::clone(destination),
            _ => Arc::new(destination(base, options).map_err(|error| Arc::from(error.to_string()))?),
        };
        self.read = Some((base.clone(), Arc::clone(&destination)));
        let before = self.merged.take().filter(|merged| Arc::ptr_eq(&merged.destination, &destination));
        let changed = before.as_ref().and_then(|before| before.change(publisher, resources, options, now));
        self.merged =
            changed.or_else(|| Merged::new(publisher, resources, &destination, before.as_ref(), options, now));
        if let Some(merged) = &self.merged {
            return Ok(Arc::clone(&merged.document));
        }
        // Some names collide: the rules of merging decide.
        let mut merge = MergeV2::new();
        for (name, resource) in resources {
            if let Some(fragments) = resource.v2(publisher) {
                merge.add(name, fragments.clone());
            }
        }
        let merged = merge.finish_into_read(publisher.base(), (*destination).clone(), options.profile);
        let merged = merged.map_err(|error| Arc::from(error.to_string()))?;
        Ok(Arc::new(Document::new(Some(Dialect::V2), Bytes::from(merged.document), now)))
    }

    /// Merges the parts of downstream servers into the document of this server.
    fn overlaid(
        &mut self,
        local: Arc<Document>,
        parts: &Arc<[Part]>,
        options: StoreOptions,
        now: SystemTime,
    ) -> Arc<Document> {
        let before = self.overlaid.take();
        if parts.is_empty() {
            return local;
        }
        let before = match before {
            Some(known) if Arc::ptr_eq(&known.local, &local) && known.parts == *parts => {
                let document = Arc::clone(&known.document);
                self.overlaid = Some(known);
                return document;
            }
            before => before.map(|known| known.document),
        };
        let owns = |server: usize, path: &str| {
            parts.get(server).is_some_and(|part| part.hidden.iter().all(|hidden| **hidden != *path))
        };
        let overlays = parts.iter().map(|part| &*part.overlay);
        let merged = merge_v2(local.json().to_bytes().to_vec(), overlays, owns, options.profile);
        let merged = Document::new(Some(Dialect::V2), Bytes::from(merged), now);
        let document = before.filter(|before| before.is_same(&merged)).unwrap_or_else(|| Arc::new(merged));
        self.overlaid = Some(Overlaid { local, parts: Arc::clone(parts), document: Arc::clone(&document) });
        document
    }
}

/// Returns the target of merging: the document of a base, with the kinds to which all resources can be converted if
/// they are a group.
fn destination(base: &Bytes, options: StoreOptions) -> Result<Destination, MergeError> {
    const PATH: &str = "/apis/meta.k8s.io/v1/";
    let destination = Destination::read(base)?;
    if !options.generic_kinds || destination.paths().contains_key(PATH) {
        return Ok(destination);
    }
    let generic = Overlay::of(generic_kinds(Dialect::V2).as_bytes(), |_| true)?;
    Destination::read(&destination.merge(generic, options.profile == Profile::Kube)?.document)
}

/// Changes of members.
#[derive(Debug, Default)]
struct Edits {
    paths: BTreeMap<Name, Option<Bytes>>,
    definitions: BTreeMap<Name, Option<Bytes>>,
}

impl Edits {
    fn remove(&mut self, part: &V2Fragments) {
        self.paths.extend(part.paths.iter().map(|path| (Name(path.name.as_str().into()), None)));
        self.definitions.extend(part.definitions.iter().map(|d| (Name(d.name.as_str().into()), None)));
    }

    /// Adds the members of a resource; `false` if a name exists already.
    fn add(&mut self, part: &V2Fragments, merged: &Merged, publisher: &Publisher) -> bool {
        let base = publisher.base();
        for path in &part.paths {
            let name = Name(path.name.as_str().into());
            if merged.destination.paths().contains_key(&path.name) || is_there(&self.paths, &merged.paths, &name) {
                return false;
            }
            let mut json = Vec::new();
            path.write(base, &mut json);
            self.paths.insert(name, Some(merged.shared.rewrite(Bytes::from(json.into_boxed_slice()))));
        }
        for definition in &part.definitions {
            let name = Name(definition.name.as_str().into());
            let taken =
                merged.shared.has_definition(&definition.name) || V2Fragments::is_shared(base, &definition.name);
            if taken || is_there(&self.definitions, &merged.definitions, &name) {
                return false;
            }
            self.definitions.insert(name, Some(merged.shared.rewrite(definition.json.clone())));
        }
        true
    }
}

fn is_there(edits: &BTreeMap<Name, Option<Bytes>>, members: &Pieces<Name>, name: &Name) -> bool {
    edits.get(name).map_or_else(|| members.get(name).is_some(), Option::is_some)
}

/// Returns the part of a resource that has paths.
fn part<'r>(resource: &'r Resource, publisher: &Publisher) -> Option<&'r V2Fragments> {
    resource.v2(publisher).filter(|part| !part.paths.is_empty())
}

impl Merged {
    /// Merges all of it; `None` if names collide.
    fn new(
        publisher: &Publisher,
        resources: &Resources,
        destination: &Arc<Destination>,
        before: Option<&Merged>,
        options: StoreOptions,
        now: SystemTime,
    ) -> Option<Merged> {
        let mut counts = Counts::default();
        let all: Vec<&Resource> = resources.values().map(|resource| &**resource).collect();
        let parts = parallel::map(&all, |resource| part(resource, publisher));
        let parts: Vec<&V2Fragments> = parts.into_iter().flatten().collect();
        for part in &parts {
            counts.count(part, |n| n + 1);
        }
        if parts.is_empty() {
            return None;
        }
        let [scale, cluster, namespaced] = counts.flags();
        let shared = match before {
            Some(before) if before.counts.flags() == counts.flags() => Arc::clone(&before.shared),
            _ => Arc::new(destination.merge_shared(V2Fragments::shared(publisher.base(), scale, cluster, namespaced))),
        };
        let nothing = Document::new(Some(Dialect::V2), Bytes::new(), now);
        let member = |(name, json): (&String, &Bytes)| (Name(name.as_str().into()), Some(json.clone()));
        let mut merged = Merged {
            destination: Arc::clone(destination),
            resources: resources.clone(),
            counts,
            paths: Pieces::new(8),
            definitions: Pieces::new(2),
            shared,
            document: Arc::new(nothing),
        };
        let mut edits = Edits::default();
        if !parts.iter().all(|part| edits.add(part, &merged, publisher)) {
            return None;
        }
        edits.paths.extend(destination.paths().iter().map(member));
        edits.definitions.extend(merged.shared.definitions.iter().map(member));
        merged.paths = merged.paths.edit(edits.paths);
        merged.definitions = merged.definitions.edit(edits.definitions);
        merged.document = merged.print(before.map(|before| &*before.document), options, now);
        Some(merged)
    }

    /// Returns the same with other resources; `None` if more than members changes.
    fn change(
        &self,
        publisher: &Publisher,
        resources: &Resources,
        options: StoreOptions,
        now: SystemTime,
    ) -> Option<Merged> {
        let mut merged = self.clone();
        let mut edits = Edits::default();
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for item in self.resources.diff(resources) {
            match item {
                DiffItem::Add(_, new) => come.push(new),
                DiffItem::Remove(_, old) => gone.push(old),
                DiffItem::Update { old, new } => {
                    if !Arc::ptr_eq(old.1, new.1) {
                        gone.push(old.1);
                        come.push(new.1);
                    }
                }
            }
        }
        for part in gone.into_iter().filter_map(|resource| part(resource, publisher)) {
            merged.counts.count(part, |n| n.saturating_sub(1));
            edits.remove(part);
        }
        for part in come.into_iter().filter_map(|resource| part(resource, publisher)) {
            merged.counts.count(part, |n| n + 1);
            if !edits.add(part, self, publisher) {
                return None;
            }
        }
        let is_empty = merged.counts.flags() == [false; 3];
        if is_empty || merged.counts.flags() != self.counts.flags() {
            return None;
        }
        merged.resources = resources.clone();
        merged.paths = self.paths.edit(edits.paths);
        merged.definitions = self.definitions.edit(edits.definitions);
        if !merged.paths.is_same(&self.paths) || !merged.definitions.is_same(&self.definitions) {
            merged.document = merged.print(Some(&self.document), options, now);
        }
        Some(merged)
    }

    fn print(&self, before: Option<&Document>, options: StoreOptions, now: SystemTime) -> Arc<Document> {
        let (mut segments, mut sections) = (Vec::new(), Vec::new());
        let shown = |section| section != Section::Parameters || !self.shared.parameters.is_empty();
        for (text, section) in self.destination.texts(shown) {
            segments.push(Segment::Text(text.into()));
            let from = segments.len();
            match section {
                Some(Section::Paths) => self.paths.segments(&mut segments),
                Some(Section::Definitions) => self.definitions.segments(&mut segments),
                Some(Section::Parameters) => {
                    let mut all: Pieces<Name> = Pieces::new(64);
                    let member = |(name, json): (&String, &Bytes)| (Name(name.as_str().into()), Some(json.clone()));
                    all = all.edit(self.shared.parameters.iter().map(member).collect());
                    all.segments(&mut segments);
                }
                None => {}
            }
            sections.extend(section.map(|section| (section, from..segments.len())));
        }
        let document = Document::of_chunks(Some(Dialect::V2), segments, before, options.tags, now);
        // Paths are sorted, and their protobuf form has extensions first. Only a base document can have any.
        let has_extensions = self.paths.last().is_some_and(|name| !name.0.starts_with('/'));
        Arc::new(if has_extensions { document } else { document.with_sections(sections) })
    }
}
