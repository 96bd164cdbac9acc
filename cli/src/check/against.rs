//! The definitions that the inputs replace.

use super::git;
use crate::error::Fatal;
use crate::input::{self, Filter, gather};
use kubeshape_input::{Code, Document, Finding, Limits, read};
use kubeshape_structural::ApiVersion;
use kubeshape_structural::read::Manifest;
use kubeshape_yaml::Node;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Definitions by name.
#[derive(Debug, Default)]
pub(super) struct Against {
    documents: Vec<Document>,
    by_name: BTreeMap<String, Old>,
}

/// Where a definition is.
#[derive(Clone, Copy, Debug)]
struct Old {
    document: usize,
    node: u32,
    implied: Option<ApiVersion>,
}

impl Against {
    /// Reads files, folders and what a repository holds. What is wrong with one of them is told.
    ///
    /// # Errors
    /// Something cannot be read, or there is no such thing.
    pub(super) fn read(
        sources: &[String],
        filter: &Filter,
        limits: Limits,
        mut tell: impl FnMut(&Finding),
    ) -> Result<Against, Fatal> {
        let mut out = Against::default();
        for source in sources {
            let before = out.by_name.len();
            if let Some(spec) = source.strip_prefix("git:") {
                git::read(spec, limits, |name, bytes| out.add(name, bytes, limits, &mut tell))?;
            } else {
                out.files(Path::new(source), filter, limits, &mut tell)?;
            }
            if out.by_name.len() == before {
                let detail = "no CustomResourceDefinition was found in it";
                tell(&Finding::new(Code::Nothing, detail).in_input(source.as_str()));
            }
        }
        Ok(out)
    }

    fn files(
        &mut self,
        path: &Path,
        filter: &Filter,
        limits: Limits,
        tell: &mut impl FnMut(&Finding),
    ) -> Result<(), Fatal> {
        let gathered = gather(&[PathBuf::from(path)], None, filter);
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

    /// Adds the definitions of a text. Of several with one name the last counts.
    fn add(&mut self, name: &str, bytes: &[u8], limits: Limits, tell: &mut impl FnMut(&Finding)) {
        let read = read(name, bytes, limits);
        read.findings.iter().for_each(tell);
        for document in read.documents {
            let number = self.documents.len();
            let mut is_used = false;
            for manifest in document.manifests().0 {
                if let Some(name) = name_of(manifest.node) {
                    let old = Old { document: number, node: manifest.node.index(), implied: manifest.implied };
                    self.by_name.insert(name.to_owned(), old);
                    is_used = true;
                }
            }
            if is_used {
                self.documents.push(document);
            }
        }
    }

    /// The names of the definitions.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// The definition that another one with the same name replaces.
    pub(super) fn get(&self, new: Node<'_>) -> Option<Manifest<'_>> {
        let old = self.by_name.get(name_of(new)?)?;
        let document = self.documents.get(old.document)?;
        Some(Manifest { node: document.document().node(old.node), implied: old.implied })
    }
}

fn name_of(node: Node<'_>) -> Option<&str> {
    node.get("metadata")?.get("name")?.as_str()
}
