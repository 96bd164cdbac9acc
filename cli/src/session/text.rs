//! Inputs with their documents, which are kept so that findings can point into them.

use super::Session;
use crate::input::{self, Input, gather};
use kubeshape_input::{Code, Document, Finding, Limits};
use kubeshape_registry::Location;
use kubeshape_yaml::Node;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An input and its documents.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    /// The name in messages.
    pub(crate) name: &'a str,
    /// The path. Empty if the input is not a file, such as standard input.
    pub(crate) path: PathBuf,
    documents: Vec<Arc<Document>>,
    /// Whether the input was named on the command line, and not found in a folder.
    pub(crate) named: bool,
    /// Whether something in it could not be read.
    pub(crate) failed: bool,
}

impl<'a> Text<'a> {
    /// Returns the documents that are not empty.
    pub(crate) fn documents(&'a self) -> &'a [Arc<Document>] {
        &self.documents
    }

    /// Returns the documents that are not empty, with their positions.
    pub(crate) fn locations(&self) -> impl Iterator<Item = Location> {
        self.documents.iter().map(|document| Location::root(Arc::clone(document)))
    }

    /// Returns the text. Empty if it has no document.
    pub(crate) fn source(&self) -> &str {
        self.documents.first().map_or("", |document| document.source().text())
    }

    /// Returns a finding about a node.
    pub(crate) fn about(&self, code: Code, node: Node<'_>, detail: impl Into<String>) -> Finding {
        match self.documents.first() {
            Some(document) => document.source().finding(code, node.span(), detail),
            None => nowhere(code, self.name, detail),
        }
    }

    /// Returns the `file:line:column` of a node.
    pub(crate) fn place(&self, node: Node<'_>) -> String {
        let source = self.documents.first().map(|document| document.source());
        source.map_or_else(|| self.name.to_owned(), |source| source.location(node.span().start))
    }
}

/// Returns a finding about an input as a whole.
pub(crate) fn nowhere(code: Code, input: &str, detail: impl Into<String>) -> Finding {
    Finding::new(code, detail).in_input(input)
}

/// How to treat a file that does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is an error, so that a mistyped name does not count as an empty file.
    Error,
    /// It counts as an empty file, because the user allows that.
    Empty,
}

/// Reads files and folders in the given order. Reports what cannot be read.
pub(crate) fn read_all<'a>(paths: &[PathBuf], missing: Missing, session: &mut Session<'a>) -> Vec<&'a Text<'a>> {
    let mut texts = Vec::new();
    for path in paths {
        // If it cannot be checked whether a file exists, the file does not count as missing.
        if missing == Missing::Empty && path.as_os_str() != "-" && matches!(path.try_exists(), Ok(false)) {
            continue;
        }
        let gathered = gather(std::slice::from_ref(path), None, &session.filter);
        for finding in &gathered.findings {
            session.report(finding);
        }
        for (path, why) in gathered.unreadable {
            session.unreadable(&nowhere(Code::Unreadable, &path.to_string_lossy(), why));
        }
        for input in gathered.inputs {
            texts.extend(read(&input, session));
        }
    }
    texts
}

/// Reads one file.
pub(crate) fn read_path<'a>(path: &Path, session: &mut Session<'a>) -> Option<&'a Text<'a>> {
    read_all(&[path.to_owned()], Missing::Error, session).first().copied()
}

/// Reads an input.
pub(crate) fn read<'a>(input: &Input, session: &mut Session<'a>) -> Option<&'a Text<'a>> {
    let name: &'a str = session.arena.alloc_str(&input.name());
    let limits = Limits::default();
    let mut reader = input::Reader::default();
    let bytes = match reader.read(input, &limits) {
        Ok(bytes) => bytes,
        Err(finding) => {
            session.unreadable(&finding);
            return None;
        }
    };
    let path = match &input.source {
        input::Source::File(path) if input.is_file() => path.clone(),
        _ => PathBuf::new(),
    };
    let kubeshape_input::Input { documents, findings, .. } = kubeshape_input::read(name, bytes, limits);
    for finding in &findings {
        session.report(finding);
    }
    let failed = findings.iter().any(Finding::is_error);
    let documents = documents.into_iter().map(Arc::new).collect();
    Some(session.arena.alloc(Text { name, path, documents, named: input.named, failed }))
}
