//! Lists: types of items, order, duplicates (upstream: `sliceElementType`, `normalizeElementOrder` and what they call).

use super::Error;
use super::go::{Key, Places, Plain};
use super::sort;
use kubeshape_smd::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The key of directives.
pub(super) const DIRECTIVE: &str = "$patch";

/// The type of the items of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Items {
    Maps,
    Scalars,
}

/// Returns the common type of all items of lists.
///
/// # Errors
/// There are no items, they have different types, or they are lists.
pub(super) fn items_of(lists: &[&[Value<'_>]]) -> Result<Items, Error> {
    let mut first: Option<Value<'_>> = None;
    for item in lists.iter().copied().flatten() {
        match first {
            None if item.is_null() => return Err(Error::NullItem),
            None if item.as_list().is_some() => return Err(Error::ListOfLists),
            None => first = Some(*item),
            Some(other) if !super::go::same_type(other, *item) => {
                let lists: Vec<String> = lists.iter().map(|list| Plain(Value::List(list)).to_string()).collect();
                return Err(Error::ElementTypes(format!("[{}]", lists.join(" "))));
            }
            Some(_) => {}
        }
    }
    match first {
        None => Err(Error::NoElements),
        Some(Value::Map(_)) => Ok(Items::Maps),
        Some(_) => Ok(Items::Scalars),
    }
}

/// Returns the error for an item without merge key.
pub(super) fn no_merge_key(item: Value<'_>, key: &str) -> Error {
    Error::NoMergeKey { item: Plain(item).to_string(), key: key.to_owned() }
}

/// How to find the items of a list: by the value of a member, or by themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity<'k> {
    pub(super) items: Items,
    pub(super) key: &'k str,
}

impl Identity<'_> {
    /// Returns the value that identifies an item. A missing member is null.
    fn of(self, item: Value<'_>) -> Value<'_> {
        match self.items {
            Items::Maps => item.get(self.key).unwrap_or(Value::Null),
            Items::Scalars => item,
        }
    }

    fn places<'a>(self, list: &[Value<'a>]) -> Places<'a> {
        Places::of(list.iter().map(|item| Some(self.of(*item))))
    }
}

/// Orders the items of a patch and the others of the live object, each by its own order, and merges the two lists by
/// the live order (upstream: `normalizeElementOrder`).
///
/// # Errors
/// An item lacks the merge key.
pub(super) fn ordered<'a>(
    patch: Vec<Value<'a>>,
    others: Vec<Value<'a>>,
    patch_order: &[Value<'a>],
    live_order: &[Value<'a>],
    identity: Identity<'_>,
) -> Result<Vec<Value<'a>>, Error> {
    let patch = sorted(patch, patch_order, identity)?;
    let others = sorted(others, live_order, identity)?;
    if patch.is_empty() || others.is_empty() {
        return Ok(if patch.is_empty() { others } else { patch });
    }
    let places = identity.places(live_order);
    let place = |item: &Value<'a>| places.find(identity.of(*item));
    let (mut patch, mut others) = (patch.into_iter().peekable(), others.into_iter().peekable());
    let mut all = Vec::new();
    while let (Some(other), Some(own)) = (others.peek(), patch.peek()) {
        let is_before = matches!((place(other)?, place(own)?), (Some(other), Some(own)) if other < own);
        all.extend(if is_before { others.next() } else { patch.next() });
    }
    all.extend(others);
    all.extend(patch);
    Ok(all)
}

/// Sorts items by their places in a list; items to delete come last (upstream: `normalizeSliceOrder`).
///
/// # Errors
/// An item lacks the merge key.
pub(super) fn sorted<'a>(
    items: Vec<Value<'a>>,
    order: &[Value<'a>],
    identity: Identity<'_>,
) -> Result<Vec<Value<'a>>, Error> {
    let mut deleted = Vec::new();
    let mut kept = items;
    if identity.items == Items::Maps {
        for item in kept.iter().chain(order) {
            match item {
                Value::Map(map) if map.get(identity.key).is_some() => {}
                Value::Map(_) => return Err(no_merge_key(*item, identity.key)),
                _ => return Err(wrong_map(*item)),
            }
        }
        (deleted, kept) = kept.into_iter().partition(is_deleted);
    }
    if kept.len() > 1 {
        let places = identity.places(order);
        let places: Result<Vec<_>, Error> = kept.iter().map(|item| places.find(identity.of(*item))).collect();
        let mut items: Vec<(Option<usize>, Value<'a>)> = places?.into_iter().zip(kept).collect();
        sort::stable(&mut items, |a, b| match (a.0, b.0) {
            (Some(a), Some(b)) => a < b,
            _ => true,
        });
        kept = items.into_iter().map(|(_, item)| item).collect();
    }
    kept.extend(deleted);
    Ok(kept)
}

/// Returns whether an item has `$patch: delete`.
pub(super) fn is_deleted(item: &Value<'_>) -> bool {
    item.get(DIRECTIVE).and_then(Value::as_str) == Some("delete")
}

/// Returns the error for a value that should be a map.
pub(super) fn wrong_map(value: Value<'_>) -> Error {
    Error::Type { expected: "map[string]interface {}", found: super::go::type_name(value) }
}

/// Returns the error for a value that should be a list.
pub(super) fn wrong_list(value: Value<'_>) -> Error {
    Error::Type { expected: "[]interface {}", found: super::go::type_name(value) }
}

/// Splits a list into the items that another list has, and those that it lacks.
///
/// # Errors
/// An item cannot be compared, or lacks the merge key.
pub(super) fn partition<'a>(
    list: &[Value<'a>],
    by: &[Value<'a>],
    identity: Identity<'_>,
) -> Result<(Vec<Value<'a>>, Vec<Value<'a>>), Error> {
    if identity.key.is_empty() {
        return partition_scalars(list, by);
    }
    let not_map = by.iter().position(|item| item.as_map().is_none());
    let places = Places::of(by.iter().map(|item| item.get(identity.key)));
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for item in list {
        let Value::Map(map) = item else { return Err(wrong_map(*item)) };
        let value = map.get(identity.key).ok_or_else(|| no_merge_key(*item, identity.key))?;
        let place = places.find(value)?;
        if let Some(at) = not_map.filter(|at| place.is_none_or(|place| *at < place)) {
            return Err(Error::NoMap(at));
        }
        if place.is_some() { found.push(*item) } else { others.push(*item) }
    }
    Ok((found, others))
}

fn partition_scalars<'a>(list: &[Value<'a>], by: &[Value<'a>]) -> Result<(Vec<Value<'a>>, Vec<Value<'a>>), Error> {
    let by: BTreeSet<Key<'a>> = super::go::set(by)?;
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for item in list {
        if by.contains(&super::go::set_key(*item)?) { found.push(*item) } else { others.push(*item) }
    }
    Ok((found, others))
}

/// Removes duplicates of scalars: the last item takes the place of a duplicate. Returns the items that were taken from
/// the end, the last one first (upstream: `deduplicateScalars`).
pub(super) fn deduplicate<'a>(items: &mut Vec<Value<'a>>) -> Vec<Value<'a>> {
    let mut taken = Vec::new();
    let mut places: BTreeMap<Key<'a>, BTreeSet<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let Some(key) = Key::of(*item) else { return taken };
        places.entry(key).or_default().insert(at);
    }
    let mut at = 0;
    while at < items.len() {
        let Some(key) = Key::of(items[at]) else { return taken };
        while let Some(twice) = places.get(&key).and_then(|places| places.range(at + 1..).next().copied()) {
            let Some(last) = items.pop() else { return taken };
            taken.push(last);
            places.entry(key).or_default().remove(&twice);
            if let (Some(key), true) = (Key::of(last), twice < items.len()) {
                items[twice] = last;
                let places = places.entry(key).or_default();
                places.remove(&items.len());
                places.insert(twice);
            }
        }
        at += 1;
    }
    taken
}
