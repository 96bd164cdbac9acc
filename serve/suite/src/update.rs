//! Writes the outcome of a case into its file as the new expectation.

use crate::read::Case;
use crate::run::Answer;
use kubeshape_registry::Object;
use kubeshape_yaml::edit::Edit;
use kubeshape_yaml::{Flags, Node};
use std::ops::Range;

/// The members of a case with expectations.
const EXPECTATIONS: [&str; 4] = ["expected", "expectedError", "expectedStatusError", "expectedWarning"];

/// Returns the edits of a suite that make a case expect an answer. Only expectations change.
///
/// # Errors
/// Returns why the suite cannot be edited: the case is an alias or in flow style, or there is no answer.
pub fn expect_answer(case: &Case, answer: &Answer) -> Result<Vec<Edit>, &'static str> {
    let (name, text, is_object) = match answer {
        Answer::Stored(object) => ("expected", Object::from(object.clone()).to_yaml(), true),
        Answer::Refused(message) => ("expectedError", message.clone(), false),
        Answer::StatusRefused(message) => ("expectedStatusError", message.clone(), false),
        Answer::None => return Err("the case has no answer"),
    };
    let (node, document) = (case.location.node(), case.location.document());
    let source = document.source().text();
    if node.entry().flags.has(Flags::ALIASED) || node.pairs().any(|(key, _)| key.entry().flags.has(Flags::ALIASED)) {
        return Err("the case is an alias, so what it expects cannot be changed for this place alone");
    }
    if source.get(node.span().start..).is_none_or(|rest| rest.starts_with('{')) {
        return Err("the case is written in braces, which are not rewritten");
    }
    if has_other_breaks(source) {
        return Err("the text has line breaks of YAML that are no newlines, such as a carriage return alone");
    }
    let Some(first) = node.pairs().next().map(|(key, _)| key) else { return Err("the case is empty") };
    let column = column(source, first);
    let member = member(name, &text, is_object, column);
    let mut edits = Vec::new();
    let mut is_written = false;
    for (key, value) in node.pairs() {
        if !EXPECTATIONS.contains(&key.text()) {
            continue;
        }
        let range = lines(source, key, value);
        // The first member of a case follows a dash, and stays there.
        let start = if key.span().start == first.span().start { key.span().start } else { range.start };
        let indent = if start == range.start { " ".repeat(column) } else { String::new() };
        let new = if is_written { String::new() } else { format!("{indent}{member}") };
        is_written = true;
        edits.push(Edit { range: start..range.end, text: new });
    }
    if !is_written && let Some((key, value)) = node.pairs().last() {
        let end = lines(source, key, value).end;
        let newline = if source.get(..end).is_some_and(|before| before.ends_with('\n')) { "" } else { "\n" };
        edits.push(Edit { range: end..end, text: format!("{newline}{}{member}", " ".repeat(column)) });
    }
    Ok(edits)
}

/// Returns whether a source has line breaks that editors do not show as such: a carriage return without a newline, NEL,
/// LS, PS.
fn has_other_breaks(source: &str) -> bool {
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        if matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}') || (c == '\r' && rest.peek() != Some(&'\n')) {
            return true;
        }
    }
    false
}

/// Returns the column of a node, from 0.
fn column(source: &str, node: Node<'_>) -> usize {
    let start = node.span().start;
    let line = source.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    source.get(line..start).map_or(0, |text| text.chars().count())
}

/// Returns the whole lines of a member.
fn lines(source: &str, key: Node<'_>, value: Node<'_>) -> Range<usize> {
    let start = source.get(..key.span().start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let end = value.span().end.max(key.span().end);
    if source.get(start..end).is_some_and(|text| text.ends_with('\n')) {
        return start..end;
    }
    let rest = source.get(end..).unwrap_or_default();
    start..rest.find('\n').map_or(source.len(), |at| end + at + 1)
}

/// Formats a member of a case; its first line is not indented.
fn member(name: &str, text: &str, is_object: bool, column: usize) -> String {
    if !is_object {
        return format!("{name}: {}\n", serde_json::Value::from(text));
    }
    let mut out = format!("{name}: |\n");
    for line in text.lines() {
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', column + 2));
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::has_other_breaks;

    #[test]
    fn suites_with_other_line_breaks_are_not_edited() {
        for (text, expected) in [("a\n", false), ("a\r\nb", false), ("a\rb", true), ("a\r", true), ("a\u{2028}", true)]
        {
            assert_eq!(has_other_breaks(text), expected, "{text:?}");
        }
    }
}
