//! Objects over HTTP: a thin layer over `kubeshape-objects`.

use super::encoding::WORTH_COMPRESSING;
use super::held::{self, Bodies, Content, Missing, Reserved};
use super::queue::Owner;
use super::reply;
use super::request::{OwnedParts, RequestParts};
use super::work::{LARGE, NotDone, Workshop};
use crate::body::{gzip_events, gzip_once};
use crate::limit::Caller;
use crate::metrics::Metrics;
use crate::objects::{Answered, Objects};
use crate::rope::Rope;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use kubeshape_objects::accept::Form;
use kubeshape_objects::access::Identity;
use kubeshape_objects::{Api, MAX_BODY, Moment, Reply, Request as Asked, Status, Stop, Watch, WatchEnd};
use kubeshape_yaml::go::warning;
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep_until};

/// The maximum duration of a watch. The client then continues from the revision that it knows.
const LONGEST_WATCH: Duration = Duration::from_secs(580);
/// The interval of bookmarks, for a client that wants them.
const BOOKMARK: Duration = Duration::from_mins(1);

/// The seconds after which a client may retry when there was no room.
const RETRY_AFTER: u16 = 1;

type Later = Pin<Box<dyn Future<Output = Response> + Send>>;

/// The parts of a request that the response needs.
struct Parts {
    method: Method,
    path: String,
    query: String,
    accept: String,
    content_type: String,
    user_agent: String,
    identity: Option<Arc<Identity>>,
    forms: Forms,
}

/// The forms of objects in responses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forms {
    /// All forms of the proposal.
    pub(super) alternates: bool,
    /// CBOR, if the gate is on.
    pub(super) cbor: bool,
    /// Watches that take the place of a list in gzip.
    pub(super) compressed_watch_lists: bool,
}

impl Parts {
    fn of(method: &Method, path: &str, whole: &RequestParts<'_>, forms: Forms) -> Parts {
        let text = |name: header::HeaderName| String::from_utf8_lossy(whole.header(name)).into_owned();
        Parts {
            method: method.clone(),
            path: path.to_owned(),
            query: whole.query.to_owned(),
            accept: whole.accept().into_owned(),
            content_type: text(header::CONTENT_TYPE),
            user_agent: text(header::USER_AGENT),
            identity: whole.identity.cloned(),
            forms,
        }
    }

    fn asked<'r>(&'r self, body: &'r [u8]) -> Asked<'r> {
        Asked {
            method: self.method.as_str(),
            path: &self.path,
            query: &self.query,
            accept: &self.accept,
            content_type: &self.content_type,
            user_agent: &self.user_agent,
            body,
            alternates: self.forms.alternates,
            cbor: self.forms.cbor,
            identity: self.identity.as_deref(),
        }
    }
}

/// The data that all requests for objects share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) objects: Arc<Objects>,
    pub(super) work: Arc<Workshop>,
    pub(super) bodies: Bodies,
    pub(super) metrics: Arc<Metrics>,
}

/// The result of another thread.
enum Made {
    /// The reply, its compressed body, and the room for it.
    Reply(Reply, Option<Bytes>, Option<Reserved>),
    /// A watch, its first events, and how events are sent.
    Watch(Box<Watch>, Result<Vec<u8>, Option<Vec<u8>>>, Sending),
    Nothing,
    /// There is no room for it.
    Full,
}

/// Answers a request for objects at a decoded path.
pub(super) fn answer<B>(shared: Shared, request: Request<B>, path: &str, whole: OwnedParts, forms: Forms) -> Later
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let (head, body) = request.into_parts();
    let parts = whole.with(|whole| Parts::of(&head.method, path, whole, forms));
    #[allow(clippy::redundant_closure_for_method_calls)] // The method is not general enough for the compiler.
    let compresses = whole.with(|whole| whole.gzip_object());
    let (caller, is_head) = (whole.caller(), head.method == Method::HEAD);
    Box::pin(async move {
        let Shared { objects, work, bodies, .. } = &shared;
        let (body, share) = match held::receive(body, MAX_BODY, caller.clone(), bodies).await {
            Ok(received) => received,
            Err(Missing::Unusable) => return whole.with(|parts| refused(parts, &Status::too_large(MAX_BODY))),
            Err(Missing::Full) => return shared.full(&whole),
        };
        let make = {
            let (objects, bodies, caller) = (Arc::clone(objects), bodies.clone(), caller.clone());
            move |stop: &AtomicBool| {
                let id = uuid::Uuid::new_v4();
                let (now, stop) = (objects.now(), Stop::when(stop));
                let moment = Moment { now, uid: &id.to_string(), random: id.as_u64_pair().1, stop };
                let size =
                    if parts.method == Method::GET { objects.size_of_list(&parts.path, &parts.query) } else { 0 };
                let Ok(reserved) = (size > 0).then(|| bodies.reserve(caller, size)).transpose() else {
                    return Made::Full;
                };
                let made = match objects.answer(&parts.asked(&body), &moment) {
                    Some(Answered::Reply(reply)) => {
                        let compressed = if compresses { compressed(&reply) } else { None };
                        Made::Reply(reply, compressed, reserved)
                    }
                    Some(Answered::Watch(mut watch)) => {
                        let is_compressed = compresses && forms.compressed_watch_lists && watch.is_list();
                        let sending = Sending { is_head, is_compressed };
                        let first = watch.next_until(&objects.store(), objects.now(), stop).map_err(|end| end.last);
                        let first = first.map(|events| sending.of(events)).map_err(|last| Some(sending.of(last?)));
                        Made::Watch(watch, first, sending)
                    }
                    None => Made::Nothing,
                };
                drop((body, share));
                made
            }
        };
        let done = work.run(Owner::Client(caller.clone()), make).await;
        let took_too_long = Status::took_too_long();
        let made_room = done.as_ref().is_ok_and(|done| done.made_room);
        match done.map(|done| done.made) {
            Ok(Made::Reply(reply, ..)) if made_room && reply.code == took_too_long.code => shared.full(&whole),
            Ok(Made::Watch(..)) if made_room => shared.full(&whole),
            Ok(Made::Reply(mut reply, compressed, reserved)) => {
                drop(reserved);
                let is_compressed = compressed.is_some();
                let body = compressed.unwrap_or_else(|| std::mem::take(&mut reply.body));
                match Content::of(body, caller, bodies) {
                    Ok(content) => whole.with(|parts| respond(parts, &reply, content, is_compressed)),
                    Err(_) => shared.full(&whole),
                }
            }
            Ok(Made::Watch(watch, first, sending)) => stream_of(watch, first, &shared, caller, &whole, sending),
            Ok(Made::Full) => shared.full(&whole),
            Ok(Made::Nothing) => whole.with(reply::page_not_found),
            Err(NotDone::TooLong) => whole.with(|parts| refused(parts, &took_too_long)),
            Err(NotDone::Full | NotDone::Interrupted) => whole.with(|parts| refused(parts, &Status::unavailable())),
        }
    })
}

impl Shared {
    /// Answers a request when the memory for bodies is full.
    fn full(&self, whole: &OwnedParts) -> Response {
        self.metrics.refused("memory");
        whole.with(no_room)
    }
}

/// Computes a short response that needs no other thread: it reads one small object. `None` for all other requests, and
/// if there is no room.
pub(super) fn quick(objects: &Arc<Objects>, path: &str, whole: &RequestParts<'_>, forms: Forms) -> Option<Response> {
    if *whole.method != Method::GET {
        return None;
    }
    let (api, store) = (objects.api(), objects.store());
    let size = api.size_of(&store, path)?;
    if size > LARGE {
        return None;
    }
    let parts = Parts::of(whole.method, path, whole, forms);
    match objects.answer(&parts.asked(b""), &Moment { now: objects.now(), ..Moment::default() })? {
        // Indentation makes an object only slightly larger.
        Answered::Reply(mut reply) => {
            let compressed = whole.gzip_object().then(|| compressed(&reply)).flatten();
            let is_compressed = compressed.is_some();
            let body = compressed.unwrap_or_else(|| std::mem::take(&mut reply.body));
            let content = Content::of(body, whole.caller.cloned(), whole.bodies).ok()?;
            Some(respond(whole, &reply, content, is_compressed))
        }
        Answered::Watch(_) => None,
    }
}

/// Returns the response when the memory for responses or requests is full.
pub(super) fn no_room(parts: &RequestParts<'_>) -> Response {
    refused(parts, &Status::too_many_requests(RETRY_AFTER))
}

/// Returns the response to a request that its user may not make, in a form that the client accepts.
pub(super) fn denied(parts: &RequestParts<'_>, path: &str, status: &Status, forms: Forms) -> Response {
    let reply = Api::refuse(status, &Parts::of(parts.method, path, parts, forms).asked(b""));
    let body = reply.body.to_vec();
    respond(parts, &reply, Content::Short(body.into()), false)
}

/// Returns a status that was not negotiated.
fn refused(parts: &RequestParts<'_>, status: &Status) -> Response {
    let retry_after_seconds = status.retry_after_seconds();
    let reply = Reply { retry_after_seconds, ..Reply::new(status.code, Form::Json, Bytes::new()) };
    respond(parts, &reply, Content::Short(status.to_json().into()), false)
}

/// Returns the compressed body, if it is large enough (upstream: `deferredResponseWriter`).
fn compressed(reply: &Reply) -> Option<Bytes> {
    (reply.body.len() > WORTH_COMPRESSING).then(|| gzip_once(&reply.body))
}

/// The beginning of the next page of comma-separated values: the value of the parameter `continue`.
const CONTINUE: HeaderName = HeaderName::from_static("continue");

/// Returns a reply with this body instead of its own.
fn respond(parts: &RequestParts<'_>, reply: &Reply, content: Content, is_compressed: bool) -> Response {
    let code = StatusCode::from_u16(reply.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = reply::held(parts, code, content);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, media(reply.content_type()));
    if parts.extensions {
        headers.append(header::VARY, reply::ACCEPT);
    }
    if is_compressed {
        headers.insert(header::CONTENT_ENCODING, reply::GZIP);
    }
    if is_compressed || parts.extensions {
        headers.append(header::VARY, reply::ACCEPT_ENCODING);
    }
    if reply.retry_after_seconds > 0 {
        headers.insert(header::RETRY_AFTER, reply.retry_after_seconds.into());
    }
    if let Ok(token) = HeaderValue::try_from(reply.token.as_str())
        && !token.is_empty()
    {
        headers.insert(CONTINUE, token);
    }
    warn(headers, &reply.warnings);
    response
}

/// Returns a `Content-Type`. Its parameters are known words.
fn media(text: Cow<'static, str>) -> HeaderValue {
    match text {
        Cow::Borrowed(text) => HeaderValue::from_static(text),
        Cow::Owned(text) => HeaderValue::try_from(text).unwrap_or(reply::JSON),
    }
}

fn warn(headers: &mut HeaderMap, warnings: &[String]) {
    for line in warning::headers(warnings.iter().map(String::as_str)) {
        if let Ok(value) = HeaderValue::from_str(&line).or_else(|_| HeaderValue::from_bytes(line.as_bytes())) {
            headers.append(header::WARNING, value);
        }
    }
}

/// How a stream is sent.
#[derive(Clone, Copy)]
struct Sending {
    is_head: bool,
    is_compressed: bool,
}

impl Sending {
    /// Events as they are sent. Those that are sent together are a gzip member of their own (upstream:
    /// `perFlushGzipWriter`).
    fn of(self, events: Vec<u8>) -> Vec<u8> {
        if self.is_compressed && !events.is_empty() { gzip_events(&events) } else { events }
    }
}

/// A client that watches.
struct Watching {
    /// `None` after it was lost with the work that waited for a webhook.
    watch: Option<Box<Watch>>,
    work: Arc<Workshop>,
    caller: Option<Caller>,
    sending: Sending,
    objects: Arc<Objects>,
    changes: Receiver<u64>,
    until: Instant,
    bookmark: Instant,
    is_over: bool,
}

fn stream_of(
    watch: Box<Watch>,
    first: Result<Vec<u8>, Option<Vec<u8>>>,
    shared: &Shared,
    caller: Option<Caller>,
    whole: &OwnedParts,
    sending: Sending,
) -> Response {
    // Watches over WebSockets do not exist here. Clients that get a complete response with 200 watch again without one
    // (fabric8's client for Java does).
    let is_websocket = whole.with(|parts| parts.header(header::UPGRADE).eq_ignore_ascii_case(b"websocket"));
    let is_over = first.is_err() || is_websocket;
    let first = first.unwrap_or_else(Option::unwrap_or_default);
    let first = if is_websocket { Vec::new() } else { first };
    let Ok(first) = Content::of(first.into(), caller.clone(), &shared.bodies) else { return shared.full(whole) };
    let media = media(watch.content_type());
    let warnings = watch.warnings().to_vec();
    let asked = watch.timeout_seconds().map_or(LONGEST_WATCH, Duration::from_secs);
    let began = Instant::now();
    let watching = Watching {
        changes: shared.objects.changes(),
        watch: Some(watch),
        work: Arc::clone(&shared.work),
        caller: caller.clone(),
        sending,
        objects: Arc::clone(&shared.objects),
        until: began + asked.min(LONGEST_WATCH),
        bookmark: began + BOOKMARK,
        is_over,
    };
    let mut response = whole.with(|parts| reply::chunked(parts, StatusCode::OK, &Rope::default()));
    if !sending.is_head {
        *response.body_mut() = held::parts(first, watching, caller, shared.bodies.clone());
    }
    let varies = whole.with(|parts| parts.extensions);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, media);
    if varies {
        headers.append(header::VARY, reply::ACCEPT);
    }
    if sending.is_compressed {
        headers.insert(header::CONTENT_ENCODING, reply::GZIP);
        headers.append(header::VARY, reply::ACCEPT_ENCODING);
    }
    warn(headers, &warnings);
    response
}

impl held::Parts for Watching {
    async fn part(&mut self) -> Option<Vec<u8>> {
        let sending = self.sending;
        self.events().await.map(|events| sending.of(events))
    }
}

impl Watching {
    /// What the watch tells next. If it may wait for a webhook, another thread does it. `None` if that is not possible.
    async fn next(&mut self) -> Option<Result<Vec<u8>, WatchEnd>> {
        let (store, now) = (self.objects.store(), self.objects.now());
        if !self.watch.as_ref()?.may_wait(&store) {
            return Some(self.watch.as_mut()?.next(&store, now));
        }
        let mut watch = self.watch.take()?;
        let make = move |stop: &AtomicBool| {
            let next = watch.next_until(&store, now, Stop::when(stop));
            (watch, next)
        };
        let done = self.work.run(Owner::Client(self.caller.clone()), make).await.ok()?;
        let (watch, next) = done.made;
        self.watch = Some(watch);
        Some(next)
    }

    /// The next events. `None` at the end.
    async fn events(&mut self) -> Option<Vec<u8>> {
        while !self.is_over {
            // Changes from now on wake it up.
            let revision = *self.changes.borrow_and_update();
            let next = self.next().await?;
            let watch = self.watch.as_ref()?;
            match next {
                Ok(events) if !events.is_empty() => return Some(events),
                Ok(_) if !watch.is_current(&self.objects.store()) => continue,
                Ok(_) if !watch.is_served(&self.objects.api()) => return None,
                Ok(_) => {}
                Err(end) => {
                    self.is_over = true;
                    return end.last;
                }
            }
            if revision == 0 {
                return None;
            }
            let wakes = if watch.wants_bookmarks() { self.bookmark.min(self.until) } else { self.until };
            tokio::select! {
                changed = self.changes.changed() => changed.ok()?,
                () = sleep_until(wakes) => {
                    if Instant::now() >= self.until {
                        return None;
                    }
                    self.bookmark = Instant::now() + BOOKMARK;
                    return self.watch.as_mut().map(|watch| watch.bookmark());
                }
            }
        }
        None
    }
}
