//! Changes by clients and servers before an object is validated, for all kinds.

use kubeshape_value::Map;
use kubeshape_value::{Bump, Value};

/// The namespace that clients use for objects without one.
const DEFAULT_NAMESPACE: &str = "default";
/// Replaces the random characters that a server appends to `metadata.generateName`.
const GENERATED: &str = "xxxxx";
/// The maximum number of characters of `metadata.generateName` in the name.
const MAX_GENERATED_NAME: usize = 58;

/// Sets the namespace in the metadata to the one to which a client sends the object, like
/// `EnsureObjectNamespaceMatchesRequestNamespace` of `k8s.io/apiserver`. A namespaced object without one is sent to
/// `default`; a cluster-scoped one has none.
pub(crate) fn in_namespace<'a>(object: Value<'a>, namespaced: bool, arena: &'a Bump) -> Value<'a> {
    let namespace = text(object, "namespace");
    match (namespaced, namespace) {
        (true, "") => with(object, "namespace", Some(Value::String(DEFAULT_NAMESPACE)), arena),
        (false, namespace) if !namespace.is_empty() => with(object, "namespace", None, arena),
        _ => object,
    }
}

/// Returns an object with a name, if `metadata.generateName` requests one: `GenerateName` of `k8s.io/apiserver`, with
/// fixed characters instead of random ones.
pub(super) fn with_generated_name<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let (name, prefix) = (text(object, "name"), text(object, "generateName"));
    if !name.is_empty() || prefix.is_empty() {
        return object;
    }
    let end = (0..=MAX_GENERATED_NAME.min(prefix.len())).rev().find(|at| prefix.is_char_boundary(*at)).unwrap_or(0);
    let name = format!("{}{GENERATED}", prefix.get(..end).unwrap_or_default());
    with(object, "name", Some(Value::String(arena.alloc_str(&name))), arena)
}

/// The version of a stored object without one, because it does not come from a cluster.
const NO_VERSION: &str = "0";

/// Returns a stored object as in a cluster: with a `resourceVersion`, which updates must name.
pub(crate) fn with_version<'a>(old: Value<'a>, arena: &'a Bump) -> Value<'a> {
    if text(old, "resourceVersion").is_empty() {
        with(old, "resourceVersion", Some(Value::String(NO_VERSION)), arena)
    } else {
        old
    }
}

/// Returns the object that an update stores, without the version that [`with_version`] added to the old one.
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
    fn namespaces_and_names_are_set() {
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
    fn a_missing_version_is_added() {
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
