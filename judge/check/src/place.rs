//! From the path of an error to the place in the manifest.
//!
//! The server names fields by the path of its internal form: the schema of a definition with one version is
//! `spec.validation`. An error knows the value in which the field is, and the end of its path leads on from there.

use kubeshape_schema::field::{Error, ErrorType};
use kubeshape_yaml::{Kind, Node};

/// So many steps at the end of a path are followed at most. An error knows a value that is nearer than that to its field.
const STEPS: usize = 8;
/// Of so many errors about a definition the place is looked for. Further ones have the place of the value around it.
pub(crate) const EXACT: usize = 1000;

/// The place of the field that an error is about: the most exact one that the manifest has.
pub(crate) fn of(error: &Error, start: Node<'_>) -> u32 {
    let steps = steps(&error.path);
    if let Some(node) = deepest(&steps, start) {
        return node.index();
    }
    // What is missing is told where it should be.
    match (error.error_type, steps.split_last()) {
        (ErrorType::Required, Some((_, rest))) => deepest(rest, start).unwrap_or(start).index(),
        _ => start.index(),
    }
}

/// The node to which the longest end of the path leads.
fn deepest<'a>(steps: &[Step<'_>], start: Node<'a>) -> Option<Node<'a>> {
    (steps.len().saturating_sub(STEPS)..steps.len()).find_map(|from| {
        steps[from..].iter().try_fold(start, |node, step| match (*step, node.kind()) {
            (Step::Child(name), Kind::Map) => child(node, name),
            (Step::Bracket(text), Kind::Seq) => node.items().nth(text.parse().ok()?),
            (Step::Bracket(text), Kind::Map) => node.get(text),
            _ => None,
        })
    })
}

/// A member. Two of them have another name in the internal form.
fn child<'a>(node: Node<'a>, name: &str) -> Option<Node<'a>> {
    node.get(name).or_else(|| match name {
        "JSONPath" => node.get("jsonPath"),
        "webhookClientConfig" => node.get("webhook")?.get("clientConfig"),
        _ => None,
    })
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step<'t> {
    /// `.name`
    Child(&'t str),
    /// `[name]` or `[0]`
    Bracket(&'t str),
}

/// The steps of a path as `field.Path` prints it. Names in brackets may hold any character but `]`.
fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let end = inner.find(']').unwrap_or(inner.len());
            steps.push(Step::Bracket(&inner[..end]));
            rest = inner.get(end + 1..).unwrap_or_default();
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            if end > 0 {
                steps.push(Step::Child(&name[..end]));
            }
            rest = &name[end..];
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::{Step, steps};

    #[test]
    fn a_path_is_cut_at_dots_and_brackets() {
        let expected = [Step::Child("spec"), Step::Bracket("a.b"), Step::Child("anyOf"), Step::Bracket("1")];
        assert_eq!(steps("spec[a.b].anyOf[1]"), expected);
        assert_eq!(steps(".a[").len(), 2);
        assert!(steps("").is_empty());
    }
}
