//! Conversion of documents: all calls of `kubeshape-convert` are here, except for the protobuf form of a printed
//! document, which is a format (`crate::output::format`).

mod kinds;

pub(crate) use kinds::KindName;

use super::plan::Target;
use crate::args::{self, ConvertArgs, DefinitionArgs, Draft, Recursion, Rename};
use crate::error::Fatal;
use crate::output::{Layout, Subject, names};
use crate::session::types;
use kinds::{Kinds, wanted};
use kubeshape_convert::aggregate::Aggregator;
use kubeshape_convert::document::Document;
use kubeshape_convert::graph::rename::Names;
use kubeshape_convert::graph::{self, Graph, Section};
use kubeshape_convert::jsonschema;
use kubeshape_convert::v2::from_v3;
use kubeshape_convert::{smd, v2, v3};
use kubeshape_publish::ResourceVersion;
use kubeshape_registry::KindNames;
use kubeshape_schema::{Bump, Code, Converted, Gvk, Note, Profile, Property, Schema};
use kubeshape_smd::Schema as SmdSchema;
use kubeshape_smd::schema::ReadErrors;
use kubeshape_structural::Crd;
use kubeshape_yaml::Node;
use std::collections::BTreeMap;

/// Settings of the command line for documents.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) profile: Profile,
    /// Whether losses are reported.
    pub(crate) losses: bool,
    /// Whether warnings are reported.
    pub(crate) findings: bool,
    pub(crate) keep_losses: bool,
    /// If references are inlined: what to do with recursion, and the largest number of schemas.
    pub(crate) inline: Option<(Recursion, u64)>,
    pub(crate) rename: Option<Rename>,
    pub(crate) kinds: Kinds,
    pub(crate) preserve_unknown: bool,
    pub(crate) smd_compat: smd::SmdCompat,
    pub(crate) draft: Draft,
    pub(crate) strict: bool,
    pub(crate) layout: Layout,
    /// The address at which JSON Schemas will be found; empty if unknown.
    pub(crate) id_base: String,
    pub(crate) nulls: jsonschema::Nulls,
    /// Names and limits of definitions that are converted from schemas.
    pub(crate) definitions: DefinitionArgs,
    /// The maximum bytes of the results of a CustomResourceDefinition, or of all documents together.
    pub(crate) max_output: u64,
}

impl Settings {
    /// Returns whether documents are printed without changes.
    pub(crate) fn is_plain(&self) -> bool {
        self.inline.is_none() && self.rename.is_none()
    }

    /// Returns the name of a JSON Schema in the output folder, if `--layout` names them.
    pub(crate) fn laid_out(&self, kind: KindName<'_>) -> Option<String> {
        if self.layout.is_own() || kind.version.is_empty() {
            return None;
        }
        let KindName { kind, group, version } = kind;
        Some(self.layout.name(Subject { group, version, kind, strict: self.strict }))
    }

    /// Returns the options of conversions to OpenAPI v2 and back.
    pub(crate) fn conversion(&self) -> from_v3::Options {
        let most_bytes = usize::try_from(self.max_output).unwrap_or(usize::MAX);
        from_v3::Options { profile: self.profile, keep_losses: self.keep_losses, most_bytes }
    }
}

impl Settings {
    /// Reads the settings of the command line. `losses` says whether losses are needed.
    pub(crate) fn new(args: &ConvertArgs, losses: bool) -> Settings {
        const BUDGET: u64 = 1_000_000;
        Settings {
            profile: match args.profile {
                Some(args::Profile::Kube) => Profile::Kube,
                None | Some(args::Profile::Faithful) => Profile::Faithful,
            },
            losses,
            findings: !args.quiet || args.findings.report.report.is_some(),
            keep_losses: args.keep_losses,
            inline: args.inline.then(|| (args.recursion, args.budget.unwrap_or(BUDGET))),
            rename: args.rename,
            kinds: Kinds::new(&args.kind),
            preserve_unknown: args.preserve_unknown,
            smd_compat: types::settings(args.kubernetes, args.smd_compat).smd_compat,
            draft: args.draft,
            strict: args.strict,
            layout: args.layout.clone(),
            id_base: args.id_base.clone().unwrap_or_default(),
            nulls: match args.nulls.unwrap_or_default() {
                args::Nulls::Stored => jsonschema::Nulls::Stored,
                args::Nulls::Server => jsonschema::Nulls::Server,
            },
            definitions: args.definitions.clone(),
            max_output: args.max_output.unwrap_or(jsonschema::Options::MOST_BYTES as u64),
        }
    }
}

/// Returns a printed document in the version of OpenAPI of the target.
///
/// # Errors
/// The result would be too large.
pub(crate) fn in_version(json: Vec<u8>, target: Target, settings: &Settings) -> Result<Vec<u8>, Note<'static>> {
    if target.shape != args::Shape::V31 {
        return Ok(json);
    }
    let most_bytes = usize::try_from(settings.max_output).unwrap_or(usize::MAX);
    v3::later::raise_text(&json, Profile::Faithful, most_bytes)
}

/// Returns findings about the references and names in a document.
pub(crate) fn findings<'a>(document: &Document<'a>) -> Vec<Note<'a>> {
    Graph::of(document).into_notes()
}

/// Returns the notes without those of [`findings`], which every operation on references repeats.
fn others(mut notes: Vec<Note<'_>>) -> Vec<Note<'_>> {
    notes.retain(|note| {
        !matches!(
            note.code,
            Code::DanglingReference
                | Code::RemoteReference
                | Code::UnnamedReference
                | Code::ReferenceLoop
                | Code::RepeatedOperationId
        )
    });
    notes
}

/// Several documents merged into one, and the notes about each of them.
pub(crate) struct Aggregate<'a> {
    /// `None` if they cannot be merged.
    pub(crate) document: Option<kubeshape_convert::aggregate::Aggregate>,
    pub(crate) notes: Vec<(usize, Note<'a>)>,
}

/// Merges documents of one dialect.
pub(crate) fn aggregate<'a>(
    sources: &[(&'a str, Document<'a>)],
    arena: &'a Bump,
    settings: &Settings,
) -> Aggregate<'a> {
    let mut aggregator = Aggregator::new(settings.profile);
    let mut notes = Vec::new();
    for (number, (name, document)) in sources.iter().enumerate() {
        if let Ok(found) = aggregator.add(name, document, arena) {
            notes.extend(others(found).into_iter().map(|note| (number, note)));
        }
    }
    Aggregate { document: aggregator.finish(), notes }
}

/// Renames all definitions if `--rename` is given.
pub(crate) fn rename<'a>(document: &Document<'a>, arena: &'a Bump, settings: &Settings) -> Converted<'a, Document<'a>> {
    let names = match settings.rename {
        None => return Converted { value: *document, notes: Vec::new() },
        Some(Rename::Friendly) => Names::Friendly,
        Some(Rename::Go) => Names::GoPath,
        Some(Rename::Short) => Names::Short,
    };
    let Converted { value, notes } = graph::rename::rename(document, names, arena);
    Converted { value, notes: others(notes) }
}

/// Splits a document into self-contained documents by the roots of its paths: `api/v1`, `apis/apps/v1`, `version`.
/// Parts without a path are a document of their own, unless the document is published for CustomResourceDefinitions.
pub(crate) fn split<'a>(
    document: &v3::Document<'a>,
    is_published: bool,
    arena: &'a Bump,
) -> Vec<(&'a str, Document<'a>)> {
    let mut slices = graph::split::split(document, arena).value;
    slices.retain(|slice| !is_published || slice.name != graph::split::REST);
    slices.into_iter().map(|slice| (slice.name, Document::V3(slice.document))).collect()
}

/// Cuts self-contained documents out of a document.
pub(crate) struct Cutter<'d, 'a> {
    document: &'d Document<'a>,
    graph: Graph<'a>,
    by_name: BTreeMap<&'a str, &'a Property<'a>>,
}

impl<'d, 'a> Cutter<'d, 'a> {
    pub(crate) fn new(document: &'d Document<'a>) -> Self {
        let by_name = document.definitions().iter().map(|definition| (definition.name, definition)).collect();
        Cutter { document, graph: Graph::of(document), by_name }
    }

    /// Returns the wanted kinds, each with its definition.
    pub(crate) fn kinds(&self, arena: &'a Bump, settings: &Settings) -> Vec<(KindName<'a>, &'a Property<'a>)> {
        wanted(self.document, arena, settings)
    }

    /// Returns the document of a definition, without paths and with the definitions that it needs.
    pub(crate) fn cut<'p>(&self, definition: &Property<'_>, arena: &'p Bump) -> Document<'p>
    where
        'a: 'p,
    {
        let reached = self.graph.reached_from(self.graph.find(Section::Schemas, definition.name));
        let reached =
            reached.into_iter().map(|part| self.graph.part(part)).filter(|part| part.section == Section::Schemas);
        let own: Vec<Property<'p>> = reached.filter_map(|part| Some(**self.by_name.get(part.name)?)).collect();
        let own: &'p [Property<'p>] = arena.alloc_slice_copy(&own);
        match self.document {
            Document::V2(document) => Document::V2(v2::Document {
                swagger: document.swagger,
                info: document.info,
                paths: document.paths.map(|_| &*arena.alloc(v2::Paths::default())),
                definitions: own,
                ..v2::Document::default()
            }),
            Document::V3(document) => Document::V3(v3::Document {
                openapi: document.openapi,
                info: document.info,
                paths: document.paths.map(|_| &*arena.alloc(v3::Paths::default())),
                components: Some(arena.alloc(v3::Components { schemas: own, ..v3::Components::default() })),
                ..v3::Document::default()
            }),
        }
    }
}

/// Inlines references if `--inline` is given, in the whole document or in its part for one kind.
pub(crate) fn inline<'a>(
    document: &Document<'a>,
    kind: Option<KindName<'_>>,
    arena: &'a Bump,
    settings: &Settings,
) -> Converted<'a, Option<Document<'a>>> {
    let (Some((recursion, schemas)), Document::V3(document)) = (settings.inline, document) else {
        return Converted { value: Some(*document), notes: Vec::new() };
    };
    let recursion = match recursion {
        Recursion::Keep => graph::inline::Recursion::Keep,
        Recursion::Cut => graph::inline::Recursion::Cut,
    };
    let bytes = settings.max_output;
    let options = graph::inline::Options { recursion, schemas, bytes, ..graph::inline::Options::default() };
    let Converted { value, notes } = match kind {
        None => graph::inline::document(document, &options, arena),
        Some(KindName { kind, version: "", .. }) => {
            let kind = kind.rsplit(['.', '/']).next().unwrap_or(kind);
            let kind = graph::inline::Kind { group: None, version: None, kind };
            graph::inline::kind(document, kind, &options, arena)
        }
        Some(KindName { kind, group, version }) => {
            let kind = graph::inline::Kind { group: Some(group), version: Some(version), kind };
            graph::inline::kind(document, kind, &options, arena)
        }
    };
    Converted { value: value.map(Document::V3), notes: others(notes) }
}

/// Returns the structured-merge-diff schema of a document. `root` is its source, unless it was changed.
///
/// # Errors
/// Returns the reasons why it has none.
pub(crate) fn smd<'a>(
    document: &Document<'a>,
    root: Option<Node<'_>>,
    settings: &Settings,
) -> Result<SmdSchema, Vec<Note<'a>>> {
    document.smd(root, smd_options(settings))
}

/// Returns the losses of the structured-merge-diff schema of a document.
pub(crate) fn smd_losses<'a>(document: &Document<'a>, settings: &Settings) -> Vec<Note<'a>> {
    let mut notes = Vec::new();
    smd::losses::of_definitions(document.definitions(), document.dialect(), smd_options(settings), &mut notes);
    notes
}

fn smd_options(settings: &Settings) -> smd::Options {
    smd::Options { preserve_unknown: settings.preserve_unknown, compat: settings.smd_compat, profile: settings.profile }
}

/// Returns the errors in a structured-merge-diff schema.
pub(crate) fn smd_errors(errors: ReadErrors) -> Vec<Note<'static>> {
    errors.0.into_iter().map(|error| Note::new(Code::WrongType, error.at, error.message)).collect()
}

/// Returns the document with which kustomize merges lists of the wanted kinds by key.
pub(crate) fn kustomize<'a>(
    document: &v3::Document<'a>,
    parts: &[v3::Document<'a>],
    arena: &'a Bump,
    settings: &Settings,
) -> Vec<u8> {
    let names = kinds::names(&Document::V3(*document), arena, settings);
    kubeshape_convert::kustomize::document(document, parts, arena, |kind| {
        let of = |names: &&KindNames<'_>| {
            (names.kind, names.group, names.version) == (kind.kind(), kind.group(), kind.version())
        };
        settings.kinds.is_all() || names.iter().find(of).is_some_and(|names| settings.kinds.has(names))
    })
}

/// Creates the JSON Schemas of the wanted kinds of a document, and passes them to `give` one by one. Together they have
/// at most `most` bytes; if they would have more, a note says so, and not all of them are created. Returns the notes.
///
/// # Errors
/// Returns the errors of `give`.
pub(crate) fn json_schemas<'a>(
    document: &Document<'a>,
    arena: &'a Bump,
    settings: &Settings,
    mut most: u64,
    mut give: impl FnMut(KindName<'a>, Vec<u8>) -> Result<(), Fatal>,
) -> Result<Vec<Note<'a>>, Fatal> {
    let by_name: BTreeMap<&str, &'a Schema<'a>> =
        document.definitions().iter().map(|definition| (definition.name, &definition.schema)).collect();
    let resolver = |name: &str| by_name.get(name).copied();
    let mut notes: Vec<Note<'a>> = Vec::new();
    // A definition may be part of many kinds. Its losses are reported once.
    let tidy = |notes: &mut Vec<Note<'a>>| {
        notes.sort_by(|a: &Note<'_>, b| (a.at, a.code, &a.detail).cmp(&(b.at, b.code, &b.detail)));
        notes.dedup();
    };
    let mut tidied = 0;
    for (kind, definition) in wanted(document, arena, settings) {
        let gvk = Gvk::from_parts(kind.group, kind.version, kind.kind, arena);
        let gvk = (!kind.version.is_empty()).then_some(gvk);
        let (title, id) = (title(&kind, definition.schema.extra().title), id(&kind, None, settings));
        let most_bytes = usize::try_from(most).unwrap_or(usize::MAX);
        let options = jsonschema::Options { title: &title, id: &id, most_bytes, ..schema_options(settings) };
        let schema = jsonschema::from_definition(definition.name, &definition.schema, gvk, &resolver, options);
        if schema.value.is_empty() {
            notes.push(over_budget(&kind, definition.at, settings));
            break;
        }
        most -= schema.value.len() as u64;
        if settings.losses {
            notes.extend(schema.notes);
            if notes.len() > 2 * tidied + 1024 {
                tidy(&mut notes);
                tidied = notes.len();
            }
        }
        give(kind, schema.value)?;
    }
    tidy(&mut notes);
    Ok(notes)
}

/// Creates the JSON Schema for objects of all kinds of a document, with at most `most` bytes. It is empty if there
/// would be more. Returns it with its name and the notes.
pub(crate) fn json_schema_of_all<'a>(
    document: &Document<'a>,
    arena: &'a Bump,
    settings: &Settings,
    most: u64,
) -> (String, Converted<'a, Vec<u8>>) {
    let by_name: BTreeMap<&str, &'a Schema<'a>> =
        document.definitions().iter().map(|definition| (definition.name, &definition.schema)).collect();
    let resolver = |name: &str| by_name.get(name).copied();
    let wanted = wanted(document, arena, settings);
    let mut kinds: Vec<(Gvk<'_>, &str, &'a Schema<'a>)> = Vec::new();
    for (kind, definition) in wanted.iter().filter(|(kind, _)| !kind.version.is_empty()) {
        let gvk = Gvk::from_parts(kind.group, kind.version, kind.kind, arena);
        if kinds.last().is_none_or(|(last, _, _)| *last != gvk) {
            kinds.push((gvk, definition.name, &definition.schema));
        }
    }
    let name = if settings.layout.is_own() {
        names::single(args::Shape::JsonSchema, args::Format::Json)
    } else {
        settings.layout.all(settings.strict)
    };
    let id = match settings.id_base.as_str() {
        "" => String::new(),
        base => format!("{}/{}", base.trim_end_matches('/'), name.replace('%', "%25")),
    };
    let most_bytes = usize::try_from(most).unwrap_or(usize::MAX);
    let options = jsonschema::Options { id: &id, most_bytes, ..schema_options(settings) };
    (name, jsonschema::from_kinds(&kinds, &resolver, options))
}

/// Returns the note that results would exceed the limit, about the one that crossed it.
pub(crate) fn over_budget(what: &dyn std::fmt::Display, at: u32, settings: &Settings) -> Note<'static> {
    let most = settings.max_output;
    Note::new(Code::OutputBudget, at, format!("with {what} there are more than {most} bytes (--max-output)"))
}

/// Returns `Widget (example.com/v1)`, so that editors show the kind; nothing if there is an `own` title.
fn title(kind: &KindName<'_>, own: &str) -> String {
    let KindName { kind, group, version } = kind;
    match (own, *version, *group) {
        ("", version, "") if !version.is_empty() => format!("{kind} ({version})"),
        ("", version, group) if !version.is_empty() => format!("{kind} ({group}/{version})"),
        _ => String::new(),
    }
}

/// Returns the `$id`: the address of the folder and the name in it. Resources have a plural.
fn id(kind: &KindName<'_>, plural: Option<&str>, settings: &Settings) -> String {
    if settings.id_base.is_empty() {
        return String::new();
    }
    let name = settings.laid_out(*kind).unwrap_or_else(|| schema_name(kind, plural));
    format!("{}/{}", settings.id_base.trim_end_matches('/'), name.replace('%', "%25"))
}

/// Returns the name of a JSON Schema in kubeshape's own layout.
fn schema_name(kind: &KindName<'_>, plural: Option<&str>) -> String {
    let (shape, format) = (args::Shape::JsonSchema, args::Format::Json);
    let folder = match plural {
        _ if kind.version.is_empty() => return names::definition(kind.kind, shape, format),
        Some(plural) => names::folder(plural, kind.group),
        None => names::kind_folder(kind.kind, kind.group),
    };
    format!("{folder}/{}", names::file(shape, kind.version, format))
}

fn schema_options(settings: &Settings) -> jsonschema::Options<'static> {
    let draft = match settings.draft {
        Draft::Draft7 => jsonschema::Draft::D7,
        Draft::Draft202012 => jsonschema::Draft::D2020_12,
    };
    let patterns = settings.layout.patterns();
    let (strict, nulls) = (settings.strict, settings.nulls);
    jsonschema::Options { draft, strict, nulls, patterns, ..jsonschema::Options::default() }
}

/// Returns the JSON Schema of a version of a CustomResourceDefinition. `metadata` has the definitions of the metadata
/// of objects.
pub(crate) fn resource_schema<'a>(
    crd: &Crd<'a>,
    version: &ResourceVersion<'a>,
    metadata: &'a [Property<'a>],
    settings: &Settings,
) -> Converted<'a, Vec<u8>> {
    let arena = Bump::new();
    let gvk = Gvk::from_parts(crd.group, version.version().name, crd.names.kind, &arena);
    let resolver = |name: &str| metadata.iter().find(|definition| definition.name == name).map(|found| &found.schema);
    let kind = KindName { kind: crd.names.kind, group: crd.group, version: version.version().name };
    let own = version.schema().map_or("", |schema| schema.extra().title);
    let (title, id) = (title(&kind, own), id(&kind, Some(crd.names.plural), settings));
    let most_bytes = usize::try_from(settings.max_output).unwrap_or(usize::MAX);
    let replicas = version.replicas();
    let replicas: &[&str] = replicas.as_ref().map_or(&[], |paths| paths);
    let options = jsonschema::Options { title: &title, id: &id, most_bytes, replicas, ..schema_options(settings) };
    match version.schema() {
        Some(schema) => jsonschema::from_structural(schema, gvk, crd.preserve_unknown_fields, &resolver, options),
        None => jsonschema::any_object(gvk, version.version().at, &resolver, options),
    }
}
