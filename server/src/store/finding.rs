//! What the store has to say about inputs.

use kubeshape_schema::{Code, NoteKind};
use std::fmt;
use std::sync::Arc;

/// Something about a file that its author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub code: Code,
    /// The file.
    pub file: Arc<str>,
    /// Line and column, from 1.
    pub place: Option<(usize, usize)>,
    /// The CustomResourceDefinition, or empty.
    pub resource: String,
    /// What is particular to the case.
    pub detail: String,
}

impl Finding {
    pub(super) fn new(
        code: Code,
        file: &Arc<str>,
        place: Option<(usize, usize)>,
        detail: impl Into<String>,
    ) -> Finding {
        Finding { code, file: Arc::clone(file), place, resource: String::new(), detail: detail.into() }
    }

    pub(super) fn of(self, resource: &str) -> Finding {
        Finding { resource: resource.to_owned(), ..self }
    }

    /// Whether the input is wrong, so that the file keeps its content of before.
    pub fn is_error(&self) -> bool {
        self.code.kind() == NoteKind::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {} {}", self.code, self.code.title())?;
        if !self.resource.is_empty() {
            write!(f, " [{}]", self.resource)?;
        }
        if !self.detail.is_empty() {
            write!(f, " {}", self.detail)?;
        }
        Ok(())
    }
}
