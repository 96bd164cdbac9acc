//! Decodes the protobuf form of a document to JSON, by the tables of [`super::table`].

use super::inverse;
use super::printer::Printer;
use super::table::{Body, Field, Keys, Kind, Message};
use super::wire::{Fields, MAX_DEPTH, Wire, WireError};
use kubeshape_yaml::{Error, Limits, Stream, Tape, number};

/// Why bytes are not a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes are not the protobuf form of the message, or nest deeper than 100 messages.
    #[error("{0}")]
    Wire(#[from] WireError),
    /// The string of a value without a type is not YAML.
    #[error("{pointer}: {error}")]
    Yaml {
        /// The location, as a JSON pointer into the document.
        pointer: String,
        /// The reason.
        error: Error,
    },
    /// A number that JSON does not have.
    #[error("{pointer}: expected a finite number")]
    Number {
        /// The location, as a JSON pointer into the document.
        pointer: String,
    },
}

impl DecodeError {
    /// Returns the error for a value that is the member `name` of another one.
    fn below(mut self, name: &str) -> Self {
        if let DecodeError::Yaml { pointer, .. } | DecodeError::Number { pointer } = &mut self {
            pointer.insert_str(0, &kubeshape_yaml::pointer::escape(name));
            pointer.insert(0, '/');
        }
        self
    }
}

/// Returns the JSON of a message.
///
/// All bytes are checked first, so errors of the wire format are reported before those of values.
pub(super) fn decode(message: &'static Message, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    check(Shape::Table(message), bytes, MAX_DEPTH).map_err(|error| error.below(message.name))?;
    let mut printer = Printer { out: Vec::new(), first: true };
    printer.message(Shape::Table(message), &[bytes])?;
    Ok(printer.out)
}

/// What a message is read as.
#[derive(Clone, Copy)]
enum Shape {
    Table(&'static Message),
    /// A value without a type: its YAML in field 2. Field 1 is not printed.
    Any,
    /// `google.protobuf.Any`: a URL in field 1, and bytes in field 2.
    GoogleAny,
    /// A name in field 1, and a value in field 2.
    Pair(Kind),
}

/// The type of a field.
enum Type {
    String,
    Bytes,
    Bool,
    Int,
    Double,
    Message(Shape),
}

impl Type {
    fn of(kind: Kind) -> Type {
        match kind {
            Kind::Text(_) | Kind::LooseText | Kind::Texts(_) => Type::String,
            Kind::Bool => Type::Bool,
            Kind::Int => Type::Int,
            Kind::Number => Type::Double,
            Kind::Any | Kind::AnyList => Type::Message(Shape::Any),
            Kind::Message(message) | Kind::Messages(message) => Type::Message(Shape::Table(message)),
            Kind::Extensions => Type::Message(Shape::Pair(Kind::Any)),
            Kind::Entries(_, message) => Type::Message(Shape::Pair(Kind::Message(message))),
        }
    }
}

impl Shape {
    /// Returns the name and the type of a field, or `None` if the message does not have it.
    fn field(self, number: u32) -> Option<(&'static str, Type)> {
        match (self, number) {
            (Shape::Any, 1) => Some(("value", Type::Message(Shape::GoogleAny))),
            (Shape::Any, 2) => Some(("yaml", Type::String)),
            (Shape::GoogleAny, 1) => Some(("type_url", Type::String)),
            (Shape::GoogleAny, 2) => Some(("value", Type::Bytes)),
            (Shape::Pair(_), 1) => Some(("name", Type::String)),
            (Shape::Pair(kind), 2) => Some(("value", Type::of(kind))),
            (Shape::Any | Shape::GoogleAny | Shape::Pair(_), _) => None,
            (Shape::Table(message), number) => match (&message.body, number) {
                (Body::Object { fields, .. }, _) => {
                    let field = fields.iter().find(|field| field.number == number)?;
                    let name = match field.kind {
                        Kind::Extensions => "extensions",
                        Kind::Entries(..) => "entries",
                        _ => field.name,
                    };
                    Some((name, Type::of(field.kind)))
                }
                (Body::Map(kind), 1) => Some(("entries", Type::Message(Shape::Pair(*kind)))),
                (Body::Union(forms), _) => {
                    forms.iter().find(|form| form.0 == number).map(|(_, kind)| ("form", Type::of(*kind)))
                }
                (Body::Items(schema), 1) => Some(("items", Type::Message(Shape::Table(schema)))),
                (Body::StringArray | Body::Types, 1) => Some(("value", Type::String)),
                (Body::Default, 1) => Some(("number", Type::Double)),
                (Body::Default, 2) => Some(("boolean", Type::Bool)),
                (Body::Default, 3) => Some(("string", Type::String)),
                _ => None,
            },
        }
    }
}

/// Checks that bytes are a message of a shape, with at most `depth` nested messages below it.
fn check(shape: Shape, bytes: &[u8], depth: usize) -> Result<(), WireError> {
    for field in Fields::new(bytes) {
        let (number, value) = field.map_err(|error| match error.number.and_then(|number| shape.field(number)) {
            Some((name, _)) => error.below(name),
            None => error,
        })?;
        let Some((name, kind)) = shape.field(number) else { continue };
        let checked = match (kind, value) {
            (Type::String, Wire::Bytes(text)) => match std::str::from_utf8(text) {
                Ok(_) => Ok(()),
                Err(_) => Err(WireError::new("the string is not UTF-8")),
            },
            (Type::Bytes, Wire::Bytes(_))
            | (Type::Bool | Type::Int, Wire::Varint(_))
            | (Type::Double, Wire::Fixed64(_)) => Ok(()),
            (Type::Message(_), Wire::Bytes(_)) if depth == 0 => Err(WireError::new("nested too deep")),
            (Type::Message(shape), Wire::Bytes(message)) => check(shape, message, depth - 1),
            _ => Err(WireError::new("the field has another wire type")),
        };
        checked.map_err(|error| error.below(name))?;
    }
    Ok(())
}

/// The fields of a message. Several parts are one message: repeated fields are concatenated, and of others the last one
/// is used.
struct Found<'a>(Vec<(u32, Wire<'a>)>);

impl<'a> Found<'a> {
    fn read(parts: &[&'a [u8]]) -> Result<Self, WireError> {
        parts.iter().flat_map(|part| Fields::new(part)).collect::<Result<_, _>>().map(Found)
    }

    fn all(&self, number: u32) -> impl Iterator<Item = Wire<'a>> {
        self.0.iter().filter(move |field| field.0 == number).map(|field| field.1)
    }

    fn strings(&self, number: u32) -> impl Iterator<Item = &'a str> {
        self.all(number).map(text)
    }

    fn string(&self, number: u32) -> &'a str {
        self.strings(number).last().unwrap_or_default()
    }

    fn integer(&self, number: u32) -> i64 {
        self.all(number).last().map_or(0, integer)
    }

    fn messages(&self, number: u32) -> impl Iterator<Item = &'a [u8]> {
        self.all(number).map(message)
    }

    /// Returns the parts of a message that is not repeated, or `None` if it is missing.
    fn parts(&self, number: u32) -> Option<Vec<&'a [u8]>> {
        let parts: Vec<_> = self.messages(number).collect();
        (!parts.is_empty()).then_some(parts)
    }
}

// `check` has verified that each field has its type.

fn text(value: Wire<'_>) -> &str {
    std::str::from_utf8(message(value)).unwrap_or_default()
}

fn message(value: Wire<'_>) -> &[u8] {
    if let Wire::Bytes(bytes) = value { bytes } else { &[] }
}

fn integer(value: Wire<'_>) -> i64 {
    if let Wire::Varint(value) = value { value.cast_signed() } else { 0 }
}

fn double(value: Wire<'_>) -> f64 {
    if let Wire::Fixed64(bits) = value { f64::from_bits(bits) } else { 0.0 }
}

type Printed = Result<(), DecodeError>;

impl Printer {
    fn message(&mut self, shape: Shape, parts: &[&[u8]]) -> Printed {
        let found = Found::read(parts)?;
        let message = match shape {
            Shape::Table(message) => message,
            Shape::Any | Shape::GoogleAny => return self.any(found.string(2)),
            Shape::Pair(kind) => return self.value(kind, &found, 2),
        };
        match &message.body {
            Body::Object { fields, .. } => self.object(|out| out.members(fields, &found)),
            Body::Map(kind) => self.object(|out| out.pairs(*kind, found.messages(1))),
            Body::Union(forms) => self.union(forms, &found),
            Body::Items(schema) => {
                let items: Vec<_> = found.messages(1).collect();
                match items.as_slice() {
                    [one] => self.message(Shape::Table(schema), &[one]),
                    _ => self.list(items, |out, item| out.message(Shape::Table(schema), &[item])),
                }
            }
            Body::StringArray => self.strings(found.strings(1)),
            Body::Types => {
                let types: Vec<_> = found.strings(1).collect();
                if let [one] = types.as_slice() {
                    self.text(one);
                    return Ok(());
                }
                self.strings(types.into_iter())
            }
            Body::Default => {
                match found.0.iter().rfind(|field| matches!(field.0, 1..=3)) {
                    Some((1, value)) => self.double(double(*value))?,
                    Some((2, value)) => self.boolean(integer(*value) != 0),
                    Some((_, value)) => self.text(text(*value)),
                    None => self.null(),
                }
                Ok(())
            }
        }
    }

    fn members(&mut self, fields: &'static [Field], found: &Found<'_>) -> Printed {
        if let [Field { kind: Kind::Entries(Keys::Any, message), number: entries, .. }, extensions] = fields {
            return self.callback(Kind::Message(message), found.messages(*entries), found.messages(extensions.number));
        }
        for field in fields {
            match field.kind {
                Kind::Extensions => self.pairs(Kind::Any, found.messages(field.number))?,
                Kind::Entries(_, message) => self.pairs(Kind::Message(message), found.messages(field.number))?,
                kind => {
                    if field.required || !is_absent(kind, found, field.number) {
                        self.named(field.name, |out| out.value(kind, found, field.number))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Prints the members of a callback: a name may be both a path and an extension, and is printed once.
    fn callback<'a>(
        &mut self,
        path: Kind,
        paths: impl Iterator<Item = &'a [u8]>,
        extensions: impl Iterator<Item = &'a [u8]>,
    ) -> Printed {
        let mut extensions = extensions.peekable();
        for entry in paths {
            let found = Found::read(&[entry])?;
            let name = found.string(1);
            let is_extension = |pair: &&[u8]| Found::read(&[pair]).is_ok_and(|pair| pair.string(1) == name);
            match extensions.next_if(is_extension) {
                Some(extension) => self.pairs(Kind::Any, std::iter::once(extension))?,
                None => self.named(name, |out| out.value(path, &found, 2))?,
            }
        }
        self.pairs(Kind::Any, extensions)
    }

    /// Prints pairs of a name and a value as members, in their order.
    fn pairs<'a>(&mut self, kind: Kind, mut pairs: impl Iterator<Item = &'a [u8]>) -> Printed {
        pairs.try_for_each(|pair| {
            let found = Found::read(&[pair])?;
            self.named(found.string(1), |out| out.value(kind, &found, 2))
        })
    }

    /// Prints the value of a field, `{}` for a message that is missing.
    fn value(&mut self, kind: Kind, found: &Found<'_>, number: u32) -> Printed {
        let single = |out: &mut Self, shape| match found.parts(number) {
            Some(parts) => out.message(shape, &parts),
            None => out.object(|_| Ok(())),
        };
        match kind {
            Kind::Text(_) | Kind::LooseText => self.text(found.string(number)),
            Kind::Bool => self.boolean(found.integer(number) != 0),
            Kind::Int => number::write_int(found.integer(number), &mut self.out),
            Kind::Texts(_) => return self.strings(found.strings(number)),
            Kind::Number => return self.double(found.all(number).last().map_or(0.0, double)),
            Kind::Any => return single(self, Shape::Any),
            Kind::Message(message) => return single(self, Shape::Table(message)),
            Kind::AnyList => return self.list(found.messages(number), |out, item| out.message(Shape::Any, &[item])),
            Kind::Messages(message) => {
                return self.list(found.messages(number), |out, item| out.message(Shape::Table(message), &[item]));
            }
            // Only objects have these, and print them as members.
            Kind::Extensions | Kind::Entries(..) => {}
        }
        Ok(())
    }

    /// Prints the last form that was set. Consecutive messages of one form are one message.
    fn union(&mut self, forms: &'static [(u32, Kind)], found: &Found<'_>) -> Printed {
        let is_form = |number: u32| forms.iter().find(|form| form.0 == number);
        let set: Vec<_> = found.0.iter().filter(|field| is_form(field.0).is_some()).copied().collect();
        let Some((_, kind)) = set.last().and_then(|last| is_form(last.0)) else {
            return self.object(|_| Ok(()));
        };
        let number = set[set.len() - 1].0;
        let others = set.iter().rposition(|field| field.0 != number).map_or(0, |at| at + 1);
        self.value(*kind, &Found(set[others..].to_vec()), number)
    }

    /// Prints an object with the members that `members` prints.
    fn object(&mut self, members: impl FnOnce(&mut Self) -> Printed) -> Printed {
        self.out.push(b'{');
        self.first = true;
        members(self)?;
        self.first = false;
        self.out.push(b'}');
        Ok(())
    }

    fn named(&mut self, name: &str, value: impl FnOnce(&mut Self) -> Printed) -> Printed {
        self.comma();
        self.text(name);
        self.out.push(b':');
        value(self).map_err(|error| error.below(name))?;
        self.first = false;
        Ok(())
    }

    fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut print: impl FnMut(&mut Self, T) -> Printed,
    ) -> Printed {
        self.out.push(b'[');
        self.first = true;
        for (at, item) in items.into_iter().enumerate() {
            self.comma();
            print(self, item).map_err(|error| error.below(&at.to_string()))?;
            self.first = false;
        }
        self.first = false;
        self.out.push(b']');
        Ok(())
    }

    fn strings<'a>(&mut self, strings: impl Iterator<Item = &'a str>) -> Printed {
        self.list(strings, |out, text| {
            out.text(text);
            Ok(())
        })
    }

    fn boolean(&mut self, value: bool) {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    fn double(&mut self, value: f64) -> Printed {
        if !value.is_finite() {
            return Err(DecodeError::Number { pointer: String::new() });
        }
        number::write_json(value, &mut self.out);
        Ok(())
    }

    /// Prints the value of a YAML string.
    fn any(&mut self, yaml: &str) -> Printed {
        let from = self.out.len();
        if inverse::read(yaml, self).is_some() {
            return Ok(());
        }
        self.out.truncate(from);
        let failed = |error| DecodeError::Yaml { pointer: String::new(), error };
        let mut tape = Tape::new();
        let mut stream = Stream::new(yaml.as_bytes(), Limits::default()).map_err(failed)?;
        match stream.next(&mut tape) {
            Some(Err(error)) => return Err(failed(error)),
            Some(Ok(())) => match tape.document(yaml).root() {
                Some(root) => self.node(root),
                None => self.null(),
            },
            None => self.null(),
        }
        Ok(())
    }
}

/// Returns whether a field has the value that is not written: a message that is missing, an empty string or list, zero
/// or false.
fn is_absent(kind: Kind, found: &Found<'_>, number: u32) -> bool {
    match kind {
        Kind::Text(_) | Kind::LooseText => found.string(number).is_empty(),
        Kind::Bool | Kind::Int => found.integer(number) == 0,
        Kind::Number => found.all(number).last().is_none_or(|value| value == Wire::Fixed64(0)),
        _ => found.all(number).next().is_none(),
    }
}
