//! Small helpers on values and sets.

use kubeshape_smd::fieldpath::{DisplayPath, Path, PathElement, Set, SetBuilder};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};

/// Returns the value at a path. An item of a list is found by the keys that it has.
pub(crate) fn at<'a>(value: Value<'a>, path: &Path<'_>) -> Option<Value<'a>> {
    path.iter().try_fold(value, |value, element| match *element {
        PathElement::FieldName(name) => value.get(name),
        PathElement::Nameless => None,
        PathElement::Index(index) => value.as_list()?.get(usize::try_from(index).ok()?).copied(),
        PathElement::Value(wanted) => value.as_list()?.iter().find(|item| **item == wanted).copied(),
        PathElement::Key(keys) => {
            let has = |item: &&Value<'a>, strictly: bool| {
                item.as_map().is_some()
                    && keys.iter().all(|(name, key)| item.get(name).map_or(!strictly, |found| found == *key))
                    && keys.iter().any(|(name, _)| item.get(name).is_some())
            };
            let items = value.as_list()?;
            items.iter().find(|item| has(item, true)).or_else(|| items.iter().find(|item| has(item, false))).copied()
        }
    })
}

/// Returns the metadata's managed fields.
pub(crate) fn managed_fields(object: Value<'_>) -> Option<Value<'_>> {
    object.get("metadata")?.get("managedFields")
}

/// Returns an object with other managed fields.
pub(crate) fn with_managed_fields<'a>(object: Value<'a>, list: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    with_metadata(object, "managedFields", list, arena)
}

/// Returns an object with a member of its metadata set or removed.
pub(crate) fn with_metadata<'a>(
    object: Value<'a>,
    key: &'a str,
    value: Option<Value<'a>>,
    arena: &'a Bump,
) -> Value<'a> {
    let Value::Map(map) = object else { return object };
    let metadata = match map.get("metadata") {
        Some(Value::Map(metadata)) => metadata,
        None if value.is_some() => Map::EMPTY,
        _ => return object,
    };
    Value::Map(map.with("metadata", Some(Value::Map(metadata.with(key, value, arena))), arena))
}

/// Returns the paths of a set that have none of its other paths below them, as text.
pub(crate) fn leaves(set: Set<'_>, arena: &Bump) -> Vec<String> {
    set.leaves(arena).iter().map(|path| DisplayPath(&path).to_string()).collect()
}

/// Returns the part of a set at and below these fields. Without fields, it is the whole set.
pub(crate) fn part<'a>(set: Set<'a>, fields: &[String], arena: &'a Bump) -> Set<'a> {
    if fields.is_empty() {
        return set;
    }
    let mut builder = SetBuilder::new(arena);
    let mut paths = set.iter();
    while let Some(path) = paths.advance() {
        let text = DisplayPath(path).to_string();
        if fields.iter().any(|field| is_below(&text, field)) {
            builder.insert(path);
        }
    }
    builder.finish()
}

/// Returns whether a set has a path, or anything below it.
pub(crate) fn sets(set: Set<'_>, path: &Path<'_>) -> bool {
    let below = path.iter().try_fold(set, |set, element| set.entry(*element).map(|entry| entry.children));
    below.is_some()
}

/// Returns whether a path is a field or below it. `spec.replicas` and `.spec.replicas` are the same field.
pub(crate) fn is_below(path: &str, field: &str) -> bool {
    let strip = |text| str::strip_prefix(text, '.').unwrap_or(text);
    let (path, field) = (strip(path), strip(field));
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || field.is_empty() || rest.starts_with(['.', '[']))
}
