//! Prints edits as a unified diff.

use super::Edit;
use std::fmt::Write;
use std::ops::Range;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// Returns the edits as a unified diff with these names. Edits are sorted and do not overlap.
pub fn diff(old_name: &str, new_name: &str, text: &str, edits: &[Edit]) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let starts: Vec<usize> = lines
        .iter()
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .collect();
    let line_of = |at: usize| starts.partition_point(|start| *start <= at).saturating_sub(1);
    let start_of = |line: usize| starts.get(line).copied().unwrap_or(text.len());
    let mut out = format!("--- {old_name}\n+++ {new_name}\n");
    let mut changes: Vec<Change> = Vec::new();
    for (i, edit) in edits.iter().enumerate() {
        let first = line_of(edit.range.start);
        // An edit from the beginning of a line to the beginning of another one does not change the latter.
        let is_whole = edit.range.start == start_of(first) && start_of(line_of(edit.range.end)) == edit.range.end;
        let is_whole = is_whole && edit.text.is_empty() && !edit.range.is_empty();
        let last = if is_whole { line_of(edit.range.end - 1) } else { line_of(edit.range.end) };
        match changes.last_mut() {
            Some(change) if change.lines.end > first => {
                change.lines.end = change.lines.end.max(last + 1);
                change.edits.end = i + 1;
            }
            _ => changes.push(Change { lines: first..last + 1, edits: i..i + 1 }),
        }
    }
    let mut rest = changes.as_slice();
    let mut shift = 0_isize;
    while let Some(first) = rest.first() {
        let near = |pair: &[Change]| pair[1].lines.start <= pair[0].lines.end + 2 * CONTEXT;
        let count = 1 + rest.windows(2).take_while(|pair| near(pair)).count();
        let (hunk, others) = rest.split_at(count);
        rest = others;
        let from = first.lines.start.saturating_sub(CONTEXT);
        let to = hunk.last().map_or(from, |change| change.lines.end + CONTEXT).min(lines.len());
        let mut body = String::new();
        let mut new_lines = 0;
        let mut at = from;
        for change in hunk {
            lines[at..change.lines.start].iter().for_each(|line| put(&mut body, ' ', line));
            new_lines += change.lines.start - at;
            let (start, end) = (start_of(change.lines.start), start_of(change.lines.end));
            let mut new = String::new();
            let mut copied = start;
            for edit in &edits[change.edits.clone()] {
                new.push_str(text.get(copied..edit.range.start).unwrap_or_default());
                new.push_str(&edit.text);
                copied = edit.range.end;
            }
            new.push_str(text.get(copied..end).unwrap_or_default());
            let old = &lines[change.lines.clone()];
            let new: Vec<&str> = new.split_inclusive('\n').collect();
            new_lines += new.len();
            // Lines that are the same in both are not part of the change.
            let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
            let tails = old[head..].iter().rev().zip(new[head..].iter().rev());
            let tail = tails.take_while(|(old, new)| old == new).count();
            old[..head].iter().for_each(|line| put(&mut body, ' ', line));
            old[head..old.len() - tail].iter().for_each(|line| put(&mut body, '-', line));
            new[head..new.len() - tail].iter().for_each(|line| put(&mut body, '+', line));
            old[old.len() - tail..].iter().for_each(|line| put(&mut body, ' ', line));
            at = change.lines.end;
        }
        lines[at..to].iter().for_each(|line| put(&mut body, ' ', line));
        new_lines += to - at;
        let begin = from.saturating_add_signed(shift);
        // An empty range names the line before it.
        let number = |start: usize, count: usize| if count == 0 { start } else { start + 1 };
        let (old, new) = (number(from, to - from), number(begin, new_lines));
        let _ = writeln!(out, "@@ -{old},{} +{new},{new_lines} @@", to - from);
        out.push_str(&body);
        shift += new_lines.cast_signed() - (to - from).cast_signed();
    }
    out
}

/// Lines that edits change together.
struct Change {
    lines: Range<usize>,
    edits: Range<usize>,
}

fn put(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}
