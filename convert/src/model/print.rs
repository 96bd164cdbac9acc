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
    /// The length of `out` beyond which nothing more is written.
    most: usize,
}

impl<'o> Printer<'o> {
    /// A printer that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>, style: Style, profile: Profile) -> Self {
        Printer { out, style, profile, first: true, most: usize::MAX }
    }

    /// The same, which writes nothing more once there are more than `most` bytes. What was written is then of no use.
    #[must_use]
    pub fn within(mut self, most: usize) -> Self {
        self.most = self.out.len().saturating_add(most);
        self
    }

    /// Whether there are too many bytes.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.out.len() > self.most
    }

    /// Opens an object.
    pub fn open(&mut self) {
        if self.is_full() {
            return;
        }
        self.out.push(b'{');
        self.first = true;
    }

    /// Closes it.
    pub fn close(&mut self) {
        if self.is_full() {
            return;
        }
        self.out.push(b'}');
        self.first = false;
    }

    /// Writes `"name":` of a member whose name needs no escapes, after a comma unless it is the first.
    #[inline]
    pub fn key(&mut self, name: &str) {
        if self.is_full() {
            return;
        }
        self.separate();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    /// The same for any name.
    pub fn any_key(&mut self, name: &str) {
        if self.is_full() {
            return;
        }
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
        if self.is_full() {
            return;
        }
        escape::string(self.out, text, self.style.escape);
    }

    /// Writes literal JSON.
    #[inline]
    pub fn raw(&mut self, json: &[u8]) {
        if self.is_full() {
            return;
        }
        self.out.extend_from_slice(json);
    }

    /// Writes a schema.
    pub fn schema(&mut self, schema: &Schema<'_>) {
        if self.is_full() {
            return;
        }
        print::schema(self.out, schema, self.style);
    }

    /// Writes a free value.
    pub fn json(&mut self, value: &Json<'_>) {
        if self.is_full() {
            return;
        }
        value.print(self.out, self.style.escape);
    }
}
