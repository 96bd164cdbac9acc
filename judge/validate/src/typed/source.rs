//! Numbers as they are written in the JSON of a request. Go decodes from the text, so `1.0` is not an integer, and a
//! quantity keeps `1e3`.

use super::{Type, Typed};
use kubeshape_schema::field::Path;
use kubeshape_value::{Bump, Map, Value};
use kubeshape_yaml::{Kind, Node};

/// Returns the text of the number at a path, or `None` if there is something else.
pub(super) fn number_at<'s>(root: Node<'s>, path: &Path<'_>) -> Option<&'s str> {
    node_at(root, path).filter(|node| is_number(*node)).map(Node::text)
}

/// Returns whether a node is a number. A number that does not fit into a double is read as a string, but has no quotes.
fn is_number(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Int | Kind::Float => true,
        Kind::Str => {
            let written = node.document().source().get(node.span()).unwrap_or_default();
            written.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        }
        _ => false,
    }
}

/// Returns whether a document has a number that Go reads differently than the walks of objects.
pub(super) fn has_written_numbers(source: Node<'_>) -> bool {
    let document = source.document();
    let nodes = (0..u32::try_from(document.len()).unwrap_or(u32::MAX)).map(|at| document.node(at));
    nodes.into_iter().any(|node| match node.kind() {
        Kind::Float => true,
        // More digits than any `i64` that is also exact as a double.
        Kind::Int => node.text().len() > 18,
        Kind::Str => is_number(node),
        _ => false,
    })
}

fn node_at<'s>(root: Node<'s>, path: &Path<'_>) -> Option<Node<'s>> {
    match path {
        Path::Root => Some(root),
        Path::Base(_) => None,
        Path::Child(parent, name) | Path::Key(parent, name) => node_at(root, parent)?.get(name),
        Path::Index(parent, at) => node_at(root, parent)?.items().nth(*at),
    }
}

impl Typed {
    /// Returns an object where quantities that are numbers are replaced by strings, as the source writes the numbers.
    #[must_use]
    pub fn with_written_quantities<'a>(&self, object: Value<'a>, source: Node<'a>, arena: &'a Bump) -> Value<'a> {
        if has_written_numbers(source) { self.written(object, &self.root, source, arena) } else { object }
    }

    fn written<'a>(&self, value: Value<'a>, ty: &Type, source: Node<'a>, arena: &'a Bump) -> Value<'a> {
        match (ty, value) {
            (Type::Quantity, Value::Float(_)) if is_number(source) => Value::String(source.text()),
            (Type::Struct(at), Value::Map(map)) => {
                let Some(found) = self.at(*at) else { return value };
                let entries = map.entries().iter().map(|(key, value)| {
                    let written = found.field(key).zip(source.get(key));
                    (*key, written.map_or(*value, |(field, node)| self.written(*value, &field.ty, node, arena)))
                });
                Value::Map(Map::sorted(arena.alloc_slice_fill_iter(entries.collect::<Vec<_>>())))
            }
            (Type::Map(items), Value::Map(map)) => {
                let entries = map.entries().iter().map(|(key, value)| {
                    (*key, source.get(key).map_or(*value, |node| self.written(*value, items, node, arena)))
                });
                Value::Map(Map::sorted(arena.alloc_slice_fill_iter(entries.collect::<Vec<_>>())))
            }
            (Type::List(items), Value::List(list)) => {
                let list: Vec<_> = list
                    .iter()
                    .zip(source.items())
                    .map(|(value, node)| self.written(*value, items, node, arena))
                    .collect();
                Value::List(arena.alloc_slice_copy(&list))
            }
            _ => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeshape_yaml::{Limits, Stream, Tape};

    #[test]
    fn a_number_is_read_as_the_source_writes_it() {
        let source = r#"{"a": [1.0, 1e400, "2", 3]}"#;
        let mut tape = Tape::new();
        let read = Stream::new(source.as_bytes(), Limits::default()).map(|mut stream| stream.next(&mut tape));
        assert!(matches!(read, Ok(Some(Ok(())))));
        let root = tape.document(source).root().expect("a root");
        let list = Path::Child(&Path::Root, "a");
        let found = [0, 1, 2, 3, 4].map(|at| number_at(root, &list.index(at)));
        assert_eq!(found, [Some("1.0"), Some("1e400"), None, Some("3"), None]);
        assert!(has_written_numbers(root));
    }
}
