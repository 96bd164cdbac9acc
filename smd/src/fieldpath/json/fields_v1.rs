//! Sets in objects that are already values.

use super::super::build::Stack;
use super::super::set::Set;
use super::read::{parse, replace};
use super::{ElementError, SetError};
use crate::Bump;
use crate::value::{Compat, MAX_DEPTH, Map, Value};

impl<'a> Set<'a> {
    /// Reads a set that is already a value, such as the `fieldsV1` of an object.
    ///
    /// # Errors
    /// As for [`Set::read_json`]; the offset is 0.
    pub fn from_fields_v1(value: Value<'a>, arena: &'a Bump) -> Result<Set<'a>, SetError> {
        Self::from_fields_v1_as(value, Compat::default(), arena)
    }

    /// Does the same by the rules of one version.
    ///
    /// # Errors
    /// As for [`Set::read_json`]; the offset is 0.
    pub fn from_fields_v1_as(value: Value<'a>, compat: Compat, arena: &'a Bump) -> Result<Set<'a>, SetError> {
        let mut open = Open { compat, arena, stack: Stack::default(), fields: Vec::new() };
        open.node(value, MAX_DEPTH).map(|(set, _)| set).map_err(|message| SetError { message, at: 0 })
    }

    /// Returns the `fieldsV1` value of the set.
    ///
    /// # Errors
    /// A value in an element has a number that is not finite.
    pub fn to_fields_v1(self, arena: &'a Bump) -> Result<Value<'a>, SetError> {
        self.to_fields_v1_as(Compat::default(), arena)
    }

    /// Returns the `fieldsV1` value of the set as one version writes it.
    ///
    /// # Errors
    /// As for [`Set::to_fields_v1`].
    pub fn to_fields_v1_as(self, compat: Compat, arena: &'a Bump) -> Result<Value<'a>, SetError> {
        to_value(self, false, compat, arena, &mut Vec::new())
    }
}

/// The nodes that are being read.
struct Open<'a> {
    compat: Compat,
    arena: &'a Bump,
    stack: Stack<'a>,
    fields: Vec<(&'a str, Value<'a>)>,
}

impl<'a> Open<'a> {
    fn node(&mut self, value: Value<'a>, depth: usize) -> Result<(Set<'a>, bool), String> {
        let map = match value {
            Value::Map(map) => map,
            Value::Null => Map::EMPTY,
            _ => return Err("expected { or null".to_owned()),
        };
        if map.is_empty() {
            return Ok((Set::EMPTY, true));
        }
        let Some(depth) = depth.checked_sub(1) else { return Err("nested too deep".to_owned()) };
        let mark = self.stack.mark();
        let mut member = false;
        for (name, below) in map.entries() {
            if *name == "." {
                member = true;
                continue;
            }
            let element = match parse(name, self.compat, self.arena, &mut self.fields) {
                Ok(element) => element,
                Err(ElementError::Unknown) => continue,
                Err(error) => return Err(error.to_string()),
            };
            let (children, member) = self.node(*below, depth)?;
            self.stack.push(element, member, children);
        }
        let set = self.stack.close_with(mark, self.arena, replace);
        Ok((set, member || set.is_empty()))
    }
}

fn to_value<'a>(
    set: Set<'a>,
    member: bool,
    compat: Compat,
    arena: &'a Bump,
    text: &mut Vec<u8>,
) -> Result<Value<'a>, SetError> {
    let mut entries = Vec::with_capacity(set.entries().len() + 1);
    if member {
        entries.push((".", Value::Map(Map::EMPTY)));
    }
    for entry in set.entries() {
        text.clear();
        entry.element.write_as(compat, text)?;
        let key = std::str::from_utf8(text).map_err(|error| SetError { message: error.to_string(), at: 0 })?;
        let key = arena.alloc_str(key);
        let below = if entry.children.is_empty() {
            Value::Map(Map::EMPTY)
        } else {
            to_value(entry.children, entry.member, compat, arena, text)?
        };
        entries.push((key, below));
    }
    Ok(Value::Map(Map::from_entries(entries, arena)))
}
