//! `/openapi/v2` and `/openapi/v3`: kube-openapi's handlers (`pkg/handler`, `pkg/handler3`) and the aggregator's
//! index, with what extensions put right.

use super::accept::{self, Choice, Offer, Reading};
use super::content::Content;
use super::request::{OwnedParts, RequestParts};
use super::{Answer, reply, status, target};
use crate::document::Document;
use crate::rope::Rope;
use crate::snapshot::{LazyV2, Leaf, Snapshot};
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, SystemTime};

const V2: [Offer; 3] = [
    Offer::plain("application", "json"),
    Offer::plain("application", "com.github.proto-openapi.spec.v2@v1.0+protobuf"),
    Offer::plain("application", "com.github.proto-openapi.spec.v2.v1.0+protobuf"),
];
const V2_PROTOBUF: HeaderValue = HeaderValue::from_static("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
const V3: [Offer; 3] = [
    Offer::plain("application", "json"),
    Offer::plain("application", "com.github.proto-openapi.spec.v3.v1.0+protobuf"),
    Offer::plain("application", "com.github.proto-openapi.spec.v3@v1.0+protobuf"),
];
const V3_PROTOBUF: HeaderValue = HeaderValue::from_static("application/com.github.proto-openapi.spec.v3.v1.0+protobuf");

static BOTH: [HeaderValue; 2] = [reply::ACCEPT_ENCODING, reply::ACCEPT];
static ENCODING: [HeaderValue; 1] = [reply::ACCEPT_ENCODING];
static TYPE: [HeaderValue; 1] = [reply::ACCEPT];

/// Bodies of `/openapi/v2` below this length are not worth compressing (NYTimes gziphandler's default, which
/// kube-openapi's choice of minimum size ends in).
const WORTH_COMPRESSING: usize = 1400;

/// A representation that takes longer to make than this many bytes of JSON is made off the threads that answer
/// requests.
const LARGE: usize = 128 << 10;

/// In which form a document goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    protobuf: bool,
    gzip: bool,
}

impl Form {
    /// Whether everything is there already.
    fn is_made(self, document: &Document) -> bool {
        let sizes = document.sizes();
        !(self.protobuf && sizes.protobuf == 0 || self.gzip && sizes.compressed == 0)
    }

    /// The bytes, made if need be.
    fn make(self, document: &Document) -> Result<(Rope, Option<Rope>), String> {
        Ok(match self {
            Form { protobuf: false, gzip: false } => (document.json().clone(), None),
            Form { protobuf: false, gzip: true } => (document.json().clone(), Some(document.gzip().clone())),
            Form { protobuf: true, gzip: false } => (document.protobuf()?.clone().into(), None),
            Form { protobuf: true, gzip: true } => {
                (document.protobuf()?.clone().into(), Some(document.protobuf_gzip()?.clone().into()))
            }
        })
    }
}

/// Which lazy v2 document is known to be merged, so that reading it makes nobody wait. It is known by its address
/// alone: should another one come to stand there, its first reader waits for it on the thread that answers.
#[derive(Debug, Default)]
pub(super) struct Merged(AtomicPtr<LazyV2>);

impl Merged {
    fn knows(&self, lazy: &Arc<LazyV2>) -> bool {
        std::ptr::eq(self.0.load(Ordering::Relaxed), Arc::as_ptr(lazy))
    }

    fn learn(&self, lazy: &Arc<LazyV2>) {
        self.0.store(Arc::as_ptr(lazy).cast_mut(), Ordering::Relaxed);
    }
}

/// `/openapi/v2`
pub(super) fn v2(parts: &RequestParts<'_>, snapshot: &Snapshot, merged: &Arc<Merged>) -> Answer {
    let place = match accept::openapi(&parts.accept(), &V2, parts.reading()) {
        Choice::Offer(place) => place,
        Choice::Nothing | Choice::Unreadable => {
            let mut response = reply::empty(parts, StatusCode::NOT_ACCEPTABLE);
            vary(&mut response, &BOTH);
            return response.into();
        }
    };
    // A part of a document is never compressed: parts of the two forms are not parts of each other.
    let whole = parts.header(header::RANGE).is_empty();
    let form = Form { protobuf: place > 0, gzip: whole && parts.gzip() };
    if merged.knows(&snapshot.v2) && snapshot.v2.as_ref().as_ref().map_or(true, |document| form.is_made(document)) {
        return send_v2(parts, &snapshot.v2, form).into();
    }
    let (lazy, owned, merged) = (Arc::clone(&snapshot.v2), OwnedParts::of(parts), Arc::clone(merged));
    Answer::Later(Box::pin(async move {
        let made = tokio::task::spawn_blocking(move || {
            if let Ok(document) = &**lazy {
                let _ = form.make(document);
            }
            merged.learn(&lazy);
            lazy
        });
        let made = made.await;
        owned.with(|parts| match &made {
            Ok(lazy) => send_v2(parts, lazy, form),
            Err(error) => interrupted(parts, error),
        })
    }))
}

fn send_v2(parts: &RequestParts<'_>, merged: &LazyV2, form: Form) -> Response {
    let made = match &**merged {
        Ok(document) => form.make(document).map(|forms| (document, forms)),
        Err(error) => Err(error.to_string()),
    };
    let (document, (plain, gzip)) = match made {
        Ok(made) => made,
        Err(error) => {
            tracing::error!(%error, "there is no OpenAPI v2 document");
            let mut response = unavailable(parts);
            vary(&mut response, &BOTH);
            return response;
        }
    };
    let gzip = gzip.filter(|_| plain.len() >= WORTH_COMPRESSING);
    let headers = document.headers();
    Content {
        media: if form.protobuf { V2_PROTOBUF } else { reply::JSON },
        sniffed: false,
        plain,
        gzip,
        etag: Some(headers.etag.clone()),
        modified: document.modified(),
        last_modified: headers.last_modified.clone(),
        vary: &BOTH,
        lasting: None,
    }
    .send(parts)
}

/// The thread that made a form did not come to its end.
fn interrupted(parts: &RequestParts<'_>, error: &tokio::task::JoinError) -> Response {
    tracing::error!(%error, "a document was not made");
    status::UNAVAILABLE.answer(parts)
}

/// 503: the real server has no text here.
fn unavailable(parts: &RequestParts<'_>) -> Response {
    if parts.extensions {
        status::UNAVAILABLE.answer(parts)
    } else {
        reply::empty(parts, StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// `/openapi/v3`. The real one has no tag, ignores `Accept` and calls its JSON plain text; with extensions it is a
/// document like others.
pub(super) fn index(parts: &RequestParts<'_>, snapshot: &Snapshot) -> Response {
    let document = &snapshot.index;
    let gzip = parts.extensions && parts.gzip() && parts.header(header::RANGE).is_empty();
    Content {
        media: if parts.extensions { reply::JSON } else { reply::TEXT },
        sniffed: !parts.extensions,
        plain: document.json().clone(),
        gzip: gzip.then(|| document.gzip().clone()),
        // Without extensions nobody sees the hash of the index, so nobody waits for it.
        etag: parts.extensions.then(|| document.headers().etag.clone()),
        modified: document.modified(),
        last_modified: document.last_modified(),
        vary: if parts.extensions { &ENCODING } else { &[] },
        lasting: None,
    }
    .send(parts)
}

/// `/openapi/v3/PATH`; `None` when a downstream server has it.
pub(super) fn leaf(parts: &RequestParts<'_>, snapshot: &Snapshot, path: &str) -> Option<Answer> {
    let document = match snapshot.v3.get(path) {
        Some(Leaf::Local(document)) => document,
        Some(Leaf::Remote(_)) => return None,
        None => return Some(reply::empty(parts, StatusCode::NOT_FOUND).into()),
    };
    let place = match accept::openapi(&parts.accept(), &V3, parts.reading()) {
        Choice::Offer(place) => place,
        // The real handler returns without having written anything.
        Choice::Unreadable if parts.reading() == Reading::Kube => {
            return Some(reply::empty(parts, StatusCode::OK).into());
        }
        Choice::Nothing | Choice::Unreadable => {
            let mut response = reply::empty(parts, StatusCode::NOT_ACCEPTABLE);
            vary(&mut response, vary_v3(parts));
            return Some(response.into());
        }
    };
    let whole = parts.header(header::RANGE).is_empty();
    let form = Form { protobuf: place > 0, gzip: parts.extensions && whole && parts.gzip() };
    if document.json().len() < LARGE || form.is_made(document) {
        return Some(send_v3(parts, document, path, form).into());
    }
    let (document, path, owned) = (Arc::clone(document), path.to_owned(), OwnedParts::of(parts));
    Some(Answer::Later(Box::pin(async move {
        let made = tokio::task::spawn_blocking(move || {
            let _ = form.make(&document);
            document
        });
        let made = made.await;
        owned.with(|parts| match &made {
            Ok(document) => send_v3(parts, document, &path, form),
            Err(error) => interrupted(parts, error),
        })
    })))
}

fn send_v3(parts: &RequestParts<'_>, document: &Document, path: &str, form: Form) -> Response {
    let media = if form.protobuf { V3_PROTOBUF } else { reply::JSON };
    let headers = document.headers();
    let wanted = target::parameter(parts.query, "hash").filter(|hash| !hash.is_empty());
    let wanted = match wanted {
        None if parts.extensions => target::parameter(parts.query, "etag").filter(|etag| !etag.is_empty()),
        wanted => wanted,
    };
    let current = &**document.hash();
    if wanted.as_ref().is_some_and(|wanted| wanted != current) {
        return moved(parts, path, current, media, headers.etag.clone());
    }
    let (plain, gzip) = match form.make(document) {
        Ok(forms) => forms,
        Err(error) => {
            tracing::error!(%error, path, "this OpenAPI v3 document has no protobuf form");
            return status::UNAVAILABLE.answer(parts);
        }
    };
    Content {
        media,
        sniffed: false,
        plain,
        gzip,
        etag: Some(headers.etag.clone()),
        modified: document.modified(),
        last_modified: headers.last_modified.clone(),
        vary: vary_v3(parts),
        lasting: wanted.map(|_| lasting(parts.extensions, SystemTime::now())),
    }
    .send(parts)
}

/// To the current hash. The real server sends 301, which may be cached for ever, so that a content that comes back
/// makes caches run in circles; with extensions it is a redirection of this moment.
fn moved(parts: &RequestParts<'_>, path: &str, current: &str, media: HeaderValue, etag: HeaderValue) -> Response {
    let code = if parts.extensions { StatusCode::TEMPORARY_REDIRECT } else { StatusCode::MOVED_PERMANENTLY };
    let mut response = reply::empty(parts, code);
    vary(&mut response, vary_v3(parts));
    let headers = response.headers_mut();
    if parts.extensions {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    } else {
        headers.insert(header::ETAG, etag);
    }
    headers.insert(header::CONTENT_TYPE, media);
    if let Ok(location) = HeaderValue::try_from(format!("/openapi/v3/{}?hash={current}", target::encoded(path))) {
        headers.insert(header::LOCATION, location);
    }
    response
}

/// What a content gets that is named by its hash: it may be kept for a year. The real server writes the zone as
/// `UTC`, where HTTP asks for `GMT`.
fn lasting(extensions: bool, now: SystemTime) -> (HeaderValue, HeaderValue) {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    let expires = httpdate::fmt_http_date(now + YEAR);
    if extensions {
        let expires = HeaderValue::try_from(expires).unwrap_or(HeaderValue::from_static("0"));
        (HeaderValue::from_static("public, max-age=31536000, immutable"), expires)
    } else {
        let expires = HeaderValue::try_from(expires.replace("GMT", "UTC")).unwrap_or(HeaderValue::from_static("0"));
        (HeaderValue::from_static("public, immutable"), expires)
    }
}

fn vary_v3(parts: &RequestParts<'_>) -> &'static [HeaderValue] {
    if parts.extensions { &BOTH } else { &TYPE }
}

fn vary(response: &mut Response, lines: &'static [HeaderValue]) {
    for line in lines {
        response.headers_mut().append(header::VARY, line.clone());
    }
}
