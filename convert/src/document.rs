//! A document of either dialect.

use crate::budget::too_large;
use crate::smd::{self, SmdError};
use crate::v2::from_v3::{self, LOSS, Scratch};
use crate::v3::from_v2;
use crate::{proto, v2, v3};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Code, Converted, Dialect, Note, NoteKind, Profile, Property};
use kubeshape_yaml::{Limits, Node, Stream, Tape};

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
    /// The value is `None` if a value has the wrong type. The notes have what was found and its location.
    ///
    /// # Example: a document as Kubernetes prints it
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

    /// Does the same, but returns `false` and appends nothing if the JSON exceeds `most_bytes`.
    #[must_use]
    pub fn print_within(&self, out: &mut Vec<u8>, profile: Profile, most_bytes: usize) -> bool {
        match self {
            Document::V2(document) => document.print_within(out, Style::V2, profile, most_bytes),
            Document::V3(document) => document.print_within(out, profile, most_bytes),
        }
    }

    /// Passes the same JSON to `give` in pieces, so that it is never in memory as a whole: parts that definitions share
    /// are printed once for each of them, so it may be much larger than the document. Returns `false` if it exceeds
    /// `most_bytes`; then the pieces are of no use.
    ///
    /// # Example
    /// ```
    /// use kubeshape_convert::document::Document;
    /// use kubeshape_convert::v2;
    /// use kubeshape_schema::Profile;
    ///
    /// let document = Document::V2(v2::Document { swagger: "2.0", ..v2::Document::default() });
    /// let mut out = Vec::new();
    /// assert!(document.print_in_pieces(Profile::Kube, 100, &mut |piece| out.extend_from_slice(piece)));
    /// assert_eq!(out, br#"{"swagger":"2.0","paths":null}"#);
    /// ```
    #[must_use]
    pub fn print_in_pieces(&self, profile: Profile, most_bytes: usize, give: &mut dyn FnMut(&[u8])) -> bool {
        match self {
            Document::V2(document) => document.print_in_pieces(Style::V2, profile, most_bytes, give),
            Document::V3(document) => document.print_in_pieces(profile, most_bytes, give),
        }
    }

    /// Returns its location in the tape from which it was read.
    pub fn at(&self) -> u32 {
        match self {
            Document::V2(document) => document.at,
            Document::V3(document) => document.at,
        }
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> Dialect {
        match self {
            Document::V2(_) => Dialect::V2,
            Document::V3(_) => Dialect::V3,
        }
    }

    /// Returns the definitions, sorted as they are printed: `definitions` or `components.schemas`.
    pub fn definitions(&self) -> &'a [Property<'a>] {
        match self {
            Document::V2(document) => document.definitions,
            Document::V3(document) => document.components.map_or(&[], |components| components.schemas),
        }
    }

    /// Converts the document to that dialect. A document that already has it is not changed.
    ///
    /// `source` is the source from which the document was read. If it contains recorded losses (see
    /// [`from_v3::Options::keep_losses`]), [`Profile::Faithful`] restores the v3 document to which they belong;
    /// `scratch` stores its source.
    ///
    /// The value is `None` if a conversion rejects the document, or if the recorded losses were changed. The notes have
    /// the reason, and what is lost.
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
                if !carries_losses(source, *options) {
                    return from_v2::convert(document, arena, options.profile).map(|v3| v3.map(Document::V3));
                }
                let mut restored = from_v3::restore(document, scratch, arena);
                // The original had the warnings already; locations are in the restored source.
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

    /// Appends the document in that dialect as compact JSON. The output is that of [`convert`](Self::convert) and
    /// [`print`](Self::print), but uses less memory if the conversion can continue while the document is printed.
    ///
    /// If [`convert`](Self::convert) returns `None`, the value is `false` and nothing is appended. The notes are the
    /// same, in printed order.
    ///
    /// # Example
    /// ```
    /// use kubeshape_convert::document::Document;
    /// use kubeshape_convert::v2;
    /// use kubeshape_convert::v2::from_v3::{Options, Scratch};
    /// use kubeshape_schema::{Dialect, Profile};
    ///
    /// let document = Document::V2(v2::Document { swagger: "2.0", ..v2::Document::default() });
    /// let options = Options { profile: Profile::Faithful, ..Options::default() };
    /// let mut out = Vec::new();
    /// assert!(document.print_in(Dialect::V3, "", &options, &mut Scratch::default(), &mut out).value);
    /// assert_eq!(out, br#"{"openapi":"3.0.0","info":{},"paths":{}}"#);
    /// ```
    pub fn print_in(
        &self,
        dialect: Dialect,
        source: &str,
        options: &from_v3::Options,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Converted<'static, bool> {
        if let (Document::V2(document), Dialect::V3, false) = (self, dialect, carries_losses(source, *options)) {
            return from_v2::print_within(document, out, options.profile, options.most_bytes);
        }
        let arena = Bump::new();
        let converted = self.convert(dialect, source, options, scratch, &arena);
        let mut notes: Vec<Note<'static>> = converted.notes.into_iter().map(Note::into_owned).collect();
        let Some(document) = &converted.value else { return Converted { value: false, notes } };
        let fits = document.print_within(out, options.profile, options.most_bytes);
        if !fits {
            notes.push(too_large(self.at(), options.most_bytes));
        }
        Converted { value: fits, notes }
    }

    /// Converts the definitions to a structured-merge-diff schema.
    ///
    /// A v3 document is converted by [`smd::from_v3`]. A v2 document is converted by [`smd::from_v2`]: with
    /// [`Profile::Faithful`] directly, with [`Profile::Kube`] through its protobuf form as `kubectl` does, so that
    /// documents without such a form are rejected. `root` is the root from which the document was read. Without it, the
    /// printed document is used instead, and the notes have no locations.
    ///
    /// # Errors
    /// The reasons why there is no such schema.
    ///
    /// # Example
    /// ```
    /// use kubeshape_convert::document::Document;
    /// use kubeshape_convert::smd::Options;
    /// use kubeshape_convert::v3;
    /// use kubeshape_schema::{Property, Schema, Type};
    ///
    /// let name = Property { name: "Name", at: 0, schema: Schema { ty: Type::String, ..Schema::default() } };
    /// let components = v3::Components { schemas: &[name], ..v3::Components::default() };
    /// let document = Document::V3(v3::Document { components: Some(&components), ..v3::Document::default() });
    /// let schema = document.smd(None, Options::default()).unwrap();
    /// assert!(schema.find_type("Name").is_some());
    /// ```
    pub fn smd(&self, root: Option<Node<'_>>, options: smd::Options) -> Result<kubeshape_smd::Schema, Vec<Note<'a>>> {
        let built = match self {
            Document::V3(_) => smd::from_v3::convert(self.definitions(), options),
            Document::V2(_) if options.profile == Profile::Faithful => {
                smd::from_v2::faithful(self.definitions(), options)
            }
            Document::V2(_) => match root {
                Some(root) => {
                    proto::v2::check(root)
                        .map_err(|refusals| refusals.into_iter().map(Note::from).collect::<Vec<_>>())?;
                    smd::from_v2::convert(root.get("definitions"), options)
                }
                None => self.smd_of_printed(options),
            },
        };
        let note = |error: SmdError| Note::new(Code::SmdError, error.at, error.text);
        built.map_err(|errors| errors.into_iter().map(note).collect())
    }

    fn smd_of_printed(&self, options: smd::Options) -> smd::Built {
        let mut json = Vec::new();
        self.print(&mut json, options.profile);
        let mut tape = Tape::new();
        let read = Stream::new(&json, Limits::PRINTED).and_then(|mut stream| {
            let source = stream.source();
            Ok(stream.next(&mut tape).transpose()?.map(|()| source))
        });
        let source = read.map_err(|error| vec![SmdError { text: error.to_string(), at: 0 }])?;
        let root = source.and_then(|source| tape.document(source).root());
        let nowhere = |error| SmdError { at: 0, ..error };
        smd::from_v2::convert(root.and_then(|root| root.get("definitions")), options)
            .map_err(|errors| errors.into_iter().map(nowhere).collect())
    }
}

/// Returns whether recorded losses in a v2 document are read.
fn carries_losses(source: &str, options: from_v3::Options) -> bool {
    options.profile == Profile::Faithful && memchr::memmem::find(source.as_bytes(), LOSS.as_bytes()).is_some()
}
