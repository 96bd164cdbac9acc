//! The messages of gnostic's models: one table per dialect, from which documents are encoded and decoded.
//!
//! A row has the number of a field, its name in JSON, and what it accepts.

/// A message of a model.
pub(super) struct Message {
    /// Its name.
    pub(super) name: &'static str,
    pub(super) body: Body,
}

pub(super) enum Body {
    /// An object with members of known names, by ascending field number.
    Object {
        fields: &'static [Field],
        /// Whether other members are ignored rather than refused.
        open: bool,
    },
    /// An object with members with any names: pairs of a name (1) and a value (2), all in field 1.
    Map(Kind),
    /// One of several forms. All are tried, and the last that matches is used.
    Union(&'static [(u32, Kind)]),
    /// The items of a list: gnostic always reads one schema.
    Items(&'static Message),
    /// A list of strings; anything else becomes an empty one.
    StringArray,
    /// The `type` of a schema in v2: a string or a list of strings.
    Types,
    /// The `default` of a schema in v3: a number, a boolean or a string; anything else is dropped.
    Default,
}

/// A field of an object.
pub(super) struct Field {
    pub(super) number: u32,
    /// The member's name; empty for [`Kind::Extensions`] and [`Kind::Entries`].
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
}

/// What a field accepts.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A string, an integer or null; if the list is not empty, one of its strings.
    Text(&'static [&'static str]),
    /// A string, an integer or null; anything else is an empty string.
    LooseText,
    /// A list of strings; other elements are skipped.
    Texts(&'static [&'static str]),
    Bool,
    Int,
    Number,
    Any,
    /// A list of values of any type.
    AnyList,
    Message(&'static Message),
    /// A list of messages.
    Messages(&'static Message),
    /// All members whose names begin with `x-`.
    Extensions,
    /// All members whose names have a given form.
    Entries(Keys, &'static Message),
}

/// The form of names.
#[derive(Clone, Copy)]
pub(super) enum Keys {
    Any,
    /// Begins with a slash.
    Path,
    /// Three digits, or `default`.
    CodeOrDefault,
    /// Three characters, each a digit or `X`.
    CodeOrRange,
}

impl Keys {
    pub(super) fn has(self, name: &str) -> bool {
        let code = |allowed: fn(u8) -> bool| name.len() == 3 && name.bytes().all(allowed);
        match self {
            Keys::Any => true,
            Keys::Path => name.starts_with('/'),
            Keys::CodeOrDefault => name == "default" || code(|b| b.is_ascii_digit()),
            Keys::CodeOrRange => code(|b| b.is_ascii_digit() || b == b'X'),
        }
    }
}

/// Objects: `STATIC Type closed|open { number name => kind, required; … }`.
macro_rules! objects {
    (@open open) => { true };
    (@open closed) => { false };
    ($($static:ident $type:ident $open:ident {
        $($number:literal $($name:literal)? => $kind:expr $(, $required:ident)?;)*
    })*) => {$(
        static $static: Message = Message {
            name: stringify!($type),
            body: Body::Object {
                fields: &[$(Field {
                    number: $number,
                    name: concat!($($name)?),
                    kind: $kind,
                    required: !concat!($(stringify!($required))?).is_empty(),
                },)*],
                open: objects!(@open $open),
            },
        };
    )*};
}

/// Objects with members of any name: `STATIC Type => kind of the values;`.
macro_rules! maps {
    ($($static:ident $type:ident => $kind:expr;)*) => {$(
        static $static: Message = Message { name: stringify!($type), body: Body::Map($kind) };
    )*};
}

/// Values of one of several forms: `STATIC Type { number => kind; … }`.
macro_rules! unions {
    ($($static:ident $type:ident {
        $($number:literal => $kind:expr;)*
    })*) => {$(
        static $static: Message = Message {
            name: stringify!($type),
            body: Body::Union(&[$(($number, $kind)),*]),
        };
    )*};
}

pub(super) use {maps, objects, unions};
