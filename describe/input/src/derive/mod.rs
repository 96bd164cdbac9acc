//! CustomResourceDefinitions that other systems make of their own definitions.
//!
//! | definition | of | result |
//! |---|---|---|
//! | CompositeResourceDefinition | Crossplane | the composite resource, and its claim if there is one |
//! | ManagedResourceDefinition | Crossplane | the managed resource |
//! | ResourceGraphDefinition | kro | the instance |
//!
//! The results are nodes behind the document. Nodes from the source keep their location.

mod crossplane;
mod kro;
mod markers;
mod plural;
mod simple;

use kubeshape_structural::read::expand_list;
use kubeshape_yaml::{Added, Addition, Document, Kind, Limits, Node, Stream, Tape};

/// The ends of all kinds of definitions. A text without them defines nothing.
const WORDS: [&[u8]; 2] = [b"ResourceDefinition", b"ResourceGraphDefinition"];

/// Returns whether a text may define kinds: it names CustomResourceDefinitions, or definitions of Crossplane or kro. It
/// looks for words only.
///
/// # Example
/// ```
/// assert!(kubeshape_input::may_define(b"kind: CompositeResourceDefinition\n"));
/// assert!(!kubeshape_input::may_define(b"kind: Deployment\n"));
/// ```
pub fn may_define(text: &[u8]) -> bool {
    WORDS.iter().any(|word| memchr::memmem::find(text, word).is_some())
}

/// The results may have this many times the nodes of the document, and [`FREE`] more.
const TIMES: usize = 16;
const FREE: usize = 1 << 16;

/// The CustomResourceDefinitions that other systems make of the definitions in a document.
#[derive(Debug)]
pub(crate) struct Derived {
    /// The nodes.
    pub(crate) added: Added,
    /// The CustomResourceDefinitions among them.
    pub(crate) roots: Vec<u32>,
    /// What was done, with the location of each definition.
    pub(crate) remarks: Vec<(u32, String)>,
}

/// Why a system makes nothing of a definition: a location, and what is wrong.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) at: u32,
    pub(crate) detail: String,
}

impl Wrong {
    fn new(at: Node<'_>, detail: impl Into<String>) -> Wrong {
        Wrong { at: at.index(), detail: detail.into() }
    }
}

/// A definition of another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// A CompositeResourceDefinition.
    Composite,
    /// A ManagedResourceDefinition.
    Managed,
    /// A ResourceGraphDefinition.
    Graph,
}

impl System {
    /// Returns the system of a definition; `None` for other objects, and for patches of definitions.
    pub(crate) fn of(object: Node<'_>) -> Option<System> {
        let text = |key| object.get(key).and_then(Node::as_str).unwrap_or_default();
        let (system, member) = match text("kind") {
            "CompositeResourceDefinition" => (System::Composite, "versions"),
            "ManagedResourceDefinition" => (System::Managed, "versions"),
            "ResourceGraphDefinition" => (System::Graph, "schema"),
            _ => return None,
        };
        let group = if system == System::Graph { "kro.run/" } else { "apiextensions.crossplane.io/" };
        let is_whole = object.get("spec").and_then(|spec| spec.get(member)).is_some();
        (is_whole && text("apiVersion").starts_with(group)).then_some(system)
    }
}

/// Derives the definitions of a document; `None` if it has no definition of another system.
pub(crate) fn derive(document: Document<'_>) -> Result<Option<Derived>, Wrong> {
    let Some(root) = document.root() else { return Ok(None) };
    let found: Vec<_> =
        expand_list(root).into_iter().filter_map(|object| Some((object, System::of(object)?))).collect();
    if found.is_empty() {
        return Ok(None);
    }
    let mut out = Addition::new(document, document.len().saturating_mul(TIMES).saturating_add(FREE));
    let (mut roots, mut remarks) = (Vec::new(), Vec::new());
    for (object, system) in found {
        let first = roots.len();
        out.at(object.span());
        let lost = match system {
            System::Composite => crossplane::composite(object, &mut out, &mut roots)?,
            System::Managed => crossplane::managed(object, &mut out, &mut roots)?,
            System::Graph => kro::graph(object, &mut out, &mut roots)?,
        };
        if out.is_full() {
            return Err(Wrong::new(object, "the definition made of it is too large, or nested too deep"));
        }
        let count = roots.len() - first;
        let what = if count == 1 { "CustomResourceDefinition" } else { "CustomResourceDefinitions" };
        let (kind, name) = (text(object, "kind"), name_of(object));
        let by = if system == System::Graph { "kro" } else { "Crossplane" };
        let mut remark = format!("{kind} {name} is read as the {count} {what} that {by} makes of it");
        if !lost.is_empty() {
            remark.push_str("; ");
            remark.push_str(&lost.join("; "));
        }
        remarks.push((object.index(), remark));
    }
    let Some(added) = out.finish() else { return Err(Wrong::new(root, "there are too many definitions")) };
    Ok(Some(Derived { added, roots, remarks }))
}

fn text<'n>(node: Node<'n>, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_default()
}

fn name_of(object: Node<'_>) -> &str {
    object.get("metadata").map_or("", |metadata| text(metadata, "name"))
}

/// Returns a member that is not null.
fn member<'n>(node: Node<'n>, key: &str) -> Option<Node<'n>> {
    node.get(key).filter(|value| !value.is_null())
}

/// Returns a member of one kind; `None` if it is null or missing.
fn member_of<'n>(node: Node<'n>, key: &str, kind: Kind) -> Result<Option<Node<'n>>, Wrong> {
    let Some(value) = member(node, key) else { return Ok(None) };
    if value.kind() == kind {
        return Ok(Some(value));
    }
    let what = match kind {
        Kind::Map => "an object",
        Kind::Seq => "a list",
        Kind::Str => "a string",
        _ => "another value",
    };
    Err(Wrong::new(value, format!("{key} must be {what}")))
}

/// Returns a string that must not be empty.
fn required<'n>(node: Node<'n>, key: &str) -> Result<&'n str, Wrong> {
    let value = member_of(node, key, Kind::Str)?.map(Node::text).filter(|text| !text.is_empty());
    value.ok_or_else(|| Wrong::new(node, format!("{key} is missing")))
}

/// Calls a function with the root of a document of facts.
fn facts<R>(source: &str, read: impl FnOnce(Node<'_>) -> R) -> Option<R> {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    tape.document(source).root().map(read)
}

/// Writes nodes with keys.
trait Write<'n> {
    fn text_member(&mut self, key: &str, value: &str);
    fn bool_member(&mut self, key: &str, value: bool);
    fn copy_member(&mut self, key: &str, value: Option<Node<'n>>);
    fn type_member(&mut self, key: &str, ty: &str);
    fn head(&mut self);
}

impl<'n> Write<'n> for Addition<'n> {
    fn text_member(&mut self, key: &str, value: &str) {
        self.string(key);
        self.string(value);
    }

    fn bool_member(&mut self, key: &str, value: bool) {
        self.string(key);
        self.bool(value);
    }

    fn copy_member(&mut self, key: &str, value: Option<Node<'n>>) {
        if let Some(value) = value {
            self.string(key);
            self.copy(value);
        }
    }

    /// Writes a property that has only a type.
    fn type_member(&mut self, key: &str, ty: &str) {
        self.string(key);
        self.map();
        self.text_member("type", ty);
        self.end();
    }

    fn head(&mut self) {
        self.text_member("apiVersion", "apiextensions.k8s.io/v1");
        self.text_member("kind", "CustomResourceDefinition");
    }
}
