//! What the reports have in common.

use crate::report::clean::clean;
use kubeshape_ownership::{Change, ChangeKind, OwnerOf};
use serde_json::Value as Json;
use std::fmt::Write as _;

/// The longest value that is printed.
const LONGEST: usize = 40;
/// The maximum number of fields in one list.
pub(super) const MOST: usize = 50;

/// Returns a value on one line.
pub(super) fn value(value: Option<&Json>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    let short: String = text.chars().take(LONGEST).collect();
    clean(&if short.len() < text.len() { format!("{short}…") } else { short })
}

/// Returns a change on one line.
pub(super) fn change(change: &Change) -> String {
    let path = clean(&change.path);
    let (before, after) = (value(change.before.as_ref()), value(change.after.as_ref()));
    match change.kind {
        ChangeKind::Added => format!("+ {path}: {after}"),
        ChangeKind::Changed => format!("~ {path}: {before} -> {after}"),
        ChangeKind::Removed => format!("- {path}: {before}"),
    }
}

/// Returns how an owner wrote: `Update /status apps/v1beta1`.
pub(super) fn how(owner: &OwnerOf, version: &str) -> String {
    let mut out = owner.operation.to_string();
    if !owner.subresource.is_empty() {
        let _ = write!(out, " /{}", owner.subresource);
    }
    if owner.api_version != version {
        let _ = write!(out, " {}", owner.api_version);
    }
    clean(&out)
}

/// Adds lines with an indent, at most [`MOST`].
pub(super) fn lines(out: &mut String, indent: &str, all: impl ExactSizeIterator<Item = String>) {
    let more = all.len().saturating_sub(MOST);
    for line in all.take(MOST) {
        let _ = writeln!(out, "{indent}{line}");
    }
    if more > 0 {
        let _ = writeln!(out, "{indent}… and {more} more");
    }
}

/// Returns a number with its noun.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
