//! Built-in resources, as defined by OpenAPI documents of group versions.

use super::review::Review;
use super::served::Served;
use bytes::Bytes;
use kubeshape_input::Limits;
use kubeshape_registry::policy::Layer;
use kubeshape_registry::{Registry, Settings};
use kubeshape_validate::Release;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// OpenAPI v3 documents of built-in group versions. Each is read at the first request for its group version.
///
/// # Example
/// ```
/// use kubeshape_objects::{Api, Documents};
///
/// let document = br#"{"openapi": "3.0.0", "info": {"title": "", "version": ""}, "paths": {}}"#;
/// let documents = Documents::new([("apis/example.com/v1", bytes::Bytes::from_static(document))]);
/// assert!(!Api::default().with_documents(documents).serves("/apis/example.com/v1/tabs"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// By group and version.
    documents: Arc<BTreeMap<(String, String), Document>>,
    /// The release whose rules the kinds have.
    release: Release,
}

#[derive(Debug)]
struct Document {
    text: Bytes,
    read: OnceLock<GroupVersion>,
}

/// A group version whose document was read.
#[derive(Debug)]
struct GroupVersion {
    served: BTreeMap<Arc<str>, Arc<Served>>,
    /// What admission policies need to know of its kinds.
    layer: Layer,
}

impl Documents {
    /// Documents with their paths: `api/v1`, `apis/apps/v1`. Documents with other paths are ignored.
    pub fn new<P: AsRef<str>>(documents: impl IntoIterator<Item = (P, Bytes)>) -> Documents {
        let documents = documents.into_iter().filter_map(|(path, text)| {
            let path = path.as_ref().trim_start_matches('/');
            let (group, version) = match path.strip_prefix("apis/") {
                Some(rest) => rest.split_once('/')?,
                None => ("", path.strip_prefix("api/")?),
            };
            let document = Document { text, read: OnceLock::new() };
            (!version.contains('/')).then(|| ((group.to_owned(), version.to_owned()), document))
        });
        Documents { documents: Arc::new(documents.collect()), release: Release::DEFAULT }
    }

    /// The same documents, with the rules of a release.
    pub(super) fn in_release(self, release: Release) -> Documents {
        if release == self.release {
            return self;
        }
        let unread = |document: &Document| Document { text: document.text.clone(), read: OnceLock::new() };
        let documents = self.documents.iter().map(|(key, document)| (key.clone(), unread(document)));
        Documents { documents: Arc::new(documents.collect()), release }
    }

    /// A resource.
    pub(super) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Served>> {
        self.group_version(group, version)?.served.get(plural)
    }

    /// Returns whether a resource may exist: an unread document may define it. Reads nothing.
    pub(super) fn may_have(&self, group: &str, version: &str, plural: &str) -> bool {
        let document = self.documents.get(&(group.to_owned(), version.to_owned()));
        document.is_some_and(|document| document.read.get().is_none_or(|read| read.served.contains_key(plural)))
    }

    /// Returns whether a resource is known to exist. Reads nothing.
    pub(super) fn has(&self, group: &str, version: &str, plural: &str) -> bool {
        let document = self.documents.get(&(group.to_owned(), version.to_owned()));
        document.and_then(|document| document.read.get()).is_some_and(|read| read.served.contains_key(plural))
    }

    /// The resource of a kind.
    pub(super) fn of_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Served>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.group_version(group, version)?.served.values().find(|served| served.kind == kind)
    }

    /// The registry with the kinds of a group version.
    pub(super) fn registry(&self, group: &str, version: &str) -> Option<&Registry> {
        self.group_version(group, version)?.served.values().find_map(|served| served.registry())
    }

    /// The kinds of a group, for admission policies.
    pub(super) fn layers(&self, group: &str) -> impl Iterator<Item = &Layer> {
        let from = (group.to_owned(), String::new());
        let group = group.to_owned();
        let versions = self.documents.range(from..).take_while(move |((other, _), _)| *other == group);
        versions.filter_map(|((group, version), _)| Some(&self.group_version(group, version)?.layer))
    }

    /// All kinds, for admission policies.
    pub(super) fn all_layers(&self) -> impl Iterator<Item = &Layer> {
        self.documents.keys().filter_map(|(group, version)| Some(&self.group_version(group, version)?.layer))
    }

    fn group_version(&self, group: &str, version: &str) -> Option<&GroupVersion> {
        let document = self.documents.get(&(group.to_owned(), version.to_owned()))?;
        Some(document.read.get_or_init(|| {
            let mut registry = Registry::new(Settings::of(self.release));
            registry.set_built_in("document", kubeshape_input::read("document", &document.text, Limits::default()));
            let registry = Arc::new(registry);
            let in_version = |kind: &&kubeshape_registry::Kind| kind.group() == group && kind.version_name() == version;
            let served = registry.kinds().filter(in_version).filter_map(|kind| {
                let served = Served::of_document(kind, &registry)?;
                Review::serves(&served).then(|| (Arc::clone(&served.plural), Arc::new(served)))
            });
            GroupVersion { served: served.collect(), layer: Layer::new(&registry) }
        }))
    }
}
