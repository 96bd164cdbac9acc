//! Converts notes, which borrow and refer to nodes, to findings, which are owned and have locations.

use crate::advice;
use crate::{Excerpt, Finding, Lines, Place, Shape, Source};
use kubeshape_schema::Note;
use kubeshape_yaml::{Document, Node, Parents};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Converts the notes about one document to findings.
///
/// # Example: an error in a CustomResourceDefinition
/// ```
/// use kubeshape_input::{Limits, read};
/// use kubeshape_schema::Bump;
///
/// let file = b"
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: tabs.example.com}
/// spec: {group: [example.com]}
/// ";
/// let input = read("tabs.yaml", file, Limits::default());
/// let (document, arena) = (&input.documents[0], Bump::new());
/// let (definitions, _) = document.manifests();
/// let notes = definitions[0].read(&arena).notes;
/// let mut resolver = document.resolver().within(definitions[0].node);
/// let finding = resolver.finding(&notes[0]);
/// assert_eq!(finding.pointer.as_deref(), Some("/spec/group"));
/// assert_eq!(finding.place.map(|place| place.to_string()).as_deref(), Some("5:15"));
/// assert_eq!(finding.resource.as_deref(), Some("tabs.example.com"));
/// ```
#[derive(Debug)]
pub struct Resolver<'r> {
    name: &'r Arc<str>,
    document: Document<'r>,
    parents: &'r OnceLock<Parents>,
    has_lines: bool,
    lines: LinesOf<'r>,
    resource: Option<String>,
    versions: Vec<(Range<u32>, &'r str)>,
    pointers: bool,
    excerpts: bool,
}

#[derive(Debug)]
pub(crate) enum LinesOf<'r> {
    /// The lines of the source, which all of its documents share.
    Source(&'r Source),
    Lent(&'r mut Lines),
}

impl LinesOf<'_> {
    fn place(&mut self, text: &str, offset: usize) -> Place {
        match self {
            LinesOf::Source(source) => source.place_of(offset),
            LinesOf::Lent(lines) => lines.place(text, offset),
        }
    }

    fn excerpt(&mut self, text: &str, range: Range<usize>) -> Excerpt {
        match self {
            LinesOf::Source(source) => source.excerpt_of(range),
            LinesOf::Lent(lines) => lines.excerpt(text, range),
        }
    }
}

impl<'r> Resolver<'r> {
    pub(crate) fn new(
        name: &'r Arc<str>,
        (document, parents): (Document<'r>, &'r OnceLock<Parents>),
        has_lines: bool,
        lines: LinesOf<'r>,
    ) -> Self {
        Resolver {
            name,
            document,
            parents,
            has_lines,
            lines,
            resource: None,
            versions: Vec::new(),
            pointers: true,
            excerpts: true,
        }
    }

    /// Sets the CustomResourceDefinition of the document to which notes belong: findings get its name, and that of the
    /// version that contains them.
    #[must_use]
    pub fn within(self, definition: Node<'r>) -> Self {
        let text = |node: Node<'r>, key| node.get(key).and_then(Node::as_str).unwrap_or_default();
        let name = definition.get("metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
        let versions = definition.get("spec").and_then(|spec| spec.get("versions"));
        let versions = versions.into_iter().flat_map(Node::items).filter(|item| item.entry().is_container());
        let versions = versions.map(|item| (item.index()..item.entry().a, text(item, "name"))).collect();
        Resolver { versions, ..self.of_resource(name) }
    }

    /// Sets the name of the resource to which notes belong. An empty name is ignored.
    #[must_use]
    pub fn of_resource(mut self, name: &str) -> Self {
        self.set_resource(name);
        self
    }

    /// Sets the name of the resource to which later notes belong.
    pub fn set_resource(&mut self, name: &str) {
        if self.resource.as_deref().unwrap_or_default() != name {
            self.resource = (!name.is_empty()).then(|| name.to_owned());
        }
    }

    /// Sets whether findings have a pointer. By default they have one.
    pub fn pointers(&mut self, wanted: bool) -> &mut Self {
        self.pointers = wanted;
        self
    }

    /// Sets whether findings have an excerpt. By default they have one.
    pub fn excerpts(&mut self, wanted: bool) -> &mut Self {
        self.excerpts = wanted;
        self
    }

    /// Returns the document.
    pub fn document(&self) -> Document<'r> {
        self.document
    }

    /// Converts a note to a finding.
    pub fn finding(&mut self, note: &Note<'_>) -> Finding {
        let mut finding = Finding::new(note.code, note.detail.as_ref());
        finding.input = Some(Arc::clone(self.name));
        finding.resource.clone_from(&self.resource);
        let behind = self.versions.partition_point(|(range, _)| range.start <= note.at);
        let version = self.versions[..behind].last().filter(|(range, _)| range.contains(&note.at));
        finding.version = version.map(|(_, name)| (*name).to_owned());
        if let Some(node) = self.node(note.at) {
            let parents = || self.parents.get_or_init(|| Parents::of(self.document));
            finding.pointer = self.pointers.then(|| parents().pointer(self.document, note.at));
            finding.advice = advice::about(note.code, node);
            if self.has_lines {
                finding.span = Some(node.span());
                finding.place = self.place(note.at);
                finding.excerpt = self.excerpts.then(|| self.excerpt(note.at));
            }
        }
        finding
    }

    /// Changes the location of a finding to a part of the input, in bytes.
    pub fn mark(&mut self, finding: &mut Finding, part: Range<usize>) {
        if self.has_lines {
            let source = self.document.source();
            finding.place = Some(self.lines.place(source, part.start));
            finding.excerpt = self.excerpts.then(|| self.lines.excerpt(source, part.clone()));
            finding.span = Some(part);
        }
    }

    /// Converts a note about a result to a finding.
    pub fn finding_in(&mut self, note: &Note<'_>, shape: Option<Shape>) -> Finding {
        Finding { shape, ..self.finding(note) }
    }

    /// Returns line and column of a node, if the input has lines.
    pub fn place(&mut self, at: u32) -> Option<Place> {
        let start = self.node(at).filter(|_| self.has_lines)?.span().start;
        Some(self.lines.place(self.document.source(), start))
    }

    /// Returns the line of a node, or a part of it.
    pub fn excerpt(&mut self, at: u32) -> Excerpt {
        let span = self.node(at).map(Node::span);
        span.map(|span| self.lines.excerpt(self.document.source(), span)).unwrap_or_default()
    }

    fn node(&self, at: u32) -> Option<Node<'r>> {
        ((at as usize) < self.document.len()).then(|| self.document.node(at))
    }
}
