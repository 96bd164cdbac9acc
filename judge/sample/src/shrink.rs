//! Makes an object smaller.

use kubeshape_schema::Bump;
use kubeshape_value::Map;
use kubeshape_value::Value;

/// Removes what an object does not need to show something. `shows` says whether a smaller object still shows it, and is
/// called at most `most` times. Members are tried from the outside in; `apiVersion`, `kind` and `metadata` stay.
///
/// # Example
/// ```
/// use kubeshape_sample::shrink;
/// use kubeshape_schema::Bump;
/// use kubeshape_value::ToValue;
///
/// let arena = Bump::new();
/// let object = serde_json::json!({"kind": "Tab", "note": "a", "ports": [{"port": 1, "name": "b"}, {"port": 2}]});
/// let has_name = |object: kubeshape_value::Value<'_>| object.to_string().contains("name");
/// let small = shrink(object.to_value(&arena), 64, &arena, has_name);
/// assert_eq!(small.to_serde(), serde_json::json!({"kind": "Tab", "ports": [{"name": "b"}]}));
/// ```
pub fn shrink<'o>(
    object: Value<'o>,
    most: usize,
    arena: &'o Bump,
    mut shows: impl FnMut(Value<'o>) -> bool,
) -> Value<'o> {
    let mut object = object;
    let mut todo: Vec<Vec<usize>> = vec![Vec::new()];
    let mut left = most;
    while let Some(path) = todo.pop() {
        // The last members first, so that the others keep their place.
        for at in (0..count(object, &path)).rev() {
            if path.is_empty() && is_kept(object, at) {
                continue;
            }
            if left == 0 {
                return object;
            }
            left -= 1;
            let Some(smaller) = without(object, &path, at, arena) else { continue };
            if shows(smaller) {
                object = smaller;
            }
        }
        for at in 0..count(object, &path) {
            if path.is_empty() && is_kept(object, at) {
                continue;
            }
            let mut below = path.clone();
            below.push(at);
            todo.push(below);
        }
    }
    object
}

/// Members that every object has.
fn is_kept(object: Value<'_>, at: usize) -> bool {
    let entry = object.as_map().and_then(|map| map.entries().get(at).copied());
    entry.is_some_and(|(key, _)| matches!(key, "apiVersion" | "kind" | "metadata"))
}

fn member(value: Value<'_>, at: usize) -> Option<Value<'_>> {
    match value {
        Value::Map(map) => map.entries().get(at).map(|(_, value)| *value),
        Value::List(items) => items.get(at).copied(),
        _ => None,
    }
}

fn count(object: Value<'_>, path: &[usize]) -> usize {
    match path.iter().try_fold(object, |value, at| member(value, *at)) {
        Some(Value::Map(map)) => map.len(),
        Some(Value::List(items)) => items.len(),
        _ => 0,
    }
}

/// Returns the object without one member.
fn without<'o>(value: Value<'o>, path: &[usize], at: usize, arena: &'o Bump) -> Option<Value<'o>> {
    let (next, rest) = match path.split_first() {
        None => (at, None),
        Some((next, rest)) => (*next, Some(rest)),
    };
    match value {
        Value::Map(map) => {
            let (key, below) = *map.entries().get(next)?;
            let below = match rest {
                None => None,
                Some(rest) => Some(without(below, rest, at, arena)?),
            };
            Some(Value::Map(Map::with(map, key, below, arena)))
        }
        Value::List(items) => {
            let mut items = items.to_vec();
            match rest {
                None => {
                    items.get(next)?;
                    items.remove(next);
                }
                Some(rest) => {
                    let item = items.get_mut(next)?;
                    *item = without(*item, rest, at, arena)?;
                }
            }
            Some(Value::List(arena.alloc_slice_copy(&items)))
        }
        _ => None,
    }
}
