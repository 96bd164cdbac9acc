//! Prints objects as they are stored, in the order of their source, with comments about what the server changed.

use crate::report::clean::clean;
use kubeshape_registry::print;
use kubeshape_smd::Value;
use kubeshape_smd::value::Map;
use kubeshape_yaml::emit::Emitter;
use kubeshape_yaml::{Document, Kind, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Returns the object as YAML. Fields are in the order of the source. Fields that the server added follow, with a
/// comment. Fields that it dropped are replaced by a comment.
pub(super) fn print(stored: Value<'_>, source: Node<'_>) -> Vec<u8> {
    let mut out = String::new();
    match stored {
        Value::Map(map) => members(map, source, 0, &mut out),
        other => out.push_str(&print::yaml(other)),
    }
    out.into_bytes()
}

/// Appends the members of a map, each at the beginning of a line.
fn members(map: Map<'_>, source: Node<'_>, indent: usize, out: &mut String) {
    let known: Vec<(&str, Node<'_>)> = last_of_each(source);
    for (key, below) in &known {
        if let Some(value) = map.get(key) {
            member(key, value, Some(*below), indent, out);
        } else {
            margin(indent, out);
            let _ = writeln!(out, "# {} was dropped", clean(key));
        }
    }
    let names: BTreeSet<&str> = known.iter().map(|(key, _)| *key).collect();
    for (key, value) in map.entries() {
        if !names.contains(key) {
            let begin = out.len();
            member(key, *value, None, indent, out);
            let end = out[begin..].find('\n').map_or(out.len(), |at| begin + at);
            out.insert_str(end, "  # added");
        }
    }
}

fn member(key: &str, value: Value<'_>, source: Option<Node<'_>>, indent: usize, out: &mut String) {
    margin(indent, out);
    match (value, source) {
        (Value::Map(map), Some(node)) if node.kind() == Kind::Map && !last_of_each(node).is_empty() => {
            let _ = writeln!(out, "{}:", scalar(key));
            members(map, node, indent + 2, out);
            if map.is_empty() {
                margin(indent + 2, out);
                out.push_str("{}\n");
            }
        }
        (Value::List(items), Some(node)) if !items.is_empty() && node.items().count() == items.len() => {
            let _ = writeln!(out, "{}:", scalar(key));
            for (item, node) in items.iter().zip(node.items()) {
                let begin = out.len();
                match item {
                    Value::Map(map) if !map.is_empty() && node.kind() == Kind::Map => {
                        members(*map, node, indent + 2, out);
                    }
                    item => block(&print::yaml(*item), indent + 2, out),
                }
                // The first line of an item follows its dash.
                out.replace_range(begin + indent..begin + indent + 2, "- ");
            }
        }
        (value, _) => {
            let mut bytes = Vec::new();
            let mut emitter = Emitter::new(&mut bytes);
            emitter.begin_map();
            emitter.key(key);
            print::write_yaml(value, &mut emitter);
            emitter.end_map();
            let text = String::from_utf8_lossy(&bytes);
            let begin = out.len() - indent;
            out.truncate(begin);
            block(&text, indent, out);
        }
    }
}

/// Returns the members of a map. For duplicate keys, the last one is returned.
fn last_of_each(source: Node<'_>) -> Vec<(&str, Node<'_>)> {
    let mut known: Vec<(&str, Node<'_>)> = Vec::new();
    if source.kind() != Kind::Map {
        return known;
    }
    let mut places = BTreeMap::new();
    for (key, value) in source.pairs() {
        match places.insert(key.text(), known.len()) {
            Some(at) => {
                if let Some(known) = known.get_mut(at) {
                    known.1 = value;
                }
                places.insert(key.text(), at);
            }
            None => known.push((key.text(), value)),
        }
    }
    known
}

fn margin(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn block(text: &str, indent: usize, out: &mut String) {
    for line in text.lines() {
        if !line.is_empty() {
            margin(indent, out);
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// Returns a key as YAML writes it.
fn scalar(key: &str) -> String {
    print::yaml(Value::String(key)).trim_end().to_owned()
}

/// Returns the Helm chart template that a document comes from, from the comment `# Source:` that Helm prints above it.
pub(super) fn template(document: Document<'_>) -> Option<String> {
    let before = document.source().get(..document.root()?.span().start)?;
    let mut comments = before.lines().rev().map(str::trim).take_while(|line| line.is_empty() || line.starts_with('#'));
    let template = comments.find_map(|line| line.strip_prefix("# Source: "))?;
    Some(clean(template.trim()))
}
