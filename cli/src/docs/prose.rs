//! Descriptions: paragraphs, lists and blocks of code.

use crate::show::first_sentence as sentence;
use serde_json::{Value, json};

/// Longer first sentences are cut.
const LONGEST: usize = 160;

/// Returns the blocks of a description: `text` is a paragraph, `items` a list, `code` what is indented or fenced.
pub(super) fn blocks(text: &str) -> Value {
    let mut out: Vec<Value> = Vec::new();
    let mut open = Open::None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let words = line.trim();
        if words.starts_with("```") {
            open.close(&mut out);
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.trim().starts_with("```")).collect();
            out.push(json!({ "code": code.join("\n") }));
            continue;
        }
        if words.is_empty() {
            if !matches!(open, Open::Code(_)) {
                open.close(&mut out);
            } else if let Open::Code(lines) = &mut open {
                lines.push(line);
            }
            continue;
        }
        let item = ["- ", "* "].iter().find_map(|mark| words.strip_prefix(mark));
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        match (&mut open, item) {
            (Open::Code(lines), _) if is_indented => lines.push(line),
            (Open::Items(items), Some(item)) => items.push(vec![item.trim()]),
            (_, Some(item)) => {
                open.close(&mut out);
                open = Open::Items(vec![vec![item.trim()]]);
            }
            (Open::Items(items), None) => items.extend_last(words),
            (Open::Text(lines), None) => lines.push(words),
            (Open::None, None) if is_indented => open = Open::Code(vec![line]),
            (_, None) => {
                open.close(&mut out);
                open = Open::Text(vec![words]);
            }
        }
    }
    open.close(&mut out);
    out.into()
}

/// A block that has no end yet.
enum Open<'t> {
    None,
    Text(Vec<&'t str>),
    Items(Vec<Vec<&'t str>>),
    Code(Vec<&'t str>),
}

impl Open<'_> {
    fn close(&mut self, out: &mut Vec<Value>) {
        match std::mem::replace(self, Open::None) {
            Open::None => {}
            Open::Text(lines) => out.push(json!({ "text": lines.join(" ") })),
            Open::Items(items) => {
                out.push(json!({ "items": items.iter().map(|lines| lines.join(" ")).collect::<Vec<_>>() }));
            }
            Open::Code(lines) => out.push(json!({ "code": unindented(&lines) })),
        }
    }
}

trait Items<'t> {
    fn extend_last(&mut self, words: &'t str);
}

impl<'t> Items<'t> for Vec<Vec<&'t str>> {
    fn extend_last(&mut self, words: &'t str) {
        if let Some(last) = self.last_mut() {
            last.push(words);
        }
    }
}

/// Returns lines without the blanks that all of them begin with.
fn unindented(lines: &[&str]) -> String {
    let indent = |line: &&&str| line.len() - line.trim_start().len();
    let common = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(&line)).min().unwrap_or(0);
    let lines: Vec<&str> = lines.iter().map(|line| line.get(common..).unwrap_or_default()).collect();
    lines.join("\n").trim_end().to_owned()
}

/// Returns the first sentence of a description in one line.
pub(super) fn first_sentence(text: &str) -> String {
    let sentence = sentence(text);
    match sentence.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", sentence[..cut].trim_end()),
        None => sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::{blocks, first_sentence};
    use serde_json::json;

    #[test]
    fn a_description_has_paragraphs_lists_and_code() {
        let text = "One\ntwo.\n\nThree:\n- a\n  b\n- c\n\n    x:\n      y\n\n* d\n```yaml\n- z\n```\nEnd";
        let expected = json!([
            {"text": "One two."},
            {"text": "Three:"},
            {"items": ["a b", "c"]},
            {"code": "x:\n  y"},
            {"items": ["d"]},
            {"code": "- z"},
            {"text": "End"},
        ]);
        assert_eq!(blocks(text), expected);
        assert_eq!(blocks(" \n"), json!([]));
    }

    #[test]
    fn the_first_sentence_is_one_line() {
        assert_eq!(first_sentence("A b\nc. D.\n\nE"), "A b c.");
        assert_eq!(first_sentence(&"x".repeat(200)).chars().count(), 161);
    }
}
