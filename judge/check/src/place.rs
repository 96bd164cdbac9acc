//! Maps the path of an error to its location in the manifest.
//!
//! The server's paths are those of its internal form: the schema of a definition with one version is `spec.validation`.
//! An error knows the value around its field, and the end of its path is followed from there.

use kubeshape_schema::field::{Error, ErrorType};
use kubeshape_yaml::{Kind, Node};

/// The maximum number of steps at the end of a path that are followed. An error knows a value closer to its field.
const STEPS: usize = 8;
/// The maximum number of errors per definition with an exact location. Further errors have that of the value around
/// them.
pub(crate) const EXACT: usize = 1000;

/// Returns the most exact location of the field of an error.
pub(crate) fn of(error: &Error, start: Node<'_>) -> u32 {
    let steps = steps(&error.path);
    if let Some(node) = deepest(&steps, start) {
        return node.index();
    }
    // A missing field is reported where it should be.
    match (error.error_type, steps.split_last()) {
        (ErrorType::Required, Some((_, rest))) => deepest(rest, start).unwrap_or(start).index(),
        _ => start.index(),
    }
}

/// Returns the node for the longest suffix of the path that can be followed.
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

/// Returns a member. Two members have other names in the internal form.
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

/// Returns the steps of a path in the format of `field.Path`. Names in brackets may contain any character but `]`.
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
    fn paths_are_split_at_dots_and_brackets() {
        let expected = [Step::Child("spec"), Step::Bracket("a.b"), Step::Child("anyOf"), Step::Bracket("1")];
        assert_eq!(steps("spec[a.b].anyOf[1]"), expected);
        assert_eq!(steps(".a[").len(), 2);
        assert!(steps("").is_empty());
    }
}
