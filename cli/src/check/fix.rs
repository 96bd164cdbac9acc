//! `--fix`: edits a file, and writes it.

use super::Context;
use super::result::{FileResult, Fixed, Judged};
use kubeshape_check::fix::{Edit, Types, apply, diff, is_expected, is_made};
use kubeshape_input::{Code, Finding, Reader};
use std::sync::Arc;

/// The use of edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fix {
    /// The file is written.
    Write,
    /// They are shown.
    Show,
}

/// The result for a file.
pub(super) enum Outcome {
    /// There is something to write.
    Fixed(Box<FileResult>),
    /// The file is unchanged, possibly for a reason that must be reported.
    Left(Box<FileResult>, Option<String>),
}

/// Checks a file, edits it, and checks it again. If the second verdict is not the expected one, the file is unchanged.
pub(super) fn file(
    context: &Context,
    name: &Arc<str>,
    bytes: &[u8],
    judge: &mut impl FnMut(&[u8], Option<Types>) -> Judged,
) -> Outcome {
    let mut first = judge(bytes, Some(Types::Written));
    let mut edits = edits_of(&first);
    if edits.is_empty() {
        return through(context, first.result, name, bytes, None);
    }
    if !first.is_plain {
        return through(context, first.result, name, bytes, Some("it is compressed".to_owned()));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return through(context, first.result, name, bytes, None) };
    let mut new = apply(text, &edits);
    let mut second = judge(new.as_bytes(), Some(Types::Written));
    if !is_sound(context, name, bytes, &first, new.as_bytes(), &second) {
        // A type may uncover other errors.
        first = judge(bytes, Some(Types::Kept));
        edits = edits_of(&first);
        if edits.is_empty() {
            return through(context, first.result, name, bytes, None);
        }
        new = apply(text, &edits);
        second = judge(new.as_bytes(), Some(Types::Kept));
        if !is_sound(context, name, bytes, &first, new.as_bytes(), &second) {
            let why = "the text or the findings would not be the expected ones after the edits";
            return through(context, first.result, name, bytes, Some(why.to_owned()));
        }
    }
    let shown = (context.fix == Some(Fix::Show)).then(|| {
        // Git's names for files, so that `patch -p1` finds them.
        let path = name.trim_start_matches("./").trim_start_matches('/').replace(char::is_control, "\u{FFFD}");
        diff(&format!("a/{path}"), &format!("b/{path}"), text, &edits)
    });
    let (mut result, before) = match shown {
        Some(_) => (first.result, Vec::new()),
        None => (second.result, first.result.events),
    };
    result.fixed = Some(Fixed { old: bytes.to_vec(), new: new.into_bytes(), edits: edits.len(), diff: shown, before });
    Outcome::Fixed(Box::new(result))
}

/// Returns a file without edits. Standard input is copied to the output.
fn through(context: &Context, mut result: FileResult, name: &str, bytes: &[u8], why: Option<String>) -> Outcome {
    if name == "-" && context.fix == Some(Fix::Write) {
        let (old, new) = (Vec::new(), bytes.to_vec());
        result.fixed = Some(Fixed { old, new, edits: 0, diff: None, before: Vec::new() });
    }
    Outcome::Left(Box::new(result), why)
}

fn edits_of(judged: &Judged) -> Vec<Edit> {
    judged.documents.iter().flat_map(|document| document.plan.edits.iter().cloned()).collect()
}

/// Returns whether a file after edits has the expected contents and problems, and needs no further edits.
fn is_sound(context: &Context, name: &Arc<str>, old: &[u8], first: &Judged, new: &[u8], second: &Judged) -> bool {
    if first.documents.len() != second.documents.len() || !edits_of(second).is_empty() {
        return false;
    }
    let mut pairs = first.documents.iter().zip(&second.documents);
    if !pairs.all(|(old, new)| is_expected(&old.problems, &new.problems, &old.plan)) {
        return false;
    }
    let (mut before, mut after) = (Reader::new(), Reader::new());
    let mut before = before.documents(Arc::clone(name), old, context.limits);
    let mut after = after.documents(Arc::clone(name), new, context.limits);
    let mut plans = first.documents.iter();
    loop {
        let is_same = match (before.next(), after.next()) {
            (None, None) => return plans.next().is_none(),
            (Some(Err(_)), Some(Err(_))) => true,
            (Some(Ok(old)), Some(Ok(new))) => {
                plans.next().is_some_and(|planned| is_made(old.root(), new.root(), &planned.plan))
            }
            _ => false,
        };
        if !is_same {
            return false;
        }
    }
}

/// Returns the finding that a file is unchanged.
pub(super) fn not_fixed(name: &str, why: &str) -> Finding {
    Finding::new(Code::NotFixed, why).in_input(name)
}
