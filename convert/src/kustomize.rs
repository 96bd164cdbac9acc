//! The documents that kustomize needs to merge patches into lists.
//!
//! kustomize merges a patch with the OpenAPI v2 document that `openapi.path` of a kustomization names (kyaml's
//! `ResourceSchema`). It merges a list by key only if the schema has a patch strategy and merge keys. API servers
//! publish these for built-in types. For custom resources, they publish list types and map keys, which kustomize does
//! not read: then a patch of one item replaces the whole list.
//!
//! [`document`] writes the smallest document with which kustomize merges as server-side apply does: the kinds, the
//! lists that are merged, the schemas on the way to them, and the paths that show whether a kind is namespaced.

use crate::graph::{Section, Target, reference_to};
use crate::model::{Extensions, Printer};
use crate::{jsonschema, smd, v3};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Dialect, Gvk, Json, Profile, Schema, Type};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

const KINDS: &str = "x-kubernetes-group-version-kind";
const STRATEGY: &str = "x-kubernetes-patch-strategy";
const MERGE_KEY: &str = "x-kubernetes-patch-merge-key";
const MAP_KEYS: &str = "x-kubernetes-list-map-keys";

/// Returns the OpenAPI v2 document for kustomize, as compact JSON, of the kinds of a document that `wanted` accepts.
///
/// Of a document with paths, these are only the kinds that a path serves: kustomize does not need lists, options and
/// statuses. If the document was aggregated from several, `parts` are these, and all kinds of a part without paths are
/// used; otherwise, `parts` is empty. A list with a patch strategy keeps it, with its merge keys. Another list gets the
/// strategy `merge` if its list type is `set` or `map`. Schemas that lead to no such list are left out: kustomize
/// replaces these values without a schema, too.
///
/// # Example
/// ```
/// use kubeshape_convert::{kustomize, v3};
/// use kubeshape_schema::{Bump, Profile};
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r#"{"openapi": "3.0.0", "paths": {}, "components": {"schemas": {"io.example.v1.Gateway": {
///     "type": "object", "x-kubernetes-group-version-kind": [{"group": "example.io", "version": "v1", "kind": "Gateway"}],
///     "properties": {"size": {"type": "integer"}, "listeners": {"type": "array", "items": {"type": "object"},
///         "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}}}}}}"#;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let arena = Bump::new();
/// let document = v3::read(tape.document(source).root().unwrap(), &arena, Profile::Faithful).value.unwrap();
/// let json = String::from_utf8(kustomize::document(&document, &[], &arena, |kind| kind.kind() == "Gateway"))?;
/// assert!(json.contains(concat!(
///     r#""listeners":{"type":"array","x-kubernetes-patch-strategy":"merge","#,
///     r#""x-kubernetes-patch-merge-key":"name"}"#
/// )));
/// assert!(!json.contains("size"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn document<'a>(
    document: &v3::Document<'a>,
    parts: &[v3::Document<'a>],
    arena: &'a Bump,
    wanted: impl Fn(&Gvk<'_>) -> bool,
) -> Vec<u8> {
    let schemas: BTreeMap<&str, &Schema<'a>> = definitions(document).collect();
    let mut kinds = jsonschema::kinds(schemas.iter().map(|(name, schema)| (*name, *schema)), arena);
    let resources: Vec<(&str, &Json<'a>)> = paths(document).collect();
    let mut served: BTreeSet<Kind<'_>> = resources.iter().map(|(_, said)| said_kind(said)).collect();
    if !served.is_empty() {
        let unserved = parts.iter().filter(|part| paths(part).next().is_none());
        served.extend(
            unserved.flat_map(|part| jsonschema::kinds(definitions(part), arena)).map(|(kind, _)| kind_of(&kind)),
        );
    }
    kinds.retain(|(kind, _)| (served.is_empty() || served.contains(&kind_of(kind))) && wanted(kind));
    let taken: BTreeSet<Kind<'_>> = kinds.iter().map(|(kind, _)| kind_of(kind)).collect();
    let merging = Merging::of(&schemas, kinds.iter().map(|(_, name)| *name));

    let mut out = Vec::new();
    let mut p = Printer::new(&mut out, Style::V2, Profile::Faithful);
    p.open();
    p.key("swagger");
    p.text("2.0");
    p.key("info");
    p.raw(br#"{"title":"Merge keys for kustomize","version":"v1"}"#);
    p.key("paths");
    p.open();
    for (path, kind) in resources {
        if taken.contains(&said_kind(kind)) {
            p.any_key(path);
            p.open();
            p.key("get");
            p.open();
            p.key(KINDS);
            p.json(kind);
            p.close();
            p.close();
        }
    }
    p.close();
    p.key("definitions");
    p.open();
    for (name, schema) in &merging.definitions {
        p.any_key(name);
        merging.print(schema, &extensions_of_kind(schema), &mut p);
    }
    p.close();
    p.close();
    out
}

fn definitions<'d, 'a>(document: &'d v3::Document<'a>) -> impl Iterator<Item = (&'a str, &'d Schema<'a>)> {
    let schemas = document.components.iter().flat_map(|components| components.schemas);
    schemas.map(|definition| (definition.name, &definition.schema))
}

/// Returns the paths of single objects, each with the group, version and kind of its `get`.
fn paths<'d, 'a>(document: &'d v3::Document<'a>) -> impl Iterator<Item = (&'a str, &'d Json<'a>)> {
    let items = document.paths.into_iter().flat_map(|paths| paths.items);
    items.filter(|entry| entry.name.ends_with("/{name}")).filter_map(|entry| {
        let get = entry.value.get?;
        let (_, kind) = get.extensions.iter().find(|(key, _)| *key == KINDS)?;
        Some((entry.name, kind))
    })
}

/// Group, version and kind.
type Kind<'a> = (&'a str, &'a str, &'a str);

fn kind_of<'a>(kind: &Gvk<'a>) -> Kind<'a> {
    (kind.group(), kind.version(), kind.kind())
}

fn said_kind<'a>(said: &Json<'a>) -> Kind<'a> {
    let text = |member| said.get(member).and_then(Json::as_str).unwrap_or_default();
    (text("group"), text("version"), text("kind"))
}

fn extensions_of_kind<'a>(schema: &Schema<'a>) -> Vec<(&'a str, Json<'a>)> {
    schema.extra().extensions.iter().copied().filter(|(key, _)| *key == KINDS).collect()
}

/// The definitions that kustomize needs.
struct Merging<'a> {
    /// The kinds, and the definitions between them and a list that is merged.
    definitions: BTreeMap<&'a str, &'a Schema<'a>>,
    /// The schemas inside them, by address, that lead to such a list.
    leading: HashSet<*const Schema<'a>>,
}

impl<'a> Merging<'a> {
    fn of(schemas: &BTreeMap<&'a str, &'a Schema<'a>>, kinds: impl Iterator<Item = &'a str>) -> Self {
        let kinds: BTreeSet<&'a str> = kinds.collect();
        let mut reached: BTreeMap<&'a str, &'a Schema<'a>> = BTreeMap::new();
        let mut users: BTreeMap<Cow<'a, str>, Vec<&'a str>> = BTreeMap::new();
        let mut leading: Vec<&'a str> = Vec::new();
        let mut open: Vec<&'a str> = kinds.iter().copied().collect();
        while let Some(name) = open.pop() {
            let Some((name, schema)) = schemas.get_key_value(name) else { continue };
            if reached.insert(name, schema).is_some() {
                continue;
            }
            let mut targets = BTreeSet::new();
            if collect(schema, &mut targets) {
                leading.push(name);
            }
            for target in targets {
                if let Some((target, _)) = schemas.get_key_value(&*target) {
                    open.push(target);
                }
                users.entry(target).or_default().push(name);
            }
        }
        // A definition that refers to a leading one is leading, too.
        let mut known: BTreeSet<&'a str> = leading.iter().copied().collect();
        while let Some(name) = leading.pop() {
            for user in users.get(name).into_iter().flatten() {
                if known.insert(user) {
                    leading.push(user);
                }
            }
        }
        reached.retain(|name, _| known.contains(name) || kinds.contains(name));
        let mut marked = HashSet::new();
        for schema in reached.values() {
            mark(schema, &known, &mut marked);
        }
        Merging { definitions: reached, leading: marked }
    }

    fn leads(&self, schema: &Schema<'a>) -> bool {
        self.leading.contains(&std::ptr::from_ref(schema))
    }

    fn print(&self, schema: &Schema<'a>, extensions: Extensions<'_>, p: &mut Printer<'_>) {
        p.open();
        if let Some(name) = target(schema) {
            p.key("$ref");
            p.text(&reference_to(Section::Schemas, &name, "", Dialect::V2));
            p.close();
            return;
        }
        if matches!(schema.ty, Type::Array | Type::Object) {
            p.key("type");
            p.text(schema.type_name());
        }
        if let Some(item) = schema.item().filter(|item| self.leads(item)) {
            p.key("items");
            self.print(item, &[], p);
        }
        if let Some(inner) = schema.additional_schema().filter(|inner| self.leads(inner)) {
            p.key("additionalProperties");
            self.print(inner, &[], p);
        }
        let mut properties = schema.properties.iter().filter(|property| self.leads(&property.schema)).peekable();
        if properties.peek().is_some() {
            p.key("properties");
            p.open();
            for property in properties {
                p.any_key(property.name);
                self.print(&property.schema, &[], p);
            }
            p.close();
        }
        if let Some(strategy) = strategy(schema) {
            p.key(STRATEGY);
            p.text(strategy.name);
            if let [key, ..] = &*strategy.merge_keys {
                p.key(MERGE_KEY);
                p.text(key);
            }
            if strategy.map_keys.len() > 1 {
                p.key(MAP_KEYS);
                p.json(&Json::Array(&strategy.map_keys.iter().map(|key| Json::Str(key)).collect::<Vec<_>>()));
            }
        }
        for (key, value) in extensions {
            p.any_key(key);
            p.json(value);
        }
        p.close();
    }
}

/// Marks the schemas that lead to a list that is merged. Returns whether this is one.
fn mark<'a>(schema: &Schema<'a>, leading: &BTreeSet<&str>, marked: &mut HashSet<*const Schema<'a>>) -> bool {
    let leads = if let Some(name) = target(schema) {
        leading.contains(&*name)
    } else {
        let merged = strategy(schema).is_some();
        below(schema).fold(merged, |leads, inner| mark(inner, leading, marked) | leads)
    };
    if leads {
        marked.insert(std::ptr::from_ref(schema));
    }
    leads
}

/// Collects the definitions to which a schema refers. Returns whether a list in it is merged.
fn collect<'a>(schema: &Schema<'a>, targets: &mut BTreeSet<Cow<'a, str>>) -> bool {
    if let Some(name) = target(schema) {
        targets.insert(name);
        return false;
    }
    let merged = strategy(schema).is_some();
    below(schema).fold(merged, |merged, inner| collect(inner, targets) | merged)
}

/// Returns the inner schemas that kustomize reads.
fn below<'s, 'a>(schema: &'s Schema<'a>) -> impl Iterator<Item = &'s Schema<'a>> {
    let properties = schema.properties.iter().map(|property| &property.schema);
    schema.item().into_iter().chain(schema.additional_schema()).chain(properties)
}

/// Returns the definition of a schema: the target of its reference, or of the only reference in its `allOf`, as v3
/// documents wrap references with siblings.
fn target<'a>(schema: &Schema<'a>) -> Option<Cow<'a, str>> {
    let reference = match (schema.reference, schema.extra().all_of) {
        ("", [only]) if schema.properties.is_empty() && schema.items.is_none() => only.reference,
        (reference, _) => reference,
    };
    match Target::of(reference, Dialect::V3) {
        Target::Named { section: Section::Schemas, name, rest } if rest.is_empty() => Some(name),
        _ => None,
    }
}

/// How kustomize merges a list.
struct Strategy<'a> {
    name: &'a str,
    merge_keys: Cow<'a, [&'a str]>,
    map_keys: Cow<'a, [&'a str]>,
}

fn strategy<'a>(schema: &Schema<'a>) -> Option<Strategy<'a>> {
    if schema.ty != Type::Array {
        return None;
    }
    let extra = schema.extra();
    let text = |name: &str| smd::extension(extra, name).and_then(Json::as_str);
    let map_keys = Cow::Borrowed(extra.list_map_keys);
    if let Some(name) = text(STRATEGY) {
        let merge_keys = text(MERGE_KEY).into_iter().collect::<Vec<_>>().into();
        return Some(Strategy { name, merge_keys, map_keys });
    }
    let keys = smd::merge_keys(schema)?;
    Some(Strategy { name: "merge", merge_keys: keys.clone(), map_keys: keys })
}
