//! The registry of the types in `--schemas` and of built-in kinds. It finds the type of an object.

use super::Session;
use super::object::Object;
use super::text::{Missing, Text, nowhere, read_all};
use crate::args::{SmdCompat, TypeArgs};
use crate::error::Fatal;
use crate::input::check_once;
use kubeshape_builtin::{Api, BuiltInDocuments};
use kubeshape_input::{Code, Finding, Limits};
use kubeshape_lifecycle::entries;
use kubeshape_registry::{Gvk, Kind, Location, Registry, Release, Settings};
use kubeshape_structural::read::expand_list;
use kubeshape_yaml::Node;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Returns the settings for a release of Kubernetes. Without `compat`, the release decides which version of
/// structured-merge-diff is followed.
pub(crate) fn settings(release: Option<Release>, compat: Option<SmdCompat>) -> Settings {
    let of_release = Settings::of(release.unwrap_or_default());
    match compat {
        Some(compat) => Settings { smd_compat: compat.of_schemas(), compat: compat.of_fields(), ..of_release },
        None => of_release,
    }
}

/// Adds parts of documents, and reports what is wrong with them. Returns whether they define anything.
pub(crate) fn add(
    registry: &mut Registry,
    parts: impl IntoIterator<Item = Location>,
    session: &mut Session<'_>,
) -> bool {
    // The order of the inputs is significant.
    let name = format!("{:09}", registry.inputs().count());
    let is_used = registry.set(name.as_str(), parts, Vec::new());
    registry.findings(&name).for_each(|finding| session.report(finding));
    is_used
}

/// Reads what `--schemas` names. Reports what cannot be used.
///
/// # Errors
/// The command line asks for a type that no schema has.
pub(crate) fn read(args: &TypeArgs, session: &mut Session<'_>) -> Result<Registry, Fatal> {
    let mut inputs = Vec::new();
    for path in &args.schemas {
        let before = session.errors();
        // In folders, all other files are skipped.
        let texts = read_all(std::slice::from_ref(path), Missing::Error, session);
        inputs.push((path, texts, session.errors() > before));
    }
    // The documents of a cluster name its release.
    let documents = inputs.iter().flat_map(|(_, texts, _)| texts).flat_map(|text| text.documents());
    let of_cluster = documents.filter_map(|document| document.server_release()).max();
    let mut registry = Registry::new(settings(args.kubernetes.or(of_cluster), args.smd_compat));
    for (path, texts, has_errors) in inputs {
        let before = session.errors();
        let mut is_used = false;
        for text in texts {
            is_used |= add(&mut registry, text.locations(), session);
            for document in text.documents() {
                session.lifecycles.add_annotated(document);
                for finding in &entries::findings(document) {
                    session.report(finding);
                }
            }
        }
        if !is_used && !has_errors && session.errors() == before {
            let detail = "neither a CustomResourceDefinition, an OpenAPI document nor a structured-merge-diff schema \
                          was found in it";
            session.report(&nowhere(Code::Nothing, &path.to_string_lossy(), detail));
        }
    }
    if let Some(name) = &args.type_name {
        registry.give_all_type(name).map_err(|error| Fatal::Usage(error.to_string()))?;
    }
    Ok(registry)
}

/// The built-in kinds that are added to a registry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltIn {
    pub(crate) documents: BuiltInDocuments,
    /// Whether the release is the default, because the user named none.
    pub(super) by_default: bool,
}

/// Returns the registry of what the command line names, including built-in kinds. `objects` are the other inputs of the
/// command.
///
/// # Errors
/// The command line is wrong.
pub(crate) fn registry<'a>(
    args: &TypeArgs,
    objects: &[PathBuf],
    session: &mut Session<'a>,
) -> Result<&'a Registry, Fatal> {
    check_once(args.schemas.iter().chain(objects))?;
    let mut registry = read(args, session)?;
    if let Some(built_in) = BuiltIn::of(args) {
        built_in.add(&mut registry, session);
    }
    Ok(session.arena.alloc(registry))
}

impl BuiltIn {
    /// Returns what the command line asks for: a release, or the newest one if there are no other types.
    pub(crate) fn of(args: &TypeArgs) -> Option<BuiltIn> {
        BuiltIn::new(args.kubernetes, args.schemas.is_empty() && args.type_name.is_none())
    }

    /// Returns the kinds of a release, or of the newest one if they are needed. There are none before 1.31.
    pub(crate) fn new(release: Option<Release>, is_needed: bool) -> Option<BuiltIn> {
        match release {
            Some(release) => Some(BuiltIn { documents: release.try_into().ok()?, by_default: false }),
            None => is_needed.then(|| BuiltIn { documents: BuiltInDocuments::newest(), by_default: true }),
        }
    }

    /// Adds all kinds.
    pub(crate) fn add(self, registry: &mut Registry, session: &mut Session<'_>) {
        session.built_in = Some(self);
        add_groups(self.documents, &self.documents.api(), registry, |_| true);
    }

    /// Adds the kinds of the groups that these objects need, if any. Not all are added, because types are expensive.
    pub(crate) fn add_for(self, objects: &[Gvk<'_>], registry: &mut Registry, session: &mut Session<'_>) {
        session.built_in = Some(self);
        let unknown: BTreeSet<&str> =
            objects.iter().filter(|gvk| registry.kind(**gvk).is_none()).map(|gvk| gvk.group()).collect();
        if unknown.is_empty() {
            return;
        }
        let api = self.documents.api();
        let known: BTreeSet<&str> =
            api.openapi_v3_paths().filter_map(|path| group_version(path)).map(|(group, _)| group).collect();
        // The message about an unknown kind names similar ones of all groups.
        let all = !unknown.is_subset(&known);
        add_groups(self.documents, &api, registry, |group| all || unknown.contains(group));
    }
}

/// Adds the built-in kinds of groups.
pub(crate) fn add_groups(of: BuiltInDocuments, api: &Api, registry: &mut Registry, wanted: impl Fn(&str) -> bool) {
    let discovery = api.discovery();
    let documents = api.openapi_v3_of(|path| group_version(path).is_some_and(|(group, _)| wanted(group)));
    for (path, document) in documents {
        let name = format!("Kubernetes {of} {path}");
        let read = |text: &str| kubeshape_input::read(name.as_str(), text.as_bytes(), Limits::default());
        let mut input = read(&document);
        let file = path.replace('/', "__");
        if let Some((_, resources)) = discovery.iter().find(|(name, _)| *name == file) {
            input.documents.extend(read(resources).documents);
        }
        registry.set_built_in(name.as_str(), input.without_lines());
    }
}

/// Returns the groups of a release.
pub(crate) fn groups(api: &Api) -> BTreeSet<String> {
    api.openapi_v3_paths().filter_map(group_version).map(|(group, _)| group.to_owned()).collect()
}

/// Returns the group and version of a document, such as `apis/apps/v1`. Returns `None` if the path has neither.
fn group_version(path: &str) -> Option<(&str, &str)> {
    match path.split_once('/')? {
        ("api", version) => Some(("", version)),
        ("apis", rest) => rest.split_once('/'),
        _ => None,
    }
}

/// Returns the groups, versions and kinds of the objects in these texts, including those in lists.
pub(crate) fn gvks<'a>(texts: &[&'a Text<'a>]) -> Vec<Gvk<'a>> {
    let documents = texts.iter().flat_map(|text| text.documents());
    documents.flat_map(|document| expand_list(document.root())).map(gvk).collect()
}

/// Returns the group, version and kind of an object.
pub(crate) fn gvk(object: Node<'_>) -> Gvk<'_> {
    let text = |name| object.get(name).and_then(Node::as_str).unwrap_or_default();
    Gvk::new(text("apiVersion"), text("kind"))
}

/// Says once that a type comes from the default release.
pub(crate) fn say_release(kind: &Kind, session: &mut Session<'_>) {
    if let Some(BuiltIn { documents, by_default: true }) = session.built_in
        && kind.definition().is_built_in()
    {
        session.built_in = Some(BuiltIn { documents, by_default: false });
        session
            .remark(&format!("Using the types of Kubernetes {documents}. For others, give --kubernetes or --schemas."));
    }
}

/// Returns the kind of an object. Reports what there is to say about it.
pub(crate) fn kind<'a>(object: &Object<'a>, registry: &'a Registry, session: &mut Session<'a>) -> Option<&'a Kind> {
    let gvk = object.gvk();
    let kind = registry.kind(gvk);
    if let Some(kind) = kind {
        say_release(kind, session);
    }
    if kind.is_none() {
        unknown_of(object, registry, session);
    } else if let Some((first, second)) = registry.repeated(gvk) {
        let at = second.definition().location();
        let place = first.definition().location();
        let detail = format!("{gvk} is defined in {place}, too; that definition counts");
        session.report(&at.finding(Code::RepeatedKind, detail));
    }
    kind
}

/// Reports that there is no kind for an object.
pub(crate) fn unknown_of(object: &Object<'_>, registry: &Registry, session: &mut Session<'_>) {
    let finding = object.named(unknown_finding(object.gvk(), object.location, registry, session));
    session.report(&finding);
}

/// Reports that there is no kind for the object at this position.
pub(crate) fn unknown(gvk: Gvk<'_>, object: &Location, registry: &Registry, session: &mut Session<'_>) {
    let finding = unknown_finding(gvk, object, registry, session);
    session.report(&finding);
}

fn unknown_finding(gvk: Gvk<'_>, object: &Location, registry: &Registry, session: &Session<'_>) -> Finding {
    let error = registry.unknown(gvk);
    let node = object.node();
    let at = node.get(if error.versions.is_empty() { "kind" } else { "apiVersion" }).unwrap_or(node);
    let mut finding = object.at(at).finding(Code::UnknownKind, error.to_string());
    finding.notes.extend(match session.built_in {
        Some(BuiltIn { documents, .. }) => {
            Some(format!("the built-in kinds are those of Kubernetes {documents}; --schemas adds other kinds"))
        }
        None if is_built_in(gvk) => {
            let newest = BuiltInDocuments::newest();
            Some(format!("Kubernetes has this kind; --kubernetes {newest} adds its built-in kinds"))
        }
        None => None,
    });
    finding
}

/// Returns whether the newest release has a kind.
fn is_built_in(gvk: Gvk<'_>) -> bool {
    let prefix = if gvk.group().is_empty() { "api" } else { "apis" };
    let document = BuiltInDocuments::newest().api().openapi_v3(&format!("{prefix}/{}", gvk.api_version()));
    let marks =
        format!("{{\"group\":\"{}\",\"kind\":\"{}\",\"version\":\"{}\"}}", gvk.group(), gvk.kind(), gvk.version());
    document.is_some_and(|document| document.contains(&marks))
}
