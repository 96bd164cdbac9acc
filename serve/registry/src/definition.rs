//! The sources of kinds: CustomResourceDefinitions, OpenAPI documents, structured-merge-diff schemas.

use crate::kind::{Kind, Resource, Scope, Version};
use crate::location::Location;
use crate::prepared::Prepared;
use crate::registry::Settings;
use kubeshape_convert::smd::served::{self, Served};
use kubeshape_discovery::{GroupVersion, Records, group_versions_of_document, read as discovery};
use kubeshape_input::{Code, Content, Finding, Note, NoteKind};
use kubeshape_publish::{Publisher, names};
use kubeshape_schema::{Bump, Dialect};
use kubeshape_smd::schema::{self, ReadErrors};
use kubeshape_smd::typed::Types;
use kubeshape_structural::read::{Manifest, manifests};
use kubeshape_structural::{ApiVersion, Crd};
use kubeshape_validate::Release;
use kubeshape_yaml::{Document, Kind as NodeKind, Node};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A part of an input that defines kinds, or types without kinds.
pub struct Definition {
    location: Location,
    form: Form,
    built_in: bool,
    /// `metadata.name` of a CustomResourceDefinition.
    name: Arc<str>,
    /// Findings about its YAML or JSON.
    found: Vec<Finding>,
    settings: Arc<Shared>,
    types: OnceLock<Built>,
    prepared: OnceLock<Option<Arc<Prepared>>>,
    named: OnceLock<BTreeMap<u32, BTreeMap<String, u32>>>,
}

/// Shared by all definitions of a registry.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    publisher: OnceLock<Publisher>,
}

impl Shared {
    pub(crate) fn new(settings: Settings) -> Shared {
        Shared { settings, publisher: OnceLock::new() }
    }

    pub(crate) fn publisher(&self) -> &Publisher {
        self.publisher.get_or_init(|| self.settings.publisher())
    }
}

/// The form of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A CustomResourceDefinition. For a list item, the API version that the list implies.
    CustomResource(Option<ApiVersion>),
    /// An OpenAPI document.
    OpenApi(Dialect),
    /// A structured-merge-diff schema, which does not assign types to kinds.
    Smd,
}

/// The types, and the findings made while building them.
struct Built {
    types: Types,
    findings: Vec<Finding>,
}

impl Definition {
    /// Returns the form.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns whether it is a CustomResourceDefinition.
    pub fn is_custom_resource(&self) -> bool {
        matches!(self.form, Form::CustomResource(_))
    }

    /// Returns whether it was set by [`Registry::set_built_in`](crate::Registry::set_built_in).
    pub fn is_built_in(&self) -> bool {
        self.built_in
    }

    /// Returns its place.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns `metadata.name` of a CustomResourceDefinition; empty otherwise.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its types, built at the first call. If the definition is unusable, they are deduced from the objects;
    /// [`findings`](Self::findings) says why.
    pub fn types(&self) -> &Types {
        &self.built().types
    }

    /// Returns the findings about its YAML or JSON.
    pub fn text_findings(&self) -> impl Iterator<Item = &Finding> {
        self.found.iter()
    }

    /// Returns the findings about its YAML or JSON and about its schemas. Builds the types.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.found.iter().chain(&self.built().findings)
    }

    fn built(&self) -> &Built {
        self.types.get_or_init(|| {
            let nothing = || Built { types: Types::deduced(), findings: Vec::new() };
            // The other forms build their types when they are read.
            let Form::CustomResource(implied) = self.form else { return nothing() };
            self.with_crd(implied, |crd, arena| self.types_of(crd, arena)).unwrap_or_else(nothing)
        })
    }

    /// Reads the CustomResourceDefinition and calls `with`. Returns `None` if it cannot be read.
    pub(crate) fn with_crd<T>(
        &self,
        implied: Option<ApiVersion>,
        with: impl for<'a> FnOnce(&'a Crd<'a>, &'a Bump) -> T,
    ) -> Option<T> {
        let arena = Bump::new();
        let crd = Manifest { node: self.location.node(), implied }.read(&arena).value?;
        Some(with(arena.alloc(crd), &arena))
    }

    /// Reads the CustomResourceDefinition with a single version, and calls `with`. `at` is the node of the version.
    /// Returns `None` without a node, and if the definition cannot be read. A caller who reads all versions one by one takes linear time.
    pub(crate) fn with_version<T>(
        &self,
        implied: Option<ApiVersion>,
        at: Option<u32>,
        with: impl for<'a> FnOnce(&'a Crd<'a>, &'a Bump) -> T,
    ) -> Option<T> {
        let arena = Bump::new();
        let crd = Manifest { node: self.location.node(), implied }.read_version(at?, &arena).value?;
        Some(with(arena.alloc(crd), &arena))
    }

    /// Returns the versions of a CustomResourceDefinition, prepared for requests at the first call. `None` for other
    /// forms, and if it cannot be read.
    pub(crate) fn prepared(&self) -> Option<&Arc<Prepared>> {
        let Form::CustomResource(implied) = self.form else { return None };
        let release = self.settings.settings.release;
        let prepare = || self.with_crd(implied, |crd, _| Arc::new(Prepared::of(crd, release)));
        self.prepared.get_or_init(prepare).as_ref()
    }

    /// Returns the item of a list in its document that has this name. The names are indexed once.
    pub(crate) fn named_item<'a>(&'a self, list: Node<'a>, name: &str) -> Option<Node<'a>> {
        let document = list.document();
        let named = self.named.get_or_init(|| named_items(document));
        Some(document.node(*named.get(&list.index())?.get(name)?))
    }

    fn types_of<'a>(&'a self, crd: &'a Crd<'a>, arena: &'a Bump) -> Built {
        let resource = self.settings.publisher().resource(crd, arena);
        let mut notes: Vec<Note<'_>> =
            resource.findings().iter().filter(|note| note.code != Code::NotServed).cloned().collect();
        let types = match resource.smd() {
            Ok(schema) => Types::new(schema),
            Err(errors) => {
                notes.extend(errors.into_iter().map(|error| Note::new(Code::DeducedType, error.at, error.text)));
                Types::deduced()
            }
        };
        for version in crd.versions.iter().filter(|version| version.name.is_empty()) {
            notes.push(Note::new(Code::WrongType, version.at, "found no name, expected that of the version"));
        }
        Built { types, findings: self.findings_of(&notes, &self.name) }
    }

    /// Returns the release whose rules are used.
    pub fn release(&self) -> Release {
        self.settings.settings.release
    }

    /// Returns the publisher.
    pub(crate) fn publisher(&self) -> &Publisher {
        self.settings.publisher()
    }

    fn findings_of(&self, notes: &[Note<'_>], resource: &str) -> Vec<Finding> {
        findings(&self.location, notes, resource)
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").field("location", &self.location).field("form", &self.form).finish_non_exhaustive()
    }
}

/// Indexes named list items of a document by list and name. Of duplicates, the first is used.
fn named_items(document: Document<'_>) -> BTreeMap<u32, BTreeMap<String, u32>> {
    let mut out: BTreeMap<u32, BTreeMap<String, u32>> = BTreeMap::new();
    let lists = (0..document.len() as u32).map(|at| document.node(at)).filter(|node| node.kind() == NodeKind::Seq);
    for (list, item) in lists.flat_map(|list| list.items().map(move |item| (list, item))) {
        if let Some(name) = item.get("name").and_then(Node::as_str) {
            out.entry(list.index()).or_default().entry(name.to_owned()).or_insert(item.index());
        }
    }
    out
}

fn findings(location: &Location, notes: &[Note<'_>], resource: &str) -> Vec<Finding> {
    let document = location.document();
    let nodes = document.document().len();
    let mut resolver = document.resolver().of_resource(resource);
    let at = |note: &Note<'_>| if (note.at as usize) < nodes { note.at } else { location.node().index() };
    notes.iter().map(|note| resolver.finding(&Note { at: at(note), ..note.clone() })).collect()
}

/// Context shared by all parts of an input.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) shared: &'s Arc<Shared>,
    /// The resources in its discovery documents.
    pub(crate) names: &'s Resources,
    pub(crate) built_in: bool,
}

/// Reads the definitions and kinds of a document node.
pub(crate) fn read(location: &Location, source: Source<'_>) -> Vec<(Arc<Definition>, Vec<Kind>)> {
    let (root, shared) = (location.node(), source.shared);
    match Content::of(root) {
        Content::OpenApi(dialect) => vec![openapi(location, root, dialect, source)],
        Content::Definitions => vec![openapi(location, root, Dialect::V2, source)],
        Content::Smd => vec![(smd(location, root, shared), Vec::new())],
        _ => {
            let is_whole = root.index() == 0;
            let (definitions, _) = if is_whole { location.document().manifests() } else { manifests(root) };
            definitions.into_iter().map(|manifest| custom_resource(location, manifest, shared)).collect()
        }
    }
}

fn openapi(
    location: &Location,
    root: Node<'_>,
    dialect: Dialect,
    Source { shared, names, built_in }: Source<'_>,
) -> (Arc<Definition>, Vec<Kind>) {
    let arena = Bump::new();
    let served = served::of_document(root, dialect, shared.settings.smd_compat, &arena);
    let (schema, kinds, found) = match served {
        Ok(Served { schema, kinds }) => (Some(schema), kinds, Vec::new()),
        Err(notes) => (None, Vec::new(), findings(location, &notes, "")),
    };
    let built = schema.map(|schema| Built { types: Types::new(schema), findings: Vec::new() });
    let definition = Arc::new(Definition {
        location: location.clone(),
        form: Form::OpenApi(dialect),
        built_in,
        name: "".into(),
        found,
        settings: Arc::clone(shared),
        types: built.map(OnceLock::from).unwrap_or_default(),
        prepared: OnceLock::new(),
        named: OnceLock::new(),
    });
    let resources = Resources::of(&group_versions_of_document(root));
    let kinds = kinds.into_iter().filter(|kind| definition.types().named(kind.type_name).is_some());
    let kinds = kinds.map(|kind| Kind {
        api_version: kind.gvk.api_version().into(),
        kind: kind.gvk.kind().into(),
        definition: Arc::clone(&definition),
        type_name: kind.type_name.into(),
        schema: Some(kind.at),
        version_at: None,
        resource: {
            let key = (kind.gvk.group(), kind.gvk.version(), kind.gvk.kind());
            names.get(&key).or_else(|| resources.get(&key)).cloned()
        },
        version: None,
        reset: [kind.reset_fields(""), kind.reset_fields("status")],
        strategy: OnceLock::new(),
    });
    let kinds = kinds.collect();
    (definition, kinds)
}

/// Group, version and kind.
type ResourceKey = (Arc<str>, Arc<str>, Arc<str>);

/// Returns the resources of an OpenAPI document by group, version and kind, as far as its paths show them.
pub fn resources_of_document(root: Node<'_>) -> BTreeMap<ResourceKey, Resource> {
    Resources::of(&group_versions_of_document(root)).0
}

/// Returns the resources in discovery documents among the parts of an input.
pub(crate) fn discovered(parts: &[Location]) -> Resources {
    let mut records = Records::default();
    for root in parts.iter().map(Location::node) {
        if matches!(Content::of(root), Content::Discovery(_))
            && let Ok(document) = discovery::read_node(root)
        {
            records.add(document);
        }
    }
    let groups = records.groups().into_iter();
    let versions =
        groups.flat_map(|group| group.versions.into_iter().map(move |version| (Arc::clone(&group.name), version)));
    Resources::of(&versions.collect::<Vec<_>>())
}

/// Resources by group, version and kind.
#[derive(Default)]
pub(crate) struct Resources(BTreeMap<ResourceKey, Resource>);

impl Resources {
    /// Collects the resources of group versions, each with its group.
    fn of<V: Borrow<GroupVersion>>(versions: &[(Arc<str>, V)]) -> Resources {
        let mut found = Resources::default();
        for (group, version) in versions {
            let version: &GroupVersion = version.borrow();
            for resource in &version.resources {
                let subresources = resource.subresources.iter();
                let names = Resource {
                    plural: Arc::clone(&resource.name),
                    singular: Arc::clone(&resource.singular),
                    short_names: resource.short_names.clone(),
                    categories: resource.categories.clone(),
                    list_kind: None,
                    scope: resource.scope,
                    subresources: subresources.map(|subresource| Arc::clone(&subresource.name)).collect(),
                };
                // Kinds of other groups are response kinds, such as the Scale of autoscaling.
                let kind = &resource.response_kind;
                let own =
                    |text: &Arc<str>, own: &Arc<str>| if text.is_empty() { Arc::clone(own) } else { Arc::clone(text) };
                let key = (own(&kind.group, group), own(&kind.version, &version.version), Arc::clone(&kind.kind));
                found.0.entry(key).or_insert(names);
            }
        }
        found
    }

    fn get(&self, (group, version, kind): &(&str, &str, &str)) -> Option<&Resource> {
        self.0.get(&((*group).into(), (*version).into(), (*kind).into()))
    }
}

fn smd(location: &Location, root: Node<'_>, shared: &Arc<Shared>) -> Arc<Definition> {
    let (types, found) = match schema::read(root) {
        Ok(schema) => (Some(Types::new(schema)), Vec::new()),
        Err(ReadErrors(errors)) => {
            let notes = errors.into_iter().map(|error| Note::new(Code::WrongType, error.at, error.message));
            (None, findings(location, &notes.collect::<Vec<_>>(), ""))
        }
    };
    let built = types.map(|types| Built { types, findings: Vec::new() });
    Arc::new(Definition {
        location: location.clone(),
        form: Form::Smd,
        built_in: false,
        name: "".into(),
        found,
        settings: Arc::clone(shared),
        types: built.map(OnceLock::from).unwrap_or_default(),
        prepared: OnceLock::new(),
        named: OnceLock::new(),
    })
}

fn custom_resource(location: &Location, manifest: Manifest<'_>, shared: &Arc<Shared>) -> (Arc<Definition>, Vec<Kind>) {
    let arena = Bump::new();
    let read = manifest.read(&arena);
    let errors: Vec<Note<'_>> = read.notes.into_iter().filter(|note| note.code.kind() == NoteKind::Error).collect();
    let location = location.at(manifest.node);
    let definition = Arc::new(Definition {
        found: findings(&location, &errors, ""),
        location,
        form: Form::CustomResource(manifest.implied),
        built_in: false,
        name: read.value.map_or("", |crd| crd.name).into(),
        settings: Arc::clone(shared),
        types: OnceLock::new(),
        prepared: OnceLock::new(),
        named: OnceLock::new(),
    });
    let Some(crd) = read.value else { return (definition, Vec::new()) };
    let mut kinds: Vec<Kind> = Vec::with_capacity(crd.versions.len());
    let mut seen = BTreeSet::new();
    // No object can have a version without a name. Of two versions with one name, the first is used.
    for version in crd.versions.iter().filter(|version| !version.name.is_empty()) {
        if !seen.insert(version.name) {
            continue;
        }
        let api_version = format!("{}/{}", crd.group, version.name);
        let reset: [&'static [&'static str]; 2] =
            if version.status { [&["status"], &["metadata", "spec"]] } else { [&[]; 2] };
        kinds.push(Kind {
            api_version: api_version.into(),
            kind: crd.names.kind.into(),
            definition: Arc::clone(&definition),
            type_name: names::definition(crd.group, version.name, crd.names.kind).into(),
            schema: version.schema.map(|schema| schema.at),
            version_at: Some(version.at),
            resource: Some(resource(&crd, version)),
            version: Some(self::version(version)),
            reset,
            strategy: OnceLock::new(),
        });
    }
    (definition, kinds)
}

fn texts(texts: &[&str]) -> Vec<Arc<str>> {
    texts.iter().map(|text| Arc::from(*text)).collect()
}

fn resource(crd: &Crd<'_>, version: &kubeshape_structural::Version<'_>) -> Resource {
    let subresources = [("status", version.status), ("scale", version.scale.is_some())];
    Resource {
        plural: crd.names.plural.into(),
        singular: crd.names.singular.into(),
        short_names: texts(crd.names.short_names),
        categories: texts(crd.names.categories),
        list_kind: Some(crd.names.list_kind.into()),
        scope: match crd.scope {
            kubeshape_structural::Scope::Namespaced => Scope::Namespaced,
            kubeshape_structural::Scope::Cluster | kubeshape_structural::Scope::Other => Scope::Cluster,
        },
        subresources: subresources.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.into()).collect(),
    }
}

fn version(version: &kubeshape_structural::Version<'_>) -> Version {
    Version {
        served: version.served,
        storage: version.storage,
        deprecated: version.deprecated,
        deprecation_warning: version.deprecation_warning.map(Into::into),
        columns: version.columns.iter().map(|column| column.map(Arc::from)).collect(),
        selectable_fields: texts(version.selectable_fields),
        scale: version.scale.map(|scale| scale.map(Arc::from)),
    }
}
