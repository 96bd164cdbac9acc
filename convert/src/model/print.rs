//! The printer of documents.

use kubeshape_schema::escape;
use kubeshape_schema::print::Style;
use kubeshape_schema::{Json, Profile, Schema, print};

/// Prints the members of objects as compact JSON.
#[derive(Debug)]
pub struct Printer<'o> {
    pub(crate) out: &'o mut Vec<u8>,
    pub(crate) style: Style,
    pub(crate) profile: Profile,
    pub(crate) first: bool,
}

impl<'o> Printer<'o> {
    /// A printer that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>, style: Style, profile: Profile) -> Self {
        Printer { out, style, profile, first: true }
    }

    /// Opens an object.
    pub fn open(&mut self) {
        self.out.push(b'{');
        self.first = true;
    }

    /// Closes it.
    pub fn close(&mut self) {
        self.out.push(b'}');
        self.first = false;
    }

    /// Writes `"name":` of a member whose name needs no escapes, after a comma unless it is the first.
    #[inline]
    pub fn key(&mut self, name: &str) {
        self.separate();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    /// The same for any name.
    pub fn any_key(&mut self, name: &str) {
        self.separate();
        self.text(name);
        self.out.push(b':');
    }

    #[inline]
    fn separate(&mut self) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
    }

    /// Writes a text.
    #[inline]
    pub fn text(&mut self, text: &str) {
        escape::string(self.out, text, self.style.escape);
    }

    /// Writes literal JSON.
    #[inline]
    pub fn raw(&mut self, json: &[u8]) {
        self.out.extend_from_slice(json);
    }

    /// Writes a schema.
    pub fn schema(&mut self, schema: &Schema<'_>) {
        print::schema(self.out, schema, self.style);
    }

    /// Writes a free value.
    pub fn json(&mut self, value: &Json<'_>) {
        value.print(self.out, self.style.escape);
    }
}
