//! Prunes in one walk: computes what is left of an object when its applier stops applying fields (upstream
//! `Updater.prune`).
//!
//! Upstream removes three sets, and needs several walks over the object to build each of them: (1) all fields that were
//! applied last time, (2) of the merged object, all fields that (1) removed and no manager owns, (3) of the merged
//! object, all fields that (2) removed and that were applied last time. Whether a removal affects a field depends on
//! the fields below it, and removing a field removes the fields below it. So the fields below and the fields above
//! decide all three removals of a field. This walk follows the fields that were applied last time through the merged
//! object. It visits other fields only to find out whether a struct has any field left.
//!
//! A removal can also rename an item of a list, by removing a key, or make it null, so that it has no path element.
//! Lists can have duplicate items, and values can be of another kind than their types. These cases are rare, and only
//! upstream's steps define their results. Then this module gives no result ([`Intricate`]), and the caller follows the
//! steps.

use super::TypedValue;
use super::items::Elements;
use super::nodes::{Items, KeyDefault, List, MapOf, Node, Shape, Tables};
use crate::Bump;
use crate::fieldpath::{Entry, PathElement, Set, order};
use crate::value::{Map, Value};
use std::ops::Range;

/// Only upstream's steps can decide the result.
#[derive(Clone, Copy, Debug)]
struct Intricate;

impl<'a> TypedValue<'a> {
    /// Returns the value without the fields of `last` that are in none of the `owned` sets, and without the fields
    /// below those that no manager owns. Fails if only upstream's steps can decide it.
    pub(crate) fn prune(
        self,
        last: Set<'a>,
        owned: impl Iterator<Item = Set<'a>>,
        arena: &'a Bump,
    ) -> Option<TypedValue<'a>> {
        let value = self.value()?;
        let tables = &self.ty().types.tables;
        let node = self.ty().node();
        let mut walk = Walk {
            tables,
            arena,
            elements: Elements::new(tables, arena),
            owned: owned.filter(|set| !set.is_empty()).collect(),
            changed: Vec::new(),
        };
        let place = Place { last, owned: 0..walk.owned.len(), cut: true, dropped: false, judge: false };
        let left = walk.inside(Kind::of(value, node), &place).ok()?;
        Some(match left.changed {
            Some(value) => TypedValue::unvalidated(Some(value), self.ty()),
            None => self,
        })
    }
}

/// The kinds of values in this walk.
#[derive(Clone, Copy)]
enum Kind<'a> {
    /// A field of its own, without fields below it.
    Leaf,
    /// Null or a map without entries, for which the field above answers.
    Hollow,
    /// A list without items. It is not a field.
    Bare,
    Map(Map<'a>, &'a MapOf),
    List(&'a [Value<'a>], &'a List),
    /// A value that does not match its type.
    Odd,
}

impl<'a> Kind<'a> {
    #[inline]
    fn of(value: Value<'a>, node: &'a Node) -> Kind<'a> {
        match node.shape(node.choose(Some(value))) {
            Shape::Scalar(_) => Kind::Leaf,
            Shape::Map(of) => match value {
                _ if of.atomic => Kind::Leaf,
                Value::Null => Kind::Hollow,
                Value::Map(map) if map.is_empty() => Kind::Hollow,
                Value::Map(map) => Kind::Map(map, of),
                _ => Kind::Odd,
            },
            Shape::List(list) => match (list.items, value) {
                (Items::Atomic, _) => Kind::Leaf,
                (Items::Unknown, _) => Kind::Odd,
                (_, Value::Null) => Kind::Hollow,
                (_, Value::List([])) => Kind::Bare,
                (_, Value::List(items)) => Kind::List(items, list),
                _ => Kind::Odd,
            },
            Shape::None => Kind::Odd,
        }
    }
}

/// The position of the walk.
#[derive(Clone)]
struct Place<'a> {
    /// The fields below that were applied last time.
    last: Set<'a>,
    /// The fields below that managers own, in [`Walk::owned`].
    owned: Range<usize>,
    /// The first removal reaches into this value. Otherwise it removed all of it.
    cut: bool,
    /// The second removal removed all of this value.
    dropped: bool,
    /// Whether the walk must find out if a field is left.
    judge: bool,
}

/// What is left below a position. The last three are known if they are needed, see [`Place::judge`]. If nothing was
/// kept, the last two are known.
#[derive(Clone, Copy, Default)]
struct Left<'a> {
    /// The value after the third removal, if it changes.
    changed: Option<Value<'a>>,
    /// After the second removal there is a field.
    kept: bool,
    /// The second removal removed something.
    taken: bool,
    /// After the second removal there is an entry or item, whether or not it is a field.
    remains: bool,
}

/// An entry of a map, or an item of a list.
#[derive(Clone, Copy)]
struct Child<'a> {
    /// Its index among its siblings.
    at: usize,
    value: Value<'a>,
    node: &'a Node,
    of: Of<'a>,
}

/// The relation of a child to its parent.
#[derive(Clone, Copy)]
enum Of<'a> {
    /// The parent is a struct that declares it: it is a field if one is below it.
    Declared,
    /// The parent is a map, and the key is not declared.
    Undeclared,
    Item(&'a List),
}

struct Walk<'a> {
    tables: &'a Tables,
    arena: &'a Bump,
    elements: Elements<'a>,
    /// The sets of the managers at all positions above, innermost last.
    owned: Vec<Set<'a>>,
    /// The entries and items that change, at all positions above, innermost last: their index and their new value.
    changed: Vec<(usize, Option<Value<'a>>)>,
}

impl<'a> Walk<'a> {
    fn inside(&mut self, kind: Kind<'a>, place: &Place<'a>) -> Result<Left<'a>, Intricate> {
        match kind {
            Kind::Map(map, of) => self.map(map, of, place),
            Kind::List(items, list) => self.list(items, list, place),
            _ => Err(Intricate),
        }
    }

    fn map(&mut self, map: Map<'a>, of: &'a MapOf, place: &Place<'a>) -> Result<Left<'a>, Intricate> {
        let mut left = Left::default();
        let mark = self.changed.len();
        let entries = map.entries();
        let mut fields = self.tables.cursor(of);
        let mut from = 0;
        for entry in place.last.entries() {
            // Field names come first among elements.
            let PathElement::FieldName(name) = entry.element else { break };
            match find(&entries[from..], name) {
                Ok(at) => from += at,
                Err(at) => {
                    from += at;
                    continue;
                }
            }
            let (at, value) = (from, entries[from].1);
            from += 1;
            let field = fields.find(name);
            self.visit(self.entry(at, value, field, of), entry, 0, place, &mut left)?;
        }
        if place.judge && !left.kept {
            let mut fields = self.tables.cursor(of);
            for (at, (name, value)) in entries.iter().enumerate() {
                let element = PathElement::FieldName(name);
                let field = fields.find(name);
                if place.last.entry(element).is_some() {
                    continue;
                }
                self.visit(self.entry(at, *value, field, of), &unapplied(element), 0, place, &mut left)?;
                if left.kept {
                    break;
                }
            }
        }
        if self.changed.len() > mark {
            let kept = rebuilt(self.changed.drain(mark..), entries, |(name, _), value| (name, value), self.arena);
            left.changed = Some(if kept.is_empty() { Value::Null } else { Value::Map(Map::sorted(kept)) });
        }
        Ok(left)
    }

    fn list(&mut self, items: &'a [Value<'a>], list: &'a List, place: &Place<'a>) -> Result<Left<'a>, Intricate> {
        let mut left = Left::default();
        let mark = self.changed.len();
        let entries = place.last.entries();
        let met = self.arena.alloc_slice_fill_copy(entries.len(), false);
        let mut expected = 0;
        // If a manager owns an item but not its keys, the item is renamed, maybe to that of an applied item.
        let renames = list.items == Items::Keyed && !place.cut && !place.dropped;
        if !entries.is_empty() {
            for (at, item) in items.iter().enumerate() {
                let child = Child { at, value: *item, node: self.tables.node(list.element), of: Of::Item(list) };
                let element = self.elements.lend(list, *item).map_err(|_| Intricate)?;
                if let Some(found) = position(entries, &element, expected) {
                    expected = found + 1;
                    if std::mem::replace(&mut met[found], true) {
                        return Err(Intricate);
                    }
                    self.visit(child, &entries[found], found, place, &mut left)?;
                } else if renames {
                    let element = self.elements.of(list, *item).map_err(|_| Intricate)?;
                    self.visit(child, &unapplied(element), 0, place, &mut left)?;
                }
            }
        }
        if place.judge && !left.kept && (entries.is_empty() || !renames) {
            for (at, item) in items.iter().enumerate() {
                let child = Child { at, value: *item, node: self.tables.node(list.element), of: Of::Item(list) };
                let element = self.elements.of(list, *item).map_err(|_| Intricate)?;
                if place.last.entry(element).is_none() {
                    self.visit(child, &unapplied(element), 0, place, &mut left)?;
                }
                if left.kept {
                    break;
                }
            }
        }
        if self.changed.len() > mark {
            let kept = rebuilt(self.changed.drain(mark..), items, |_, value| value, self.arena);
            left.changed = Some(if kept.is_empty() { Value::Null } else { Value::List(kept) });
        }
        Ok(left)
    }

    fn entry(&self, at: usize, value: Value<'a>, field: Option<u32>, map: &MapOf) -> Child<'a> {
        let of = if field.is_some() { Of::Declared } else { Of::Undeclared };
        Child { at, value, node: self.tables.node(field.unwrap_or(map.element)), of }
    }

    /// Records the result for a child: in `left` and, if it changes, in [`Walk::changed`].
    ///
    /// `entry` has what was applied of it. `hint` is where owners may have it.
    fn visit(
        &mut self,
        child: Child<'a>,
        entry: &Entry<'a>,
        hint: usize,
        place: &Place<'a>,
        left: &mut Left<'a>,
    ) -> Result<(), Intricate> {
        let mark = self.owned.len();
        let declared = matches!(child.of, Of::Declared);
        let mut owned = false;
        for at in place.owned.clone() {
            let Some(found) = lookup(self.owned[at].entries(), entry, hint) else { continue };
            owned |= is_member(found, declared);
            if !found.children.is_empty() {
                self.owned.push(found.children);
            }
        }
        let below = Place {
            last: entry.children,
            owned: mark..self.owned.len(),
            cut: place.cut && !is_member(entry, declared),
            dropped: place.dropped,
            judge: false,
        };
        let visited = self.judge(child, entry, owned, below, place, left);
        self.owned.truncate(mark);
        visited
    }

    fn judge(
        &mut self,
        child: Child<'a>,
        entry: &Entry<'a>,
        owned: bool,
        mut below: Place<'a>,
        place: &Place<'a>,
        left: &mut Left<'a>,
    ) -> Result<(), Intricate> {
        let declared = matches!(child.of, Of::Declared);
        let applied = is_member(entry, declared);
        let kind = Kind::of(child.value, child.node);
        // The second removal also removes a field that the first one removed, if no manager owns it.
        let taken = !below.cut && !owned && self.is_field(kind, declared)?;
        below.dropped |= taken;
        if below.dropped {
            left.taken |= taken;
            if applied {
                // If it is not a field, there is none below it.
                if taken || self.is_field(kind, declared)? {
                    self.changed.push((child.at, None));
                }
                return Ok(());
            }
        } else {
            left.remains = true;
            if let Of::Item(list) = child.of {
                self.check_item(kind, list, &below)?;
            }
            below.judge = declared && !below.cut && (applied || place.judge);
        }
        let mut under = Left::default();
        let mut kept = !declared;
        match kind {
            Kind::Leaf | Kind::Hollow => kept = true,
            Kind::Bare => {}
            Kind::Odd => return Err(Intricate),
            Kind::Map(..) | Kind::List(..) => {
                if below.judge || !below.last.is_empty() {
                    under = self.inside(kind, &below)?;
                }
                // If everything below it is removed, null is left, which is a field.
                kept |= under.kept || (under.taken && !under.remains);
            }
        }
        if below.dropped {
            kept = false;
        }
        left.kept |= kept;
        left.taken |= under.taken;
        if applied && !kept && self.is_field(kind, declared)? {
            self.changed.push((child.at, None));
        } else if under.changed.is_some() {
            self.changed.push((child.at, under.changed));
        }
        Ok(())
    }

    /// Returns whether a child is a field or has one below it.
    fn is_field(&self, kind: Kind<'a>, declared: bool) -> Result<bool, Intricate> {
        match kind {
            Kind::Odd => Err(Intricate),
            _ if !declared => Ok(true),
            Kind::Leaf | Kind::Hollow | Kind::List(..) => Ok(true),
            Kind::Bare => Ok(false),
            Kind::Map(map, of) => {
                let mut fields = self.tables.cursor(of);
                for (name, value) in map.entries() {
                    let field = fields.find(name);
                    let node = self.tables.node(field.unwrap_or(of.element));
                    if self.is_field(Kind::of(*value, node), field.is_some())? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Checks that an item keeps its path element after each removal that does not remove all of it.
    fn check_item(&self, kind: Kind<'a>, list: &List, below: &Place<'a>) -> Result<(), Intricate> {
        let (map, of) = match kind {
            _ if list.items == Items::Set => return Ok(()),
            Kind::Map(map, of) => (map, of),
            // Without entries, an item can only be removed as a whole.
            _ if below.cut => return Err(Intricate),
            _ => return Ok(()),
        };
        let mut named = false;
        for key in list.keys.of(&self.tables.keys) {
            let name = self.tables.str(key.name);
            let Some(value) = map.get(name) else { continue };
            let field = self.tables.field(of, name);
            let node = self.tables.node(field.map_or(of.element, |field| field.node));
            if !matches!(Kind::of(value, node), Kind::Leaf | Kind::Hollow) {
                return Err(Intricate);
            }
            let element = PathElement::FieldName(name);
            let is_in = |set: &Set<'a>| set.entry(element).is_some_and(|entry| is_member(entry, field.is_some()));
            let applied = is_in(&below.last);
            let first = below.cut && applied;
            let second = (!below.cut || applied) && !self.owned[below.owned.clone()].iter().any(is_in);
            if !(first || second) {
                named = true;
            } else if !self.is_default(key.default, value) {
                return Err(Intricate);
            }
        }
        // Without a key that is left in it, the item may be null by now.
        if named { Ok(()) } else { Err(Intricate) }
    }

    fn is_default(&self, default: KeyDefault, value: Value<'a>) -> bool {
        match default {
            KeyDefault::Value(at) => {
                self.tables.defaults.get(at as usize).is_some_and(|default| default.value(self.arena) == value)
            }
            _ => false,
        }
    }
}

/// Returns an entry for an element that was not applied.
#[inline]
fn unapplied(element: PathElement<'_>) -> Entry<'_> {
    Entry::new(element, false, Set::EMPTY)
}

/// Returns whether the entry's path is in the set, after every struct field above a path of the set is added (upstream
/// `EnsureNamedFieldsAreMembers`).
#[inline]
fn is_member(entry: &Entry<'_>, declared: bool) -> bool {
    entry.member || (declared && !entry.children.is_empty())
}

/// Returns the entry of an element, which may be at `hint`.
#[inline]
fn lookup<'s, 'a>(entries: &'s [Entry<'a>], entry: &Entry<'_>, hint: usize) -> Option<&'s Entry<'a>> {
    if let Some(hinted) = entries.get(hint)
        && order(hinted, entry).is_eq()
    {
        return Some(hinted);
    }
    let at = entries.binary_search_by(|other| order(other, entry)).ok()?;
    entries.get(at)
}

#[inline]
fn position(entries: &[Entry<'_>], element: &PathElement<'_>, hint: usize) -> Option<usize> {
    if entries.get(hint).is_some_and(|entry| entry.element == *element) {
        return Some(hint);
    }
    let prefix = element.prefix();
    entries.binary_search_by(|entry| entry.prefix().cmp(&prefix).then_with(|| entry.element.cmp(element))).ok()
}

/// Returns where a key is among entries, or where it would be. It is often the first.
#[inline]
fn find(entries: &[(&str, Value<'_>)], name: &str) -> Result<usize, usize> {
    match entries.first() {
        Some((first, _)) if *first == name => Ok(0),
        _ => entries.binary_search_by(|(key, _)| (*key).cmp(name)),
    }
}

/// Returns the siblings without the removed ones, and with the changed ones. `changed` is in any order.
fn rebuilt<'a, T: Copy>(
    changed: impl Iterator<Item = (usize, Option<Value<'a>>)>,
    siblings: &[T],
    with: impl Fn(T, Value<'a>) -> T,
    arena: &'a Bump,
) -> &'a [T] {
    let mut changed: Vec<_> = changed.collect();
    changed.sort_unstable_by_key(|(at, _)| *at);
    let gone = changed.iter().filter(|(_, value)| value.is_none()).count();
    let mut kept = Vec::with_capacity(siblings.len().saturating_sub(gone));
    let mut from = 0;
    for (at, value) in changed {
        kept.extend_from_slice(&siblings[from..at]);
        kept.extend(value.map(|value| with(siblings[at], value)));
        from = at + 1;
    }
    kept.extend_from_slice(&siblings[from..]);
    arena.alloc_slice_copy(&kept)
}
