//! OpenAPI v3: documents ([`Document`]) and the conversions to them.

pub mod from_v2;
pub mod later;
mod model;

pub use model::*;

use crate::model::{print_in_pieces, print_within};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Converted, Profile};
use kubeshape_yaml::Node;

/// Reads a document of OpenAPI 3.0, or one of OpenAPI 3.1 as one of 3.0.
///
/// OpenAPI 3.1 is read only with [`Profile::Faithful`]: Kubernetes' libraries read every document as one of OpenAPI
/// 3.0. The notes have what OpenAPI 3.0 cannot express (`KS2401`, `KS2402`). The value is `None` if a value has the
/// wrong type. The notes have what was found and its location.
///
/// # Example: a document as Kubernetes prints it, which decides its `ETag`
/// ```
/// use kubeshape_convert::v3;
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"paths": {}, "info": {"version": "1", "title": "<x>"}, "openapi": "3.0.0"}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let root = tape.document(source).root().unwrap();
/// let document = v3::read(root, &arena, Profile::Kube).value.unwrap();
/// let mut out = Vec::new();
/// document.print(&mut out, Profile::Kube);
/// assert_eq!(out, br#"{"openapi":"3.0.0","info":{"title":"\u003cx\u003e","version":"1"},"paths":{}}"#);
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn read<'a>(root: Node<'a>, arena: &'a Bump, profile: Profile) -> Converted<'a, Option<Document<'a>>> {
    later::read(root, arena, profile, false)
}

/// Does the same, but keeps what only OpenAPI 3.1 has in extensions. [`later::raise`] puts it back.
pub fn read_keeping<'a>(root: Node<'a>, arena: &'a Bump, profile: Profile) -> Converted<'a, Option<Document<'a>>> {
    later::read(root, arena, profile, true)
}

impl Document<'_> {
    /// Appends the document as compact JSON, as kube-openapi prints it.
    pub fn print(&self, out: &mut Vec<u8>, profile: Profile) {
        let _ = self.print_within(out, profile, usize::MAX);
    }

    /// Does the same, but returns `false` and appends nothing if the JSON exceeds `most_bytes`.
    #[must_use]
    pub fn print_within(&self, out: &mut Vec<u8>, profile: Profile, most_bytes: usize) -> bool {
        print_within(self, out, Style::V3, profile, most_bytes)
    }

    /// Passes the same JSON to `give` in pieces, so that it is never in memory as a whole. Returns `false` if it
    /// exceeds `most_bytes`; then the pieces are of no use.
    #[must_use]
    pub fn print_in_pieces(&self, profile: Profile, most_bytes: usize, give: &mut dyn FnMut(&[u8])) -> bool {
        print_in_pieces(self, Style::V3, profile, most_bytes, give)
    }
}
