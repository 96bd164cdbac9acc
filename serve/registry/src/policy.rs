//! Admission policies over registries: the kinds that they need, the admission of a request, and checks of the policies
//! themselves.

mod admission;
mod admit;
mod changes;
mod check;
mod compare;
mod costs;
mod stored;
mod types;

use crate::kind::{Kind, Scope};
use crate::registry::Registry;
use kubeshape_policy::{DeclType, Decoded, Gvk, Gvr, Kinds, Known, MergeError};
use kubeshape_smd::managed;
use kubeshape_smd::schema::{Atom, Relationship, Schema};
use kubeshape_smd::typed::Duplicates;
use kubeshape_smd::{Bump, Value};
use kubeshape_validate::builtin::Strategy;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub use admission::{Admission, Client, Parts, labelled, named_namespace, request_of};
pub use admit::Answer;
pub use changes::changes;
pub use check::{Checked, GROUP, Others, is_policy};
pub use compare::{Comparison, CostChange, Difference, Effect};
pub use costs::ObjectCosts;
pub use stored::StoredPolicies;

/// The kinds of one registry, found by their resources. A built-in kind is prepared at its first object.
#[derive(Debug)]
pub struct Layer {
    registry: Registry,
    resources: BTreeMap<Gvr, Gvk>,
    strategies: Mutex<BTreeMap<Gvk, Option<Arc<Strategy>>>>,
    declared: Mutex<BTreeMap<Gvk, Option<Arc<DeclType>>>>,
}

/// A source of layers with kinds.
pub trait Layers {
    /// Returns the layers that may have kinds of a group, in order of precedence.
    fn of_group<'s>(&'s self, group: &str) -> Vec<&'s Layer>;

    /// Returns all layers, in order of precedence.
    fn all(&self) -> Vec<&Layer>;
}

impl<const N: usize> Layers for [&Layer; N] {
    fn of_group<'s>(&'s self, _: &str) -> Vec<&'s Layer> {
        self.to_vec()
    }

    fn all(&self) -> Vec<&Layer> {
        self.to_vec()
    }
}

/// The kinds of layers. The first one that has a kind is used.
///
/// # Example
/// ```
/// use kubeshape_policy::{Gvk, Kinds};
/// use kubeshape_registry::policy::{Layer, ServedKinds};
///
/// let layers = [&Layer::new(&kubeshape_registry::Registry::default())];
/// assert!(ServedKinds::new(&layers).kind(&Gvk::of("v1", "Pod")).is_none());
/// ```
#[derive(Clone, Copy)]
pub struct ServedKinds<'l> {
    layers: &'l dyn Layers,
}

impl std::fmt::Debug for ServedKinds<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServedKinds").finish_non_exhaustive()
    }
}

impl Layer {
    /// Returns the kinds of a registry, as it is now.
    pub fn new(registry: &Registry) -> Layer {
        let served = registry.kinds().filter(|kind| kind.version().is_none_or(|version| version.served));
        let resources = served.filter_map(|kind| Some((resource_of(kind)?, gvk_of(kind)))).collect();
        Layer { registry: registry.clone(), resources, strategies: Mutex::default(), declared: Mutex::default() }
    }

    fn kind(&self, gvk: &Gvk) -> Option<&Kind> {
        let api_version = gvk.api_version();
        self.registry.kind(managed::Gvk::new(&api_version, &gvk.kind))
    }

    fn strategy(&self, gvk: &Gvk, kind: &Kind) -> Option<Arc<Strategy>> {
        if let Some(strategy) = kind.strategy() {
            return Some(Arc::clone(strategy));
        }
        let mut strategies = self.strategies.lock().unwrap_or_else(PoisonError::into_inner);
        let made = strategies.entry(gvk.clone()).or_insert_with(|| {
            let namespaced = kind.resource().is_some_and(|resource| resource.scope == Scope::Namespaced);
            let (types, release) = (kind.typed()?, kind.definition().release());
            Some(Arc::new(Strategy::new(types, &gvk.group, &gvk.version, &gvk.kind, namespaced, release)))
        });
        made.clone()
    }
}

fn gvk_of(kind: &Kind) -> Gvk {
    Gvk::of(kind.api_version(), kind.kind())
}

fn resource_of(kind: &Kind) -> Option<Gvr> {
    Some(Gvr::new(kind.group(), kind.version_name(), &kind.resource()?.plural))
}

impl<'l> ServedKinds<'l> {
    /// Returns the kinds of layers.
    pub fn new(layers: &'l dyn Layers) -> ServedKinds<'l> {
        ServedKinds { layers }
    }

    fn find(&self, gvk: &Gvk) -> Option<(&'l Layer, &'l Kind)> {
        self.layers.of_group(&gvk.group).into_iter().find_map(|layer| Some((layer, layer.kind(gvk)?)))
    }
}

/// Returns whether a kind is one of a subresource, whose schema is not in the document of its own group and version.
fn is_subresource_kind(gvk: &Gvk) -> bool {
    matches!(
        gvk.kind.as_str(),
        "Scale" | "PodExecOptions" | "PodAttachOptions" | "PodPortForwardOptions" | "PodProxyOptions"
    )
}

/// Adds empty members to the metadata of custom resources: they exist until the object is stored.
fn with_empty_metadata<'a>(decoded: Value<'a>, given: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let (Value::Map(object), Some(Value::Map(given))) = (decoded, given.get("metadata")) else { return decoded };
    let Some(Value::Map(mut metadata)) = object.get("metadata") else { return decoded };
    for (key, value) in given.entries() {
        let is_empty = match value {
            Value::String(text) => text.is_empty(),
            Value::Map(map) => map.is_empty(),
            Value::List(items) => items.is_empty(),
            _ => false,
        };
        if is_empty && metadata.get(key).is_none() {
            metadata = metadata.with(key, Some(*value), arena);
        }
    }
    Value::Map(object.with("metadata", Some(Value::Map(metadata)), arena))
}

/// Adds the command to the options of `exec`, which have no schema of their own. Go prints a missing command, too.
fn with_command<'a>(gvk: &Gvk, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    match object {
        Value::Map(map) if gvk.kind == "PodExecOptions" && map.get("command").is_none() => {
            Value::Map(map.with("command", Some(Value::Null), arena))
        }
        _ => object,
    }
}

/// Collects the paths of atomic lists, maps and structs in a patch (`findAtomics`).
fn atomics(schema: &Schema, atom: Option<Atom<'_>>, value: Value<'_>, path: &mut String, out: &mut Vec<String>) {
    let Some(atom) = atom else { return };
    let length = path.len();
    match value {
        Value::Map(members) => {
            let Some(map) = atom.map() else { return };
            if map.relationship() == Some(Relationship::Atomic) {
                out.push(path.clone());
            }
            for (name, member) in members.entries() {
                let Some(field) = map.field(name) else { continue };
                path.push('.');
                path.push_str(name);
                atomics(schema, schema.resolve(field.type_ref()), *member, path, out);
                path.truncate(length);
            }
        }
        Value::List(items) => {
            let Some(list) = atom.list() else { return };
            if list.relationship() == Some(Relationship::Atomic) {
                out.push(path.clone());
            }
            for (index, item) in items.iter().enumerate() {
                path.push('[');
                path.push_str(&index.to_string());
                path.push(']');
                atomics(schema, schema.resolve(list.element_type()), *item, path, out);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

impl Kinds for ServedKinds<'_> {
    fn kind(&self, gvk: &Gvk) -> Option<Known> {
        let (_, kind) = self.find(gvk)?;
        let resource = kind.resource()?;
        Some(Known {
            resource: resource.plural.to_string(),
            is_namespaced: resource.scope == Scope::Namespaced,
            is_built_in: kind.version().is_none(),
        })
    }

    fn of_resource(&self, resource: &Gvr) -> Option<Gvk> {
        self.layers.of_group(&resource.group).into_iter().find_map(|layer| layer.resources.get(resource)).cloned()
    }

    fn of_any_group(&self, version: &str, resource: &str) -> Vec<Gvk> {
        let all = self.layers.all().into_iter().flat_map(|layer| &layer.resources);
        let is_meant = |own: &Gvr| own.version == version && own.resource == resource;
        all.filter(|(own, _)| is_meant(own)).map(|(_, gvk)| gvk.clone()).collect()
    }

    fn equivalents(&self, resource: &Gvr) -> Vec<Gvr> {
        let Some(gvk) = self.of_resource(resource) else { return Vec::new() };
        let layers = self.layers.of_group(&gvk.group);
        let versions = layers.iter().flat_map(|layer| {
            let served = |resource: &Gvr| layer.resources.contains_key(resource);
            layer.registry.versions(&gvk.group, &gvk.kind).filter_map(resource_of).filter(served)
        });
        let mut all: Vec<Gvr> = versions.collect();
        let other = match (resource.group.as_str(), resource.resource.as_str()) {
            ("", "events") => Some(Gvr::new("events.k8s.io", "v1", "events")),
            ("events.k8s.io", "events") => Some(Gvr::new("", "v1", "events")),
            _ => None,
        };
        all.extend(other.filter(|other| self.of_resource(other).is_some()));
        all
    }

    fn decode<'a>(&self, gvk: &Gvk, object: Value<'a>, arena: &'a Bump) -> Result<Decoded<'a>, String> {
        let Some((layer, kind)) = self.find(gvk) else {
            return Ok(Decoded { value: with_command(gvk, object, arena), unknown: Vec::new() });
        };
        if let Some(resources) = kind.resources() {
            let version = resources.iter().find(|resource| resource.api_version == kind.api_version());
            let Some(resource) = version else { return Ok(Decoded { value: object, unknown: Vec::new() }) };
            let decoded = resource.decode(object, arena)?;
            let value = with_empty_metadata(decoded.value.copy_into(arena), object, arena);
            return Ok(Decoded { value, unknown: decoded.unknown });
        }
        match layer.strategy(gvk, kind) {
            Some(strategy) => {
                let decoded = strategy.decode_request(object, arena)?;
                Ok(Decoded { value: decoded.value, unknown: decoded.unknown })
            }
            None => Ok(Decoded { value: object, unknown: Vec::new() }),
        }
    }

    fn merge<'a>(
        &self,
        gvk: &Gvk,
        live: Value<'a>,
        patch: Value<'a>,
        arena: &'a Bump,
    ) -> Result<Value<'a>, MergeError> {
        let refused = |what: &str, error: String| MergeError::Refused(format!("{what}: {error}"));
        let of_patch = |error: String| refused("failed to convert patch object to typed object", error);
        let no_type = || of_patch(format!("no corresponding type for {gvk}"));
        if is_subresource_kind(gvk) {
            return Err(no_type());
        }
        let (_, kind) = self.find(gvk).ok_or(MergeError::NoSchemas)?;
        let ty = kind.merge_type().ok_or_else(no_type)?;
        let (config, old) = (patch, live);
        let patch = ty.validate(config, Duplicates::Refused).map_err(|error| of_patch(error.to_string()))?;
        if let Some(atom) = ty.types().schema().find_type(kind.type_name()) {
            let mut found = Vec::new();
            atomics(ty.types().schema(), Some(atom.atom()), config, &mut String::new(), &mut found);
            if !found.is_empty() {
                let text = format!("may not mutate atomic arrays, maps or structs: {}", found.join(", "));
                return Err(refused("invalid ApplyConfiguration", text));
            }
        }
        let live = ty
            .validate(old, Duplicates::Allowed)
            .map_err(|error| refused("failed to convert original object to typed object", error.to_string()))?;
        let merged = live.merge(patch, arena).map_err(|error| refused("failed to merge patch", error.to_string()))?;
        Ok(merged.value().unwrap_or(Value::Null).copy_into(arena))
    }

    fn declared(&self, gvk: &Gvk) -> Option<Arc<DeclType>> {
        let (layer, kind) = self.find(gvk)?;
        let known = |layer: &Layer| layer.declared.lock().unwrap_or_else(PoisonError::into_inner).get(gvk).cloned();
        if let Some(known) = known(layer) {
            return known;
        }
        let is_custom = kind.version().is_some();
        let built_in = is_custom.then(|| self.declared(&Gvk::of("v1", "ConfigMap"))).flatten();
        let declared = types::declared(kind, built_in.as_ref().and_then(|declared| declared.field("metadata")));
        layer.declared.lock().unwrap_or_else(PoisonError::into_inner).insert(gvk.clone(), declared.clone());
        declared
    }
}
