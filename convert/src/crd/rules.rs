//! Restrictions of the names of maps as CEL.

use super::facts::Facts;
use super::pattern;
use kubeshape_yaml::{Kind, Node};
use std::fmt::Write;

/// Returns an expression that is true if `key` matches one of the patterns.
pub(super) fn one_pattern(patterns: &[&str]) -> Option<String> {
    let parts: Option<Vec<String>> = patterns.iter().map(|text| matching(text)).collect();
    let parts = parts?;
    Some(if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(" || ")) })
}

fn matching(text: &str) -> Option<String> {
    Some(format!("key.matches({})", literal(&pattern::for_go(text)?)))
}

/// Returns an expression about `key`; empty if every name is accepted. `None` if it cannot say everything.
pub(super) fn of_key(facts: &Facts<'_>) -> Option<String> {
    if !facts.unions.is_empty() || !facts.nots.is_empty() || !facts.format.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    for (text, _) in &facts.patterns {
        parts.push(matching(text)?);
    }
    if let Some(least) = facts.least[0].filter(|least| *least > 0) {
        parts.push(format!("size(key) >= {least}"));
    }
    if let Some(most) = facts.most[0] {
        parts.push(format!("size(key) <= {most}"));
    }
    if let Some(values) = &facts.values {
        let texts: Vec<String> =
            values.iter().filter(|value| value.kind() == Kind::Str).map(|value| literal(Node::text(*value))).collect();
        parts.push(format!("key in [{}]", texts.join(", ")));
    }
    Some(parts.join(" && "))
}

/// Returns a string, an integer or a boolean of CEL.
pub(super) fn scalar(value: Node<'_>) -> Option<String> {
    match value.kind() {
        Kind::Str => Some(literal(value.text())),
        Kind::True => Some("true".to_owned()),
        Kind::False => Some("false".to_owned()),
        Kind::Int => match value.as_number()? {
            kubeshape_yaml::Number::Int(n) => Some(n.to_string()),
            // No integer of CEL.
            kubeshape_yaml::Number::Uint(_) | kubeshape_yaml::Number::Float(_) => None,
        },
        _ => None,
    }
}

/// Returns a string of CEL.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}
