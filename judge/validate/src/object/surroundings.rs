//! The objects around a value.

use kubeshape_value::{Bump, Map, Value};

/// The path from an object to a value in it.
pub(crate) enum Surroundings<'s> {
    Root,
    Field(&'s Surroundings<'s>, &'s str),
    Item(&'s Surroundings<'s>),
}

impl Surroundings<'_> {
    /// Returns the object around a value. `None` if the value is the object itself but not a mapping.
    pub(crate) fn around<'a>(&self, value: Value<'a>, arena: &'a Bump) -> Option<Value<'a>> {
        match self {
            Surroundings::Root => matches!(value, Value::Map(_)).then_some(value),
            Surroundings::Field(parent, name) => {
                let name: &'a str = arena.alloc_str(name);
                parent.around(Value::Map(Map::from_entries(vec![(name, value)], arena)), arena)
            }
            Surroundings::Item(parent) => parent.around(Value::List(arena.alloc_slice_copy(&[value])), arena),
        }
    }

    /// Returns the value of an object at this place.
    pub(crate) fn value_in<'a>(&self, object: Value<'a>) -> Option<Value<'a>> {
        match self {
            Surroundings::Root => Some(object),
            Surroundings::Field(parent, name) => parent.value_in(object)?.get(name),
            Surroundings::Item(parent) => parent.value_in(object)?.as_list()?.first().copied(),
        }
    }
}
