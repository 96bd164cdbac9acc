//! The input is a stream of up to three objects, which are used as Pods. Applying any of them as a strategic merge
//! patch to another one ends, and the result is not larger than both. The patch that is computed from two objects
//! changes the first object to the second one. kubectl's patch does the same if no other client changed the object.
//!
//! Upstream promises the same. Exceptions are nulls and directives in objects, and lists with duplicate items or items
//! of several types.

use kubeshape_builtin::BuiltInDocuments;
use kubeshape_registry::strategic::{Error, ThreeWay, apply, three_way, two_way};
use kubeshape_registry::{DocumentSchema, Gvk, Registry};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let mut registry = Registry::default();
    let release: BuiltInDocuments = "1.36".parse().expect("a release");
    for (path, document) in release.api().openapi_v3_of(|path| path == "api/v1") {
        registry.set_built_in(path, kubeshape_input::read(path, document.as_bytes(), kubeshape_input::Limits::default()));
    }
    registry
});

/// Members by which lists of Pods are merged.
const MERGE_KEYS: [&str; 10] =
    ["name", "containerPort", "mountPath", "devicePath", "ip", "type", "topologyKey", "uid", "key", "resourceClaimName"];

/// Checks the property.
pub fn holds(data: &[u8]) {
    let limits = Limits { nodes: 10_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let mut tapes = [Tape::new(), Tape::new(), Tape::new()];
    let mut count = 0;
    while count < tapes.len() && matches!(stream.next(&mut tapes[count]), Some(Ok(()))) {
        count += 1;
    }
    let arena = Bump::new();
    let objects: Vec<Map<'_>> = tapes[..count]
        .iter()
        .filter_map(|tape| Value::from_node(tape.document(source).root()?, &arena).as_map())
        .collect();
    let kind = REGISTRY.kind(Gvk::new("v1", "Pod")).expect("Pods");
    let schema = kind.document_schema();
    for object in &objects {
        for other in &objects {
            pair(*object, *other, schema, &arena);
            for current in &objects {
                let merge = ThreeWay { original: *object, modified: *other, current: *current, overwrite: false };
                let _ended = three_way(merge, &[], schema, &arena);
            }
        }
    }
}

fn pair<'a>(from: Map<'a>, to: Map<'a>, schema: Option<DocumentSchema<'_>>, arena: &'a Bump) {
    match apply(from, to, schema, arena) {
        Ok(patched) => assert!(nodes(Value::Map(patched)) <= nodes(Value::Map(from)) + nodes(Value::Map(to))),
        Err(error) => assert!(!matches!(error, Error::Work(_)), "{error}"),
    }
    if !is_plain(Value::Map(from)) || !is_plain(Value::Map(to)) {
        return;
    }
    let Ok(patch) = two_way(from, to, schema, arena) else { return };
    leads(from, patch, to, schema, arena);
    let merge = ThreeWay { original: from, modified: to, current: from, overwrite: true };
    let patch = three_way(merge, &[], schema, arena).expect("what a two-way patch is made of");
    leads(from, patch, to, schema, arena);
}

fn leads<'a>(from: Map<'a>, patch: Map<'a>, to: Map<'a>, schema: Option<DocumentSchema<'_>>, arena: &'a Bump) {
    let patched = apply(from, patch, schema, arena).map(|map| Value::Map(map).to_serde());
    assert_eq!(patched, Ok(Value::Map(to).to_serde()), "by {}", Value::Map(patch).to_serde());
}

fn nodes(value: Value<'_>) -> usize {
    1 + match value {
        Value::List(items) => items.iter().map(|item| nodes(*item)).sum(),
        Value::Map(map) => map.entries().iter().map(|(_, value)| nodes(*value)).sum(),
        _ => 0,
    }
}

/// Returns whether a value has no nulls and no directives, and all items of a list are different and have one type.
fn is_plain(value: Value<'_>) -> bool {
    match value {
        Value::Null => false,
        Value::Map(map) => map.entries().iter().all(|(key, value)| !key.starts_with('$') && is_plain(*value)),
        Value::List(items) => {
            items.iter().all(|item| is_plain(*item))
                && items.windows(2).all(|pair| pair[0].go_type() == pair[1].go_type())
                && are_different(items.iter().copied())
                && MERGE_KEYS.iter().all(|key| are_different(items.iter().filter_map(|item| item.get(key))))
        }
        _ => true,
    }
}

/// Returns whether values print differently. Numbers and strings with the same digits do not.
fn are_different<'a>(values: impl Iterator<Item = Value<'a>>) -> bool {
    let mut seen = BTreeSet::new();
    let mut print = |value: Value<'a>| match value {
        Value::String(text) => text.to_owned(),
        other => other.to_serde().to_string(),
    };
    values.map(&mut print).all(|text| seen.insert(text))
}
