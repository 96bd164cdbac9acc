//! Path elements of list items (upstream `listItemToPathElement`).

use super::nodes::{Items, KeyDefault, List, Tables, Text};
use crate::Bump;
use crate::fieldpath::PathElement;
use crate::value::{Map, Value};

/// The path element of an item and the item's index in its list.
pub(super) type Indexed<'a> = (PathElement<'a>, u32);

/// Why an item has no path element.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoElement {
    NotAssociative,
    KeyedNull,
    KeyedNoMap,
    OmitsKeys,
    NoDefault(Text, KeyDefault),
    SetOfMaps,
    SetOfLists,
    SetOfNulls,
}

impl NoElement {
    /// Returns upstream's message.
    pub(super) fn message(self, at: usize, list: &List, tables: &Tables) -> String {
        let why = match self {
            NoElement::NotAssociative => "invalid indexing of non-associative list",
            NoElement::KeyedNull => "associative list with keys may not have a null element",
            NoElement::KeyedNoMap => "associative list with keys may not have non-map elements",
            NoElement::SetOfMaps => "associative list without keys has an element that's a map type",
            NoElement::SetOfLists => "not supported: associative list with lists as elements",
            NoElement::SetOfNulls => "associative list without keys has an element that's an explicit null",
            NoElement::OmitsKeys => {
                let mut keys: Vec<_> = list.keys.of(&tables.keys).iter().collect();
                keys.sort_by_key(|key| key.listed);
                let keys: Vec<_> =
                    keys.into_iter().map(|key| Value::String(tables.str(key.name)).to_string()).collect();
                return format!(
                    "element {at}: associative list with keys has an element that omits all key fields [{}] (and \
                     doesn't have default values for any key fields)",
                    keys.join(" "),
                );
            }
            NoElement::NoDefault(name, why) => {
                let name = tables.str(name);
                return match why {
                    KeyDefault::NoType => {
                        format!("element {at}: couldn't find default value for {name}: invalid elementType for list")
                    }
                    _ => format!(
                        "element {at}: couldn't find default value for {name}: associative list may not have non-map \
                         types"
                    ),
                };
            }
        };
        format!("element {at}: {why}")
    }
}

/// Builds path elements, with one buffer for all keys of a walk.
#[derive(Debug)]
pub(super) struct Elements<'a> {
    tables: &'a Tables,
    arena: &'a Bump,
    fields: Vec<(&'a str, Value<'a>)>,
}

impl<'a> Elements<'a> {
    pub(super) fn new(tables: &'a Tables, arena: &'a Bump) -> Self {
        Elements { tables, arena, fields: Vec::new() }
    }

    /// Returns the path element of an item, allocated in the arena.
    #[inline]
    pub(super) fn of(&mut self, list: &List, item: Value<'a>) -> Result<PathElement<'a>, NoElement> {
        match list.items {
            Items::Keyed => {
                self.key(list, item)?;
                Ok(PathElement::Key(self.arena.alloc_slice_copy(&self.fields)))
            }
            Items::Set => set_item(item),
            Items::Atomic | Items::Unknown => Err(NoElement::NotAssociative),
        }
    }

    /// Returns the path element of an item. It is valid until the next one is built.
    #[inline]
    pub(super) fn lend(&mut self, list: &List, item: Value<'a>) -> Result<PathElement<'_>, NoElement> {
        match list.items {
            Items::Keyed => {
                self.key(list, item)?;
                Ok(PathElement::Key(&self.fields))
            }
            Items::Set => set_item(item),
            Items::Atomic | Items::Unknown => Err(NoElement::NotAssociative),
        }
    }

    /// Checks that an item has a path element.
    #[inline]
    pub(super) fn check(&self, list: &List, item: Value<'a>) -> Result<(), NoElement> {
        match list.items {
            Items::Keyed => {
                let item = keyed_item(item)?;
                let mut any = false;
                for key in list.keys.of(&self.tables.keys) {
                    any |= match key.default {
                        _ if item.get(self.tables.str(key.name)).is_some() => true,
                        KeyDefault::None => false,
                        KeyDefault::Value(_) => true,
                        KeyDefault::NoType | KeyDefault::NoMap => return Err(self.no_default(list, item)),
                    };
                }
                if any { Ok(()) } else { Err(NoElement::OmitsKeys) }
            }
            Items::Set => set_item(item).map(|_| ()),
            Items::Atomic | Items::Unknown => Err(NoElement::NotAssociative),
        }
    }

    /// Collects the key fields that an item has, or that have a default, in the order of their names.
    fn key(&mut self, list: &List, item: Value<'a>) -> Result<(), NoElement> {
        let item = keyed_item(item)?;
        self.fields.clear();
        for key in list.keys.of(&self.tables.keys) {
            let name = self.tables.str(key.name);
            let value = match (item.get(name), key.default) {
                (Some(value), _) => value,
                (None, KeyDefault::None) => continue,
                (None, KeyDefault::Value(at)) => match self.tables.defaults.get(at as usize) {
                    Some(default) => default.value(self.arena),
                    None => continue,
                },
                (None, KeyDefault::NoType | KeyDefault::NoMap) => return Err(self.no_default(list, item)),
            };
            self.fields.push((name, value));
        }
        if self.fields.is_empty() { Err(NoElement::OmitsKeys) } else { Ok(()) }
    }

    /// If several keys have no place for a default, upstream names the one that the schema lists first.
    #[cold]
    fn no_default(&self, list: &List, item: Map<'a>) -> NoElement {
        let keys = list.keys.of(&self.tables.keys).iter();
        let absent = keys.filter(|key| item.get(self.tables.str(key.name)).is_none());
        absent
            .min_by_key(|key| key.listed)
            .map_or(NoElement::OmitsKeys, |key| NoElement::NoDefault(key.name, key.default))
    }
}

#[inline]
fn keyed_item(item: Value<'_>) -> Result<Map<'_>, NoElement> {
    match item {
        Value::Map(map) => Ok(map),
        Value::Null => Err(NoElement::KeyedNull),
        _ => Err(NoElement::KeyedNoMap),
    }
}

#[inline]
fn set_item(item: Value<'_>) -> Result<PathElement<'_>, NoElement> {
    match item {
        Value::Map(_) => Err(NoElement::SetOfMaps),
        Value::List(_) => Err(NoElement::SetOfLists),
        Value::Null => Err(NoElement::SetOfNulls),
        scalar => Ok(PathElement::Value(scalar)),
    }
}

/// Sorts by element. Items with equal elements keep their order. Lists that are already sorted cost one comparison per
/// item.
#[inline]
pub(super) fn sort(indexed: &mut [Indexed<'_>]) {
    if !indexed.is_sorted_by(|a, b| a.0 < b.0) {
        indexed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
    }
}

/// Returns how many of the sorted items have the element of the first.
#[inline]
pub(super) fn run(indexed: &[Indexed<'_>]) -> usize {
    let Some(first) = indexed.first() else { return 0 };
    1 + indexed[1..].iter().take_while(|other| other.0 == first.0).count()
}
