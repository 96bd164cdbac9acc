//! From messages to the JSON text of a document.

use super::inverse;
use super::printer::Printer;
use kubeshape_yaml::{Error, Limits, Stream, Tape, number};

/// Why bytes are no document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes are not the protobuf form of the message, or nest deeper than 100 messages.
    #[error("{0}")]
    Wire(#[from] prost::DecodeError),
    /// The text of a value without a type is not YAML.
    #[error("{pointer}: {error}")]
    Yaml {
        /// Where, as a JSON pointer into the document.
        pointer: String,
        /// Why.
        error: Error,
    },
    /// A number that JSON does not have.
    #[error("{pointer}: expected a finite number")]
    Number {
        /// Where, as a JSON pointer into the document.
        pointer: String,
    },
}

/// What is printed as a JSON value.
pub(super) trait Json {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError>;

    /// Whether the field does not tell this value from none.
    fn is_absent(&self) -> bool {
        false
    }
}

/// A member of an object with free names.
pub(super) trait Pair {
    fn name(&self) -> &str;
    fn value(&self, out: &mut Printer) -> Result<(), DecodeError>;
}

impl DecodeError {
    /// The same error, of a value that is the member `name` of another one.
    fn below(mut self, name: &str) -> Self {
        if let DecodeError::Yaml { pointer, .. } | DecodeError::Number { pointer } = &mut self {
            pointer.insert_str(0, &kubeshape_yaml::pointer::escape(name));
            pointer.insert(0, '/');
        }
        self
    }
}

impl Printer {
    /// The JSON text of a message.
    pub(super) fn print(message: &impl Json) -> Result<Vec<u8>, DecodeError> {
        let mut printer = Printer { out: Vec::new(), first: true };
        message.json(&mut printer)?;
        Ok(printer.out)
    }

    /// An object with the members that `members` prints.
    pub(super) fn object(
        &mut self,
        members: impl FnOnce(&mut Self) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        self.out.push(b'{');
        self.first = true;
        members(self)?;
        self.first = false;
        self.out.push(b'}');
        Ok(())
    }

    /// A member, unless it is absent and may be.
    pub(super) fn member(&mut self, name: &str, value: &impl Json, required: bool) -> Result<(), DecodeError> {
        if value.is_absent() && !required {
            return Ok(());
        }
        self.named(name, |out| value.json(out))
    }

    /// All of the pairs as members.
    pub(super) fn spread<T: Pair>(&mut self, pairs: &[T]) -> Result<(), DecodeError> {
        pairs.iter().try_for_each(|pair| self.named(pair.name(), |out| pair.value(out)))
    }

    pub(super) fn named(
        &mut self,
        name: &str,
        value: impl FnOnce(&mut Self) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        self.comma();
        self.text(name);
        self.out.push(b':');
        value(self).map_err(|error| error.below(name))?;
        self.first = false;
        Ok(())
    }

    /// The value that a YAML text holds.
    pub(super) fn any(&mut self, yaml: &str) -> Result<(), DecodeError> {
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

impl Json for String {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        out.text(self);
        Ok(())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Json for bool {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        out.out.extend_from_slice(if *self { b"true" } else { b"false" });
        Ok(())
    }

    fn is_absent(&self) -> bool {
        !self
    }
}

impl Json for i64 {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        number::write_int(*self, &mut out.out);
        Ok(())
    }

    fn is_absent(&self) -> bool {
        *self == 0
    }
}

impl Json for f64 {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        if !self.is_finite() {
            return Err(DecodeError::Number { pointer: String::new() });
        }
        number::write_json(*self, &mut out.out);
        Ok(())
    }

    fn is_absent(&self) -> bool {
        *self == 0.0 && self.is_sign_positive()
    }
}

impl<T: Json> Json for Vec<T> {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        out.out.push(b'[');
        out.first = true;
        for (at, item) in self.iter().enumerate() {
            out.comma();
            item.json(out).map_err(|error| error.below(&at.to_string()))?;
            out.first = false;
        }
        out.first = false;
        out.out.push(b']');
        Ok(())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Json> Json for Option<T> {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        match self {
            Some(value) => value.json(out),
            None => out.object(|_| Ok(())),
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Json> Json for Box<T> {
    fn json(&self, out: &mut Printer) -> Result<(), DecodeError> {
        self.as_ref().json(out)
    }
}
