//! Discovery: `/api`, `/apis`, what is below them, and `/` (apiserver `pkg/endpoints/discovery`, the handlers of
//! apiextensions-apiserver and kube-aggregator).

use super::accept::{self, Choice, Offer};
use super::asked::Asked;
use super::conditional::{Conditions, Outcome, Validators, evaluate};
use super::route::Slashes;
use super::status::{self, Form, OBJECTS};
use super::{printed::Printed, reply};
use crate::document::Document;
use crate::rope::Rope;
use crate::snapshot::Snapshot;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use kubeshape_discovery::print::{self, AggregatedVersion, Encoding};
use kubeshape_discovery::{Freshness, Group, GroupVersion, Origin};

/// Objects above this size are compressed on request (apiserver `responsewriters`).
const WORTH_COMPRESSING: usize = 128 << 10;
/// The same with extensions, for those whose compressed form is kept.
const WORTH_COMPRESSING_EXTENDED: usize = 1400;

fn least(asked: &Asked<'_>) -> usize {
    if asked.extensions { WORTH_COMPRESSING_EXTENDED } else { WORTH_COMPRESSING }
}

/// What `/api` and `/apis` can answer with; the first ones are aggregated. v2beta1 is gone in 1.36, and an extension.
const LISTS: [Offer; 9] = [
    Offer::aggregated("application", "json", "v2"),
    Offer::aggregated("application", "yaml", "v2"),
    Offer::aggregated("application", "vnd.kubernetes.protobuf", "v2"),
    OBJECTS[0],
    OBJECTS[1],
    OBJECTS[2],
    Offer::aggregated("application", "json", "v2beta1"),
    Offer::aggregated("application", "yaml", "v2beta1"),
    Offer::aggregated("application", "vnd.kubernetes.protobuf", "v2beta1"),
];
const WITHOUT_V2BETA1: usize = 6;

fn media_type(version: AggregatedVersion, form: Form) -> HeaderValue {
    HeaderValue::from_static(match (version, form) {
        (AggregatedVersion::V2, Form::Json | Form::Indented) => {
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        }
        (AggregatedVersion::V2, Form::Yaml) => "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        (AggregatedVersion::V2, Form::Protobuf) => {
            "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        }
        (AggregatedVersion::V2beta1, Form::Json | Form::Indented) => {
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
        }
        (AggregatedVersion::V2beta1, Form::Yaml) => {
            "application/yaml;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
        }
        (AggregatedVersion::V2beta1, Form::Protobuf) => {
            "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
        }
    })
}

impl From<Form> for Encoding {
    fn from(form: Form) -> Encoding {
        match form {
            Form::Json => Encoding::Json,
            Form::Indented => Encoding::JsonIndented,
            Form::Yaml => Encoding::Yaml,
            Form::Protobuf => Encoding::Protobuf,
        }
    }
}

/// What `/api` or `/apis` answers with.
enum List {
    Aggregated(AggregatedVersion, Form),
    Plain(Form),
}

fn list(asked: &Asked<'_>) -> Option<List> {
    let offers = if asked.extensions { &LISTS[..] } else { &LISTS[..WITHOUT_V2BETA1] };
    let Choice::Offer(place) = accept::object(&asked.accept(), offers, asked.reading()) else { return None };
    let form = Form::of(place % OBJECTS.len(), asked.pretty());
    Some(match offers[place].aggregated {
        Some("v2beta1") => List::Aggregated(AggregatedVersion::V2beta1, form),
        Some(_) => List::Aggregated(AggregatedVersion::V2, form),
        None => List::Plain(form),
    })
}

/// `/api`, which go-restful routes: GET only.
pub(super) fn core(asked: &Asked<'_>, snapshot: &Snapshot, printed: &Printed, advertise: &str) -> Response {
    if let Some(refusal) = refused_by_restful(asked) {
        return refusal;
    }
    match list(asked) {
        Some(List::Aggregated(version, form)) => {
            let document = printed.core(version, form, snapshot);
            aggregated(asked, &snapshot.discovery.aggregated_core, &document, media_type(version, form))
        }
        Some(List::Plain(form)) => {
            let versions = snapshot.discovery.core.iter().flat_map(|core| &core.versions);
            let versions: Vec<&str> = versions.map(|version| &*version.version).collect();
            let mut out = Vec::new();
            print::versions(&mut out, &versions, &[("0.0.0.0/0", advertise)], form.into());
            object(asked, form, out)
        }
        None => not_negotiated(asked),
    }
}

/// `/apis`, and `/apis/`, which has no aggregated form. Any method is GET.
pub(super) fn groups(asked: &Asked<'_>, snapshot: &Snapshot, printed: &Printed, listed: bool) -> Response {
    let choice = if listed && !asked.extensions { plain(asked).map(List::Plain) } else { list(asked) };
    match choice {
        Some(List::Aggregated(version, form)) => {
            let document = printed.named(version, form, snapshot);
            aggregated(asked, &snapshot.discovery.aggregated, &document, media_type(version, form))
        }
        Some(List::Plain(form)) => shared_object(asked, form, &printed.groups(form, snapshot)),
        None => not_negotiated(asked),
    }
}

/// Aggregated discovery. The real server knows only the whole tag as `If-None-Match`, and no other condition; with
/// extensions it is read as everywhere else.
fn aggregated(asked: &Asked<'_>, tagged: &Document, document: &Document, media: HeaderValue) -> Response {
    let headers = tagged.headers();
    let known = asked.header(header::IF_NONE_MATCH);
    let unchanged = if asked.extensions {
        let conditions = Conditions { reads: true, if_none_match: known, ..Conditions::default() };
        let now = Validators { etag: headers.etag.as_bytes(), modified: tagged.modified() };
        evaluate(&conditions, &now) == Outcome::NotModified
    } else {
        known == headers.etag.as_bytes()
    };
    let mut response = if unchanged {
        reply::not_modified()
    } else {
        let mut response = compressible(asked, document, least(asked));
        response.headers_mut().insert(header::CONTENT_TYPE, media);
        response
    };
    let out = response.headers_mut();
    out.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
    out.insert(header::ETAG, headers.etag.clone());
    varies(asked, true, &mut response);
    response
}

/// A body that is compressed when it is large.
fn compressible(asked: &Asked<'_>, document: &Document, least: usize) -> Response {
    if document.json().len() <= least || !asked.gzip_object() {
        return reply::object(asked, StatusCode::OK, document.json().clone());
    }
    let mut response = reply::object(asked, StatusCode::OK, document.gzip().clone());
    response.headers_mut().insert(header::CONTENT_ENCODING, reply::GZIP);
    response
}

/// What the answer depends on. The real server says so of the encoding only where it compressed; with extensions it
/// is said of every form.
fn varies(asked: &Asked<'_>, negotiated: bool, response: &mut Response) {
    let compressed = response.headers().contains_key(header::CONTENT_ENCODING);
    if negotiated {
        response.headers_mut().append(header::VARY, reply::ACCEPT);
    }
    if asked.extensions || compressed {
        response.headers_mut().append(header::VARY, reply::ACCEPT_ENCODING);
    }
}

/// The plain form that the request accepts.
fn plain(asked: &Asked<'_>) -> Option<Form> {
    match accept::object(&asked.accept(), &OBJECTS, asked.reading()) {
        Choice::Offer(place) => Some(Form::of(place, asked.pretty())),
        Choice::Nothing | Choice::Unreadable => None,
    }
}

fn object(asked: &Asked<'_>, form: Form, content: Vec<u8>) -> Response {
    let document = Document::new(None, Bytes::from(content), std::time::SystemTime::UNIX_EPOCH);
    typed(asked, form, compressible(asked, &document, WORTH_COMPRESSING))
}

fn shared_object(asked: &Asked<'_>, form: Form, document: &Document) -> Response {
    typed(asked, form, compressible(asked, document, least(asked)))
}

fn typed(asked: &Asked<'_>, form: Form, mut response: Response) -> Response {
    response.headers_mut().insert(header::CONTENT_TYPE, form.media_type());
    varies(asked, asked.extensions, &mut response);
    response
}

fn not_negotiated(asked: &Asked<'_>) -> Response {
    let mut response = status::NOT_NEGOTIATED.answer(asked);
    if asked.extensions {
        response.headers_mut().append(header::VARY, reply::ACCEPT);
    }
    response
}

/// What go-restful refuses before a handler is asked.
fn refused_by_restful(asked: &Asked<'_>) -> Option<Response> {
    if !asked.gets() {
        return Some(status::METHOD_NOT_ALLOWED.answer(asked));
    }
    let acceptable = asked.extensions || accept::restful(&asked.accept(), &OBJECTS);
    (!acceptable).then(|| status::UNKNOWN_TYPE.answer(asked))
}

/// `/api/VERSION`
pub(super) fn core_version(asked: &Asked<'_>, snapshot: &Snapshot, version: &str) -> Response {
    let found = snapshot.discovery.core.iter().flat_map(|core| &core.versions).find(|found| &*found.version == version);
    match found {
        Some(found) => refused_by_restful(asked).unwrap_or_else(|| resources(asked, "", found)),
        None => status::NOT_FOUND.answer(asked),
    }
}

/// `/apis/GROUP`: the aggregator takes it with one slash at the end or none, and any method; what it leaves goes
/// to go-restful for built-in groups and to the handler of custom resources.
pub(super) fn group(asked: &Asked<'_>, snapshot: &Snapshot, name: &str, slashes: Slashes) -> Response {
    let Some(group) = snapshot.discovery.groups.get(name) else { return reply::page_not_found(asked) };
    match slashes {
        Slashes::Leading if is_built_in(group) => return reply::page_not_found(asked),
        Slashes::Trailing if is_built_in(group) => {
            if let Some(refusal) = refused_by_restful(asked) {
                return refusal;
            }
        }
        _ => {}
    }
    let Some(form) = plain(asked) else { return not_negotiated(asked) };
    let mut out = Vec::new();
    print::group(&mut out, group, form.into());
    object(asked, form, out)
}

/// `/apis/GROUP/VERSION`
pub(super) fn group_version(
    asked: &Asked<'_>,
    snapshot: &Snapshot,
    name: &str,
    version: &str,
    slashes: Slashes,
) -> Response {
    let Some(group) = snapshot.discovery.groups.get(name) else { return reply::page_not_found(asked) };
    let Some(found) = group.versions.iter().find(|found| &*found.version == version) else {
        return below_group(asked, snapshot, name);
    };
    match found.origin {
        Origin::BuiltIn if slashes == Slashes::Leading => reply::page_not_found(asked),
        Origin::BuiltIn => refused_by_restful(asked).unwrap_or_else(|| resources(asked, name, found)),
        // Nobody knows what the server behind it has.
        Origin::Aggregated if found.freshness == Freshness::Stale && found.resources.is_empty() => {
            status::UNAVAILABLE.answer(asked)
        }
        Origin::Aggregated | Origin::CustomResources => resources(asked, name, found),
    }
}

/// Anything else below a group.
pub(super) fn below_group(asked: &Asked<'_>, snapshot: &Snapshot, name: &str) -> Response {
    match snapshot.discovery.groups.get(name) {
        Some(group) if is_built_in(group) => status::NOT_FOUND.answer(asked),
        _ => reply::page_not_found(asked),
    }
}

fn is_built_in(group: &Group) -> bool {
    group.versions.iter().any(|version| version.origin == Origin::BuiltIn)
}

fn resources(asked: &Asked<'_>, group: &str, version: &GroupVersion) -> Response {
    let Some(form) = plain(asked) else { return not_negotiated(asked) };
    let mut out = Vec::new();
    print::resource_list(&mut out, group, version, form.into());
    object(asked, form, out)
}

/// `/`: indented JSON whatever is asked for.
pub(super) fn root(asked: &Asked<'_>, snapshot: &Snapshot, printed: &Printed) -> Response {
    let mut response = reply::object(asked, StatusCode::OK, printed.root(snapshot).clone());
    response.headers_mut().insert(header::CONTENT_TYPE, reply::JSON);
    response
}

/// `/version`, which go-restful routes: GET and JSON only.
pub(super) fn version(asked: &Asked<'_>, snapshot: &Snapshot) -> Response {
    if !asked.gets() {
        return status::METHOD_NOT_ALLOWED.answer(asked);
    }
    let acceptable = if asked.extensions {
        accept::object(&asked.accept(), &OBJECTS[..1], asked.reading()) == Choice::Offer(0)
    } else {
        accept::restful(&asked.accept(), &OBJECTS[..1])
    };
    if !acceptable {
        return status::ONLY_JSON.answer(asked);
    }
    let mut response = reply::object(asked, StatusCode::OK, Rope::from(snapshot.version.clone()));
    response.headers_mut().insert(header::CONTENT_TYPE, reply::JSON);
    response
}
