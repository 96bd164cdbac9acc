//! Values that own their data, for documents and tables.

use kubeshape_value::{Bump, Map, Value};
use kubeshape_yaml::{Kind, Node};

/// A value that owns its data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Text(Box<str>),
    List(Vec<Literal>),
    Map(Vec<(Box<str>, Literal)>),
}

impl Literal {
    /// Returns the value of a node; numbers with a decimal point or an exponent become strings.
    pub(crate) fn of(node: Node<'_>) -> Literal {
        match node.kind() {
            Kind::Null => Literal::Null,
            Kind::True => Literal::Bool(true),
            Kind::False => Literal::Bool(false),
            Kind::Int => node.text().parse().map_or(Literal::Null, Literal::Int),
            Kind::Str | Kind::Float => Literal::Text(node.text().into()),
            Kind::Seq => Literal::List(node.items().map(Literal::of).collect()),
            Kind::Map => {
                Literal::Map(node.pairs().map(|(key, value)| (key.text().into(), Literal::of(value))).collect())
            }
        }
    }

    /// Returns the value, allocated in an arena.
    pub(crate) fn value<'a>(&self, arena: &'a Bump) -> Value<'a> {
        match self {
            Literal::Null => Value::Null,
            Literal::Bool(yes) => Value::Bool(*yes),
            Literal::Int(n) => Value::Int(*n),
            Literal::Text(text) => Value::String(arena.alloc_str(text)),
            Literal::List(items) => {
                let items: Vec<_> = items.iter().map(|item| item.value(arena)).collect();
                Value::List(arena.alloc_slice_copy(&items))
            }
            Literal::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (&*arena.alloc_str(key), value.value(arena)));
                Value::Map(Map::from_entries(entries.collect(), arena))
            }
        }
    }
}
