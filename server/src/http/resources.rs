//! Objects over HTTP: a thin layer over `kubeshape-objects`.

use super::reply;
use super::request::OwnedParts;
use super::work::{LARGE, Workshop};
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
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep_until};

/// How long a watch lasts at most. The client then watches on from the revision that it knows.
const LONGEST_WATCH: Duration = Duration::from_secs(580);
/// How often a client that wants bookmarks gets one.
const BOOKMARK: Duration = Duration::from_secs(60);

type Later = Pin<Box<dyn Future<Output = Response> + Send>>;

/// The parts of a request that the answer needs.
struct Parts {
    method: Method,
    path: String,
    query: String,
    accept: String,
    content_type: String,
    user_agent: String,
}

impl Parts {
    fn of(method: &Method, path: &str, query: &str, headers: &HeaderMap) -> Parts {
        let text = |name: header::HeaderName| {
            headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
        };
        Parts {
            method: method.clone(),
            path: path.to_owned(),
            query: query.to_owned(),
            accept: text(header::ACCEPT),
            content_type: text(header::CONTENT_TYPE),
            user_agent: text(header::USER_AGENT),
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
        }
    }
}

/// Answers a request for objects at a decoded path.
pub(super) fn answer<B>(
    objects: &Arc<Objects>,
    request: Request<B>,
    path: &str,
    whole: OwnedParts,
    work: &Arc<Workshop>,
) -> Later
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let (head, body) = request.into_parts();
    let parts = Parts::of(&head.method, path, head.uri.query().unwrap_or_default(), &head.headers);
    let (objects, work, is_head) = (Arc::clone(objects), Arc::clone(work), head.method == Method::HEAD);
    Box::pin(async move {
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => return respond(&whole, refused(&Status::too_large(kubeshape_objects::MAX_BODY))),
        };
        let make = {
            let objects = Arc::clone(&objects);
            move || {
                let id = uuid::Uuid::new_v4();
                let moment = Moment { now: objects.now(), uid: &id.to_string(), random: id.as_u64_pair().1 };
                objects.answer(&parts.asked(&body), &moment)
            }
        };
        match work.run(make).await {
            Ok(Some(Answered::Reply(reply))) => respond(&whole, reply),
            Ok(Some(Answered::Watch(watch))) => stream_of(*watch, objects, &whole, is_head),
            Ok(None) => whole.with(reply::page_not_found),
            Err(_) => respond(&whole, refused(&Status::unavailable())),
        }
    })
}

/// A short answer that needs no other thread: one small object is read. `None` for all other requests.
pub(super) fn quick(objects: &Objects, method: &Method, path: &str, query: &str, headers: &HeaderMap) -> Option<Reply> {
    if method != Method::GET {
        return None;
    }
    let (api, store) = (objects.api(), objects.store());
    let size = api.size_of(&store, path)?;
    if size > LARGE {
        return None;
    }
    let parts = Parts::of(method, path, query, headers);
    match objects.answer(&parts.asked(b""), &Moment { now: objects.now(), ..Moment::default() })? {
        Answered::Reply(reply) => Some(reply),
        Answered::Watch(_) => None,
    }
}

/// A status that was not negotiated.
fn refused(status: &Status) -> Reply {
    Reply { code: status.code, form: Form::Json, body: status.to_json().into(), warnings: Vec::new() }
}

pub(super) fn respond(whole: &OwnedParts, reply: Reply) -> Response {
    whole.with(|parts| {
        let code = StatusCode::from_u16(reply.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = reply::object(parts, code, Rope::from(reply.body));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(reply.form.media_type()));
        warn(headers, &reply.warnings);
        response
    })
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
    let form = watch.form();
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
    let media = match form {
        Form::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        _ => "application/json",
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
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
