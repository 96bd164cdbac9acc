//! Hands fields over with server-side applies instead of a patch of `metadata.managedFields`.

use crate::engine;
use crate::hand_over::{Goal, HandOver, HandOverError, Moved, configured, quoted};
use crate::proof::next_applies;
use crate::value::{leaves, managed_fields, with_metadata};
use kubeshape_registry::{Error, Locations, Object, Operation, Registry, Time, Verb, WriteOptions};
use kubeshape_smd::fieldpath::{PathElement, Set, SetBuilder};
use kubeshape_smd::managed::{self, LAST_APPLIED, Owner, entries};
use kubeshape_smd::typed::{Duplicates, KeyFields};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, ToValue, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The manager under which kubectl owns the annotation with the last configuration.
const ANNOTATION_MANAGER: &str = "kubectl-last-applied";

/// A server-side apply.
#[derive(Clone, Debug)]
pub struct Apply {
    /// The manager.
    pub manager: String,
    /// Whether it takes over fields of others.
    pub force: bool,
    /// What is applied.
    pub config: Object,
}

impl Apply {
    /// Returns the lines of a command for a shell: `kubectl apply`, the configuration, and the end of its input.
    pub fn lines(&self) -> [String; 3] {
        let force = if self.force { " --force-conflicts" } else { "" };
        let manager = quoted(&self.manager);
        let command = format!("kubectl apply --server-side --field-manager={manager}{force} -f - <<'EOF'");
        [command, self.config.to_json(), "EOF".to_owned()]
    }
}

/// Returns the hand-over with applies in [`HandOver::applies`] that do the same as its patch. They are those of
/// kubectl, and are proven like the patch: no value changes, except those about which the configuration conflicts, and
/// the owners are the same afterwards. In addition, the new owner may own keys of list items, because every apply must
/// have them.
///
/// - [`Goal::Give`]: the new owner applies what it gets and what it has, and the others apply the rest of what they
///   had.
/// - [`Goal::Release`]: the owners apply the rest. The fields must have another owner, or they would be removed.
/// - [`Goal::Resolve`]: the new owner applies by force what it has, and the values that conflict. Other managers that
///   apply the old values conflict then.
/// - [`Goal::MigrateClientSide`]: kubectl's own migration, by an apply of the last configuration in the annotation. The
///   annotation goes away, unless the new owner is `kubectl`.
///
/// `config` is what the new owner applies next, as for [`hand_over`](crate::hand_over).
///
/// # Errors
/// [`HandOverError::NotByApplies`]: applies cannot do what the patch does. For example, an apply takes fields over from
/// an update only if it changes their values.
///
/// # Example: two managers that apply
/// ```
/// use kubeshape_ownership::{Goal, by_applies, hand_over};
/// use kubeshape_registry::{Object, Registry, Time};
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
///     schema: {openAPIV3Schema: {type: object, properties: {
///       spec: {type: object, properties: {replicas: {type: integer}, image: {type: string}}}}}}
/// ", kubeshape_input::Limits::default()));
/// let entry = |manager, fields| json!({"manager": manager, "operation": "Apply",
///     "apiVersion": "example.com/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}});
/// let live = Object::from(json!({"apiVersion": "example.com/v1", "kind": "Tab",
///     "metadata": {"name": "t", "managedFields": [
///         entry("helm", json!({"f:image": {}})),
///         entry("ci", json!({"f:replicas": {}})),
///     ]},
///     "spec": {"image": "a", "replicas": 5}}));
///
/// let goal = Goal::Give { from: vec!["ci".into()], to: "helm".into(), fields: Vec::new() };
/// let found = hand_over(&registry, &live, None, &goal, Time(0))?.unwrap();
/// let found = by_applies(&registry, &live, None, &goal, found, Time(0))?;
/// let configs: Vec<_> = found.applies.iter().map(|apply| (&*apply.manager, &apply.config.value()["spec"])).collect();
/// assert_eq!(configs, [("helm", &json!({"image": "a", "replicas": 5})), ("ci", &json!(null))]);
/// # Ok::<(), kubeshape_ownership::HandOverError>(())
/// ```
pub fn by_applies(
    registry: &Registry,
    live: &Object,
    config: Option<&Object>,
    goal: &Goal,
    found: HandOver,
    now: Time,
) -> Result<HandOver, HandOverError> {
    let arena = Bump::new();
    let of_helm = configured(live, config, goal, &arena);
    let config = of_helm.as_ref().or(config);
    let before = live.to_value(&arena);
    let owners = Owners {
        registry,
        before: owners_of(registry, before, &arena),
        after: owners_of(registry, found.after.to_value(&arena), &arena),
        arena: &arena,
    };
    let taken = owners.taken(goal);
    let steps = match goal {
        Goal::MigrateClientSide { to, .. } => vec![step(to, false, last_configuration(before, &arena)?)],
        Goal::Resolve { to, .. } => vec![step(to, true, owners.resolving(before, config, to, taken, now)?)],
        Goal::Give { .. } | Goal::Release { .. } => owners.giving(before, goal, &found.moved)?,
    };
    let mut after = before;
    for step in &steps {
        let options = WriteOptions::new(step.manager.as_str(), now).force(step.force);
        let next = step.config.to_value(&arena).copy_into(&arena);
        let applied = engine::apply_and_migrate(registry, Some(after), next, &options, Locations::default(), &arena);
        after = applied.map_err(|error| not(format!("the apply of {:?} would be refused: {error}", step.manager)))?;
    }
    let conflicting: BTreeSet<String> = leaves(taken, &arena).into_iter().collect();
    let is_meant = |path: &str| match goal {
        Goal::Resolve { .. } => has_above(&conflicting, path),
        Goal::MigrateClientSide { .. } => path == ".metadata.annotations" || path.ends_with(LAST_APPLIED),
        Goal::Give { .. } | Goal::Release { .. } => false,
    };
    let changes = engine::changes(registry, Some(before), after, &arena);
    let others: Vec<&str> = changes.iter().map(|change| change.path.as_str()).filter(|path| !is_meant(path)).collect();
    if !others.is_empty() {
        let more = if others.len() > 5 { " and more" } else { "" };
        let shown = others.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        return Err(not(format!("they would change or remove {shown}{more}")));
    }
    if !owners.are_reached(goal, &owners_of(registry, after, &arena)) {
        return Err(not("kubectl would also take over fields of client-side apply, or of other managers".to_owned()));
    }
    let mut checks = next_applies(registry, (before, after), config, goal, now, &arena)?;
    if let Goal::Resolve { to, .. } = goal {
        // The others conflict with the new values, as they would after any apply of them.
        checks.retain(|check| check.manager == *to);
    }
    Ok(HandOver { applies: steps, checks, after: Object::of(after), ..found })
}

/// Returns whether a set of paths has this one, or one above it.
fn has_above(paths: &BTreeSet<String>, path: &str) -> bool {
    let ends = path.char_indices().filter(|(_, sign)| matches!(sign, '.' | '[')).map(|(at, _)| at);
    ends.chain([path.len()]).any(|end| path.get(..end).is_some_and(|above| paths.contains(above)))
}

fn not(why: String) -> HandOverError {
    HandOverError::NotByApplies { why }
}

fn step(manager: &str, force: bool, config: Value<'_>) -> Apply {
    Apply { manager: manager.to_owned(), force, config: Object::of(config) }
}

/// Manager, operation, subresource, and the version of an update. An owner that applies has one entry in any version.
type Key<'a> = (&'a str, &'static str, &'a str, &'a str);
/// The owners of an object: the version and the fields of each.
type Entries<'a> = BTreeMap<Key<'a>, (&'a str, Set<'a>)>;

/// Returns the owners of an object. The patch was computed from the same entries, so they can be read.
fn owners_of<'a>(registry: &Registry, object: Value<'a>, arena: &'a Bump) -> Entries<'a> {
    let managed = entries::decode_as(managed_fields(object), registry.settings().compat, arena);
    let ownership = managed.map(|managed| managed::Ownership::new(&managed)).unwrap_or_default();
    let key = |owner: &Owner<'a>| {
        let version = if owner.operation == Operation::Apply { "" } else { owner.api_version };
        (owner.manager, owner.operation.as_str(), owner.subresource, version)
    };
    ownership.all().iter().map(|(owner, set)| (key(owner), (owner.api_version, *set))).collect()
}

/// Returns the entry that gets the fields.
fn target(to: &str) -> Key<'_> {
    (to, Operation::Apply.as_str(), "", "")
}

fn fields_of<'a>(owners: &Entries<'a>, key: &Key<'_>) -> Set<'a> {
    owners.get(key).map_or(Set::EMPTY, |(_, set)| *set)
}

/// Returns the configuration that client-side apply recorded.
fn last_configuration<'a>(live: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, HandOverError> {
    let text = || live.get("metadata")?.get("annotations")?.get(LAST_APPLIED)?.as_str();
    let text = text().ok_or_else(|| not(format!("the object has no annotation {LAST_APPLIED} to apply again")))?;
    let last: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| not(format!("the annotation {LAST_APPLIED} is not the JSON of an object: {error}")))?;
    Ok(named(last.to_value(arena).copy_into(arena), live, arena))
}

/// Returns a configuration with the kind, the name and the namespace of the object.
fn named<'a>(config: Value<'a>, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let mut map = config.as_map().unwrap_or(Map::EMPTY);
    for key in ["apiVersion", "kind"] {
        if map.get(key).is_none() {
            map = map.with(key, object.get(key), arena);
        }
    }
    let mut config = Value::Map(map);
    for key in ["name", "namespace"] {
        let value = object.get("metadata").and_then(|metadata| metadata.get(key));
        if value.and_then(Value::as_str).is_some_and(|text| !text.is_empty()) {
            config = with_metadata(config, key, value, arena);
        }
    }
    config
}

/// The owners before and after the patch.
struct Owners<'a> {
    registry: &'a Registry,
    before: Entries<'a>,
    after: Entries<'a>,
    arena: &'a Bump,
}

impl<'a> Owners<'a> {
    /// Returns what the givers lose.
    fn taken(&self, goal: &Goal) -> Set<'a> {
        let to = goal.to().map(target);
        let givers = self.before.iter().filter(|(key, _)| Some(**key) != to);
        let lost: Vec<Set<'a>> =
            givers.map(|(key, (_, set))| set.difference(fields_of(&self.after, key), self.arena)).collect();
        Set::union_all(&lost, self.arena)
    }

    /// Returns these fields of an object, as a configuration in a version.
    fn extracted(&self, object: Value<'a>, version: &'a str, set: Set<'a>) -> Result<Value<'a>, HandOverError> {
        let arena = self.arena;
        let map = object.as_map().unwrap_or(Map::EMPTY);
        let object = Value::Map(map.with("apiVersion", Some(Value::String(version)), arena));
        let ty = self.registry.kind(object.gvk()).and_then(kubeshape_registry::Kind::merge_type);
        let typed = ty.and_then(|ty| ty.validate(object, Duplicates::Allowed).ok());
        let typed = typed.ok_or_else(|| not(format!("the object cannot be read in version {version}")))?;
        let found = |keys| {
            let found = typed.extract_items(set.leaves(arena), keys, arena).value();
            let found = found.filter(|found| found.as_map().is_some()).unwrap_or(Value::Map(Map::EMPTY));
            named(found, object, arena)
        };
        // Keys of items must be there unless they have their default. The owner gets them as well.
        let own = found(KeyFields::AsOwned);
        let read = ty.and_then(|ty| ty.validate(own, Duplicates::Allowed).ok()?.to_field_set(arena).ok());
        let is_whole = read.is_some_and(|read| set.leaves(arena).difference(read, arena).is_empty());
        Ok(if is_whole { own } else { found(KeyFields::Append) })
    }

    /// Returns the applies that leave all values as they are.
    fn giving(&self, before: Value<'a>, goal: &Goal, moved: &[Moved]) -> Result<Vec<Apply>, HandOverError> {
        if let Some(update) = moved.iter().find(|moved| moved.operation != Operation::Apply.as_str()) {
            let Moved { manager, fields, .. } = update;
            let field = fields.first().map_or("fields", String::as_str);
            return Err(not(format!(
                "{manager:?} wrote {field} with an update, and an apply takes a field over from an update only if it \
                 changes the value"
            )));
        }
        let mut steps = Vec::new();
        if let Some(to) = goal.to()
            && let Some((version, set)) = self.after.get(&target(to))
        {
            steps.push(step(to, false, self.extracted(before, version, *set)?));
        }
        for (key, (version, set)) in &self.before {
            let left = fields_of(&self.after, key);
            if goal.to().map(target) != Some(*key) && left != *set {
                steps.push(step(key.0, false, self.extracted(before, version, left)?));
            }
        }
        Ok(steps)
    }

    /// Returns what the new owner has, with the values that conflict.
    fn resolving(
        &self,
        before: Value<'a>,
        config: Option<&Object>,
        to: &str,
        taken: Set<'a>,
        now: Time,
    ) -> Result<Value<'a>, HandOverError> {
        let arena = self.arena;
        let config = config.ok_or(HandOverError::NoConfig)?.to_value(arena).copy_into(arena);
        let options = WriteOptions::new(to, now).force(true);
        let nowhere = Locations::default();
        let forced = engine::write(self.registry, Verb::Apply, Some(before), config, &options, nowhere, arena)?;
        let version = config.gvk().api_version();
        let wanted = self.extracted(forced, version, taken)?;
        let Some((of, own)) = self.before.get(&target(to)) else { return Ok(wanted) };
        if *of != version {
            return Err(not(format!("{to:?} applied version {of} before, and the configuration has {version}")));
        }
        let own = self.extracted(before, version, *own)?;
        let refused = |message: String| HandOverError::Refused(Error::Refused { message, code: 500 });
        let ty = self.registry.kind(config.gvk()).and_then(kubeshape_registry::Kind::merge_type);
        let typed = |value| ty.and_then(|ty| ty.validate(value, Duplicates::Allowed).ok());
        let (Some(own), Some(wanted)) = (typed(own), typed(wanted)) else {
            return Err(refused(format!("the object cannot be read in version {version}")));
        };
        let merged = own.merge(wanted, arena).map_err(|error| refused(error.to_string()))?;
        merged.value().ok_or_else(|| refused("there is nothing to apply".to_owned()))
    }

    /// Returns whether an object has the owners that the patch leads to.
    fn are_reached(&self, goal: &Goal, found: &Entries<'a>) -> bool {
        let arena = self.arena;
        let annotation = annotation(arena);
        let rest = |set: Set<'a>| set.difference(annotation, arena);
        let is_target = |key: &Key<'_>| goal.to().map(target) == Some(*key);
        let fits = |(key, (_, set)): (&Key<'a>, &(&'a str, Set<'a>))| {
            let reached = fields_of(found, key);
            if is_target(key) {
                rest(set.leaves(arena)).difference(reached, arena).is_empty()
            } else {
                rest(*set) == rest(reached)
            }
        };
        let is_known = |key: &Key<'a>| key.0 == ANNOTATION_MANAGER || is_target(key) || self.after.contains_key(key);
        self.after.iter().filter(|(key, _)| key.0 != ANNOTATION_MANAGER).all(fits) && found.keys().all(is_known)
    }
}

/// Returns the annotation with the last configuration, and the map that it is in.
fn annotation(arena: &Bump) -> Set<'_> {
    let [metadata, annotations, key] = ["metadata", "annotations", LAST_APPLIED].map(PathElement::FieldName);
    let mut builder = SetBuilder::new(arena);
    builder.insert(&[metadata, annotations, key]);
    builder.insert(&[metadata, annotations]);
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_by_what_is_above_it() {
        let paths = BTreeSet::from([".spec.a".to_owned(), ".spec.items[name=\"x.y\"]".to_owned()]);
        for found in [".spec.a", ".spec.a.b", ".spec.a[0]", ".spec.items[name=\"x.y\"].v"] {
            assert!(has_above(&paths, found), "{found}");
        }
        for other in [".spec", ".spec.ab", ".spec.items[name=\"x\"]"] {
            assert!(!has_above(&paths, other), "{other}");
        }
    }
}
