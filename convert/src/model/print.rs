//! Prints documents.

use super::Object;
use kubeshape_schema::escape;
use kubeshape_schema::print::Style;
use kubeshape_schema::{Json, Profile, Schema, print};

/// The minimum size of a piece in bytes.
const PIECE: usize = 64 << 10;

/// Prints the members of objects as compact JSON.
#[derive(Debug)]
pub struct Printer<'o> {
    pub(crate) out: &'o mut Vec<u8>,
    pub(crate) style: Style,
    pub(crate) profile: Profile,
    pub(crate) first: bool,
    /// The maximum length of the output, including pieces. Nothing more is written beyond it.
    most: usize,
    /// The receiver of pieces, if the document is not kept in `out`, and their total length so far.
    pieces: Option<Pieces<'o>>,
    given: usize,
}

/// The receiver of a printed document in pieces.
struct Pieces<'o>(&'o mut (dyn FnMut(&[u8]) + 'o));

impl std::fmt::Debug for Pieces<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pieces").finish_non_exhaustive()
    }
}

impl Pieces<'_> {
    /// Passes on the contents of the buffer if it has at least `least` bytes.
    fn take(&mut self, out: &mut Vec<u8>, least: usize, given: &mut usize) {
        if out.len() >= least {
            (self.0)(out);
            *given = given.saturating_add(out.len());
            out.clear();
        }
    }
}

/// Appends a document as compact JSON. Returns `false` and appends nothing if the JSON exceeds `most_bytes`.
pub(crate) fn print_within<'a>(
    document: &impl Object<'a>,
    out: &mut Vec<u8>,
    style: Style,
    profile: Profile,
    most_bytes: usize,
) -> bool {
    let start = out.len();
    let mut printer = Printer::new(out, style, profile).within(most_bytes);
    printer.document(document);
    let fits = !printer.is_full();
    if !fits {
        out.truncate(start);
    }
    fits
}

/// Passes the same JSON to `give` in pieces. Returns `false` if it exceeds `most_bytes`.
pub(crate) fn print_in_pieces<'a>(
    document: &impl Object<'a>,
    style: Style,
    profile: Profile,
    most_bytes: usize,
    give: &mut dyn FnMut(&[u8]),
) -> bool {
    let mut out = Vec::new();
    let mut printer = Printer::new(&mut out, style, profile).within(most_bytes).in_pieces(give);
    printer.document(document);
    printer.end()
}

impl<'o> Printer<'o> {
    fn document<'a>(&mut self, document: &impl Object<'a>) {
        self.open();
        document.print(self);
        self.close();
    }

    /// Creates a printer that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>, style: Style, profile: Profile) -> Self {
        Printer { out, style, profile, first: true, most: usize::MAX, pieces: None, given: 0 }
    }

    /// Sets a limit: nothing more is written beyond `most` bytes. Then the output is of no use.
    #[must_use]
    pub fn within(mut self, most: usize) -> Self {
        self.most = self.out.len().saturating_add(most);
        self
    }

    /// Makes it pass on the output in pieces. `out` must be empty before, and is empty after [`end`](Self::end).
    #[must_use]
    pub fn in_pieces(mut self, give: &'o mut (dyn FnMut(&[u8]) + 'o)) -> Self {
        self.pieces = Some(Pieces(give));
        self
    }

    /// Passes on the rest. Returns whether the output is within the limit.
    #[must_use]
    pub fn end(mut self) -> bool {
        if let Some(pieces) = &mut self.pieces {
            pieces.take(self.out, 0, &mut self.given);
        }
        !self.is_full()
    }

    /// Returns whether the output exceeds the limit.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.out.len().saturating_add(self.given) > self.most
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
        if let Some(pieces) = &mut self.pieces {
            pieces.take(self.out, PIECE, &mut self.given);
        }
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

    /// Does the same for any name.
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

    /// Writes a string.
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
        match &mut self.pieces {
            None => print::schema(self.out, schema, self.style),
            Some(pieces) => {
                let given = &mut self.given;
                let mut drain = |out: &mut Vec<u8>| pieces.take(out, PIECE, given);
                print::schema_in_pieces(self.out, schema, self.style, &mut drain);
            }
        }
    }

    /// Writes a free value.
    pub fn json(&mut self, value: &Json<'_>) {
        if self.is_full() {
            return;
        }
        value.print(self.out, self.style.escape);
    }
}
