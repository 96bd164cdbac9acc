//! Documents of group versions, the index, and snapshots.

use super::base::Documents;
use super::groups::{GroupKey, item};
use super::index::{DocumentAddress, Index, list};
use super::read::Resource;
use super::{Affected, Reason, Store};
use crate::body::Tags;
use crate::document::Document;
use crate::features::version;
use crate::pieces::Pieces;
use crate::rope::Rope;
use crate::snapshot::{Discovery, Leaf, Snapshot};
use bytes::Bytes;
use kubeshape_discovery::{Group, print};
use kubeshape_input::{Code, Finding};
use kubeshape_publish::{MergeConflict, Piece, Publisher, V3Fragments, write_v3};
use kubeshape_schema::{Dialect, Release};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

/// A document that changed.
pub(super) type Changed = (Arc<str>, Reason);

/// Members of a group version: CustomResourceDefinitions by name, each with the index of the version.
pub(super) type Members = BTreeMap<Arc<str>, (Arc<Resource>, usize)>;

/// Returns an empty snapshot of a release.
pub(super) fn empty(base: &Documents, release: Release, tags: Tags, now: SystemTime) -> Snapshot {
    Snapshot {
        v3: imbl::OrdMap::new(),
        index: Arc::new(Index::empty(tags, now)),
        v2: Arc::new(LazyLock::new(Box::new(|| Err("nothing is published yet".into())))),
        discovery: Discovery {
            core: None,
            groups: imbl::OrdMap::new(),
            aggregated_core: Arc::new(core(b"", now)),
            aggregated: list(AGGREGATED, &Pieces::<GroupKey>::new(64), None, tags, now),
        },
        version: base.version.clone().unwrap_or_else(|| version(release)),
        root_paths: base.root_paths.clone().into(),
    }
}

/// The bytes around the groups of aggregated discovery.
const AGGREGATED: [&[u8]; 2] = [print::ETAG_HEAD, print::ETAG_TAIL];

/// Returns aggregated discovery of the core group.
fn core(item: &[u8], now: SystemTime) -> Document {
    Document::new(None, Bytes::from([print::ETAG_HEAD, item, print::ETAG_TAIL].concat()), now)
}

/// Shorter pieces are copied into their neighbors.
const SMALL: usize = 1 << 10;

/// Returns the document of a group version. It shares large parts with its CustomResourceDefinitions.
pub(super) fn document(path: &str, members: &Members, publisher: &Publisher) -> Result<Rope, MergeConflict> {
    let parts = members.iter().filter_map(|(name, (resource, i))| {
        let (_, fragments) = resource.versions.get(*i)?;
        Some((&**name, fragments))
    });
    let parts: Vec<(&str, &V3Fragments)> = parts.collect();
    let mut pieces: Vec<Bytes> = Vec::new();
    let mut open: Vec<u8> = Vec::new();
    write_v3(path, parts, publisher.base(), |piece| match piece {
        Piece::Kept(bytes) if bytes.len() >= SMALL => {
            pieces.push(std::mem::take(&mut open).into_boxed_slice().into());
            pieces.push(bytes.clone());
        }
        Piece::Kept(bytes) => open.extend_from_slice(bytes),
        Piece::Text(text) => open.extend_from_slice(text),
    })?;
    pieces.push(open.into_boxed_slice().into());
    Ok(pieces.into_iter().collect())
}

impl Store {
    /// Publishes the effects of a change. Returns the documents and groups that changed.
    pub(super) fn publish(&mut self, touched: Affected, now: SystemTime) -> (Vec<Changed>, Vec<Arc<str>>) {
        let before = Arc::clone(&self.snapshot);
        let mut is_v2_new = touched.v2;
        if touched.parts || self.is_in_parts(&touched.paths) {
            let parts = self.parts();
            if *parts != *self.parts {
                is_v2_new = true;
                self.parts = parts.into();
            }
        }
        let mut v3 = before.v3.clone();
        let mut entries = BTreeMap::new();
        let mut documents = Vec::new();
        for path in touched.paths {
            let old = before.v3.get(&path);
            let Some((leaf, address)) = self.leaf(&path, old, now) else {
                if v3.remove(&path).is_some() {
                    self.addresses.remove(&path);
                    entries.insert(Arc::clone(&path), None);
                    documents.push((path, Reason::Removed));
                }
                continue;
            };
            if let (Some(Leaf::Local(old)), Leaf::Local(new)) = (old, &leaf)
                && Arc::ptr_eq(old, new)
            {
                continue;
            }
            let reason = if old.is_some() { Reason::Changed } else { Reason::Added };
            if self.addresses.insert(Arc::clone(&path), address.clone()).as_ref() != Some(&address) {
                documents.push((Arc::clone(&path), reason));
            }
            entries.insert(Arc::clone(&path), Some(address));
            v3.insert(path, leaf);
        }
        let (discovery, groups) = self.discovery(&before.discovery, touched.groups, now);
        if entries.is_empty() && groups.is_empty() && !is_v2_new {
            return (documents, groups);
        }
        let index =
            if entries.is_empty() { Arc::clone(&before.index) } else { Arc::new(before.index.after(entries, now)) };
        let v2 = if is_v2_new {
            let (resources, parts) = (&self.published, &self.parts);
            self.v2.lazy(&self.publisher, resources, self.v2_documents.values().next(), parts, self.options, now)
        } else {
            Arc::clone(&before.v2)
        };
        let (version, root_paths) = (before.version.clone(), Arc::clone(&before.root_paths));
        self.snapshot = Arc::new(Snapshot { v3, index, v2, discovery, version, root_paths });
        (documents, groups)
    }

    /// Returns the source of responses for a path, and its address for the index.
    fn leaf(&mut self, path: &Arc<str>, old: Option<&Leaf>, now: SystemTime) -> Option<(Leaf, DocumentAddress)> {
        let local = |document: Arc<Document>| (Leaf::Local(Arc::clone(&document)), DocumentAddress::Local(document));
        if let Some(members) = self.members.get(path) {
            let rope = document(path, members, &self.publisher);
            match rope {
                Ok(rope) => {
                    self.merge_conflicts.remove(path);
                    let before = if let Some(Leaf::Local(before)) = old { Some(&**before) } else { None };
                    let document = Document::new(Some(Dialect::V3), rope, now).hashed_after(before);
                    return Some(local(match old {
                        Some(Leaf::Local(old)) if old.is_same(&document) => Arc::clone(old),
                        _ => Arc::new(document),
                    }));
                }
                Err(conflict) => {
                    let finding = self.conflict(&conflict);
                    self.merge_conflicts.insert(Arc::clone(path), finding);
                    return None;
                }
            }
        }
        self.merge_conflicts.remove(path);
        let of_inputs = self.documents.get(path).and_then(|places| places.values().next());
        if let Some(document) = of_inputs.or_else(|| self.base.v3.get(path)) {
            return Some(local(match old {
                Some(Leaf::Local(old)) if old.is_same(document) => Arc::clone(old),
                _ => Arc::clone(document),
            }));
        }
        let remote = self.remote_of(path)?.document(path)?;
        Some((remote.leaf.clone(), DocumentAddress::Url(Arc::clone(&remote.url))))
    }

    /// Reports the documents of inputs for a path that differ from the first one.
    pub(super) fn settle_document(&mut self, path: &Arc<str>) {
        let mut findings = Vec::new();
        let mut say = |what: &str, file: &Arc<str>, first: &str| {
            let detail = format!("found another {what}, which {first} holds; expected one; this one is not published");
            findings.push(Finding::new(Code::DocumentHidden, detail).in_input(Arc::clone(file)));
        };
        if **path == *super::V2 {
            let mut all = self.v2_documents.iter();
            if let Some(((first, _), published)) = all.next() {
                let others = all.filter(|(_, json)| *json != published);
                others.for_each(|((file, _), _)| say("OpenAPI v2 document", file, first));
            }
        } else if let Some(mut all) = self.documents.get(path).map(BTreeMap::iter)
            && let Some(((first, _), published)) = all.next()
        {
            let others = all.filter(|(_, document)| !document.is_same(published));
            others.for_each(|((file, _), _)| say(&format!("OpenAPI v3 document for {path}"), file, first));
        }
        if findings.is_empty() {
            self.hidden.remove(path);
        } else {
            self.hidden.insert(Arc::clone(path), findings);
        }
    }

    fn conflict(&self, conflict: &MergeConflict) -> Finding {
        let (code, detail) = (Code::SchemaConflict, conflict.to_string());
        match self.published.get(&*conflict.second) {
            Some(resource) => resource.about_names(code, detail),
            None => Finding::new(code, detail).in_input(conflict.group_version.as_str()).of_resource(&*conflict.second),
        }
    }

    /// Builds the affected groups again.
    fn discovery(
        &mut self,
        before: &Discovery,
        touched: std::collections::BTreeSet<Arc<str>>,
        now: SystemTime,
    ) -> (Discovery, Vec<Arc<str>>) {
        let mut out = before.clone();
        let mut changed = Vec::new();
        let mut items = BTreeMap::new();
        for name in touched {
            let group = self.group(&name).map(Arc::new);
            let old = if name.is_empty() { before.core.as_ref() } else { before.groups.get(&name) };
            if old.map(|old| &**old) == group.as_deref() {
                continue;
            }
            if name.is_empty() {
                let text = group.as_ref().map(|group| item(group)).unwrap_or_default();
                out.aggregated_core = Arc::new(core(&text, now));
                out.core = group;
            } else {
                let key = |group: &Arc<Group>| GroupKey::of(group);
                if let Some(old) = old {
                    items.insert(key(old), None);
                }
                match group {
                    Some(group) => {
                        items.insert(key(&group), Some(item(&group)));
                        out.groups.insert(Arc::clone(&name), group);
                    }
                    None => {
                        out.groups.remove(&name);
                    }
                }
            }
            changed.push(name);
        }
        if !items.is_empty() {
            self.aggregated = self.aggregated.edit(items);
            out.aggregated = list(AGGREGATED, &self.aggregated, Some(&before.aggregated), self.options.tags, now);
        }
        (out, changed)
    }
}
