//! Converts a definition of v1beta1 to v1.

use super::model::Definition;
use kubeshape_schema::Bump;
use kubeshape_structural::Names;
use kubeshape_structural::written::{Conversion, Spec, Version};
use kubeshape_value::{Map, Value};
use kubeshape_yaml::Node;

type Member<'a> = (&'a str, Value<'a>);

/// Converts a definition of v1beta1 to v1, with the defaults that were set when it was decoded:
/// `Convert_apiextensions_CustomResourceDefinitionSpec_To_v1_CustomResourceDefinitionSpec`. Settings for all versions
/// are copied to each version. Other members, such as the status, are not changed.
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_structural::read::manifests;
/// use kubeshape_validate::crd::{self, Defaults, Definition};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition",
///   "metadata": {"name": "things.example.com"}, "spec": {"group": "example.com", "version": "v1",
///     "names": {"plural": "things", "kind": "Thing"}, "subresources": {"status": {}}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let (found, _) = manifests(tape.document(source).root().unwrap());
/// let definition = Definition::read(found[0], Defaults::Set, &arena).value.unwrap();
/// let spec = crd::to_v1(&definition, &arena).get("spec").unwrap();
/// assert_eq!(spec.get("scope").unwrap().as_str(), Some("Namespaced"));
/// assert!(spec.get("versions").unwrap().as_list().unwrap()[0].get("subresources").is_some());
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
pub fn to_v1<'a>(definition: &Definition<'a>, arena: &'a Bump) -> Value<'a> {
    let mut members: Vec<Member<'a>> = written(definition.node, arena, &["apiVersion", "spec"]);
    members.push(("apiVersion", Value::String("apiextensions.k8s.io/v1")));
    members.push(("spec", spec(&definition.spec, arena)));
    map(members, arena)
}

fn spec<'a>(spec: &Spec<'a>, arena: &'a Bump) -> Value<'a> {
    let versions: Vec<Value<'a>> = spec.versions.iter().map(|one| version(spec, one, arena)).collect();
    let mut members = vec![
        ("group", Value::String(spec.group)),
        ("names", names(&spec.names, spec.member("names"), arena)),
        ("scope", Value::String(spec.scope)),
        ("versions", Value::List(arena.alloc_slice_copy(&versions))),
        ("preserveUnknownFields", Value::Bool(spec.preserve_unknown_fields.unwrap_or(true))),
    ];
    members.extend(spec.conversion.map(|own| ("conversion", conversion(&own, spec.member("conversion"), arena))));
    map(members, arena)
}

fn names<'a>(names: &Names<'a>, node: Option<Node<'a>>, arena: &'a Bump) -> Value<'a> {
    let defaults = ["singular", "listKind"];
    let mut members = node.map_or_else(Vec::new, |node| written(node, arena, &defaults));
    members.extend(defaults.into_iter().zip([names.singular, names.list_kind].map(Value::String)));
    map(members, arena)
}

/// Returns a version with the settings of all versions.
fn version<'a>(spec: &Spec<'a>, version: &Version<'a>, arena: &'a Bump) -> Value<'a> {
    let is_own = version.node.index() != spec.node.index();
    let mut members = if is_own { written(version.node, arena, &[]) } else { Vec::new() };
    if !is_own {
        members.extend([
            ("name", Value::String(version.name)),
            ("served", Value::Bool(true)),
            ("storage", Value::Bool(true)),
        ]);
    }
    let of_all = [
        ("schema", "validation"),
        ("subresources", "subresources"),
        ("additionalPrinterColumns", "additionalPrinterColumns"),
        ("selectableFields", "selectableFields"),
    ];
    for (name, of_all) in of_all {
        if let Some(all) = spec.member(of_all).filter(|node| !node.is_null()) {
            members.retain(|(own, _)| *own != name);
            members.push((name, Value::from_node(all, arena)));
        }
    }
    for (name, value) in &mut members {
        if let ("additionalPrinterColumns", Value::List(columns)) = (*name, *value) {
            let columns: Vec<Value<'a>> =
                columns.iter().map(|one| renamed(*one, "JSONPath", "jsonPath", arena)).collect();
            *value = Value::List(arena.alloc_slice_copy(&columns));
        }
    }
    map(members, arena)
}

fn conversion<'a>(conversion: &Conversion<'a>, node: Option<Node<'a>>, arena: &'a Bump) -> Value<'a> {
    let mut members = vec![("strategy", Value::String(conversion.strategy))];
    let client = node.and_then(|node| node.get("webhookClientConfig")).filter(|node| !node.is_null());
    if client.is_some() || !conversion.review_versions.is_empty() {
        let versions: Vec<Value<'a>> = conversion.review_versions.iter().map(|name| Value::String(name)).collect();
        let mut webhook = vec![("conversionReviewVersions", Value::List(arena.alloc_slice_copy(&versions)))];
        webhook.extend(client.map(|client| ("clientConfig", Value::from_node(client, arena))));
        members.push(("webhook", map(webhook, arena)));
    }
    map(members, arena)
}

/// Returns the members of a mapping, except some, without nulls. If a member is repeated, the last one is used.
fn written<'a>(node: Node<'a>, arena: &'a Bump, without: &[&str]) -> Vec<Member<'a>> {
    match Value::from_node(node, arena) {
        Value::Map(map) => {
            let is_kept = |(name, value): &&Member<'a>| !without.contains(name) && !matches!(value, Value::Null);
            map.entries().iter().filter(is_kept).copied().collect()
        }
        _ => Vec::new(),
    }
}

fn renamed<'a>(value: Value<'a>, from: &str, to: &'a str, arena: &'a Bump) -> Value<'a> {
    let Value::Map(map) = value else { return value };
    let Some(found) = map.get(from) else { return value };
    let rest = map.entries().iter().filter(|(name, _)| *name != from).copied();
    Value::Map(Map::from_entries(rest.chain([(to, found)]).collect(), arena))
}

fn map<'a>(members: Vec<Member<'a>>, arena: &'a Bump) -> Value<'a> {
    Value::Map(Map::from_entries(members, arena))
}
