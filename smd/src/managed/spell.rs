//! Writes sets as values. Unchanged parts are reused from the value that the set was read from.

use crate::Bump;
use crate::fieldpath::{Entry, PathElement, Set, SetError};
use crate::value::{Compat, Map, Value};

/// Writes sets as `fieldsV1`.
pub(super) struct Speller<'a> {
    compat: Compat,
    arena: &'a Bump,
    /// The members of all open nodes, innermost last.
    members: Vec<(&'a str, Value<'a>)>,
    text: Vec<u8>,
}

impl<'a> Speller<'a> {
    pub(super) fn new(compat: Compat, arena: &'a Bump) -> Self {
        Speller { compat, arena, members: Vec::new(), text: Vec::new() }
    }

    /// Returns the value of a set. It reuses the parts of `old` that are written correctly, or all of `old` if nothing
    /// changed.
    pub(super) fn set(&mut self, set: Set<'a>, old: Option<Map<'a>>) -> Result<Value<'a>, SetError> {
        match old {
            Some(old) if self.is_spelled(set, false, old)? => Ok(Value::Map(old)),
            old => self.node(set, false, old),
        }
    }

    /// Returns whether a map is the value of a set. Most entries have not changed since they were read, and need
    /// nothing else.
    fn is_spelled(&mut self, set: Set<'a>, member: bool, old: Map<'a>) -> Result<bool, SetError> {
        let mut next = old.entries().iter();
        if set.entries().len() + usize::from(member) != next.len() {
            return Ok(false);
        }
        if member && !next.next().is_some_and(|(key, below)| *key == "." && is_empty(*below)) {
            return Ok(false);
        }
        // Strings are rarely in another order than their elements. The slower function handles this.
        for (entry, (key, below)) in set.entries().iter().zip(next) {
            let same = match entry.element {
                PathElement::FieldName(name) => is_field(key, name),
                element => {
                    self.text.clear();
                    element.write_as(self.compat, &mut self.text)?;
                    key.as_bytes() == self.text
                }
            };
            let same = same
                && match below {
                    _ if entry.children.is_empty() => is_empty(*below),
                    Value::Map(below) => self.is_spelled(entry.children, entry.member, *below)?,
                    _ => false,
                };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `member`: whether the path that ends here is in the set, if that must be written.
    fn node(&mut self, set: Set<'a>, member: bool, old: Option<Map<'a>>) -> Result<Value<'a>, SetError> {
        let old = old.unwrap_or(Map::EMPTY);
        let mark = self.members.len();
        let mut same = set.entries().len() + usize::from(member) == old.len();
        if member {
            // Readers ignore the value of ".", but it is written empty.
            same &= old.get(".").is_some_and(is_empty);
            self.members.push((".", Value::Map(Map::EMPTY)));
        }
        let mut guess = usize::from(member);
        for entry in set.entries() {
            let (key, below, next) = self.key(entry.element, old, guess)?;
            guess = next;
            let value = self.below(entry, below)?;
            same &= below.is_some_and(|below| is_same(below, value));
            self.members.push((key, value));
        }
        let value = if same { old } else { self.make(mark) };
        self.members.truncate(mark);
        Ok(Value::Map(value))
    }

    fn below(&mut self, entry: &Entry<'a>, old: Option<Value<'a>>) -> Result<Value<'a>, SetError> {
        if entry.children.is_empty() {
            return Ok(Value::Map(Map::EMPTY));
        }
        self.node(entry.children, entry.member, old.and_then(Value::as_map))
    }

    /// Returns the string form of an element, the value below it in the old map, and where the next element is likely
    /// to be: strings in the order of elements are mostly in the order of their bytes.
    fn key(
        &mut self,
        element: PathElement<'a>,
        old: Map<'a>,
        guess: usize,
    ) -> Result<(&'a str, Option<Value<'a>>, usize), SetError> {
        let next = old.entries().get(guess);
        if let (PathElement::FieldName(name), Some((key, value))) = (element, next)
            && is_field(key, name)
        {
            return Ok((key, Some(*value), guess + 1));
        }
        self.text.clear();
        element.write_as(self.compat, &mut self.text)?;
        if let Some((key, value)) = next
            && key.as_bytes() == self.text
        {
            return Ok((key, Some(*value), guess + 1));
        }
        let at = old.entries().partition_point(|(key, _)| key.as_bytes() < self.text.as_slice());
        match old.entries().get(at) {
            Some((key, value)) if key.as_bytes() == self.text => Ok((key, Some(*value), at + 1)),
            // It would be here: the string that is here now most likely comes next.
            _ => Ok((self.arena.alloc_str(std::str::from_utf8(&self.text).unwrap_or_default()), None, at)),
        }
    }

    /// Returns the map of the members from the mark on.
    fn make(&mut self, mark: usize) -> Map<'a> {
        let members = &mut self.members[mark..];
        if members.is_sorted_by(|a, b| a.0 < b.0) {
            Map::sorted(self.arena.alloc_slice_copy(members))
        } else {
            // Two elements can have the same string form only if they print alike, as an integer and its float do.
            Map::from_entries(members.to_vec(), self.arena)
        }
    }
}

/// Returns whether a string is that of a field. The name is often a slice of the string, because the set was read from
/// it.
fn is_field(key: &str, name: &str) -> bool {
    key.strip_prefix("f:").is_some_and(|known| std::ptr::eq(known, name) || known == name)
}

fn is_empty(value: Value<'_>) -> bool {
    value.as_map().is_some_and(Map::is_empty)
}

/// Returns whether both are the same map in memory.
fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && (a.is_empty() || std::ptr::eq(a.entries().as_ptr().cast::<()>(), b.entries().as_ptr().cast()))
        }
        _ => false,
    }
}
