//! Where the command meets the conversion: everything that is asked of `kubeshape-publish` is asked here.

use super::plan::{Plan, Target};
use crate::args::{self, ConvertArgs, Per, Shape};
use crate::error::Fatal;
use crate::input::{ReadError, Reader, gather};
use crate::output::format::Formatter;
use crate::output::names;
use kubeshape_publish::{
    Base, MergeConflict, MergeError, MergeV2, MergeV3, Options, Profile, Publisher, Resource, ResourceVersion,
    Shape as Published, SmdCompat, V2Form, V2Fragments, V3Fragments,
};
use kubeshape_schema::{Bump, Code, Note};
use kubeshape_structural::Crd;
use kubeshape_yaml::Limits;
use std::collections::BTreeMap;
use std::path::Path;

/// Converts CustomResourceDefinitions, one by one and on any number of threads.
#[derive(Debug)]
pub(crate) struct Engine {
    publisher: Publisher,
    targets: Vec<Target>,
    pretty: bool,
    losses: bool,
    onto: Option<(String, Vec<u8>)>,
}

/// What takes the results of one CustomResourceDefinition.
pub(crate) trait Sink<'a> {
    /// A finding or a loss.
    fn note(&mut self, note: Note<'a>, shape: Option<Shape>);

    /// A result, of one version or (SMD) of all of them.
    fn result(&mut self, target: Target, version: &str, bytes: &[u8]) -> Result<(), Fatal>;
}

/// What one CustomResourceDefinition adds to merged documents.
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

/// A merged document, or why there is none.
#[derive(Debug)]
pub(crate) enum Merged {
    /// The name of its file and its bytes.
    Document(String, Vec<u8>),
    /// The name of its file and its parts: it is large, and written as it is made.
    V2(String, MergeV2),
    /// A finding about the CustomResourceDefinition of that name.
    Finding(Code, Target, String, String),
}

impl Engine {
    /// Reads what the conversion needs besides the inputs. With `losses`, losses are looked for.
    ///
    /// # Errors
    /// A base document or the document to merge onto cannot be read.
    pub(crate) fn new(args: &ConvertArgs, plan: &Plan, losses: bool) -> Result<Engine, Fatal> {
        let options = Options {
            profile: match args.profile {
                args::Profile::Kube => Profile::Kube,
                args::Profile::Faithful => Profile::Faithful,
            },
            smd_compat: match args.smd_compat {
                args::SmdCompat::V63 => SmdCompat::V63,
                args::SmdCompat::V64 => SmdCompat::V64,
            },
            all_versions: args.all_versions,
        };
        let base = if args.base.is_empty() {
            Base::builtin()
        } else {
            let documents = documents(&args.base)?;
            let names: Vec<_> = args.base.iter().map(|path| path.to_string_lossy()).collect();
            let read = |error: kubeshape_publish::BaseError| Fatal::Read {
                path: names.join(", ").into(),
                message: error.to_string(),
            };
            Base::from_documents(&documents).map_err(read)?
        };
        let onto = args.onto.as_deref().map(|path| document(&mut Reader::default(), path)).transpose()?;
        let publisher = Publisher::new(base, options);
        Ok(Engine { publisher, targets: plan.targets.clone(), pretty: args.pretty, losses, onto })
    }

    /// Converts one CustomResourceDefinition.
    ///
    /// # Errors
    /// Those of the sink.
    pub(crate) fn convert<'a>(
        &'a self,
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
        for target in &self.targets {
            let published = || resource.versions().iter().filter(|version| version.is_published());
            match (target.shape, target.per) {
                (Shape::V3, Per::Resource) => {
                    for version in published() {
                        scratch.bytes.clear();
                        version.v3(&mut scratch.bytes);
                        sink.result(*target, version.version().name, self.format(*target, scratch))?;
                    }
                }
                (Shape::V3, _) => fragments.v3.extend(published().map(ResourceVersion::v3_fragments)),
                (Shape::V2, Per::Resource) => {
                    for version in published() {
                        scratch.bytes.clear();
                        version.v2(&mut scratch.bytes);
                        sink.result(*target, version.version().name, self.format(*target, scratch))?;
                    }
                }
                (Shape::V2, _) => {
                    let form = if self.onto.is_some() { V2Form::Served } else { V2Form::Merged };
                    fragments.v2 = Some(resource.v2_fragments(form));
                }
                (Shape::Structural, _) => {
                    for version in published().filter(|version| version.schema().is_some()) {
                        scratch.bytes.clear();
                        version.structural(&mut scratch.bytes);
                        sink.result(*target, version.version().name, self.format(*target, scratch))?;
                    }
                }
                (Shape::Smd, _) => self.smd(*target, crd, &resource, scratch, sink)?,
            }
            if self.losses {
                losses(*target, &resource, &mut notes);
                notes.drain(..).for_each(|note| sink.note(note, Some(target.shape)));
            }
        }
        Ok(fragments)
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
                let bytes = match target.format {
                    args::Format::Yaml => {
                        kubeshape_smd::schema::print_yaml(&schema, &mut scratch.bytes);
                        &scratch.bytes
                    }
                    args::Format::Json => {
                        kubeshape_smd::schema::print_json(&schema, &mut scratch.bytes);
                        self.format(target, scratch)
                    }
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

    /// Merges what the CustomResourceDefinitions of these names have added, and gives the documents one by one.
    ///
    /// # Errors
    /// Those of `give`, and those of the document that is merged onto.
    pub(crate) fn merge(
        &self,
        parts: BTreeMap<String, Fragments>,
        mut give: impl FnMut(Merged) -> Result<(), Fatal>,
    ) -> Result<(), Fatal> {
        let (mut v3, mut v2) = (MergeV3::new(), MergeV2::new());
        let empty = parts.is_empty();
        let owners = if self.onto.is_some() { owners(&parts) } else { BTreeMap::new() };
        for (name, fragments) in parts {
            for part in fragments.v3 {
                v3.add(&name, part);
            }
            if let Some(part) = fragments.v2 {
                v2.add(&name, part);
            }
        }
        let mut scratch = Scratch::default();
        for target in self.targets.iter().filter(|target| target.per != Per::Resource && !empty) {
            if target.shape == Shape::V3 {
                for (path, document) in std::mem::take(&mut v3).finish(self.publisher.base()) {
                    give(match document {
                        Ok(bytes) => {
                            let bytes = self.format_owned(*target, bytes, &mut scratch);
                            Merged::Document(names::group_version(&path, target.format), bytes)
                        }
                        Err(conflict) => {
                            let MergeConflict { second, .. } = &conflict;
                            Merged::Finding(Code::SchemaConflict, *target, second.clone(), conflict.to_string())
                        }
                    })?;
                }
            } else if let Some((name, document)) = &self.onto {
                let merge = std::mem::take(&mut v2);
                let owner = |name: &str| owners.get(name).cloned().unwrap_or_default();
                match merge.finish_onto(self.publisher.base(), document, self.publisher.options().profile) {
                    Ok(merged) => {
                        for path in merged.dropped_paths {
                            give(Merged::Finding(Code::V2PathDropped, *target, owner(&path), path))?;
                        }
                        for (from, to) in merged.renamed {
                            let detail = format!("{from} is called {to}");
                            give(Merged::Finding(Code::Renamed, *target, owner(&from), detail))?;
                        }
                        let bytes = self.format_owned(*target, merged.document, &mut scratch);
                        give(Merged::Document(names::single(target.format), bytes))?;
                    }
                    Err(MergeError::DuplicatePath(path)) => {
                        let detail = MergeError::DuplicatePath(path.clone()).to_string();
                        give(Merged::Finding(Code::PathConflict, *target, owner(&path), detail))?;
                    }
                    Err(error) => return Err(Fatal::Read { path: name.into(), message: error.to_string() }),
                }
            } else if self.as_printed(*target) {
                give(Merged::V2(names::single(target.format), std::mem::take(&mut v2)))?;
            } else {
                let bytes = std::mem::take(&mut v2).finish(self.publisher.base());
                let bytes = self.format_owned(*target, bytes, &mut scratch);
                give(Merged::Document(names::single(target.format), bytes))?;
            }
        }
        Ok(())
    }

    fn format<'s>(&self, target: Target, scratch: &'s mut Scratch) -> &'s [u8] {
        scratch.formatter.format(&scratch.bytes, target.format, self.pretty)
    }

    /// Whether results stay as they are printed.
    fn as_printed(&self, target: Target) -> bool {
        target.format == args::Format::Json && !self.pretty
    }

    /// The base, which documents are finished with.
    pub(crate) fn base(&self) -> &Base {
        self.publisher.base()
    }

    fn format_owned(&self, target: Target, bytes: Vec<u8>, scratch: &mut Scratch) -> Vec<u8> {
        if self.as_printed(target) {
            return bytes;
        }
        scratch.formatter.format(&bytes, target.format, self.pretty).to_vec()
    }
}

/// What a shape does not hold of a resource.
fn losses<'a>(target: Target, resource: &Resource<'a>, notes: &mut Vec<Note<'a>>) {
    let published = resource.versions().iter().filter(|version| version.is_published());
    match target.shape {
        Shape::Smd => resource.smd_losses(notes),
        Shape::V3 => published.for_each(|version| version.losses(Published::V3, notes)),
        Shape::Structural => published.for_each(|version| version.losses(Published::Structural, notes)),
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

/// The CustomResourceDefinition that each path and definition of v2 comes from.
fn owners(parts: &BTreeMap<String, Fragments>) -> BTreeMap<String, String> {
    let parts = parts.iter().filter_map(|(name, part)| Some((name, part.v2.as_ref()?)));
    parts
        .flat_map(|(name, v2)| {
            let names = v2.paths.iter().map(|part| &part.name).chain(v2.definitions.iter().map(|part| &part.name));
            names.map(|part| (part.clone(), name.clone()))
        })
        .collect()
}

/// The documents of files and folders.
fn documents(paths: &[std::path::PathBuf]) -> Result<Vec<(String, Vec<u8>)>, Fatal> {
    let gathered = gather(paths, None);
    if let Some((path, message)) = gathered.unreadable.into_iter().next() {
        return Err(Fatal::Read { path, message });
    }
    let mut reader = Reader::default();
    gathered.inputs.iter().map(|input| document(&mut reader, input.path())).collect()
}

fn document(reader: &mut Reader, path: &Path) -> Result<(String, Vec<u8>), Fatal> {
    match reader.read_path(path, &Limits::default()) {
        Ok(bytes) => Ok((path.to_string_lossy().into_owned(), bytes.to_vec())),
        Err(ReadError::Unreadable(message) | ReadError::TooLarge(message)) => {
            Err(Fatal::Read { path: path.to_owned(), message })
        }
    }
}
