//! Conversion of CustomResourceDefinitions: all calls of `kubeshape-publish` are here.

use super::documents::{self, Settings};
use super::plan::{Plan, Target};
use super::rules::Rules as PolicyRules;
use crate::args::{self, ConvertArgs, Per, Shape};
use crate::error::Fatal;
use crate::input::{Filter, Input, Reader, gather};
use crate::output::Output;
use crate::output::format::{self, Formatter};
use crate::output::names;
use crate::session::types;
use kubeshape_input::Finding;
use kubeshape_publish::{
    Base, GroupVersionParts, MergeConflict, MergeError, MergeV2, MergeV3, Options, Profile, Publisher, Resource,
    ResourceVersion, Shape as Published, V2Form, V2Fragments, V3Fragments,
};
use kubeshape_registry::KindNames;
use kubeshape_schema::read::Rules;
use kubeshape_schema::{Bump, Code, Note, Property};
use kubeshape_structural::{Crd, Version};
use kubeshape_yaml::{Limits, Node, Tape, json};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Converts CustomResourceDefinitions, one by one and on any number of threads.
#[derive(Debug)]
pub(crate) struct Engine {
    publisher: Publisher,
    targets: Vec<Target>,
    pretty: bool,
    release: kubeshape_policy::Release,
    /// The policies for `--to crd`.
    rules: Option<PolicyRules>,
    losses: bool,
    settings: Settings,
    /// A published document with the definitions of metadata, if they are needed.
    metadata: Option<(String, Tape)>,
    onto: Option<(String, Vec<u8>)>,
}

/// Receives the findings and results of a CustomResourceDefinition.
pub(crate) trait Sink<'a> {
    /// A finding or a loss.
    fn note(&mut self, note: Note<'a>, shape: Option<Shape>);

    /// A result, of one version or (SMD) of all of them.
    fn result(&mut self, target: Target, version: &str, bytes: &[u8]) -> Result<(), Fatal>;
}

/// The parts of merged documents that come from one CustomResourceDefinition.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    v3: Vec<V3Fragments>,
    v2: Option<V2Fragments>,
}

/// Buffers of a worker.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    formatter: Formatter,
}

/// The number of documents of group versions per thread that are created before they are put in place.
const WINDOW: usize = 64;

/// Writes the result of that name, on any thread.
pub(crate) type Write<'w> = dyn Fn(String, Vec<u8>) -> Result<Output, Fatal> + Sync + 'w;

/// A merged document, or a finding.
#[derive(Debug)]
pub(crate) enum Merged {
    /// The name of its file and its bytes.
    Document(String, Vec<u8>),
    /// A document that was already written.
    Output(Output),
    /// The name of its file and its parts. It is large, so it is written while it is printed.
    V2(String, MergeV2),
    /// A finding about a CustomResourceDefinition, or about all of them.
    Finding(Box<Finding>),
}

impl Engine {
    /// Reads the base documents and the document to merge into. `losses` says whether losses are needed.
    ///
    /// # Errors
    /// A base document or the document to merge into cannot be read.
    pub(crate) fn new(args: &ConvertArgs, plan: &Plan, losses: bool) -> Result<Engine, Fatal> {
        let base = if args.base.is_empty() {
            Base::builtin_of(args.kubernetes.unwrap_or_default())
        } else {
            let documents = bases(&args.base, &Filter::new(&args.walk)?)?;
            let names: Vec<_> = args.base.iter().map(|path| path.to_string_lossy()).collect();
            let read = |error: kubeshape_publish::BaseError| Fatal::Read {
                path: names.join(", ").into(),
                message: error.to_string(),
            };
            Base::from_documents(&documents).map_err(read)?
        };
        let options = Options {
            profile: match args.profile {
                None | Some(args::Profile::Kube) => Profile::Kube,
                Some(args::Profile::Faithful) => Profile::Faithful,
            },
            smd_compat: types::settings(args.kubernetes.or(base.named_release()), args.smd_compat).smd_compat,
            all_versions: args.all_versions,
        };
        let onto =
            args.onto.as_deref().map(|path| document(&mut Reader::default(), &Input::named(path))).transpose()?;
        let publisher = Publisher::new(base, options);
        let is_schema = |target: &Target| target.shape == Shape::JsonSchema;
        let metadata = plan.targets.iter().any(is_schema).then(|| any_document(&publisher)).flatten();
        Ok(Engine {
            publisher,
            targets: plan.targets.clone(),
            pretty: args.pretty,
            release: args.kubernetes.unwrap_or_default(),
            losses,
            settings: Settings::new(args, losses),
            metadata,
            onto,
            rules: PolicyRules::new(args)?,
        })
    }

    /// Converts one CustomResourceDefinition, whose manifest is given, and whether it is made of a definition of another
    /// system.
    ///
    /// # Errors
    /// Returns the errors of the sink.
    pub(crate) fn convert<'a>(
        &'a self,
        manifest: (Node<'_>, bool),
        crd: &'a Crd<'a>,
        arena: &'a Bump,
        scratch: &mut Scratch,
        sink: &mut impl Sink<'a>,
    ) -> Result<Fragments, Fatal> {
        let resource = self.publisher.resource(crd, arena);
        for note in resource.findings() {
            sink.note(note.clone(), None);
        }
        let mut fragments = Fragments::default();
        let mut notes = Vec::new();
        let mut metadata = None;
        let is_wanted = |version: &ResourceVersion<'_>| {
            self.settings.kinds.has(&KindNames {
                group: crd.group,
                version: version.version().name,
                kind: crd.names.kind,
                plural: crd.names.plural,
                singular: crd.names.singular,
                short_names: crd.names.short_names,
            })
        };
        for target in &self.targets {
            let published = || resource.versions().iter().filter(|version| version.is_published());
            if target.has_parts() {
                if target.shape == Shape::V2 {
                    let form = if self.onto.is_some() { V2Form::Served } else { V2Form::Merged };
                    fragments.v2 = Some(resource.v2_fragments(form));
                } else if fragments.v3.is_empty() {
                    fragments.v3.extend(published().map(ResourceVersion::v3_fragments));
                }
            } else if target.shape == Shape::Smd {
                if !self.settings.kinds.is_all() && !published().any(is_wanted) {
                    continue;
                }
                self.smd(*target, crd, &resource, scratch, sink)?;
            } else if target.shape == Shape::Crd {
                self.definition(*target, manifest, crd, scratch, sink)?;
            } else {
                for version in published().filter(|version| is_wanted(version)) {
                    scratch.bytes.clear();
                    match target.shape {
                        Shape::V3 | Shape::V31 => version.v3(&mut scratch.bytes),
                        Shape::V2 => version.v2(&mut scratch.bytes),
                        Shape::JsonSchema => {
                            let metadata = metadata.get_or_insert_with(|| self.metadata(arena));
                            let schema = documents::resource_schema(crd, version, metadata, &self.settings);
                            let is_made = !schema.value.is_empty();
                            scratch.bytes.extend_from_slice(&schema.value);
                            let is_wanted = |note: &Note<'_>| self.losses || !is_made || !note.code.kind().is_loss();
                            notes.extend(schema.notes.into_iter().filter(is_wanted));
                            if !is_made {
                                notes.drain(..).for_each(|note| sink.note(note, Some(target.shape)));
                                continue;
                            }
                        }
                        _ if version.schema().is_none() => {
                            let (name, at) = (version.version().name, version.version().at);
                            sink.note(Note::new(Code::NoStructural, at, name), Some(target.shape));
                            continue;
                        }
                        Shape::Policy => {
                            let own = version.version();
                            let Some(schema) = kubeshape_structural::usable(own.schema, own.at).value else { continue };
                            let made = kubeshape_policy::from_rules(crd, own, schema, self.release);
                            let is_wanted = |note: &Note<'_>| self.losses || !note.code.kind().is_loss();
                            notes.extend(made.notes.into_iter().filter(is_wanted));
                            let Some(list) = made.list else { continue };
                            scratch.bytes.extend_from_slice(&list);
                        }
                        _ => version.structural(&mut scratch.bytes),
                    }
                    self.result(*target, version.version(), scratch, sink)?;
                }
            }
            if self.losses {
                losses(*target, &resource, &mut notes);
            }
            notes.drain(..).for_each(|note| sink.note(note, Some(target.shape)));
        }
        Ok(fragments)
    }

    /// Returns the published definitions of the metadata of objects.
    fn metadata<'a>(&'a self, arena: &'a Bump) -> &'a [Property<'a>] {
        let Some((source, tape)) = &self.metadata else { return &[] };
        let schemas = tape.document(source).root().and_then(|root| root.get("components")?.get("schemas"));
        let mut reader = kubeshape_schema::read::Reader::new(arena, Rules::Document(Profile::Faithful));
        schemas.map_or(&[], |schemas| reader.properties(schemas))
    }

    /// Passes the definition with the rules of policies to the sink, if there are any for it.
    fn definition<'a>(
        &self,
        target: Target,
        (manifest, is_derived): (Node<'_>, bool),
        crd: &Crd<'a>,
        scratch: &mut Scratch,
        sink: &mut impl Sink<'a>,
    ) -> Result<(), Fatal> {
        let Scratch { bytes, formatter } = scratch;
        bytes.clear();
        if self.rules.is_none() && is_derived {
            let as_made = json::Options { sorted: false, escape_html: false };
            json::write(manifest, bytes, as_made);
            let formatted = formatter.format(bytes, target.format, self.pretty, &mut Vec::new());
            return sink.result(target, "", formatted.unwrap_or_default());
        }
        let Some(rules) = &self.rules else {
            let detail = "a CustomResourceDefinition is one already; --rules-from adds rules to it";
            sink.note(Note::new(Code::Skipped, crd.at, detail), Some(target.shape));
            return Ok(());
        };
        let mut notes = Vec::new();
        rules.definition(manifest, crd, bytes, &mut notes);
        let is_wanted = |note: &Note<'_>| self.losses || !note.code.kind().is_loss();
        notes.into_iter().filter(is_wanted).for_each(|note| sink.note(note, Some(target.shape)));
        if bytes.is_empty() {
            return Ok(());
        }
        let formatted = formatter.format(bytes, target.format, self.pretty, &mut Vec::new());
        sink.result(target, "", formatted.unwrap_or_default())
    }

    fn smd<'a>(
        &'a self,
        target: Target,
        crd: &'a Crd<'a>,
        resource: &Resource<'a>,
        scratch: &mut Scratch,
        sink: &mut impl Sink<'a>,
    ) -> Result<(), Fatal> {
        match resource.smd() {
            Ok(schema) => {
                scratch.bytes.clear();
                let bytes = if target.format == args::Format::Yaml {
                    kubeshape_smd::schema::print_yaml(&schema, &mut scratch.bytes);
                    &scratch.bytes
                } else {
                    kubeshape_smd::schema::print_json(&schema, &mut scratch.bytes);
                    let Scratch { bytes, formatter } = scratch;
                    formatter.format(bytes, target.format, self.pretty, &mut Vec::new()).unwrap_or_default()
                };
                sink.result(target, "", bytes)?;
            }
            Err(errors) => {
                for error in errors {
                    let at = if error.at == 0 { crd.at } else { error.at };
                    sink.note(Note::new(Code::SmdError, at, error.text), Some(target.shape));
                }
            }
        }
        Ok(())
    }

    /// Passes the printed result of a version to the sink, in the format of the target.
    fn result<'a>(
        &self,
        target: Target,
        version: &Version<'a>,
        scratch: &mut Scratch,
        sink: &mut impl Sink<'a>,
    ) -> Result<(), Fatal> {
        let mut remarks = Vec::new();
        let Scratch { bytes, formatter } = scratch;
        match documents::in_version(std::mem::take(bytes), target, &self.settings) {
            Ok(later) => *bytes = later,
            Err(note) => {
                sink.note(Note::new(note.code, version.at, note.detail), Some(target.shape));
                return Ok(());
            }
        }
        let formatted = formatter.format(bytes, target.format, self.pretty, &mut remarks);
        if let Some(bytes) = formatted {
            sink.result(target, version.name, bytes)?;
        }
        for Finding { code, pointer, detail, .. } in remarks {
            let pointer = pointer.unwrap_or_default();
            if self.losses || !code.kind().is_loss() {
                sink.note(Note::new(code, version.at, format!("{detail} (at {pointer})")), Some(target.shape));
            }
        }
        Ok(())
    }

    /// Merges the parts of these CustomResourceDefinitions into the results of a target, and passes them to `give` one
    /// by one.
    ///
    /// # Errors
    /// Returns the errors of `give`, and an error if the document to merge into cannot be used.
    pub(crate) fn merge(
        &self,
        target: Target,
        parts: &mut BTreeMap<String, Fragments>,
        (pool, write): (&ThreadPool, &Write<'_>),
        mut give: impl FnMut(Merged) -> Result<(), Fatal>,
    ) -> Result<(), Fatal> {
        let mut scratch = Scratch::default();
        if target.shape.is_v3() {
            let mut merge = MergeV3::new();
            let again = self.targets.iter().filter(|target| target.shape.is_v3()).count() > 1;
            for (name, fragments) in parts {
                let own = if again { fragments.v3.clone() } else { std::mem::take(&mut fragments.v3) };
                for part in own {
                    merge.add(name, part);
                }
            }
            let mut group_versions = merge.group_versions();
            loop {
                let window: Vec<_> = group_versions.by_ref().take(pool.current_num_threads() * WINDOW).collect();
                if window.is_empty() {
                    return Ok(());
                }
                let make = |scratch: &mut Scratch, parts| self.group_version(target, parts, scratch, write);
                let made: Vec<Result<Vec<Merged>, Fatal>> =
                    pool.install(|| window.into_par_iter().map_init(Scratch::default, make).collect());
                for merged in made {
                    merged?.into_iter().try_for_each(&mut give)?;
                }
            }
        } else if let Some((name, document)) = &self.onto {
            let owners = owners(parts);
            let merge = merge_v2(parts);
            let owner = |name: &str| owners.get(name).cloned().unwrap_or_default();
            match merge.finish_into(self.publisher.base(), document, self.publisher.options().profile) {
                Ok(merged) => {
                    for path in merged.dropped_paths {
                        give(Merged::finding(Code::V2PathDropped, target, owner(&path), path))?;
                    }
                    for (from, to) in merged.renamed {
                        let detail = format!("{from} is called {to}");
                        give(Merged::finding(Code::Renamed, target, owner(&from), detail))?;
                    }
                    let name = names::single(target.shape, target.format);
                    self.merged(target, name, merged.document, &mut scratch, &mut give)?;
                }
                Err(MergeError::DuplicatePath(path)) => {
                    let detail = MergeError::DuplicatePath(path.clone()).to_string();
                    give(Merged::finding(Code::PathConflict, target, owner(&path), detail))?;
                }
                Err(error) => return Err(Fatal::Read { path: name.into(), message: error.to_string() }),
            }
        } else {
            let name = names::single(target.shape, target.format);
            let merge = merge_v2(parts);
            if target.format == args::Format::Json && !self.pretty {
                give(Merged::V2(name, merge))?;
            } else {
                self.merged(target, name, merge.finish(self.publisher.base()), &mut scratch, &mut give)?;
            }
        }
        Ok(())
    }

    /// Creates and writes the document of a group version.
    fn group_version(
        &self,
        target: Target,
        parts: GroupVersionParts,
        scratch: &mut Scratch,
        write: &Write<'_>,
    ) -> Result<Vec<Merged>, Fatal> {
        let mut out = Vec::new();
        let (path, document) = parts.finish(self.publisher.base());
        match document {
            Ok(bytes) => self.merged(
                target,
                names::group_version(&path, target.format, target.shape),
                bytes,
                scratch,
                |merged| {
                    out.push(match merged {
                        Merged::Document(name, bytes) => Merged::Output(write(name, bytes)?),
                        merged => merged,
                    });
                    Ok(())
                },
            )?,
            Err(conflict) => out.push(Merged::conflict(target, &conflict)),
        }
        Ok(out)
    }

    fn merged(
        &self,
        target: Target,
        name: String,
        bytes: Vec<u8>,
        scratch: &mut Scratch,
        mut give: impl FnMut(Merged) -> Result<(), Fatal>,
    ) -> Result<(), Fatal> {
        let bytes = match documents::in_version(bytes, target, &self.settings) {
            Ok(bytes) => bytes,
            Err(note) => return give(Merged::finding(note.code, target, "", note.detail.into_owned())),
        };
        if target.format == args::Format::Json && !self.pretty {
            return give(Merged::Document(name, bytes));
        }
        let mut remarks = Vec::new();
        let formatted = scratch.formatter.format(&bytes, target.format, self.pretty, &mut remarks).map(<[u8]>::to_vec);
        drop(bytes);
        for Finding { code, pointer, detail, .. } in remarks {
            let pointer = pointer.unwrap_or_default();
            if self.losses || !code.kind().is_loss() {
                give(Merged::finding(code, target, "", format!("{detail} (at {pointer} of {name})")))?;
            }
        }
        formatted.map_or(Ok(()), |bytes| give(Merged::Document(name, bytes)))
    }

    /// Merges all parts of these CustomResourceDefinitions into one document, as a server publishes it, to be merged
    /// with other documents. With `again`, the parts are kept, because they are needed again.
    ///
    /// # Errors
    /// Returns a finding, if two of them define the same name.
    pub(crate) fn published(
        &self,
        target: Target,
        parts: &mut BTreeMap<String, Fragments>,
        again: bool,
    ) -> Result<Vec<u8>, Merged> {
        if target.shape == Shape::V2 {
            return Ok(merge_v2(parts).finish(self.publisher.base()));
        }
        let mut merge = MergeV3::new();
        for (name, fragments) in parts {
            let fragments = if again { fragments.v3.clone() } else { std::mem::take(&mut fragments.v3) };
            for part in fragments {
                let version = format!("{name} {}", part.group_version);
                merge.add(&version, V3Fragments { group_version: "one document".to_owned(), ..part });
            }
        }
        let document = merge.finish(self.publisher.base()).next();
        document.map_or_else(|| Ok(Vec::new()), |(_, document)| document.map_err(|c| Merged::conflict(target, &c)))
    }

    /// Returns the base of the documents.
    pub(crate) fn base(&self) -> &Base {
        self.publisher.base()
    }

    /// Returns the settings for documents.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns whether there is a document to merge into.
    pub(crate) fn has_onto(&self) -> bool {
        self.onto.is_some()
    }
}

impl Merged {
    fn conflict(target: Target, conflict: &MergeConflict) -> Merged {
        // If several versions are in the same document, the version comes after the name.
        let name = conflict.second.split(' ').next().unwrap_or_default().to_owned();
        Merged::finding(Code::SchemaConflict, target, name, conflict.to_string())
    }

    /// Returns a finding about the CustomResourceDefinition of that name; an empty name means none.
    fn finding(code: Code, target: Target, name: impl Into<String>, detail: String) -> Merged {
        let mut finding = Finding::new(code, detail).of_resource(name);
        finding.shape = Some(target.shape.into());
        Merged::Finding(Box::new(finding))
    }
}

fn merge_v2(parts: &mut BTreeMap<String, Fragments>) -> MergeV2 {
    let mut merge = MergeV2::new().valid();
    for (name, fragments) in parts {
        if let Some(part) = fragments.v2.take() {
            merge.add(name, part);
        }
    }
    merge
}

/// Returns a document that is published for some resource.
fn any_document(publisher: &Publisher) -> Option<(String, Tape)> {
    const RESOURCE: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "examples", "kind": "Example"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}"#;
    let (mut tape, arena) = (Tape::new(), Bump::new());
    format::read(RESOURCE.as_bytes(), &mut tape)?;
    let crd = kubeshape_structural::read::read(tape.document(RESOURCE).root()?, &arena).value?;
    let mut json = Vec::new();
    publisher.resource(&crd, &arena).versions().first()?.v3(&mut json);
    let mut tape = Tape::new();
    let source = format::read(&json, &mut tape)?.to_owned();
    Some((source, tape))
}

/// Collects the losses of a shape for a resource.
fn losses<'a>(target: Target, resource: &Resource<'a>, notes: &mut Vec<Note<'a>>) {
    let published = resource.versions().iter().filter(|version| version.is_published());
    match target.shape {
        Shape::Smd => resource.smd_losses(notes),
        Shape::V3 | Shape::V31 => published.for_each(|version| version.losses(Published::V3, notes)),
        Shape::Structural => published.for_each(|version| version.losses(Published::Structural, notes)),
        // JSON Schemas and policies come with their losses, and the document for kustomize has only merge keys.
        Shape::JsonSchema | Shape::Policy | Shape::Crd | Shape::Kustomize => {}
        Shape::V2 => {
            for version in published {
                version.losses(Published::V2, notes);
                if target.per == Per::Single {
                    version.v2_default_losses(notes);
                }
            }
        }
    }
}

/// Returns the CustomResourceDefinition of each path and definition of v2.
fn owners(parts: &BTreeMap<String, Fragments>) -> BTreeMap<String, String> {
    let parts = parts.iter().filter_map(|(name, part)| Some((name, part.v2.as_ref()?)));
    parts
        .flat_map(|(name, v2)| {
            let names = v2.paths.iter().map(|part| &part.name).chain(v2.definitions.iter().map(|part| &part.name));
            names.map(|part| (part.clone(), name.clone()))
        })
        .collect()
}

/// Reads the documents in files and folders.
pub(super) fn bases(paths: &[std::path::PathBuf], filter: &Filter) -> Result<Vec<(String, Vec<u8>)>, Fatal> {
    let mut reader = Reader::default();
    gather(paths, None, filter).complete()?.iter().map(|input| document(&mut reader, input)).collect()
}

fn document(reader: &mut Reader, input: &Input) -> Result<(String, Vec<u8>), Fatal> {
    match reader.read_plain(input, &Limits::default()) {
        Ok(bytes) => Ok((input.name(), bytes)),
        Err(message) => Err(Fatal::Read { path: input.path().to_owned(), message }),
    }
}
