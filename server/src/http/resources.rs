//! Objects over HTTP: a thin layer over `kubeshape-objects`.

use super::encoding::WORTH_COMPRESSING;
use super::reply;
use super::request::{OwnedParts, RequestParts};
use super::work::{LARGE, Workshop};
use crate::body::gzip_once;
use crate::objects::{Answered, Objects};
use crate::rope::Rope;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use kubeshape_objects::accept::Form;
use kubeshape_objects::{Moment, Reply, Request as Asked, Status, Watch};
use kubeshape_yaml::go::warning;
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep_until};

/// How long a watch lasts at most. The client then watches on from the revision that it knows.
const LONGEST_WATCH: Duration = Duration::from_secs(580);
/// How often a client that wants bookmarks gets one.
const BOOKMARK: Duration = Duration::from_mins(1);

type Later = Pin<Box<dyn Future<Output = Response> + Send>>;

/// The parts of a request that the answer needs.
struct Parts {
    method: Method,
    path: String,
    query: String,
    accept: String,
    content_type: String,
    user_agent: String,
    forms: Forms,
}

/// The forms in which objects are answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forms {
    /// All of the proposal.
    pub(super) alternates: bool,
    /// CBOR, if the gate says so.
    pub(super) cbor: bool,
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
        }
    }
}

/// Answers a request for objects at a decoded path.
pub(super) fn answer<B>(
    objects: &Arc<Objects>,
    request: Request<B>,
    path: &str,
    whole: OwnedParts,
    forms: Forms,
    work: &Arc<Workshop>,
) -> Later
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let (head, body) = request.into_parts();
    let parts = whole.with(|whole| Parts::of(&head.method, path, whole, forms));
    #[allow(clippy::redundant_closure_for_method_calls)] // The method is not general enough for the compiler.
    let compresses = whole.with(|whole| whole.gzip_object());
    let (objects, work, is_head) = (Arc::clone(objects), Arc::clone(work), head.method == Method::HEAD);
    Box::pin(async move {
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => return respond(&whole, refused(&Status::too_large(kubeshape_objects::MAX_BODY)), None),
        };
        let make = {
            let objects = Arc::clone(&objects);
            move || {
                let id = uuid::Uuid::new_v4();
                let moment = Moment { now: objects.now(), uid: &id.to_string(), random: id.as_u64_pair().1 };
                let answered = objects.answer(&parts.asked(&body), &moment);
                let compressed = match &answered {
                    Some(Answered::Reply(reply)) if compresses => compressed(reply),
                    _ => None,
                };
                (answered, compressed)
            }
        };
        match work.run(make).await {
            Ok((Some(Answered::Reply(reply)), compressed)) => respond(&whole, reply, compressed),
            Ok((Some(Answered::Watch(watch)), _)) => stream_of(*watch, objects, &whole, is_head),
            Ok((None, _)) => whole.with(reply::page_not_found),
            Err(_) => respond(&whole, refused(&Status::unavailable()), None),
        }
    })
}

/// A short answer that needs no other thread: one small object is read. `None` for all other requests.
pub(super) fn quick(objects: &Objects, path: &str, whole: &RequestParts<'_>, forms: Forms) -> Option<Response> {
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
        // An object grows when it is indented, but not much.
        Answered::Reply(reply) => {
            let compressed = whole.gzip_object().then(|| compressed(&reply)).flatten();
            Some(respond_to(whole, reply, compressed))
        }
        Answered::Watch(_) => None,
    }
}

/// A status that was not negotiated.
fn refused(status: &Status) -> Reply {
    Reply::new(status.code, Form::Json, status.to_json())
}

/// The compressed body, if it is large enough to be compressed (upstream: `deferredResponseWriter`).
fn compressed(reply: &Reply) -> Option<Bytes> {
    (reply.body.len() > WORTH_COMPRESSING).then(|| gzip_once(&reply.body))
}

fn respond(whole: &OwnedParts, reply: Reply, compressed: Option<Bytes>) -> Response {
    whole.with(|parts| respond_to(parts, reply, compressed))
}

fn respond_to(parts: &RequestParts<'_>, reply: Reply, compressed: Option<Bytes>) -> Response {
    let code = StatusCode::from_u16(reply.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let media = media(reply.content_type());
    let is_compressed = compressed.is_some();
    let mut response = reply::object(parts, code, Rope::from(compressed.unwrap_or(reply.body)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, media);
    if parts.extensions {
        headers.append(header::VARY, reply::ACCEPT);
    }
    if is_compressed {
        headers.insert(header::CONTENT_ENCODING, reply::GZIP);
    }
    if is_compressed || parts.extensions {
        headers.append(header::VARY, reply::ACCEPT_ENCODING);
    }
    warn(headers, &reply.warnings);
    response
}

/// A `Content-Type`. Its parameters are words that are known here.
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

/// A client that watches.
struct Watching {
    watch: Watch,
    objects: Arc<Objects>,
    changes: Receiver<u64>,
    until: Instant,
    bookmark: Instant,
    is_over: bool,
}

fn stream_of(watch: Watch, objects: Arc<Objects>, whole: &OwnedParts, is_head: bool) -> Response {
    let media = media(watch.content_type());
    let warnings = watch.warnings().to_vec();
    let asked = watch.timeout_seconds().map_or(LONGEST_WATCH, Duration::from_secs);
    let began = Instant::now();
    let watching = Watching {
        changes: objects.changes(),
        watch,
        objects,
        until: began + asked.min(LONGEST_WATCH),
        bookmark: began + BOOKMARK,
        is_over: false,
    };
    let events = stream::unfold(watching, |mut watching| async move {
        let part = watching.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(part)), watching))
    });
    let mut response = whole.with(|parts| reply::chunked(parts, StatusCode::OK, &Rope::default()));
    if !is_head {
        *response.body_mut() = Body::from_stream(events);
    }
    let varies = whole.with(|parts| parts.extensions);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, media);
    if varies {
        headers.append(header::VARY, reply::ACCEPT);
    }
    warn(headers, &warnings);
    response
}

impl Watching {
    /// The next events. `None` at the end.
    async fn next(&mut self) -> Option<Vec<u8>> {
        while !self.is_over {
            // Changes that come from now on wake it up.
            let revision = *self.changes.borrow_and_update();
            match self.watch.next(&self.objects.store(), self.objects.now()) {
                Ok(events) if !events.is_empty() => return Some(events),
                Ok(_) if !self.watch.is_current(&self.objects.store()) => continue,
                Ok(_) if !self.watch.is_served(&self.objects.api()) => return None,
                Ok(_) => {}
                Err(end) => {
                    self.is_over = true;
                    return end.last;
                }
            }
            if revision == 0 {
                return None;
            }
            let wakes = if self.watch.wants_bookmarks() { self.bookmark.min(self.until) } else { self.until };
            tokio::select! {
                changed = self.changes.changed() => changed.ok()?,
                () = sleep_until(wakes) => {
                    if Instant::now() >= self.until {
                        return None;
                    }
                    self.bookmark = Instant::now() + BOOKMARK;
                    return Some(self.watch.bookmark());
                }
            }
        }
        None
    }
}
