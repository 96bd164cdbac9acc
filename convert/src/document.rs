//! A document of either dialect.

use crate::v2::from_v3::{self, LOSS, Scratch};
use crate::v3::from_v2;
use crate::{v2, v3};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Converted, Dialect, NoteKind, Profile, Property};
use kubeshape_yaml::Node;

/// A document of either dialect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Document<'a> {
    /// OpenAPI v2.
    V2(v2::Document<'a>),
    /// OpenAPI v3.
    V3(v3::Document<'a>),
}

impl<'a> Document<'a> {
    /// Reads a document of that dialect.
    ///
    /// The value is `None` if something has the wrong type. The notes say what was found and where.
    ///
    /// # Example: the bytes that Kubernetes gives a document
    /// ```
    /// use kubeshape_convert::document::Document;
    /// use kubeshape_schema::{Bump, Dialect, Profile};
    /// use kubeshape_yaml::{Limits, Stream, Tape};
    ///
    /// let source = "openapi: 3.0.0\ninfo: {version: '1', title: t}\n";
    /// let mut tape = Tape::new();
    /// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// let root = tape.document(source).root().unwrap();
    /// let arena = Bump::new();
    /// let document = Document::read(root, Dialect::of(root).unwrap(), &arena, Profile::Kube).value.unwrap();
    /// let mut out = Vec::new();
    /// document.print(&mut out, Profile::Kube);
    /// assert_eq!(out, br#"{"openapi":"3.0.0","info":{"title":"t","version":"1"}}"#);
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    pub fn read(root: Node<'a>, dialect: Dialect, arena: &'a Bump, profile: Profile) -> Converted<'a, Option<Self>> {
        match dialect {
            Dialect::V2 => v2::read(root, arena, profile).map(|document| document.map(Document::V2)),
            Dialect::V3 => v3::read(root, arena, profile).map(|document| document.map(Document::V3)),
        }
    }

    /// Appends the document as compact JSON, as an API server sends it.
    pub fn print(&self, out: &mut Vec<u8>, profile: Profile) {
        match self {
            Document::V2(document) => document.print(out, Style::V2, profile),
            Document::V3(document) => document.print(out, profile),
        }
    }

    /// The dialect.
    pub fn dialect(&self) -> Dialect {
        match self {
            Document::V2(_) => Dialect::V2,
            Document::V3(_) => Dialect::V3,
        }
    }

    /// The definitions, sorted as they are printed: `definitions` or `components.schemas`.
    pub fn definitions(&self) -> &'a [Property<'a>] {
        match self {
            Document::V2(document) => document.definitions,
            Document::V3(document) => document.components.map_or(&[], |components| components.schemas),
        }
    }

    /// The document in that dialect. A document that is in it already stays as it is.
    ///
    /// `source` is the text that the document was read from. If entries of losses stand in it (see
    /// [`from_v3::Options::keep_losses`]), the v3 document that they are about is restored with
    /// [`Profile::Faithful`]; `scratch` holds its text.
    ///
    /// The value is `None` if a conversion refuses the document, or the entries of losses are not as they were written.
    /// The notes say why, and what is lost.
    pub fn convert(
        &self,
        dialect: Dialect,
        source: &str,
        options: &from_v3::Options,
        scratch: &'a mut Scratch,
        arena: &'a Bump,
    ) -> Converted<'a, Option<Self>> {
        match (self, dialect) {
            (Document::V2(_), Dialect::V2) | (Document::V3(_), Dialect::V3) => {
                Converted { value: Some(*self), notes: Vec::new() }
            }
            (Document::V2(document), Dialect::V3) => {
                let keeps_losses = options.profile == Profile::Faithful
                    && memchr::memmem::find(source.as_bytes(), LOSS.as_bytes()).is_some();
                if !keeps_losses {
                    return from_v2::convert(document, arena, options.profile).map(|v3| v3.map(Document::V3));
                }
                let mut restored = from_v3::restore(document, scratch, arena);
                // Warnings were given about the original; places are in the text that was restored.
                restored.notes.retain(|note| note.code.kind() == NoteKind::Error);
                for note in &mut restored.notes {
                    note.at = document.at;
                }
                restored.map(|v3| v3.map(Document::V3))
            }
            (Document::V3(document), Dialect::V2) => {
                from_v3::convert(document, arena, options).map(|v2| v2.map(Document::V2))
            }
        }
    }
}
