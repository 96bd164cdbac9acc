//! Maps that are copied when an entry changes, and not before.

use super::equal::identical;
use bumpalo::collections::Vec;
use kubeshape_value::Map;
use kubeshape_value::{Bump, Value};

/// The entries of a map while a walk goes over them: for each in order, what becomes of it.
pub(crate) struct Entries<'a> {
    map: Map<'a>,
    arena: &'a Bump,
    /// So many entries were seen.
    seen: usize,
    /// The entries, from the first change on.
    copy: Option<Vec<'a, (&'a str, Value<'a>)>>,
}

impl<'a> Entries<'a> {
    #[inline]
    pub(crate) fn of(map: Map<'a>, arena: &'a Bump) -> Entries<'a> {
        Entries { map, arena, seen: 0, copy: None }
    }

    /// The value of the next entry.
    #[inline]
    pub(crate) fn put(&mut self, new: Value<'a>) {
        let Some((key, old)) = self.map.entries().get(self.seen) else { return };
        if self.copy.is_some() || !identical(new, *old) {
            self.copied().push((key, new));
        }
        self.seen += 1;
    }

    /// The next entry stays as it is.
    #[inline]
    pub(super) fn keep(&mut self) {
        if let (Some(copy), Some(entry)) = (&mut self.copy, self.map.entries().get(self.seen)) {
            copy.push(*entry);
        }
        self.seen += 1;
    }

    /// The next entry has another value.
    pub(super) fn change(&mut self, new: Value<'a>) {
        if let Some((key, _)) = self.map.entries().get(self.seen) {
            self.copied().push((key, new));
        }
        self.seen += 1;
    }

    /// The next entry is dropped.
    pub(super) fn drop(&mut self) {
        self.copied();
        self.seen += 1;
    }

    /// The value of the next entry; none if it is dropped.
    #[inline]
    pub(super) fn put_or_drop(&mut self, new: Option<Value<'a>>) {
        match new {
            Some(new) => self.put(new),
            None => self.drop(),
        }
    }

    /// An entry that is added, after all others were seen.
    pub(super) fn add(&mut self, key: &'a str, value: Value<'a>) {
        self.copied().push((key, value));
    }

    /// An entry in place of the one with its key, or beside the others, after all of them were seen.
    pub(super) fn replace(&mut self, key: &'a str, value: Value<'a>) {
        let copy = self.copied();
        match copy.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = value,
            None => copy.push((key, value)),
        }
    }

    /// The map as a value: the given one, if nothing changed.
    #[inline]
    pub(crate) fn finish(self, unchanged: Value<'a>) -> Value<'a> {
        self.changed().map_or(unchanged, Value::Map)
    }

    /// The map, if it changed.
    #[inline]
    pub(super) fn changed(self) -> Option<Map<'a>> {
        self.copy.map(|copy| Map::in_place(copy.into_bump_slice_mut()))
    }

    /// The copy, which begins with the entries that were seen.
    fn copied(&mut self) -> &mut Vec<'a, (&'a str, Value<'a>)> {
        let Entries { map, arena, seen, copy } = self;
        copy.get_or_insert_with(|| {
            /// Room for defaults.
            const ROOM: usize = 4;
            let mut copy = Vec::with_capacity_in(map.len() + ROOM, arena);
            copy.extend_from_slice_copy(&map.entries()[..*seen]);
            copy
        })
    }
}
