//! The endpoints: a thin layer over a [`Snapshot`].
//!
//! kube-apiserver has four routers, one after another, and half a dozen functions that write responses. Clients rely on
//! the differences between them, so no framework's router is used here: [`route::Route`] parses the path, an endpoint
//! creates the response, and [`Http`] adds the headers of all responses.

#[cfg(test)]
pub(crate) use {held::UNCOUNTED, range::MOST as MOST_RANGES, work::MOST_WAITING};

pub use kubeshape_objects::{accept, target};
pub(crate) mod audit;
mod body;
pub mod conditional;
mod content;
mod controls;
mod discovery;
mod encoding;
mod health;
mod held;
mod openapi;
pub(crate) mod pages;
mod printed;
mod queue;
pub mod range;
mod reply;
mod request;
mod resources;
pub mod route;
mod status;
pub(crate) mod work;

use crate::auth::impersonated;
use crate::features::Features;
use crate::limit::Limits;
use crate::objects::Objects;
use crate::snapshot::{LazyV2, Leaf, Snapshot};
use crate::state::Endpoints;
use crate::worlds::Worlds;
use arc_swap::ArcSwapOption;
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use held::Bodies;
use http::{HeaderValue, Method, Request, StatusCode, header};
use kubeshape_objects::access::{Attributes, Identity};
use openapi::Merged;
use pages::Shown;
use printed::Printed;
use queue::Owner;
use request::{OwnedParts, RequestParts};
use route::Route;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use work::Workshop;

/// Returns all endpoints as a router, to which layers can be added.
///
/// ```
/// use kubeshape_server::{Endpoints, http};
/// # fn with(endpoints: Endpoints) {
/// let router = http::router(endpoints);
/// # }
/// ```
pub fn router(endpoints: Endpoints) -> Router {
    Router::new().fallback_service(Http::new(endpoints))
}

/// All endpoints as a service. It is the content of [`router`], without the cost of a router.
#[derive(Clone, Debug)]
pub struct Http {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    endpoints: Endpoints,
    /// The features of the server, with or without an emulated release.
    features: Features,
    printed: ArcSwapOption<Printed>,
    merged: Arc<Merged>,
    work: Arc<Workshop>,
    bodies: Bodies,
    /// The worlds that clients make; none if they cannot.
    worlds: OnceLock<Arc<Worlds>>,
}

/// A request whose response is computed later.
#[derive(Debug)]
struct Asked {
    parts: OwnedParts,
    snapshot: Arc<Snapshot>,
    printed: Arc<Printed>,
}

impl Asked {
    fn with<T>(&self, answer: impl FnOnce(&RequestParts<'_>, &Snapshot, &Printed) -> T) -> T {
        self.parts.with(|parts| answer(parts, &self.snapshot, &self.printed))
    }
}

/// The parts of a snapshot that are kept after they are computed.
#[derive(Clone, Copy, Debug)]
enum Kept {
    Index,
    Core,
    Groups,
    Root,
}

/// A response, or one that is computed later.
enum Answer {
    Now(Response),
    Later(Pin<Box<dyn Future<Output = Response> + Send>>),
}

impl From<Response> for Answer {
    fn from(response: Response) -> Answer {
        Answer::Now(response)
    }
}

impl Http {
    /// Creates the endpoints with their state.
    pub fn new(endpoints: Endpoints) -> Http {
        Http::with_limits(endpoints, &Limits::default())
    }

    /// Creates the endpoints with their state. Only the limits of body sizes and of work are used.
    pub fn with_limits(endpoints: Endpoints, limits: &Limits) -> Http {
        Http::of(endpoints, Arc::new(Workshop::new(limits.work)), Bodies::new(limits))
    }

    fn of(endpoints: Endpoints, work: Arc<Workshop>, bodies: Bodies) -> Http {
        let newest = Features { aggregated_v2beta1: endpoints.extensions, ..Features::default() };
        let features = endpoints.emulation.map_or(newest, |emulation| emulation.features);
        let (printed, merged) = (ArcSwapOption::empty(), Arc::default());
        let worlds = OnceLock::new();
        Http { shared: Arc::new(Shared { endpoints, features, printed, merged, work, bodies, worlds }) }
    }

    /// Returns other endpoints. Both have their work and the limits of bodies together.
    pub(crate) fn sibling(&self, endpoints: Endpoints) -> Http {
        Http::of(endpoints, Arc::clone(&self.shared.work), self.shared.bodies.clone())
    }

    /// Returns the state of the endpoints.
    pub(crate) fn endpoints(&self) -> &Endpoints {
        &self.shared.endpoints
    }

    /// Lets clients make worlds, with extensions only. Only the first call has an effect.
    pub fn make_worlds(&self, worlds: Arc<Worlds>) {
        let _ = self.shared.worlds.set(worlds);
    }
}

impl Shared {
    /// Answers a request. Its body is not read, because no response depends on it.
    fn answer<B>(&self, request: Request<B>, snapshot: &Arc<Snapshot>, route: &Route<'_>) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let Endpoints { extensions, advertise, metrics, readiness, authenticator, emulation, pages, .. } =
            &self.endpoints;
        let features = self.features;
        let query = request.uri().query().unwrap_or_default();
        let parts = self.parts(&request, query, *extensions);
        let parts = &parts;
        match *route {
            Route::OpenApiV3(_) | Route::OpenApiV3Index if !features.openapi_v3 => reply::page_not_found(parts).into(),
            Route::OpenApiV3(path) => match openapi::leaf(parts, snapshot, path, features.openapi_v3_alpha, &self.work)
            {
                Some(answer) => answer,
                None => match snapshot.v3.get(path) {
                    Some(Leaf::Remote(upstream)) => Answer::Later(upstream.forward(request.map(Body::new))),
                    _ => reply::page_not_found(parts).into(),
                },
            },
            Route::OpenApiV2 => openapi::v2(parts, self.v2(snapshot), &self.merged, &self.work),
            Route::OpenApiV3Index if features.openapi_v3_alpha => {
                let printed = self.printed(snapshot);
                if openapi::alpha_is_made(snapshot, &printed) {
                    return openapi::alpha(parts, snapshot, &printed).into();
                }
                let is_made = |_: &RequestParts<'_>, snapshot: &Snapshot, printed: &Printed| {
                    openapi::alpha_is_made(snapshot, printed)
                };
                self.later(parts, snapshot, Some(Kept::Index), is_made, openapi::alpha)
            }
            Route::OpenApiV3Index if openapi::index_is_made(parts, snapshot) => openapi::index(parts, snapshot).into(),
            Route::OpenApiV3Index => self.later(
                parts,
                snapshot,
                Some(Kept::Index),
                |parts, snapshot, _| openapi::index_is_made(parts, snapshot),
                |parts, snapshot, _| openapi::index(parts, snapshot),
            ),
            Route::Core => {
                let printed = self.printed(snapshot);
                if discovery::is_made(parts, snapshot, &printed, true, features) {
                    return discovery::core(parts, snapshot, &printed, advertise, features).into();
                }
                let advertise = Arc::clone(advertise);
                self.later(
                    parts,
                    snapshot,
                    Some(Kept::Core),
                    move |parts, snapshot, printed| discovery::is_made(parts, snapshot, printed, true, features),
                    move |parts, snapshot, printed| discovery::core(parts, snapshot, printed, &advertise, features),
                )
            }
            Route::CoreVersion(version) => discovery::core_version(parts, snapshot, version).into(),
            Route::BelowCore(_) => status::NOT_FOUND.answer(parts).into(),
            Route::Groups => self.groups(parts, snapshot, false),
            Route::GroupsListed => self.groups(parts, snapshot, true),
            Route::Group(name, slashes) => discovery::group(parts, snapshot, name, slashes).into(),
            Route::GroupVersion(name, version, slashes) if discovery::is_short(snapshot, name, version) => {
                discovery::group_version(parts, snapshot, name, version, slashes).into()
            }
            Route::GroupVersion(name, version, slashes) => {
                let (name, version) = (name.to_owned(), version.to_owned());
                self.later(
                    parts,
                    snapshot,
                    None,
                    |_, _, _| false,
                    move |parts, snapshot, _| discovery::group_version(parts, snapshot, &name, &version, slashes),
                )
            }
            Route::BelowGroup(name, _) => discovery::below_group(parts, snapshot, name).into(),
            Route::Root if pages.is_some() && pages::is_page(parts.method, parts.headers) => {
                pages::redirect(parts, "explorer/").into()
            }
            Route::Explorer(path) => match pages {
                Some(pages) => {
                    let is_known = authenticator.as_ref().is_none_or(|known| known.knows(parts.headers));
                    match path.and_then(Shown::of).filter(|_| is_known && features.openapi_v3 && pages::reads(parts)) {
                        None => pages.answer(parts, path, is_known, features.openapi_v3).into(),
                        Some(shown) => {
                            let pages = Arc::clone(pages);
                            let show = move |parts: &RequestParts<'_>, snapshot: &Snapshot, _: &Printed| {
                                pages.show(parts, snapshot, &shown)
                            };
                            self.later(parts, snapshot, None, |_, _, _| false, show)
                        }
                    }
                }
                None => reply::page_not_found(parts).into(),
            },
            Route::Root => {
                let printed = self.printed(snapshot);
                if printed.has_root() || openapi::has_few_documents(snapshot) {
                    return discovery::root(parts, snapshot, &printed).into();
                }
                self.later(parts, snapshot, Some(Kept::Root), |_, _, printed| printed.has_root(), discovery::root)
            }
            Route::Version => {
                let version = emulation.map(|emulation| emulation.version(&snapshot.version));
                discovery::version(parts, version.as_ref().unwrap_or(&snapshot.version)).into()
            }
            Route::Health(kind, check) => {
                let detail = authenticator.as_ref().is_none_or(|known| known.knows(parts.headers));
                match check {
                    None => health::all(parts, kind, readiness, detail).into(),
                    Some(check) => health::one(parts, kind, check, readiness, detail).into(),
                }
            }
            Route::Metrics => {
                let made = reply::made(parts, StatusCode::OK, metrics.encode().into());
                let made = made.map(|mut response| {
                    response.headers_mut().insert(header::CONTENT_TYPE, METRICS);
                    response
                });
                made.unwrap_or_else(|refused| refused).into()
            }
            Route::Unknown(_) => reply::page_not_found(parts).into(),
        }
    }

    fn parts<'r, B>(&'r self, request: &'r Request<B>, query: &'r str, extensions: bool) -> RequestParts<'r> {
        RequestParts {
            method: request.method(),
            headers: request.headers(),
            query,
            extensions,
            caller: request.extensions().get(),
            identity: request.extensions().get(),
            bodies: &self.bodies,
        }
    }

    fn forms(&self) -> resources::Forms {
        resources::Forms {
            alternates: self.endpoints.extensions,
            cbor: self.features.cbor,
            compressed_watch_lists: self.features.compressed_watch_lists,
        }
    }

    /// Checks that the user of a request may make it. A request on behalf of another user gets that user.
    ///
    /// # Errors
    /// The response to a request that is not permitted.
    fn permit<B>(&self, objects: &Objects, request: &mut Request<B>, path: &str) -> Result<(), Box<Response>> {
        let Some(identity) = request.extensions().get::<Arc<Identity>>().cloned() else { return Ok(()) };
        let (api, store) = (objects.api(), objects.store());
        let query = request.uri().query().unwrap_or_default();
        let wanted = Attributes::of(request.method().as_str(), path, query);
        let permitted = impersonated(&identity, request.headers(), &wanted, &api, &store)
            .and_then(|other| api.authorize(&store, other.as_deref().unwrap_or(&identity), wanted).map(|()| other));
        match permitted {
            Ok(other) => {
                if let Some(other) = other {
                    request.extensions_mut().insert(other);
                }
                Ok(())
            }
            Err(status) => {
                let parts = self.parts(request, query, self.endpoints.extensions);
                Err(Box::new(resources::denied(&parts, path, &status, self.forms())))
            }
        }
    }

    /// Answers a request for objects.
    fn resource<B>(&self, objects: &Arc<Objects>, request: Request<B>, path: &str) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let query = request.uri().query().unwrap_or_default();
        let parts = self.parts(&request, query, self.endpoints.extensions);
        let forms = self.forms();
        if let Some(response) = resources::quick(objects, path, &parts, forms) {
            return response.into();
        }
        let parts = OwnedParts::of(&parts);
        let shared = resources::Shared {
            objects: Arc::clone(objects),
            work: Arc::clone(&self.work),
            bodies: self.bodies.clone(),
            metrics: Arc::clone(&self.endpoints.metrics),
        };
        Answer::Later(resources::answer(shared, request, path, parts, forms))
    }

    /// Returns the v2 document that is served.
    fn v2<'s>(&'s self, snapshot: &'s Snapshot) -> &'s Arc<LazyV2> {
        let without = self.endpoints.v2_without_custom_resources.as_ref();
        without.filter(|_| !self.features.custom_resources_in_v2).unwrap_or(&snapshot.v2)
    }

    fn groups(&self, parts: &RequestParts<'_>, snapshot: &Arc<Snapshot>, listed: bool) -> Answer {
        let printed = self.printed(snapshot);
        if discovery::is_made(parts, snapshot, &printed, false, self.features) {
            return discovery::groups(parts, snapshot, &printed, listed, self.features).into();
        }
        let features = self.features;
        self.later(
            parts,
            snapshot,
            Some(Kept::Groups),
            move |parts, snapshot, printed| discovery::is_made(parts, snapshot, printed, false, features),
            move |parts, snapshot, printed| discovery::groups(parts, snapshot, printed, listed, features),
        )
    }

    /// Computes a slow response on another thread. If its content is `kept`, it is computed once for all waiting
    /// requests.
    fn later(
        &self,
        parts: &RequestParts<'_>,
        snapshot: &Arc<Snapshot>,
        kept: Option<Kept>,
        is_made: impl Fn(&RequestParts<'_>, &Snapshot, &Printed) -> bool + Send + 'static,
        answer: impl Fn(&RequestParts<'_>, &Snapshot, &Printed) -> Response + Send + Sync + 'static,
    ) -> Answer {
        let asked =
            Asked { parts: OwnedParts::of(parts), snapshot: Arc::clone(snapshot), printed: self.printed(snapshot) };
        let (asked, answer, work) = (Arc::new(asked), Arc::new(answer), Arc::clone(&self.work));
        Answer::Later(Box::pin(async move {
            if let Some(kept) = kept {
                let (own, make) = (Arc::clone(&asked), Arc::clone(&answer));
                let make = move || {
                    own.with(&*make);
                    own
                };
                if let Err(error) = work.share((Arc::as_ptr(&asked.snapshot).addr(), kept as u8), make).await {
                    return asked.with(|parts, _, _| openapi::interrupted(parts, &error));
                }
                // The waiting requests may need another form.
                if asked.with(is_made) {
                    return asked.with(&*answer);
                }
            }
            let (own, owner) = (Arc::clone(&asked), Owner::Client(asked.parts.caller()));
            let answer = work.run(owner, move |_| own.with(&*answer)).await;
            answer.map_or_else(|error| asked.with(|parts, _, _| openapi::interrupted(parts, &error)), |done| done.made)
        }))
    }

    /// Returns the printed forms of a snapshot.
    fn printed(&self, snapshot: &Snapshot) -> Arc<Printed> {
        if let Some(printed) = self.printed.load_full().filter(|printed| printed.is_of(snapshot)) {
            return printed;
        }
        let printed = Arc::new(Printed::new(snapshot, self.features.openapi_v3));
        self.printed.store(Some(Arc::clone(&printed)));
        printed
    }
}

const METRICS: HeaderValue = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache, private");

impl<B> tower::Service<Request<B>> for Http
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> ResponseFuture {
        let shared = &self.shared;
        let began = Instant::now();
        let audit = audit::id(request.headers());
        let method = request.method().clone();
        let uri = request.uri().clone();
        let (answer, endpoint) = if let Some(path) = target::decoded(uri.path()) {
            let route = Route::of(&path);
            if let Some(objects) = &shared.endpoints.objects
                && let Err(response) = shared.permit(objects, &mut request, &pages::shown_path(&path))
            {
                let shared = Arc::clone(shared);
                let record = Record { shared, began, audit, method, uri: uri.clone(), endpoint: "forbidden" };
                return ResponseFuture(Waiting::Done(Some(record.finish(*response))));
            }
            let objects = shared.endpoints.objects.as_ref().filter(|objects| objects.may_serve(&path));
            if let Some(objects) = objects {
                let record =
                    Record { shared: Arc::clone(shared), began, audit, method, uri: uri.clone(), endpoint: "resource" };
                let answer = shared.resource(objects, request, &path);
                return match answer {
                    Answer::Now(response) => ResponseFuture(Waiting::Done(Some(record.finish(response)))),
                    Answer::Later(answer) => ResponseFuture(Waiting::Later(answer, Some(record))),
                };
            }
            let control = controls::Control::of(&path).filter(|_| shared.endpoints.extensions);
            if let (Some(control), Some(objects)) = (control, &shared.endpoints.objects) {
                let query = uri.query().unwrap_or_default();
                let parts = OwnedParts::of(&shared.parts(&request, query, true));
                let of = controls::Controlled {
                    objects: Arc::clone(objects),
                    worlds: shared.worlds.get().cloned(),
                    bodies: shared.bodies.clone(),
                };
                let answer = controls::answer(control, of, request, parts);
                let shared = Arc::clone(shared);
                let record = Record { shared, began, audit, method, uri: uri.clone(), endpoint: "control" };
                return ResponseFuture(Waiting::Later(Box::pin(answer), Some(record)));
            }
            // Who has created a definition finds it there.
            let waits =
                shared.endpoints.objects.as_ref().filter(|objects| objects.is_publishing() && route.is_published());
            let answer = if let Some(objects) = waits {
                let (objects, shared, path) = (Arc::clone(objects), Arc::clone(shared), path.clone().into_owned());
                Answer::Later(Box::pin(async move {
                    objects.publishing().await;
                    let snapshot = shared.endpoints.live.current();
                    let answer = shared.answer(request, &snapshot, &Route::of(&path));
                    match answer {
                        Answer::Now(response) => response,
                        Answer::Later(answer) => answer.await,
                    }
                }))
            } else {
                shared.answer(request, &shared.endpoints.live.current(), &route)
            };
            (answer, route.endpoint())
        } else {
            // Go's server passes such a target to no handler.
            let parts = shared.parts(&request, "", true);
            (reply::text(&parts, StatusCode::BAD_REQUEST, "400 Bad Request").into(), "unknown")
        };
        let record = Record { shared: Arc::clone(shared), began, audit, method, uri, endpoint };
        match answer {
            Answer::Now(response) => ResponseFuture(Waiting::Done(Some(record.finish(response)))),
            Answer::Later(answer) => ResponseFuture(Waiting::Later(answer, Some(record))),
        }
    }
}

/// The data about a request for the log and the metrics.
#[derive(Debug)]
struct Record {
    shared: Arc<Shared>,
    began: Instant,
    audit: HeaderValue,
    method: Method,
    uri: http::Uri,
    endpoint: &'static str,
}

impl Record {
    /// Adds the headers that all responses have, and counts the request.
    fn finish(self, mut response: Response) -> Response {
        let Record { shared, began, audit, method, uri, endpoint } = self;
        let time: Duration = began.elapsed();
        let code = response.status().as_u16();
        shared.endpoints.metrics.request(endpoint, method.as_str(), code, time);
        tracing::debug!(
            audit_id = audit.to_str().unwrap_or_default(),
            endpoint,
            %method,
            path = uri.path(),
            code,
            micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
            "answered"
        );
        let headers = response.headers_mut();
        if !headers.contains_key(header::CACHE_CONTROL) {
            headers.insert(header::CACHE_CONTROL, NO_CACHE);
        }
        headers.insert(audit::AUDIT_ID, audit);
        response
    }
}

/// The future of a response.
pub struct ResponseFuture(Waiting);

enum Waiting {
    Done(Option<Response>),
    Later(Pin<Box<dyn Future<Output = Response> + Send>>, Option<Record>),
}

impl std::fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.0 {
            Waiting::Done(_) => "ResponseFuture::Done",
            Waiting::Later(..) => "ResponseFuture::Later",
        })
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let response = match &mut self.0 {
            Waiting::Done(response) => response.take(),
            Waiting::Later(answer, record) => match answer.as_mut().poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(response) => record.take().map(|record| record.finish(response)),
            },
        };
        // A future is not polled again after it was ready.
        response.map_or(Poll::Pending, |response| Poll::Ready(Ok(response)))
    }
}
