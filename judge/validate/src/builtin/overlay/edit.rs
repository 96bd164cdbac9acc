//! Reads and changes members of values.

use crate::object::deep_equal;
use crate::typed::is_empty;
use kubeshape_value::{Bump, Map, Value};

/// Returns the value at a path.
pub(super) fn at<'a>(value: Value<'a>, path: &[String]) -> Option<Value<'a>> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Returns a map with a value set or removed at a path. Missing parts of the path are created, unless the value is
/// removed.
pub(super) fn with<'a>(value: Value<'a>, path: &[&str], member: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    let Some((key, rest)) = path.split_first() else { return member.unwrap_or(Value::Null) };
    let map = match value {
        Value::Map(map) => map,
        Value::Null => Map::EMPTY,
        other => return other,
    };
    let member = match (rest.is_empty(), map.get(key), member) {
        (true, _, member) => member,
        (false, None, None) => return value,
        (false, below, member) => Some(with(below.unwrap_or(Value::Null), rest, member, arena)),
    };
    Value::Map(map.with(arena.alloc_str(key), member, arena))
}

/// Returns the string of a member. Empty if it is absent.
pub(super) fn text<'a>(value: Value<'a>, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether two values are equal like in Go's `Semantic.DeepEqual`: an empty list is the same as none.
pub(in crate::builtin) fn semantic_equal(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Map(a), Value::Map(b)) => {
            let mut own = b.entries().iter().filter(|(key, _)| a.get(key).is_none());
            a.entries().iter().all(|(key, value)| semantic_equal(*value, b.get(key).unwrap_or(Value::Null)))
                && own.all(|(_, value)| is_none(*value))
        }
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| semantic_equal(*a, *b)),
        (a, b) => is_none(a) && is_none(b) || deep_equal(a, b),
    }
}

/// Like [`semantic_equal`]; all of Go's zero values are the same as none, too.
pub(super) fn same(a: Value<'_>, b: Value<'_>) -> bool {
    is_empty(a) && is_empty(b) || semantic_equal(a, b)
}

fn is_none(value: Value<'_>) -> bool {
    value.is_null() || value.as_list().is_some_and(<[_]>::is_empty)
}

/// Returns a list of these items.
pub(super) fn list<'a>(items: &[Value<'a>], arena: &'a Bump) -> Value<'a> {
    Value::List(arena.alloc_slice_copy(items))
}

/// Changes all items of a list at a path.
pub(super) fn each<'a>(
    value: Value<'a>,
    path: &[&str],
    arena: &'a Bump,
    change: impl Fn(Value<'a>) -> Value<'a>,
) -> Value<'a> {
    let found = path.iter().try_fold(value, |value, key| value.get(key)).and_then(Value::as_list);
    let Some(items) = found else { return value };
    let items: Vec<_> = items.iter().map(|item| change(*item)).collect();
    with(value, path, Some(list(&items, arena)), arena)
}
