//! The JSON Schema of a definition and the server have the same verdict on objects, or the conversion reports a loss
//! that explains the difference.

use crate::mutate::mutated;
use jsonschema::{PatternOptions, Validator};
use kubeshape_convert::jsonschema::{Draft, Nulls, Options, Patterns, from_structural};
use kubeshape_corpus::generate::Draw;
use kubeshape_sample::sample;
use kubeshape_schema::{Additional, Bump, Code, Extra, Gvk, Items, Note, NoteKind, Property, Schema};
use kubeshape_structural::read::{Manifest, manifests};
use kubeshape_structural::{Crd, Version, unfold, usable};
use kubeshape_validate::Release;
use kubeshape_validate::crd::{self, Defaults, Definition};
use kubeshape_validate::object::Resource;
use kubeshape_value::{ToValue, Value};
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// Returns the number of objects per version: a few, or all with `KUBESHAPE_ALL`. `KUBESHAPE_OBJECTS` sets another
/// number.
pub(crate) fn objects() -> u64 {
    let all = if kubeshape_corpus::one_in(2) == 1 { 5_000 } else { 1_500 };
    std::env::var("KUBESHAPE_OBJECTS").ok().and_then(|number| number.parse().ok()).unwrap_or(all)
}

/// Returns the schema without CEL rules, which JSON Schema cannot express.
fn without_rules<'a>(schema: &Schema<'a>, arena: &'a Bump) -> Schema<'a> {
    let mut out = *schema;
    if let Some(extra) = schema.extra {
        out.extra = Some(arena.alloc(Extra { validations: &[], ..*extra }));
    }
    let properties = schema.properties.iter();
    out.properties = arena.alloc_slice_fill_iter(
        properties.map(|property| Property { schema: without_rules(&property.schema, arena), ..*property }),
    );
    if let Some(Items::One(item)) = schema.items {
        out.items = Some(Items::One(arena.alloc(without_rules(item, arena))));
    }
    if let Some(Additional::Schema(values)) = schema.additional {
        out.additional = Some(Additional::Schema(arena.alloc(without_rules(values, arena))));
    }
    out
}

/// A version as the server has it and as JSON Schema.
pub(crate) struct Case<'a> {
    pub(crate) label: String,
    pub(crate) resource: Resource<'a>,
    lax: (Validator, Vec<Note<'a>>),
    strict: (Validator, Vec<Note<'a>>),
    /// For kubeconform, which uses Go's regular expressions and checks formats in draft 7 only.
    go: [(Validator, Vec<Note<'a>>); 2],
    /// The same as JSON.
    pub(crate) go_texts: [Vec<u8>; 2],
}

impl<'a> Case<'a> {
    fn of(label: String, crd: &Crd<'a>, version: &Version<'a>, arena: &'a Bump) -> Option<Self> {
        let structural = usable(version.schema, version.at).value?;
        let schema: &'a Schema<'a> = arena.alloc(without_rules(structural.schema(), arena));
        let version = Version { schema: Some(schema), ..*version };
        let resource = Resource::new(crd, &version, Release::NEWEST, arena);
        let unfolded = unfold(usable(Some(schema), version.at).value?, arena);
        let gvk = Gvk::from_parts(crd.group, version.name, crd.names.kind, arena);
        let made = |strict, patterns, draft| {
            let paths = version.scale.map(|scale| [scale.spec_replicas_path, scale.status_replicas_path]);
            let replicas: &[&str] = paths.as_ref().map_or(&[], |paths| paths);
            let options = Options { strict, nulls: Nulls::Server, replicas, patterns, draft, ..Options::default() };
            let made = from_structural(unfolded, gvk, crd.preserve_unknown_fields, &|_| None, options);
            let json: Json = serde_json::from_slice(&made.value).expect("JSON");
            let is_for_go = patterns == Patterns::Go;
            let mut build = jsonschema::options().should_validate_formats(!is_for_go || draft == Draft::D7);
            if is_for_go {
                // Rust's regular expressions are those of RE2, as Go's are.
                build = build.with_pattern_options(PatternOptions::regex());
            }
            let validator = build.build(&json);
            ((validator.unwrap_or_else(|error| panic!("{label}: {error}")), made.notes), made.value)
        };
        let [lax, strict] = [false, true].map(|strict| made(strict, Patterns::Ecma, Draft::D2020_12).0);
        let (newest, newest_text) = made(false, Patterns::Go, Draft::D2020_12);
        let (seventh, seventh_text) = made(false, Patterns::Go, Draft::D7);
        let (go, go_texts) = ([newest, seventh], [newest_text, seventh_text]);
        Some(Case { label, resource, lax, strict, go, go_texts })
    }

    /// Returns the losses of a conversion for kubeconform.
    pub(crate) fn notes(&self, draft: usize) -> &[Note<'a>] {
        &self.go[draft].1
    }

    /// Returns the errors of the server on creation, and the fields that it drops.
    pub(crate) fn server(&self, object: &Json) -> (Vec<String>, Vec<String>) {
        let arena = Bump::new();
        self.judged(object.to_value(&arena), &arena)
    }

    fn judged<'o>(&'o self, object: Value<'o>, arena: &'o Bump) -> (Vec<String>, Vec<String>) {
        let resource: &Resource<'o> = &self.resource;
        match resource.decode(object, arena) {
            Err(error) => (vec![error], Vec::new()),
            Ok(decoded) => {
                let errors = resource.create(decoded.value, arena).errors;
                (errors.iter().map(ToString::to_string).collect(), decoded.unknown)
            }
        }
    }
}

/// Returns whether a server may have the definition. A new one must not preserve unknown fields, an old one may.
fn is_installed<'a>(manifest: Manifest<'a>, arena: &'a Bump) -> bool {
    let Some(definition) = Definition::read(manifest, Defaults::Set, arena).value else { return false };
    let errors = crd::validate(&definition.prepare_for_create(Release::NEWEST, arena), Release::NEWEST);
    errors.iter().all(|error| error.to_string().contains("preserveUnknownFields"))
}

/// Calls `with` for the versions of definitions that the server uses.
pub(crate) fn each_case(id: &str, source: &[u8], mut with: impl for<'a> FnMut(&Case<'a>, &'a Bump)) {
    let Ok(mut stream) = Stream::new(source, Limits::default()) else { return };
    let text = stream.source();
    let mut tape = Tape::new();
    while let Some(Ok(())) = stream.next(&mut tape) {
        let Some(root) = tape.document(text).root() else { continue };
        for manifest in manifests(root).0 {
            let arena = Bump::new();
            let Some(crd) = manifest.read(&arena).value else { continue };
            if !is_installed(manifest, &arena) {
                continue;
            }
            for version in crd.versions.iter().filter(|version| version.served) {
                if let Some(case) = Case::of(format!("{id} {}", version.name), &crd, version, &arena) {
                    with(&case, &arena);
                }
            }
        }
    }
}

/// Returns whether a loss explains that JSON Schema accepts an object that the server refuses with this error.
fn explains_wider(note: &Note<'_>, error: &str) -> bool {
    match note.code {
        Code::JsonSchemaListMap => error.contains("Duplicate value"),
        Code::JsonSchemaMetadata => error.contains("metadata"),
        Code::JsonSchemaNumber => ["should be", "multiple", "MultipleOf"].iter().any(|words| error.contains(words)),
        Code::JsonSchemaPattern => error.contains("should match") || is_of_logic(error),
        Code::JsonSchemaFormat | Code::JsonSchemaFormatUnchecked => {
            error.contains("must be of type") || is_of_logic(error)
        }
        code => code.kind() == NoteKind::Widened,
    }
}

/// Returns whether an error is about `oneOf`, `not` and the like. Its cause may be anything below them.
fn is_of_logic(error: &str) -> bool {
    ["must validate", "must not validate"].iter().any(|words| error.contains(words))
}

/// Returns whether a loss explains that JSON Schema refuses an object that the server accepts.
fn explains_narrower(note: &Note<'_>) -> bool {
    let kind = note.code.kind();
    matches!(kind, NoteKind::Narrowed | NoteKind::Approximated) || note.code == Code::JsonSchemaNull
}

/// Returns the errors of one side that no loss explains.
fn silent((validator, notes): &(Validator, Vec<Note<'_>>), object: &Json, errors: &[String]) -> Vec<String> {
    let refused: Vec<String> = validator.iter_errors(object).map(|e| format!("{e} at {}", e.instance_path())).collect();
    unexplained(notes, refused, errors)
}

/// Returns the refusals of the validator or the server that no loss explains.
pub(crate) fn unexplained(notes: &[Note<'_>], refused: Vec<String>, errors: &[String]) -> Vec<String> {
    match (errors.is_empty(), refused.is_empty()) {
        (true, false) if !notes.iter().any(explains_narrower) => refused,
        (false, true) => {
            let explained = |error: &&String| !notes.iter().any(|note| explains_wider(note, error));
            errors.iter().filter(explained).cloned().collect()
        }
        _ => Vec::new(),
    }
}

/// The results of the comparison.
#[derive(Default)]
struct Compared {
    tried: u64,
    accepted: u64,
    /// The differences that no loss explains.
    silent: Vec<String>,
}

impl Compared {
    /// Compares the verdicts on `each` objects of each version.
    fn definitions(&mut self, id: &str, source: &[u8], each: u64) {
        each_case(id, source, |case, arena| {
            let good = [true, false].map(|maximal| sample(&case.resource, maximal, arena).value.to_serde());
            for n in 0..each {
                let mut draw = Draw::new(n + 1);
                self.object(case, &mutated(&good[usize::from(n % 3 == 0)], &mut draw));
            }
        });
    }

    fn object(&mut self, case: &Case<'_>, object: &Json) {
        let (errors, unknown) = case.server(object);
        self.tried += 1;
        self.accepted += u64::from(errors.is_empty());
        let lax = silent(&case.lax, object, &errors);
        let strict_errors: Vec<String> = errors.iter().chain(&unknown).cloned().collect();
        let strict = silent(&case.strict, object, &strict_errors);
        let go = case.go.iter().flat_map(|go| silent(go, object, &errors)).collect::<Vec<_>>();
        if !(lax.is_empty() && strict.is_empty() && go.is_empty()) {
            let label = &case.label;
            self.silent.push(format!(
                "{label}: {object}\n  {errors:?} {unknown:?}\n  lax {lax:?}\n  strict {strict:?}\n  Go {go:?}"
            ));
        }
    }

    fn assert_nothing_is_silent(&self) {
        let Compared { tried, accepted, silent } = self;
        assert!(accepted * 8 > *tried && accepted < tried, "{accepted} of {tried} objects are accepted");
        let shown: Vec<&str> = silent.iter().take(20).map(String::as_str).collect();
        assert!(silent.is_empty(), "{} of {tried}:\n{}", silent.len(), shown.join("\n"));
    }
}

#[test]
fn every_difference_to_the_server_is_reported() {
    let files = kubeshape_corpus::files().expect("files");
    let mut versions = 0_u64;
    for file in &files {
        each_case(&file.id, &file.bytes, |_, _| versions += 1);
    }
    let each = objects().div_ceil(versions.max(1));
    let mut compared = Compared::default();
    for file in &files {
        compared.definitions(&file.id, &file.bytes, each);
    }
    compared.assert_nothing_is_silent();
}

/// Checks some files of a corpus of published definitions, if `KUBESHAPE_CORPUS` is set.
#[test]
fn every_difference_for_published_definitions_is_reported() {
    let Some(corpus) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let mut compared = Compared::default();
    for path in files_below(&corpus.join("crds")).iter().step_by(kubeshape_corpus::one_in(40)) {
        let Ok(bytes) = std::fs::read(path) else { continue };
        if bytes.len() < 200_000 {
            compared.definitions(&path.display().to_string(), &bytes, 12);
        }
    }
    compared.assert_nothing_is_silent();
}

/// Returns all files below a folder, sorted.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() { out.extend(files_below(&path)) } else { out.push(path) }
    }
    out.sort();
    out
}
