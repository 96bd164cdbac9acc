//! Conversions to values.

use crate::{Bump, Map, Value};
use kubeshape_schema::Json;
use kubeshape_yaml::{Kind, Node, Number};

/// Anything that can be converted to a [`Value`].
///
/// The value borrows the strings of its source, so a conversion costs a walk and copies no string. Integers beyond a
/// signed 64-bit integer become floats, as in Kubernetes. Of repeated keys, the last is used.
///
/// # Example: the same value from three sources
/// ```
/// use kubeshape_value::{Bump, ToValue, Value};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let arena = Bump::new();
/// let json = serde_json::json!({"replicas": 3});
/// let source = "replicas: 3\n";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let node = tape.document(source).root().unwrap();
///
/// let value: Value<'_> = json.to_value(&arena);
/// assert_eq!(value, node.to_value(&arena));
/// assert_eq!(value, value.to_value(&arena));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub trait ToValue {
    /// Returns the value, which lives as long as `self` and the arena.
    fn to_value<'a>(&'a self, arena: &'a Bump) -> Value<'a>;
}

impl ToValue for Value<'_> {
    fn to_value<'a>(&'a self, _: &'a Bump) -> Value<'a> {
        *self
    }
}

#[cfg(feature = "serde_json")]
impl ToValue for serde_json::Value {
    fn to_value<'a>(&'a self, arena: &'a Bump) -> Value<'a> {
        match self {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(yes) => Value::Bool(*yes),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(n) => Value::Int(n),
                None => Value::Float(number.as_f64().unwrap_or(f64::MAX)),
            },
            serde_json::Value::String(text) => Value::String(text),
            serde_json::Value::Array(items) => {
                Value::List(arena.alloc_slice_fill_iter(items.iter().map(|item| item.to_value(arena))))
            }
            serde_json::Value::Object(members) => Value::Map(Map::from_entries(
                members.iter().map(|(key, value)| (key.as_str(), value.to_value(arena))).collect(),
                arena,
            )),
        }
    }
}

#[cfg(feature = "simd-json")]
impl ToValue for simd_json::BorrowedValue<'_> {
    fn to_value<'a>(&'a self, arena: &'a Bump) -> Value<'a> {
        use simd_json::BorrowedValue as Simd;
        match self {
            Simd::Static(node) => of_simd_scalar(*node),
            Simd::String(text) => Value::String(text),
            Simd::Array(items) => {
                Value::List(arena.alloc_slice_fill_iter(items.iter().map(|item| item.to_value(arena))))
            }
            Simd::Object(members) => Value::Map(Map::from_entries(
                members.iter().map(|(key, value)| (&**key, value.to_value(arena))).collect(),
                arena,
            )),
        }
    }
}

#[cfg(feature = "simd-json")]
impl ToValue for simd_json::OwnedValue {
    fn to_value<'a>(&'a self, arena: &'a Bump) -> Value<'a> {
        use simd_json::OwnedValue as Simd;
        match self {
            Simd::Static(node) => of_simd_scalar(*node),
            Simd::String(text) => Value::String(text),
            Simd::Array(items) => {
                Value::List(arena.alloc_slice_fill_iter(items.iter().map(|item| item.to_value(arena))))
            }
            Simd::Object(members) => Value::Map(Map::from_entries(
                members.iter().map(|(key, value)| (key.as_str(), value.to_value(arena))).collect(),
                arena,
            )),
        }
    }
}

#[cfg(feature = "simd-json")]
#[expect(clippy::cast_precision_loss, reason = "Kubernetes reads integers beyond 64 bits as doubles")]
fn of_simd_scalar<'a>(node: simd_json::StaticNode) -> Value<'a> {
    use simd_json::StaticNode;
    match node {
        StaticNode::Null => Value::Null,
        StaticNode::Bool(yes) => Value::Bool(yes),
        StaticNode::I64(n) => Value::Int(n),
        StaticNode::U64(n) => i64::try_from(n).map_or(Value::Float(n as f64), Value::Int),
        StaticNode::F64(n) => Value::Float(n),
    }
}

impl ToValue for Node<'_> {
    fn to_value<'a>(&'a self, arena: &'a Bump) -> Value<'a> {
        of_node(*self, arena)
    }
}

impl<'a> Value<'a> {
    /// Returns the value of a document's node. Unlike [`ToValue::to_value`], it borrows the document, not the node.
    pub fn from_node(node: Node<'a>, arena: &'a Bump) -> Value<'a> {
        of_node(node, arena)
    }

    /// Returns the value of a schema's free JSON, such as a default.
    pub fn from_json(json: &Json<'a>, arena: &'a Bump) -> Value<'a> {
        match *json {
            Json::Null => Value::Null,
            Json::Bool(yes) => Value::Bool(yes),
            Json::Int(n) => Value::Int(n),
            Json::Float(n) => Value::Float(n),
            Json::Str(text) => Value::String(text),
            Json::Array(items) => {
                Value::List(arena.alloc_slice_fill_iter(items.iter().map(|item| Value::from_json(item, arena))))
            }
            Json::Object(members) => Value::Map(Map::from_entries(
                members.iter().map(|(key, value)| (*key, Value::from_json(value, arena))).collect(),
                arena,
            )),
        }
    }
}

fn of_node<'a>(node: Node<'a>, arena: &'a Bump) -> Value<'a> {
    let mut value = Value::Null;
    write_node(node, arena, &mut value);
    value
}

/// Writes the value in place. It is read again immediately, and a processor stalls if memory is read in other pieces
/// than it was written. The reader bounds the depth of a document.
fn write_node<'a>(node: Node<'a>, arena: &'a Bump, out: &mut Value<'a>) {
    match node.kind() {
        Kind::Null => *out = Value::Null,
        Kind::False => *out = Value::Bool(false),
        Kind::True => *out = Value::Bool(true),
        Kind::Int | Kind::Float => match node.as_number() {
            Some(Number::Int(n)) => *out = Value::Int(n),
            Some(number) => *out = Value::Float(number.as_f64()),
            None => *out = Value::String(node.text()),
        },
        Kind::Str => *out = Value::String(node.text()),
        Kind::Seq => {
            let items = arena.alloc_slice_fill_copy(node.len(), Value::Null);
            for (slot, item) in items.iter_mut().zip(node.items()) {
                write_node(item, arena, slot);
            }
            *out = Value::List(items);
        }
        Kind::Map => {
            let entries = arena.alloc_slice_fill_copy(node.len(), ("", Value::Null));
            for (slot, (key, value)) in entries.iter_mut().zip(node.pairs()) {
                slot.0 = key.text();
                write_node(value, arena, &mut slot.1);
            }
            *out = Value::Map(Map::in_place(entries));
        }
    }
}
