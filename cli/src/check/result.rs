//! What is found in a file, and what is to be written.

use kubeshape_check::fix::Plan;
use kubeshape_check::{Problem, Report};
use kubeshape_input::{Finding, Place};
use kubeshape_registry::Location;
use kubeshape_registry::policy::Others;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The result for a file.
#[derive(Debug, Default)]
pub(super) struct FileResult {
    /// In the order of the file.
    pub(super) events: Vec<Event>,
    /// Whether there is a definition in it.
    pub(super) found: bool,
    /// Whether anything in it could not be read.
    pub(super) failed: bool,
    /// Whether its bytes could not be read.
    pub(super) unreadable: bool,
    /// The documents, if there are admission policies among them.
    pub(super) policies: Vec<Location>,
    /// The objects that may be parameters of policies.
    pub(super) others: Others,
    /// What is to be written.
    pub(super) fixed: Option<Fixed>,
}

/// A finding, or the verdict on a definition.
#[derive(Debug)]
pub(super) enum Event {
    Finding(Finding),
    Verdict(Verdict),
}

/// What the releases say about a definition.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) input: Arc<str>,
    /// Place of its name.
    pub(super) place: Option<Place>,
    /// The finding if another definition has the name already.
    pub(super) again: Box<Finding>,
    /// The finding if another definition has one of its names.
    pub(super) in_use: Box<Finding>,
    /// The answer in one line.
    pub(super) text: String,
    /// The answers. Their problems are findings before this.
    pub(super) report: Report,
    /// The places of the expressions whose costs the report has.
    pub(super) expressions: BTreeMap<u32, Place>,
}

impl Verdict {
    /// The name of the definition, or that of the input if it has none.
    pub(super) fn label(&self) -> &str {
        if self.report.name.is_empty() { &self.input } else { &self.report.name }
    }
}

/// The result for a text.
pub(super) struct Judged {
    pub(super) result: FileResult,
    /// Per document that can be read, in order, if edits are requested.
    pub(super) documents: Vec<Planned>,
    /// Whether the text is that of the file, not unpacked from it.
    pub(super) is_plain: bool,
}

/// The problems of a document, and the edits for them.
pub(super) struct Planned {
    pub(super) problems: Vec<Problem>,
    pub(super) plan: Plan,
}

/// The new text of a file.
#[derive(Debug)]
pub(super) struct Fixed {
    pub(super) old: Vec<u8>,
    pub(super) new: Vec<u8>,
    /// The number of edits.
    pub(super) edits: usize,
    /// Set if the edits are shown.
    pub(super) diff: Option<String>,
    /// The findings if the file cannot be written.
    pub(super) before: Vec<Event>,
}
