//! Files, their parts and their names.

use kubeshape_input::{Code, Finding, Limits, MOST_OF_A_CODE, Place, read};
use kubeshape_language::{Encoding, File, Judged, Knowledge, Workspace, mask};
use lsp_types::{Position, Range, TextDocumentContentChangeEvent};
use std::sync::Arc;

/// Finds each part that has the word `bad`, and counts how often it is asked.
#[derive(Default)]
struct Counting {
    asked: usize,
    /// Whether findings name lines.
    names_lines: bool,
    held: usize,
}

impl Knowledge for Counting {
    fn judge(&mut self, name: &Arc<str>, text: &str) -> Judged {
        self.asked += 1;
        let Some(at) = text.find("bad") else { return Judged::default() };
        let place = Place::of(text, at);
        let detail = if self.names_lines { format!("line {}", place.line) } else { String::new() };
        let mut finding = Finding::new(Code::ObjectField, detail).in_input(Arc::clone(name));
        (finding.place, finding.span) = (Some(place), Some(at..at + 3));
        let held = (self.held > 0).then(|| (Box::new(finding.clone()), self.held));
        let objects = vec![finding; if self.held > 0 { MOST_OF_A_CODE } else { 1 }];
        Judged { objects, held_of_objects: held.into_iter().collect(), ..Judged::default() }
    }
}

fn change(line: u32, column: u32, text: &str) -> TextDocumentContentChangeEvent {
    let at = Position::new(line, column);
    TextDocumentContentChangeEvent { range: Some(Range::new(at, at)), range_length: None, text: text.to_owned() }
}

const THREE: &str = "apiVersion: v1\n---\nb: bad\n---\nc: bad\n";

#[test]
fn only_the_edited_part_is_judged_again() {
    let mut counting = Counting::default();
    let mut file = File::new("a.yaml", 1, THREE.to_owned(), false);
    let lines = |found: Vec<Finding>| found.iter().map(|found| found.place.unwrap().line).collect::<Vec<_>>();
    assert_eq!((lines(file.findings(&mut counting)), counting.asked), (vec![3, 5], 3));
    file.change(2, &[change(0, 0, "# é\n\n")], Encoding::Utf16);
    let found = file.findings(&mut counting);
    let text = file.text().as_str().to_owned();
    assert!(found.iter().all(|found| text.get(found.span.clone().unwrap()) == Some("bad")));
    assert_eq!((lines(found), counting.asked), (vec![5, 7], 4));
    file.change(3, &[change(4, 0, "x")], Encoding::Utf16);
    assert_eq!((lines(file.findings(&mut counting)), counting.asked), (vec![5, 7], 5));
    // A part that is no longer the last one is read to its end.
    file.change(4, &[change(7, 0, "---\n")], Encoding::Utf16);
    assert_eq!((lines(file.findings(&mut counting)), counting.asked), (vec![5, 7], 7));
}

#[test]
fn messages_that_name_lines_follow_their_part() {
    let mut counting = Counting { names_lines: true, ..Counting::default() };
    let mut file = File::new("a.yaml", 1, THREE.to_owned(), false);
    file.findings(&mut counting);
    file.change(2, &[change(0, 0, "\n")], Encoding::Utf16);
    let found = file.findings(&mut counting);
    let details: Vec<&str> = found.iter().map(|found| found.detail.as_str()).collect();
    assert_eq!(details, ["line 4", "line 6"]);
    let text = file.text().as_str().to_owned();
    assert!(found.iter().all(|found| text.get(found.span.clone().unwrap()) == Some("bad")), "{found:?}");
}

#[test]
fn findings_of_one_code_are_limited_as_in_the_whole_file() {
    let mut counting = Counting { held: 2, ..Counting::default() };
    let found = File::new("a.yaml", 1, THREE.to_owned(), false).findings(&mut counting);
    let last = found.last().unwrap();
    assert_eq!(found.len(), MOST_OF_A_CODE + 1);
    assert_eq!(last.detail, format!("{} more findings of this kind are not shown", MOST_OF_A_CODE + 4));
    assert_eq!(last.place.unwrap().line, 3);
}

#[test]
fn unclosed_quotes_end_with_their_document() {
    struct Reading;
    impl Knowledge for Reading {
        fn judge(&mut self, name: &Arc<str>, text: &str) -> Judged {
            let file = read(Arc::clone(name), text.as_bytes(), Limits::default()).findings;
            Judged { file, ..Judged::default() }
        }
    }
    for text in [
        "a: 'x\n---\nb: [1,\n--- # c\nc: \"\n",
        "a: |\n x\n---\n---\n--- b\n...\nrest\n---\n{\"a\": 1}\n{\n",
        "- a\n\n---\n...\n# c",
    ] {
        let text = format!("apiVersion: v1\n---\n{text}");
        let whole = read("a.yaml", text.as_bytes(), Limits::default()).findings;
        assert_eq!(File::new("a.yaml", 1, text.clone(), false).findings(&mut Reading), whole, "{text}");
    }
}

#[test]
fn a_line_with_many_actions_is_looked_at_once() {
    let text = format!("a: {}\n", "{{ .x }}".repeat(100_000));
    let masked = mask(&text).unwrap();
    assert_eq!(masked.text, format!("a: {}\n", "x".repeat(800_000)));
    assert!(masked.touches(&(3..4)) && !masked.touches(&(0..1)));
    assert_eq!(mask("{{- /* }} */ -}}\n# {{ a").unwrap().text, "                \n# xxxx");
}

#[test]
fn names_of_a_broken_document_are_the_last_ones() {
    let mut workspace = Workspace::new(Encoding::Utf16);
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    workspace.open("file:///a.yaml", File::new("a.yaml", 1, text.to_owned(), false));
    assert_eq!(workspace.names().len(), 1);
    workspace.file_mut("file:///a.yaml").unwrap().change(2, &[change(3, 0, "data: {")], Encoding::Utf16);
    assert_eq!(workspace.names()[0].name, "a");
    workspace.close("file:///a.yaml");
    assert_eq!(workspace.names()[0].kind, "ConfigMap");
}
