//! Hands fields over with server-side applies instead of a patch of `metadata.managedFields`.

use crate::engine;
use crate::hand_over::{Goal, HandOver, HandOverError, Moved, configured, quoted};
use crate::proof::next_applies;
use crate::value::{is_below, leaves, managed_fields, with_metadata};
use kubeshape_registry::{Error, Locations, Object, Operation, Registry, Time, Verb, WriteOptions};
use kubeshape_smd::fieldpath::{PathElement, Set, SetBuilder};
use kubeshape_smd::managed::{self, LAST_APPLIED, Owner, entries};
use kubeshape_smd::typed::{Duplicates, KeyFields};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, ToValue, Value};

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

/// Returns the hand-over with applies in [`HandOver::applies`] that do the same as its patch. They are those of kubectl,
/// and are proven like the patch: no value changes, except those about which the configuration conflicts, and the
/// owners are the same afterwards. The new owner may own keys of list items in addition, which every apply must have.
///
/// - [`Goal::Give`]: the new owner applies what it gets and what it has, and the others apply the rest of what they had.
/// - [`Goal::Release`]: the owners apply the rest. The fields must have another owner, or they would be removed.
/// - [`Goal::Resolve`]: the new owner applies by force what it has, and the values that conflict. Other managers that apply
///   the old values conflict then.
/// - [`Goal::MigrateClientSide`]: kubectl's own migration, by an apply of the last configuration in the annotation. The
///   annotation goes away, unless the new owner is `kubectl`.
///
/// `config` is what the new owner applies next, as for [`hand_over`](crate::hand_over).
///
/// # Errors
/// [`HandOverError::NotByApplies`]: an apply takes fields over from an update only if it changes their values, for example.
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
    let is_meant = |path: &str| match goal {
        Goal::Resolve { .. } => leaves(taken, &arena).iter().any(|field| is_below(path, field)),
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

fn not(why: String) -> HandOverError {
    HandOverError::NotByApplies { why }
}

fn step(manager: &str, force: bool, config: Value<'_>) -> Apply {
    Apply { manager: manager.to_owned(), force, config: Object::of(config) }
}

/// Returns the owners of an object. The patch was computed from the same entries, so they can be read.
fn owners_of<'a>(registry: &Registry, object: Value<'a>, arena: &'a Bump) -> managed::Ownership<'a> {
    let managed = entries::decode_as(managed_fields(object), registry.settings().compat, arena);
    managed.map(|managed| managed::Ownership::new(&managed)).unwrap_or_default()
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
    before: managed::Ownership<'a>,
    after: managed::Ownership<'a>,
    arena: &'a Bump,
}

impl<'a> Owners<'a> {
    /// Returns what the givers lose.
    fn taken(&self, goal: &Goal) -> Set<'a> {
        let mut taken = Set::EMPTY;
        for (owner, set) in self.before.all() {
            if !is_target(goal, owner) {
                let left = set_of(&self.after, owner);
                taken = taken.union(set.difference(left, self.arena), self.arena);
            }
        }
        taken
    }

    /// Returns the entry of the new owner, before or after.
    fn of_target(of: &managed::Ownership<'a>, to: &str) -> Option<(&'a str, Set<'a>)> {
        let is = |owner: &Owner<'a>| {
            owner.manager == to && owner.operation == Operation::Apply && owner.subresource.is_empty()
        };
        of.all().iter().find(|(owner, _)| is(owner)).map(|(owner, set)| (owner.api_version, *set))
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
            && let Some((version, set)) = Self::of_target(&self.after, to)
        {
            steps.push(step(to, false, self.extracted(before, version, set)?));
        }
        for (owner, set) in self.before.all() {
            let left = set_of(&self.after, owner);
            if !is_target(goal, owner) && left != *set {
                steps.push(step(owner.manager, false, self.extracted(before, owner.api_version, left)?));
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
        let Some((of, own)) = Self::of_target(&self.before, to) else { return Ok(wanted) };
        if of != version {
            return Err(not(format!("{to:?} applied version {of} before, and the configuration has {version}")));
        }
        let own = self.extracted(before, version, own)?;
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
    fn are_reached(&self, goal: &Goal, found: &managed::Ownership<'a>) -> bool {
        let arena = self.arena;
        let annotation = annotation(arena);
        let rest = |set: Set<'a>| set.difference(annotation, arena);
        let fits = |(owner, set): &(Owner<'a>, Set<'a>)| {
            let reached = set_of(found, owner);
            if is_target(goal, owner) {
                rest(set.leaves(arena)).difference(reached, arena).is_empty()
            } else {
                rest(*set) == rest(reached)
            }
        };
        let is_known = |(owner, _): &(Owner<'a>, Set<'a>)| {
            owner.manager == ANNOTATION_MANAGER
                || is_target(goal, owner)
                || self.after.all().iter().any(|(other, _)| is_same(other, owner))
        };
        self.after.all().iter().filter(|(owner, _)| owner.manager != ANNOTATION_MANAGER).all(fits)
            && found.all().iter().all(is_known)
    }
}

/// Returns whether this is the entry that gets the fields.
fn is_target(goal: &Goal, owner: &Owner<'_>) -> bool {
    goal.to() == Some(owner.manager) && owner.operation == Operation::Apply && owner.subresource.is_empty()
}

/// Returns whether two entries have the same owner. An owner that applies has only one, in any version.
fn is_same(a: &Owner<'_>, b: &Owner<'_>) -> bool {
    a.manager == b.manager
        && a.subresource == b.subresource
        && a.operation == b.operation
        && (a.operation == Operation::Apply || a.api_version == b.api_version)
}

fn set_of<'a>(owners: &managed::Ownership<'a>, owner: &Owner<'_>) -> Set<'a> {
    owners.all().iter().find(|(other, _)| is_same(other, owner)).map_or(Set::EMPTY, |(_, set)| *set)
}

/// Returns the annotation with the last configuration, and the map that it is in.
fn annotation(arena: &Bump) -> Set<'_> {
    let [metadata, annotations, key] = ["metadata", "annotations", LAST_APPLIED].map(PathElement::FieldName);
    let mut builder = SetBuilder::new(arena);
    builder.insert(&[metadata, annotations, key]);
    builder.insert(&[metadata, annotations]);
    builder.finish()
}
