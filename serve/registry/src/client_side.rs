//! kubectl's client-side apply, and the migration from it to server-side apply.

use crate::endpoint::{Endpoint, Verb};
use crate::merge_patch;
use crate::options::WriteOptions;
use crate::strategic::{self, KUBECTL, ThreeWay};
use kubeshape_smd::fieldpath::{PathElement, Set, SetBuilder, SetError};
use kubeshape_smd::managed::{self, LAST_APPLIED, Operation, upgrade};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, ToValue, Value};

/// The manager of client-side apply.
pub const CLIENT_SIDE_MANAGER: &str = "kubectl-client-side-apply";
/// The default manager of `kubectl apply --server-side`, which keeps the annotation.
const SERVER_SIDE_MANAGER: &str = "kubectl";
/// The manager to which kubectl gives the annotation before it migrates to server-side apply.
const ANNOTATION_MANAGER: &str = "kubectl-last-applied";

/// Why a configuration cannot be applied as kubectl does.
#[derive(Debug)]
pub enum ClientSideError<'a> {
    /// There is no patch from the last configuration and the live object to the new one.
    Patch(strategic::Error),
    /// A server refuses the object.
    Managed(managed::Error<'a>),
    /// The fields of a manager that transfers them to another one cannot be decoded.
    Owners(SetError),
}

impl<'a> From<managed::Error<'a>> for ClientSideError<'a> {
    fn from(error: managed::Error<'a>) -> Self {
        ClientSideError::Managed(error)
    }
}

impl Endpoint<'_> {
    /// Applies a configuration as `kubectl apply` does without `--server-side`: a three-way patch from the annotation
    /// with the last configuration, the new one, and the live object. The patch is a strategic merge patch for built-in
    /// kinds, and a JSON merge patch for others. It overwrites changes of others. `before` is the live object as it was
    /// [read](Self::read); without one, the object is created.
    ///
    /// Upstream: `applyOneObject` and `Patcher.patchSimple` of kubectl.
    ///
    /// # Errors
    /// There is no patch, or a server refuses the object.
    ///
    /// # Example: a field that is no longer in the configuration is removed
    /// ```
    /// use kubeshape_registry::{CLIENT_SIDE_MANAGER, Gvk, Registry, Time, WriteOptions};
    /// use kubeshape_smd::{Bump, ToValue};
    /// use serde_json::json;
    ///
    /// let mut registry = Registry::default();
    /// registry.set_input("tabs", kubeshape_input::read("tabs.yaml", b"
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata: {name: tabs.example.com}
    /// spec:
    ///   group: example.com
    ///   scope: Cluster
    ///   names: {plural: tabs, kind: Tab}
    ///   versions:
    ///   - name: v1
    ///     served: true
    ///     storage: true
    ///     schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    /// ", kubeshape_input::Limits::default()));
    /// let arena = Bump::new();
    /// let tabs = registry.endpoint(Gvk::new("example.com/v1", "Tab"), "", &arena).unwrap();
    /// let tab = |spec| json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "t"}, "spec": spec});
    /// let options = WriteOptions::new(CLIENT_SIDE_MANAGER, Time(0));
    /// let (old, new) = (tab(json!({"size": 1, "colour": "red"})), tab(json!({"size": 2})));
    /// let live = tabs.client_side_apply(None, old.to_value(&arena), &options, &arena).unwrap();
    /// let live = tabs.client_side_apply(Some(live), new.to_value(&arena), &options, &arena).unwrap();
    /// assert_eq!(live.to_serde()["spec"], json!({"size": 2}));
    /// ```
    pub fn client_side_apply<'a>(
        &'a self,
        before: Option<Value<'a>>,
        config: Value<'a>,
        options: &WriteOptions,
        arena: &'a Bump,
    ) -> Result<Value<'a>, ClientSideError<'a>> {
        let modified = with_annotation(config, arena);
        let Some(Value::Map(live)) = before else {
            let created = without_nulls(modified, arena);
            return Ok(self.write(Verb::Update, None, created, options, arena)?);
        };
        let patch = |result: Result<Map<'a>, strategic::Error>| result.map_err(ClientSideError::Patch);
        let current = live.with("apiVersion", config.get("apiVersion"), arena);
        let original = patch(last_applied(Value::Map(live), arena))?;
        let modified = modified.as_map().unwrap_or(Map::EMPTY);
        let merge = ThreeWay { original, modified, current, overwrite: true };
        let schema = self.kind().document_schema();
        let patched = if schema.is_some() {
            let patch_of = patch(strategic::three_way(merge, &KUBECTL, schema, arena))?;
            patch(strategic::apply(current, patch_of, schema, arena))?
        } else {
            let patch_of = patch(merge_patch::three_way(merge, &KUBECTL, arena))?;
            merge_patch::apply(Value::Map(current), Value::Map(patch_of), arena).as_map().unwrap_or(Map::EMPTY)
        };
        if patched == live {
            return Ok(Value::Map(live));
        }
        Ok(self.write(Verb::Update, before, Value::Map(patched), options, arena)?)
    }

    /// Applies a configuration as `kubectl apply --server-side` does: managers of client-side apply, which own the
    /// annotation with the last configuration, transfer their fields to the manager. Then fields that are no longer in
    /// the configuration are removed.
    ///
    /// Upstream: `applyOneObject`, `saveLastApplyAnnotationIfNecessary` and `migrateToSSAIfNecessary` of kubectl.
    ///
    /// # Errors
    /// See [`apply`](Self::apply), or the fields of a manager of client-side apply cannot be decoded.
    pub fn apply_and_migrate<'a>(
        &'a self,
        before: Option<Value<'a>>,
        config: Value<'a>,
        options: &WriteOptions,
        arena: &'a Bump,
    ) -> Result<Value<'a>, ClientSideError<'a>> {
        let mut after = self.write(Verb::Apply, before, config, options, arena)?;
        let path = ["metadata", "annotations", LAST_APPLIED].map(PathElement::FieldName);
        let mut annotation = SetBuilder::new(arena);
        annotation.insert(&path);
        let annotation: Set<'a> = annotation.finish();
        let compat = self.compat;
        let owners = |object: Value<'a>, operation| {
            let list = object.get("metadata").and_then(|metadata| metadata.get("managedFields"));
            upgrade::find_owners(list, operation, annotation, compat, arena)
        };
        if options.manager == SERVER_SIDE_MANAGER
            && let Some(text) = annotation_of(after)
            && owners(after, Operation::Apply).is_empty()
        {
            let options = WriteOptions { manager: ANNOTATION_MANAGER.to_owned(), force: false, ..options.clone() };
            after = self.write(Verb::Apply, Some(after), only_annotation(config, text, arena), &options, arena)?;
        }
        let mut names: Vec<&str> = Vec::new();
        for owner in owners(after, Operation::Update) {
            names.extend(owner.get("manager").and_then(Value::as_str).filter(|name| !names.contains(name)));
        }
        let manager = arena.alloc_str(&options.manager);
        let upgraded = upgrade::upgrade(after, &names, manager, "", compat, arena).map_err(ClientSideError::Owners)?;
        if upgraded == after {
            return Ok(after);
        }
        Ok(self.write(Verb::Apply, Some(upgraded), config, options, arena)?)
    }
}

fn metadata(object: Value<'_>) -> Map<'_> {
    object.get("metadata").and_then(Value::as_map).unwrap_or(Map::EMPTY)
}

fn annotations(object: Value<'_>) -> Map<'_> {
    metadata(object).get("annotations").and_then(Value::as_map).unwrap_or(Map::EMPTY)
}

/// Returns the annotation with the last configuration.
fn annotation_of(object: Value<'_>) -> Option<&str> {
    annotations(object).get(LAST_APPLIED).and_then(Value::as_str)
}

fn with_annotations<'a>(object: Value<'a>, annotations: Map<'a>, arena: &'a Bump) -> Value<'a> {
    let metadata = metadata(object).with("annotations", Some(Value::Map(annotations)), arena);
    let object = object.as_map().unwrap_or(Map::EMPTY);
    Value::Map(object.with("metadata", Some(Value::Map(metadata)), arena))
}

/// Returns the configuration with itself as an annotation (upstream: `GetModifiedConfiguration`).
fn with_annotation<'a>(config: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let others = annotations(config).with(LAST_APPLIED, None, arena);
    let mut text = Vec::new();
    with_annotations(config, others, arena).write_go_json(&mut text);
    text.push(b'\n');
    let text = arena.alloc_str(&String::from_utf8_lossy(&text));
    with_annotations(config, others.with(LAST_APPLIED, Some(Value::String(text)), arena), arena)
}

/// Returns an object with only its name and the annotation.
fn only_annotation<'a>(config: Value<'a>, text: &'a str, arena: &'a Bump) -> Value<'a> {
    let take = |map: Map<'a>, names: [&'static str; 2]| {
        let entries = names.into_iter().filter_map(|name| Some((name, map.get(name)?)));
        Map::from_entries(entries.collect(), arena)
    };
    let object = take(config.as_map().unwrap_or(Map::EMPTY), ["apiVersion", "kind"]);
    let named = Value::Map(take(metadata(config), ["name", "namespace"]));
    let annotation = Map::from_entries(vec![(LAST_APPLIED, Value::String(text))], arena);
    with_annotations(Value::Map(object.with("metadata", Some(named), arena)), annotation, arena)
}

/// Reads the last configuration from the annotation of the live object.
fn last_applied<'a>(live: Value<'a>, arena: &'a Bump) -> Result<Map<'a>, strategic::Error> {
    let Some(text) = annotation_of(live).filter(|text| !text.is_empty()) else { return Ok(Map::EMPTY) };
    let read: serde_json::Value = serde_json::from_str(text).map_err(|_| strategic::Error::NoObject)?;
    let memory = Bump::new();
    match read.to_value(&memory) {
        Value::Map(map) => Ok(Value::Map(map).copy_into(arena).as_map().unwrap_or(Map::EMPTY)),
        Value::Null => Ok(Map::EMPTY),
        _ => Err(strategic::Error::NoObject),
    }
}

/// Removes the nulls of maps (upstream: `pruneNullsFromMap`).
fn without_nulls<'a>(value: Value<'a>, arena: &'a Bump) -> Value<'a> {
    match value {
        Value::Map(map) => {
            let kept = map.entries().iter().filter(|(_, value)| !value.is_null());
            let kept = kept.map(|(key, value)| (*key, without_nulls(*value, arena)));
            Value::Map(Map::from_entries(kept.collect(), arena))
        }
        Value::List(items) => {
            let items: Vec<Value<'a>> = items.iter().map(|item| without_nulls(*item, arena)).collect();
            Value::List(arena.alloc_slice_copy(&items))
        }
        scalar => scalar,
    }
}
