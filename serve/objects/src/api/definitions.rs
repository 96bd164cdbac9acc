//! Applies changes of CustomResourceDefinitions that clients make.
//!
//! On a cluster, controllers of the server do this: they accept names, establish definitions, approve groups of
//! Kubernetes itself, and delete the objects of deleted definitions (upstream: `pkg/controller` of
//! `k8s.io/apiextensions-apiserver`). Here it happens synchronously.

use super::served::Served;
use super::strategy::{Strategy, validate_kept};
use super::{Api, Moment, Outcome, Request};
use crate::raw;
use crate::status::Status;
use crate::store::{Change, DEFINITIONS, Key, Store, Then, Verb};
use crate::value::{self, meta_text, with, with_meta};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use imbl::OrdMap;
use kubeshape_discovery::{ClaimedNames, CustomResource, NameField, name_conflicts};
use kubeshape_input::Limits;
use kubeshape_registry::{Object, WriteOptions};
use kubeshape_smd::managed::Time;
use kubeshape_smd::{Bump, ToValue, Value};
use kubeshape_validate::crd::{Approval, approval, check_ca_bundle};
use kubeshape_yaml::Tape;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Keeps a definition until its objects are deleted.
pub(super) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// The field manager of the status.
const MANAGER: &str = "kube-apiserver";
/// The maximum number of passes over one definition. Each pass but the last changes it.
const MAX_RECONCILE_PASSES: usize = 8;

/// The state of the stored definitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Definitions to delete after their objects.
    pub(super) terminating: BTreeSet<Arc<str>>,
    /// Settled definitions, by group and name.
    groups: OrdMap<Arc<str>, OrdMap<Arc<str>, Entry>>,
}

/// A settled definition.
#[derive(Clone, Debug)]
struct Entry {
    /// Its revision.
    revision: u64,
    /// The requested names, and the accepted ones.
    custom: Arc<CustomResource>,
    /// Whether it waits for names.
    waits: bool,
    /// The parts that decide what is served, if it is served: its specification and its accepted names.
    served: Option<[Bytes; 2]>,
}

impl Entry {
    fn accepted(&self) -> &ClaimedNames {
        self.custom.accepted.as_ref().unwrap_or(&self.custom.names)
    }
}

impl Known {
    fn entry(&self, name: &str) -> Option<&Entry> {
        self.groups.get(group_of(name))?.get(name)
    }

    /// Records the state of a definition. Returns whether names became free.
    fn settled(&mut self, name: &Arc<str>, entry: Option<Entry>) -> bool {
        let group: Arc<str> = group_of(name).into();
        let mut entries = self.groups.remove(&group).unwrap_or_default();
        let before = entries.remove(name);
        let has = |names: &ClaimedNames| all_names(names).map(|(kind, name)| (kind, Arc::clone(name))).collect();
        let now: BTreeSet<(bool, Arc<str>)> = entry.as_ref().map(|entry| has(entry.accepted())).unwrap_or_default();
        let then: BTreeSet<(bool, Arc<str>)> = before.as_ref().map(|entry| has(entry.accepted())).unwrap_or_default();
        if let Some(entry) = entry {
            entries.insert(Arc::clone(name), entry);
        }
        if !entries.is_empty() {
            self.groups.insert(group, entries);
        }
        then.difference(&now).next().is_some()
    }

    /// Returns the first definition of a group whose requested names are free now.
    fn first_that_fits(&self, group: &str) -> Option<Arc<str>> {
        let entries = self.groups.get(group)?;
        if !entries.values().any(|entry| entry.waits) {
            return None;
        }
        let mut used: BTreeMap<(bool, &str), usize> = BTreeMap::new();
        for name in entries.values().flat_map(|entry| distinct(entry.accepted())) {
            *used.entry(name).or_default() += 1;
        }
        let fits = |entry: &Entry| {
            let own = distinct(entry.accepted());
            let others = |name: &(bool, &str)| used.get(name).map_or(0, |n| n - usize::from(own.contains(name)));
            distinct(&entry.custom.names).iter().all(|name| others(name) == 0)
        };
        entries.iter().find(|(_, entry)| entry.waits && fits(entry)).map(|(name, _)| Arc::clone(name))
    }
}

/// Returns the names, each with whether it is a kind.
fn all_names(names: &ClaimedNames) -> impl Iterator<Item = (bool, &Arc<str>)> {
    let resources = [&names.plural, &names.singular].into_iter().chain(&names.short_names).map(|name| (false, name));
    let all = resources.chain([&names.kind, &names.list_kind].into_iter().map(|name| (true, name)));
    all.filter(|(_, name)| !name.is_empty())
}

fn distinct(names: &ClaimedNames) -> BTreeSet<(bool, &str)> {
    all_names(names).map(|(kind, name)| (kind, &**name)).collect()
}

/// Returns the group in a definition's name, `PLURAL.GROUP`.
fn group_of(name: &str) -> &str {
    name.split_once('.').map_or("", |(_, group)| group)
}

/// The API after definitions changed.
#[derive(Debug)]
pub struct Settled {
    /// The new API.
    pub api: Api,
    /// The names of the definitions that changed.
    pub changed: Vec<Arc<str>>,
}

impl Api {
    /// Applies the changes of definitions after a revision: accepts their names, establishes and serves them, or
    /// deletes them with their objects. The store then has the new statuses. Returns `None` if no definition changed.
    ///
    /// # Example: create a definition and serve its objects
    /// ```
    /// use kubeshape_objects::{Api, Documents, Moment, Request, store::Store};
    ///
    /// let release = kubeshape_builtin::BuiltInDocuments::newest().api();
    /// let path = "apis/apiextensions.k8s.io/v1";
    /// let api = Api::default().with_documents(Documents::new([(path, release.openapi_v3(path).unwrap().into())]));
    /// let mut store = Store::default();
    /// let tabs = br#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    ///   "metadata": {"name": "tabs.example.com"}, "spec": {"group": "example.com", "scope": "Cluster",
    ///     "names": {"plural": "tabs", "kind": "Tab"}, "versions": [{"name": "v1", "served": true, "storage": true,
    ///       "schema": {"openAPIV3Schema": {"type": "object"}}}]}}"#;
    /// let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    /// let before = store.revision();
    /// let moment = Moment::default();
    /// let reply = api.answer(&mut store, &Request { method: "POST", path, body: tabs, ..Request::default() }, &moment);
    /// assert_eq!(reply.unwrap().code, 201);
    ///
    /// let settled = api.settle(&mut store, before, moment.now).unwrap();
    /// assert!(settled.api.serves("/apis/example.com/v1/tabs"));
    /// ```
    pub fn settle(&self, store: &mut Store, after: u64, now: Time) -> Option<Settled> {
        let served = self.documents.of_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")?;
        let strategy = served.strategy()?;
        // In the order of their changes: of two new definitions with one name, the first gets it.
        let mut names: VecDeque<Arc<str>> = VecDeque::new();
        let mut changed: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut add = |name: Arc<str>| {
            if changed.insert(Arc::clone(&name)) {
                names.push_back(name);
            }
        };
        match store.events_after(after) {
            Ok(events) => {
                for event in &events {
                    if *event.key.resource == *DEFINITIONS {
                        add(event.key.name().into());
                    } else if event.verb == Verb::Deleted && self.definitions.terminating.contains(&event.key.resource)
                    {
                        add(Arc::clone(&event.key.resource));
                    }
                }
            }
            Err(_) => store.list(&DEFINITIONS.into(), "", "").for_each(|(key, _)| add(Arc::from(key.name()))),
        }
        if names.is_empty() {
            return None;
        }
        let mut settling = Settling { api: self.clone(), served, strategy: &strategy, now };
        // Names accepted earlier take precedence, in any order of settling.
        for name in &names {
            settling.grant(store, name);
        }
        let mut waited: BTreeSet<Arc<str>> = BTreeSet::new();
        while let Some(name) = names.pop_front() {
            let frees = settling.one(store, &name);
            if !frees && !waited.contains(&name) {
                continue;
            }
            // Definitions get the free names one after another.
            let next = settling.api.definitions.first_that_fits(group_of(&name));
            if let Some(next) = next.filter(|next| changed.insert(Arc::clone(next))) {
                waited.insert(Arc::clone(&next));
                names.push_front(next);
            }
        }
        Some(Settled { api: settling.api, changed: changed.into_iter().collect() })
    }

    /// Stores a definition from a file. It replaces a definition of the same name, even if a client wrote it.
    ///
    /// # Errors
    /// The server would refuse to create it, or serves no definitions.
    pub fn define(&self, store: &mut Store, definition: &Object, moment: &Moment<'_>) -> Result<(), Status> {
        let key = Key::new(&DEFINITIONS.into(), "", definition.name());
        let Some(old) = store.get(&key).cloned() else { return self.load(store, definition, moment) };
        let served = self.of_file(definition);
        let found = served.and_then(|served| Some((served, served.strategy()?)));
        let Some((served, strategy)) = found else { return self.load(store, definition, moment) };
        let (mut tape, arena) = (Tape::new(), Bump::new());
        let live =
            parsed(&old.json(), &mut tape, &arena).ok_or_else(|| Status::internal("the definition is broken"))?;
        let written = definition.to_value(&arena);
        let converted = strategy.of_v1beta1(written, &arena);
        let decoded = strategy.decode(converted.unwrap_or(written), None, &arena).map_err(Status::bad_request)?;
        let assigned = moment.assigned(store.revision(), &arena);
        let object = strategy.prepare_update(decoded.value, live, assigned, &arena);
        let object = with_meta(object, "managedFields", value::metadata(live).get("managedFields"), &arena);
        let errors = match converted {
            Some(_) => validate_kept(object, self.registry.settings().release, moment.stop),
            None => strategy.validate(object, moment.stop).errors,
        };
        if !errors.is_empty() {
            return Err(Status::invalid(&served.group, &served.kind, definition.name(), &errors));
        }
        let draft = served.draft(strategy.stored(object, Some(live), assigned, &arena), &arena);
        if draft.with_revision(&old.revision.to_string()) != old.json() {
            let change = Change { key, expected: Some(old.revision), then: Then::Stored(draft) };
            store.has_room(&change).map_err(|full| Status::internal(full.to_string()))?;
            let _ = store.commit(&[change]);
        }
        Ok(())
    }

    /// Returns the definitions of groups in which a definition waits for names that another one has.
    pub fn contested(&self) -> Vec<Arc<str>> {
        let groups = self.definitions.groups.values();
        let contested = groups.filter(|entries| entries.values().any(|entry| entry.waits));
        contested.flat_map(|entries| entries.keys().cloned()).collect()
    }

    /// Returns a stored definition as JSON.
    pub fn definition(&self, store: &Store, name: &str) -> Option<bytes::Bytes> {
        Some(store.get(&Key::new(&DEFINITIONS.into(), "", name))?.json())
    }

    /// Removes a definition whose file is gone. Its objects stay.
    pub fn undefine(&self, store: &mut Store, name: &str) {
        let key = Key::new(&DEFINITIONS.into(), "", name);
        let Some(served) = self.documents.of_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition") else {
            return;
        };
        let Some(old) = store.get(&key).cloned() else { return };
        let (mut tape, arena) = (Tape::new(), Bump::new());
        let Some(live) = parsed(&old.json(), &mut tape, &arena) else { return };
        let then = Then::Deleted(served.draft(live, &arena));
        let _ = store.commit(&[Change { key, expected: Some(old.revision), then }]);
    }
}

/// Returns the parts of a stored definition that decide what is served (upstream: the handler's
/// `updateCustomResourceDefinition`).
fn deciding(definition: &Bytes) -> [Bytes; 2] {
    let status = raw::member(definition, "status").unwrap_or_default();
    let parts = [raw::member(definition, "spec"), raw::member(status, "acceptedNames")];
    parts.map(|part| definition.slice_ref(part.unwrap_or_default()))
}

/// Returns a string as a value.
fn parsed<'a>(text: &[u8], tape: &'a mut Tape, arena: &'a Bump) -> Option<Value<'a>> {
    let text = arena.alloc_str(std::str::from_utf8(text).ok()?);
    value::read(text.as_bytes(), tape).ok()?;
    Some(Value::from_node(tape.document(text).root()?, arena))
}

struct Settling<'s> {
    api: Api,
    served: &'s Arc<Served>,
    strategy: &'s Strategy,
    now: Time,
}

impl Settling<'_> {
    /// Records the names that a definition already has.
    fn grant(&mut self, store: &Store, name: &Arc<str>) {
        let (mut tape, arena) = (Tape::new(), Bump::new());
        let stored = store.get(&Key::new(&DEFINITIONS.into(), "", name));
        let definition = stored.and_then(|stored| parsed(&stored.json(), &mut tape, &arena));
        let accepted = definition.and_then(|definition| definition.get("status")?.get("acceptedNames"));
        let Some(accepted) = accepted.filter(|_| self.api.definitions.entry(name).is_none()) else { return };
        let custom = custom_resource(group_of(name), accepted, accepted);
        // No definition has this revision, so it still needs settling.
        self.api
            .definitions
            .settled(name, Some(Entry { revision: 0, custom: Arc::new(custom), waits: false, served: None }));
    }

    /// Settles a definition. Returns whether names became free.
    fn one(&mut self, store: &mut Store, name: &Arc<str>) -> bool {
        let key = Key::new(&DEFINITIONS.into(), "", name);
        for _ in 0..MAX_RECONCILE_PASSES {
            let Some(stored) = store.get(&key).cloned() else { break };
            let known = self.api.definitions.entry(name);
            if known.is_some_and(|known| known.revision == stored.revision && !known.waits) {
                return false;
            }
            let (mut tape, arena) = (Tape::new(), Bump::new());
            let Some(definition) = parsed(&stored.json(), &mut tape, &arena) else { break };
            if value::metadata(definition).get("deletionTimestamp").is_some() {
                self.api.definitions.terminating.insert(Arc::clone(name));
                if !self.terminated(store, &key, definition, &arena) {
                    return false;
                }
                continue;
            }
            let status = self.next_status(definition, &arena);
            match status {
                Some(status) if self.write(store, &key, definition, status, &arena).is_some() => {}
                _ => {
                    let spec = definition.get("spec").unwrap_or(Value::Null);
                    let names = spec.get("names").unwrap_or(Value::Null);
                    let accepted = definition.get("status").and_then(|status| status.get("acceptedNames"));
                    let custom = custom_resource(group_of(name), names, accepted.unwrap_or(Value::Null));
                    let waits = !is_true(definition, "NamesAccepted");
                    let is_established = is_true(definition, "Established");
                    let served = is_established.then(|| deciding(&stored.json()));
                    // Labels and conditions do not matter: watches of its objects continue.
                    let is_served = known.is_some_and(|known| known.served.is_some() && known.served == served);
                    if !is_served {
                        self.serve(name, text(names, "kind"), is_established.then(|| stored.json()));
                    }
                    let entry = Entry { revision: stored.revision, custom: Arc::new(custom), waits, served };
                    return self.api.definitions.settled(name, Some(entry));
                }
            }
        }
        if store.get(&key).is_some() {
            return false;
        }
        self.api.definitions.terminating.remove(name);
        self.serve(name, "", None);
        self.api.definitions.settled(name, None)
    }

    /// Starts or stops serving the resources of a definition.
    fn serve(&mut self, name: &Arc<str>, kind: &str, definition: Option<bytes::Bytes>) {
        let input = format!("{DEFINITIONS}/{name}");
        let group = group_of(name);
        let from = (group.to_owned(), String::new(), String::new());
        let of_group = self.api.served.range(from..).take_while(|((other, ..), _)| other == group);
        let of_name = of_group.filter(|(_, served)| *served.id == **name);
        let gone: Vec<_> = of_name.map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.api.served.remove(&key);
        }
        match definition {
            Some(text) => {
                let read = kubeshape_input::read(&*input, &text, Limits::default());
                self.api.registry.set_input(&*input, read);
            }
            None => {
                self.api.registry.remove(&input);
            }
        }
        self.api.custom = Arc::default();
        let registry = &self.api.registry;
        let of_definition = registry.versions(group, kind).filter(|kind| kind.definition().name() == &**name);
        let family = registry.family(group, kind);
        let served: Vec<Served> = of_definition.filter_map(|kind| Served::of(kind, family)).collect();
        for served in served {
            self.api.hooks.iter().for_each(|hooks| served.call_with(hooks));
            let key = (served.group.clone(), served.version.clone(), served.plural.to_string());
            self.api.served.insert(key, Arc::new(served));
        }
    }

    /// Returns the next status of a definition; `None` if it is up to date.
    fn next_status<'a>(&self, definition: Value<'a>, arena: &'a Bump) -> Option<Value<'a>> {
        let spec = definition.get("spec")?;
        let status = definition.get("status")?;
        let annotation = value::metadata(definition).get("annotations").and_then(|all| all.get(API_APPROVED));
        let annotation = annotation.and_then(Value::as_str).unwrap_or_default();
        if let Some(condition) = approved(text(spec, "group"), annotation)
            && let Some(status) = self.with_condition(status, &condition, arena)
        {
            return Some(status);
        }
        let (condition, accepted) = accepted_names(&self.api.definitions, definition, arena)?;
        let is_accepted = condition.status == "True";
        let before = is_true(definition, "Established");
        let mut next = status;
        if !same_json(status.get("acceptedNames"), Some(accepted)) {
            next = with(next, "acceptedNames", Some(accepted), arena);
        }
        next = self.with_condition(next, &condition, arena).unwrap_or(next);
        let installing = Condition {
            kind: "Established",
            status: "False",
            reason: "Installing",
            message: "the initial names have been accepted".to_owned(),
        };
        let unaccepted = Condition {
            kind: "Established",
            status: "False",
            reason: "NotAccepted",
            message: "not all names are accepted".to_owned(),
        };
        let reason = condition_of(status, "Established").map_or("", |old| text(old, "reason"));
        if is_accepted && ["Installing", BROKEN].contains(&reason) {
            let settled = if has_broken_authorities(spec) {
                let message = "The conversion webhook CABundle is invalid".to_owned();
                Condition { reason: BROKEN, message, ..installing }
            } else {
                Condition { status: "True", reason: "InitialNamesAccepted", ..installing }
            };
            next = self.with_condition(next, &settled, arena).unwrap_or(next);
        } else if !before {
            let condition = if is_accepted { installing } else { unaccepted };
            next = self.with_condition(next, &condition, arena).unwrap_or(next);
        }
        (!same_json(Some(next), Some(status))).then_some(next)
    }

    /// Sets a condition in a status; `None` if it is already set (upstream: `SetCRDCondition`).
    fn with_condition<'a>(&self, status: Value<'a>, condition: &Condition, arena: &'a Bump) -> Option<Value<'a>> {
        let mut conditions = status.get("conditions").and_then(Value::as_list).unwrap_or_default().to_vec();
        let at = conditions.iter().position(|old| text(*old, "type") == condition.kind);
        let old = at.and_then(|at| conditions.get(at).copied());
        if old.is_some_and(|old| condition.is(old)) {
            return None;
        }
        // The time is that of the last change of the condition's status.
        let kept =
            old.filter(|old| text(*old, "status") == condition.status).and_then(|old| old.get("lastTransitionTime"));
        let now = kept.unwrap_or_else(|| Value::String(arena.alloc_str(&self.now.to_string())));
        let members = vec![
            ("type", Value::String(condition.kind)),
            ("status", Value::String(condition.status)),
            ("lastTransitionTime", now),
            ("reason", Value::String(condition.reason)),
            ("message", Value::String(arena.alloc_str(&condition.message))),
        ];
        let new = Value::Map(kubeshape_smd::value::Map::from_entries(members, arena));
        match at.and_then(|at| conditions.get_mut(at)) {
            Some(old) => *old = new,
            None => conditions.push(new),
        }
        Some(with(status, "conditions", Some(Value::List(arena.alloc_slice_copy(&conditions))), arena))
    }

    /// Stores a definition with a new status.
    fn write<'a>(
        &'a self,
        store: &mut Store,
        key: &Key,
        live: Value<'a>,
        status: Value<'a>,
        arena: &'a Bump,
    ) -> Option<()> {
        let registry = self.served.registry()?;
        let endpoint = registry.endpoint(self.served.gvk(), "status", arena).ok()?;
        let options = WriteOptions::new(MANAGER, self.now).subresource("status");
        let object = with(live, "status", Some(status), arena);
        let draft = {
            let object = endpoint.update(Some(live), object, &options, arena).ok()?;
            let assigned = Moment { now: self.now, ..Moment::default() }.assigned(store.revision(), arena);
            self.served.draft(self.strategy.prepare_status_update(object, live, assigned, arena), arena)
        };
        let expected = store.get(key).map(|stored| stored.revision);
        store.commit(&[Change { key: key.clone(), expected, then: Then::Stored(draft) }]).ok().map(|_| ())
    }

    /// Deletes the objects of a definition, then the definition. Returns whether anything changed.
    fn terminated(&self, store: &mut Store, key: &Key, definition: Value<'_>, arena: &Bump) -> bool {
        let metadata = value::metadata(definition);
        let finalizers = metadata.get("finalizers").and_then(Value::as_list).unwrap_or_default();
        if !finalizers.iter().any(|name| name.as_str() == Some(CLEANUP)) {
            return false;
        }
        let id: Arc<str> = key.name().into();
        let served = self.api.served.values().find(|served| served.id == id);
        if let Some(served) = served {
            let path = format!("/apis/{}/{}/{}", served.group, served.version, served.plural);
            let request = Request { method: "DELETE", path: &path, ..Request::default() };
            let moment = Moment { now: self.now, ..Moment::default() };
            if let Some(Outcome::Write(write)) = self.api.prepare(store, &request, &moment) {
                let _ = self.api.commit(store, &write);
            }
        }
        if store.list(&id, "", "").next().is_some() {
            let condition = Condition {
                kind: "Terminating",
                status: "True",
                reason: "InstanceDeletionInProgress",
                message: "CustomResource deletion is in progress".to_owned(),
            };
            let status = definition.get("status").unwrap_or(Value::Null);
            let Some(status) = self.with_condition(status, &condition, arena) else { return false };
            return self.write(store, key, definition, status, arena).is_some();
        }
        let kept: Vec<Value<'_>> = finalizers.iter().copied().filter(|name| name.as_str() != Some(CLEANUP)).collect();
        let finalizers = (!kept.is_empty()).then_some(Value::List(&kept));
        let draft = self.served.draft(with_meta(definition, "finalizers", finalizers, arena), arena);
        let then = if kept.is_empty() { Then::Deleted(draft) } else { Then::Stored(draft) };
        let expected = store.get(key).map(|stored| stored.revision);
        store.commit(&[Change { key: key.clone(), expected, then }]).is_ok()
    }
}

/// Decides which names a definition gets (upstream: `NamingConditionController.calculateNamesAndConditions`).
fn accepted_names<'a>(known: &Known, definition: Value<'a>, arena: &'a Bump) -> Option<(Condition, Value<'a>)> {
    let (spec, status) = (definition.get("spec")?, definition.get("status")?);
    let (wanted, accepted) = (spec.get("names")?, status.get("acceptedNames")?);
    let group = text(spec, "group");
    let own = custom_resource(group, wanted, accepted);
    let name = meta_text(definition, "name");
    let wants = distinct(&own.names);
    let others = known.groups.get(group).into_iter().flatten().filter(|(other, _)| ***other != *name);
    let rivals =
        others.filter(|(_, entry)| all_names(entry.accepted()).any(|(kind, name)| wants.contains(&(kind, &**name))));
    let rival = |entry: &Entry| CustomResource {
        names: entry.accepted().clone(),
        established: Some(true),
        ..CustomResource::clone(&entry.custom)
    };
    let mut all: Vec<CustomResource> = rivals.map(|(_, entry)| rival(entry)).collect();
    drop(wants);
    all.push(own);
    let conflicts: Vec<_> =
        name_conflicts(&all).into_iter().filter(|conflict| conflict.resource + 1 == all.len()).collect();
    let mut out = accepted;
    let has_conflict = |field: NameField| conflicts.iter().any(|conflict| conflict.field == field);
    for field in [NameField::Plural, NameField::Singular, NameField::ShortNames, NameField::Kind, NameField::ListKind] {
        if !has_conflict(field) {
            out = with(out, field.name(), wanted.get(field.name()), arena);
        }
    }
    out = with(out, "categories", wanted.get("categories"), arena);
    // The last conflict is reported.
    let condition = match conflicts.last() {
        None => Condition {
            kind: "NamesAccepted",
            status: "True",
            reason: "NoConflicts",
            message: "no conflicts found".to_owned(),
        },
        Some(last) => {
            let told = conflicts.iter().filter(|conflict| conflict.field == last.field);
            let texts: Vec<String> = told.map(|conflict| format!("{:?} is already in use", conflict.name)).collect();
            Condition {
                kind: "NamesAccepted",
                status: "False",
                reason: match last.field {
                    NameField::Plural => "PluralConflict",
                    NameField::Singular => "SingularConflict",
                    NameField::ShortNames => "ShortNamesConflict",
                    NameField::Kind => "KindConflict",
                    NameField::ListKind => "ListKindConflict",
                },
                message: if let [text] = &texts[..] { text.clone() } else { format!("[{}]", texts.join(", ")) },
            }
        }
    };
    Some((condition, out))
}

const API_APPROVED: &str = "api-approved.kubernetes.io";

/// A condition of a definition.
struct Condition {
    kind: &'static str,
    status: &'static str,
    reason: &'static str,
    message: String,
}

impl Condition {
    fn is(&self, old: Value<'_>) -> bool {
        let wanted = [("status", self.status), ("reason", self.reason), ("message", &self.message)];
        wanted.iter().all(|(key, wanted)| text(old, key) == *wanted)
    }
}

/// Returns the condition about the approval of a Kubernetes group; `None` for other groups (upstream: `apiapproval`).
fn approved(group: &str, annotation: &str) -> Option<Condition> {
    let (state, message) = approval(group, annotation)?;
    let (status, reason) = match state {
        Approval::Approved => ("True", "ApprovedAnnotation"),
        Approval::Bypassed => ("False", "UnapprovedAnnotation"),
        Approval::Missing => ("False", "MissingAnnotation"),
        Approval::Invalid => ("False", "InvalidAnnotation"),
    };
    Some(Condition { kind: "KubernetesAPIApprovalPolicyConformant", status, reason, message })
}

fn text<'a>(value: Value<'a>, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Why a definition is not established whose webhook for conversions has broken authorities.
const BROKEN: &str = "InvalidCABundle";

/// Returns whether the webhook for conversions has authorities without a certificate.
fn has_broken_authorities(spec: Value<'_>) -> bool {
    let client = spec.get("conversion").and_then(|conversion| conversion.get("webhook")?.get("clientConfig"));
    let bundle = client.and_then(|client| client.get("caBundle")?.as_str()).filter(|bundle| !bundle.is_empty());
    bundle.is_some_and(|bundle| STANDARD.decode(bundle).is_ok_and(|bundle| check_ca_bundle(&bundle).is_err()))
}

fn condition_of<'a>(status: Value<'a>, kind: &str) -> Option<Value<'a>> {
    let conditions = status.get("conditions").and_then(Value::as_list)?;
    conditions.iter().copied().find(|condition| text(*condition, "type") == kind)
}

/// Returns whether a condition of a definition is true.
pub(super) fn is_true(definition: Value<'_>, kind: &str) -> bool {
    let condition = definition.get("status").and_then(|status| condition_of(status, kind));
    condition.is_some_and(|condition| text(condition, "status") == "True")
}

fn same_json(a: Option<Value<'_>>, b: Option<Value<'_>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => kubeshape_validate::object::deep_equal(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Converts a definition for the check of names.
fn custom_resource(group: &str, names: Value<'_>, accepted: Value<'_>) -> CustomResource {
    CustomResource {
        group: group.into(),
        names: claimed(names),
        accepted: Some(claimed(accepted)),
        established: None,
        versions: Vec::new(),
        names_at: 0,
    }
}

fn claimed(names: Value<'_>) -> ClaimedNames {
    let name = |key: &str| Arc::from(text(names, key));
    let short = names.get("shortNames").and_then(Value::as_list).unwrap_or_default();
    ClaimedNames {
        plural: name("plural"),
        singular: name("singular"),
        short_names: short.iter().filter_map(|name| name.as_str()).map(Arc::from).collect(),
        kind: name("kind"),
        list_kind: name("listKind"),
    }
}
