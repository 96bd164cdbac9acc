//! `/openapi/v2` and `/openapi/v3`, like kube-openapi's handlers (`pkg/handler`, `pkg/handler3`) and the aggregator's
//! index, with corrections if extensions are on.

use super::accept::{self, Choice, Offer, Reading};
use super::content::{Content, is_settled};
use super::printed::Printed;
use super::request::{OwnedParts, RequestParts};
use super::work::{LARGE, NotDone, Workshop};
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
/// In 1.23, kube-apiserver has only the older name.
const V3_ALPHA: [Offer; 2] = [V3[0], V3[2]];
const V3_PROTOBUF: HeaderValue = HeaderValue::from_static("application/com.github.proto-openapi.spec.v3.v1.0+protobuf");

const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");

static BOTH: [HeaderValue; 2] = [reply::ACCEPT_ENCODING, reply::ACCEPT];
static ENCODING: [HeaderValue; 1] = [reply::ACCEPT_ENCODING];
static TYPE: [HeaderValue; 1] = [reply::ACCEPT];

/// Shorter bodies of `/openapi/v2` are not compressed (the default of NYTimes gziphandler, which kube-openapi uses).
const WORTH_COMPRESSING: usize = 1400;

/// The form in which a document is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    protobuf: bool,
    gzip: bool,
}

impl Form {
    /// Returns a different number for each form.
    fn number(self) -> u8 {
        u8::from(self.protobuf) * 2 + u8::from(self.gzip)
    }

    /// Returns whether its bytes are already computed.
    fn is_made(self, document: &Document) -> bool {
        document.is_made(self.protobuf, self.gzip)
    }

    /// Returns whether everything for the response is already computed. A client that has the document needs no
    /// compressed form.
    fn is_ready(self, parts: &RequestParts<'_>, document: &Document) -> bool {
        document.is_hashed()
            && (self.is_made(document)
                || (document.is_made(self.protobuf, false)
                    && is_settled(parts, Some(&document.headers().etag), document.modified())))
    }

    /// Returns the uncompressed bytes, and computes them if necessary.
    fn plain(self, document: &Document) -> Result<&Rope, &str> {
        if self.protobuf { document.protobuf() } else { Ok(document.json()) }
    }

    /// Returns the compressed bytes, if the client accepts them and they can be computed.
    fn gzip(self, document: &Document) -> Option<Rope> {
        match self {
            Form { gzip: false, .. } => None,
            Form { protobuf: false, .. } => Some(document.gzip().clone()),
            Form { protobuf: true, .. } => document.protobuf_gzip().ok().cloned(),
        }
    }
}

/// The v2 document that is already merged, so that reading it does not block. It is identified by its address: if
/// another document gets the same address, its first reader merges it on the thread that answers requests.
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
pub(super) fn v2(parts: &RequestParts<'_>, lazy: &Arc<LazyV2>, merged: &Arc<Merged>, work: &Arc<Workshop>) -> Answer {
    let place = match accept::openapi(&parts.accept(), &V2, parts.reading()) {
        Choice::Offer(place) => place,
        Choice::Nothing | Choice::Unreadable => {
            let mut response = reply::empty(parts, StatusCode::NOT_ACCEPTABLE);
            vary(&mut response, &BOTH);
            return response.into();
        }
    };
    // A range of a document is never compressed, because ranges of the compressed form are something else.
    let whole = parts.header(header::RANGE).is_empty();
    let form = Form { protobuf: place > 0, gzip: whole && parts.gzip() };
    if merged.knows(lazy) && lazy.as_ref().as_ref().map_or(true, |document| form.is_ready(parts, document)) {
        return send_v2(parts, lazy, form).into();
    }
    let (lazy, owned, merged) = (Arc::clone(lazy), OwnedParts::of(parts), Arc::clone(merged));
    let work = Arc::clone(work);
    Answer::Later(Box::pin(async move {
        let own = Arc::clone(&lazy);
        let made = work.share((Arc::as_ptr(&lazy).addr(), form.number()), move || {
            if let Ok(document) = &**own {
                document.hash();
                let _ = (form.plain(document).is_ok(), form.gzip(document));
            }
            merged.learn(&own);
            own
        });
        let made = made.await;
        owned.with(|parts| match made {
            Ok(()) => send_v2(parts, &lazy, form),
            Err(error) => interrupted(parts, &error),
        })
    }))
}

fn send_v2(parts: &RequestParts<'_>, merged: &LazyV2, form: Form) -> Response {
    let made = match &**merged {
        Ok(document) => form.plain(document).map(|plain| (document, plain)).map_err(str::to_owned),
        Err(error) => Err(error.to_string()),
    };
    let (document, plain) = match made {
        Ok(made) => made,
        Err(error) => {
            tracing::error!(%error, "there is no OpenAPI v2 spec");
            let mut response = unavailable(parts);
            vary(&mut response, &BOTH);
            return response;
        }
    };
    let headers = document.headers();
    Content {
        media: if form.protobuf { V2_PROTOBUF } else { reply::JSON },
        sniffed: false,
        etag: Some(headers.etag.clone()),
        modified: document.modified(),
        last_modified: headers.last_modified.clone(),
        vary: &BOTH,
        lasting: None,
    }
    .send(parts, plain, || form.gzip(document).filter(|_| plain.len() >= WORTH_COMPRESSING))
}

/// Returns the response if a form could not be computed.
pub(super) fn interrupted(parts: &RequestParts<'_>, error: &NotDone) -> Response {
    tracing::error!(%error, "an OpenAPI spec or a discovery document was not made");
    status::UNAVAILABLE.answer(parts)
}

/// Returns 503. kube-apiserver sends no body.
fn unavailable(parts: &RequestParts<'_>) -> Response {
    if parts.extensions {
        status::UNAVAILABLE.answer(parts)
    } else {
        reply::empty(parts, StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// Returns whether everything for the response of `/openapi/v3` is already computed, or is small.
pub(super) fn index_is_made(parts: &RequestParts<'_>, snapshot: &Snapshot) -> bool {
    snapshot.index.made().is_some_and(|index| {
        !parts.extensions
            || index.json().len() < LARGE
            || Form { protobuf: false, gzip: parts.gzip() }.is_ready(parts, index)
    })
}

/// Answers `/openapi/v3`. In kube-apiserver, the index has no ETag, ignores `Accept`, and has the media type of plain
/// text. With extensions it is served like other documents.
pub(super) fn index(parts: &RequestParts<'_>, snapshot: &Snapshot) -> Response {
    let document = snapshot.index.document();
    let gzip = parts.extensions && parts.gzip() && parts.header(header::RANGE).is_empty();
    Content {
        media: if parts.extensions { reply::JSON } else { reply::TEXT },
        sniffed: !parts.extensions,
        // Without extensions the hash of the index is not sent, so it is not computed.
        etag: parts.extensions.then(|| document.headers().etag.clone()),
        modified: document.modified(),
        last_modified: document.last_modified(),
        vary: if parts.extensions { &ENCODING } else { &[] },
        lasting: None,
    }
    .send(parts, document.json(), || gzip.then(|| document.gzip().clone()))
}

/// Returns whether a list of the paths of all documents is small.
pub(super) fn has_few_documents(snapshot: &Snapshot) -> bool {
    // About the bytes of a path.
    const EACH: usize = 64;
    snapshot.v3.len() * EACH < LARGE
}

/// Returns whether the index of 1.23 is already computed, or is small.
pub(super) fn alpha_is_made(snapshot: &Snapshot, printed: &Printed) -> bool {
    printed.has_alpha() || has_few_documents(snapshot)
}

/// Answers `/openapi/v3` in 1.23.
pub(super) fn alpha(parts: &RequestParts<'_>, snapshot: &Snapshot, printed: &Printed) -> Response {
    Content {
        media: reply::TEXT,
        sniffed: true,
        etag: None,
        modified: snapshot.index.modified(),
        last_modified: snapshot.index.last_modified(),
        vary: &[],
        lasting: None,
    }
    .send(parts, printed.alpha(snapshot), || None)
}

/// Answers `/openapi/v3/PATH`; `None` if a downstream server has it. `alpha`: as in 1.23.
pub(super) fn leaf(
    parts: &RequestParts<'_>,
    snapshot: &Snapshot,
    path: &str,
    alpha: bool,
    work: &Arc<Workshop>,
) -> Option<Answer> {
    let document = match snapshot.v3.get(path) {
        Some(Leaf::Local(document)) => document,
        Some(Leaf::Remote(_)) => return None,
        // The handler of 1.23 returns without writing anything.
        None if alpha => {
            let mut response = reply::empty(parts, StatusCode::OK);
            vary(&mut response, &TYPE);
            return Some(response.into());
        }
        None => return Some(reply::empty(parts, StatusCode::NOT_FOUND).into()),
    };
    let offers: &[Offer] = if alpha { &V3_ALPHA } else { &V3 };
    let place = match accept::openapi(&parts.accept(), offers, parts.reading()) {
        Choice::Offer(place) => place,
        // The handler in kube-apiserver returns without writing anything.
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
    let form = Form { protobuf: place > 0, gzip: !alpha && parts.extensions && whole && parts.gzip() };
    let send = if alpha { send_alpha } else { send_v3 };
    if document.json().len() < LARGE || form.is_ready(parts, document) {
        return Some(send(parts, document, path, form).into());
    }
    let (document, path, owned) = (Arc::clone(document), path.to_owned(), OwnedParts::of(parts));
    let work = Arc::clone(work);
    Some(Answer::Later(Box::pin(async move {
        let own = Arc::clone(&document);
        let made = work.share((Arc::as_ptr(&document).addr(), form.number()), move || {
            own.hash();
            let _ = (form.plain(&own).is_ok(), form.gzip(&own));
            own
        });
        let made = made.await;
        owned.with(|parts| match made {
            Ok(()) => send(parts, &document, &path, form),
            Err(error) => interrupted(parts, &error),
        })
    })))
}

fn send_alpha(parts: &RequestParts<'_>, document: &Document, path: &str, form: Form) -> Response {
    let plain = match form.plain(document) {
        Ok(plain) => plain,
        Err(error) => return without_protobuf(parts, path, error),
    };
    let headers = document.headers();
    Content {
        // The type that Go's `net/http` sniffs.
        media: if form.protobuf { OCTETS } else { reply::TEXT },
        sniffed: true,
        etag: Some(headers.etag.clone()),
        modified: document.modified(),
        last_modified: headers.last_modified.clone(),
        vary: &TYPE,
        lasting: None,
    }
    .send(parts, plain, || None)
}

fn without_protobuf(parts: &RequestParts<'_>, path: &str, error: &str) -> Response {
    tracing::error!(%error, path, "this OpenAPI v3 spec has no protobuf form");
    status::UNAVAILABLE.answer(parts)
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
    let plain = match form.plain(document) {
        Ok(plain) => plain,
        Err(error) => return without_protobuf(parts, path, error),
    };
    Content {
        media,
        sniffed: false,
        etag: Some(headers.etag.clone()),
        modified: document.modified(),
        last_modified: headers.last_modified.clone(),
        vary: vary_v3(parts),
        lasting: wanted.map(|_| lasting(parts.extensions, SystemTime::now())),
    }
    .send(parts, plain, || form.gzip(document))
}

/// Redirects to the current hash, with 301 as in KEP-2896. Caches may keep a 301 forever, and redirect in circles when
/// an earlier content comes back. With extensions, headers forbid them to keep it.
fn moved(parts: &RequestParts<'_>, path: &str, current: &str, media: HeaderValue, etag: HeaderValue) -> Response {
    let mut response = reply::empty(parts, StatusCode::MOVED_PERMANENTLY);
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

/// Returns the headers of a content whose URL has its hash: it may be cached for a year. kube-apiserver writes the time
/// zone as `UTC` instead of `GMT`.
fn lasting(extensions: bool, now: SystemTime) -> (HeaderValue, HeaderValue) {
    const YEAR: Duration = Duration::from_hours(8760);
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
