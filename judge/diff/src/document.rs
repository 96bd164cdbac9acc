//! Changes of kinds that OpenAPI documents define, such as built-in kinds.

use crate::change::{Change, Class, Consumer, MarkedIn};
use crate::findings::Findings;
use crate::implication::Memo;
use crate::schema::{self, Definitions, Of, Sides};
use kubeshape_schema::Gvk;
use kubeshape_schema::{Bump, Code};
use kubeshape_yaml::Node;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The OpenAPI documents of one side: one v2 document, or a v3 document per group version.
#[derive(Debug)]
pub struct Documents<'a> {
    documents: Vec<Definitions<'a>>,
    /// The document and the definition of each kind.
    kinds: BTreeMap<Gvk<'a>, (usize, &'a str)>,
}

impl<'a> Documents<'a> {
    /// Reads the documents of one side. Other documents contribute no kinds. If several define a kind, the first is
    /// used.
    pub fn new(roots: impl IntoIterator<Item = Node<'a>>, arena: &'a Bump) -> Documents<'a> {
        let mut out = Documents { documents: Vec::new(), kinds: BTreeMap::new() };
        for (at, root) in roots.into_iter().enumerate() {
            let schemas = root.get("definitions").or_else(|| root.get("components")?.get("schemas"));
            let nodes: HashMap<&'a str, Node<'a>> =
                schemas.iter().flat_map(|schemas| schemas.pairs()).map(|(name, node)| (name.text(), node)).collect();
            for (name, node) in schemas.iter().flat_map(|schemas| schemas.pairs()) {
                if let Some(kind) = only_kind(node, arena) {
                    out.kinds.entry(kind).or_insert((at, name.text()));
                }
            }
            out.documents.push(Definitions::new(nodes, arena));
        }
        out
    }

    /// Returns the kinds, sorted by group, version and name.
    pub fn kinds(&self) -> impl Iterator<Item = Gvk<'a>> {
        self.kinds.keys().copied()
    }
}

/// Returns the kind of a definition, or `None` if it has several, as `DeleteOptions` does.
fn only_kind<'a>(node: Node<'a>, arena: &'a Bump) -> Option<Gvk<'a>> {
    let mut kinds = node.get("x-kubernetes-group-version-kind")?.items();
    let (kind, None) = (kinds.next()?, kinds.next()) else { return None };
    let text = |name: &str| kind.get(name).and_then(Node::as_str).unwrap_or_default();
    let (group, version, name) = (text("group"), text("version"), text("kind"));
    (!name.is_empty()).then(|| Gvk::from_parts(group, version, name, arena))
}

/// The changes of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct KindChanges<'a> {
    /// The kind.
    pub kind: Gvk<'a>,
    /// The indices of the old and the new document to whose nodes the places belong. For an added or removed kind, one
    /// of them is `None` and that place is 0.
    pub documents: (Option<usize>, Option<usize>),
    /// The changes. A change in a definition that several kinds share is reported for the first of them.
    pub changes: Vec<Change>,
}

/// Returns the changes of kinds between documents, by group, version and name. Unchanged kinds are included.
///
/// References are followed. Defaults in these documents are those of Go, and checks in server code are not part of
/// them: a server may reject what is accepted here.
///
/// # Example
/// ```
/// use kubeshape_diff::{Class, Documents, documents};
/// use kubeshape_schema::Bump;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let text = |fields: &str| format!(r#"{{"openapi": "3.0.0", "components": {{"schemas": {{"io.example.v1.Tab": {{
///   "type": "object", "properties": {{{fields}}},
///   "x-kubernetes-group-version-kind": [{{"group": "example.io", "version": "v1", "kind": "Tab"}}]}}}}}}}}"#);
/// let old = text(r#""size": {"type": "integer"}, "color": {"type": "string"}"#);
/// let new = text(r#""size": {"type": "integer"}"#);
/// let (mut old_tape, mut new_tape) = (Tape::new(), Tape::new());
/// Stream::new(old.as_bytes(), Limits::default())?.next(&mut old_tape).transpose()?;
/// Stream::new(new.as_bytes(), Limits::default())?.next(&mut new_tape).transpose()?;
/// let arena = Bump::new();
/// let old = Documents::new(old_tape.document(&old).root(), &arena);
/// let new = Documents::new(new_tape.document(&new).root(), &arena);
/// let changes = documents(&old, &new, |_| true);
/// assert_eq!(changes[0].kind.api_version(), "example.io/v1");
/// assert_eq!((changes[0].changes[0].path.as_str(), changes[0].changes[0].class()), ("color", Class::Breaking));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn documents<'a>(
    old: &Documents<'a>,
    new: &Documents<'a>,
    wanted: impl Fn(Gvk<'a>) -> bool,
) -> Vec<KindChanges<'a>> {
    let all: BTreeSet<Gvk<'a>> = old.kinds().chain(new.kinds()).filter(|kind| wanted(*kind)).collect();
    let (mut seen, mut memo) = (HashMap::new(), Memo::default());
    let mut out = Vec::with_capacity(all.len());
    for kind in all {
        let (was, is) = (old.kinds.get(&kind).copied(), new.kinds.get(&kind).copied());
        let mut found = Findings::default();
        match (was, is) {
            (Some((old_at, was)), Some((new_at, is))) => {
                let (Some(before), Some(after)) = (old.documents.get(old_at), new.documents.get(new_at)) else {
                    continue;
                };
                let (Some((_, was)), Some((_, is))) = (before.get(was), after.get(is)) else { continue };
                let seen = seen.entry((old_at, new_at)).or_default();
                let sides = Sides { old: before, new: after, seen };
                schema::compare(kind.version(), was, is, Of::Documents(sides), &mut memo, &mut found);
            }
            (Some(_), None) => {
                let effects = [(Consumer::Storage, Class::Risky), (Consumer::Meta, Class::Breaking)];
                found.push(of_kind(kind, Code::DiffVersionGone, "kind removed", &effects), None);
            }
            _ => {
                let effects = [(Consumer::Meta, Class::Compatible)];
                found.push(of_kind(kind, Code::DiffVersionNew, "kind added", &effects), None);
            }
        }
        let documents = (was.map(|(at, _)| at), is.map(|(at, _)| at));
        out.push(KindChanges { kind, documents, changes: found.changes });
    }
    out
}

fn of_kind(kind: Gvk<'_>, code: Code, detail: &str, effects: &[(Consumer, Class)]) -> Change {
    Change {
        code,
        version: kind.version().to_owned(),
        path: String::new(),
        old: 0,
        new: 0,
        part: Vec::new(),
        marked_in: MarkedIn::Both,
        detail: detail.to_owned(),
        effects: effects.to_vec(),
    }
}
