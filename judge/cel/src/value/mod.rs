//! Values of expressions.

// Go converts in the same way.
#![allow(clippy::cast_precision_loss)]
// CEL compares doubles exactly.
#![allow(clippy::float_cmp)]

mod any;
pub(crate) mod arithmetic;
pub(crate) mod convert;
pub(crate) mod message;
pub(crate) mod object;
pub(crate) mod print;
mod set_key;
pub(crate) mod time;
mod typed;

use crate::data::Data;
use crate::library::Kube;
use crate::raw::{Fields, Items, Raw};
use crate::types::Type;
pub use object::Object;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
pub use time::Timestamp;
pub use typed::Typed;

/// A string: borrowed from the object or the program, or created by an evaluation.
#[derive(Clone, Debug)]
pub enum Text<'a> {
    /// Borrowed from the object.
    Borrowed(&'a str),
    /// Created by an evaluation.
    Shared(Arc<str>),
}

impl<'a> Text<'a> {
    /// Returns a part of the string, borrowed if the string is.
    pub(crate) fn part(&self, part: &str) -> Text<'a> {
        let Text::Borrowed(whole) = *self else { return Text::Shared(part.into()) };
        let start = part.as_ptr().addr().wrapping_sub(whole.as_ptr().addr());
        whole.get(start..start.wrapping_add(part.len())).map_or_else(|| Text::Shared(part.into()), Text::Borrowed)
    }
}

impl std::ops::Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Shared(text) => text,
        }
    }
}

/// The prefix of errors that end upstream's evaluation.
pub(crate) const PANIC: &str = "internal error: runtime error: ";

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text<'_> {}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(other)
    }
}

/// A value. Values of the object are borrowed from it.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `double`
    Double(f64),
    /// `string`
    String(Text<'a>),
    /// `bytes`
    Bytes(Arc<[u8]>),
    /// A duration in nanoseconds.
    Duration(i64),
    /// A timestamp.
    Timestamp(Timestamp),
    /// A type, such as that of `type(1)`.
    Type(Type),
    /// A list.
    List(List<'a>),
    /// A map or an object.
    Map(Map<'a>),
    /// An optional.
    Optional(Option<Arc<Value<'a>>>),
    /// A value of a Kubernetes type.
    Kube(Kube),
    /// An object of a patch.
    Object(Arc<Object<'a>>),
    /// An error, in upstream's words.
    Error(Arc<str>),
}

/// A list.
#[derive(Clone, Debug)]
pub enum List<'a> {
    /// Created by an evaluation.
    Made(Arc<Vec<Value<'a>>>),
    /// The sum of two lists that were created by an evaluation. Upstream keeps both (`concatList`), which is visible
    /// when its type is named and when it is converted to a plain Go value.
    Added(Arc<Vec<Value<'a>>>),
    /// A list of an object, without schema.
    Data(Items<'a>),
    /// A list of an object, with its schema.
    Typed(Typed<'a>, Items<'a>),
    /// A list of an object to which another list was added. It keeps the schema.
    Joined(Typed<'a>, Arc<Vec<Value<'a>>>),
    /// Lists one after the other. One of them is of an object and has items that are not of their declared type. They
    /// are kept apart because such items are compared differently.
    Parts(Arc<Vec<List<'a>>>),
}

/// A map or an object.
#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// Created by an evaluation. The entries also have the key as written.
    Made(Arc<Entries<'a>>),
    /// A map of an object, without schema.
    Data(Fields<'a>),
    /// A map or an object of an object, with its schema.
    Typed(Typed<'a>, Fields<'a>),
}

/// The entries of a map that an evaluation created. Most maps are small; boxed entries keep the nodes of the tree
/// small.
pub type Entries<'a> = BTreeMap<Key<'a>, Box<(Value<'a>, Value<'a>)>>;

/// A key of a map. Keys of different types differ, even `1` and `1u`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<'a>(KeyKind<'a>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeyKind<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(u64),
    String(Text<'a>),
    Duration(i64),
    Timestamp(i64, u32),
    Other(String),
    /// A key that equals no other key. These keys are sorted last.
    Distinct(usize),
}

impl<'a> Key<'a> {
    /// Returns the key under which a map literal stores a value. Upstream's maps compare lists, maps, optionals,
    /// quantities and URLs as pointers, so such a key is never found again.
    pub(crate) fn made(value: &Value<'a>, entries: &Entries<'a>) -> Key<'a> {
        match value {
            // Go's maps do not find NaN either. All optionals without a value are the same key.
            Value::List(_)
            | Value::Map(_)
            | Value::Optional(Some(_))
            | Value::Object(_)
            | Value::Kube(Kube::Quantity(..) | Kube::Url(_)) => Key::distinct(entries),
            Value::Double(d) if d.is_nan() => Key::distinct(entries),
            other => Key::of(other),
        }
    }

    fn distinct(entries: &Entries<'a>) -> Key<'a> {
        let number = match entries.last_key_value() {
            Some((Key(KeyKind::Distinct(last)), _)) => last + 1,
            _ => 0,
        };
        Key(KeyKind::Distinct(number))
    }

    /// Returns the key for a value.
    pub fn of(value: &Value<'a>) -> Key<'a> {
        Key(match value {
            Value::Null => KeyKind::Null,
            Value::Bool(b) => KeyKind::Bool(*b),
            Value::Int(i) => KeyKind::Int(*i),
            Value::Uint(u) => KeyKind::Uint(*u),
            Value::Double(d) => KeyKind::Double(if *d == 0.0 { 0 } else { d.to_bits() }),
            Value::String(text) => KeyKind::String(text.clone()),
            Value::Duration(nanos) => KeyKind::Duration(*nanos),
            Value::Timestamp(at) => KeyKind::Timestamp(at.seconds, at.nanos),
            other => KeyKind::Other(print::plain(other)),
        })
    }
}

impl<'a> Value<'a> {
    /// Creates a string.
    pub fn text(text: impl Into<Arc<str>>) -> Value<'a> {
        Value::String(Text::Shared(text.into()))
    }

    /// Creates a list.
    pub fn list(items: Vec<Value<'a>>) -> Value<'a> {
        Value::List(List::Made(Arc::new(items)))
    }

    /// Creates a map.
    pub fn map(entries: impl IntoIterator<Item = (Value<'a>, Value<'a>)>) -> Value<'a> {
        let entries = entries.into_iter().map(|(key, value)| (Key::of(&key), Box::new((key, value)))).collect();
        Value::Map(Map::Made(Arc::new(entries)))
    }

    /// Returns a copy with the lifetime of the borrow, which does not touch the reference count of a string.
    #[inline]
    pub(crate) fn lent(&'a self) -> Value<'a> {
        match self {
            Value::String(text) => Value::String(Text::Borrowed(text)),
            other => other.clone(),
        }
    }

    /// Returns the value with copies of everything that it borrows.
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(b) => Value::Bool(b),
            Value::Int(i) => Value::Int(i),
            Value::Uint(u) => Value::Uint(u),
            Value::Double(d) => Value::Double(d),
            Value::String(Text::Borrowed(text)) => Value::text(text),
            Value::String(Text::Shared(text)) => Value::String(Text::Shared(text)),
            Value::Bytes(bytes) => Value::Bytes(bytes),
            Value::Duration(nanos) => Value::Duration(nanos),
            Value::Timestamp(at) => Value::Timestamp(at),
            Value::Type(ty) => Value::Type(ty),
            Value::List(list) => Value::list(list.iter().map(Value::into_owned).collect()),
            Value::Map(map) => {
                let mut entries = Entries::new();
                for (key, value) in map.iter() {
                    let key = key.into_owned();
                    entries.insert(Key::made(&key, &entries), Box::new((key, value.into_owned())));
                }
                Value::Map(Map::Made(Arc::new(entries)))
            }
            Value::Optional(inner) => Value::Optional(inner.map(|inner| Arc::new((*inner).clone().into_owned()))),
            Value::Kube(kube) => Value::Kube(kube),
            Value::Object(object) => Value::Object(Arc::new((*object).clone().into_owned())),
            Value::Error(error) => Value::Error(error),
        }
    }

    /// Creates an error.
    pub fn error(message: impl Into<Arc<str>>) -> Value<'a> {
        Value::Error(message.into())
    }

    pub(crate) fn some(value: Value<'a>) -> Value<'a> {
        Value::Optional(Some(Arc::new(value)))
    }

    /// Returns upstream's error for a call whose arguments fit no overload.
    pub(crate) fn no_such_overload() -> Value<'a> {
        static TEXT: LazyLock<Arc<str>> = LazyLock::new(|| "no such overload".into());
        Value::Error(TEXT.clone())
    }

    /// Returns whether the value is an error.
    pub fn is_error(&self) -> bool {
        matches!(self, Value::Error(_))
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the type of the value, without parameters.
    pub fn type_of(&self) -> Type {
        static LIST: LazyLock<Type> = LazyLock::new(|| Type::list(Type::Dyn));
        static MAP: LazyLock<Type> = LazyLock::new(|| Type::map(Type::Dyn, Type::Dyn));
        static OPTIONAL: LazyLock<Type> = LazyLock::new(|| Type::optional(Type::Dyn));
        match self {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Uint(_) => Type::Uint,
            Value::Double(_) => Type::Double,
            Value::String(_) => Type::String,
            Value::Bytes(_) => Type::Bytes,
            Value::Duration(_) => Type::Duration,
            Value::Timestamp(_) => Type::Timestamp,
            Value::Type(_) => Type::Type(None),
            Value::List(_) => LIST.clone(),
            Value::Map(_) => MAP.clone(),
            Value::Optional(_) => OPTIONAL.clone(),
            Value::Kube(kube) => kube.type_of(),
            Value::Object(object) => object.type_of(),
            Value::Error(_) => Type::Opaque("error".into(), Arc::from([])),
        }
    }

    /// Returns the size for costs; `None` for values without a size.
    pub(crate) fn size(&self) -> Option<u64> {
        Some(match self {
            Value::String(text) => chars(text) as u64,
            Value::Bytes(bytes) => bytes.len() as u64,
            Value::List(list) => list.len() as u64,
            Value::Map(map) => map.len() as u64,
            Value::Kube(kube) => return kube.size(),
            _ => return None,
        })
    }

    /// Returns whether the value is of a type, as far as upstream checks it when it chooses an overload at runtime.
    pub(crate) fn is_of(&self, ty: &Type) -> bool {
        match (ty, self) {
            (ty, _) if ty.takes_all() => true,
            (Type::Null, Value::Null)
            | (Type::Bool, Value::Bool(_))
            | (Type::Int, Value::Int(_))
            | (Type::Uint, Value::Uint(_))
            | (Type::Double, Value::Double(_))
            | (Type::String, Value::String(_))
            | (Type::Bytes, Value::Bytes(_))
            | (Type::Duration, Value::Duration(_))
            | (Type::Timestamp, Value::Timestamp(_))
            | (Type::Type(_), Value::Type(_)) => true,
            (Type::Wrapper(inner), value) => matches!(value, Value::Null) || value.is_of(inner),
            (Type::List(element), Value::List(list)) => match list {
                _ if element.takes_all() => true,
                List::Made(items) | List::Added(items) => items.first().is_none_or(|first| first.is_of(element)),
                list => list.get(0).is_none_or(|first| first.is_of(element)),
            },
            (Type::Map(entry), Value::Map(map)) => match map {
                _ if entry.0.takes_all() && entry.1.takes_all() => true,
                Map::Made(entries) => {
                    entries.values().next().is_none_or(|own| own.0.is_of(&entry.0) && own.1.is_of(&entry.1))
                }
                map => map.iter().next().is_none_or(|(key, value)| key.is_of(&entry.0) && value.is_of(&entry.1)),
            },
            (Type::Opaque(name, _), Value::Optional(_)) => &**name == "optional_type",
            (Type::Opaque(name, _) | Type::Struct(name), Value::Kube(kube)) => **name == *kube.name(),
            (Type::Struct(name), Value::Object(object)) => **name == *object.name(),
            _ => false,
        }
    }
}

pub(crate) fn chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

impl<'a> List<'a> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            List::Made(items) | List::Added(items) | List::Joined(_, items) => items.len(),
            List::Parts(parts) => parts.iter().map(List::len).sum(),
            List::Data(items) | List::Typed(_, items) => items.len(),
        }
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an element.
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            List::Made(items) | List::Added(items) | List::Joined(_, items) => items.get(index).cloned(),
            List::Data(items) => items.get(index).map(Value::from),
            List::Typed(typed, items) => items.get(index).map(|item| typed.item(item)),
            List::Parts(parts) => {
                let mut index = index;
                for part in parts.iter() {
                    match part.get(index) {
                        Some(item) => return Some(item),
                        None => index -= part.len(),
                    }
                }
                None
            }
        }
    }

    /// Returns the schema of a list of an object.
    pub(crate) fn typed(&self) -> Option<Typed<'a>> {
        match self {
            List::Made(_) | List::Added(_) | List::Data(_) | List::Parts(_) => None,
            List::Typed(typed, _) | List::Joined(typed, _) => Some(*typed),
        }
    }

    /// Iterates over the elements.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Returns whether an element equals a value. For lists of an object: if no item is equal, but some cannot be
    /// compared, the first such error is returned.
    pub(crate) fn contains(&self, value: &Value<'a>) -> Value<'a> {
        match self {
            List::Typed(..) | List::Joined(..) => {
                if value.is_error() {
                    return value.clone();
                }
                first_equal(self.iter().map(|item| item.equal(value)))
            }
            List::Parts(parts) => first_equal(parts.iter().map(|part| part.contains(value))),
            _ => Value::Bool(self.iter().any(|item| matches!(value.equal(&item), Value::Bool(true)))),
        }
    }

    /// Returns this list followed by another one, if they must be kept apart.
    pub(crate) fn parts(&self, other: &List<'a>) -> Option<List<'a>> {
        let apart = |list: &List<'a>| match list {
            List::Parts(_) => true,
            List::Typed(..) | List::Joined(..) => list.iter().any(|item| item.is_error()),
            _ => false,
        };
        if !apart(self) && !apart(other) {
            return None;
        }
        let mut parts = Vec::new();
        for list in [self, other] {
            match list {
                List::Parts(inner) => parts.extend(inner.iter().cloned()),
                list => parts.push(list.clone()),
            }
        }
        Some(List::Parts(Arc::new(parts)))
    }
}

/// Returns `true` if a comparison does, or else the first error among them.
fn first_equal<'a>(comparisons: impl Iterator<Item = Value<'a>>) -> Value<'a> {
    let mut wrong = None;
    for compared in comparisons {
        match compared {
            Value::Bool(true) => return compared,
            Value::Bool(false) => {}
            other => {
                wrong.get_or_insert(other);
            }
        }
    }
    wrong.unwrap_or(Value::Bool(false))
}

impl<'a> Map<'a> {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        match self {
            Map::Made(entries) => entries.len(),
            Map::Data(entries) => entries.len(),
            Map::Typed(_, fields) => fields.len(),
        }
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a key. Equal numbers of other types match, too.
    pub fn get(&self, key: &Value<'a>) -> Option<Value<'a>> {
        match self {
            Map::Made(entries) => {
                let find = |key: &Value<'a>| entries.get(&Key::of(key)).map(|entry| entry.1.clone());
                find(key).or_else(|| match key {
                    Value::Double(d) => {
                        let int = convert::double_to_int(*d).filter(|i| *i as f64 == *d).map(Value::Int);
                        let uint = convert::double_to_uint(*d).filter(|u| *u as f64 == *d).map(Value::Uint);
                        int.and_then(|key| find(&key)).or_else(|| uint.and_then(|key| find(&key)))
                    }
                    Value::Int(i) => u64::try_from(*i).ok().and_then(|u| find(&Value::Uint(u))),
                    Value::Uint(u) => i64::try_from(*u).ok().and_then(|i| find(&Value::Int(i))),
                    _ => None,
                })
            }
            Map::Data(entries) => entries.get(key.as_str()?).map(Value::from),
            Map::Typed(typed, entries) => typed.find(*entries, key.as_str()?),
        }
    }

    /// Iterates over keys and values like upstream: fields that the schema of an object does not know come last, with
    /// null as their keys (`unstructuredMap.Iterator` allocates room for all fields). So there are as many pairs as
    /// entries.
    pub(crate) fn walk(&self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> + '_ {
        let mut known = self.iter();
        (0..self.len()).map(move |_| known.next().unwrap_or_else(|| (Value::Null, Value::no_such_overload())))
    }

    /// Iterates over keys and values, sorted by key.
    // `&Map` is not an iterator: entries are created on request.
    #[allow(clippy::iter_without_into_iter)]
    pub fn iter(&self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> + '_ {
        let made =
            if let Map::Made(entries) = self { Some(entries.values().map(|entry| (**entry).clone())) } else { None };
        let data = if let Map::Data(entries) = self {
            Some(entries.iter().map(|(key, value)| (Value::String(Text::Borrowed(key)), Value::from(value))))
        } else {
            None
        };
        let typed = if let Map::Typed(typed, entries) = self { Some(typed.entries(*entries)) } else { None };
        made.into_iter().flatten().chain(data.into_iter().flatten()).chain(typed.into_iter().flatten())
    }
}

impl<'a> From<Raw<'a>> for Value<'a> {
    #[inline]
    fn from(raw: Raw<'a>) -> Value<'a> {
        match raw {
            Raw::Null => Value::Null,
            Raw::Bool(b) => Value::Bool(b),
            Raw::Int(i) => Value::Int(i),
            Raw::Float(f) => Value::Double(f),
            Raw::String(text) => Value::String(Text::Borrowed(text)),
            Raw::List(items) => Value::List(List::Data(items)),
            Raw::Map(fields) => Value::Map(Map::Data(fields)),
        }
    }
}

impl<'a> From<&'a Data<'a>> for Value<'a> {
    fn from(data: &'a Data<'a>) -> Value<'a> {
        Value::from(Raw::from(data))
    }
}

impl<'a> From<kubeshape_value::Value<'a>> for Value<'a> {
    fn from(object: kubeshape_value::Value<'a>) -> Value<'a> {
        Value::from(Raw::from(object))
    }
}

impl<'a> Value<'a> {
    /// Compares two values like `==`. Returns a bool, or the error of values that cannot be compared.
    #[must_use]
    pub fn equals(&self, other: &Value<'a>) -> Value<'a> {
        match (self, other) {
            (Value::Null, Value::Null) => Value::Bool(true),
            (Value::Null, _) | (_, Value::Null) => Value::Bool(false),
            _ => self.equal(other),
        }
    }

    /// Like [`Value::equals`], but null is compared like any other value.
    pub(crate) fn equal(&self, other: &Value<'a>) -> Value<'a> {
        Value::Bool(match (self, other) {
            (Value::Error(_), _) => return self.clone(),
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::String(a), Value::String(b)) => **a == **b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Duration(a), Value::Duration(b)) => a == b,
            (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
            (Value::Type(a), Value::Type(b)) => a.name() == b.name(),
            (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
                arithmetic::compare_numbers(self, other) == Some(Ordering::Equal)
            }
            (Value::List(list @ (List::Typed(typed, _) | List::Joined(typed, _))), other) => {
                return typed.list_equal(list, other);
            }
            (Value::List(a @ List::Parts(_)), Value::List(b)) => {
                if a.len() != b.len() {
                    return Value::Bool(false);
                }
                let mut wrong = None;
                for (a, b) in a.iter().zip(b.iter()) {
                    match a.equals(&b) {
                        Value::Bool(true) => {}
                        Value::Bool(false) => return Value::Bool(false),
                        other => {
                            wrong.get_or_insert(other);
                        }
                    }
                }
                return wrong.unwrap_or(Value::Bool(true));
            }
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| !matches!(a.equals(&b), Value::Bool(false)))
            }
            (Value::Map(Map::Typed(typed, entries)), other) => return typed.map_equal(*entries, other),
            (Value::Map(a), Value::Map(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, value)| {
                        b.get(&key).is_some_and(|other| !matches!(value.equals(&other), Value::Bool(false)))
                    })
            }
            (Value::Optional(a), Value::Optional(b)) => match (a, b) {
                (Some(a), Some(b)) => return a.equal(b),
                (a, b) => a.is_none() && b.is_none(),
            },
            (Value::Kube(a), Value::Kube(b)) => return a.equal(b).map_or_else(Value::no_such_overload, Value::Bool),
            (Value::Kube(_), Value::Error(_)) => return other.clone(),
            (Value::Kube(_), _) => return Value::no_such_overload(),
            (Value::Object(a), Value::Object(b)) => a.equal(b),
            _ => false,
        })
    }

    /// Compares two values like `<`.
    pub(crate) fn compare(&self, other: &Value<'a>) -> Result<Ordering, Value<'a>> {
        Ok(match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::String(a), Value::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
            (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
            (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
            (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
                return arithmetic::compare_numbers(self, other)
                    .ok_or_else(|| Value::error("NaN values cannot be ordered"));
            }
            (Value::Double(d), _) if d.is_nan() => return Err(Value::error("NaN values cannot be ordered")),
            (_, Value::Error(_)) => return Err(other.clone()),
            _ => return Err(Value::no_such_overload()),
        })
    }
}
