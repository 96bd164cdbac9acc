//! Documents, owned and borrowed.

use crate::derive::{System, Wrong};
use crate::resolve::LinesOf;
use crate::{Code, Content, Excerpt, Finding, Lines, Resolver, Source};
use kubeshape_discovery::read::DocumentKind;
use kubeshape_schema::Release;
use kubeshape_structural::read::{Manifest, expand_list, manifests};
use kubeshape_yaml::{Node, Parents, Tape, Third};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A document of an input. It owns everything from which it was read.
#[derive(Clone, Debug)]
pub struct Document {
    source: Arc<Source>,
    tape: Tape,
    content: Content,
    /// The CustomResourceDefinitions made of its definitions of other systems.
    derived: Vec<u32>,
    /// Built when the first pointer is requested.
    parents: OnceLock<Parents>,
}

impl Document {
    pub(crate) fn new(source: Arc<Source>, tape: Tape, content: Content, derived: Vec<u32>) -> Document {
        Document { source, tape, content, derived, parents: OnceLock::new() }
    }

    pub(crate) fn without_lines(self) -> Document {
        let source = Arc::unwrap_or_clone(self.source).without_lines();
        Document { source: Arc::new(source), ..self }
    }

    /// Returns its kind.
    pub fn content(&self) -> Content {
        self.content
    }

    /// Returns the source that contains it.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Gives scalars the values that kustomize reads: see [`Tape::read_as_third`].
    pub fn read_as_third(&mut self) -> Third {
        self.parents.take();
        self.tape.read_as_third(self.source.text())
    }

    /// Returns its nodes.
    pub fn document(&self) -> kubeshape_yaml::Document<'_> {
        self.tape.document(self.source.text())
    }

    /// Returns its root.
    pub fn root(&self) -> Node<'_> {
        // Documents without nodes are not kept.
        self.document().node(0)
    }

    /// Returns the release of the server that the document comes from: `gitVersion` of `/version`, or `info.version` of
    /// an OpenAPI document of Kubernetes' own API. `None` if it does not name a release whose rules are known.
    pub fn server_release(&self) -> Option<Release> {
        let root = self.root();
        let version = match self.content {
            Content::Discovery(DocumentKind::Version) => root.get("gitVersion")?,
            Content::OpenApi(_) => {
                let info = root.get("info")?;
                let is_kubernetes = info.get("title").and_then(Node::as_str) == Some("Kubernetes");
                info.get("version").filter(|_| is_kubernetes)?
            }
            _ => return None,
        };
        version.as_str()?.parse().ok()
    }

    /// Returns its CustomResourceDefinitions, including those in lists, and its other objects.
    ///
    /// An OpenAPI document and a structured-merge-diff schema have neither. Definitions of other systems (a
    /// CompositeResourceDefinition or ManagedResourceDefinition of Crossplane, a ResourceGraphDefinition of kro) are
    /// replaced by the CustomResourceDefinitions that these systems make of them. [`Document::objects`] returns them
    /// as they are written.
    ///
    /// # Example: a composite resource of Crossplane
    /// ```
    /// use kubeshape_input::{Limits, read};
    ///
    /// let text = b"
    /// apiVersion: apiextensions.crossplane.io/v2
    /// kind: CompositeResourceDefinition
    /// metadata: {name: buckets.example.org}
    /// spec:
    ///   group: example.org
    ///   names: {kind: Bucket, plural: buckets}
    ///   versions: [{name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object}}}]
    /// ";
    /// let input = read("xrd.yaml", text, Limits::default());
    /// let (definitions, others) = input.documents[0].manifests();
    /// assert_eq!(definitions[0].node.get("spec").unwrap().get("scope").unwrap().text(), "Namespaced");
    /// assert!(others.is_empty());
    /// assert_eq!(input.findings[0].code.number(), 1018);
    /// ```
    pub fn manifests(&self) -> (Vec<Manifest<'_>>, Vec<Node<'_>>) {
        if !self.content.has_objects() {
            return (Vec::new(), Vec::new());
        }
        with_derived(self.root(), &self.derived)
    }

    /// Returns its objects: the items of a list and of lists in it, or the object itself.
    pub fn objects(&self) -> Vec<Node<'_>> {
        expand_list(self.root())
    }

    /// Returns the JSON pointer of a node, by its index; empty if there is no such node.
    pub fn pointer(&self, node: u32) -> String {
        self.parents.get_or_init(|| Parents::of(self.document())).pointer(self.document(), node)
    }

    /// Returns a resolver, which converts notes about this document to findings.
    pub fn resolver(&self) -> Resolver<'_> {
        let (name, has_lines) = (self.source.name(), self.source.has_lines());
        Resolver::new(name, (self.document(), &self.parents), has_lines, LinesOf::Source(&self.source))
    }
}

/// The CustomResourceDefinitions behind a document, and what is to be said about them.
#[derive(Debug, Default)]
pub(crate) struct Derivation {
    pub(crate) roots: Vec<u32>,
    pub(crate) remarks: Vec<(u32, String)>,
    /// Why nothing is made of a definition of another system.
    pub(crate) wrong: Option<Wrong>,
}

/// Returns the manifests of a document. The CustomResourceDefinitions made of definitions of other systems replace
/// these.
fn with_derived<'n>(root: Node<'n>, derived: &[u32]) -> (Vec<Manifest<'n>>, Vec<Node<'n>>) {
    let (mut definitions, mut others) = manifests(root);
    if !derived.is_empty() {
        others.retain(|object| System::of(*object).is_none());
        let node = |at: &u32| Manifest { node: root.document().node(*at), implied: None };
        definitions.extend(derived.iter().map(node));
    }
    (definitions, others)
}

/// A document that a [`Reader`](crate::Reader) lends.
#[derive(Debug)]
pub struct DocumentRef<'r> {
    pub(crate) name: &'r Arc<str>,
    pub(crate) document: kubeshape_yaml::Document<'r>,
    pub(crate) has_lines: bool,
    pub(crate) content: Content,
    pub(crate) ignored: Option<Range<usize>>,
    pub(crate) derived: &'r Derivation,
    pub(crate) parents: &'r OnceLock<Parents>,
    pub(crate) lines: &'r mut Lines,
}

impl<'r> DocumentRef<'r> {
    /// Returns its kind.
    pub fn content(&self) -> Content {
        self.content
    }

    /// Returns its nodes.
    pub fn document(&self) -> kubeshape_yaml::Document<'r> {
        self.document
    }

    /// Returns its root.
    pub fn root(&self) -> Node<'r> {
        self.document.node(0)
    }

    /// Returns its objects: see [`Document::objects`].
    pub fn objects(&self) -> Vec<Node<'r>> {
        expand_list(self.root())
    }

    /// Returns the name of the input.
    pub fn name(&self) -> &'r Arc<str> {
        self.name
    }

    /// Returns whether lines and columns of the source are those of the input.
    pub fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Returns a finding about a node, with its location. [`DocumentRef::explain`] adds further information for
    /// programs and people.
    pub fn finding(&mut self, code: Code, at: Node<'_>, detail: impl Into<String>) -> Finding {
        let mut finding = Finding::new(code, detail).in_input(Arc::clone(self.name));
        if self.has_lines {
            finding.place = Some(self.lines.place(self.document.source(), at.span().start));
            finding.span = Some(at.span());
        }
        finding
    }

    /// Adds the pointer and the excerpt to a finding about a node.
    pub fn explain(&mut self, finding: &mut Finding, at: Node<'_>) {
        if self.has_lines {
            let excerpt = self.lines.excerpt(self.document.source(), at.span());
            finding.excerpt = Some(excerpt).filter(|excerpt| *excerpt != Excerpt::default());
        }
        let parents = self.parents.get_or_init(|| Parents::of(self.document));
        finding.pointer = Some(parents.pointer(self.document, at.index()));
    }

    /// Returns its CustomResourceDefinitions and its other objects: see [`Document::manifests`].
    pub fn manifests(&self) -> (Vec<Manifest<'r>>, Vec<Node<'r>>) {
        if !self.content.has_objects() {
            return (Vec::new(), Vec::new());
        }
        with_derived(self.root(), &self.derived.roots)
    }

    /// Returns the findings about the document as a whole: text that is ignored, and definitions of other systems that
    /// are read as CustomResourceDefinitions.
    pub fn remarks(&mut self) -> Vec<Finding> {
        let mut out: Vec<Finding> = self.ignored().into_iter().collect();
        if let Some(Wrong { at, detail }) = &self.derived.wrong {
            let node = self.document.node(*at);
            let mut finding = self.finding(Code::NotDerived, node, detail.clone());
            self.explain(&mut finding, node);
            out.push(finding);
        }
        for (at, detail) in &self.derived.remarks {
            let node = self.document.node(*at);
            let mut finding = self.finding(Code::Derived, node, detail.clone());
            self.explain(&mut finding, node);
            out.push(finding);
        }
        out
    }

    /// Returns the warning about text between this document and the next one, which Kubernetes ignores. It exists if a
    /// document ends before the next `---`.
    pub fn ignored(&mut self) -> Option<Finding> {
        let range = self.ignored.clone()?;
        let text = self.document.source();
        let mut finding = Finding::new(Code::IgnoredText, "expected the end of the document or `---`");
        finding.input = Some(Arc::clone(self.name));
        finding.place = Some(self.lines.place(text, range.start));
        finding.excerpt = Some(self.lines.excerpt(text, range.start..range.start + 1));
        finding.span = Some(range);
        Some(finding)
    }

    /// Returns a resolver, which converts notes about this document to findings.
    pub fn resolver(self) -> Resolver<'r> {
        Resolver::new(self.name, (self.document, self.parents), self.has_lines, LinesOf::Lent(self.lines))
    }

    /// Returns a resolver that borrows this document.
    pub fn resolver_mut(&mut self) -> Resolver<'_> {
        Resolver::new(self.name, (self.document, self.parents), self.has_lines, LinesOf::Lent(self.lines))
    }
}
