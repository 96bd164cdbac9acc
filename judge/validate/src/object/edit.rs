//! Changes of maps and of metadata. Maps are copied at the first change of an entry.

use super::equal::identical;
use bumpalo::collections::Vec;
use kubeshape_value::Map;
use kubeshape_value::{Bump, Value};

/// A map during a walk over its entries: for each entry in order, the walk reports its new value.
pub(crate) struct Entries<'a> {
    map: Map<'a>,
    arena: &'a Bump,
    /// The number of entries seen.
    seen: usize,
    /// The new entries, from the first change on.
    copy: Option<Vec<'a, (&'a str, Value<'a>)>>,
}

impl<'a> Entries<'a> {
    #[inline]
    pub(crate) fn of(map: Map<'a>, arena: &'a Bump) -> Entries<'a> {
        Entries { map, arena, seen: 0, copy: None }
    }

    /// Sets the value of the next entry.
    #[inline]
    pub(crate) fn put(&mut self, new: Value<'a>) {
        let Some((key, old)) = self.map.entries().get(self.seen) else { return };
        if self.copy.is_some() || !identical(new, *old) {
            self.copied().push((key, new));
        }
        self.seen += 1;
    }

    /// Keeps the next entry.
    #[inline]
    pub(super) fn keep(&mut self) {
        if let (Some(copy), Some(entry)) = (&mut self.copy, self.map.entries().get(self.seen)) {
            copy.push(*entry);
        }
        self.seen += 1;
    }

    /// Changes the value of the next entry.
    pub(super) fn change(&mut self, new: Value<'a>) {
        if let Some((key, _)) = self.map.entries().get(self.seen) {
            self.copied().push((key, new));
        }
        self.seen += 1;
    }

    /// Drops the next entry.
    pub(super) fn drop(&mut self) {
        self.copied();
        self.seen += 1;
    }

    /// Sets the value of the next entry; `None` drops it.
    #[inline]
    pub(super) fn put_or_drop(&mut self, new: Option<Value<'a>>) {
        match new {
            Some(new) => self.put(new),
            None => self.drop(),
        }
    }

    /// Adds an entry, after all others were seen.
    pub(super) fn add(&mut self, key: &'a str, value: Value<'a>) {
        self.copied().push((key, value));
    }

    /// Replaces the entry with this key, or adds one, after all others were seen.
    pub(super) fn replace(&mut self, key: &'a str, value: Value<'a>) {
        let copy = self.copied();
        match copy.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = value,
            None => copy.push((key, value)),
        }
    }

    /// Returns the map as a value: `unchanged` if nothing changed.
    #[inline]
    pub(crate) fn finish(self, unchanged: Value<'a>) -> Value<'a> {
        self.changed().map_or(unchanged, Value::Map)
    }

    /// Returns the map, if it changed.
    #[inline]
    pub(super) fn changed(self) -> Option<Map<'a>> {
        self.copy.map(|copy| Map::in_place(copy.into_bump_slice_mut()))
    }

    /// Returns the copy, which begins with the entries seen so far.
    fn copied(&mut self) -> &mut Vec<'a, (&'a str, Value<'a>)> {
        let Entries { map, arena, seen, copy } = self;
        copy.get_or_insert_with(|| {
            /// Additional capacity for defaults.
            const ROOM: usize = 4;
            let mut copy = Vec::with_capacity_in(map.len() + ROOM, arena);
            copy.extend_from_slice_copy(&map.entries()[..*seen]);
            copy
        })
    }
}

/// Returns the metadata of an object. `Null` if it is absent.
pub(crate) fn metadata_of(object: Value<'_>) -> Value<'_> {
    object.get("metadata").unwrap_or(Value::Null)
}

/// Returns an object with a member of its metadata set or removed.
pub(super) fn with_metadata<'a>(
    object: Value<'a>,
    key: &'a str,
    member: Option<Value<'a>>,
    arena: &'a Bump,
) -> Value<'a> {
    let metadata = match metadata_of(object) {
        Value::Null => Value::Map(Map::EMPTY),
        metadata => metadata,
    };
    set(object, "metadata", Some(set(metadata, key, member, arena)), arena)
}

/// Returns a map with a key set or removed.
pub(super) fn set<'a>(value: Value<'a>, key: &'a str, member: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    match value {
        Value::Map(map) => {
            let same = match (map.get(key), member) {
                (None, None) => true,
                (Some(old), Some(new)) => identical(old, new),
                _ => false,
            };
            if same { value } else { Value::Map(map.with(key, member, arena)) }
        }
        other => other,
    }
}
