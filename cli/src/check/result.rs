//! The results for a file.

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
    /// In source order.
    pub(super) events: Vec<Event>,
    /// Whether it has a definition.
    pub(super) found: bool,
    /// Whether anything in it could not be read.
    pub(super) failed: bool,
    /// Whether its bytes could not be read.
    pub(super) unreadable: bool,
    /// The documents, if there are admission policies among them.
    pub(super) policies: Vec<Location>,
    /// The objects that may be parameters of policies.
    pub(super) others: Others,
    /// The new contents.
    pub(super) fixed: Option<Fixed>,
}

/// A finding, or the verdict on a definition.
#[derive(Debug)]
pub(super) enum Event {
    Finding(Finding),
    Verdict(Verdict),
}

/// The answers of the releases about a definition.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) input: Arc<str>,
    /// The location of its name.
    pub(super) place: Option<Place>,
    /// The finding if another definition already has the name.
    pub(super) again: Box<Finding>,
    /// The finding if another definition has one of its names.
    pub(super) in_use: Box<Finding>,
    /// The answer in one line.
    pub(super) text: String,
    /// The answers. Their problems are earlier findings.
    pub(super) report: Report,
    /// The locations of the expressions whose costs the report has.
    pub(super) expressions: BTreeMap<u32, Place>,
}

impl Verdict {
    /// Returns the name of the definition, or that of the input if it has none.
    pub(super) fn label(&self) -> &str {
        if self.report.name.is_empty() { &self.input } else { &self.report.name }
    }
}

/// The result for an input.
pub(super) struct Judged {
    pub(super) result: FileResult,
    /// One per document that can be read, in order, if edits are requested.
    pub(super) documents: Vec<Planned>,
    /// Whether the bytes are those of the file, not decompressed.
    pub(super) is_plain: bool,
}

/// The problems of a document, and the edits for them.
pub(super) struct Planned {
    pub(super) problems: Vec<Problem>,
    pub(super) plan: Plan,
}

/// The new contents of a file.
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
