//! Findings: errors, warnings and losses with everything that users need to know about them.

use crate::{Code, Excerpt, NoteKind, Place};
use kubeshape_yaml::edit::Edit;
use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A form in which Kubernetes publishes or processes an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// The OpenAPI v3 document.
    V3,
    /// The OpenAPI v3 document, in OpenAPI 3.1.
    V31,
    /// The OpenAPI v2 document.
    V2,
    /// The structured-merge-diff schema.
    Smd,
    /// A JSON Schema for each kind.
    JsonSchema,
    /// The structural schema of a CustomResourceDefinition.
    Structural,
    /// The document with which kustomize merges lists.
    Kustomize,
    /// The rules of a CustomResourceDefinition as an admission policy.
    Policy,
    /// The CustomResourceDefinition, with the rules of admission policies.
    Crd,
}

impl Shape {
    /// Returns the name in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Shape::V3 => "v3",
            Shape::V31 => "v3.1",
            Shape::V2 => "v2",
            Shape::Smd => "smd",
            Shape::JsonSchema => "jsonschema",
            Shape::Structural => "structural",
            Shape::Kustomize => "kustomize",
            Shape::Policy => "policy",
            Shape::Crd => "crd",
        }
    }
}

/// An error, a warning or a loss.
///
/// Its [`Display`](fmt::Display) is one line. Serialized, it is an object with the members `code`, `kind`, `pointer`,
/// `input`, `line`, `column`, `resource`, `version`, `shape`, `detail` and `message`, in this order; unknown values are
/// null. These follow if present: `releases`, if only some releases of Kubernetes have the finding; `endLine` and
/// `endColumn`, the column after the marked text; `notes`; and `help`, if there is more specific help than that of the
/// code.
///
/// # Example
/// ```
/// use kubeshape_input::{Code, Finding, Place};
///
/// let mut finding = Finding::new(Code::WrongType, "found a list, expected a text").in_input("a.yaml");
/// finding.place = Some(Place { line: 3, column: 7 });
/// assert_eq!(
///     finding.to_string(),
///     "a.yaml:3:7: KS1005 A field has a value of the wrong type: found a list, expected a text",
/// );
/// assert!(finding.is_error());
/// assert!(serde_json::to_string(&finding)?.starts_with(r#"{"code":"KS1005","kind":"error","pointer":null,"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Its code, which decides its severity and general help.
    pub code: Code,
    /// The name of the input; `None` if it does not concern an input.
    pub input: Option<Arc<str>>,
    /// The line and column in the input.
    pub place: Option<Place>,
    /// JSON pointer within the document.
    pub pointer: Option<String>,
    /// The range in the input's source, in bytes.
    pub span: Option<Range<usize>>,
    /// The line of the input.
    pub excerpt: Option<Excerpt>,
    /// The name of the CustomResourceDefinition or object.
    pub resource: Option<String>,
    /// The name of the version of the CustomResourceDefinition.
    pub version: Option<String>,
    /// The result in which something is lost.
    pub shape: Option<Shape>,
    /// The releases of Kubernetes that have the finding, oldest first, if not all requested releases do: `1.30`.
    pub releases: Vec<String>,
    /// What was found, what was expected and what to do, in this case.
    pub detail: String,
    /// The detail for programs, if `detail` is shorter than the message of the server. Serialized, it is the member
    /// `detail`.
    pub exact: Option<String>,
    /// Further information.
    pub notes: Vec<String>,
    /// What to do, if it can be more specific than the help of the code.
    pub advice: Option<String>,
    /// The edits of the input that do what the advice says, sorted by position. They are not serialized.
    pub edits: Vec<Edit>,
}

impl Finding {
    /// Creates a finding without a location.
    pub fn new(code: Code, detail: impl Into<String>) -> Finding {
        Finding {
            code,
            input: None,
            place: None,
            pointer: None,
            span: None,
            excerpt: None,
            resource: None,
            version: None,
            shape: None,
            releases: Vec::new(),
            detail: detail.into(),
            exact: None,
            notes: Vec::new(),
            advice: None,
            edits: Vec::new(),
        }
    }

    /// Returns the finding with the name of its input.
    #[must_use]
    pub fn in_input(self, name: impl Into<Arc<str>>) -> Finding {
        Finding { input: Some(name.into()), ..self }
    }

    /// Returns the finding with the name of a CustomResourceDefinition or object. An empty name is ignored.
    #[must_use]
    pub fn of_resource(self, name: impl Into<String>) -> Finding {
        Finding { resource: Some(name.into()).filter(|name| !name.is_empty()), ..self }
    }

    /// Returns the kind of finding: an error, a warning or a kind of loss.
    pub fn kind(&self) -> NoteKind {
        self.code.kind()
    }

    /// Returns whether it is an error, so that there is no result or only a part of it.
    pub fn is_error(&self) -> bool {
        self.kind() == NoteKind::Error
    }

    /// Returns whether a conversion lost something, not whether something is wrong with the input.
    pub fn is_loss(&self) -> bool {
        self.kind().is_loss()
    }

    /// Returns the meaning of the code, as a sentence without its full stop.
    pub fn title(&self) -> &'static str {
        self.code.title().trim_end_matches('.')
    }

    /// Returns the message, as one sentence: the meaning of the code, and the detail of this case.
    pub fn message(&self) -> String {
        self.message_of(&self.detail)
    }

    fn message_of(&self, detail: &str) -> String {
        if detail.is_empty() { self.title().to_owned() } else { format!("{}: {detail}", self.title()) }
    }

    /// Returns its location: `INPUT:LINE:COLUMN`, `INPUT`, or nothing.
    pub fn location(&self) -> String {
        match (&self.input, self.place) {
            (None, _) => String::new(),
            (Some(input), None) => input.to_string(),
            (Some(input), Some(place)) => format!("{input}:{place}"),
        }
    }

    /// Returns the column after the marked text, counted in characters from 1, or `None` if the line is not known.
    pub fn end_column(&self) -> Option<usize> {
        let (place, excerpt) = (self.place?, self.excerpt.as_ref()?);
        let marked = excerpt.text.get(excerpt.span.clone()).filter(|marked| !marked.is_empty())?;
        Some(place.column + marked.chars().count())
    }

    /// Returns what to do in this case, else in general: see [`Code::help`].
    pub fn help(&self) -> String {
        self.advice.clone().unwrap_or_else(|| self.code.help())
    }
}

/// `INPUT:LINE:COLUMN: CODE title: detail (in RESOURCE, version VERSION)`
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.input.is_some() {
            write!(f, "{}: ", self.location())?;
        }
        write!(f, "{} {}", self.code, self.message())?;
        match (&self.resource, self.version.as_deref().unwrap_or_default()) {
            (Some(resource), "") => write!(f, " (in {resource})"),
            (Some(resource), version) => write!(f, " (in {resource}, version {version})"),
            (None, _) => Ok(()),
        }
    }
}

impl std::error::Error for Finding {}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let end_column = self.end_column();
        let more = [!self.releases.is_empty(), end_column.is_some(), !self.notes.is_empty(), self.advice.is_some()];
        let more = more.into_iter().filter(|is_there| *is_there).count() + usize::from(end_column.is_some());
        let mut out = serializer.serialize_struct("Finding", 11 + more)?;
        out.serialize_field("code", &format_args!("{}", self.code))?;
        out.serialize_field("kind", self.kind().name())?;
        out.serialize_field("pointer", &self.pointer)?;
        out.serialize_field("input", &self.input.as_deref())?;
        out.serialize_field("line", &self.place.map(|place| place.line))?;
        out.serialize_field("column", &self.place.map(|place| place.column))?;
        out.serialize_field("resource", &self.resource)?;
        out.serialize_field("version", &self.version)?;
        out.serialize_field("shape", &self.shape.map(Shape::name))?;
        let detail = self.exact.as_ref().unwrap_or(&self.detail);
        out.serialize_field("detail", detail)?;
        out.serialize_field("message", &self.message_of(detail))?;
        if !self.releases.is_empty() {
            out.serialize_field("releases", &self.releases)?;
        }
        if let Some(column) = end_column {
            // The marked text is a part of one line.
            out.serialize_field("endLine", &self.place.map(|place| place.line))?;
            out.serialize_field("endColumn", &column)?;
        }
        if !self.notes.is_empty() {
            out.serialize_field("notes", &self.notes)?;
        }
        if let Some(advice) = &self.advice {
            out.serialize_field("help", advice)?;
        }
        out.end()
    }
}
