//! Restrictions of the names of maps, and of how many items of a list satisfy a schema, as CEL.

use super::facts::{Facts, Types};
use super::pattern;
use kubeshape_schema::Type;
use kubeshape_yaml::{Kind, Node};
use std::fmt::Write;

/// Returns an expression that is true if `key` matches one of the patterns.
pub(super) fn one_pattern(patterns: &[&str]) -> Option<String> {
    let parts: Option<Vec<String>> = patterns.iter().map(|text| matching("key", text)).collect();
    let parts = parts?;
    Some(if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(" || ")) })
}

fn matching(name: &str, text: &str) -> Option<String> {
    Some(format!("{name}.matches({})", literal(&pattern::for_go(text)?)))
}

/// Returns an expression about `key`; empty if every name is accepted. `None` if it cannot say everything.
pub(super) fn of_key(facts: &Facts<'_>) -> Option<String> {
    of_string(facts, "key")
}

fn of_string(facts: &Facts<'_>, name: &str) -> Option<String> {
    if !facts.unions.is_empty() || !facts.nots.is_empty() || !facts.format.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    for (text, _) in &facts.patterns {
        parts.push(matching(name, text)?);
    }
    if let Some(least) = facts.least[0].filter(|least| *least > 0) {
        parts.push(format!("size({name}) >= {least}"));
    }
    if let Some(most) = facts.most[0] {
        parts.push(format!("size({name}) <= {most}"));
    }
    if let Some(values) = &facts.values {
        let texts: Vec<String> =
            values.iter().filter(|value| value.kind() == Kind::Str).map(|value| literal(Node::text(*value))).collect();
        parts.push(format!("{name} in [{}]", texts.join(", ")));
    }
    Some(parts.join(" && "))
}

/// Returns an expression about `item`, which is of a type; empty if every item is accepted. `None` if it cannot say
/// everything.
pub(super) fn of_item(facts: &Facts<'_>, ty: Type) -> Option<String> {
    let accepts = |own: Types| own.is_in(facts.types);
    if ty == Type::String {
        return if accepts(Types::STRING) { of_string(facts, "item") } else { None };
    }
    let is_known = (ty == Type::Boolean && accepts(Types::BOOLEAN)) || (ty == Type::Integer && accepts(Types::INTEGER));
    if !is_known || !facts.unions.is_empty() || !facts.nots.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    if let Some(values) = &facts.values {
        let wanted = |value: &&Node<'_>| match value.kind() {
            Kind::True | Kind::False => ty == Type::Boolean,
            Kind::Int | Kind::Float => ty == Type::Integer,
            _ => false,
        };
        let values: Option<Vec<String>> = values.iter().filter(wanted).map(|value| scalar(*value)).collect();
        let values = values.filter(|values| !values.is_empty())?;
        parts.push(format!("item in [{}]", values.join(", ")));
    }
    if ty == Type::Integer {
        let whole = |n: f64| (n.fract() == 0.0 && n.abs() <= LARGEST).then_some(n as i64);
        for (bound, words) in [(facts.minimum, [">=", ">"]), (facts.maximum, ["<=", "<"])] {
            if let Some((n, is_excluded)) = bound {
                parts.push(format!("item {} {}", words[usize::from(is_excluded)], whole(n)?));
            }
        }
        for n in &facts.multiples {
            parts.push(format!("item % {} == 0", whole(*n)?));
        }
    }
    Some(parts.join(" && "))
}

/// Integers beyond it are not exact as numbers.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Returns rules of a list: how many items satisfy an expression.
pub(super) fn of_contains(rule: &str, least: i64, most: Option<i64>) -> Vec<String> {
    let count = if rule.is_empty() { "size(self)".to_owned() } else { format!("self.filter(item, {rule}).size()") };
    let least = (least > 0).then(|| match (least, rule) {
        (1, rule) if !rule.is_empty() => format!("self.exists(item, {rule})"),
        _ => format!("{count} >= {least}"),
    });
    least.into_iter().chain(most.map(|most| format!("{count} <= {most}"))).collect()
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
