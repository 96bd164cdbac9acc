//! The kinds of the schemas. Each is prepared when the first object of it is judged.

use super::schemas::{self, Schemas, Versions, Waiting};
use crate::session::groups::Groups;
use kubeshape_builtin as builtin;
use kubeshape_lifecycle::Version;
use kubeshape_lifecycle::kinds;
use kubeshape_lifecycle::warn::Schemas as Lifecycles;
use kubeshape_registry::policy::{Layer, Layers};
use kubeshape_registry::{Gvk, Kind, KindError, Registry, Release};
use kubeshape_smd::Value;
use kubeshape_smd::typed::nearest;
use kubeshape_validate::builtin::{BuiltInKind, Strategy};
use kubeshape_validate::object::Resource;
use kubeshape_validate::typed::{Differences, Typed};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The maximum number of API versions that are named for a kind.
const MOST_VERSIONS: usize = 3;

/// A value per kind and API version, or per group and kind.
type ByKind<T> = BTreeMap<String, BTreeMap<String, T>>;

/// The kinds that objects are judged by.
#[derive(Debug)]
pub(crate) struct Kinds {
    schemas: Schemas,
    /// Kinds of custom resources, by group and kind.
    custom: ByKind<Custom>,
    /// The release of the built-in kinds, and of messages about removed ones.
    asked: Option<Release>,
    /// The built-in kinds, if there are any for the release.
    built_in: Option<Groups>,
    /// What the documents say about kinds, by kind and API version.
    typed: Mutex<ByKind<Arc<Documented>>>,
    /// What admission policies need to know about the kinds of the schemas.
    layer: OnceLock<Layer>,
    /// Messages about unknown kinds, by API version and kind. They are kept because each takes a search among all
    /// kinds.
    unknown: Mutex<BTreeMap<(String, String), String>>,
}

/// A kind that an OpenAPI document describes, and what is known of its rules.
#[derive(Debug)]
pub(super) enum Documented {
    /// A built-in kind, judged in the way of the server's own code.
    BuiltIn(BuiltIn),
    /// A built-in kind for which the document does not say whether its objects have a namespace.
    Metadata(Typed, BuiltInKind),
    /// Only its types are known: a kind of an aggregated server, or one whose objects are not stored.
    Types(Typed),
}

/// A built-in kind.
#[derive(Debug)]
pub(super) struct BuiltIn {
    pub(super) strategy: Arc<Strategy>,
    /// Where it differs in the other releases, computed when several releases judge the first object.
    differences: OnceLock<Differences>,
}

impl Documented {
    fn of(kind: &Kind, release: Release) -> Option<Documented> {
        if let Some(strategy) = kind.strategy() {
            let strategy = Arc::clone(strategy);
            return Some(Documented::BuiltIn(BuiltIn { strategy, differences: OnceLock::new() }));
        }
        let types = kind.typed()?;
        Some(match BuiltInKind::new(kind.group(), kind.kind(), release) {
            Some(metadata) => Documented::Metadata(types, metadata),
            None => Documented::Types(types),
        })
    }

    /// Returns its Go types.
    pub(super) fn types(&self) -> &Typed {
        match self {
            Documented::BuiltIn(kind) => kind.strategy.types(),
            Documented::Metadata(types, _) | Documented::Types(types) => types,
        }
    }
}

/// A kind, with versions that are prepared at first use.
#[derive(Debug, Default)]
struct Custom {
    /// Its files, if they are not read yet.
    waiting: Option<Arc<Waiting>>,
    versions: OnceLock<Versions>,
}

impl Kinds {
    /// Returns the kinds of the schemas, and the built-in kinds of the release. Each is prepared when its first object
    /// comes. Without a release, the built-in kinds are those of the schemas' release, unless the schemas have the
    /// documents of a cluster.
    pub(super) fn new(schemas: Schemas, asked: Option<Release>) -> Kinds {
        let mut custom: ByKind<Custom> = BTreeMap::new();
        let mut add = |group: &str, kind: &str, waiting: Option<&Arc<Waiting>>| {
            let known = Custom { waiting: waiting.cloned(), ..Custom::default() };
            custom.entry(group.to_owned()).or_default().insert(kind.to_owned(), known);
        };
        for kind in schemas.registry().kinds().filter(|kind| kind.definition().is_custom_resource()) {
            add(kind.group(), kind.kind(), None);
        }
        for (group, kind, waiting) in schemas.waiting() {
            add(group, kind, Some(waiting));
        }
        let is_of_cluster = |kind: &Kind| kind.group().is_empty() && !kind.definition().is_custom_resource();
        let has_cluster = schemas.registry().kinds().any(is_of_cluster);
        let asked = asked.or_else(|| (!has_cluster).then_some(schemas.release()));
        let built_in = asked.and_then(Groups::new);
        Kinds {
            schemas,
            custom,
            asked,
            built_in,
            typed: Mutex::default(),
            layer: OnceLock::new(),
            unknown: Mutex::default(),
        }
    }

    /// Returns what is known about objects, and the server's warning if their version is deprecated. Returns `None` if
    /// nothing is known about their kind.
    pub(super) fn resource(&self, gvk: Gvk<'_>) -> Option<(&Resource<'_>, Option<&str>)> {
        let (group, kind) = (gvk.group(), gvk.kind());
        let custom = self.custom.get(group)?.get(kind)?;
        let versions = custom.versions.get_or_init(|| match &custom.waiting {
            Some(waiting) => waiting.read().versions(group, kind),
            None => schemas::versions(self.schemas.registry(), group, kind),
        });
        let version = versions.get(gvk.api_version())?;
        Some((version.requests.as_ref()?.resource(), version.deprecated.as_deref()))
    }

    /// Returns the release whose built-in kinds are known.
    pub(super) fn built_in_release(&self) -> Option<Release> {
        self.built_in.as_ref().map(Groups::release)
    }

    /// Calls a function with a kind. Files that are not read yet are read for it.
    pub(crate) fn with_kind<R>(&self, gvk: Gvk<'_>, read: impl FnOnce(&Kind) -> R) -> Option<R> {
        if let Some(kind) = self.schemas.registry().kind(gvk) {
            return Some(read(kind));
        }
        if let Some(waiting) = self.schemas.waiting_of(gvk) {
            return waiting.registry().kind(gvk).map(read);
        }
        self.built_in_of(gvk)?.kind(gvk).map(read)
    }

    /// Returns all kinds whose objects can be created, each with its API version: those of the schemas, then built-in
    /// ones. All files are read for it.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let mut out = BTreeSet::new();
        let mut add = |registry: &Registry| {
            let stored = registry.kinds().filter(|kind| kind.resource().is_some());
            out.extend(stored.map(|kind| (kind.api_version().to_owned(), kind.kind().to_owned())));
        };
        add(self.schemas.registry());
        let mut known = BTreeSet::new();
        for (_, _, waiting) in self.schemas.waiting() {
            // Files with several kinds wait once for each.
            if known.insert(Arc::as_ptr(waiting)) {
                add(&waiting.registry());
            }
        }
        let built_in = self.built_in.iter().flat_map(Groups::kinds).filter(|kind| !out.contains(kind));
        let built_in: BTreeSet<(String, String)> = built_in.collect();
        out.into_iter().chain(built_in).collect()
    }

    /// Returns whether the requested release no longer serves a built-in kind, and the server's warning about it.
    /// Returns `None` if there is nothing to report.
    pub(super) fn deprecation(&self, gvk: Gvk<'_>) -> Option<(bool, String)> {
        kinds::judge(gvk.api_version(), gvk.kind(), Some(self.asked?.into()))
    }

    /// Returns what is known about the lifecycles of a kind's fields.
    pub(super) fn lifecycles(&self, gvk: Gvk<'_>) -> Option<&Lifecycles> {
        self.schemas.lifecycles(gvk)
    }

    /// Returns what is to be reported about the files of a kind. Returns `None` if there is nothing.
    pub(super) fn told(&self, gvk: Gvk<'_>) -> Option<Arc<Waiting>> {
        let waiting = self.schemas.waiting_of(gvk)?;
        let read = waiting.read();
        (read.unread || !read.findings.is_empty()).then(|| Arc::clone(waiting))
    }

    /// Returns what an OpenAPI document says about objects. Returns `None` if no document has their kind.
    pub(super) fn documented(&self, gvk: Gvk<'_>) -> Option<Arc<Documented>> {
        let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = typed.get(gvk.kind()).and_then(|versions| versions.get(gvk.api_version())) {
            return Some(Arc::clone(found));
        }
        let release = self.schemas.release();
        let of = |registry: &Registry| Documented::of(registry.kind(gvk)?, release);
        let found = of(self.schemas.registry()).or_else(|| of(self.built_in_of(gvk)?)).map(Arc::new);
        // Unknown kinds are not stored, so that they cannot fill the memory.
        if let Some(found) = &found {
            let versions = typed.entry(gvk.kind().to_owned()).or_default();
            versions.insert(gvk.api_version().to_owned(), Arc::clone(found));
        }
        found
    }

    /// Returns in which of `all` an object of a built-in kind can have another result, because the kind differs where
    /// the object has values: a bit for each.
    pub(super) fn differing<'k>(&self, gvk: Gvk<'_>, object: Value<'_>, all: impl Iterator<Item = &'k Kinds>) -> u64 {
        let own = self.documented(gvk);
        let Some(Documented::BuiltIn(own)) = own.as_deref() else { return 0 };
        let make = || {
            let deprecation = self.deprecation(gvk);
            let known = |kinds: &Kinds| kinds.documented(gvk).filter(|_| kinds.deprecation(gvk) == deprecation);
            let others: Vec<_> = all.map(known).collect();
            own.strategy.differences(others.iter().map(|other| match other.as_deref()? {
                Documented::BuiltIn(kind) => Some(&*kind.strategy),
                _ => None,
            }))
        };
        own.strategy.differing(own.differences.get_or_init(make), object)
    }

    fn built_in_of(&self, gvk: Gvk<'_>) -> Option<&Registry> {
        self.built_in.as_ref()?.group(gvk.group())
    }

    /// Returns the API versions of other groups that have a kind, among waiting and built-in kinds.
    fn elsewhere(&self, gvk: Gvk<'_>) -> Vec<String> {
        let waiting = self.schemas.waiting().filter(|(_, kind, _)| *kind == gvk.kind());
        let waiting = waiting.flat_map(|(group, kind, waiting)| waiting.read().versions(group, kind).into_keys());
        let groups = self.built_in.iter().flat_map(|built_in| {
            built_in.names().filter_map(|group| built_in.group(group)).flat_map(|known| known.elsewhere(gvk))
        });
        let all: Vec<String> = waiting.chain(groups).collect();
        let near = nearest(gvk.api_version(), all.iter().map(String::as_str));
        if near.is_empty() { all.into_iter().take(MOST_VERSIONS).collect() } else { near }
    }

    /// Returns advice about an unknown kind.
    pub(super) fn advice(&self, gvk: Gvk<'_>) -> String {
        let release = self.asked.map(Version::from);
        let gone = kinds::find(gvk.api_version(), gvk.kind()).zip(release);
        if let Some((known, release)) = gone.filter(|(known, release)| known.is_removed(*release)) {
            return match known.replacement {
                Some(replacement) => format!("Kubernetes {release} does not serve it any more. Use {replacement}."),
                None => format!("Kubernetes {release} does not serve it any more, and has nothing in its place."),
            };
        }
        let schemas = "Add `--schemas` with the CustomResourceDefinition of the kind";
        let skip = "`--missing-schemas skip` lets objects of kinds pass that are not known.";
        let (oldest, newest) = (builtin::BuiltInDocuments::all().next(), builtin::BuiltInDocuments::newest());
        let known = oldest.map_or_else(|| newest.to_string(), |oldest| format!("{oldest} to {newest}"));
        match &self.built_in {
            Some(_) => format!("{schemas}. {skip}"),
            None => format!(
                "{schemas}. For built-in kinds, give `--kubernetes` with a release from {known}, or `--schemas` with the \
                 OpenAPI document of a cluster (`kubectl get --raw /openapi/v2`). {skip}"
            ),
        }
    }

    /// Returns the message about an unknown kind.
    pub(super) fn unknown(&self, gvk: Gvk<'_>) -> String {
        let key = (gvk.api_version().to_owned(), gvk.kind().to_owned());
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        let text = || {
            let error = self.unknown_to_schemas(gvk);
            let has_versions = !error.versions.is_empty();
            let built_in = self.built_in_of(gvk).filter(|_| !has_versions).map(|registry| registry.unknown(gvk));
            let has_kinds = error.has_kinds || self.built_in.is_some();
            let mut error = built_in.unwrap_or(KindError { has_kinds, ..error });
            if error.elsewhere.is_empty() && error.versions.is_empty() {
                error.elsewhere = self.elsewhere(gvk).into();
            }
            error.to_string()
        };
        unknown.entry(key).or_insert_with(text).clone()
    }
}

impl Layers for Kinds {
    fn of_group<'s>(&'s self, group: &str) -> Vec<&'s Layer> {
        std::iter::once(self.custom_layer())
            .chain(self.built_in.as_ref().and_then(|built_in| built_in.layer(group)))
            .collect()
    }

    fn all(&self) -> Vec<&Layer> {
        let built_in = self.built_in.iter().flat_map(Layers::all);
        std::iter::once(self.custom_layer()).chain(built_in).collect()
    }
}

impl Kinds {
    fn custom_layer(&self) -> &Layer {
        self.layer.get_or_init(|| Layer::new(self.schemas.registry()))
    }

    /// Returns the message about a kind that is not among the schemas, whether their files are read or not.
    fn unknown_to_schemas(&self, gvk: Gvk<'_>) -> KindError {
        let mut error = self.schemas.registry().unknown(gvk);
        error.has_kinds |= self.schemas.waiting().next().is_some();
        if let Some(read) = self.schemas.of(gvk) {
            error.versions.extend(read.versions(gvk.group(), gvk.kind()).into_keys());
            error.versions.sort();
            error.versions.dedup();
        }
        // The kind itself is no hint: its definition cannot be read, or has other versions.
        let others = self.schemas.waiting().filter(|(group, kind, _)| (*group, *kind) != (gvk.group(), gvk.kind()));
        let names = others.map(|(_, kind, _)| kind).chain(error.nearest.iter().map(String::as_str));
        let nearest = if gvk.kind().is_empty() { Vec::new() } else { nearest(gvk.kind(), names) };
        KindError { nearest, ..error }
    }
}
