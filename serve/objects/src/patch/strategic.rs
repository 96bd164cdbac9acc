//! Strategic merge patches of built-in kinds (upstream: `strategicpatch` of `k8s.io/apimachinery`).
//!
//! Lists are merged by the key in the schema (`x-kubernetes-patch-merge-key`). Directives in the patch delete and
//! replace.

use super::PatchError;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Node;
use std::collections::{BTreeMap, BTreeSet};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

/// A schema of an OpenAPI document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema<'s> {
    root: Node<'s>,
    node: Node<'s>,
}

impl<'s> Schema<'s> {
    /// Returns the schema at a node of a document.
    pub(crate) fn new(root: Node<'s>, node: Node<'s>) -> Schema<'s> {
        Schema { root, node }
    }

    /// Resolves its reference.
    fn resolved(self) -> Schema<'s> {
        let mut schema = self;
        // Documents of servers have only short chains of references.
        for _ in 0..8 {
            let only = schema.node.get("allOf").and_then(|all| all.items().next());
            let reference = schema.node.get("$ref").or_else(|| only?.get("$ref")).and_then(Node::as_str);
            let Some(name) = reference.and_then(|text| text.rsplit('/').next()) else { break };
            let schemas = schema.root.get("definitions").or_else(|| schema.root.get("components")?.get("schemas"));
            let Some(node) = schemas.and_then(|schemas| schemas.get(name)) else { break };
            schema = Schema { node, ..schema };
        }
        schema
    }

    /// The replacement for a missing value.
    pub(crate) fn default<'a>(self, arena: &'a Bump) -> Option<Value<'a>>
    where
        's: 'a,
    {
        self.node.get("default").map(|node| Value::from_node(node, arena))
    }

    /// The number of its node in the document.
    pub(crate) fn place(self) -> usize {
        self.node.index() as usize
    }

    /// Returns the schema of a named property.
    pub(crate) fn declared(self, name: &str) -> Option<Schema<'s>> {
        let schema = self.resolved();
        Some(Schema { node: schema.node.get("properties")?.get(name)?, ..schema })
    }

    /// The schema of a member.
    pub(crate) fn property(self, name: &str) -> Option<Schema<'s>> {
        let schema = self.resolved();
        let additional = || Some(Schema { node: schema.node.get("additionalProperties")?, ..schema });
        schema.declared(name).or_else(additional)
    }

    /// Returns the schema of the items of a list.
    pub(crate) fn items(self) -> Option<Schema<'s>> {
        let schema = self.resolved();
        Some(Schema { node: schema.node.get("items")?, ..schema })
    }

    fn strategy(self) -> Strategy<'s> {
        let text = |name: &str| self.node.get(name).and_then(Node::as_str).unwrap_or_default();
        let strategy = text("x-kubernetes-patch-strategy");
        let has = |name: &str| strategy.split(',').any(|part| part == name);
        Strategy { merges: has("merge"), replaces: has("replace"), key: text("x-kubernetes-patch-merge-key") }
    }
}

/// What the schema says of a member.
#[derive(Clone, Copy, Default)]
struct Strategy<'s> {
    merges: bool,
    replaces: bool,
    key: &'s str,
}

/// Applies a patch to a value.
///
/// # Errors
/// A directive is unknown, or a list cannot be merged. The message is the server's.
pub(crate) fn strategic<'a>(
    value: Value<'a>,
    patch: Value<'a>,
    schema: Option<Schema<'_>>,
    arena: &'a Bump,
) -> Result<Value<'a>, PatchError> {
    let Value::Map(patch) = patch else {
        return Err(bad("the patch is no object"));
    };
    Merger { arena }.map(value.as_map().unwrap_or(Map::EMPTY), patch, schema).map(Value::Map)
}

fn bad(message: impl Into<String>) -> PatchError {
    PatchError { code: 400, message: message.into() }
}

struct Merger<'a> {
    arena: &'a Bump,
}

impl<'a> Merger<'a> {
    fn map(&self, original: Map<'a>, patch: Map<'a>, schema: Option<Schema<'_>>) -> Result<Map<'a>, PatchError> {
        match patch.get(DIRECTIVE) {
            None | Some(Value::String("merge")) => {}
            Some(Value::String("replace")) => return Ok(patch.with(DIRECTIVE, None, self.arena)),
            Some(Value::String("delete")) => return Ok(Map::EMPTY),
            Some(other) => return Err(unknown(other)),
        }
        let mut out: BTreeMap<&'a str, Value<'a>> = original.entries().iter().copied().collect();
        if let Some(retained) = patch.get(RETAIN_KEYS).and_then(Value::as_list) {
            let retained: BTreeSet<&str> = retained.iter().filter_map(|key| key.as_str()).collect();
            out.retain(|key, _| retained.contains(key));
        }
        for (key, value) in patch.entries() {
            if *key == DIRECTIVE || *key == RETAIN_KEYS || key.starts_with(ORDER) {
                continue;
            }
            if let Some(name) = key.strip_prefix(DELETE_FROM) {
                if let Some(Value::List(items)) = out.get(name).copied() {
                    let gone: BTreeSet<String> =
                        value.as_list().unwrap_or_default().iter().map(|item| text(*item)).collect();
                    let kept: Vec<Value<'a>> =
                        items.iter().copied().filter(|item| !gone.contains(&text(*item))).collect();
                    out.insert(name, Value::List(self.arena.alloc_slice_copy(&kept)));
                }
                continue;
            }
            if value.is_null() {
                out.remove(key);
                continue;
            }
            let schema = schema.and_then(|schema| schema.property(key));
            let strategy = schema.map(Schema::strategy).unwrap_or_default();
            let merged = match (out.get(key).copied(), *value) {
                (Some(Value::Map(old)), Value::Map(new)) if !strategy.replaces => {
                    Value::Map(self.map(old, new, schema)?)
                }
                (_, Value::Map(new)) => Value::Map(self.map(Map::EMPTY, new, schema)?),
                (old, Value::List(new)) if strategy.merges => {
                    let old = old.and_then(Value::as_list).unwrap_or_default();
                    let items = self.list(key, old, new, strategy.key, schema.and_then(Schema::items))?;
                    Value::List(self.arena.alloc_slice_copy(&items))
                }
                (_, new) => new,
            };
            out.insert(key, merged);
        }
        for (key, order) in patch.entries() {
            let Some(name) = key.strip_prefix(ORDER) else { continue };
            let (Some(Value::List(items)), Some(order)) = (out.get(name).copied(), order.as_list()) else { continue };
            let merge_key = schema.and_then(|schema| schema.property(name)).map_or("", |schema| schema.strategy().key);
            let before = original.get(name).and_then(Value::as_list).unwrap_or_default();
            let items = ordered(items, order, before, merge_key);
            out.insert(name, Value::List(self.arena.alloc_slice_copy(&items)));
        }
        Ok(Map::from_entries(out.into_iter().collect(), self.arena))
    }

    /// Merges the items of a list: those with the same key are merged, scalars are added once.
    fn list(
        &self,
        name: &str,
        original: &'a [Value<'a>],
        patch: &'a [Value<'a>],
        merge_key: &str,
        schema: Option<Schema<'_>>,
    ) -> Result<Vec<Value<'a>>, PatchError> {
        let mut out: Vec<Option<Value<'a>>> = original.iter().copied().map(Some).collect();
        let is_of_maps = original.iter().chain(patch).any(|item| item.as_map().is_some());
        if is_of_maps && merge_key.is_empty() {
            return Err(bad(format!("cannot merge lists without merge key for {name}")));
        }
        let replaces = |item: &Value<'a>| item.get(DIRECTIVE).and_then(Value::as_str) == Some("replace");
        if patch.iter().any(replaces) {
            return Ok(patch.iter().copied().filter(|item| !replaces(item)).collect());
        }
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (at, item) in original.iter().enumerate() {
            places.entry(identity(*item, merge_key)).or_insert(at);
        }
        for item in patch {
            let key = identity(*item, merge_key);
            let at = places.get(&key).copied();
            let Value::Map(new) = *item else {
                if at.is_none() {
                    places.insert(key, out.len());
                    out.push(Some(*item));
                }
                continue;
            };
            if new.get(merge_key).is_none() {
                let mut json = Vec::new();
                item.write_go_json(&mut json);
                let json = String::from_utf8_lossy(&json).into_owned();
                return Err(bad(format!("map: {json} does not contain declared merge key: {merge_key}")));
            }
            if new.get(DIRECTIVE).and_then(Value::as_str) == Some("delete") {
                if let Some(old) = at.and_then(|at| out.get_mut(at)) {
                    *old = None;
                }
                continue;
            }
            let old = at.and_then(|at| *out.get(at)?).and_then(Value::as_map).unwrap_or(Map::EMPTY);
            let merged = Some(Value::Map(self.map(old, new, schema)?));
            if let Some(place) = at.and_then(|at| out.get_mut(at)) {
                *place = merged;
            } else {
                places.insert(key, out.len());
                out.push(merged);
            }
        }
        Ok(out.into_iter().flatten().collect())
    }
}

fn unknown(directive: Value<'_>) -> PatchError {
    bad(format!("Unknown patch type found: {}", directive.as_str().unwrap_or_default()))
}

fn text(value: Value<'_>) -> String {
    let mut out = Vec::new();
    value.write_go_json(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the identity of an item: the value of the key, or the scalar itself.
fn identity(item: Value<'_>, merge_key: &str) -> String {
    match item {
        Value::Map(map) => map.get(merge_key).map(text).unwrap_or_default(),
        scalar => text(scalar),
    }
}

/// Sorts items into the order of a patch. Other items keep their relative position (upstream: `normalizeElementOrder`).
fn ordered<'a>(items: &[Value<'a>], order: &[Value<'a>], before: &[Value<'a>], merge_key: &str) -> Vec<Value<'a>> {
    let places = |items: &[Value<'a>]| -> BTreeMap<String, usize> {
        let keys = items.iter().map(|item| identity(*item, merge_key));
        let mut places = BTreeMap::new();
        for (at, key) in keys.enumerate() {
            places.entry(key).or_insert(at);
        }
        places
    };
    let (wanted, stood) = (places(order), places(before));
    let place = |places: &BTreeMap<String, usize>, item: &Value<'a>| places.get(&identity(*item, merge_key)).copied();
    let (mut named, mut others): (Vec<Value<'a>>, Vec<Value<'a>>) =
        items.iter().copied().partition(|item| place(&wanted, item).is_some());
    named.sort_by_cached_key(|item| place(&wanted, item));
    others.sort_by_cached_key(|item| place(&stood, item).map_or(usize::MAX, |at| at));
    let (mut named, mut others) = (named.into_iter().peekable(), others.into_iter().peekable());
    let mut out = Vec::with_capacity(items.len());
    loop {
        let goes_first = match (others.peek(), named.peek()) {
            (None, None) => return out,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(other), Some(named)) => match (place(&stood, other), place(&stood, named)) {
                (Some(other), Some(named)) => other < named,
                _ => false,
            },
        };
        out.extend(if goes_first { others.next() } else { named.next() });
    }
}
