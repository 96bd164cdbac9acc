//! Rows, and what is found in them.

use kubeshape::Findings;
use kubeshape_input::{Code, Finding};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use std::sync::Arc;

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    /// The name of the text in findings.
    pub name: &'r str,
    /// YAML or JSON, compressed or not.
    pub text: &'r [u8],
    /// The text that `text` replaces, for [`Task::diff`](super::Task::diff).
    pub old: &'r [u8],
}

impl<'r> Row<'r> {
    /// Returns a row without an old text.
    pub fn new(name: &'r str, text: &'r [u8]) -> Row<'r> {
        Row { name, text, old: b"" }
    }
}

/// The result of working on a row.
#[derive(Clone, Debug)]
pub struct Answer {
    /// One word. The functions of [`Task`](super::Task) list the verdicts.
    pub verdict: &'static str,
    /// The findings, in order.
    pub findings: Vec<Finding>,
    /// The results of the row.
    pub results: Vec<Made>,
}

impl Answer {
    /// Returns an answer without results.
    pub(crate) fn new(verdict: &'static str, findings: Vec<Finding>) -> Answer {
        Answer { verdict, findings, results: Vec::new() }
    }

    /// Returns an answer about a row that cannot be worked on.
    pub fn refused(detail: &str, name: &str) -> Answer {
        Answer::new("refused", vec![Finding::new(Code::Unreadable, detail).in_input(name)])
    }
}

/// One result of [`Task::convert`](super::Task::convert), or the class of a definition that [`Task::diff`](super::Task::diff) compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The name of the definition. Empty for a document.
    pub resource: String,
    /// Its version. Empty if the result is for all versions.
    pub version: String,
    /// The shape, as on the command line, or `class`.
    pub shape: &'static str,
    /// The result.
    pub text: String,
}

impl Serialize for Made {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Made", 4)?;
        out.serialize_field("resource", &self.resource)?;
        out.serialize_field("version", &self.version)?;
        out.serialize_field("shape", self.shape)?;
        out.serialize_field("text", &self.text)?;
        out.end()
    }
}

pub(crate) fn fatal(error: &crate::error::Fatal) -> Findings {
    Findings(vec![Finding::new(Code::Unreadable, error.to_string())])
}

/// Returns the name of an input.
pub(crate) fn shared(name: &str) -> Arc<str> {
    Arc::from(name)
}
