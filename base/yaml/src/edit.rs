//! Edits of a source that keep the rest unchanged.

use std::ops::Range;

/// A range of a source and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced bytes.
    pub range: Range<usize>,
    /// The replacement.
    pub text: String,
}

/// Applies edits, which must not overlap.
///
/// # Example
/// ```
/// use kubeshape_yaml::edit::{Edit, apply};
/// let edits = [Edit { range: 3..4, text: "2".to_owned() }];
/// assert_eq!(apply("a: 1 # one", &edits), "a: 2 # one");
/// ```
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| edit.range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in sorted {
        out.push_str(text.get(at..edit.range.start).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
