//! What clients and servers fill in before an object is checked, whatever its kind.

use kubeshape_value::Map;
use kubeshape_value::{Bump, Value};

/// The namespace of objects that name none, as clients send them.
const DEFAULT_NAMESPACE: &str = "default";
/// Stands for the random characters that a server puts behind `metadata.generateName`.
const GENERATED: &str = "xxxxx";
/// Characters of `metadata.generateName` that stay in the name.
const MAX_GENERATED_NAME: usize = 58;

/// The namespace that a client sends an object to, in its metadata: as `EnsureObjectNamespaceMatchesRequestNamespace` of
/// `k8s.io/apiserver` leaves it. An object of a namespace that names none is sent to `default`; one of the cluster has none.
pub(crate) fn in_namespace<'a>(object: Value<'a>, namespaced: bool, arena: &'a Bump) -> Value<'a> {
    let namespace = text(object, "namespace");
    match (namespaced, namespace) {
        (true, "") => with(object, "namespace", Some(Value::String(DEFAULT_NAMESPACE)), arena),
        (false, namespace) if !namespace.is_empty() => with(object, "namespace", None, arena),
        _ => object,
    }
}

/// An object with a name, if it asks for one with `metadata.generateName`: `GenerateName` of `k8s.io/apiserver`, with a
/// fixed text in place of the random one.
pub(super) fn with_generated_name<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let (name, prefix) = (text(object, "name"), text(object, "generateName"));
    if !name.is_empty() || prefix.is_empty() {
        return object;
    }
    let end = (0..=MAX_GENERATED_NAME.min(prefix.len())).rev().find(|at| prefix.is_char_boundary(*at)).unwrap_or(0);
    let name = format!("{}{GENERATED}", prefix.get(..end).unwrap_or_default());
    with(object, "name", Some(Value::String(arena.alloc_str(&name))), arena)
}

/// The version of a stored object that has none, because it does not come from a cluster.
const NO_VERSION: &str = "0";

/// A stored object as a cluster has it: with a `resourceVersion`, which updates must name.
pub(crate) fn with_version<'a>(old: Value<'a>, arena: &'a Bump) -> Value<'a> {
    if text(old, "resourceVersion").is_empty() {
        with(old, "resourceVersion", Some(Value::String(NO_VERSION)), arena)
    } else {
        old
    }
}

/// The object that an update stores, without the version that [`with_version`] lent to the old one.
pub(super) fn without_lent_version<'a>(
    stored: Value<'a>,
    sent: Value<'a>,
    old: Value<'a>,
    arena: &'a Bump,
) -> Value<'a> {
    if [sent, old].iter().any(|object| !text(*object, "resourceVersion").is_empty()) {
        return stored;
    }
    with(stored, "resourceVersion", None, arena)
}

fn text<'a>(object: Value<'a>, key: &str) -> &'a str {
    let metadata = object.get("metadata").unwrap_or(Value::Null);
    metadata.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn with<'a>(object: Value<'a>, key: &'a str, member: Option<Value<'a>>, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = object else { return object };
    let metadata = map.get("metadata").and_then(Value::as_map).unwrap_or(Map::EMPTY);
    Value::Map(map.with("metadata", Some(Value::Map(metadata.with(key, member, arena))), arena))
}

#[cfg(test)]
mod tests {
    use super::{in_namespace, with_generated_name, with_version, without_lent_version};
    use kubeshape_value::{Bump, ToValue};
    use serde_json::json;

    #[test]
    fn namespaces_and_names_are_filled_in() {
        let arena = Bump::new();
        let object = json!({"metadata": {"generateName": "é".repeat(40)}});
        let named = with_generated_name(in_namespace(object.to_value(&arena), true, &arena), &arena).to_serde();
        assert_eq!(named["metadata"]["namespace"], "default");
        assert_eq!(named["metadata"]["name"], format!("{}xxxxx", "é".repeat(29)));
        let object = json!({"metadata": {"name": "a", "generateName": "b", "namespace": "x"}});
        let same = in_namespace(with_generated_name(object.to_value(&arena), &arena), true, &arena);
        assert_eq!(same.to_serde(), object);
        assert_eq!(in_namespace(same, false, &arena).to_serde()["metadata"].get("namespace"), None);
    }

    #[test]
    fn a_version_is_lent_only_where_there_is_none() {
        let arena = Bump::new();
        let (old, new) = (json!({"metadata": {"uid": "u"}}), json!({"metadata": {"name": "a"}}));
        let (old, new) = (old.to_value(&arena), new.to_value(&arena));
        let lent = with_version(old, &arena);
        assert_eq!(lent.to_serde()["metadata"]["resourceVersion"], "0");
        assert_eq!(without_lent_version(lent, new, old, &arena).to_serde(), old.to_serde());
        let real = json!({"metadata": {"resourceVersion": "0"}});
        let real = real.to_value(&arena);
        assert_eq!(without_lent_version(real, real, old, &arena).to_serde(), real.to_serde());
    }
}
