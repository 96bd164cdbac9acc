//! What the messages of a model are made of: one table per dialect, for both directions.
//!
//! The table says how a document is read into messages (field numbers, JSON names, what a member accepts), and ties
//! every row to the field of the generated type, from which the document is printed again.

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
    /// An object with members of any name: pairs of a name (1) and a value (2), all in field 1.
    Map(Kind),
    /// One of several forms. All are tried, and the last that fits is taken.
    Union(&'static [(u32, Kind)]),
    /// The items of a list: gnostic reads one schema, whatever stands there.
    Items(&'static Message),
    /// A list of texts; what is none becomes an empty one.
    StringArray,
    /// The `type` of a schema in v2: a text or a list of them.
    Types,
    /// The `default` of a schema in v3: a number, a boolean or a text, else nothing.
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
    /// A text, an integer or null; one of these, unless there are none.
    Text(&'static [&'static str]),
    /// A text, an integer or null; anything else is an empty text.
    LooseText,
    /// A list of texts; elements that are none are skipped.
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
    /// All members whose names have a form.
    Entries(Keys, &'static Message),
}

/// A form of names.
#[derive(Clone, Copy)]
pub(super) enum Keys {
    Any,
    /// Begins with a slash.
    Path,
    /// Three digits, or `default`.
    CodeOrDefault,
    /// Three of digits and `X`.
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

/// Objects: `STATIC Type closed|open { number field "name" => kind, required; … }`.
macro_rules! objects {
    (@open open) => { true };
    (@open closed) => { false };
    (@print $out:ident $value:expr, $name:literal, $required:expr) => { $out.member($name, &$value, $required)?; };
    (@print $out:ident $value:expr, , $required:expr) => { $out.spread(&$value)?; };
    ($($static:ident $type:ident $open:ident {
        $($number:literal $field:ident $($name:literal)? => $kind:expr $(, $required:ident)?;)*
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

        impl Json for model::$type {
            fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
                out.object(|out| {
                    $(objects!(@print out self.$field, $($name)?, !concat!($(stringify!($required))?).is_empty());)*
                    Ok(())
                })
            }
        }
    )*};
}

/// Objects with members of any name: `STATIC Type => kind of the values;`.
macro_rules! maps {
    ($($static:ident $type:ident => $kind:expr;)*) => {$(
        static $static: Message = Message { name: stringify!($type), body: Body::Map($kind) };

        impl Json for model::$type {
            fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
                out.object(|out| out.spread(&self.additional_properties))
            }
        }
    )*};
}

/// Values of one of several forms: `STATIC Type module { number Variant => kind; … }`.
macro_rules! unions {
    ($($static:ident $type:ident $module:ident {
        $($number:literal $form:ident => $kind:expr;)*
    })*) => {$(
        static $static: Message = Message {
            name: stringify!($type),
            body: Body::Union(&[$(($number, $kind)),*]),
        };

        impl Json for model::$type {
            fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
                match &self.oneof {
                    $(Some(model::$module::Oneof::$form(value)) => value.json(out),)*
                    None => out.object(|_| Ok(())),
                }
            }
        }
    )*};
}

/// Pairs of a name and a value.
macro_rules! pairs {
    ($($type:ident),* $(,)?) => {$(
        impl Pair for model::$type {
            fn name(&self) -> &str {
                &self.name
            }

            fn value(&self, out: &mut Printer) -> Result<(), DecodeError> {
                self.value.json(out)
            }
        }
    )*};
}

pub(super) use {maps, objects, pairs, unions};
