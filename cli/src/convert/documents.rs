//! Where the command meets the conversion of whole documents: everything that is asked of `kubeshape-convert` is asked
//! here.

use crate::args::{self, ConvertArgs, Draft, Recursion, Rename};
use crate::output::format::Remark;
use kubeshape_convert::document::{Dialect, Document};
use kubeshape_convert::{v2, v3};
use kubeshape_publish::{ResourceVersion, SmdCompat};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Code, Converted, Note, Profile};
use kubeshape_smd::Schema as SmdSchema;
use kubeshape_smd::schema::ReadErrors;
use kubeshape_yaml::{Kind, Node};

/// What a document of an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// An OpenAPI document.
    OpenApi(Dialect),
    /// A structured-merge-diff schema.
    Smd,
}

/// What the command line asks of documents.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) profile: Profile,
    /// Whether anybody will see losses.
    pub(crate) losses: bool,
    pub(crate) keep_losses: bool,
    /// Whether references are inlined: what becomes of recursion, and how many schemas there are at most.
    pub(crate) inline: Option<(Recursion, u64)>,
    pub(crate) rename: Option<Rename>,
    /// Names of kinds or definitions; all of them when there are none.
    pub(crate) kinds: Vec<String>,
    pub(crate) preserve_unknown: bool,
    pub(crate) smd_compat: SmdCompat,
    pub(crate) draft: Draft,
    pub(crate) strict: bool,
}

/// A kind that has a result of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KindName {
    pub(crate) kind: String,
    pub(crate) group: String,
    pub(crate) version: String,
}

impl Settings {
    /// What the command line says. With `losses`, losses are looked for.
    pub(crate) fn new(args: &ConvertArgs, losses: bool) -> Settings {
        const BUDGET: u64 = 1_000_000;
        Settings {
            profile: match args.profile {
                Some(args::Profile::Kube) => Profile::Kube,
                None | Some(args::Profile::Faithful) => Profile::Faithful,
            },
            losses,
            keep_losses: args.keep_losses,
            inline: args.inline.then(|| (args.recursion, args.budget.unwrap_or(BUDGET))),
            rename: args.rename,
            kinds: args.kind.clone(),
            preserve_unknown: args.preserve_unknown,
            smd_compat: match args.smd_compat {
                args::SmdCompat::V63 => SmdCompat::V63,
                args::SmdCompat::V64 => SmdCompat::V64,
            },
            draft: args.draft,
            strict: args.strict,
        }
    }
}

/// What a document is, by its members; none if it is something else.
pub(crate) fn content(root: Node<'_>) -> Option<Content> {
    if root.kind() != Kind::Map {
        return None;
    }
    let only = |name, kind| root.len() == 1 && root.get(name).is_some_and(|value| value.kind() == kind);
    match Dialect::of(root) {
        Some(dialect) => Some(Content::OpenApi(dialect)),
        // A document without head, as Kubernetes' libraries take it.
        None if only("definitions", Kind::Map) => Some(Content::OpenApi(Dialect::V2)),
        None if only("types", Kind::Seq) => Some(Content::Smd),
        None => None,
    }
}

/// Reads a document; the value is none if something has the wrong type.
pub(crate) fn read<'a>(
    root: Node<'a>,
    dialect: Dialect,
    arena: &'a Bump,
    settings: &Settings,
) -> Converted<'a, Option<Document<'a>>> {
    match dialect {
        Dialect::V2 => {
            let Converted { value, notes } = v2::read(root, arena, settings.profile);
            Converted { value: value.map(Document::V2), notes }
        }
        Dialect::V3 => {
            let Converted { value, notes } = v3::read(root, arena, settings.profile);
            Converted { value: value.map(Document::V3), notes }
        }
    }
}

/// Appends a document as compact JSON.
pub(crate) fn print(document: &Document<'_>, settings: &Settings, out: &mut Vec<u8>) {
    match document {
        Document::V2(document) => document.print(out, Style::V2, settings.profile),
        Document::V3(document) => document.print(out, settings.profile),
    }
}

/// The JSON of a document in protobuf form; none if the bytes are something else.
pub(crate) fn decode(_bytes: &[u8]) -> Option<Result<Vec<u8>, (Code, String)>> {
    None
}

/// The protobuf form of a printed document; none if it has none.
pub(crate) fn encode(_document: kubeshape_yaml::Document<'_>, remarks: &mut Vec<Remark>) -> Option<Vec<u8>> {
    let detail = "the protobuf form is not there yet".to_owned();
    remarks.push(Remark { code: Code::Nothing, pointer: String::new(), detail });
    None
}

fn not_yet<T>(what: &str) -> Converted<'static, Option<T>> {
    Converted { value: None, notes: vec![Note::new(Code::Nothing, 0, format!("{what} is not there yet"))] }
}

/// The document in another dialect.
pub(crate) fn convert<'a>(
    document: &Document<'a>,
    dialect: Dialect,
    _arena: &'a Bump,
    _settings: &Settings,
) -> Converted<'a, Option<Document<'a>>> {
    match (document, dialect) {
        (Document::V2(_), Dialect::V2) | (Document::V3(_), Dialect::V3) => {
            Converted { value: Some(*document), notes: Vec::new() }
        }
        (Document::V2(_), Dialect::V3) => not_yet("the conversion to OpenAPI v3"),
        (Document::V3(_), Dialect::V2) => not_yet("the conversion to OpenAPI v2"),
    }
}

/// Several documents as one, and what is to say about each of them, by its number.
pub(crate) struct Aggregate<'a> {
    /// None if they cannot be put together.
    pub(crate) document: Option<Document<'a>>,
    pub(crate) notes: Vec<(usize, Note<'a>)>,
}

/// Puts documents of one dialect together, which have these names.
pub(crate) fn aggregate<'a>(_sources: &[(&str, Document<'a>)], _arena: &'a Bump) -> Aggregate<'a> {
    Aggregate { document: None, notes: vec![(0, Note::new(Code::Nothing, 0, "aggregation is not there yet"))] }
}

/// Renames all definitions, if that is asked for.
pub(crate) fn rename<'a>(
    document: Document<'a>,
    _arena: &'a Bump,
    settings: &Settings,
) -> Converted<'a, Option<Document<'a>>> {
    match settings.rename {
        None => Converted { value: Some(document), notes: Vec::new() },
        Some(_) => not_yet("renaming"),
    }
}

/// The self-contained documents of the roots of a document, by their keys: `api/v1`, `apis/apps/v1`, `version`.
pub(crate) fn split<'a>(
    _document: &v3::Document<'a>,
    _arena: &'a Bump,
) -> Converted<'a, Option<Vec<(String, v3::Document<'a>)>>> {
    not_yet("taking a document apart")
}

/// The self-contained documents of the wanted kinds of a document.
pub(crate) fn kinds<'a>(
    _document: &Document<'a>,
    _arena: &'a Bump,
    _settings: &Settings,
) -> Converted<'a, Option<Vec<(KindName, Document<'a>)>>> {
    not_yet("taking a document apart by kinds")
}

/// Inlines references, if that is asked for.
pub(crate) fn inline<'a>(
    document: Document<'a>,
    _arena: &'a Bump,
    settings: &Settings,
) -> Converted<'a, Option<Document<'a>>> {
    match settings.inline {
        None => Converted { value: Some(document), notes: Vec::new() },
        Some(_) => not_yet("inlining"),
    }
}

/// The structured-merge-diff schema of a document.
///
/// # Errors
/// Why it has none.
pub(crate) fn smd<'a>(_document: &Document<'a>, _settings: &Settings) -> Result<SmdSchema, Vec<Note<'a>>> {
    Err(vec![Note::new(Code::Nothing, 0, "the structured-merge-diff schema is not there yet")])
}

/// What the structured-merge-diff schema of a document does not hold.
pub(crate) fn smd_losses<'a>(_document: &Document<'a>, _settings: &Settings) -> Vec<Note<'a>> {
    Vec::new()
}

/// What is wrong with a written structured-merge-diff schema.
pub(crate) fn smd_errors(errors: ReadErrors) -> Vec<Note<'static>> {
    errors.0.into_iter().map(|error| Note::new(Code::WrongType, error.at, error.message)).collect()
}

/// The JSON Schemas of the wanted kinds of a document.
pub(crate) fn json_schemas<'a>(
    _document: &Document<'a>,
    _settings: &Settings,
) -> Converted<'a, Option<Vec<(KindName, Vec<u8>)>>> {
    not_yet("JSON Schema")
}

/// Appends the JSON Schema of a version of a CustomResourceDefinition.
pub(crate) fn resource_schema<'a>(
    version: &ResourceVersion<'a>,
    _settings: &Settings,
    out: &mut Vec<u8>,
    notes: &mut Vec<Note<'a>>,
) {
    notes.push(Note::new(Code::Nothing, version.version().at, "JSON Schema is not there yet"));
    out.extend_from_slice(b"true");
}
