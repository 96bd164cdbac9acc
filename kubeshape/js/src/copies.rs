//! A path as other languages write it.

use serde_json::{Value, json};

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'p> {
    Name(&'p str),
    Items,
    Values,
}

/// The steps of the path of a field, such as `.spec.containers[].name`.
pub(crate) fn steps(path: &str) -> Vec<Step<'_>> {
    let mut out = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("[]") {
            out.push(Step::Items);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("{}") {
            out.push(Step::Values);
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix("[\"").and_then(|quoted| quoted.split_once("\"]")) {
            out.push(Step::Name(name));
            rest = after;
        } else {
            let from = rest.strip_prefix('.').unwrap_or(rest);
            let end = from.find(['.', '[', '{']).unwrap_or(from.len());
            let (name, after) = from.split_at(end);
            if name.is_empty() {
                break;
            }
            out.push(Step::Name(name));
            rest = after;
        }
    }
    out
}

/// The path for `kubectl get -o jsonpath`, for CEL and for jq.
pub(crate) fn of(path: &str) -> Value {
    let steps = steps(path);
    json!({ "JSONPath": jsonpath(&steps), "CEL": cel(&steps), "jq": jq(&steps) })
}

fn is_plain(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit())
}

/// client-go's JSONPath escapes dots in names with a backslash.
fn jsonpath(steps: &[Step<'_>]) -> String {
    let mut out = "{".to_owned();
    for step in steps {
        match step {
            Step::Name(name) if is_plain(name) => out.extend([".", name]),
            Step::Name(name) => {
                let escaped = name.replace('\\', "\\\\").replace('\'', "\\'").replace('.', "\\.");
                out.extend(["['", &escaped, "']"]);
            }
            Step::Items => out.push_str("[*]"),
            Step::Values => out.push_str(".*"),
        }
    }
    out + "}"
}

/// The values of lists and maps are collected with `map`.
fn cel(steps: &[Step<'_>]) -> String {
    const VARIABLES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let (mut out, mut ends, mut depth) = ("self".to_owned(), 0, 0);
    for step in steps {
        match step {
            Step::Name(name) => match kubeshape_cel::escape::escape(name) {
                Some(name) => out.extend([".", &name]),
                None => out.extend(["[", &json!(name).to_string(), "]"]),
            },
            Step::Items | Step::Values => {
                let variable = VARIABLES.get(depth).copied().unwrap_or("x");
                let start = last_value(&out).to_owned();
                let value = if *step == Step::Items { variable.to_owned() } else { format!("{start}[{variable}]") };
                out.extend([".map(", variable, ", ", &value]);
                (ends, depth) = (ends + 1, depth + 1);
            }
        }
    }
    out + &")".repeat(ends)
}

/// The expression that a `map` at the end of the text would be of.
fn last_value(text: &str) -> &str {
    text.rsplit_once(", ").map_or(text, |(_, value)| value)
}

fn jq(steps: &[Step<'_>]) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            Step::Name(name) if is_plain(name) => out.extend([".", name]),
            Step::Name(name) => out.extend([".[", &json!(name).to_string(), "]"]),
            Step::Items | Step::Values => out.push_str("[]"),
        }
    }
    if out.starts_with('[') { format!(".{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::{cel, jq, jsonpath, steps};

    #[test]
    fn a_path_is_written_for_other_languages() {
        let path = steps(".spec.ports[].labels{}.x-y[\"a.b\"]");
        assert_eq!(jsonpath(&path), "{.spec.ports[*].labels.*['x-y']['a\\.b']}");
        assert_eq!(jq(&path), ".spec.ports[].labels[].[\"x-y\"].[\"a.b\"]");
        assert_eq!(cel(&path), "self.spec.ports.map(a, a.labels.map(b, a.labels[b].x__dash__y.a__dot__b))");
    }
}
