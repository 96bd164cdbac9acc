//! What is at a position of a document that can be read.

use crate::Step;
use kubeshape_input::Document;
use kubeshape_yaml::{Kind, Node};

/// What is at a position.
#[derive(Clone, Debug)]
pub(crate) struct Place<'d> {
    /// The object.
    pub(crate) object: Node<'d>,
    /// The steps from the object to the value.
    pub(crate) steps: Vec<Step>,
    /// The key, if the value is a member.
    pub(crate) key: Option<Node<'d>>,
    /// The value.
    pub(crate) value: Node<'d>,
}

impl<'d> Place<'d> {
    /// Returns the node at which the position is: the key or the value.
    pub(crate) fn node(&self, offset: usize) -> Node<'d> {
        self.key.filter(|key| contains(*key, offset)).unwrap_or(self.value)
    }

    /// Returns a top-level string of the object.
    pub(crate) fn text(&self, key: &str) -> &'d str {
        self.object.get(key).and_then(Node::as_str).unwrap_or_default()
    }
}

fn contains(node: Node<'_>, offset: usize) -> bool {
    let span = node.span();
    span.start <= offset && offset <= span.end
}

/// Returns what is at a byte of the source of a document.
pub(crate) fn place(document: &Document, offset: usize) -> Option<Place<'_>> {
    if !document.content().has_objects() {
        return None;
    }
    let objects = document.objects();
    let object = objects.into_iter().rev().find(|object| object.span().start <= offset)?;
    let mut out = Place { object, steps: Vec::new(), key: None, value: object };
    loop {
        let node = out.value;
        let next = match node.kind() {
            Kind::Map => {
                // The last member that begins before the position. Blanks after a value belong to it.
                let member = node.pairs().take_while(|(key, _)| key.span().start <= offset).last();
                let Some((key, value)) = member else { return Some(out) };
                out.steps.push(Step::Key(key.text().to_owned()));
                out.key = Some(key);
                if contains(key, offset) {
                    out.value = value;
                    return Some(out);
                }
                value
            }
            Kind::Seq => {
                let items = node.items().enumerate().take_while(|(_, item)| item.span().start <= offset);
                let Some((number, item)) = items.last() else { return Some(out) };
                out.steps.push(Step::Index(number));
                out.key = None;
                item
            }
            _ => return Some(out),
        };
        out.value = next;
    }
}
