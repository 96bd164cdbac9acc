//! Lists with Go's memory layout.
//!
//! Upstream deletes and appends items in the memory of the old list and reads the old list afterwards, as the order of
//! the items that only the server has. So the order of a result depends on the remaining contents of that memory.

use super::Error;
use super::go::Places;
use kubeshape_smd::Value;

/// The length from which on the memory of a list grows more slowly.
const SLOW_GROWTH: usize = 512;
/// The bytes of an item, and of a page.
const ITEM: usize = 16;
const PAGE: usize = 8192;

/// Returns the capacity of a list with `len` items (Go: `nextslicecap`, with only the largest size classes).
pub(super) fn capacity(len: usize) -> usize {
    if len <= SLOW_GROWTH {
        return len.next_power_of_two();
    }
    let mut capacity = SLOW_GROWTH;
    while capacity < len {
        let wanted = capacity + (capacity + 3 * 256) / 4;
        capacity = (wanted * ITEM).next_multiple_of(PAGE) / ITEM;
    }
    capacity
}

/// A list that changes, and the memory of the old one.
#[derive(Debug)]
pub(super) struct Array<'a> {
    items: Vec<Value<'a>>,
    memory: Vec<Value<'a>>,
}

impl<'a> Array<'a> {
    pub(super) fn new(items: &[Value<'a>]) -> Array<'a> {
        Array { items: items.to_vec(), memory: items.to_vec() }
    }

    pub(super) fn items(&self) -> &[Value<'a>] {
        &self.items
    }

    /// Returns the memory of the old list.
    pub(super) fn memory(&self) -> &[Value<'a>] {
        &self.memory
    }

    pub(super) fn set(&mut self, at: usize, item: Value<'a>) {
        for list in [&mut self.items, &mut self.memory] {
            if let Some(place) = list.get_mut(at) {
                *place = item;
            }
        }
    }

    pub(super) fn push(&mut self, item: Value<'a>) {
        if let Some(place) = self.memory.get_mut(self.items.len()) {
            *place = item;
        }
        self.items.push(item);
    }

    /// Deletes all items with one of some values of the merge key. Each deletion moves the following items, and leaves
    /// the last one where it was.
    ///
    /// # Errors
    /// A value cannot be compared.
    pub(super) fn delete(&mut self, values: &[Value<'a>], key: &str) -> Result<(), Error> {
        let of: Vec<Option<Value<'a>>> = self.items.iter().map(|item| item.get(key)).collect();
        let places = Places::of(of.iter().copied());
        // The items with the same value as the first one with it, in order.
        let mut same: Vec<Vec<usize>> = vec![Vec::new(); of.len()];
        for (at, value) in of.iter().enumerate() {
            if let Some(first) = value.and_then(|value| places.find(value).ok().flatten()) {
                same[first].push(at);
            }
        }
        let mut is_gone = vec![false; of.len()];
        let (mut end, mut left) = (of.len(), Vec::new());
        for value in values {
            let Some(first) = places.find(*value)? else { continue };
            for at in std::mem::take(&mut same[first]) {
                while end > 0 && is_gone[end - 1] {
                    end -= 1;
                }
                left.extend(end.checked_sub(1).map(|last| self.items[last]));
                is_gone[at] = true;
            }
        }
        let mut gone = is_gone.into_iter();
        self.items.retain(|_| gone.next() != Some(true));
        self.memory = self.items.iter().copied().chain(left.into_iter().rev()).collect();
        Ok(())
    }
}
