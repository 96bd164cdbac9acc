//! What is known of a field beside what a server publishes.

use crate::definitions::{Checked, of_cost};
use crate::session::finding;
use kubeshape::yaml::{Node, pointer};
use kubeshape::{Kind, Location};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What OpenAPI v2 loses of a field that is declared at a pointer. `losses` are those of the kind, in order.
pub(crate) fn losses(declared: &str, losses: &[(String, String)]) -> Vec<String> {
    let first = losses.partition_point(|(at, _)| **at < *declared);
    let below = losses.iter().skip(first).take_while(|(at, _)| at.starts_with(declared));
    below.filter(|(at, _)| is_about(at, declared)).map(|(_, text)| text.clone()).collect()
}

/// Whether a place is the schema at a pointer or a keyword of it, as opposed to something below.
pub(crate) fn is_about(at: &str, schema: &str) -> bool {
    let Some(rest) = at.strip_prefix(schema) else { return false };
    let below = ["/properties/", "/items", "/additionalProperties"];
    rest.is_empty() || rest.starts_with('/') && !below.iter().any(|part| rest.contains(part))
}

/// Where rules about a field are declared: at the field, and at the items of a list or the values of a map, which are no
/// fields. Each with what the rules are about.
fn places(kind: &Kind, pointer: &str) -> Vec<(&'static str, Location)> {
    let Some(own) = kind.declared(pointer) else { return Vec::new() };
    let below = |step: &str| kind.declared(&format!("{pointer}/{step}"));
    let node = own.node();
    let items = node.get("items").and_then(|_| below("0"));
    let values = node.get("additionalProperties").and_then(|values| values.get("type")).and_then(|_| below("*"));
    let mut out = vec![("", own)];
    out.extend(items.map(|at| ("each item", at)));
    out.extend(values.map(|at| ("each value", at)));
    out
}

/// Where the definition declares the fields of a kind, by their pointers into objects, and whether there are rules about
/// them. Found in one walk: looking for each field alone takes longer with each sibling.
pub(crate) fn declarations(kind: &Kind) -> BTreeMap<String, (String, bool)> {
    let mut out = BTreeMap::new();
    if let Some(root) = kind.declared("").filter(|_| kind.definition().is_custom_resource()) {
        walk(root.node(), "", &root.pointer(), &mut out);
    }
    out
}

fn walk(schema: Node<'_>, at: &str, declared: &str, out: &mut BTreeMap<String, (String, bool)>) {
    let is_ruled = |schema: Node<'_>| schema.get("x-kubernetes-validations").is_some();
    let below = |schema: Node<'_>, name| schema.get(name).is_some_and(is_ruled);
    for (name, field) in schema.get("properties").into_iter().flat_map(Node::pairs) {
        let (mut at, mut declared) = (at.to_owned(), format!("{declared}/properties"));
        pointer::push(&mut at, name.text());
        pointer::push(&mut declared, name.text());
        let ruled = is_ruled(field) || below(field, "items") || below(field, "additionalProperties");
        walk(field, &at, &declared, out);
        out.insert(at, (declared, ruled));
    }
    for (keyword, step) in [("items", "0"), ("additionalProperties", "*")] {
        if let Some(below) = schema.get(keyword) {
            walk(below, &format!("{at}/{step}"), &format!("{declared}/{keyword}"), out);
        }
    }
}

/// The rules about a field with their costs in the newest release.
pub(crate) fn rules(kind: &Kind, pointer: &str, checked: &[Checked]) -> Vec<Value> {
    let costs = of(kind, checked).and_then(|checked| checked.costs.last());
    let mut out = Vec::new();
    for (about, declared) in places(kind, pointer) {
        let (schema, node) = (declared.pointer(), declared.node());
        let own = |path: &str| {
            let (_, costs) = costs?;
            let found = costs.iter().find(|(at, cost)| is_about(at, &schema) && cost.path.ends_with(path));
            found.map(|(at, cost)| of_cost(at, cost))
        };
        let rules = node.get("x-kubernetes-validations").into_iter().flat_map(|rules| rules.items().enumerate());
        out.extend(rules.map(|(at, rule)| {
            let text = |key: &str| rule.get(key).and_then(|value| value.as_str().map(str::to_owned));
            json!({
                "about": about,
                "rule": text("rule"),
                "message": text("message"),
                "messageExpression": text("messageExpression"),
                "reason": text("reason"),
                "cost": own(&format!("[{at}].rule")),
            })
        }));
    }
    out
}

/// What the releases say of a field: errors, warnings and advice.
pub(crate) fn said(kind: &Kind, declared: Option<&Location>, checked: &[Checked]) -> Vec<Value> {
    let (Some(declared), Some(checked)) = (declared, of(kind, checked)) else { return Vec::new() };
    let pointer = declared.pointer();
    let is_own = |at: &Option<String>| at.as_deref().is_some_and(|at| is_about(at, &pointer));
    checked.findings.iter().filter(|found| is_own(&found.pointer)).map(finding).collect()
}

fn of<'c>(kind: &Kind, checked: &'c [Checked]) -> Option<&'c Checked> {
    checked.iter().find(|checked| checked.name == kind.definition().name())
}
