//! Reads the files.

use super::native::Native;
use super::{Action, Condition, Step, StepChange, Steps, check};
use crate::Release;
use crate::literal::Literal;
use kubeshape_yaml::{Limits, Node, Stream, Tape};

/// Reads every definition of every file. Returns the file, the name and the steps.
#[cfg(test)]
pub(super) fn all(release: Release) -> Vec<(&'static str, String, Steps)> {
    let mut out = Vec::new();
    each(|file, name, node| out.push((file, name.to_owned(), steps_of(node, release, &mut Vec::new()))));
    out
}

/// Returns the errors of the files. A test checks that there are none.
#[cfg(test)]
pub(super) fn problems(release: Release) -> Vec<String> {
    let mut out = Vec::new();
    each(|file, name, node| {
        let mut problems = Vec::new();
        steps_of(node, release, &mut problems);
        out.extend(problems.into_iter().map(|problem| format!("{file}: {name}: {problem}")));
    });
    out
}

/// Reads the steps of definitions, in order, and the changes of steps. A definition without steps has an empty entry.
pub(super) fn steps(definitions: &[&str], release: Release) -> (Vec<Steps>, Vec<StepChange>) {
    let mut out: Vec<Steps> = definitions.iter().map(|_| Steps::default()).collect();
    let mut changes = Vec::new();
    each(|_, name, node| {
        for (at, _) in definitions.iter().enumerate().filter(|(_, definition)| **definition == name) {
            if let Some(place) = out.get_mut(at) {
                *place = steps_of(node, release, &mut Vec::new());
                changes_of(node, at, &mut changes);
            }
        }
    });
    (out, changes)
}

/// Adds the changes of the steps and rules of a definition.
fn changes_of(node: Node<'_>, at: usize, out: &mut Vec<StepChange>) {
    let mut open: Vec<(Node<'_>, bool)> = node.pairs().map(|(key, list)| (list, key.text() == "disabled")).collect();
    while let Some((node, is_disabled)) = open.pop() {
        let first = |field: Node<'_>| field.text().split('.').next().map(str::to_owned);
        let field = node.get("field").filter(|_| is_disabled).and_then(first);
        let ends = [minor(node, "since"), minor(node, "until").map(|until| until + 1)];
        for since in ends.into_iter().flatten() {
            out.push(StepChange { at, field: field.clone(), since });
        }
        open.extend(node.items().chain(node.pairs().map(|(_, value)| value)).map(|below| (below, is_disabled)));
    }
}

fn each(with: impl FnMut(&'static str, &str, Node<'_>)) {
    each_of(&kubeshape_builtin::OVERLAY, with);
}

/// Calls `with` for each definition of files: the name of the file, that of the definition, and its value.
pub(super) fn each_of(files: &[(&'static str, &'static str)], mut with: impl FnMut(&'static str, &str, Node<'_>)) {
    for (file, text) in files {
        let mut tape = Tape::new();
        if !matches!(
            Stream::new(text.as_bytes(), Limits::default()).map(|mut stream| stream.next(&mut tape)),
            Ok(Some(Ok(())))
        ) {
            continue;
        }
        let Some(root) = tape.document(text).root() else { continue };
        for (name, node) in root.pairs() {
            with(file, name.text(), node);
        }
    }
}

pub(super) fn steps_of(node: Node<'_>, release: Release, problems: &mut Vec<String>) -> Steps {
    let mut list = |key: &str| {
        let items = node.get(key)?.items();
        Some(items.filter_map(|item| step(item, release, problems)).collect::<Vec<_>>())
    };
    let path = |node: Node<'_>| node.get("field").unwrap_or(node).text().split('.').map(str::to_owned).collect();
    let is_disabled = |node: &Node<'_>| minor(*node, "until").is_none_or(|until| release.minor() <= until);
    Steps {
        disabled: node.get("disabled").into_iter().flat_map(Node::items).filter(is_disabled).map(path).collect(),
        defaults: list("defaults").unwrap_or_default(),
        create: list("create"),
        allocate: list("allocate"),
        update: list("update"),
        status: list("status"),
        rules: check::read::rules(node, release, problems),
    }
}

/// Returns the minor number of the release in a member.
pub(super) fn minor(node: Node<'_>, key: &str) -> Option<u8> {
    node.get(key)?.text().strip_prefix("1.")?.parse().ok()
}

fn step(node: Node<'_>, release: Release, problems: &mut Vec<String>) -> Option<Step> {
    if minor(node, "since").is_some_and(|since| release.minor() < since) {
        return None;
    }
    let text = |key: &str| node.get(key).map(Node::text);
    let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    let action = if let Some(name) = text("by") {
        Native::named(name).map(|native| (text("set").unwrap_or_default(), Action::By(native)))
    } else if let Some(target) = text("drop") {
        Some((target, Action::Drop))
    } else if let Some(target) = text("keep") {
        Some((target, Action::Keep))
    } else if let Some(source) = text("from") {
        text("set").map(|target| (target, Action::From(path(source))))
    } else {
        let target = text("set").map(|target| (target, false)).or_else(|| text("put").map(|target| (target, true)));
        target.zip(node.get("to")).map(|((target, always), value)| {
            let value = Literal::of(value);
            (target, if always { Action::Put(value) } else { Action::To(value) })
        })
    };
    let Some((target, action)) = action else {
        problems.push(format!("a step without a meaning at offset {}", node.index()));
        return None;
    };
    let path = if target.is_empty() { Vec::new() } else { path(target) };
    let keeps_empty = match text("empty") {
        None => false,
        Some("kept") => true,
        Some(other) => {
            problems.push(format!("empty: {other}"));
            false
        }
    };
    Some(Step { path, action, when: text("when").map(Condition::new), keeps_empty })
}
