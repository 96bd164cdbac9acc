//! Makes a witness smaller.

use super::judge::Judge;
use super::proof::Outcome;
use kubeshape_schema::Bump;
use kubeshape_value::Map;
use kubeshape_value::Value;

/// Removes what the witness does not need to show the same. Tries members from the outside in, at most `most`.
pub(super) fn shrink<'o>(
    judge: &Judge<'o>,
    object: Value<'o>,
    outcome: Outcome,
    most: usize,
    arena: &'o Bump,
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
            if judge.see(smaller, arena).is_some_and(|seen| seen.outcome == outcome) {
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
