//! Advice about members of a definition that a server does not store.

use super::place;
use kubeshape_gotypes::definition::{DEFINITION, SCHEMA};
use kubeshape_gotypes::{Printed, Struct, Type};
use kubeshape_schema::{Code, Note};
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeMap;

/// Members whose value is Go's zero value, keyed by their text: the first location, and the count.
type Found = BTreeMap<String, (u32, usize)>;

/// Reports members with Go's zero value, which the JSON of the stored definition does not contain; each text once.
/// Skips the status: the server writes it.
pub(super) fn about(root: Node<'_>, notes: &mut Vec<Note<'static>>) {
    let is_v1 = root.get("apiVersion").and_then(Node::as_str) == Some("apiextensions.k8s.io/v1");
    if !is_v1 {
        return;
    }
    let mut found = Found::new();
    let mut todo: Vec<(Node<'_>, Type)> = Vec::new();
    if let (Some(spec), Type::Of(definition)) = (root.get("spec"), DEFINITION) {
        todo.extend(definition.field("spec").map(|field| (spec, field.ty)));
    }
    while let Some((node, ty)) = todo.pop() {
        match ty {
            Type::Of(of) => members(node, of, &mut todo, &mut found),
            Type::List(ty) => todo.extend(node.items().map(|item| (item, *ty))),
            Type::Map(ty) => todo.extend(node.pairs().map(|(_, value)| (value, *ty))),
            Type::SchemaOr(_) if node.kind() == Kind::Map => todo.push((node, SCHEMA)),
            Type::SchemaOr(other) => todo.push((node, *other)),
            _ => {}
        }
    }
    for (text, (at, count)) in found {
        let more = match count {
            1 => String::new(),
            2 => ", here and in 1 other place".to_owned(),
            _ => format!(", here and in {} other places", count - 1),
        };
        notes.push(Note::new(Code::AdviceNotStored, at, format!("`{text}`{more}")));
    }
    if root.get("status").is_some_and(|status| !status.is_null()) {
        notes.push(Note::new(Code::AdviceNotStored, place(root, "status"), "the server writes its own `status`"));
    }
}

/// Collects members of a struct that are not stored, and queues the others.
fn members<'a>(node: Node<'a>, of: &Struct, todo: &mut Vec<(Node<'a>, Type)>, found: &mut Found) {
    for (name, value) in node.pairs() {
        let Some(field) = of.field(name.text()) else { continue };
        let zero = zero(value).filter(|zero| match field.printed {
            Printed::Always => false,
            Printed::Filled => true,
            Printed::Set => *zero == "null",
        });
        match zero {
            Some(zero) => {
                let (at, count) = found.entry(format!("{}: {zero}", field.name)).or_insert((value.index(), 0));
                *at = value.index().min(*at);
                *count += 1;
            }
            None => todo.push((value, field.ty)),
        }
    }
}

/// Returns the text of a value that is Go's zero value, or an empty list or map.
fn zero(value: Node<'_>) -> Option<&'static str> {
    match value.kind() {
        Kind::Null => Some("null"),
        Kind::False => Some("false"),
        Kind::Int if value.text() == "0" => Some("0"),
        Kind::Str if value.text().is_empty() => Some("\"\""),
        Kind::Seq if value.is_empty() => Some("[]"),
        Kind::Map if value.is_empty() => Some("{}"),
        _ => None,
    }
}
