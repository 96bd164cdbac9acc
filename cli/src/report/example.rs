//! Objects that show what a finding is about.

use kubeshape_smd::{Bump, ToValue};
use std::fmt::Write as _;

/// Prints an object that shows something as YAML. Long values are cut.
pub(crate) fn example(object: &serde_json::Value) -> String {
    const LINES: usize = 60;
    const COLUMNS: usize = 160;
    let arena = Bump::new();
    let whole = kubeshape_registry::print::yaml(object.to_value(&arena));
    let mut out = String::new();
    for line in whole.lines().take(LINES) {
        match line.char_indices().nth(COLUMNS) {
            Some((end, _)) => {
                let _ = writeln!(out, "{}… # {} characters", &line[..end], line.chars().count());
            }
            None => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    if let Some(more) = whole.lines().count().checked_sub(LINES).filter(|more| *more > 0) {
        let _ = writeln!(out, "# {more} more lines");
    }
    out
}

/// Indents a text that is printed to people.
pub(crate) fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}
