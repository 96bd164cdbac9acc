//! An OpenAPI document.

use crate::{Converted, Findings, Options};
use kubeshape_convert::v2::from_v3::{self, Scratch};
use kubeshape_convert::{document as convert, jsonschema, smd, v3};
use kubeshape_input::{Code, Finding, Input, Limits, Note, Shape};
use kubeshape_registry::Location;
use kubeshape_schema::{Bump, Dialect, Property};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An OpenAPI document, v2 or v3.
///
/// # Example: the JSON Schemas of the kinds of a document
/// ```
/// use kubeshape::{Dialect, Document};
///
/// let document = Document::read("pods.json", r#"{"swagger": "2.0", "definitions": {"a.Pod": {"type": "object",
///   "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}]}}}"#)?;
/// assert_eq!(document.dialect(), Dialect::V2);
/// let schemas = document.json_schemas()?;
/// assert_eq!((schemas[0].0.as_str(), schemas[0].1.as_str()), ("v1", "Pod"));
/// assert!(schemas[0].2.text().contains(r#""const":"Pod""#));
/// # Ok::<(), kubeshape::Findings>(())
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    location: Location,
    dialect: Dialect,
    options: Options,
}

impl Document {
    /// Reads the only document of an input: JSON, YAML or protobuf, compressed or not. An input with only `definitions`
    /// is an OpenAPI v2 document.
    ///
    /// # Errors
    /// The input cannot be read, or does not contain exactly one OpenAPI document.
    pub fn read(name: impl AsRef<str>, text: impl AsRef<[u8]>) -> Result<Document, Findings> {
        let name: Arc<str> = name.as_ref().into();
        let (mut documents, findings) = Document::read_all(Arc::clone(&name), text);
        if findings.iter().any(Finding::is_error) {
            return Err(Findings(findings));
        }
        let found = documents.len();
        match documents.pop() {
            Some(document) if found == 1 => Ok(document),
            _ => {
                let detail = format!("expected exactly one OpenAPI document, found {found}");
                Err(Finding::new(Code::Nothing, detail).in_input(name).into())
            }
        }
    }

    /// Reads all OpenAPI documents of an input, and the findings about the rest. Everything else is skipped.
    pub fn read_all(name: impl AsRef<str>, text: impl AsRef<[u8]>) -> (Vec<Document>, Vec<Finding>) {
        let Input { documents, findings, .. } = kubeshape_input::read(name.as_ref(), text.as_ref(), Limits::default());
        let documents = documents.into_iter().filter_map(|document| {
            let dialect = document.content().dialect()?;
            Some(Document { location: Location::root(Arc::new(document)), dialect, options: Options::default() })
        });
        (documents.collect(), findings)
    }

    /// Returns the same document with other options.
    #[must_use]
    pub fn with(self, options: Options) -> Document {
        Document { options, ..self }
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the document in OpenAPI v3, as compact JSON.
    ///
    /// # Errors
    /// A part of the document has the wrong type, or the converter refuses it.
    pub fn v3(&self) -> Result<Converted, Findings> {
        self.convert(Dialect::V3, Shape::V3)
    }

    /// Returns the document in OpenAPI 3.1, as compact JSON. Nothing is lost of a document of OpenAPI 3.0 or 3.1.
    ///
    /// # Errors
    /// See [`v3`](Self::v3); or the result would be larger than [256 MiB](jsonschema::Options::MOST_BYTES).
    ///
    /// # Example
    /// ```
    /// let source = "{openapi: 3.0.0, paths: {}, components: {schemas: {A: {type: string, nullable: true}}}}";
    /// let later = kubeshape::Document::read("a.yaml", source)?.v31()?;
    /// assert!(later.text().contains(r#""A":{"type":["string","null"]}"#), "{}", later.text());
    /// # Ok::<(), kubeshape::Findings>(())
    /// ```
    pub fn v31(&self) -> Result<Converted, Findings> {
        let (json, mut findings) = if self.dialect == Dialect::V3 {
            let (arena, mut json) = (Bump::new(), Vec::new());
            let read = v3::read_keeping(self.location.node(), &arena, self.options.profile);
            let findings = self.resolve(&read.notes, Shape::V31);
            let Some(document) = read.value else { return Err(Findings(findings)) };
            document.print(&mut json, self.options.profile);
            (json, findings)
        } else {
            let converted = self.convert(Dialect::V3, Shape::V31)?;
            let findings = converted.findings().to_vec();
            (converted.into_bytes(), findings)
        };
        match v3::later::raise_text(&json, self.options.profile, jsonschema::Options::MOST_BYTES) {
            Ok(json) => Ok(Converted::new(json, findings)),
            Err(note) => {
                findings.extend(self.resolve(&[note], Shape::V31));
                Err(Findings(findings))
            }
        }
    }

    /// Returns the document in OpenAPI v2, as compact JSON.
    ///
    /// # Errors
    /// See [`v3`](Self::v3).
    pub fn v2(&self) -> Result<Converted, Findings> {
        self.convert(Dialect::V2, Shape::V2)
    }

    /// Returns the structured-merge-diff schema of the definitions, as YAML.
    ///
    /// # Errors
    /// A part of the document has the wrong type, or a definition has no such schema.
    pub fn smd(&self) -> Result<Converted, Findings> {
        let arena = Bump::new();
        let (document, mut notes) = self.document(&arena)?;
        let definitions = document.definitions();
        let Options { profile, smd_compat: compat, .. } = self.options;
        let options = smd::Options { compat, profile, ..smd::Options::default() };
        let schema = document
            .smd(Some(self.location.node()), options)
            .map_err(|notes| Findings(self.resolve(&notes, Shape::Smd)))?;
        smd::losses::of_definitions(definitions, self.dialect, options, &mut notes);
        let mut out = Vec::new();
        kubeshape_smd::schema::print_yaml(&schema, &mut out);
        Ok(Converted::new(out, self.resolve(&notes, Shape::Smd)))
    }

    /// Returns the JSON Schemas of the kinds of the document, with their `apiVersion` and `kind`, sorted.
    ///
    /// # Errors
    /// A part of the document has the wrong type, or the schemas would have more than
    /// [256 MiB](jsonschema::Options::MOST_BYTES) together.
    pub fn json_schemas(&self) -> Result<Vec<(String, String, Converted)>, Findings> {
        let arena = Bump::new();
        let (document, _) = self.document(&arena)?;
        let by_name: BTreeMap<&str, &Property<'_>> =
            document.definitions().iter().map(|definition| (definition.name, definition)).collect();
        let resolver = |name: &str| by_name.get(name).map(|definition| &definition.schema);
        let mut options = jsonschema::Options {
            draft: self.options.draft,
            strict: self.options.strict,
            ..jsonschema::Options::default()
        };
        let definitions = document.definitions().iter().map(|definition| (definition.name, &definition.schema));
        let mut out = Vec::new();
        for (gvk, name) in jsonschema::kinds(definitions, &arena) {
            let Some(definition) = by_name.get(name) else { continue };
            let made = jsonschema::from_definition(name, &definition.schema, Some(gvk), &resolver, options);
            if made.value.is_empty() {
                return Err(Findings(self.resolve(&made.notes, Shape::JsonSchema)));
            }
            options.most_bytes -= made.value.len();
            let converted = Converted::new(made.value, self.resolve(&made.notes, Shape::JsonSchema));
            out.push((gvk.api_version().to_owned(), gvk.kind().to_owned(), converted));
        }
        Ok(out)
    }

    fn convert(&self, dialect: Dialect, shape: Shape) -> Result<Converted, Findings> {
        let (arena, mut scratch) = (Bump::new(), Scratch::default());
        let (document, mut notes) = self.document(&arena)?;
        let Options { profile, keep_losses, .. } = self.options;
        let options = from_v3::Options { profile, keep_losses, ..from_v3::Options::default() };
        let source = self.location.document().source().text();
        let mut out = Vec::new();
        let printed = document.print_in(dialect, source, &options, &mut scratch, &mut out);
        notes.extend(printed.notes);
        let findings = self.resolve(&notes, shape);
        if printed.value { Ok(Converted::new(out, findings)) } else { Err(Findings(findings)) }
    }

    fn document<'a>(&'a self, arena: &'a Bump) -> Result<(convert::Document<'a>, Vec<Note<'a>>), Findings> {
        let read = convert::Document::read(self.location.node(), self.dialect, arena, self.options.profile);
        match read.value {
            Some(document) => Ok((document, read.notes)),
            None => Err(Findings(self.resolve(&read.notes, Shape::V3))),
        }
    }

    fn resolve(&self, notes: &[Note<'_>], shape: Shape) -> Vec<Finding> {
        let mut resolver = self.location.document().resolver();
        let shape = |note: &Note<'_>| note.code.kind().is_loss().then_some(shape);
        notes.iter().map(|note| resolver.finding_in(note, shape(note))).collect()
    }
}
