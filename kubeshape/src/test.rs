//! An API server in the process, for tests of programs that use one: controllers, operators, clients.
//!
//! Requires the feature `test`.

use bytes::Bytes;
use kubeshape_builtin::BuiltInDocuments;
use kubeshape_input::{Code, Finding};
use kubeshape_objects::store::Store as Stored;
use kubeshape_objects::{Api, Documents};
use kubeshape_registry::Object;
use kubeshape_server::http::Http;
use kubeshape_server::{
    BaseDocuments, Clock, Definition, Endpoints, Live, Metrics, Objects, Readiness, Store, StoreOptions,
};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use crate::Findings;

/// The initial group versions of a server: CustomResourceDefinitions, and the other kinds that most tests need.
const GROUP_VERSIONS: [&str; 2] = ["api/v1", "apis/apiextensions.k8s.io/v1"];

/// An API server without a socket, etcd and other programs.
///
/// It serves CustomResourceDefinitions, custom resources and the core group (namespaces, ConfigMaps, Secrets and
/// others) as kube-apiserver does, with discovery, OpenAPI and watches, from memory. What it is not is said in the
/// guide of `kubeshape serve`: there are no controllers, and the rules for built-in kinds that exist as Go code alone
/// do not hold.
///
/// A client gets its [`service`](Self::service), a `tower::Service` of `http::Request`s. For kube-rs that is
/// `kube::Client::new(server.service(), "default")`. It needs a running tokio runtime, because watches wait for
/// changes.
///
/// A clone is another handle to the same server. It goes with the last handle and the last service.
///
/// # Example: a definition and an object
/// ```
/// use kubeshape::test::Server;
///
/// let server = Server::new();
/// server.load("tabs.yaml", "
/// apiVersion: apiextensions.k8s.io/v1
/// kind: CustomResourceDefinition
/// metadata: {name: tabs.example.com}
/// spec:
///   group: example.com
///   scope: Namespaced
///   names: {plural: tabs, kind: Tab}
///   versions:
///   - name: v1
///     served: true
///     storage: true
///     schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer, default: 1}}}}
/// ---
/// apiVersion: example.com/v1
/// kind: Tab
/// metadata: {name: a, namespace: default}
/// ")?;
///
/// let request = http::Request::get("/apis/example.com/v1/namespaces/default/tabs/a").body(http_body_util::Empty::new())?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// let response = runtime.block_on(tower::ServiceExt::oneshot(server.service(), request))?;
/// let body = runtime.block_on(http_body_util::BodyExt::collect(response.into_body()))?.to_bytes();
/// assert!(std::str::from_utf8(&body)?.contains(r#""size":1"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Server {
    inner: Arc<Inner>,
}

/// What a [`Server`] is started with.
///
/// # Example: objects in all forms of the proposal "Alternate representations of API resources"
/// ```
/// let server = kubeshape::test::Server::builder().extensions(true).start();
/// server.load("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}")?;
/// let request = http::Request::get("/api/v1/configmaps").header("Accept", "text/csv");
/// let request = request.body(http_body_util::Empty::new())?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// let response = runtime.block_on(tower::ServiceExt::oneshot(server.service(), request))?;
/// assert_eq!(response.status(), 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Builder {
    extensions: bool,
}

impl Builder {
    /// Sets whether the server has features that kube-apiserver lacks: those of `kubeshape serve --extensions on`. Off
    /// by default, because a test that passes here must pass on a cluster.
    #[must_use]
    pub fn extensions(self, on: bool) -> Builder {
        Builder { extensions: on }
    }

    /// Starts a server without objects.
    #[must_use]
    pub fn start(self) -> Server {
        Server::with(self)
    }
}

struct Inner {
    http: Http,
    objects: Arc<Objects>,
    /// The time that was set; `None` is the system time.
    time: Arc<Mutex<Option<SystemTime>>>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("objects", &self.objects).finish_non_exhaustive()
    }
}

impl Default for Server {
    fn default() -> Server {
        Server::new()
    }
}

impl Server {
    /// Starts a server without objects that behaves exactly like kube-apiserver. [`Server::builder`] has settings.
    pub fn new() -> Server {
        Server::builder().start()
    }

    /// Returns the settings of a server.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn with(settings: Builder) -> Server {
        let Start { published, documents } = Start::of(settings);
        let time = Arc::new(Mutex::new(None));
        let clock: Clock = {
            let time = Arc::clone(&time);
            Arc::new(move || {
                let set: Option<SystemTime> = *time.lock().unwrap_or_else(PoisonError::into_inner);
                set.unwrap_or_else(SystemTime::now)
            })
        };
        let live = Arc::new(Live::new(published.snapshot()));
        let api = Api::default().with_documents(documents);
        let objects = Arc::new(Objects::new(api, Stored::default()).with_clock(Arc::clone(&clock)));
        let (published, snapshots, stored) = (Mutex::new(published), Arc::clone(&live), Arc::downgrade(&objects));
        objects.on_definitions(move |names| {
            let Some(objects) = stored.upgrade() else { return };
            let definition = |name: &Arc<str>| objects.definition(name).map_or(Definition::Gone, Definition::Given);
            let definitions = names.into_iter().map(|name| (Arc::clone(&name), definition(&name))).collect();
            let mut published = published.lock().unwrap_or_else(PoisonError::into_inner);
            published.define(definitions, clock());
            snapshots.swap(published.snapshot());
        });
        let http = Http::new(Endpoints {
            live,
            extensions: settings.extensions,
            advertise: "localhost".into(),
            metrics: Arc::new(Metrics::default()),
            readiness: Arc::new(Readiness::default()),
            authenticator: None,
            emulation: None,
            v2_without_custom_resources: None,
            objects: Some(Arc::clone(&objects)),
            pages: None,
        });
        Server { inner: Arc::new(Inner { http, objects, time }) }
    }

    /// Adds CustomResourceDefinitions and objects, in YAML or JSON, as they are: with their status, uids and times.
    /// Definitions are established and served when this returns. `name` is used in errors.
    ///
    /// # Errors
    /// The input cannot be read, or a server would refuse something in it. The rest is added.
    pub fn load(&self, name: &str, text: impl AsRef<[u8]>) -> Result<(), Findings> {
        let (objects, mut findings) = Object::read_all(name, text);
        for (at, status) in self.inner.objects.load(&objects, self.now()) {
            let location = objects.get(at).and_then(Object::location);
            let anywhere = || Finding::new(Code::ObjectRefused, status.message.clone());
            findings.push(location.map_or_else(anywhere, |at| at.finding(Code::ObjectRefused, status.message.clone())));
        }
        findings.retain(Finding::is_error);
        if findings.is_empty() { Ok(()) } else { Err(Findings(findings)) }
    }

    /// Returns the service that answers requests: a `tower::Service` for clients.
    pub fn service(&self) -> Http {
        self.inner.http.clone()
    }

    /// Sets the time that the server uses from now on, for creation and deletion, managed fields and ages. By default,
    /// it is the system time.
    pub fn set_time(&self, time: SystemTime) {
        *self.inner.time.lock().unwrap_or_else(PoisonError::into_inner) = Some(time);
    }

    /// Lets the next change have the revision after this one. Revisions never go back: an earlier one is ignored.
    pub fn advance_revision(&self, revision: u64) {
        self.inner.objects.advance(revision);
    }

    fn now(&self) -> SystemTime {
        self.inner.time.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(SystemTime::now)
    }
}

/// The initial state of all servers. It is computed once in a process, because it takes most of the start time of a
/// server.
#[derive(Clone, Debug)]
struct Start {
    published: Store,
    documents: Documents,
}

impl Start {
    fn of(settings: Builder) -> Start {
        static PLAIN: OnceLock<Start> = OnceLock::new();
        static EXTENDED: OnceLock<Start> = OnceLock::new();
        let made = if settings.extensions { &EXTENDED } else { &PLAIN };
        made.get_or_init(|| Start::new(settings)).clone()
    }

    fn new(settings: Builder) -> Start {
        let release = BuiltInDocuments::newest().api();
        let texts = release.openapi_v3_of(|path| GROUP_VERSIONS.contains(&path));
        let texts: Vec<(&str, Bytes)> = texts.into_iter().map(|(path, text)| (path, Bytes::from(text))).collect();
        let named = texts.iter().map(|(path, text)| (format!("{}.json", path.replace('/', "__")).into(), text.clone()));
        let base = BaseDocuments { documents: named.collect(), ..BaseDocuments::default() };
        let options = StoreOptions { generic_kinds: settings.extensions, ..StoreOptions::default() };
        let now = SystemTime::now();
        // The documents are part of this program; a test builds a server from them.
        let published = Store::new(base, options, now)
            .or_else(|_| Store::new(BaseDocuments::default(), options, now))
            .unwrap_or_else(|error| unreachable!("a store without documents: {error}"));
        Start { published, documents: Documents::new(texts) }
    }
}
