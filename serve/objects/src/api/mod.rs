//! Requests about objects, and their responses.

mod admission;
mod advice;
mod collect;
mod connect;
mod conversion;
mod convert;
mod definitions;
mod delete;
mod documents;
mod escalation;
mod load;
mod plugins;
mod pods;
mod read;
mod reply;
mod review;
mod scale;
mod selectable;
mod served;
mod strategy;
mod watch;
mod webhooks;
mod write;

use crate::accept::{Alternates, Answers, Endpoint, Form, TargetKind, Transformed, alternate, resource};
use crate::access::{self, Attributes, Authorization, Identity};
use crate::path::ResourcePath;
use crate::status::{GroupResource, Status};
use crate::store::{Change, Outdated, Store, Stored};
use crate::target::parameter;
use crate::{form, options, wire};
use admission::{Found, Gate};
use bytes::Bytes;
use imbl::OrdMap;
use indexmap::IndexSet;
use kubeshape_policy::{Access, Authorizer, Verdict};
use kubeshape_registry::Registry;
use kubeshape_registry::policy::Layer;
use kubeshape_smd::Bump;
use kubeshape_smd::managed::Time;
use kubeshape_smd::value::Stop;
use kubeshape_validate::Release;
use kubeshape_validate::builtin::Assigned;
use reply::Shown;
use served::Served;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use strategy::Strategy;
use webhooks::{FoundHooks, HookGate};

pub use advice::Advisor;
pub use collect::Todo;
pub use definitions::Settled;
pub use documents::Documents;
pub use plugins::{Plugin, pod_security};
pub use reply::MAX_LIST_GROWTH;
pub use review::{Reviewed, Signer};
pub use watch::{Watch, WatchEnd};
pub use webhooks::{HookCall, Hooks};

/// Why no objects of a definition are created that is being deleted.
const TERMINATING: &str = "create not allowed while custom resource definition is terminating";

/// A request, as a client sent it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: &'r str,
    /// The path, percent-decoded.
    pub path: &'r str,
    /// The raw query after the `?`.
    pub query: &'r str,
    /// `Accept`
    pub accept: &'r str,
    /// `Content-Type`
    pub content_type: &'r str,
    /// `User-Agent`
    pub user_agent: &'r str,
    /// The body.
    pub body: &'r [u8],
    /// Whether all forms of the proposal "Alternate representations of API resources" are supported, and not only those
    /// of kube-apiserver. CBOR is one of them.
    pub alternates: bool,
    /// Whether CBOR is supported, too (upstream: the feature gate `CBORServingAndStorage`).
    pub cbor: bool,
    /// The user; `None` for the administrator of a cluster.
    pub identity: Option<&'r Identity>,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Request {
            method: "GET",
            path: "/",
            query: "",
            accept: "",
            content_type: "",
            user_agent: "",
            body: b"",
            alternates: false,
            cbor: false,
            identity: None,
        }
    }
}

impl Request<'_> {
    /// Returns whether bodies can be CBOR.
    fn has_cbor(&self) -> bool {
        self.cbor || self.alternates
    }

    /// Returns whether to indent JSON: because of `?pretty`, or for programs that show responses to people
    /// (upstream: `isPrettyPrint`).
    fn is_pretty(&self) -> bool {
        if let Some(pretty) = parameter(self.query, "pretty").filter(|value| !value.is_empty()) {
            return matches!(&*pretty, "1" | "t" | "T" | "true" | "TRUE" | "True");
        }
        ["curl", "Wget", "Mozilla/5.0"].iter().any(|program| self.user_agent.starts_with(program))
    }
}

/// External inputs of a request.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'m> {
    /// The time.
    pub now: Time,
    /// The uid for a created object. It must be unused.
    pub uid: &'m str,
    /// A random number, for `metadata.generateName`.
    pub random: u64,
    /// Ends the work for the request early: nobody waits for the response any more, or it takes too long. The response
    /// is then a 504, and nothing changes.
    pub stop: Stop<'m>,
}

impl Default for Moment<'_> {
    fn default() -> Self {
        Moment { now: Time(0), uid: "00000000-0000-0000-0000-000000000000", random: 0, stop: Stop::NEVER }
    }
}

impl<'m> Moment<'m> {
    /// What the server chooses for an object of a built-in kind. The revision of the store chooses an address and a
    /// port: nothing has to be searched, and they repeat only after thousands of changes.
    fn assigned<'a>(&self, revision: u64, arena: &'a Bump) -> Assigned<'a>
    where
        'm: 'a,
    {
        /// People choose the addresses and ports before these.
        const ADDRESSES: Range<u64> = 256..65_280;
        const PORTS: Range<u16> = 30_100..32_768;
        let host = ADDRESSES.start + revision % (ADDRESSES.end - ADDRESSES.start);
        let port = revision % u64::from(PORTS.end - PORTS.start);
        Assigned {
            uid: self.uid,
            time: arena.alloc_str(&self.now.to_string()),
            cluster_ip: arena.alloc_str(&format!("10.96.{}.{}", host / 256, host % 256)),
            node_port: PORTS.start + u16::try_from(port).unwrap_or_default(),
            ..Assigned::default()
        }
    }
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The code of the response.
    pub code: u16,
    /// The form of the body.
    pub form: Form,
    /// The parameters of the `Content-Type`: `;g=meta.k8s.io;v=v1;as=Table`.
    pub parameters: String,
    /// The body.
    pub body: Bytes,
    /// Messages for `Warning` headers.
    pub warnings: Vec<String>,
    /// The seconds until a client may retry, for `Retry-After`; 0 if unset.
    pub retry_after_seconds: u32,
    /// The token of the next page of a list whose form has no metadata, for `Continue`; empty on the last page.
    pub token: String,
}

impl Reply {
    /// Returns a reply without warnings.
    pub fn new(code: u16, form: Form, body: impl Into<Bytes>) -> Reply {
        let (parameters, warnings, token) = (String::new(), Vec::new(), String::new());
        Reply { code, form, parameters, body: body.into(), warnings, retry_after_seconds: 0, token }
    }

    /// Returns the `Content-Type`.
    pub fn content_type(&self) -> Cow<'static, str> {
        typed(self.form.media_type(), &self.parameters)
    }

    /// Returns the body as a string; empty if it is not UTF-8.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_default()
    }
}

/// A media type with its parameters.
fn typed(media: &'static str, parameters: &str) -> Cow<'static, str> {
    if parameters.is_empty() { Cow::Borrowed(media) } else { Cow::Owned(format!("{media}{parameters}")) }
}

/// The outcome of a request.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // There is one of them per request.
pub enum Outcome {
    /// The response.
    Reply(Reply),
    /// It changes objects: [`Api::commit`] applies the changes and responds.
    Write(Write),
    /// It watches objects.
    Watch(Box<Watch>),
}

/// The changes of a request.
#[derive(Debug)]
pub struct Write {
    changes: Vec<Change>,
    then: Then,
    shown: Shown,
    warnings: Vec<String>,
}

/// The response to a request that changes objects.
#[derive(Debug)]
enum Then {
    /// The changed object, with this code.
    Object(u16),
    /// The replicas of the changed object.
    Scale,
    /// A status of success.
    Done(Box<Status>),
    /// This list.
    List(Box<Reply>),
}

/// The served resources. Handles requests about their objects.
#[derive(Clone, Debug, Default)]
pub struct Api {
    registry: Registry,
    /// By group, version and plural.
    served: OrdMap<(String, String, String), Arc<Served>>,
    /// The built-in resources.
    documents: Documents,
    /// The stored definitions in the registry, by name.
    definitions: definitions::Known,
    /// The source of further warnings.
    advisor: Option<Arc<dyn Advisor>>,
    /// The admission policies of the store.
    gate: Arc<Gate>,
    /// What policies need to know of custom resources, as they are served now.
    custom: Arc<OnceLock<Layer>>,
    /// How permissions are decided.
    authorization: Authorization,
    /// The roles and bindings of the store.
    roles: Arc<access::Gate>,
    /// Signs the tokens of service accounts.
    signer: Option<Arc<dyn Signer>>,
    /// Calls admission webhooks; `None` if they are not called.
    hooks: Option<Arc<dyn Hooks>>,
    mutating: Arc<HookGate>,
    validating: Arc<HookGate>,
    /// The admission plugins that are on.
    plugins: BTreeSet<Plugin>,
}

impl Api {
    /// Serves the custom resources of a registry's definitions.
    pub fn new(registry: Registry) -> Api {
        let mut families = BTreeMap::new();
        let served = registry.kinds().filter_map(|kind| {
            let is_first = registry.kind(kind.gvk()).is_some_and(|first| std::ptr::eq(first, kind));
            let family = families.entry((kind.group(), kind.kind()));
            let family = *family.or_insert_with(|| registry.family(kind.group(), kind.kind()));
            let served = if is_first { Served::of(kind, family)? } else { return None };
            let key = (served.group.clone(), served.version.clone(), served.plural.to_string());
            Some((key, Arc::new(served)))
        });
        let served = served.collect();
        Api { registry, served, ..Api::default() }
    }

    /// Adds built-in resources. With CustomResourceDefinitions among them, clients can change the served resources: see
    /// [`settle`](Self::settle).
    #[must_use]
    pub fn with_documents(self, documents: Documents) -> Api {
        Api { documents: documents.in_release(self.registry.settings().release), ..self }
    }

    /// Decides permissions in another way.
    #[must_use]
    pub fn with_authorization(self, authorization: Authorization) -> Api {
        Api { authorization, ..self }
    }

    /// Calls the admission webhooks that are configured by objects, and the conversion webhooks of definitions.
    #[must_use]
    pub fn with_hooks(self, hooks: Arc<dyn Hooks>) -> Api {
        self.served.values().for_each(|served| served.call_with(&hooks));
        let gate = |resource| Arc::new(HookGate::new(resource));
        let mutating = gate("mutatingwebhookconfigurations");
        Api { hooks: Some(hooks), mutating, validating: gate("validatingwebhookconfigurations"), ..self }
    }

    /// Returns the same resources for another store. What is compiled of the objects of a store, such as policies,
    /// webhooks and roles, is found by revisions, which are not unique beyond it.
    #[must_use]
    pub fn for_another_store(&self) -> Api {
        Api {
            gate: Arc::default(),
            roles: Arc::default(),
            mutating: Arc::new(self.mutating.of_another_store()),
            validating: Arc::new(self.validating.of_another_store()),
            ..self.clone()
        }
    }

    /// Returns whether webhooks are called.
    pub fn calls_hooks(&self) -> bool {
        self.hooks.is_some()
    }

    /// Turns admission plugins on, and all others off. Without this, none is on.
    #[must_use]
    pub fn with_plugins(self, plugins: impl IntoIterator<Item = Plugin>) -> Api {
        Api { plugins: plugins.into_iter().collect(), ..self }
    }

    /// Returns whether an admission plugin is on.
    pub fn has_plugin(&self, plugin: Plugin) -> bool {
        self.plugins.contains(&plugin)
    }

    /// Signs the tokens of service accounts.
    #[must_use]
    pub fn with_signer(self, signer: Arc<dyn Signer>) -> Api {
        Api { signer: Some(signer), ..self }
    }

    /// Returns how permissions are decided.
    pub fn authorization(&self) -> Authorization {
        self.authorization
    }

    /// Returns the authorizer of a store.
    pub fn authorizer(&self, store: &Store) -> Arc<dyn Authorizer> {
        match self.authorization {
            Authorization::AlwaysAllow => Arc::new(Everything),
            Authorization::Rbac => self.roles.rbac(store),
        }
    }

    /// Returns whether a user may do something.
    ///
    /// # Errors
    /// The response to a user who may not: 403.
    pub fn authorize(&self, store: &Store, identity: &Identity, wanted: Attributes) -> Result<(), Status> {
        if self.authorization == Authorization::AlwaysAllow {
            return Ok(());
        }
        let access = wanted.by(&identity.user);
        let verdict = self.roles.rbac(store).decide(&access);
        if verdict.allowed { Ok(()) } else { Err(Attributes::forbidden(&access, &verdict.reason)) }
    }

    /// Returns the response to a refused request.
    pub fn refuse(status: &Status, request: &Request<'_>) -> Reply {
        refusal(status, request)
    }

    /// Returns the registry of kinds.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns whether a decoded path is one of a served resource.
    pub fn serves(&self, path: &str) -> bool {
        ResourcePath::of(path).is_some_and(|path| self.find(&path).is_some())
    }

    /// Works like [`serves`](Self::serves) without reading documents: for a built-in group version whose document is
    /// unread, it is true for all resources.
    pub fn may_serve(&self, path: &str) -> bool {
        let Some(path) = ResourcePath::of(path) else { return false };
        let key = (path.group.to_owned(), path.version.to_owned(), path.resource.to_owned());
        self.served.contains_key(&key) || self.documents.may_have(path.group, path.version, path.resource)
    }

    /// Returns the release whose rules apply.
    pub fn release(&self) -> Release {
        self.registry.settings().release
    }

    /// Returns the path of the objects of a kind, with the namespace if they are namespaced. `None` if no resource of
    /// the kind is served.
    pub fn path_of(&self, api_version: &str, kind: &str, namespace: &str) -> Option<String> {
        let served = self.of_kind(api_version, kind)?;
        let root = if served.group.is_empty() { "api" } else { "apis" };
        let namespace = if served.namespaced { format!("/namespaces/{namespace}") } else { String::new() };
        Some(format!("/{root}/{api_version}{namespace}/{}", served.plural))
    }

    /// Returns the size of the object at a decoded path in bytes; `None` if it is not stored, its document is unread,
    /// or a webhook may have to convert it.
    pub fn size_of(&self, store: &Store, path: &str) -> Option<usize> {
        let path = ResourcePath::of(path).filter(|path| !path.watch && !path.name.is_empty())?;
        let key = (path.group.to_owned(), path.version.to_owned(), path.resource.to_owned());
        if !self.served.contains_key(&key) && !self.documents.has(path.group, path.version, path.resource) {
            return None;
        }
        let served = self.find(&path).filter(|served| served.converter().is_none())?;
        let key = crate::store::Key::new(&served.id, path.namespace, path.name);
        Some(store.get(&key)?.json().len())
    }

    /// Returns about how many bytes of stored objects a list or a watch at a decoded path begins with; 0 for other
    /// requests. Selectors do not count.
    pub fn size_of_list(&self, store: &Store, path: &str, query: &str) -> usize {
        let Some(path) = ResourcePath::of(path).filter(|path| path.name.is_empty() || path.watch) else { return 0 };
        let (Some(served), Ok(options)) = (self.find(&path), options::ListParameters::read(query)) else { return 0 };
        let goes_on = !matches!(options.revision.as_str(), "" | "0");
        if (options.watch || path.watch) && goes_on && !options.initial_events {
            return 0;
        }
        let prefix = if path.namespace.is_empty() { String::new() } else { format!("{}/", path.namespace) };
        let most = if options.limit > 0 { options.limit } else { usize::MAX };
        store.list(&served.id, &prefix, "").take(most).map(|(_, object)| object.json().len()).sum()
    }

    /// Returns the stored object at a decoded path, as JSON.
    pub fn object_at(&self, store: &Store, path: &str) -> Option<Bytes> {
        let path = ResourcePath::of(path).filter(|path| !path.watch && !path.name.is_empty())?;
        let key = crate::store::Key::new(&self.find(&path)?.id, path.namespace, path.name);
        store.get(&key).map(|stored| stored.json())
    }

    fn find(&self, path: &ResourcePath<'_>) -> Option<&Arc<Served>> {
        let key = (path.group.to_owned(), path.version.to_owned(), path.resource.to_owned());
        self.served.get(&key).or_else(|| self.documents.find(path.group, path.version, path.resource))
    }

    /// Returns whether a resource is still served unchanged.
    fn is_current(&self, served: &Arc<Served>) -> bool {
        let key = (served.group.clone(), served.version.clone(), served.plural.to_string());
        served.is_built_in() || self.served.get(&key).is_some_and(|now| Arc::ptr_eq(now, served))
    }

    /// The resource of a kind.
    fn of_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Served>> {
        let mut all = self.served.values();
        let custom = all.find(|served| served.api_version == api_version && served.kind == kind);
        custom.or_else(|| self.documents.of_kind(api_version, kind))
    }

    /// Handles a request and applies its changes to the store. A watch returns the events available now. `None` if no
    /// resource is served at the path.
    pub fn answer(&self, store: &mut Store, request: &Request<'_>, moment: &Moment<'_>) -> Option<Reply> {
        match self.prepare(store, request, moment)? {
            Outcome::Reply(reply) => Some(reply),
            // The store is borrowed mutably, so there are no conflicts.
            Outcome::Write(write) => self.commit(store, &write).ok(),
            Outcome::Watch(mut watch) => {
                let body = watch.next(store, moment.now).map_or_else(|end| end.last, Some).unwrap_or_default();
                let (parameters, warnings) = (watch.parameters().to_owned(), watch.warnings().to_vec());
                Some(Reply { parameters, warnings, ..Reply::new(200, watch.form(), body) })
            }
        }
    }

    /// Prepares the outcome of a request. Nothing changes yet. `None` if no resource is served at the path.
    pub fn prepare(&self, store: &Store, request: &Request<'_>, moment: &Moment<'_>) -> Option<Outcome> {
        let path = ResourcePath::of(request.path)?;
        let served = self.find(&path)?;
        let strategy = served.strategy()?;
        let warnings = RefCell::default();
        let (verb, policies, hooks) = (Verb::Other, Found::new(), FoundHooks::default());
        let call = Call {
            verb,
            api: self,
            served,
            strategy: &strategy,
            path,
            request,
            moment,
            store,
            warnings,
            policies,
            hooks,
            quotas: RefCell::default(),
        };
        let call = Call { verb: call.verb()?, ..call };
        call.warn_of_version();
        let outcome = call.run();
        // What was stopped did not come to its end, whatever it returns.
        let outcome = call.goes_on().and(outcome);
        let refused = |status: Status| Reply { warnings: call.warnings(), ..refusal(&status, request) };
        Some(outcome.unwrap_or_else(|status| Outcome::Reply(refused(status))))
    }

    /// Applies the changes of a request and returns the response.
    ///
    /// # Errors
    /// An object changed since the request was prepared: prepare it again.
    pub fn commit(&self, store: &mut Store, write: &Write) -> Result<Reply, Outdated> {
        let stored = store.commit(&write.changes)?;
        let of_first = |make: &dyn Fn(&Arc<Stored>) -> Result<Reply, Status>| {
            let made = stored.first().map_or_else(|| Err(Status::internal("nothing is stored")), make);
            made.unwrap_or_else(|status| write.shown.status(&status))
        };
        let reply = match &write.then {
            Then::Object(code) => of_first(&|stored| write.shown.object(*code, stored)),
            Then::Scale => of_first(&|stored| scale::reply(&write.shown, stored)),
            Then::Done(status) => write.shown.status(status),
            Then::List(reply) => Reply::clone(reply),
        };
        Ok(Reply { warnings: write.warnings.clone(), ..reply })
    }
}

/// Returns the response to a refused request, in a form that the client accepts, else in indented JSON (upstream:
/// `responsewriters.ErrorNegotiated`).
fn refusal(status: &Status, request: &Request<'_>) -> Reply {
    let pretty = request.is_pretty();
    let chosen = if request.alternates {
        alternate(request.accept, &Alternates::STATUS, pretty)
    } else {
        resource(request.accept, Endpoint::ERRORS.with_cbor(request.cbor), pretty)
    };
    match chosen {
        Some(Transformed { form, server_version, parameters, .. }) => {
            Reply { parameters, ..reply::status(status, form, server_version) }
        }
        None => reply::status(status, Form::Indented, None),
    }
}

/// Allows everything (upstream: `AlwaysAllow`).
#[derive(Clone, Copy, Debug)]
struct Everything;

impl Authorizer for Everything {
    fn decide(&self, _: &Access) -> Verdict {
        Verdict { allowed: true, ..Verdict::default() }
    }
}

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
    Other,
}

impl Verb {
    /// As errors name it.
    fn name(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
            Verb::Other => "",
        }
    }

    /// Returns the type of its response.
    fn answers(self) -> Answers {
        match self {
            Verb::List | Verb::DeleteCollection => Answers::Many,
            Verb::Watch => Answers::Events,
            Verb::Get | Verb::Create | Verb::Update | Verb::Patch | Verb::Delete | Verb::Other => Answers::One,
        }
    }
}

/// A request and what it is about.
struct Call<'c> {
    verb: Verb,
    api: &'c Api,
    served: &'c Arc<Served>,
    strategy: &'c Strategy,
    path: ResourcePath<'c>,
    request: &'c Request<'c>,
    moment: &'c Moment<'c>,
    store: &'c Store,
    /// The warnings until now.
    warnings: RefCell<IndexSet<String>>,
    /// The admission policies.
    policies: Found,
    /// The admission webhooks.
    hooks: FoundHooks,
    /// Changes of quotas that a write makes, too.
    quotas: RefCell<plugins::Counted>,
}

impl Call<'_> {
    /// Returns the operation of the request. `None` if there is no such path: namespaced objects need the namespace in
    /// the path, except to read or delete many.
    fn verb(&self) -> Option<Verb> {
        let has_name = !self.path.name.is_empty();
        let watch =
            || self.path.watch || options::ListParameters::read(self.request.query).is_ok_and(|options| options.watch);
        let verb = match self.request.method {
            "GET" | "HEAD" if has_name && !self.path.watch => Verb::Get,
            "GET" | "HEAD" if watch() => Verb::Watch,
            "GET" | "HEAD" => Verb::List,
            "POST" => Verb::Create,
            "PUT" => Verb::Update,
            "PATCH" => Verb::Patch,
            "DELETE" if has_name => Verb::Delete,
            "DELETE" => Verb::DeleteCollection,
            _ => Verb::Other,
        };
        let has_namespace = !self.path.namespace.is_empty();
        let is_of_many = matches!(verb, Verb::List | Verb::Watch | Verb::DeleteCollection);
        let fits = if self.served.namespaced { has_namespace || is_of_many } else { !has_namespace };
        (fits && !self.path.has_more).then_some(verb)
    }

    fn group_resource(&self) -> GroupResource<'_> {
        self.served.group_resource()
    }

    fn run(&self) -> Result<Outcome, Status> {
        let verb = self.verb;
        let not_supported = || Err(Status::method_not_supported(self.group_resource(), verb.name()));
        let has_name = !self.path.name.is_empty();
        if verb == Verb::Create && self.api.definitions.terminating.contains(&self.served.id) {
            return Err(Status {
                message: TERMINATING.to_owned(),
                ..Status::method_not_supported(self.group_resource(), verb.name())
            });
        }
        if let Some(options) = self.connection() {
            return self.connect(&options);
        }
        match (self.path.subresource, verb) {
            (_, verb) if verb != Verb::Create && review::Review::of(self.served).is_some() => not_supported(),
            ("status", _) if !self.served.has_status() => Err(self.not_found()),
            ("scale", _) if self.served.scale().is_none() => Err(self.not_found()),
            ("approval", verb) if self.served.has_approval() => match verb {
                Verb::Get => self.get(),
                Verb::Update => self.update(),
                Verb::Patch => self.patch(),
                _ => not_supported(),
            },
            ("" | "status", Verb::Get) => self.get(),
            (pods::EPHEMERAL | pods::RESIZE, verb)
                if self.served.is_pod() && self.served.has_subresource(self.path.subresource) =>
            {
                match verb {
                    Verb::Get => self.get(),
                    Verb::Update => self.update(),
                    Verb::Patch => self.patch(),
                    _ => not_supported(),
                }
            }
            ("finalize", Verb::Update) if self.served.is_namespace() => self.update(),
            ("" | "status", Verb::Update) if has_name => self.update(),
            ("" | "status", Verb::Patch) if has_name => self.patch(),
            ("scale", Verb::Get) => self.get_scale(),
            ("scale", Verb::Update | Verb::Patch) => self.write_scale(verb == Verb::Patch),
            ("", Verb::List) => self.list(),
            ("", Verb::Watch) => self.watch(),
            ("", Verb::Create) if !has_name => self.create(),
            ("binding", Verb::Create) if self.served.is_pod() => self.bind(),
            ("eviction", Verb::Create) if self.served.is_pod() => self.evict(),
            ("token", Verb::Create) if self.served.has_subresource("token") => self.token(),
            ("", Verb::Delete) => self.delete(),
            ("", Verb::DeleteCollection) => self.delete_collection(),
            ("" | "status" | "scale", _) => not_supported(),
            // Its behaviour exists only as Go code.
            (other, _) if self.served.has_subresource(other) => not_supported(),
            _ => Err(self.not_found()),
        }
    }

    /// Checks that the work for the request goes on.
    ///
    /// # Errors
    /// It was stopped.
    fn goes_on(&self) -> Result<(), Status> {
        if self.moment.stop.is_set() { Err(Status::took_too_long()) } else { Ok(()) }
    }

    fn not_found(&self) -> Status {
        Status::not_found(self.group_resource(), self.path.name)
    }

    /// Returns the representation that the client wants.
    ///
    /// # Errors
    /// The form is not supported (406), or a parameter is invalid (400).
    fn shown(&self) -> Result<Shown, Status> {
        if !self.request.alternates {
            return self.shown_as_upstream();
        }
        let query = self.request.query;
        options::versions(query, self.kind_of_options())?;
        let versions = self.versions();
        let names: Vec<&str> = versions.iter().map(|served| served.version.as_str()).collect();
        let is_scale = self.path.subresource == "scale";
        let served = self.served;
        let (group, version, kind) = if is_scale {
            ("autoscaling", "v1", "Scale")
        } else {
            (served.group.as_str(), served.version.as_str(), served.kind.as_str())
        };
        let endpoint = Alternates {
            group,
            version,
            kind,
            list_kind: &served.list_kind,
            versions: if is_scale { &[] } else { &names },
            answers: self.verb.answers(),
            scale: served.scale().is_some(),
            protobuf: self.has_protobuf(),
        };
        let chosen = alternate(self.request.accept, &endpoint, self.request.is_pretty());
        let chosen = chosen.ok_or_else(|| Status::not_acceptable(&endpoint.media_types()))?;
        let (exports, exact) = options::export(query)?;
        let exports = chosen.export || exports.unwrap_or_default();
        let other = chosen.version.and_then(|version| versions.iter().find(|other| other.version == version));
        let shown = self.shown_as(chosen, other.unwrap_or(served), options::columns(query)?);
        Ok(Shown { export: exports.then_some(form::Exported { exact }), ..shown })
    }

    fn shown_as_upstream(&self) -> Result<Shown, Status> {
        let endpoint = Endpoint { protobuf: self.has_protobuf(), ..Endpoint::CUSTOM_RESOURCES };
        let endpoint = endpoint.with_cbor(self.request.cbor);
        let chosen = resource(self.request.accept, endpoint, self.request.is_pretty());
        let media = if self.request.cbor { MEDIA_WITH_CBOR } else { MEDIA };
        let chosen = chosen.ok_or_else(|| Status::not_acceptable(media))?;
        Ok(self.shown_as(chosen, self.served, form::ColumnOptions::default()))
    }

    /// Returns the release whose rules the resource has.
    fn release(&self) -> Release {
        self.served.release()
    }

    /// Returns whether the requested objects can be written as protobuf: built-in kinds and their scales, but not
    /// custom resources.
    fn has_protobuf(&self) -> bool {
        let (served, is_scale) = (self.served, self.path.subresource == "scale");
        served.is_built_in() && (is_scale || wire::knows(&served.api_version, &served.kind))
    }

    fn shown_as(&self, chosen: Transformed<'_>, served: &Arc<Served>, columns: form::ColumnOptions) -> Shown {
        Shown {
            served: Arc::clone(served),
            rows: chosen.target.and_then(|target| {
                let is_wide = match target.kind {
                    TargetKind::Table => true,
                    TargetKind::TabularOutput => false,
                    _ => return None,
                };
                Some(Arc::new(form::Rows::new(Arc::clone(served.convertor()), columns.clone(), is_wide)))
            }),
            columns,
            form: chosen.form,
            target: chosen.target.map(|target| (target.kind, target.api_version())),
            include: options::include_object(self.request.query),
            export: None,
            server_version: chosen.server_version.map(str::to_owned),
            parameters: chosen.parameters,
            now: self.moment.now,
        }
    }

    /// Returns the kind of the options in the query.
    fn kind_of_options(&self) -> &'static str {
        match self.verb {
            Verb::Get => "GetOptions",
            Verb::Create => "CreateOptions",
            Verb::Update => "UpdateOptions",
            Verb::Patch => "PatchOptions",
            Verb::Delete | Verb::DeleteCollection => "DeleteOptions",
            Verb::List | Verb::Watch | Verb::Other => "ListOptions",
        }
    }

    /// Returns other versions of the objects: those of a custom resource differ only in `apiVersion`.
    fn versions(&self) -> Vec<Arc<Served>> {
        if !self.request.accept.contains(';') {
            return Vec::new();
        }
        let served = self.served;
        let of_group = self.api.served.range((served.group.clone(), String::new(), String::new())..);
        let of_group = of_group.take_while(|((group, ..), _)| *group == served.group).map(|(_, other)| other);
        of_group.filter(|other| other.id == served.id && other.version != served.version).cloned().collect()
    }
}

/// The media types of objects in error messages.
const MEDIA: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const MEDIA_WITH_CBOR: &str =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor";
