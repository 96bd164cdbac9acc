//! One view of the two kinds of objects that expressions read: [`Data`] and [`kubeshape_value::Value`].

use crate::data::Data;
use kubeshape_value::Map as ObjectMap;
use kubeshape_value::Value as Object;
use std::borrow::Cow;

/// A value of an object, before a schema gives it a type. It is small and borrows everything.
///
/// Unlike in expressions, an integer never equals a float, as in Go's `reflect.DeepEqual`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Raw<'a> {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// A number without decimal point or exponent.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    String(&'a str),
    /// A list.
    List(Items<'a>),
    /// An object.
    Map(Fields<'a>),
}

/// The items of a list of an object.
#[derive(Clone, Copy, Debug)]
pub enum Items<'a> {
    /// Items of [`Data`].
    Data(&'a [Data<'a>]),
    /// Items of a value of structured merge diff.
    Object(&'a [Object<'a>]),
}

/// The fields of an object, sorted by name.
#[derive(Clone, Copy, Debug)]
pub enum Fields<'a> {
    /// Fields of [`Data`].
    Data(&'a [(Cow<'a, str>, Data<'a>)]),
    /// Fields of a value of structured merge diff.
    Object(ObjectMap<'a>),
}

impl<'a> From<&'a Data<'a>> for Raw<'a> {
    fn from(data: &'a Data<'a>) -> Raw<'a> {
        match data {
            Data::Null => Raw::Null,
            Data::Bool(b) => Raw::Bool(*b),
            Data::Int(i) => Raw::Int(*i),
            Data::Float(f) => Raw::Float(*f),
            Data::String(text) => Raw::String(text),
            Data::List(items) => Raw::List(Items::Data(items)),
            Data::Map(entries) => Raw::Map(Fields::Data(entries)),
        }
    }
}

impl<'a> From<Object<'a>> for Raw<'a> {
    #[inline]
    fn from(object: Object<'a>) -> Raw<'a> {
        match object {
            Object::Null => Raw::Null,
            Object::Bool(b) => Raw::Bool(b),
            Object::Int(i) => Raw::Int(i),
            Object::Float(f) => Raw::Float(f),
            Object::String(text) => Raw::String(text),
            Object::List(items) => Raw::List(Items::Object(items)),
            Object::Map(map) => Raw::Map(Fields::Object(map)),
        }
    }
}

impl Raw<'_> {
    /// Returns Go's name for the type of the value.
    pub(crate) fn go_type(self) -> &'static str {
        match self {
            Raw::Null => "<nil>",
            Raw::Bool(_) => "bool",
            Raw::Int(_) => "int64",
            Raw::Float(_) => "float64",
            Raw::String(_) => "string",
            Raw::List(_) => "[]interface {}",
            Raw::Map(_) => "map[string]interface {}",
        }
    }
}

impl<'a> Items<'a> {
    /// Returns the number of items.
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Items::Data(items) => items.len(),
            Items::Object(items) => items.len(),
        }
    }

    /// Returns whether there are no items.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns an item.
    #[inline]
    pub fn get(self, index: usize) -> Option<Raw<'a>> {
        match self {
            Items::Data(items) => items.get(index).map(Raw::from),
            Items::Object(items) => items.get(index).map(|item| Raw::from(*item)),
        }
    }

    /// Iterates over the items.
    pub fn iter(self) -> impl Iterator<Item = Raw<'a>> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }
}

impl PartialEq for Items<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other.iter()).all(|(a, b)| a == b)
    }
}

impl<'a> Fields<'a> {
    /// Returns the number of fields.
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Fields::Data(fields) => fields.len(),
            Fields::Object(map) => map.entries().len(),
        }
    }

    /// Returns whether there are no fields.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a field.
    #[inline]
    pub fn get(self, name: &str) -> Option<Raw<'a>> {
        match self {
            Fields::Data(fields) => Data::find(fields, name).map(Raw::from),
            Fields::Object(map) => map.get(name).map(Raw::from),
        }
    }

    fn at(self, index: usize) -> Option<(&'a str, Raw<'a>)> {
        match self {
            Fields::Data(fields) => fields.get(index).map(|(name, value)| (name.as_ref(), Raw::from(value))),
            Fields::Object(map) => map.entries().get(index).map(|(name, value)| (*name, Raw::from(*value))),
        }
    }

    /// Iterates over names and values, sorted by name.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, Raw<'a>)> {
        (0..self.len()).filter_map(move |index| self.at(index))
    }
}

impl PartialEq for Fields<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other.iter()).all(|(a, b)| a == b)
    }
}
