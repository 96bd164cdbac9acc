//! The registry: inputs by name, and the kinds that they define.

use crate::definition::{self, Definition, Form, Shared, Source};
use crate::error::{KindError, TypeError};
use crate::kind::Kind;
use crate::location::Location;
use crate::name::KindQuery;
use crate::name::Reading;
use kubeshape_discovery::deprecated::{CustomVersion, best, custom_warning};
use kubeshape_discovery::version_order;
use kubeshape_input::{Finding, Input};
use kubeshape_publish::{Base, Options, Publisher};
use kubeshape_smd::managed::{Gvk, TypeConverter};
use kubeshape_smd::typed::Emptied;
use kubeshape_smd::typed::{Type, nearest};
use kubeshape_smd::value::Compat;
use kubeshape_validate::{Change, Release};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

pub use kubeshape_publish::{Profile, SmdCompat};

/// The minor release from which on servers have structured-merge-diff 7.
const STRUCTURED_MERGE_DIFF_7: u8 = 38;

/// Settings for reading definitions and managed fields.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Built-in definitions to publish along with those of a CustomResourceDefinition; if `None`, those of the release.
    pub base: Option<Base>,
    /// The release of structured-merge-diff that the types follow.
    pub smd_compat: SmdCompat,
    /// The release of structured-merge-diff that reads and writes the managed fields of objects.
    pub compat: Compat,
    /// How lists and maps are handled that an apply empties.
    pub emptied: Emptied,
    /// The Kubernetes minor release whose validation rules are used.
    pub release: Release,
}

/// Returns the settings of a server of the newest release.
impl Default for Settings {
    fn default() -> Settings {
        Settings::of(Release::DEFAULT)
    }
}

impl Settings {
    /// Returns the settings of a server of a release. Of a release whose rules are unknown ([`Release::of_minor`]),
    /// they are those of the newest one, with its own structured-merge-diff.
    pub fn of(release: Release) -> Settings {
        let is_new = Change::StructuredMergeDiff64.is_in(release);
        let compat = match release {
            release if release.since(STRUCTURED_MERGE_DIFF_7) => Compat::V70,
            _ if is_new => Compat::V64,
            _ => Compat::V63,
        };
        Settings {
            base: None,
            smd_compat: if is_new { SmdCompat::V64 } else { SmdCompat::V63 },
            compat,
            emptied: if release.faulty_patch().is_some() { Emptied::Kept } else { Emptied::Null },
            release: release.clamp(Release::OLDEST, Release::NEWEST),
        }
    }

    pub(crate) fn publisher(&self) -> Publisher {
        let options = Options { smd_compat: self.smd_compat, all_versions: true, ..Options::default() };
        Publisher::new(self.base.clone().unwrap_or_else(|| Base::builtin_of(self.release)), options)
    }
}

/// The APIs that a set of inputs defines.
///
/// Inputs have names, by which they are replaced and removed. The content of a registry depends on its inputs, not on
/// the order in which they were set. If several define one kind, CustomResourceDefinitions precede OpenAPI documents,
/// and these precede built-in ones. Within a form, the first is used, by the name of the input, then by its place in
/// it.
///
/// A clone shares everything with the original, so a server can change a copy while requests read the other one.
///
/// # Example: kinds by their names
/// ```
/// use kubeshape_registry::Registry;
///
/// let mut registry = Registry::default();
/// registry.set_input("tabs", kubeshape_input::read("tabs.yaml", b"
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: tabs.example.com}
/// spec:
///   group: example.com
///   scope: Namespaced
///   names: {plural: tabs, kind: Tab, shortNames: [tb]}
///   versions:
///   - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
/// ", kubeshape_input::Limits::default()));
///
/// for name in ["tabs", "tab", "tb", "Tab", "tabs.example.com", "tabs.v1.example.com"] {
///     assert_eq!(registry.by_name(name)[0].gvk().to_string(), "example.com/v1, Kind=Tab");
/// }
/// registry.remove("tabs");
/// assert!(registry.by_name("tabs").is_empty());
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    shared: Arc<Shared>,
    inputs: BTreeMap<Arc<str>, Arc<Inputs>>,
    /// By kind, then by `apiVersion`. If a kind has several definitions, the one in use is first.
    kinds: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Slot>>,
    /// By the names of resources in lower case.
    names: BTreeMap<Arc<str>, Slot>,
    /// The names of types that were assigned to kinds.
    given: BTreeMap<(Arc<str>, Arc<str>), Arc<str>>,
    /// The type of every object, if it was set.
    only: Option<(Arc<str>, Arc<Kind>)>,
}

/// The content of an input.
#[derive(Debug)]
struct Inputs {
    definitions: Vec<(Arc<Definition>, Vec<Arc<Kind>>)>,
    /// Findings about its YAML or JSON.
    found: Vec<Finding>,
}

/// Kinds with one name, in order of precedence.
type Slot = Vec<(Rank, Arc<Kind>)>;

/// The precedence of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    class: Class,
    input: Arc<str>,
    definition: usize,
    version: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Given,
    CustomResource,
    Document,
    BuiltIn,
}

/// The common properties of all versions of a kind in a group.
#[derive(Clone, Copy, Debug)]
pub struct Family<'r> {
    best: Option<&'r str>,
    storage: Option<&'r Kind>,
}

impl<'r> Family<'r> {
    /// Returns the version in which objects are stored, if a definition names one.
    pub fn storage(&self) -> Option<&'r Kind> {
        self.storage
    }

    /// Returns the server's warning about one of the versions, or `None` if it is not deprecated.
    pub fn deprecation(&self, kind: &Kind) -> Option<String> {
        custom_warning(kind.group(), kind.kind(), &custom(kind), self.best)
    }
}

impl Registry {
    /// Returns a registry without inputs.
    pub fn new(settings: Settings) -> Registry {
        Registry { shared: Arc::new(Shared::new(settings)), ..Registry::default() }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Returns the publisher of the CustomResourceDefinitions.
    pub fn publisher(&self) -> &Publisher {
        self.shared.publisher()
    }

    /// Sets an input; replaces an input of the same name. Returns whether it defines anything.
    pub fn set_input(&mut self, name: impl Into<Arc<str>>, input: Input) -> bool {
        let Input { documents, findings } = input;
        self.set(name, documents.into_iter().map(|document| Location::root(Arc::new(document))), findings)
    }

    /// Like [`set_input`](Self::set_input), for parsed documents or parts of documents; `found` are the findings about
    /// their source.
    pub fn set(
        &mut self,
        name: impl Into<Arc<str>>,
        parts: impl IntoIterator<Item = Location>,
        found: Vec<Finding>,
    ) -> bool {
        self.set_parts(name.into(), parts, found, false)
    }

    /// Like [`set_input`](Self::set_input), for documents of built-in kinds that do not come from the target cluster.
    /// All other definitions of a kind precede them.
    ///
    /// Discovery documents among them complete the resources of the OpenAPI documents: short names, categories.
    pub fn set_built_in(&mut self, name: impl Into<Arc<str>>, input: Input) -> bool {
        let Input { documents, findings } = input;
        self.set_parts(
            name.into(),
            documents.into_iter().map(|document| Location::root(Arc::new(document))),
            findings,
            true,
        )
    }

    fn set_parts(
        &mut self,
        name: Arc<str>,
        parts: impl IntoIterator<Item = Location>,
        found: Vec<Finding>,
        built_in: bool,
    ) -> bool {
        self.take_out(&name);
        let parts: Vec<Location> = parts.into_iter().collect();
        let names = definition::discovered(&parts);
        let source = Source { shared: &self.shared, names: &names, built_in };
        let definitions = parts.iter().flat_map(|part| definition::read(part, source));
        let definitions: Vec<(Arc<Definition>, Vec<Arc<Kind>>)> =
            definitions.map(|(definition, kinds)| (definition, kinds.into_iter().map(Arc::new).collect())).collect();
        for (rank, kind) in ranked(&name, &definitions) {
            let versions = self.kinds.entry(Arc::clone(&kind.kind)).or_default();
            insert(versions.entry(Arc::clone(&kind.api_version)).or_default(), &rank, kind);
            for word in words(kind) {
                insert(self.names.entry(word).or_default(), &rank, kind);
            }
        }
        let is_used = !definitions.is_empty();
        self.inputs.insert(name, Arc::new(Inputs { definitions, found }));
        self.settle();
        is_used
    }

    /// Removes an input. Returns whether it existed.
    pub fn remove(&mut self, name: &str) -> bool {
        let had = self.take_out(name);
        self.settle();
        had
    }

    fn take_out(&mut self, name: &str) -> bool {
        let Some((name, input)) = self.inputs.remove_entry(name) else { return false };
        // From the last one on: the kinds after a removed one in its slot have to be moved.
        let kinds: Vec<(Rank, &Arc<Kind>)> = ranked(&name, &input.definitions).collect();
        for (rank, kind) in kinds.into_iter().rev() {
            if let Some(versions) = self.kinds.get_mut(&kind.kind) {
                remove(versions, &kind.api_version, &rank);
                if versions.is_empty() {
                    self.kinds.remove(&kind.kind);
                }
            }
            for word in words(kind) {
                remove(&mut self.names, &word, &rank);
            }
        }
        true
    }

    /// Updates the types assigned to kinds. A missing type is unassigned.
    fn settle(&mut self) {
        if let Some((name, _)) = self.only.take() {
            self.only = self.type_named(&name).map(|kind| (name, Arc::new(kind)));
        }
        let given = std::mem::take(&mut self.given);
        for (kind, api_version) in given.keys() {
            self.take_given(kind, api_version);
        }
        for ((kind, api_version), name) in &given {
            if let Some(found) = self.type_named(name) {
                self.give(api_version, kind, found);
            }
        }
        self.given = given;
    }

    fn take_given(&mut self, kind: &str, api_version: &str) {
        let Some(versions) = self.kinds.get_mut(kind) else { return };
        if let Some(slot) = versions.get_mut(api_version) {
            slot.retain(|(rank, _)| rank.class != Class::Given);
            if slot.is_empty() {
                versions.remove(api_version);
            }
        }
        if versions.is_empty() {
            self.kinds.remove(kind);
        }
    }

    fn give(&mut self, api_version: &Arc<str>, kind: &Arc<str>, found: Kind) {
        let (api_version, kind) = (Arc::clone(api_version), Arc::clone(kind));
        let known = Kind { api_version, kind, strategy: OnceLock::new(), ..found };
        let rank = Rank { class: Class::Given, input: "".into(), definition: 0, version: 0 };
        let versions = self.kinds.entry(Arc::clone(&known.kind)).or_default();
        insert(versions.entry(Arc::clone(&known.api_version)).or_default(), &rank, &Arc::new(known));
    }

    /// Returns the names of the inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = &Arc<str>> {
        self.inputs.keys()
    }

    /// Returns the definitions of an input, in order.
    pub fn definitions<'r>(&'r self, input: &str) -> impl Iterator<Item = &'r Definition> + use<'r> {
        let input = self.inputs.get(input).into_iter();
        input.flat_map(|input| &input.definitions).map(|(definition, _)| &**definition)
    }

    /// Returns the findings about the YAML or JSON of an input.
    pub fn text_findings<'r>(&'r self, input: &str) -> impl Iterator<Item = &'r Finding> + use<'r> {
        let found = self.inputs.get(input).into_iter().flat_map(|input| &input.found);
        found.chain(self.definitions(input).flat_map(Definition::text_findings))
    }

    /// Returns the findings about an input: its YAML or JSON, and its schemas. Builds the types of all its definitions.
    pub fn findings<'r>(&'r self, input: &str) -> impl Iterator<Item = &'r Finding> + use<'r> {
        let found = self.inputs.get(input).into_iter().flat_map(|input| &input.found);
        found.chain(self.definitions(input).flat_map(Definition::findings))
    }

    /// Returns whether no kind is known.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.only.is_none()
    }

    /// Returns all kinds, by kind and `apiVersion`. If a kind has several definitions, the one in use.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.values().flat_map(BTreeMap::values).filter_map(first)
    }

    /// Returns a kind.
    pub fn kind(&self, gvk: Gvk<'_>) -> Option<&Kind> {
        self.only.as_ref().map(|(_, kind)| &**kind).or_else(|| self.definitions_of(gvk).next())
    }

    /// Returns the kind of an object, or an error with suggestions.
    ///
    /// # Errors
    /// There is no such kind.
    pub fn expect(&self, gvk: Gvk<'_>) -> Result<&Kind, KindError> {
        self.kind(gvk).ok_or_else(|| self.unknown(gvk))
    }

    /// Returns all definitions of a kind, the one in use first.
    pub fn definitions_of(&self, gvk: Gvk<'_>) -> impl Iterator<Item = &Kind> {
        let slot = self.kinds.get(gvk.kind()).and_then(|versions| versions.get(gvk.api_version()));
        slot.into_iter().flatten().map(|(_, kind)| &**kind)
    }

    /// Returns the versions of a kind in that group.
    pub fn versions<'r>(&'r self, group: &str, kind: &str) -> impl Iterator<Item = &'r Kind> {
        let versions = self.kinds.get(kind).into_iter().flat_map(BTreeMap::values).filter_map(first);
        versions.filter(move |known| known.group() == group)
    }

    /// Returns the server's warning about a version of a custom resource, or `None` if it is not deprecated. For all
    /// versions of a kind, [`family`](Self::family) is faster.
    pub fn deprecation(&self, kind: &Kind) -> Option<String> {
        let is_deprecated = kind.version().is_some_and(|version| version.deprecated);
        if is_deprecated { self.family(kind.group(), kind.kind()).deprecation(kind) } else { None }
    }

    /// Returns the common properties of all versions of a kind in a group.
    pub fn family<'r>(&'r self, group: &str, kind: &str) -> Family<'r> {
        let facts: Vec<CustomVersion<'_>> = self.versions(group, kind).map(custom).collect();
        let is_storage = |kind: &&Kind| kind.version().is_some_and(|version| version.storage);
        Family { best: best(&facts), storage: self.versions(group, kind).find(is_storage) }
    }

    /// Returns the names of resources and kinds that are nearest to a name, at most three. A resource is named once.
    pub fn names_near(&self, name: &str) -> Vec<String> {
        let word = name.split('.').next().unwrap_or_default().to_lowercase();
        let mut seen = BTreeSet::new();
        let mut out = nearest(&word, self.names.keys().map(|known| &**known));
        out.retain(|name| {
            let mut kinds = self.names.get(name.as_str()).into_iter().flatten();
            kinds.next().is_none_or(|(_, kind)| seen.insert((kind.group().to_owned(), kind.kind().to_owned())))
        });
        out
    }

    /// Returns the kinds with a name, resolved as in `kubectl get` (see [`KindQuery`]): the plural or singular name of
    /// a resource, a short name, or the kind, in any case; optionally followed by the group, or the version and the
    /// group. They are ordered by group, and by version as servers prefer them: `v2`, `v1`, `v1beta1`.
    pub fn by_name(&self, name: &str) -> Vec<&Kind> {
        let named = |reading: &Reading| {
            let mut found: Vec<&Kind> = Vec::new();
            for (_, kind) in self.names.get(reading.word.as_str()).into_iter().flatten() {
                let fits = reading.group.as_ref().is_none_or(|g| g == kind.group())
                    && reading.version.as_ref().is_none_or(|v| v == kind.version_name());
                if fits && self.counts(kind) {
                    found.push(kind);
                }
            }
            found.sort_by(|a, b| {
                a.group().cmp(b.group()).then_with(|| version_order(a.version_name(), b.version_name()))
            });
            found
        };
        KindQuery::new(name).readings().iter().map(named).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Returns whether this definition of its kind is in use.
    fn counts(&self, kind: &Arc<Kind>) -> bool {
        let slot = self.kinds.get(&kind.kind).and_then(|versions| versions.get(&kind.api_version));
        let defined = slot.into_iter().flatten().find(|(rank, _)| rank.class != Class::Given);
        defined.is_some_and(|(_, first)| Arc::ptr_eq(first, kind))
    }

    /// Returns the kinds of a category, such as `all`.
    pub fn of_category(&self, category: &str) -> impl Iterator<Item = &Kind> {
        self.kinds().filter(move |kind| {
            kind.resource().is_some_and(|resource| resource.categories.iter().any(|name| **name == *category))
        })
    }

    /// Returns two definitions of a kind, the one in use first, if that deserves a warning. A cluster's OpenAPI
    /// documents also contain the kinds of its CustomResourceDefinitions, which deserves none.
    pub fn repeated(&self, gvk: Gvk<'_>) -> Option<(&Kind, &Kind)> {
        let mut all = self.definitions_of(gvk);
        let (first, second) = (all.next()?, all.next()?);
        let is_built_in = second.definition().is_built_in();
        let of_a_sort = first.definition().is_custom_resource() == second.definition().is_custom_resource();
        (of_a_sort && !is_built_in).then_some((first, second))
    }

    /// Assigns the type of that name to a kind: from a structured-merge-diff schema, or else from any other definition.
    /// It precedes the definitions of the kind.
    ///
    /// # Errors
    /// No definition has a type of that name.
    pub fn give_type(&mut self, gvk: Gvk<'_>, type_name: &str) -> Result<(), TypeError> {
        let found = self.type_named(type_name).ok_or_else(|| self.no_type(type_name))?;
        let (kind, api_version): (Arc<str>, Arc<str>) = (gvk.kind().into(), gvk.api_version().into());
        self.take_given(&kind, &api_version);
        self.give(&api_version, &kind, found);
        self.given.insert((kind, api_version), type_name.into());
        Ok(())
    }

    /// Assigns the type of that name to all objects, of any kind.
    ///
    /// # Errors
    /// No definition has a type of that name.
    pub fn give_all_type(&mut self, type_name: &str) -> Result<(), TypeError> {
        let found = self.type_named(type_name).ok_or_else(|| self.no_type(type_name))?;
        self.only = Some((type_name.into(), Arc::new(found)));
        Ok(())
    }

    /// Returns whether all objects have one type.
    pub fn has_one_type(&self) -> bool {
        self.only.is_some()
    }

    /// Returns the type of that name, as a kind without a name.
    pub fn type_named(&self, name: &str) -> Option<Kind> {
        let all = || self.inputs.values().flat_map(|input| &input.definitions).map(|(definition, _)| definition);
        let written =
            all().find(|definition| definition.form() == Form::Smd && definition.types().named(name).is_some());
        if let Some(definition) = written {
            return Some(Kind {
                api_version: "".into(),
                kind: "".into(),
                definition: Arc::clone(definition),
                type_name: name.into(),
                schema: None,
                version_at: None,
                resource: None,
                version: None,
                reset: [&[]; 2],
                strategy: OnceLock::new(),
            });
        }
        let mut others = self.kinds.values().flat_map(BTreeMap::values).flatten();
        let (_, other) = others.find(|(_, kind)| kind.definition().types().named(name).is_some())?;
        Some(Kind { type_name: name.into(), ..Kind::clone(other) })
    }

    fn no_type(&self, name: &str) -> TypeError {
        let all = self.inputs.values().flat_map(|input| &input.definitions).map(|(definition, _)| definition);
        let written = all.filter(|definition| definition.form() == Form::Smd);
        let written = written
            .flat_map(|definition| definition.types().schema().types())
            .map(kubeshape_smd::schema::TypeDef::name);
        let others = self.kinds.values().flat_map(BTreeMap::values).flatten();
        let names = written.chain(others.map(|(_, kind)| kind.type_name()));
        TypeError { name: name.to_owned(), nearest: nearest(name, names) }
    }

    /// Returns the API versions that have a kind, at most three: those with similar names, else the first ones.
    pub fn elsewhere(&self, gvk: Gvk<'_>) -> Vec<String> {
        let known = || self.kinds.get(gvk.kind()).into_iter().flat_map(BTreeMap::values).filter_map(first);
        let versions = || known().map(Kind::api_version);
        let near = nearest(gvk.api_version(), versions());
        if near.is_empty() { versions().take(3).map(str::to_owned).collect() } else { near }
    }

    /// Returns the error for an unknown kind.
    pub fn unknown(&self, gvk: Gvk<'_>) -> KindError {
        let versions: Vec<String> =
            self.versions(gvk.group(), gvk.kind()).map(|known| known.api_version().to_owned()).collect();
        let mut all = self.inputs.values().flat_map(|input| &input.definitions);
        let has_written = all.any(|(definition, _)| {
            definition.form() == Form::Smd && definition.types().schema().types().next().is_some()
        });
        // Lists are kinds, too, but never what the user means.
        let kinds = self.kinds.keys().map(|kind| &**kind).filter(|kind| !kind.ends_with("List"));
        KindError {
            api_version: gvk.api_version().to_owned(),
            kind: gvk.kind().to_owned(),
            elsewhere: if versions.is_empty() { self.elsewhere(gvk).into() } else { Box::default() },
            versions,
            nearest: if gvk.kind().is_empty() { Vec::new() } else { nearest(gvk.kind(), kinds) },
            has_kinds: !self.kinds.is_empty(),
            has_types: has_written,
        }
    }
}

impl TypeConverter for Registry {
    fn type_of(&self, gvk: Gvk<'_>) -> Option<Type<'_>> {
        self.kind(gvk).and_then(Kind::merge_type)
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kinds: Vec<Gvk<'_>> = self.kinds().map(Kind::gvk).collect();
        f.debug_struct("Registry").field("inputs", &self.inputs.keys()).field("kinds", &kinds).finish_non_exhaustive()
    }
}

/// Describes the deprecation of a version.
fn custom(kind: &Kind) -> CustomVersion<'_> {
    let version = kind.version();
    CustomVersion {
        name: kind.version_name(),
        served: version.is_some_and(|version| version.served),
        deprecated: version.is_some_and(|version| version.deprecated),
        warning: version.and_then(|version| version.deprecation_warning.as_deref()),
    }
}

fn first(slot: &Slot) -> Option<&Kind> {
    slot.first().map(|(_, kind)| &**kind)
}

fn ranked<'i>(
    input: &'i Arc<str>,
    definitions: &'i [(Arc<Definition>, Vec<Arc<Kind>>)],
) -> impl Iterator<Item = (Rank, &'i Arc<Kind>)> {
    definitions.iter().enumerate().flat_map(move |(at, (definition, kinds))| {
        let class = match definition.form() {
            _ if definition.is_built_in() => Class::BuiltIn,
            Form::CustomResource(_) => Class::CustomResource,
            Form::OpenApi(_) | Form::Smd => Class::Document,
        };
        let rank = move |version| Rank { class, input: Arc::clone(input), definition: at, version };
        kinds.iter().enumerate().map(move |(version, kind)| (rank(version), kind))
    })
}

fn insert(slot: &mut Slot, rank: &Rank, kind: &Arc<Kind>) {
    let at = slot.partition_point(|(other, _)| other < rank);
    slot.insert(at, (rank.clone(), Arc::clone(kind)));
}

fn remove(slots: &mut BTreeMap<Arc<str>, Slot>, name: &Arc<str>, rank: &Rank) {
    if let Some(slot) = slots.get_mut(name) {
        if let Ok(at) = slot.binary_search_by(|(other, _)| other.cmp(rank)) {
            slot.remove(at);
        }
        if slot.is_empty() {
            slots.remove(name);
        }
    }
}

/// Returns the distinct names by which a kind is found, in lower case.
fn words(kind: &Kind) -> Vec<Arc<str>> {
    let mut words: Vec<Arc<str>> = vec![kind.kind.to_lowercase().into()];
    if let Some(resource) = &kind.resource {
        words.extend([&resource.plural, &resource.singular].into_iter().chain(&resource.short_names).cloned());
    }
    words.retain(|word| !word.is_empty());
    words.sort();
    words.dedup();
    words
}
