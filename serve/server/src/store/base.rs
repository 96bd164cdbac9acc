//! The documents that a server has without resources of its own.

use super::StoreOptions;
use super::read::{self, OpenApi};
use crate::document::Document;
use bytes::Bytes;
use kubeshape_discovery::{
    Freshness, Group, GroupVersion, Origin, Records, UNSET_PRIORITY, assemble, read as discovery,
};
use kubeshape_input::{Code, Content, Finding, Place, Reader};
use kubeshape_objects::generic_kinds;
use kubeshape_publish::{Profile, with_alternates};
use kubeshape_schema::{Dialect, Release};
use kubeshape_yaml::Limits;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

/// Documents of a cluster, each with a name for errors. Their contents identify them: OpenAPI v3 and v2 (JSON, YAML,
/// protobuf), discovery, `/version`, the paths of `/`. Without any, the server has only what its inputs define.
#[derive(Clone, Debug, Default)]
pub struct BaseDocuments {
    /// The documents. If two have the same kind and path, the first by name is used.
    pub documents: Vec<(Arc<str>, Bytes)>,
    /// Names of documents found in a folder. If such a document cannot be part of a base, such as an error that was
    /// recorded with the documents, it is left out with a finding. For other documents, this is an error.
    pub found: BTreeSet<Arc<str>>,
    /// The v2 document into which the resources are merged; else the one among `documents`.
    pub onto: Option<(Arc<str>, Bytes)>,
    /// The release of Kubernetes, if `documents` are all documents of it, without descriptions, as in
    /// `kubeshape-builtin`, and not those of a cluster.
    pub release: Option<Release>,
}

/// Why a base cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaseError {
    /// A document cannot be decoded.
    #[error("{0}")]
    Unreadable(Box<Finding>),
    /// It cannot be part of a base.
    #[error(
        "{name}: found {what}, expected an OpenAPI document or one of discovery, /version or /; give what `kubectl get --raw` prints for these paths"
    )]
    Unknown {
        /// Its name.
        name: Arc<str>,
        /// What it is instead.
        what: String,
    },
    /// The path of a v3 document is unknown.
    #[error(
        "{name}: found an OpenAPI v3 document without paths; name its file after its path, such as apis__apps__v1.json"
    )]
    NoPath {
        /// Its name.
        name: Arc<str>,
    },
    /// The definitions of the documents cannot be used.
    #[error(transparent)]
    Definitions(#[from] kubeshape_publish::BaseError),
    /// Nothing can be merged into the v2 document.
    #[error("{name}: {error}")]
    Onto {
        /// Its name.
        name: Arc<str>,
        /// The reason.
        error: kubeshape_publish::MergeError,
    },
}

/// OpenAPI documents that are sources of definitions, with their names.
type Sources = Vec<(String, Vec<u8>)>;

/// The documents by kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Documents {
    /// v3 documents by path.
    pub(super) v3: BTreeMap<Arc<str>, Arc<Document>>,
    /// Paths of those whose protobuf form came first.
    decoded: BTreeSet<Arc<str>>,
    pub(super) v2: Option<(Arc<str>, Bytes)>,
    pub(super) groups: BTreeMap<Arc<str>, Arc<Group>>,
    pub(super) version: Option<Bytes>,
    pub(super) root_paths: Vec<String>,
    /// The documents that were left out.
    pub(super) findings: Vec<Finding>,
}

/// Documents that are being sorted by kind.
#[derive(Debug, Default)]
struct Sorting {
    out: Documents,
    sources: Sources,
    records: Records,
    /// Group versions found in documents.
    derived: read::GroupVersions,
}

impl Sorting {
    /// Adds a document.
    fn add(&mut self, name: &Arc<str>, bytes: &Bytes, options: StoreOptions, now: SystemTime) -> Result<(), BaseError> {
        let profile = options.profile;
        let unknown = |what: String| BaseError::Unknown { name: Arc::clone(name), what };
        let of_discovery = |error: discovery::ReadError| {
            let (place, detail) = match error {
                discovery::ReadError::Other(what) => return unknown(what),
                discovery::ReadError::Text(error) => {
                    (Some(Place { line: error.line, column: error.column }), error.message)
                }
                error => (None, error.to_string()),
            };
            let mut finding = Finding::new(Code::Unreadable, detail).in_input(Arc::clone(name));
            finding.place = place;
            BaseError::Unreadable(Box::new(finding))
        };
        let mut reader = Reader::new();
        let mut documents = reader.documents(Arc::clone(name), bytes, Limits::default());
        if discovery::is_protobuf(documents.bytes()) {
            self.records.add(discovery::read(documents.bytes(), Limits::default()).map_err(of_discovery)?);
            return Ok(());
        }
        let protobuf = documents.is_protobuf().then(|| read::shared(documents.bytes(), bytes));
        let document = documents.next().transpose().map_err(BaseError::Unreadable)?;
        let mut document = document.ok_or_else(|| unknown("nothing".to_owned()))?;
        if let Some(dialect) = document.content().dialect() {
            let json =
                read::canonical(&mut document, dialect, bytes, profile, options.release).map_err(|findings| {
                    let none = || Finding::new(Code::Unreadable, "found no document").in_input(Arc::clone(name));
                    BaseError::Unreadable(Box::new(findings.into_iter().next().unwrap_or_else(none)))
                })?;
            let alternates = if profile == Profile::Faithful && protobuf.is_none() {
                with_alternates(&json, dialect).map(Bytes::from)
            } else {
                None
            };
            let json = alternates.unwrap_or(json);
            self.derived.extend(self.out.openapi(name, dialect, &json, protobuf.as_ref(), now)?);
            // If both forms exist, definitions are read from JSON.
            let first = if protobuf.is_some() { "~" } else { "" };
            self.sources.push((format!("{first}{name}"), json.to_vec()));
            return Ok(());
        }
        // The index is computed from the v3 documents.
        if document.content() == Content::Index {
            return Ok(());
        }
        let text = document.document().source();
        let record = discovery::read_node(document.root()).map_err(of_discovery)?;
        if matches!(document.content(), Content::Discovery(discovery::DocumentKind::Version)) {
            self.out.version.get_or_insert_with(|| Bytes::copy_from_slice(text.as_bytes()));
        }
        self.records.add(record);
        Ok(())
    }
}

impl Documents {
    /// Sorts documents by kind, and returns the sources of definitions.
    pub(super) fn read(
        base: BaseDocuments,
        options: StoreOptions,
        now: SystemTime,
    ) -> Result<(Documents, Sources), BaseError> {
        let mut sorting = Sorting::default();
        let mut documents = base.documents;
        documents.sort();
        for (name, bytes) in documents {
            match sorting.add(&name, &bytes, options, now) {
                Err(BaseError::Unknown { what, .. }) if base.found.contains(&name) => {
                    let detail =
                        format!("found {what}, expected an OpenAPI document or one of discovery, /version or /");
                    sorting.out.findings.push(Finding::new(Code::Skipped, detail).in_input(name));
                }
                added => added?,
            }
        }
        let Sorting { mut out, sources, records, derived } = sorting;
        out.root_paths = records.paths().to_vec();
        let mut groups: BTreeMap<Arc<str>, Vec<Arc<GroupVersion>>> =
            records.groups().into_iter().map(|group| (group.name, group.versions)).collect();
        // Group versions without a discovery document are derived from the documents.
        for (group, version) in derived {
            let versions = groups.entry(group).or_default();
            if !versions.iter().any(|known| known.version == version.version) {
                versions.push(version);
            }
        }
        let assembled = groups.into_iter().filter_map(|(name, versions)| assemble(name, versions));
        out.groups = assembled.map(|group| (Arc::clone(&group.name), Arc::new(group))).collect();
        if let Some((name, bytes)) = base.onto {
            let mut reader = Reader::new();
            let mut documents = reader.documents(Arc::clone(&name), &bytes, Limits::default());
            let document = documents.next().transpose().map_err(BaseError::Unreadable)?;
            let text = document.map_or("", |document| document.document().source());
            let json = read::shared(text.as_bytes(), &bytes);
            out.v2 = Some((name, json));
        }
        Ok((out, sources))
    }

    /// Adds the kinds to which all resources can be converted, if no document has their group. Nothing else refers to
    /// them.
    pub(super) fn add_generic_kinds(&mut self, now: SystemTime) {
        const PATH: &str = "apis/meta.k8s.io/v1";
        const GROUP: &str = "meta.k8s.io";
        if self.v3.contains_key(PATH) || self.groups.contains_key(GROUP) {
            return;
        }
        let document = Document::new(Some(Dialect::V3), Bytes::from(generic_kinds(Dialect::V3)), now);
        self.v3.insert(PATH.into(), Arc::new(document));
        let version = GroupVersion {
            version: "v1".into(),
            priority: UNSET_PRIORITY,
            origin: Origin::BuiltIn,
            freshness: Freshness::Current,
            resources: Vec::new(),
        };
        if let Some(group) = assemble(GROUP, [Arc::new(version)]) {
            self.groups.insert(Arc::clone(&group.name), Arc::new(group));
        }
    }

    fn openapi(
        &mut self,
        name: &Arc<str>,
        dialect: Dialect,
        json: &Bytes,
        protobuf: Option<&Bytes>,
        now: SystemTime,
    ) -> Result<read::GroupVersions, BaseError> {
        match read::openapi(dialect, json, protobuf, now) {
            OpenApi::V2(json) => {
                self.v2.get_or_insert_with(|| (Arc::clone(name), json));
                Ok(Vec::new())
            }
            OpenApi::V3(path, document, groups) => {
                let path = path.or_else(|| path_of_file(name));
                let path = path.ok_or_else(|| BaseError::NoPath { name: Arc::clone(name) })?;
                if protobuf.is_some() && !self.v3.contains_key(&path) {
                    self.decoded.insert(Arc::clone(&path));
                }
                match self.v3.get_mut(&path) {
                    None => {
                        self.v3.insert(path, document);
                    }
                    // Both forms of one document: keep the bytes of each.
                    Some(there) => match protobuf {
                        Some(protobuf) if !self.decoded.contains(&path) => {
                            let json = Document::new(there.dialect(), there.json().clone(), now);
                            *there = Arc::new(json.with_protobuf(protobuf.clone()));
                        }
                        None if self.decoded.remove(&path) => {
                            let known = there.protobuf().ok().cloned();
                            let json = Document::new(there.dialect(), document.json().clone(), now);
                            *there = Arc::new(match known {
                                Some(protobuf) => json.with_protobuf(protobuf),
                                None => json,
                            });
                        }
                        _ => {}
                    },
                }
                Ok(groups)
            }
        }
    }
}

/// Returns the path in a file name: `apis__apps__v1.json`, `apis__apps__v1_openapi.json`.
pub(super) fn path_of_file(name: &str) -> Option<Arc<str>> {
    let name = name.rsplit(['/', '\\']).next()?;
    let mut stem = name;
    for end in [".zst", ".gz", ".json", ".yaml", ".yml", ".pb", "_openapi"] {
        stem = stem.strip_suffix(end).unwrap_or(stem);
    }
    (!stem.is_empty() && stem != name).then(|| stem.replace("__", "/").into())
}
