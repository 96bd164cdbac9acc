//! CustomResourceDefinitions by name, from files, from folders and, by [`git`], from a repository.

mod git;

use crate::error::Fatal;
use crate::input::{self, Filter, build_files, gather};
use kubeshape_input::{Code, Document, Finding, Limits, read};
use kubeshape_registry::Location;
use kubeshape_registry::policy::is_policy;
use kubeshape_schema::Release;
use kubeshape_structural::ApiVersion;
use kubeshape_structural::read::Manifest;
use kubeshape_yaml::Node;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Definitions by name.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    documents: Vec<Arc<Document>>,
    /// All objects, if there are admission policies among them.
    objects: Vec<Location>,
    /// OpenAPI documents, which define kinds of their own.
    openapi: Vec<Document>,
    by_name: BTreeMap<String, Place>,
}

/// The location of a definition.
#[derive(Clone, Copy, Debug)]
struct Place {
    document: usize,
    node: u32,
    implied: Option<ApiVersion>,
}

impl Definitions {
    /// Reads files, folders and paths in a repository. Reports their errors.
    ///
    /// # Errors
    /// Something cannot be read, or does not exist.
    pub(crate) fn read(
        sources: &[String],
        filter: &Filter,
        limits: Limits,
        mut tell: impl FnMut(&Finding),
    ) -> Result<Definitions, Fatal> {
        let mut out = Definitions::default();
        for source in sources {
            let before = out.by_name.len() + out.openapi.len() + out.objects.len();
            if let Some(spec) = source.strip_prefix("git:") {
                let passed = git::read(spec, limits, |name, bytes| out.add(name, bytes, limits, &mut tell))?;
                build_files(source, passed).iter().for_each(&mut tell);
            } else {
                out.files(Path::new(source), filter, limits, &mut tell)?;
            }
            if !out.objects.iter().any(|location| is_policy(location.node())) {
                out.objects.clear();
            }
            if out.by_name.len() + out.openapi.len() + out.objects.len() == before {
                let detail = "no CustomResourceDefinition found in it";
                tell(&Finding::new(Code::Nothing, detail).in_input(source.as_str()));
            }
        }
        Ok(out)
    }

    /// Reads an input in memory. Reports its errors.
    pub(crate) fn of_text(name: &str, text: &[u8], limits: Limits, mut tell: impl FnMut(&Finding)) -> Definitions {
        let mut out = Definitions::default();
        out.add(name, text, limits, &mut tell);
        out
    }

    fn files(
        &mut self,
        path: &Path,
        filter: &Filter,
        limits: Limits,
        tell: &mut impl FnMut(&Finding),
    ) -> Result<(), Fatal> {
        let gathered = gather(&[PathBuf::from(path)], None, filter);
        gathered.findings.iter().for_each(&mut *tell);
        if let Some((path, message)) = gathered.unreadable.into_iter().next() {
            return Err(Fatal::Read { path, message });
        }
        let mut reader = input::Reader::default();
        for input in &gathered.inputs {
            match reader.read(input, &limits) {
                Ok(bytes) => self.add(&input.name(), bytes, limits, tell),
                Err(finding) => {
                    return Err(Fatal::Read { path: input.path().to_owned(), message: finding.detail });
                }
            }
        }
        Ok(())
    }

    /// Adds the definitions of an input. If several have the same name, the last one is used.
    fn add(&mut self, name: &str, bytes: &[u8], limits: Limits, tell: &mut impl FnMut(&Finding)) {
        let read = read(name, bytes, limits);
        read.findings.iter().for_each(tell);
        for document in read.documents {
            if document.content().dialect().is_some() {
                self.openapi.push(document);
                continue;
            }
            let (number, document) = (self.documents.len(), Arc::new(document));
            let nodes = document.objects().into_iter();
            self.objects.extend(nodes.map(|node| Location::new(Arc::clone(&document), node.index())));
            let mut is_used = false;
            for manifest in document.manifests().0 {
                if let Some(name) = name_of(manifest.node) {
                    let place = Place { document: number, node: manifest.node.index(), implied: manifest.implied };
                    self.by_name.insert(name.to_owned(), place);
                    is_used = true;
                }
            }
            if is_used {
                self.documents.push(document);
            }
        }
    }

    /// Returns the OpenAPI documents among the inputs.
    pub(crate) fn openapi(&self) -> &[Document] {
        &self.openapi
    }

    /// Returns the release of the cluster that the inputs come from. `None` if they name none.
    pub(crate) fn server_release(&self) -> Option<Release> {
        self.openapi.iter().filter_map(Document::server_release).max()
    }

    /// Returns all objects, if there are admission policies among them.
    pub(crate) fn objects(&self) -> &[Location] {
        &self.objects
    }

    /// Returns the names of the definitions.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns the definition that another one with the same name replaces.
    pub(crate) fn replaced_by(&self, new: Node<'_>) -> Option<Manifest<'_>> {
        self.get(name_of(new)?).map(|(_, manifest)| manifest)
    }

    /// Returns the definition of that name, and its document.
    pub(crate) fn get(&self, name: &str) -> Option<(&Document, Manifest<'_>)> {
        let place = self.by_name.get(name)?;
        let document: &Document = self.documents.get(place.document)?;
        Some((document, Manifest { node: document.document().node(place.node), implied: place.implied }))
    }
}

fn name_of(node: Node<'_>) -> Option<&str> {
    node.get("metadata")?.get("name")?.as_str()
}
