//! Admission policies that are stored: they are enforced on the requests after them.
//!
//! Objects are admitted as on a server: mutating policies, the strategy of the kind, validating policies. The client is
//! the administrator of a cluster. A namespace that is not stored exists with its name as the only label.

use super::plugins::Plugin;
use super::served::Served;
use super::{Api, Call, Verb};
use crate::raw;
use crate::status::{Cause, Details, GroupResource, Status};
use crate::store::{Key, Store, Stored};
use crate::value::{self, meta_text, with};
use kubeshape_policy::{
    Decision, Gvk, Kinds, Objects, Operation, Request, TypeWarning, World, creation_errors, type_warnings,
};
use kubeshape_registry::policy::{
    Client, GROUP, Layer, Layers, Parts, ServedKinds, StoredPolicies, labelled, named_namespace, request_of,
};
use kubeshape_schema::field::Error;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_yaml::Tape;
use std::cell::{Cell, OnceCell};
use std::sync::{Arc, Mutex, PoisonError};

/// The resources of policies and bindings.
const RESOURCES: [&str; 4] = [
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
];
/// Their versions. Each version is stored by itself.
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];
/// How many policies and bindings may be stored: compiling them takes time at each change.
const MAX_POLICIES: usize = 1_000;
/// How many bytes of JSON they may have together.
const MAX_POLICY_BYTES: usize = 1 << 20;
/// How many objects may be parameters for a request, each counted as often as a binding selects from it.
const MAX_PARAMS: usize = 10_000;
/// How many bytes of JSON they may have together.
const MAX_PARAM_BYTES: usize = 64 << 20;
/// The kind of the objects of a scale subresource.
const SCALE: &str = "Scale";

/// The compiled policies of a store.
#[derive(Debug)]
pub(super) struct Gate {
    /// The storage keys of policies and bindings.
    ids: Vec<Arc<str>>,
    compiled: Mutex<Option<Compiled>>,
}

/// Policies, and the objects and revisions that they are compiled from.
#[derive(Debug)]
struct Compiled {
    of: Vec<(Key, u64)>,
    policies: Option<Arc<StoredPolicies>>,
}

impl Default for Gate {
    fn default() -> Gate {
        let id = |version: &str, resource: &str| Arc::from(format!("{GROUP}/{version} {resource}"));
        let ids = RESOURCES.iter().flat_map(|resource| VERSIONS.map(|version| id(version, resource))).collect();
        Gate { ids, compiled: Mutex::default() }
    }
}

impl Gate {
    /// The policies of a store; `None` if none of them is bound. They are compiled again after one of them changed.
    fn policies(&self, store: &Store, api: &Api) -> Option<Arc<StoredPolicies>> {
        let stored = || self.ids.iter().flat_map(|id| store.list(id, "", ""));
        let of: Vec<(Key, u64)> = stored().map(|(key, object)| (key.clone(), object.revision)).collect();
        if of.is_empty() {
            return None;
        }
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = compiled.as_ref().filter(|known| known.of == of) {
            return known.policies.clone();
        }
        let texts: Vec<_> = stored().map(|(_, object)| object.json()).collect();
        let release = api.registry.settings().release;
        let policies = StoredPolicies::new(texts.iter().map(|text| &**text), &ServedKinds::new(api), release);
        let policies = (!policies.get().is_empty()).then(|| Arc::new(policies));
        *compiled = Some(Compiled { of, policies: policies.clone() });
        policies
    }
}

impl Layers for Api {
    fn of_group<'s>(&'s self, group: &str) -> Vec<&'s Layer> {
        std::iter::once(self.custom_layer()).chain(self.documents.layers(group)).collect()
    }

    fn all(&self) -> Vec<&Layer> {
        std::iter::once(self.custom_layer()).chain(self.documents.all_layers()).collect()
    }
}

impl Api {
    fn custom_layer(&self) -> &Layer {
        self.custom.get_or_init(|| Layer::new(&self.registry))
    }
}

/// The stored objects that policies need for a request.
struct InStore<'s, 'a> {
    store: &'s Store,
    api: &'s Api,
    arena: &'a Bump,
    /// Parameters, and their bytes, that may still be read; `None` after there were too many.
    left: Cell<Option<(usize, usize)>>,
}

impl<'a> InStore<'_, 'a> {
    fn get(&self, gvk: &Gvk, namespace: &str, name: &str) -> Option<Value<'a>> {
        let served = self.api.of_kind(&gvk.api_version(), &gvk.kind)?;
        let stored = self.store.get(&Key::new(&served.id, namespace, name))?;
        value_of(served, stored, self.arena)
    }

    /// A parameter, unless the request has read too many.
    fn param(&self, served: &Served, stored: &Arc<Stored>) -> Option<Value<'a>> {
        let length = stored.as_json().len();
        let left = self.left.get().and_then(|(count, bytes)| Some((count.checked_sub(1)?, bytes.checked_sub(length)?)));
        self.left.set(left);
        left.and_then(|_| value_of(served, stored, self.arena))
    }

    /// # Errors
    /// Too many parameters were read, so decisions do not know all of them.
    fn has_all(&self) -> Result<(), Status> {
        self.left.get().map(|_| ()).ok_or_else(|| {
            Status::internal(format!(
                "the parameters of admission policies for one request are more than {MAX_PARAMS}, or have more than \
                 {MAX_PARAM_BYTES} bytes together"
            ))
        })
    }
}

/// Returns a stored object in the version of a resource. `None` if its webhook does not convert it.
pub(super) fn value_of<'a>(served: &Served, stored: &Arc<Stored>, arena: &'a Bump) -> Option<Value<'a>> {
    let stored = served.read(stored).ok()?;
    let (mut tape, memory) = (Tape::new(), Bump::new());
    let value = value::parsed(stored.as_json(), &mut tape, &memory).ok()?;
    Some(value.copy_into(arena))
}

impl<'a> Objects<'a> for InStore<'_, 'a> {
    fn namespace(&self, name: &str) -> Option<Value<'a>> {
        let known = self.get(&Gvk::of("v1", "Namespace"), "", name);
        Some(known.map_or_else(|| named_namespace(name, self.arena), |known| labelled(known, self.arena)))
    }

    fn params(&self, kind: &Gvk, namespace: &str, name: &str) -> Vec<Value<'a>> {
        let Some(served) = self.api.of_kind(&kind.api_version(), &kind.kind) else { return Vec::new() };
        if !name.is_empty() {
            let stored = self.store.get(&Key::new(&served.id, namespace, name));
            return stored.and_then(|stored| self.param(served, stored)).into_iter().collect();
        }
        let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        let all = self.store.list(&served.id, &prefix, "").take_while(|_| self.left.get().is_some());
        all.filter_map(|(_, stored)| self.param(served, stored)).collect()
    }
}

/// The policies of a call, looked up once.
pub(super) type Found = OnceCell<Option<Arc<StoredPolicies>>>;

impl Call<'_> {
    /// The policies that are in force for this request.
    fn policies(&self) -> Option<&StoredPolicies> {
        self.policies.get_or_init(|| self.api.gate.policies(self.store, self.api)).as_deref()
    }

    /// Returns the object of a write as plugins, mutating policies and webhooks change it.
    ///
    /// # Errors
    /// One of them refuses the request.
    pub(super) fn mutated<'a>(
        &'a self,
        object: Value<'a>,
        old: Option<Value<'a>>,
        is_dry_run: bool,
        arena: &'a Bump,
    ) -> Result<Value<'a>, Status> {
        // The objects of a scale are not those that are stored.
        if self.path.subresource == "scale" {
            return Ok(object);
        }
        let operation = if old.is_some() { Operation::Update } else { Operation::Create };
        let mut object = self.plugged(object, old, arena)?;
        if let Some(policies) = self.policies() {
            let decide = |request: &Request<'a>, world: World<'_, 'a>| policies.get().mutate(request, world, arena);
            object = self.decided(operation, Some(object), old, is_dry_run, arena, decide)?.object.unwrap_or(object);
        }
        if !self.has_webhooks() {
            return Ok(object);
        }
        let mut changed = Ok(None);
        let decide = |request: &Request<'a>, world: World<'_, 'a>| {
            changed = self.mutated_by_hooks(request.clone(), world, arena);
            Decision::default()
        };
        self.decided(operation, Some(object), old, is_dry_run, arena, decide)?;
        Ok(changed?.unwrap_or(object))
    }

    /// Judges a write with plugins, validating policies and webhooks. Its object is as it will be stored.
    ///
    /// # Errors
    /// One of them refuses the request.
    pub(super) fn policed<'a>(
        &'a self,
        operation: Operation,
        object: Option<Value<'a>>,
        old: Option<Value<'a>>,
        is_dry_run: bool,
        arena: &'a Bump,
    ) -> Result<(), Status> {
        match object {
            Some(object) => self.plugins_allow(object, old, arena)?,
            // A deletion has no object that plugins could change.
            None => self.node_may(operation, None, old, arena)?,
        }
        if let Some(policies) = self.policies() {
            let decide = |request: &Request<'a>, world: World<'_, 'a>| policies.get().validate(request, world, arena);
            self.decided(operation, object, old, is_dry_run, arena, decide)?;
        }
        self.hooks_allow(operation, object, old, is_dry_run, arena)?;
        // As on a server, quotas come last: what others refuse is not counted.
        match (operation, object) {
            (Operation::Create | Operation::Update, Some(object)) => self.charge(object, old, is_dry_run, arena),
            _ => Ok(()),
        }
    }

    /// Judges a write with webhooks.
    fn hooks_allow<'a>(
        &'a self,
        operation: Operation,
        object: Option<Value<'a>>,
        old: Option<Value<'a>>,
        is_dry_run: bool,
        arena: &'a Bump,
    ) -> Result<(), Status> {
        if !self.has_webhooks() {
            return Ok(());
        }
        let mut judged = Ok(());
        let decide = |request: &Request<'a>, world: World<'_, 'a>| {
            judged = match operation {
                // A deletion has no object that they could change.
                Operation::Delete | Operation::Connect => {
                    self.mutated_by_hooks(request.clone(), world, arena).map(|_| ())
                }
                _ => Ok(()),
            };
            judged = std::mem::replace(&mut judged, Ok(())).and_then(|()| self.judged_by_hooks(request, world, arena));
            Decision::default()
        };
        self.decided(operation, object, old, is_dry_run, arena, decide)?;
        judged
    }

    /// Checks that objects can be created in the namespace of the request (upstream: the plugin `NamespaceLifecycle`).
    ///
    /// # Errors
    /// The namespace does not exist (404), or is being deleted (403).
    pub(super) fn namespace_takes(&self, name: &str) -> Result<(), Status> {
        let namespace = self.path.namespace;
        if !self.has_plugin(Plugin::NamespaceLifecycle) || namespace.is_empty() {
            return Ok(());
        }
        let Some(stored) = self.api.object_at(self.store, &format!("/api/v1/namespaces/{namespace}")) else {
            let of = GroupResource { group: "", resource: "namespaces" };
            return Err(Status::not_found(of, namespace));
        };
        let is_ending =
            raw::member(&stored, "metadata").is_some_and(|of| raw::member(of, "deletionTimestamp").is_some());
        if !is_ending {
            return Ok(());
        }
        let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut status = Status::forbidden(self.group_resource(), name, &why);
        if let Some(details) = &mut status.details {
            details.causes.push(Cause {
                reason: "NamespaceTerminating".into(),
                message: format!("namespace {namespace} is being terminated"),
                field: "metadata.namespace".to_owned(),
            });
        }
        Err(status)
    }

    /// The user of the request.
    pub(super) fn client(&self, is_dry_run: bool) -> Client {
        match self.request.identity {
            Some(identity) => Client {
                user: Arc::clone(&identity.user),
                extra: identity.extra.clone(),
                is_dry_run,
                authorizer: self.api.authorizer(self.store),
            },
            None => Client { is_dry_run, ..Client::default() },
        }
    }

    /// What policies decide. Their warnings are sent to the client.
    fn decided<'a>(
        &'a self,
        operation: Operation,
        object: Option<Value<'a>>,
        old_object: Option<Value<'a>>,
        is_dry_run: bool,
        arena: &'a Bump,
        decide: impl FnOnce(&Request<'a>, World<'_, 'a>) -> Decision<'a>,
    ) -> Result<Decision<'a>, Status> {
        let kinds = ServedKinds::new(self.api);
        let client = self.client(is_dry_run);
        let gvk = Gvk::of(&self.served.api_version, &self.served.kind);
        let name = match self.verb {
            // The plugins get no name, but every object (upstream: `DeleteCollection`).
            Verb::DeleteCollection => "",
            _ if operation == Operation::Connect => self.path.name,
            _ => meta_text(object.or(old_object).unwrap_or(Value::Null), "name"),
        };
        let (namespace, subresource) = (Some(self.path.namespace), self.path.subresource);
        let parts = Parts { gvk: &gvk, operation, subresource, namespace, name: Some(name), object, old_object };
        let Some(mut request) = request_of(parts, &client, &kinds, arena) else { return Ok(Decision::default()) };
        match subresource {
            "scale" => request.kind = Gvk::of("autoscaling/v1", SCALE),
            "binding" if self.served.is_pod() => request.kind = Gvk::of("v1", "Binding"),
            "eviction" if self.served.is_pod() => request.kind = Gvk::of("policy/v1", "Eviction"),
            "token" => request.kind = Gvk::of("authentication.k8s.io/v1", "TokenRequest"),
            _ => {
                if let Some(options) = self.connection() {
                    // Options have no metadata.
                    (request.kind, request.object) = (options, object);
                }
            }
        }
        let left = Cell::new(Some((MAX_PARAMS, MAX_PARAM_BYTES)));
        let objects = InStore { store: self.store, api: self.api, arena, left };
        let stop = self.moment.stop;
        let world = World { kinds: &kinds, objects: &objects, authorizer: &client.authorizer, stop };
        let decision = decide(&request, world);
        self.warn(decision.warnings.iter().cloned());
        self.goes_on()?;
        objects.has_all()?;
        match &decision.status {
            Some(status) => Err(of_policy(status)),
            None => Ok(decision),
        }
    }

    /// What a server says of a new policy, binding or webhook configuration beyond the rules of its kind.
    pub(super) fn policy_errors(&self, object: Value<'_>) -> Vec<Error> {
        if self.served.group != GROUP {
            return Vec::new();
        }
        creation_errors(object, self.api.registry.settings().release)
    }

    /// Refuses a policy that is one too many, or makes all policies too large.
    pub(super) fn has_room_for_policy(&self, policy: Value<'_>) -> Result<(), Status> {
        let gate = &self.api.gate;
        if !gate.ids.contains(&self.served.id) {
            return Ok(());
        }
        let own = Key::new(&self.served.id, "", meta_text(policy, "name"));
        let stored = || gate.ids.iter().flat_map(|id| self.store.list(id, "", "")).filter(|(key, _)| **key != own);
        if stored().count() >= MAX_POLICIES {
            return Err(Status::internal(format!("at most {MAX_POLICIES} admission policies and bindings are stored")));
        }
        let bytes: usize = stored().map(|(_, object)| object.as_json().len()).sum();
        if policy.json_len(MAX_POLICY_BYTES.saturating_sub(bytes)).is_some() {
            return Ok(());
        }
        let message = format!("admission policies and bindings have at most {MAX_POLICY_BYTES} bytes together");
        Err(Status::internal(message))
    }

    /// Returns a ValidatingAdmissionPolicy with the result of type checking in its status, as the controller of a
    /// cluster sets it (`validatingadmissionpolicystatus`). Other objects are unchanged.
    pub(super) fn type_checked<'a>(&self, policy: Value<'a>, arena: &'a Bump) -> Value<'a> {
        if self.served.group != GROUP || self.served.kind != "ValidatingAdmissionPolicy" {
            return policy;
        }
        let kinds: &dyn Kinds = &ServedKinds::new(self.api);
        let warnings = type_warnings(policy, kinds, self.api.registry.settings().release);
        let map = |members| Value::Map(Map::from_entries(members, arena));
        let warning = |warning: &TypeWarning| {
            let text = |text: &str| Value::String(arena.alloc_str(text));
            map(vec![("fieldRef", text(&warning.field)), ("warning", text(&warning.text))])
        };
        let warnings: Vec<Value<'a>> = warnings.iter().map(warning).collect();
        let checking = if warnings.is_empty() {
            Value::Map(Map::EMPTY)
        } else {
            map(vec![("expressionWarnings", Value::List(arena.alloc_slice_copy(&warnings)))])
        };
        let mut status = vec![("typeChecking", checking)];
        let generation = value::metadata(policy).get("generation");
        status.extend(generation.map(|generation| ("observedGeneration", generation)));
        with(policy, "status", Some(map(status)), arena)
    }
}

/// The answer to a request that policies refuse.
pub(super) fn of_policy(status: &kubeshape_policy::Status) -> Status {
    let cause = |message: &String| Cause { reason: "".into(), message: message.clone(), field: String::new() };
    let details = status.details.as_ref().map(|details| {
        Box::new(Details {
            name: details.name.clone(),
            group: details.group.clone(),
            kind: details.kind.clone(),
            causes: details.causes.iter().map(cause).collect(),
            ..Details::default()
        })
    });
    Status { code: status.code, reason: status.reason.clone().into(), message: status.message.clone(), details }
}
