//! Creates the patch between two objects (upstream: `diffMaps` and what it calls).

use super::Error;
use super::go::{Plain, deep_equal, same_type};
use super::list::{DIRECTIVE, Identity, Items, items_of, no_merge_key, sorted, wrong_map};
use super::merge::is_same_item;
use super::schema::{Field, Strategy, Type};
use super::sort;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The contents of a patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contents {
    /// The order of merged lists.
    pub(super) order: bool,
    /// New or different values.
    pub(super) changes: bool,
    /// Removed values.
    pub(super) deletions: bool,
}

/// Creates patches.
pub(super) struct Differ<'a> {
    arena: &'a Bump,
    /// Lists of scalars that were sorted, by the address of their first item: upstream sorts the lists of the old
    /// object in place, and sees that when it compares the object again.
    sorted: RefCell<Lists<'a>>,
    /// Whether objects are compared again, so that sorted lists are visible.
    is_again: bool,
}

type Members<'a> = BTreeMap<&'a str, Value<'a>>;

/// The difference of two lists.
#[derive(Default)]
struct ListDiff<'a> {
    patch: Vec<Value<'a>>,
    deleted: Vec<Value<'a>>,
    order: Vec<Value<'a>>,
}

/// An item with the value of its merge key, and that as Go prints it.
struct Item<'a> {
    item: Value<'a>,
    name: String,
}

impl<'a> Differ<'a> {
    pub(super) fn new(arena: &'a Bump) -> Differ<'a> {
        Differ { arena, sorted: RefCell::default(), is_again: false }
    }

    /// Compares the same objects again.
    pub(super) fn again(self) -> Differ<'a> {
        Differ { is_again: true, ..self }
    }

    /// Creates the patch between two maps. `retains` adds the list of members to keep.
    pub(super) fn maps(
        &self,
        old: Map<'a>,
        new: Map<'a>,
        of: Type<'_>,
        contents: Contents,
        retains: bool,
    ) -> Result<Map<'a>, Error> {
        let mut patch = Members::new();
        for (key, value) in new.entries() {
            match old.get(key) {
                Some(old) if *key == DIRECTIVE => {
                    patch.extend(changed_directive(old, *value)?.map(|value| (*key, value)));
                }
                Some(old) if same_type(old, *value) => self.member(key, old, *value, &mut patch, of, contents)?,
                _ if contents.changes => {
                    patch.insert(key, self.current(*value));
                }
                _ => {}
            }
        }
        let gone = || old.entries().iter().filter(|(key, _)| new.get(key).is_none());
        if contents.deletions {
            patch.extend(gone().map(|(key, _)| (*key, Value::Null)));
        }
        if retains {
            let mut kept: Vec<Value<'a>> = Vec::new();
            kept.extend(new.entries().iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| Value::String(key)));
            let loses = || gone().any(|(_, value)| !value.is_null());
            if !kept.is_empty() && (!patch.is_empty() || loses()) {
                patch.insert("$retainKeys", self.list(&kept));
            }
        }
        Ok(Map::from_entries(patch.into_iter().collect(), self.arena))
    }

    fn list(&self, items: &[Value<'a>]) -> Value<'a> {
        Value::List(self.arena.alloc_slice_copy(items))
    }

    /// Returns the items of a list, sorted if upstream sorted them in place.
    fn current_items(&self, items: &'a [Value<'a>]) -> &'a [Value<'a>] {
        if !self.is_again || items.is_empty() {
            return items;
        }
        self.sorted.borrow().get(&items.as_ptr().addr()).copied().unwrap_or(items)
    }

    /// Returns a value, with its lists as upstream left them.
    fn current(&self, value: Value<'a>) -> Value<'a> {
        if self.is_again { with_lists(value, &self.sorted.borrow(), self.arena) } else { value }
    }

    /// Adds the difference of a member whose two values have the same type.
    fn member(
        &self,
        key: &'a str,
        old: Value<'a>,
        new: Value<'a>,
        patch: &mut Members<'a>,
        of: Type<'_>,
        contents: Contents,
    ) -> Result<(), Error> {
        let replaced = |patch: &mut Members<'a>| {
            let (old, new) = (self.current(old), self.current(new));
            if contents.changes && !deep_equal(old, new) {
                patch.insert(key, new);
            }
        };
        let unless_equal = |error| if deep_equal(self.current(old), self.current(new)) { Ok(()) } else { Err(error) };
        match (old, new) {
            (Value::Map(old), Value::Map(new)) => {
                let field = match of.object_field(key) {
                    Ok(field) => field,
                    Err(error @ Error::Strategy(_)) => return Err(error),
                    Err(error) => return unless_equal(error),
                };
                if field.strategy == Strategy::Replace {
                    if contents.changes {
                        patch.insert(key, self.current(Value::Map(new)));
                    }
                    return Ok(());
                }
                let below = self.maps(old, new, field.below, contents, field.retains)?;
                if !below.is_empty() {
                    patch.insert(key, Value::Map(below));
                }
            }
            (Value::List(old), Value::List(new)) => {
                let field = match of.list_field(key) {
                    Ok(field) => field,
                    Err(error @ Error::Strategy(_)) => return Err(error),
                    Err(error) => return unless_equal(error),
                };
                if field.strategy != Strategy::Merge {
                    replaced(patch);
                    return Ok(());
                }
                let lists = self.lists(self.current_items(old), self.current_items(new), field, contents)?;
                let mut add = |key: &'a str, items: &[Value<'a>]| {
                    if !items.is_empty() {
                        patch.insert(key, self.list(items));
                    }
                };
                add(key, &lists.patch);
                add(self.arena.alloc_str(&format!("$deleteFromPrimitiveList/{key}")), &lists.deleted);
                add(self.arena.alloc_str(&format!("$setElementOrder/{key}")), &lists.order);
            }
            _ => replaced(patch),
        }
        Ok(())
    }

    /// Compares two lists whose items are merged (upstream: `diffLists`).
    fn lists(
        &self,
        old: &'a [Value<'a>],
        new: &'a [Value<'a>],
        field: Field<'_>,
        contents: Contents,
    ) -> Result<ListDiff<'a>, Error> {
        if old.is_empty() {
            let patch = if contents.changes { new.to_vec() } else { Vec::new() };
            return Ok(ListDiff { patch, ..ListDiff::default() });
        }
        let items = items_of(&[old, new])?;
        let identity = Identity { items, key: field.key };
        if items == Items::Scalars {
            let (old, patch, deleted) = self.scalars(old, new, contents);
            let is_changed = || !deep_equal(Value::List(old), Value::List(new));
            let has_order =
                contents.order && (contents.deletions && !deleted.is_empty() || contents.changes && is_changed());
            let patch = sorted(patch, new, identity)?;
            return Ok(ListDiff { patch, deleted, order: if has_order { new.to_vec() } else { Vec::new() } });
        }
        let (patch, deleted) = self.items(old, new, field, contents)?;
        let mut patch = sorted(patch, new, identity)?;
        let is_order_same = is_order_same(old, new, field.key)?;
        patch.extend(deleted);
        let is_patched = !patch.is_empty();
        let has_order =
            contents.order && (contents.changes && (is_patched || !is_order_same) || contents.deletions && is_patched);
        let mut order = Vec::new();
        if has_order {
            let key: &'a str = self.arena.alloc_str(field.key);
            let only_key = |item: &Value<'a>| {
                let value = item.get(key).unwrap_or(Value::Null);
                Value::Map(Map::from_entries(vec![(key, value)], self.arena))
            };
            order.extend(new.iter().map(only_key));
        }
        Ok(ListDiff { patch, deleted: Vec::new(), order })
    }

    /// Compares two lists of scalars. Returns the old list, which upstream sorts in place, the new items, and the
    /// removed ones (upstream: `diffListsOfScalars`).
    fn scalars(
        &self,
        old: &'a [Value<'a>],
        new: &'a [Value<'a>],
        contents: Contents,
    ) -> (&'a [Value<'a>], Vec<Value<'a>>, Vec<Value<'a>>) {
        let by_text = |list: &[Value<'a>]| {
            let mut list: Vec<(String, Value<'a>)> =
                list.iter().map(|item| (Plain(*item).to_string(), *item)).collect();
            list.sort_by(|a, b| a.0.cmp(&b.0));
            list
        };
        let (mut olds, mut news) = (by_text(old).into_iter().peekable(), by_text(new).into_iter().peekable());
        let sorted: Vec<Value<'a>> = olds.clone().map(|(_, item)| item).collect();
        let sorted = &*self.arena.alloc_slice_copy(&sorted);
        self.sorted.borrow_mut().insert(old.as_ptr().addr(), sorted);
        let (mut added, mut deleted) = (Vec::new(), Vec::new());
        loop {
            let order = match (olds.peek(), news.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.0.cmp(&new.0),
            };
            match order {
                Ordering::Less => deleted.extend(olds.next().map(|(_, item)| item)),
                Ordering::Greater => added.extend(news.next().map(|(_, item)| item)),
                Ordering::Equal => {
                    olds.next();
                    news.next();
                }
            }
        }
        if !contents.changes {
            added.clear();
        }
        if !contents.deletions {
            deleted.clear();
        }
        super::list::deduplicate(&mut deleted);
        (sorted, added, deleted)
    }

    /// Compares two lists of maps. Returns the items to merge, and directives that delete (upstream:
    /// `diffListsOfMaps`).
    fn items(
        &self,
        old: &'a [Value<'a>],
        new: &'a [Value<'a>],
        field: Field<'_>,
        contents: Contents,
    ) -> Result<(Vec<Value<'a>>, Vec<Value<'a>>), Error> {
        let key: &'a str = self.arena.alloc_str(field.key);
        let (mut patch, mut deleted) = (Vec::new(), Vec::new());
        let (mut olds, mut news) = (by_name(old, key).into_iter().peekable(), by_name(new, key).into_iter().peekable());
        loop {
            let order = match (olds.peek(), news.peek()) {
                (None, None) => break,
                (Some(old), None) => named(old, key).map(|_| Ordering::Less)?,
                (None, Some(new)) => named(new, key).map(|_| Ordering::Greater)?,
                (Some(old), Some(new)) => {
                    named(old, key)?;
                    named(new, key)?;
                    old.name.cmp(&new.name)
                }
            };
            let gone = if order == Ordering::Greater { None } else { olds.next() };
            let come = if order == Ordering::Less { None } else { news.next() };
            match (gone, come) {
                (Some(old), Some(new)) => {
                    let ((old, _), (new, value)) = (named(&old, key)?, named(&new, key)?);
                    let below = self.maps(old, new, field.below, contents, field.retains)?;
                    if !below.is_empty() {
                        patch.push(Value::Map(below.with(key, Some(value), self.arena)));
                    }
                }
                (None, Some(new)) if contents.changes => patch.push(self.current(new.item)),
                (Some(old), None) if contents.deletions => {
                    let (_, value) = named(&old, key)?;
                    let directive = Map::from_entries(vec![(DIRECTIVE, Value::String("delete"))], self.arena);
                    deleted.push(Value::Map(directive.with(key, Some(value), self.arena)));
                }
                _ => {}
            }
        }
        Ok((patch, deleted))
    }
}

/// Returns the new value of `$patch`, if it has changed (upstream: `handleDirectiveMarker`).
fn changed_directive<'a>(old: Value<'a>, new: Value<'a>) -> Result<Option<Value<'a>>, Error> {
    let (old, text) = (old.as_str().ok_or(Error::SpecialKey)?, new.as_str().ok_or(Error::SpecialKey)?);
    Ok((old != text).then_some(new))
}

/// Lists by the address of their first item.
pub(super) type Lists<'a> = BTreeMap<usize, &'a [Value<'a>]>;

/// Returns a value with some of its lists replaced.
pub(super) fn with_lists<'a>(value: Value<'a>, lists: &Lists<'a>, arena: &'a Bump) -> Value<'a> {
    match value {
        Value::List(items) => {
            if let Some(other) = lists.get(&items.as_ptr().addr()).filter(|_| !items.is_empty()) {
                return Value::List(other);
            }
            let items: Vec<Value<'a>> = items.iter().map(|item| with_lists(*item, lists, arena)).collect();
            Value::List(arena.alloc_slice_copy(&items))
        }
        Value::Map(map) => {
            let entries = map.entries().iter().map(|(key, value)| (*key, with_lists(*value, lists, arena))).collect();
            Value::Map(Map::from_entries(entries, arena))
        }
        scalar => scalar,
    }
}

/// Sorts items by their merge keys as Go prints them.
fn by_name<'a>(items: &'a [Value<'a>], key: &str) -> Vec<Item<'a>> {
    let name = |item: &Value<'a>| Plain(item.get(key).unwrap_or(Value::Null)).to_string();
    let mut items: Vec<Item<'a>> = items.iter().map(|item| Item { item: *item, name: name(item) }).collect();
    // Upstream's "less" is "not greater", which is visible in the order of items with the same key.
    sort::unstable(&mut items, |a, b| a.name <= b.name);
    items
}

/// Returns the map of an item, and the value of its merge key.
///
/// # Errors
/// It is not a map, or lacks the key.
fn named<'a>(item: &Item<'a>, key: &str) -> Result<(Map<'a>, Value<'a>), Error> {
    let map = item.item.as_map().ok_or_else(|| wrong_map(item.item))?;
    Ok((map, map.get(key).ok_or_else(|| no_merge_key(item.item, key))?))
}

fn is_order_same<'a>(old: &[Value<'a>], new: &[Value<'a>], key: &str) -> Result<bool, Error> {
    if old.len() != new.len() {
        return Ok(false);
    }
    for (old, new) in old.iter().zip(new) {
        if !is_same_item(*old, *new, key)? {
            return Ok(false);
        }
    }
    Ok(true)
}
