//! What an apply of a set of configurations would do to the live objects.

use crate::engine::{self, Change, ChangeKind};
use crate::helm::of_release;
use crate::migrate;
use crate::name::Name;
use crate::report::fields_of;
use crate::tools::{Tool, tool_of};
use crate::value::{managed_fields, with_metadata};
use crate::words::Style;
use kubeshape_registry::kind::Scope;
use kubeshape_registry::{
    CLIENT_SIDE_MANAGER, Conflict, Error, Kind, Locations, Object, Operation, Registry, Time, Verb, WriteOptions,
};
use kubeshape_smd::fieldpath::{DisplayPath, Set};
use kubeshape_smd::managed::{self, LAST_APPLIED, entries, upgrade};
use kubeshape_smd::{Bump, ToValue, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How configurations are applied.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The name of the field manager.
    pub manager: String,
    /// Whose way to apply, and whose words.
    pub style: Style,
    /// Whether fields are taken over. Some tools always do that: see [`Style::forces`].
    pub force: bool,
    /// The namespace of configurations that name none.
    pub namespace: Option<String>,
    /// The name and the namespace of the release of Helm, whose label and annotations the objects get. Without it, the
    /// live objects say to which release they belong.
    pub release: Option<(String, String)>,
    /// Whether Helm applied the objects on the client before. Then it first takes over the fields of its own updates.
    pub was_client_side: bool,
    /// Whether the release of Helm is new, and takes over objects that exist: `helm install --take-ownership`. Then
    /// Helm takes over the fields of its own updates, too.
    pub installs: bool,
    /// The time of the applies.
    pub now: Time,
}

impl PlanOptions {
    /// Returns the options of a manager, in the style of the tool with this name.
    pub fn new(manager: impl Into<String>, now: Time) -> PlanOptions {
        let manager = manager.into();
        let style = Style::of(&manager);
        PlanOptions {
            manager,
            style,
            force: style.forces(),
            namespace: None,
            release: None,
            was_client_side: false,
            installs: false,
            now,
        }
    }
}

/// What an apply of a set of configurations would do.
///
/// # Example: a conflict in the words of Helm
/// ```
/// use kubeshape_ownership::{Outcome, Plan, PlanOptions};
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
///       spec: {type: object, properties: {replicas: {type: integer}}}}}}
/// ", kubeshape_input::Limits::default()));
/// let tab = |replicas, owners| Object::from(json!({"apiVersion": "example.com/v1", "kind": "Tab",
///     "metadata": {"name": "t", "managedFields": owners}, "spec": {"replicas": replicas}}));
/// let live = tab(5, json!([{"manager": "kubectl-edit", "operation": "Update", "apiVersion": "example.com/v1",
///     "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]));
///
/// let plan = Plan::new(&registry, &[live], &[tab(3, json!(null))], &PlanOptions::new("helm", Time(0)));
/// assert_eq!(plan.objects[0].outcome, Outcome::Conflict);
/// assert_eq!(plan.failure().unwrap(), "Error: UPGRADE FAILED: conflict occurred while applying object /t \
///     example.com/v1, Kind=Tab: Apply failed with 1 conflict: conflict with \"kubectl-edit\" using example.com/v1: \
///     .spec.replicas");
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// The manager.
    pub manager: String,
    /// Whose words are used.
    pub style: Style,
    /// Whether the release of Helm is new.
    pub installs: bool,
    /// The objects, in the order of the configurations.
    pub objects: Vec<Planned>,
}

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It is created.
    Created,
    /// It changes.
    Changed,
    /// Only its owners change.
    OwnersOnly,
    /// Nothing changes.
    Unchanged,
    /// It is deleted, because the configuration no longer has it.
    Deleted,
    /// The apply conflicts.
    Conflict,
    /// The apply is refused for another reason.
    Refused,
}

impl Outcome {
    /// Returns a word.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Created => "created",
            Outcome::Changed => "changed",
            Outcome::OwnersOnly => "owners",
            Outcome::Unchanged => "unchanged",
            Outcome::Deleted => "deleted",
            Outcome::Conflict => "conflict",
            Outcome::Refused => "refused",
        }
    }
}

/// What an apply would do to one object.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The object.
    pub object: Name,
    /// What happens.
    pub outcome: Outcome,
    /// The error, if the apply is refused.
    pub error: Option<Error>,
    /// The error in the words of the tool.
    pub words: Option<String>,
    /// The changed fields. If the apply conflicts, those that it would change with force.
    pub changes: Vec<Change>,
    /// Fields that the configuration no longer sets, and that stay because another manager owns them, or nobody.
    pub kept: Vec<Kept>,
    /// Fields that the apply takes over from other managers, with force.
    pub taken: Vec<Conflict>,
    /// What the next applies of other managers do.
    pub next: Vec<Next>,
}

impl Planned {
    fn of(object: Name, outcome: Outcome) -> Planned {
        Planned {
            object,
            outcome,
            error: None,
            words: None,
            changes: Vec::new(),
            kept: Vec::new(),
            taken: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Returns the conflicts.
    pub fn conflicts(&self) -> &[Conflict] {
        self.error.as_ref().map_or(&[], Error::conflicts)
    }

    /// Returns the removed fields.
    pub fn removed(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.kind == ChangeKind::Removed)
    }
}

/// A field that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The field.
    pub path: String,
    /// The names of its owners; empty if nobody owns it.
    pub owners: Vec<String>,
}

/// What the next apply of another manager does.
#[derive(Clone, Debug)]
pub struct Next {
    /// The manager.
    pub manager: String,
    /// Its tool.
    pub tool: &'static Tool,
    /// Whether it conflicts. Otherwise it sets the fields back.
    pub conflicts: bool,
    /// The fields.
    pub paths: Vec<String>,
}

impl Plan {
    /// Returns what an apply of these configurations would do to these live objects, one after the other.
    pub fn new(registry: &Registry, live: &[Object], configs: &[Object], options: &PlanOptions) -> Plan {
        let mut planner = Planner::new(registry, live, options.clone());
        let objects = configs.iter().map(|config| planner.apply(config, None)).collect();
        Plan { manager: options.manager.clone(), style: options.style, installs: options.installs, objects }
    }

    /// Returns whether every apply succeeds.
    pub fn succeeds(&self) -> bool {
        self.objects.iter().all(|planned| planned.error.is_none())
    }

    /// Returns the number of objects with an outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.objects.iter().filter(|planned| planned.outcome == outcome).count()
    }

    /// Returns what the tool prints at the end if objects conflict; `None` if it prints nothing.
    pub fn failure(&self) -> Option<String> {
        let refused = self.objects.iter().filter(|planned| planned.outcome == Outcome::Conflict);
        let words: Vec<String> = refused.filter_map(|planned| planned.words.clone()).collect();
        self.style.failure(&words, self.installs)
    }
}

/// Group, kind, namespace, name.
type Identity = (String, String, String, String);

/// Applies configurations one after the other.
#[derive(Debug)]
pub struct Planner<'r> {
    registry: &'r Registry,
    options: PlanOptions,
    /// The objects as they are after the applies so far.
    live: BTreeMap<Identity, Object>,
    /// The namespaces by group, kind and name.
    namespaces: BTreeMap<(String, String, String), BTreeSet<String>>,
}

impl<'r> Planner<'r> {
    /// Starts with these live objects.
    pub fn new(registry: &'r Registry, live: &[Object], options: PlanOptions) -> Planner<'r> {
        let mut planner = Planner { registry, options, live: BTreeMap::new(), namespaces: BTreeMap::new() };
        for object in live {
            let identity = identity(object);
            let (group, kind, namespace, name) = identity.clone();
            planner.namespaces.entry((group, kind, name)).or_default().insert(namespace);
            planner.live.insert(identity, object.clone());
        }
        planner
    }

    /// Returns the live object of a configuration, as it is after the applies so far.
    pub fn live(&self, config: &Object) -> Option<&Object> {
        let (group, kind, _, name) = identity(config);
        self.live.get(&(group, kind, self.namespace(config), name))
    }

    /// Returns the namespace of a configuration: its own, or else the one of the options, or else that of the only live
    /// object with its name.
    pub fn namespace(&self, config: &Object) -> String {
        let kind = self.registry.kind(config.gvk());
        let is_of_cluster = kind.and_then(Kind::resource).is_some_and(|resource| resource.scope == Scope::Cluster);
        if is_of_cluster || !config.namespace().is_empty() {
            return config.namespace().to_owned();
        }
        let (group, kind, _, name) = identity(config);
        let known = self.namespaces.get(&(group, kind, name));
        if let Some(namespace) = &self.options.namespace {
            // An object of the cluster, whose scope is not known, is found without a namespace.
            let without = known.is_some_and(|known| known.contains("") && !known.contains(namespace));
            return if without { String::new() } else { namespace.clone() };
        }
        match known.map(BTreeSet::iter) {
            Some(mut only) if only.len() == 1 => only.next().cloned().unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// Applies a configuration. `last` is the configuration that the manager applied before, if it is known. The live
    /// object changes, unless the apply is refused.
    pub fn apply(&mut self, config: &Object, last: Option<&Object>) -> Planned {
        let arena = Bump::new();
        let (planned, after) = self.planned(config, last, &arena);
        if let Some(after) = after {
            let object = Object::of(after);
            self.live.insert(identity(&object), object);
        }
        planned
    }

    /// Returns what [`apply`](Self::apply) would do, without changing the live object.
    pub fn foresee(&self, config: &Object, last: Option<&Object>) -> Planned {
        self.planned(config, last, &Bump::new()).0
    }

    /// Reports that the configurations no longer have an object, which the tool then deletes.
    pub fn delete(&mut self, last: &Object) -> Option<Planned> {
        let live = self.live(last)?;
        let (name, identity) = (Name::of(live), identity(live));
        self.live.remove(&identity);
        Some(Planned::of(name, Outcome::Deleted))
    }

    fn planned<'a>(
        &'a self,
        config: &'a Object,
        last: Option<&'a Object>,
        arena: &'a Bump,
    ) -> (Planned, Option<Value<'a>>) {
        let live = self.live(config);
        let places = Locations { config: config.location(), live: live.and_then(Object::location) };
        let namespace = self.namespace(config);
        let named = |object: &'a Object| {
            let value = object.to_value(arena);
            if namespace.is_empty() {
                value
            } else {
                with_metadata(value, "namespace", Some(Value::String(arena.alloc_str(&namespace))), arena)
            }
        };
        let live = live.map(|live| live.to_value(arena));
        let mut new = named(config);
        if self.options.style == Style::Helm {
            let release = self.options.release.as_ref().map(|(name, namespace)| (name.as_str(), namespace.as_str()));
            new = of_release(new, release, live, arena);
        }
        let mut planned = Planned::of(Name::of_value(new), Outcome::Unchanged);
        let mut options = WriteOptions::new(self.options.manager.as_str(), self.options.now).force(false);
        let before = match self.prepared(live, new, &options, arena) {
            Ok(before) => before,
            Err(error) => return (refused(planned, error, self.options.style), None),
        };
        let send = |from, options: &WriteOptions| match self.options.style {
            // Argo CD calls kubectl's code.
            Style::Kubectl | Style::ArgoCd => {
                engine::apply_and_migrate(self.registry, from, new, options, places, arena)
            }
            _ => engine::write(self.registry, Verb::Apply, from, new, options, places, arena),
        };
        // What such tools do first takes over fields as well.
        let contested = if self.options.style.forces() { live } else { before };
        let mut sent = send(contested, &options);
        if self.options.force || self.options.style.forces() {
            if let Err(Error::Conflicts(conflicts)) = &sent {
                planned.taken.clone_from(&conflicts.conflicts);
            }
            options.force = true;
            sent = send(before, &options);
        } else if let Err(Error::Conflicts(_)) = &sent {
            options.force = true;
            if let Ok(forced) = send(before, &options) {
                planned.changes = engine::changes(self.registry, live, forced, arena);
                planned.kept = self.kept(before, new, last.map(named), forced, arena);
            }
        }
        let after = match sent {
            Ok(after) => after,
            Err(error) => return (refused(planned, error, self.options.style), None),
        };
        planned.changes = engine::changes(self.registry, live, after, arena);
        planned.kept = self.kept(before, new, last.map(named), after, arena);
        planned.outcome = match live {
            None => Outcome::Created,
            Some(_) if !planned.changes.is_empty() => Outcome::Changed,
            Some(live) if owners_differ(self.registry, live, after, arena) => Outcome::OwnersOnly,
            Some(_) => Outcome::Unchanged,
        };
        if let Some(live) = live {
            planned.next = self.next(live, after, arena);
        }
        (planned, Some(after))
    }

    /// Returns the live object after what the tool does before it applies.
    fn prepared<'a>(
        &'a self,
        live: Option<Value<'a>>,
        config: Value<'a>,
        options: &WriteOptions,
        arena: &'a Bump,
    ) -> Result<Option<Value<'a>>, Error> {
        let Some(live) = live else { return Ok(None) };
        let prepared = match self.options.style {
            // Upstream: `upgradeClientSideFieldManager`.
            Style::Helm if self.options.was_client_side || self.options.installs => {
                let (manager, compat) = (self.options.manager.as_str(), self.registry.settings().compat);
                let upgraded = upgrade::upgrade(live, &[manager], manager, "", compat, arena);
                upgraded.map_err(|error| Error::Refused { message: error.to_string(), code: 500 })
            }
            Style::ArgoCd => migrate::by_argo_cd(self.registry, live, config, options, arena),
            Style::Flux => migrate::by_flux(self.registry, live, config, options, arena),
            _ => Ok(live),
        };
        prepared.map(Some)
    }

    /// Returns the fields that the manager applied, the configuration lacks, and the object still has.
    fn kept<'a>(
        &'a self,
        before: Option<Value<'a>>,
        config: Value<'a>,
        last: Option<Value<'a>>,
        after: Value<'a>,
        arena: &'a Bump,
    ) -> Vec<Kept> {
        let Some(before) = before else { return Vec::new() };
        let mut set = applied(self.registry, before, &self.options.manager, arena);
        if let Some(last) = last.and_then(|last| fields_of(self.registry, last, arena)) {
            set = set.union(last, arena);
        }
        let configured = fields_of(self.registry, config, arena).unwrap_or(Set::EMPTY);
        let set = set.difference(configured, arena);
        if set.is_empty() {
            return Vec::new();
        }
        let owners = owners_of(self.registry, after, arena);
        let mut out = Vec::new();
        for path in set.leaves(arena) {
            // A map or a list is not removed if the configuration sets something in it.
            if crate::value::sets(configured, &path) {
                continue;
            }
            if crate::value::at(after, &path).is_some_and(|value| !value.is_null()) {
                let mut names: Vec<String> =
                    owners.owners(&path).map(|owner| owner.manager.to_owned()).collect::<Vec<_>>();
                names.sort();
                names.dedup();
                // What the manager still owns, such as the identity of the object, did not go away.
                if !names.contains(&self.options.manager) {
                    out.push(Kept { path: DisplayPath(&path).to_string(), owners: names });
                }
            }
        }
        out
    }

    /// Applies again what other managers applied last.
    fn next<'a>(&'a self, before: Value<'a>, after: Value<'a>, arena: &'a Bump) -> Vec<Next> {
        let mut out = Vec::new();
        let nowhere = Locations::default();
        let owners = owners_of(self.registry, before, arena);
        for (owner, _) in owners.all() {
            let is_other = owner.manager != self.options.manager && owner.subresource.is_empty();
            if !is_other || owner.operation != Operation::Apply {
                continue;
            }
            let last = engine::last_of(self.registry, before, owner.manager, owner.api_version, arena);
            let Some(last) = last else { continue };
            let tool = tool_of(owner.manager);
            let options = WriteOptions::new(owner.manager, self.options.now).force(tool.forces);
            let next = engine::write(self.registry, Verb::Apply, Some(after), last, &options, nowhere, arena);
            let (conflicts, paths) = match next {
                Ok(next) => (false, paths(&engine::changes(self.registry, Some(after), next, arena))),
                Err(error) => (true, error.conflicts().iter().map(|conflict| conflict.path.clone()).collect()),
            };
            if !paths.is_empty() {
                out.push(Next { manager: owner.manager.to_owned(), tool, conflicts, paths });
            }
        }
        out.extend(self.next_of_client(before, after, arena));
        out
    }

    /// Applies the annotation of client-side apply again.
    fn next_of_client<'a>(&'a self, before: Value<'a>, after: Value<'a>, arena: &'a Bump) -> Option<Next> {
        // These tools have just taken these fields over.
        if matches!(self.options.style, Style::Kubectl | Style::ArgoCd | Style::Flux) {
            return None;
        }
        let annotations = before.get("metadata")?.get("annotations")?;
        let text = annotations.get(LAST_APPLIED)?.as_str()?;
        let owners = owners_of(self.registry, before, arena);
        if !owners.all().iter().any(|(owner, _)| owner.manager == CLIENT_SIDE_MANAGER) {
            return None;
        }
        let last: serde_json::Value = serde_json::from_str(text).ok()?;
        let last = last.to_value(arena).copy_into(arena);
        let options = WriteOptions::new(CLIENT_SIDE_MANAGER, self.options.now);
        let next = engine::client_side_apply(self.registry, after, last, &options, arena).ok()?;
        let mut changed = paths(&engine::changes(self.registry, Some(after), next, arena));
        changed.retain(|path| !path.contains(LAST_APPLIED));
        let tool = tool_of(CLIENT_SIDE_MANAGER);
        let manager = CLIENT_SIDE_MANAGER.to_owned();
        (!changed.is_empty()).then_some(Next { manager, tool, conflicts: false, paths: changed })
    }
}

fn identity(object: &Object) -> Identity {
    let (group, kind, namespace, name) = object.identity();
    (group.to_owned(), kind.to_owned(), namespace.to_owned(), name.to_owned())
}

fn paths(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| change.path.clone()).collect()
}

fn refused(mut planned: Planned, error: Error, style: Style) -> Planned {
    let message = error.to_string();
    let is_conflict = matches!(error, Error::Conflicts(_));
    planned.words = Some(if is_conflict { style.conflict(&planned.object, &message) } else { message });
    planned.outcome = if is_conflict { Outcome::Conflict } else { Outcome::Refused };
    planned.error = Some(error);
    planned
}

/// Returns the owners of an object. Managed fields that cannot be read have none; an apply reports that.
fn owners_of<'a>(registry: &Registry, object: Value<'a>, arena: &'a Bump) -> managed::Ownership<'a> {
    let managed = entries::decode_as(managed_fields(object), registry.settings().compat, arena);
    managed.map(|managed| managed::Ownership::new(&managed)).unwrap_or_default()
}

/// Returns what a manager applied.
fn applied<'a>(registry: &Registry, object: Value<'a>, manager: &str, arena: &'a Bump) -> Set<'a> {
    let owners = owners_of(registry, object, arena);
    let is = |owner: &managed::Owner<'_>| {
        owner.manager == manager && owner.operation == Operation::Apply && owner.subresource.is_empty()
    };
    owners.all().iter().find(|(owner, _)| is(owner)).map_or(Set::EMPTY, |(_, set)| *set)
}

/// Returns whether two versions of an object have different owners, regardless of times.
fn owners_differ<'a>(registry: &Registry, before: Value<'a>, after: Value<'a>, arena: &'a Bump) -> bool {
    let read = |object| entries::decode_as(managed_fields(object), registry.settings().compat, arena).ok();
    match (read(before), read(after)) {
        (Some(before), Some(after)) => {
            let (before, after) = (before.fields, after.fields);
            before.len() != after.len()
                || before.iter().zip(after.iter()).any(|((a, left), (b, right))| a != b || left.set != right.set)
        }
        _ => true,
    }
}
