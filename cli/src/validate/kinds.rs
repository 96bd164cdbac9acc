//! The kinds of the schemas, each prepared once, when the first object of it is judged.

use crate::error::Fatal;
use crate::input::{Filter, Input, Reader, gather};
use crate::ssa::types;
use kubeshape_builtin as builtin;
use kubeshape_input::{Code, Finding, Limits};
use kubeshape_registry::{Form, Gvk, Kind, KindError, Location, Registry};
use kubeshape_schema::Bump;
use kubeshape_structural::Crd;
use kubeshape_structural::read::Manifest;
use kubeshape_validate::Release;
use kubeshape_validate::object::Resource;
use kubeshape_validate::typed::Typed;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Something per kind and API version.
type ByKind<T> = BTreeMap<String, BTreeMap<String, T>>;

/// The kinds of a registry that objects are judged by.
#[derive(Debug)]
pub(super) struct Kinds<'a> {
    registry: &'a Registry,
    /// By kind and API version.
    prepared: BTreeMap<&'a str, BTreeMap<&'a str, Prepared<'a>>>,
    release: Release,
    /// Kubernetes' own kinds, if they are asked for.
    built_in: Option<BuiltIn>,
    /// What the documents say of kinds, by kind and API version.
    typed: Mutex<ByKind<Arc<Typed>>>,
    /// What was said about kinds that are not known, by API version and kind: it takes a search among all kinds.
    unknown: Mutex<BTreeMap<(String, String), String>>,
}

/// A kind, and what is made of it at first use.
#[derive(Debug)]
struct Prepared<'a> {
    kind: &'a Kind,
    /// The memory of what is made; gone when it is made.
    arena: Mutex<Option<&'a mut Bump>>,
    resource: OnceLock<Option<Resource<'a>>>,
}

impl<'a> Kinds<'a> {
    /// The kinds of a registry, of which none is prepared yet. There is an arena for each. If a release is asked for,
    /// its built-in kinds are known as well.
    pub(super) fn new(registry: &'a Registry, arenas: &'a mut Vec<Bump>, asked: Option<Release>) -> Kinds<'a> {
        let custom: Vec<&Kind> = registry.kinds().filter(|kind| kind.definition().is_custom_resource()).collect();
        arenas.resize_with(custom.len(), Bump::new);
        let mut prepared: BTreeMap<&str, BTreeMap<&str, Prepared<'_>>> = BTreeMap::new();
        for (kind, arena) in custom.into_iter().zip(arenas) {
            let empty = Prepared { kind, arena: Mutex::new(Some(arena)), resource: OnceLock::new() };
            prepared.entry(kind.kind()).or_default().insert(kind.api_version(), empty);
        }
        let built_in = asked.and_then(BuiltIn::new);
        let release = asked.unwrap_or_default();
        Kinds { registry, prepared, release, built_in, typed: Mutex::default(), unknown: Mutex::default() }
    }

    /// What is known about objects; none if nothing is known of their kind.
    pub(super) fn resource(&self, gvk: Gvk<'_>) -> Option<&Resource<'a>> {
        let prepared = self.prepared.get(gvk.kind())?.get(gvk.api_version())?;
        let make = || {
            let arena = prepared.arena.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            resource(prepared.kind, self.release, arena)
        };
        prepared.resource.get_or_init(make).as_ref()
    }

    /// What an OpenAPI document says of objects; none if no document has their kind.
    pub(super) fn typed(&self, gvk: Gvk<'_>) -> Option<Arc<Typed>> {
        let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = typed.get(gvk.kind()).and_then(|versions| versions.get(gvk.api_version())) {
            return Some(Arc::clone(found));
        }
        let given = self.registry.kind(gvk).and_then(Kind::typed);
        let found = given.or_else(|| self.built_in_of(gvk)?.kind(gvk)?.typed()).map(Arc::new);
        // Whoever sends kinds that nobody knows does not fill the memory.
        if let Some(found) = &found {
            let versions = typed.entry(gvk.kind().to_owned()).or_default();
            versions.insert(gvk.api_version().to_owned(), Arc::clone(found));
        }
        found
    }

    fn built_in_of(&self, gvk: Gvk<'_>) -> Option<&Registry> {
        self.built_in.as_ref()?.group(gvk.group())
    }

    /// What to do about a kind that is not known.
    pub(super) fn advice(&self) -> String {
        let schemas = "Add `--schemas` with the CustomResourceDefinition of the kind";
        let skip = "`--missing-schemas skip` lets objects of kinds pass that are not known.";
        let (oldest, newest) = (builtin::Release::all().next(), builtin::Release::newest());
        let known = oldest.map_or_else(|| newest.to_string(), |oldest| format!("{oldest} to {newest}"));
        match &self.built_in {
            Some(_) => format!("{schemas}. {skip}"),
            None => format!(
                "{schemas}. For built-in kinds, give `--kubernetes` with a release from {known}, or `--schemas` with the \
                 OpenAPI document of a cluster (`kubectl get --raw /openapi/v2`). {skip}"
            ),
        }
    }

    /// What there is to say about a kind that is not known.
    pub(super) fn unknown(&self, gvk: Gvk<'_>) -> String {
        let key = (gvk.api_version().to_owned(), gvk.kind().to_owned());
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        let text = || {
            let error: KindError = self.registry.unknown(gvk);
            let has_versions = !error.versions.is_empty();
            let built_in = self.built_in_of(gvk).filter(|_| !has_versions).map(|registry| registry.unknown(gvk));
            let has_kinds = error.has_kinds || self.built_in.is_some();
            built_in.unwrap_or(KindError { has_kinds, ..error }).to_string()
        };
        unknown.entry(key).or_insert_with(text).clone()
    }
}

/// Kubernetes' own kinds of a release, by group. A group is read when the first object of it comes.
#[derive(Debug)]
struct BuiltIn {
    release: builtin::Release,
    api: builtin::Api,
    groups: BTreeMap<String, OnceLock<Registry>>,
}

impl BuiltIn {
    /// None if there are no documents of the release.
    fn new(release: Release) -> Option<BuiltIn> {
        let release: builtin::Release = release.to_string().parse().ok()?;
        let api = release.api();
        let groups = types::groups(&api).into_iter().map(|group| (group, OnceLock::new())).collect();
        Some(BuiltIn { release, api, groups })
    }

    fn group(&self, group: &str) -> Option<&Registry> {
        let make = || {
            let mut registry = Registry::default();
            types::add_groups(self.release, &self.api, &mut registry, |other| other == group);
            registry
        };
        Some(self.groups.get(group)?.get_or_init(make))
    }
}

fn resource<'a>(kind: &'a Kind, release: Release, arena: &'a Bump) -> Option<Resource<'a>> {
    let definition = kind.definition();
    let Form::CustomResource(implied) = definition.form() else { return None };
    let crd = Manifest { node: definition.location().node(), implied }.read(arena).value?;
    let crd: &'a Crd<'a> = arena.alloc(crd);
    let version = crd.versions.iter().find(|version| version.name == kind.version_name())?;
    Some(Resource::new(crd, version, release, arena))
}

/// The documents of inputs, in their order.
pub(super) struct Read {
    pub(super) inputs: Vec<(Input, kubeshape_input::Input)>,
    /// What is to be told about inputs, and whether one could not be read.
    pub(super) findings: Vec<Finding>,
    pub(super) unread: bool,
}

/// Reads files and folders on all threads.
///
/// # Errors
/// Threads cannot be started.
pub(super) fn read(paths: &[PathBuf], filter: &Filter, jobs: usize) -> Result<Read, Fatal> {
    let gathered = gather(paths, None, filter);
    let mut out = Read { inputs: Vec::new(), findings: gathered.findings, unread: !gathered.unreadable.is_empty() };
    for (path, why) in gathered.unreadable {
        out.findings.push(Finding::new(Code::Unreadable, why).in_input(path.to_string_lossy()));
    }
    let one = |reader: &mut Reader, input: Input| {
        let limits = Limits::default();
        match reader.read(&input, &limits) {
            Ok(bytes) => {
                let read = kubeshape_input::read(input.name(), bytes, limits);
                Ok((input, read))
            }
            Err(finding) => Err(finding),
        }
    };
    let pool = crate::convert::pool(jobs)?;
    let read: Vec<_> = pool.install(|| gathered.inputs.into_par_iter().map_init(Reader::default, one).collect());
    for input in read {
        match input {
            Ok(input) => out.inputs.push(input),
            Err(finding) => {
                out.unread |= finding.code == Code::Unreadable;
                out.findings.push(*finding);
            }
        }
    }
    Ok(out)
}

/// Adds the definitions of an input. Returns whether there are any.
pub(super) fn add(registry: &mut Registry, documents: Vec<kubeshape_input::Document>) -> (String, bool) {
    // Inputs count in the order in which they are given.
    let name = format!("{:09}", registry.inputs().count());
    let parts = documents.into_iter().map(|document| Location::root(Arc::new(document)));
    let is_used = registry.set(name.as_str(), parts, Vec::new());
    (name, is_used)
}
