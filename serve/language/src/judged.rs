//! The findings of a part of a file, and of the file.

use kubeshape_input::{Capped, Finding, Place};
use std::collections::BTreeMap;

/// What is found in a part of a file.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Findings about the part.
    pub file: Vec<Finding>,
    /// Findings that are held back, the first of each code, and their number.
    pub held_of_file: Vec<(Box<Finding>, usize)>,
    /// Findings about its objects.
    pub objects: Vec<Finding>,
    /// See `held_of_file`.
    pub held_of_objects: Vec<(Box<Finding>, usize)>,
    /// Findings about its definitions.
    pub definitions: Vec<Finding>,
    /// The names of its definitions, and for each the finding if the name is already defined.
    pub names: Vec<(String, Finding)>,
    /// Whether it has admission policies, which are checked with those of the other parts.
    pub has_policies: bool,
    /// Whether the findings depend on the schemas.
    pub depends: bool,
}

impl Judged {
    fn all(&self) -> impl Iterator<Item = &Finding> {
        let held = self.held_of_file.iter().chain(&self.held_of_objects).map(|(finding, _)| &**finding);
        self.file.iter().chain(&self.objects).chain(&self.definitions).chain(held)
    }

    /// Returns whether a message may name a line of the file. Such messages change if the part moves.
    pub(crate) fn names_lines(&self, name: &str) -> bool {
        let names = |text: &str| text.contains("line") || text.contains(name);
        self.all().any(|finding| {
            let own = [Some(&finding.detail), finding.exact.as_ref(), finding.advice.as_ref()];
            own.into_iter().flatten().chain(&finding.notes).any(|text| names(text))
        })
    }
}

/// How far a part is from where it was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shift {
    pub(crate) lines: usize,
    /// Bytes to add, and to subtract.
    pub(crate) bytes: (usize, usize),
}

impl Shift {
    fn finding(self, mut finding: Finding) -> Finding {
        if let Some(place) = &mut finding.place {
            *place = Place { line: place.line + self.lines, ..*place };
        }
        let moved = |at: usize| (at + self.bytes.0).saturating_sub(self.bytes.1);
        if let Some(span) = &mut finding.span {
            *span = moved(span.start)..moved(span.end);
        }
        for edit in &mut finding.edits {
            edit.range = moved(edit.range.start)..moved(edit.range.end);
        }
        finding
    }
}

/// Returns the findings of a file, in the order of the commands: about the file, its objects, its definitions.
pub(crate) fn join<'j>(parts: impl Iterator<Item = (&'j Judged, Shift)> + Clone) -> Vec<Finding> {
    let mut out = Vec::new();
    for is_file in [true, false] {
        let mut capped = Capped::default();
        for (part, shift) in parts.clone() {
            let (findings, held) =
                if is_file { (&part.file, &part.held_of_file) } else { (&part.objects, &part.held_of_objects) };
            let moved = findings.iter().map(|finding| Box::new(shift.finding(finding.clone())));
            out.extend(moved.filter_map(|finding| capped.admit(finding)).map(|finding| *finding));
            for (first, count) in held {
                capped.hold(Box::new(shift.finding((**first).clone())), *count);
            }
        }
        out.extend(capped.rest().map(|finding| *finding));
    }
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    for (part, shift) in parts {
        out.extend(part.definitions.iter().map(|finding| shift.finding(finding.clone())));
        for (name, again) in &part.names {
            let mut again = shift.finding(again.clone());
            match names.get(name.as_str()) {
                Some(place) => {
                    again.detail = format!("{name} is already defined in {place}");
                    out.push(again);
                }
                None => {
                    names.insert(name, again.location());
                }
            }
        }
    }
    out
}
