//! OpenAPI v2: documents ([`Document`]) and the conversions to them.

pub mod body;
pub mod from_v3;
mod model;

pub use model::*;

use crate::model::{print_in_pieces, print_within, read_document};
use kubeshape_schema::print::Style;
use kubeshape_schema::read::Language;
use kubeshape_schema::{Bump, Converted, Profile};
use kubeshape_yaml::Node;

/// Reads a document.
///
/// The value is `None` if a value has the wrong type. The notes have what was found and its location.
///
/// # Example
/// ```
/// use kubeshape_convert::v2;
/// use kubeshape_schema::print::Style;
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = "swagger: '2.0'\ndefinitions:\n  A: {type: string, format: ''}\n";
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let root = tape.document(source).root().unwrap();
/// let document = v2::read(root, &arena, Profile::Kube).value.unwrap();
/// let mut out = Vec::new();
/// document.print(&mut out, Style::V2, Profile::Kube);
/// assert_eq!(out, br#"{"swagger":"2.0","paths":null,"definitions":{"A":{"type":"string"}}}"#);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn read<'a>(root: Node<'a>, arena: &'a Bump, profile: Profile) -> Converted<'a, Option<Document<'a>>> {
    read_document(root, arena, profile, Language::default())
}

impl Document<'_> {
    /// Appends the document as compact JSON, as kube-openapi prints it. [`Style::V2`] gives the bytes that a server
    /// sends, [`Style::V3`] those of Go's `json.Marshal`.
    pub fn print(&self, out: &mut Vec<u8>, style: Style, profile: Profile) {
        let _ = self.print_within(out, style, profile, usize::MAX);
    }

    /// Does the same, but returns `false` and appends nothing if the JSON exceeds `most_bytes`.
    #[must_use]
    pub fn print_within(&self, out: &mut Vec<u8>, style: Style, profile: Profile, most_bytes: usize) -> bool {
        print_within(self, out, style, profile, most_bytes)
    }

    /// Passes the same JSON to `give` in pieces, so that it is never in memory as a whole. Returns `false` if it
    /// exceeds `most_bytes`; then the pieces are of no use.
    #[must_use]
    pub fn print_in_pieces(
        &self,
        style: Style,
        profile: Profile,
        most_bytes: usize,
        give: &mut dyn FnMut(&[u8]),
    ) -> bool {
        print_in_pieces(self, style, profile, most_bytes, give)
    }
}
