//! Downstream servers: which of them serves a group version, and the part of each in the v2 document.
//!
//! A group version has one owner for documents, the index, discovery and v2 (like an APIService in kube-aggregator):
//! this server, if it has a document or an entry in discovery for it, else the first downstream server that has one.

use super::{Affected, Store};
use crate::remote::{RemoteDocument, RemoteState};
use kubeshape_convert::aggregate::merge::Overlay;
use kubeshape_convert::graph::split;
use kubeshape_discovery::GroupVersion;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A downstream server.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    state: RemoteState,
    /// Group versions of its discovery or v3 documents, by path.
    versions: BTreeSet<Arc<str>>,
    /// Indices of v3 documents, by path.
    v3: BTreeMap<Arc<str>, usize>,
    /// Group versions of its part of the v2 document, by path.
    v2: BTreeSet<Arc<str>>,
}

/// The part of a server in the v2 document.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) overlay: Arc<Overlay>,
    /// Its group versions that other servers own.
    pub(super) hidden: Vec<Arc<str>>,
}

impl PartialEq for Part {
    fn eq(&self, other: &Part) -> bool {
        Arc::ptr_eq(&self.overlay, &other.overlay) && self.hidden == other.hidden
    }
}

/// Returns the path of a group version.
pub(super) fn path_of(group: &str, version: &str) -> Arc<str> {
    if group.is_empty() { format!("api/{version}").into() } else { format!("apis/{group}/{version}").into() }
}

impl Remote {
    pub(super) fn new(state: RemoteState) -> Remote {
        let of_group = |group: &kubeshape_discovery::Group| {
            group.versions.iter().map(|version| path_of(&group.name, &version.version)).collect::<Vec<_>>()
        };
        let mut versions: BTreeSet<Arc<str>> = state.groups.iter().flat_map(of_group).collect();
        let mut v3 = BTreeMap::new();
        for (i, document) in state.v3.iter().enumerate() {
            v3.entry(Arc::clone(&document.path)).or_insert(i);
            if split::group_version(&document.path).is_some() {
                versions.insert(Arc::clone(&document.path));
            }
        }
        let paths = state.v2.iter().flat_map(|overlay| overlay.paths.keys());
        let v2 = paths.map(|path| Arc::from(split::name_of(path))).collect();
        Remote { state, versions, v3, v2 }
    }

    /// Marks everything that depends on it.
    pub(super) fn touch(&self, touched: &mut Affected) {
        touched.parts |= self.state.v2.is_some();
        touched.paths.extend(self.v3.keys().chain(&self.versions).cloned());
        touched.groups.extend(self.state.groups.iter().map(|group| Arc::clone(&group.name)));
        let groups = self.versions.iter().filter_map(|path| split::group_version(path));
        touched.groups.extend(groups.map(|(group, _)| Arc::from(group)));
    }

    /// Its v3 document for a path.
    pub(super) fn document(&self, path: &str) -> Option<&RemoteDocument> {
        self.state.v3.get(*self.v3.get(path)?)
    }
}

impl Store {
    /// Returns whether this server publishes something for a path.
    fn is_local(&self, path: &str) -> bool {
        if self.members.contains_key(path) || self.documents.contains_key(path) || self.base.v3.contains_key(path) {
            return true;
        }
        let Some((group, version)) = split::group_version(path) else { return false };
        let is_it = |other: &Arc<GroupVersion>| *other.version == *version;
        let resources = self.group_members.get(group).into_iter().flat_map(BTreeMap::values);
        resources.into_iter().flat_map(|resource| &resource.custom.versions).any(|(other, _)| **other == *version)
            || self.document_groups.get(group).is_some_and(|versions| versions.values().any(is_it))
            || self.base.groups.get(group).is_some_and(|group| group.versions.iter().any(is_it))
    }

    /// Returns the downstream server that answers requests for a path; `None` if this server does, or no server.
    pub(super) fn remote_of(&self, path: &str) -> Option<&Remote> {
        let mut remotes = self.remotes.values();
        let first = remotes.find(|remote| remote.versions.contains(path) || remote.v3.contains_key(path))?;
        (!self.is_local(path)).then_some(first)
    }

    /// Returns the versions of a group that downstream servers have.
    pub(super) fn remote_versions(&self, name: &str) -> impl Iterator<Item = &Arc<GroupVersion>> {
        self.remotes.values().flat_map(move |remote| {
            let groups = remote.state.groups.iter().filter(move |group| *group.name == *name);
            let is_owner = move |group: &str, version: &str| {
                self.remote_of(&path_of(group, version)).is_some_and(|owner| std::ptr::eq(owner, remote))
            };
            groups.flat_map(|group| &group.versions).filter(move |version| is_owner(name, &version.version))
        })
    }

    /// Returns whether one of the paths is in a downstream server's part of the v2 document.
    pub(super) fn is_in_parts(&self, paths: &BTreeSet<Arc<str>>) -> bool {
        let mut remotes = self.remotes.values().filter(|remote| !remote.v2.is_empty());
        remotes.any(|remote| paths.iter().any(|path| remote.v2.contains(path)))
    }

    /// Returns the parts of downstream servers in the v2 document, in order.
    pub(super) fn parts(&self) -> Vec<Part> {
        let part = |remote: &Remote| {
            let is_hidden = |path: &&Arc<str>| match self.remote_of(path) {
                Some(owner) => !std::ptr::eq(owner, remote),
                None => self.is_local(path),
            };
            let hidden: Vec<Arc<str>> = remote.v2.iter().filter(is_hidden).cloned().collect();
            let overlay = remote.state.v2.as_ref().filter(|_| hidden.len() < remote.v2.len())?;
            Some(Part { overlay: Arc::clone(overlay), hidden })
        };
        self.remotes.values().filter_map(part).collect()
    }
}
