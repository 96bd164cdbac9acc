//! Results of a template.

use kubeshape_value::GoText;
use kubeshape_value::Value;
use std::fmt::{self, Display, Formatter};

/// One result of a template: a value of the object, or a string or number of the template.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A value of the object.
    Value(Value<'a>),
    /// A string of the template.
    Text(&'a str),
    /// An integer of the template.
    Int(i64),
    /// Another number of the template.
    Float(f64),
    /// A boolean of the template.
    Bool(bool),
    /// A byte of a string, a result of `*`.
    Byte(u8),
    /// Nothing: the initial item of a range over no items.
    Nothing,
}

impl<'a> Item<'a> {
    /// Returns the value; `None` for a byte and for nothing.
    pub fn value(self) -> Option<Value<'a>> {
        match self {
            Item::Value(value) => Some(value),
            Item::Text(text) => Some(Value::String(text)),
            Item::Int(n) => Some(Value::Int(n)),
            Item::Float(n) => Some(Value::Float(n)),
            Item::Bool(yes) => Some(Value::Bool(yes)),
            Item::Byte(_) | Item::Nothing => None,
        }
    }

    /// Returns whether it is null: upstream's nil interface.
    pub(crate) fn is_null(self) -> bool {
        matches!(self, Item::Value(Value::Null))
    }

    pub(super) fn as_list(self) -> Option<&'a [Value<'a>]> {
        match self {
            Item::Value(Value::List(items)) => Some(items),
            _ => None,
        }
    }

    /// Returns Go's name of the type.
    pub(super) fn go_type(self) -> &'static str {
        match self {
            Item::Int(_) => "int",
            Item::Byte(_) => "uint8",
            other => other.value().map_or("<nil>", Value::go_type),
        }
    }

    /// Appends it as JSON.
    pub(super) fn write_json(self, out: &mut Vec<u8>) {
        match (self, self.value()) {
            (Item::Byte(byte), _) => out.extend_from_slice(byte.to_string().as_bytes()),
            (_, Some(value)) => value.write_go_json(out),
            (_, None) => out.extend_from_slice(b"null"),
        }
    }
}

/// Prints it like Go's `%v`.
impl Display for Item<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self, self.value()) {
            (Item::Byte(byte), _) => byte.fmt(f),
            (_, Some(value)) => GoText(value).fmt(f),
            (_, None) => f.write_str("<invalid reflect.Value>"),
        }
    }
}
