//! Inputs with their documents, kept so that everything points into them.

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
    /// The path; empty for what is not a file, such as standard input.
    pub(crate) path: PathBuf,
    documents: Vec<Arc<Document>>,
    /// Whether it was named on the command line, as opposed to found in a folder.
    pub(crate) named: bool,
    /// Whether something in it could not be read.
    pub(crate) failed: bool,
}

impl<'a> Text<'a> {
    /// The documents that hold anything.
    pub(crate) fn documents(&'a self) -> &'a [Arc<Document>] {
        &self.documents
    }

    /// The same with their places.
    pub(crate) fn locations(&self) -> impl Iterator<Item = Location> {
        self.documents.iter().map(|document| Location::root(Arc::clone(document)))
    }

    /// The text; empty if there is no document in it.
    pub(crate) fn source(&self) -> &str {
        self.documents.first().map_or("", |document| document.source().text())
    }

    /// A finding about a node.
    pub(crate) fn about(&self, code: Code, node: Node<'_>, detail: impl Into<String>) -> Finding {
        match self.documents.first() {
            Some(document) => document.source().finding(code, node.span(), detail),
            None => nowhere(code, self.name, detail),
        }
    }

    /// `file:line:column` of a node.
    pub(crate) fn place(&self, node: Node<'_>) -> String {
        let source = self.documents.first().map(|document| document.source());
        source.map_or_else(|| self.name.to_owned(), |source| source.location(node.span().start))
    }
}

/// A finding about an input as a whole.
pub(crate) fn nowhere(code: Code, input: &str, detail: impl Into<String>) -> Finding {
    Finding::new(code, detail).in_input(input)
}

/// What becomes of a file that does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is an error, because a name that is mistyped must not count as nothing.
    Error,
    /// It is as good as an empty one, because the user says so.
    Empty,
}

/// Reads files and folders in the order in which they are given; what cannot be read is told.
pub(crate) fn read_all<'a>(paths: &[PathBuf], missing: Missing, session: &mut Session<'a>) -> Vec<&'a Text<'a>> {
    let mut texts = Vec::new();
    for path in paths {
        // What may be there and cannot be looked for is no missing file.
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

fn read<'a>(input: &Input, session: &mut Session<'a>) -> Option<&'a Text<'a>> {
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
