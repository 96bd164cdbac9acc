//! Answers in few words.

use crate::report::clean::clean;
use kubeshape_input::Finding;
use kubeshape_language::Fields;
use kubeshape_show::explain::Field;
use std::fmt::Write;

/// The maximum size of a list of findings, in bytes.
const MOST: usize = 8_000;

/// Returns a verdict and findings, one per line, each with its place, its code, and what to do.
pub(super) fn findings(verdict: &str, findings: &[Finding]) -> String {
    let mut out = format!("{verdict}\n");
    for (number, finding) in findings.iter().enumerate() {
        let place = finding.place.map(|place| format!("{place} ")).unwrap_or_default();
        let mut line = format!("{place}{} {}: {}", finding.code, finding.kind().name(), finding.message());
        if let Some(resource) = &finding.resource {
            let _ = write!(line, " (in {resource})");
        }
        for note in &finding.notes {
            let _ = write!(line, "; {note}");
        }
        if let Some(advice) = &finding.advice {
            let _ = write!(line, "; help: {advice}");
        }
        let line = clean(&line);
        if out.len() + line.len() > MOST && number > 0 {
            let _ = writeln!(out, "{} more findings", findings.len() - number);
            break;
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// How much is said of fields, the most first: the number of levels, and the longest description in letters.
const FORMS: [(usize, usize); 6] = [(usize::MAX, 80), (usize::MAX, 0), (3, 0), (2, 0), (1, 80), (1, 0)];

/// Returns the fields below a pointer within a number of bytes: as many levels as fit, with or without descriptions.
/// If the first level does not fit, the end says how many fields are missing. Fields of the metadata, which all kinds
/// have, are shown only if the pointer leads to them.
pub(super) fn fields(head: &str, fields: &Fields, pointer: &str, bytes: usize) -> String {
    let is_common = |field: &Field| pointer.is_empty() && field.pointer.starts_with("/metadata/");
    let inside = |field: &&Field| {
        let is_below = field.pointer.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'));
        is_below && !is_common(field)
    };
    let all: Vec<&Field> = fields.fields.iter().filter(inside).collect();
    let base = pointer.matches('/').count();
    let depth = |field: &Field| {
        // Items and values are no level of their own.
        let steps = field.pointer.split('/').skip(base + 1);
        steps.filter(|step| !matches!(*step, "0" | "*")).count()
    };
    for (levels, longest) in FORMS {
        let shown = all.iter().filter(|field| depth(field) <= levels);
        let lines: Vec<String> = shown.map(|field| line(field, longest)).collect();
        let length: usize = lines.iter().map(String::len).sum();
        let is_last = (levels, longest) == (1, 0);
        if head.len() + length <= bytes || is_last {
            return joined(head, &lines, bytes, all.len());
        }
    }
    head.to_owned()
}

fn joined(head: &str, lines: &[String], bytes: usize, all: usize) -> String {
    /// Room for the last line.
    const REST: usize = 60;
    let mut out = head.to_owned();
    let mut shown = 0;
    for line in lines {
        if out.len() + line.len() + REST > bytes
            && out.len() + lines.iter().skip(shown).map(String::len).sum::<usize>() > bytes
        {
            break;
        }
        out.push_str(line);
        shown += 1;
    }
    if shown < all {
        let _ = writeln!(out, "{} more fields; name a path", all - shown);
    }
    out
}

/// Returns a field in a line.
fn line(field: &Field, longest: usize) -> String {
    let mut out = format!("{} {}", field.path, field.type_name);
    if field.required {
        out.push_str(" required");
    }
    for (name, value) in &field.facts {
        let _ = write!(out, "; {name}: {value}");
    }
    // Every kind has these, with the same descriptions.
    let is_common = matches!(field.pointer.as_str(), "/apiVersion" | "/kind" | "/metadata");
    if longest > 0 && !is_common && !field.description.is_empty() {
        let first = field.description.split(". ").next().unwrap_or_default();
        let _ = write!(out, " # {}", first.chars().take(longest).collect::<String>());
    }
    let mut out = clean(&out);
    out.push('\n');
    out
}
