//! Requests about objects, and what a server answers.

mod advice;
mod convert;
mod definitions;
mod delete;
mod documents;
mod load;
mod read;
mod reply;
mod scale;
mod served;
mod strategy;
mod watch;
mod write;

use crate::accept::{Endpoint, Form, TargetKind, Transformed, resource};
use crate::path::ResourcePath;
use crate::status::{GroupResource, Status};
use crate::store::{Change, Outdated, Store};
use crate::target::parameter;
use crate::{form, options};
use bytes::Bytes;
use imbl::OrdMap;
use kubeshape_registry::Registry;
use kubeshape_show::table::Convertor;
use kubeshape_smd::managed::Time;
use reply::Shown;
use served::Served;
use std::sync::Arc;
use strategy::Strategy;

pub use advice::Advisor;
pub use definitions::{DEFINITIONS, Settled};
pub use documents::Documents;
pub use watch::{Watch, WatchEnd};

/// The largest body of a request in bytes (upstream: `MaxRequestBodyBytes`).
pub const MAX_BODY: usize = 3 << 20;

/// A request, as a client sent it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: &'r str,
    /// The path, percent-decoded.
    pub path: &'r str,
    /// What stands behind the `?`, as it was sent.
    pub query: &'r str,
    /// `Accept`
    pub accept: &'r str,
    /// `Content-Type`
    pub content_type: &'r str,
    /// `User-Agent`
    pub user_agent: &'r str,
    /// The body.
    pub body: &'r [u8],
}

impl Default for Request<'_> {
    fn default() -> Self {
        Request { method: "GET", path: "/", query: "", accept: "", content_type: "", user_agent: "", body: b"" }
    }
}

impl Request<'_> {
    /// Whether JSON is indented for the reader: because of `?pretty`, or for programs that show answers to people
    /// (upstream: `isPrettyPrint`).
    fn is_pretty(&self) -> bool {
        if let Some(pretty) = parameter(self.query, "pretty").filter(|value| !value.is_empty()) {
            return matches!(&*pretty, "1" | "t" | "T" | "true" | "TRUE" | "True");
        }
        ["curl", "Wget", "Mozilla/5.0"].iter().any(|program| self.user_agent.starts_with(program))
    }
}

/// What a request takes from the outside.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'m> {
    /// The time.
    pub now: Time,
    /// The uid of an object that is created. It must be new.
    pub uid: &'m str,
    /// A random number, for `metadata.generateName`.
    pub random: u64,
}

impl Default for Moment<'_> {
    fn default() -> Self {
        Moment { now: Time(0), uid: "00000000-0000-0000-0000-000000000000", random: 0 }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The code of the response.
    pub code: u16,
    /// How the body is written.
    pub form: Form,
    /// The body.
    pub body: Bytes,
    /// What clients are warned of: texts of `Warning` headers.
    pub warnings: Vec<String>,
}

impl Reply {
    /// The body as a text; empty if it is none.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_default()
    }
}

/// What becomes of a request.
#[derive(Debug)]
pub enum Outcome {
    /// It is answered.
    Reply(Reply),
    /// It changes objects: [`Api::commit`] makes the changes and answers it.
    Write(Write),
    /// It watches objects.
    Watch(Box<Watch>),
}

/// Changes that a request makes.
#[derive(Debug)]
pub struct Write {
    changes: Vec<Change>,
    then: Then,
    shown: Shown,
    warnings: Vec<String>,
}

/// What a request that changes objects is answered with.
#[derive(Debug)]
enum Then {
    /// The changed object, with this code.
    Object(u16),
    /// The replicas of the changed object.
    Scale,
    /// That it is done.
    Done(Box<Status>),
    /// This list.
    List(Bytes),
}

/// The resources that are served, and what a server answers to requests about their objects.
#[derive(Clone, Debug, Default)]
pub struct Api {
    registry: Registry,
    /// By group, version and plural.
    served: OrdMap<(String, String, String), Arc<Served>>,
    /// The built-in resources.
    documents: Documents,
    /// The stored definitions that make the registry, by name.
    definitions: definitions::Known,
    /// What else clients are warned of.
    advisor: Option<Arc<dyn Advisor>>,
}

impl Api {
    /// The custom resources that a registry's definitions serve.
    pub fn new(registry: Registry) -> Api {
        let served = registry.kinds().filter_map(|kind| {
            let is_first = registry.kind(kind.gvk()).is_some_and(|first| std::ptr::eq(first, kind));
            let served = if is_first { Served::of(kind, &registry)? } else { return None };
            let key = (served.group.clone(), served.version.clone(), served.plural.to_string());
            Some((key, Arc::new(served)))
        });
        let served = served.collect();
        Api { registry, served, ..Api::default() }
    }

    /// The same, and built-in resources beside the custom ones. With CustomResourceDefinitions among them, clients can change
    /// what is served: see [`settle`](Self::settle).
    #[must_use]
    pub fn with_documents(self, documents: Documents) -> Api {
        Api { documents, ..self }
    }

    /// What is known of the kinds.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Whether a decoded path is one of a resource that is served.
    pub fn serves(&self, path: &str) -> bool {
        ResourcePath::of(path).is_some_and(|path| self.find(&path).is_some())
    }

    /// As [`serves`](Self::serves), but it takes no time: of a built-in group version whose document is not read yet, it is
    /// true for all resources.
    pub fn may_serve(&self, path: &str) -> bool {
        let Some(path) = ResourcePath::of(path) else { return false };
        let key = (path.group.to_owned(), path.version.to_owned(), path.resource.to_owned());
        self.served.contains_key(&key) || self.documents.may_have(path.group, path.version, path.resource)
    }

    /// The path of the objects of a kind, in a namespace if they live in one. `None` if no resource of the kind is served.
    pub fn path_of(&self, api_version: &str, kind: &str, namespace: &str) -> Option<String> {
        let served = self.of_kind(api_version, kind)?;
        let root = if served.group.is_empty() { "api" } else { "apis" };
        let namespace = if served.namespaced { format!("/namespaces/{namespace}") } else { String::new() };
        Some(format!("/{root}/{api_version}{namespace}/{}", served.plural))
    }

    /// The size of the object at a decoded path in bytes; `None` if the path names none that is stored, or if its document is
    /// not read yet.
    pub fn size_of(&self, store: &Store, path: &str) -> Option<usize> {
        let path = ResourcePath::of(path).filter(|path| !path.watch && !path.name.is_empty())?;
        let key = (path.group.to_owned(), path.version.to_owned(), path.resource.to_owned());
        if !self.served.contains_key(&key) && !self.documents.has(path.group, path.version, path.resource) {
            return None;
        }
        let served = self.find(&path)?;
        let key = crate::store::Key::new(&served.id, path.namespace, path.name);
        Some(store.get(&key)?.json().len())
    }

    fn find(&self, path: &ResourcePath<'_>) -> Option<&Arc<Served>> {
        let key = (path.group.to_owned(), path.version.to_owned(), path.resource.to_owned());
        self.served.get(&key).or_else(|| self.documents.find(path.group, path.version, path.resource))
    }

    /// The resource of a kind.
    fn of_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Served>> {
        let mut all = self.served.values();
        let custom = all.find(|served| served.api_version == api_version && served.kind == kind);
        custom.or_else(|| self.documents.of_kind(api_version, kind))
    }

    /// Answers a request, and changes the store if it says so. A watch is answered with what it has to tell now. `None` if no
    /// resource is served at the path.
    pub fn answer(&self, store: &mut Store, request: &Request<'_>, moment: &Moment<'_>) -> Option<Reply> {
        match self.prepare(store, request, moment)? {
            Outcome::Reply(reply) => Some(reply),
            // Nobody else changes the store.
            Outcome::Write(write) => self.commit(store, &write).ok(),
            Outcome::Watch(mut watch) => {
                let body = watch.next(store, moment.now).map_or_else(|end| end.last, Some).unwrap_or_default();
                Some(Reply { code: 200, form: watch.form(), body: body.into(), warnings: watch.warnings().to_vec() })
            }
        }
    }

    /// What becomes of a request. Nothing changes yet. `None` if no resource is served at the path.
    pub fn prepare(&self, store: &Store, request: &Request<'_>, moment: &Moment<'_>) -> Option<Outcome> {
        let path = ResourcePath::of(request.path)?;
        let served = self.find(&path)?;
        let strategy = served.strategy()?;
        let call = Call { api: self, served, strategy: &strategy, path, request, moment, store };
        let verb = call.verb()?;
        Some(call.run(verb).unwrap_or_else(|status| Outcome::Reply(refusal(&status, request))))
    }

    /// Makes the changes of a request, and answers it.
    ///
    /// # Errors
    /// An object changed since the request was prepared: prepare it again.
    pub fn commit(&self, store: &mut Store, write: &Write) -> Result<Reply, Outdated> {
        let stored = store.commit(&write.changes)?;
        let of_first = |make: &dyn Fn(&[u8]) -> Result<Reply, Status>| {
            let text = stored.first().map(|stored| stored.json()).unwrap_or_default();
            make(&text).unwrap_or_else(|status| reply::status(&status, write.shown.form))
        };
        let reply = match &write.then {
            Then::Object(code) => of_first(&|text| write.shown.object(*code, text)),
            Then::Scale => of_first(&|text| scale::reply(&write.shown, text)),
            Then::Done(status) => reply::status(status, write.shown.form),
            Then::List(list) => Reply {
                code: 200,
                form: write.shown.form,
                body: form::encode(list.to_vec(), write.shown.form).into(),
                warnings: Vec::new(),
            },
        };
        Ok(Reply { warnings: write.warnings.clone(), ..reply })
    }
}

/// The answer to a request that is refused: in a form that the client accepts, else in indented JSON (upstream:
/// `responsewriters.ErrorNegotiated`).
fn refusal(status: &Status, request: &Request<'_>) -> Reply {
    let chosen = resource(request.accept, Endpoint::ERRORS, request.is_pretty());
    reply::status(status, chosen.map_or(Form::Indented, |chosen| chosen.form))
}

/// What a request wants.
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
}

/// A request and what it is about.
#[derive(Clone, Copy)]
struct Call<'c> {
    api: &'c Api,
    served: &'c Arc<Served>,
    strategy: &'c Strategy,
    path: ResourcePath<'c>,
    request: &'c Request<'c>,
    moment: &'c Moment<'c>,
    store: &'c Store,
}

impl Call<'_> {
    /// What the request wants. `None` if there is no such path: objects of namespaces are reached through their namespace, and
    /// only through it, except to read or delete many.
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

    fn run(&self, verb: Verb) -> Result<Outcome, Status> {
        let not_supported = || Err(Status::method_not_supported(self.group_resource(), verb.name()));
        let has_name = !self.path.name.is_empty();
        if verb == Verb::Create && self.api.definitions.terminating.contains(&self.served.id) {
            let message = "create not allowed while custom resource definition is terminating".to_owned();
            return Err(Status { message, ..Status::method_not_supported(self.group_resource(), verb.name()) });
        }
        match (self.path.subresource, verb) {
            ("status", _) if !self.served.has_status() => Err(self.not_found()),
            ("scale", _) if self.served.scale().is_none() => Err(self.not_found()),
            ("" | "status", Verb::Get) => self.get(),
            ("" | "status", Verb::Update) if has_name => self.update(),
            ("" | "status", Verb::Patch) if has_name => self.patch(),
            ("scale", Verb::Get) => self.get_scale(),
            ("scale", Verb::Update | Verb::Patch) => self.write_scale(verb == Verb::Patch),
            ("", Verb::List) => self.list(),
            ("", Verb::Watch) => self.watch(),
            ("", Verb::Create) if !has_name => self.create(),
            ("", Verb::Delete) => self.delete(),
            ("", Verb::DeleteCollection) => self.delete_collection(),
            ("" | "status" | "scale", _) => not_supported(),
            // What it does exists as Go code alone.
            (other, _) if self.served.has_subresource(other) => not_supported(),
            _ => Err(self.not_found()),
        }
    }

    fn not_found(&self) -> Status {
        Status::not_found(self.group_resource(), self.path.name)
    }

    /// How the client wants objects.
    fn shown(&self) -> Result<Shown, Status> {
        let endpoint = Endpoint::CUSTOM_RESOURCES;
        let Some(chosen) = resource(self.request.accept, endpoint, self.request.is_pretty()) else {
            return Err(Status::not_acceptable(MEDIA));
        };
        let Transformed { form, target } = chosen;
        let is_table = target.is_some_and(|target| target.kind == TargetKind::Table);
        Ok(Shown {
            served: Arc::clone(self.served),
            convertor: if is_table { self.served.convertor() } else { Convertor::names() },
            form,
            target: target.map(|target| (target.kind, target.version.to_owned())),
            include: options::include_object(self.request.query),
            now: self.moment.now,
        })
    }
}

const MEDIA: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
