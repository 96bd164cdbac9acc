//! Applies a patch (upstream: `mergeMap` and what it calls).

use super::array::{Array, capacity};
use super::go::{Key, Places, Plain, deep_equal, same_type, set, set_key};
use super::list::{DIRECTIVE, Identity, Items, deduplicate, items_of, no_merge_key, ordered, partition, wrong_list};
use super::schema::{Field, Strategy, Type};
use super::{Error, MAX_WORK};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use std::cell::Cell;
use std::collections::BTreeMap;

const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList";
const ORDER: &str = "$setElementOrder";

type Members<'a> = BTreeMap<&'a str, Value<'a>>;

/// Applies patches.
pub(super) struct Merger<'a> {
    arena: &'a Bump,
    /// Whether the patch is for an object. Otherwise it is for another patch, which keeps its directives and nulls.
    is_final: bool,
    work: Cell<usize>,
}

/// The result of merging a list.
struct Merged<'a> {
    list: &'a [Value<'a>],
    /// The remaining contents of the memory of the old list.
    old: Vec<Value<'a>>,
}

impl<'a> Merger<'a> {
    /// Applies patches to objects.
    pub(super) fn of_objects(arena: &'a Bump) -> Merger<'a> {
        Merger { arena, is_final: true, work: Cell::new(0) }
    }

    /// Applies patches to patches.
    pub(super) fn of_patches(arena: &'a Bump) -> Merger<'a> {
        Merger { arena, is_final: false, work: Cell::new(0) }
    }

    /// Counts the nodes that a step reads or writes.
    fn count(&self, nodes: usize) -> Result<(), Error> {
        self.work.set(self.work.get().saturating_add(nodes));
        if self.work.get() > MAX_WORK { Err(Error::Work(MAX_WORK)) } else { Ok(()) }
    }

    /// Applies a patch to a map.
    pub(super) fn map(&self, live: Map<'a>, patch: Map<'a>, of: Type<'_>) -> Result<Map<'a>, Error> {
        if let Some(directive) = patch.get(DIRECTIVE) {
            return self.directive(directive, patch);
        }
        self.count(live.len() + patch.len())?;
        let mut live: Members<'a> = live.entries().iter().copied().collect();
        let mut patch: Members<'a> = patch.entries().iter().copied().collect();
        self.retain(&mut live, &mut patch)?;
        self.ordered_lists(&mut live, &mut patch, of)?;
        for (key, value) in patch {
            self.member(&mut live, key, value, of)?;
        }
        Ok(self.finished(live))
    }

    fn finished(&self, members: Members<'a>) -> Map<'a> {
        Map::from_entries(members.into_iter().collect(), self.arena)
    }

    fn list(&self, items: &[Value<'a>]) -> &'a [Value<'a>] {
        self.arena.alloc_slice_copy(items)
    }

    /// Handles `$patch` of a map (upstream: `handleDirectiveInMergeMap`).
    fn directive(&self, directive: Value<'a>, patch: Map<'a>) -> Result<Map<'a>, Error> {
        match directive {
            Value::String("replace") => Ok(patch.with(DIRECTIVE, None, self.arena)),
            Value::String("delete") => Ok(Map::EMPTY),
            other => Err(unknown_directive(other, patch)),
        }
    }

    /// Handles `$retainKeys` (upstream: `applyRetainKeysDirective`).
    fn retain(&self, live: &mut Members<'a>, patch: &mut Members<'a>) -> Result<(), Error> {
        let Some(kept) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
        if !self.is_final {
            let own = *live.entry(RETAIN_KEYS).or_insert(kept);
            if deep_equal(own, kept) {
                return Ok(());
            }
            return Err(Error::TwoRetainKeys(Plain(own).to_string(), Plain(kept).to_string()));
        }
        let kept = set(kept.as_list().ok_or(Error::RetainKeys)?)?;
        let is_missing = |key: &str, value: &Value<'a>| {
            let is_directive = key.starts_with(DELETE_FROM) || key.starts_with(ORDER);
            !value.is_null() && !is_directive && !kept.contains(&Key::String(key))
        };
        if patch.iter().any(|(key, value)| is_missing(key, value)) {
            return Err(Error::RetainKeys);
        }
        live.retain(|key, _| kept.contains(&Key::String(key)));
        Ok(())
    }

    /// Merges the lists that have `$setElementOrder`, and removes them from the patch (upstream:
    /// `mergePatchIntoOriginal`).
    fn ordered_lists(&self, live: &mut Members<'a>, patch: &mut Members<'a>, of: Type<'_>) -> Result<(), Error> {
        let keys: Vec<&'a str> = patch.range(ORDER..).map(|(key, _)| *key).collect();
        for key in keys.into_iter().take_while(|key| key.starts_with(ORDER)) {
            let Some(order) = patch.remove(key) else { continue };
            if !self.is_final && !deep_equal(*live.entry(key).or_insert(order), order) {
                return Err(Error::SetElementOrder);
            }
            let order = order.as_list().ok_or_else(|| wrong_list(order))?;
            let name = field_of(key, ORDER).ok_or(Error::SetElementOrder)?;
            let list_of = |members: &Members<'a>| match members.get(name) {
                None => Ok(None),
                Some(value) => value.as_list().map(Some).ok_or_else(|| wrong_list(*value)),
            };
            let (old, new) = (list_of(live)?, list_of(patch)?);
            let field = of.list_field(name)?;
            check_order(new.unwrap_or_default(), order, field.key)?;
            let Some(list) = self.ordered_list(old, new, order, field)? else { continue };
            live.insert(name, Value::List(list));
            patch.remove(name);
        }
        Ok(())
    }

    fn ordered_list(
        &self,
        old: Option<&'a [Value<'a>]>,
        new: Option<&'a [Value<'a>]>,
        order: &'a [Value<'a>],
        field: Field<'_>,
    ) -> Result<Option<&'a [Value<'a>]>, Error> {
        let merged = match (old, new) {
            (Some(old), None) => Merged { list: old, old: old.to_vec() },
            (None, Some(new)) => {
                let list = self.list_without_directives(new)?;
                Merged { list, old: Vec::new() }
            }
            (Some(old), Some(new)) => self.list_field(old, new, field, false)?,
            (None, None) => return Ok(None),
        };
        self.count(merged.list.len() + order.len())?;
        let split = Identity { items: Items::Maps, key: field.key };
        let (own, others) = partition(merged.list, order, split)?;
        let items = items_of(&[&merged.old, new.unwrap_or_default()])?;
        let list = ordered(own, others, order, &merged.old, Identity { items, ..split })?;
        Ok(Some(self.list(&list)))
    }

    /// Applies a member of a patch.
    fn member(&self, live: &mut Members<'a>, key: &'a str, value: Value<'a>, of: Type<'_>) -> Result<(), Error> {
        let deletes = key.starts_with(DELETE_FROM);
        if deletes && !self.is_final {
            live.insert(key, value);
            return Ok(());
        }
        let key = if deletes {
            let name = field_of(key, DELETE_FROM).ok_or(Error::PrimitiveList)?;
            if name.is_empty() { key } else { name }
        } else {
            key
        };
        if value.is_null() {
            live.remove(key);
            if self.is_final {
                return Ok(());
            }
        }
        let old = live.get(key).copied().filter(|old| same_type(*old, value));
        let merged = match (old, value) {
            (None, _) if deletes => return Ok(()),
            (Some(Value::Map(old)), Value::Map(new)) => {
                let field = of.object_field(key)?;
                let is_replaced = field.strategy == Strategy::Replace;
                let map = if is_replaced { new } else { self.map(old, new, field.below)? };
                Some(Value::Map(map))
            }
            (Some(Value::List(old)), Value::List(new)) => {
                let field = of.list_field(key)?;
                Some(Value::List(self.list_field(old, new, field, deletes)?.list))
            }
            (Some(_), value) => Some(value),
            (None, value) => {
                let value = if self.is_final { self.without_nulls(value)? } else { value };
                self.without_directives(value)?
            }
        };
        match merged {
            Some(value) => live.insert(key, value),
            None => live.remove(key),
        };
        Ok(())
    }

    /// Merges or replaces a list (upstream: `mergeSliceHandler`).
    fn list_field(
        &self,
        old: &'a [Value<'a>],
        new: &'a [Value<'a>],
        field: Field<'_>,
        deletes: bool,
    ) -> Result<Merged<'a>, Error> {
        if field.strategy != Strategy::Merge && !deletes {
            return Ok(Merged { list: new, old: old.to_vec() });
        }
        if old.is_empty() && new.is_empty() {
            return Ok(Merged { list: old, old: Vec::new() });
        }
        self.count(old.len() + new.len())?;
        if items_of(&[old, new])? == Items::Scalars {
            self.scalars(old, new, field, deletes)
        } else {
            self.maps(old, new, field)
        }
    }

    /// Merges lists of scalars, or deletes scalars.
    fn scalars(
        &self,
        old: &'a [Value<'a>],
        new: &'a [Value<'a>],
        field: Field<'_>,
        deletes: bool,
    ) -> Result<Merged<'a>, Error> {
        if deletes {
            let gone = set(new)?;
            let mut kept = Vec::with_capacity(old.len());
            for item in old {
                if !gone.contains(&set_key(*item)?) {
                    kept.push(*item);
                }
            }
            return Ok(Merged { list: self.list(&kept), old: old.to_vec() });
        }
        let mut all = [old, new].concat();
        let has_room = capacity(old.len()) >= all.len();
        let left = deduplicate(&mut all);
        // Upstream works in the memory of the old list, if it has room.
        let seen: Vec<Value<'a>> = if has_room {
            all.iter().chain(left.iter().rev()).take(old.len()).copied().collect()
        } else {
            old.to_vec()
        };
        let identity = Identity { items: Items::Scalars, key: field.key };
        let (own, others) = partition(&all, new, identity)?;
        let list = ordered(own, others, new, &seen, identity)?;
        Ok(Merged { list: self.list(&list), old: seen })
    }

    /// Merges lists of maps.
    fn maps(&self, old: &'a [Value<'a>], new: &'a [Value<'a>], field: Field<'_>) -> Result<Merged<'a>, Error> {
        if field.key.is_empty() {
            return Err(Error::UndeclaredMergeKey(field.below.kind()));
        }
        let mut array = Array::new(old);
        let (patch, is_replaced) = special(&mut array, new, field.key)?;
        if is_replaced {
            let identity = Identity { items: Items::Maps, key: field.key };
            let (own, others) = partition(&patch, &[], identity)?;
            let list = ordered(own, others, &[], &patch, identity)?;
            return Ok(Merged { list: self.list(&list), old: array.memory().to_vec() });
        }
        let rest = array.items().len();
        let patch = self.items(&mut array, patch, field)?;
        let identity = Identity { items: Items::Maps, key: field.key };
        let (own, others) = partition(array.items(), &patch, identity)?;
        let list = ordered(own, others, &patch, &array.memory()[..rest], identity)?;
        Ok(Merged { list: self.list(&list), old: array.memory().to_vec() })
    }

    /// Merges items into a list, or appends them (upstream: `mergeSliceWithoutSpecialElements`). Returns the items.
    fn items(&self, array: &mut Array<'a>, patch: Vec<Value<'a>>, field: Field<'_>) -> Result<Vec<Value<'a>>, Error> {
        let of = |item: &Value<'a>| item.get(field.key);
        let mut places = Places::of(array.items().iter().map(of));
        for item in &patch {
            let Value::Map(new) = *item else { continue };
            let value = new.get(field.key).ok_or_else(|| no_merge_key(*item, field.key))?;
            let Some(at) = places.find(value)? else {
                places.add(value, array.items().len());
                array.push(*item);
                continue;
            };
            let old = array.items()[at].as_map().unwrap_or(Map::EMPTY);
            let merged = Value::Map(self.map(old, new, field.below)?);
            array.set(at, merged);
            if merged.get(field.key).is_none() {
                self.count(array.items().len())?;
                places = Places::of(array.items().iter().map(of));
            }
        }
        Ok(patch)
    }

    /// Returns a value without the nulls of its maps (upstream: `discardNullValuesFromPatch`).
    fn without_nulls(&self, value: Value<'a>) -> Result<Value<'a>, Error> {
        self.count(1)?;
        Ok(match value {
            Value::Map(map) => {
                let mut kept = Vec::with_capacity(map.len());
                for (key, value) in map.entries() {
                    if !value.is_null() {
                        kept.push((*key, self.without_nulls(*value)?));
                    }
                }
                Value::Map(Map::from_entries(kept, self.arena))
            }
            Value::List(items) => {
                let items: Result<Vec<Value<'a>>, Error> = items.iter().map(|item| self.without_nulls(*item)).collect();
                Value::List(self.list(&items?))
            }
            scalar => scalar,
        })
    }

    /// Returns a value without the maps that have `$patch`; `None` if it is one (upstream: `removeDirectives`).
    fn without_directives(&self, value: Value<'a>) -> Result<Option<Value<'a>>, Error> {
        self.count(1)?;
        Ok(match value {
            Value::Map(map) if map.get(DIRECTIVE).is_some() => None,
            Value::Map(map) => {
                let mut kept = Vec::with_capacity(map.len());
                for (key, value) in map.entries() {
                    kept.extend(self.without_directives(*value)?.map(|value| (*key, value)));
                }
                Some(Value::Map(Map::from_entries(kept, self.arena)))
            }
            Value::List(items) => Some(Value::List(self.list_without_directives(items)?)),
            scalar => Some(scalar),
        })
    }

    fn list_without_directives(&self, items: &'a [Value<'a>]) -> Result<&'a [Value<'a>], Error> {
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            kept.extend(self.without_directives(*item)?);
        }
        Ok(self.list(&kept))
    }
}

fn unknown_directive(directive: Value<'_>, map: Map<'_>) -> Error {
    Error::Directive { directive: super::go::AsString(directive).to_string(), map: Plain(Value::Map(map)).to_string() }
}

/// Returns the field of a directive such as `$setElementOrder/ports` (upstream: `extractKey`).
fn field_of<'k>(key: &'k str, directive: &str) -> Option<&'k str> {
    key.strip_prefix(directive)?.strip_prefix('/')
}

/// Handles the items with `$patch`: deletes items of the list. Returns the other items, and whether they replace the
/// list (upstream: `mergeSliceWithSpecialElements`).
fn special<'a>(array: &mut Array<'a>, patch: &[Value<'a>], key: &str) -> Result<(Vec<Value<'a>>, bool), Error> {
    let mut others = Vec::with_capacity(patch.len());
    let (mut gone, mut is_replaced) = (Vec::new(), false);
    for item in patch {
        let Value::Map(map) = item else { continue };
        match map.get(DIRECTIVE) {
            None => others.push(*item),
            Some(Value::String("delete")) => gone.push(map.get(key).ok_or_else(|| no_merge_key(*item, key))?),
            Some(Value::String("replace")) => is_replaced = true,
            Some(Value::String("merge")) => return Err(Error::MergingLists),
            Some(other) => return Err(unknown_directive(other, *map)),
        }
    }
    array.delete(&gone, key)?;
    Ok((others, is_replaced))
}

/// Checks that a list has its items in the order of `$setElementOrder` (upstream: `validatePatchWithSetOrderList`).
fn check_order<'a>(patch: &[Value<'a>], order: &[Value<'a>], key: &str) -> Result<(), Error> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut items = Vec::with_capacity(patch.len());
    for item in patch {
        if !key.is_empty() && item.as_map().is_none() {
            return Err(super::list::wrong_map(*item));
        }
        items.push(*item);
    }
    if !key.is_empty() {
        items.retain(|item| !super::list::is_deleted(item));
    }
    let is_directive = |item: &Value<'a>| item.get(DIRECTIVE).is_some();
    let (mut at, mut place) = (0, 0);
    while at < items.len() && place < order.len() {
        if is_directive(&items[at]) {
            at += 1;
            continue;
        }
        if is_same_item(items[at], order[place], key)? {
            at += 1;
        }
        place += 1;
    }
    if at < items.len() && place >= order.len() {
        let text = |list: &[Value<'a>]| Plain(Value::List(list)).to_string();
        return Err(Error::ElementOrder { patch: text(patch), order: text(order) });
    }
    Ok(())
}

/// Returns whether two items are the same one (upstream: `mergeKeyValueEqual`).
pub(super) fn is_same_item<'a>(a: Value<'a>, b: Value<'a>, key: &str) -> Result<bool, Error> {
    let value = |item: Value<'a>| match item {
        _ if key.is_empty() => Ok(item),
        Value::Map(map) => map.get(key).ok_or_else(|| no_merge_key(item, key)),
        other => Err(super::list::wrong_map(other)),
    };
    let is_map = |item: Value<'a>| key.is_empty() || item.as_map().is_some();
    if !is_map(a) || !is_map(b) {
        return Err(super::list::wrong_map(if is_map(a) { b } else { a }));
    }
    let (a, b) = (value(a)?, value(b)?);
    Ok(Places::of([Some(a)]).find(b)?.is_some())
}
