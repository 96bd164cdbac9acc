//! Discovery: `/api`, `/apis`, the paths below them, and `/` (apiserver `pkg/endpoints/discovery`, and the handlers of
//! apiextensions-apiserver and kube-aggregator).

use super::accept::{self, Choice, Offer};
use super::conditional::{Conditions, Outcome, Validators, evaluate};
use super::encoding::WORTH_COMPRESSING;
use super::request::RequestParts;
use super::route::Slashes;
use super::status::{self, Form, OBJECTS};
use super::work::LARGE;
use super::{printed::Printed, reply};
use crate::body::gzip_once;
use crate::document::Document;
use crate::features::Features;
use crate::rope::Rope;
use crate::snapshot::Snapshot;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use kubeshape_discovery::print::{self, AggregatedVersion, Encoding};
use kubeshape_discovery::{Freshness, Group, GroupVersion, Origin};
use std::sync::Arc;

/// The same with extensions, for objects whose compressed form is kept.
const WORTH_COMPRESSING_EXTENDED: usize = 1400;

fn least(parts: &RequestParts<'_>) -> usize {
    if parts.extensions { WORTH_COMPRESSING_EXTENDED } else { WORTH_COMPRESSING }
}

/// The media types of `/api` and `/apis`. [`offers`] selects those that a release has.
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

/// The form of a response of `/api` or `/apis`.
enum List {
    Aggregated(AggregatedVersion, Form),
    Plain(Form),
}

fn offers(features: Features) -> &'static [Offer] {
    static ALL: [Offer; 9] = LISTS;
    let first = if features.aggregated_v2 { 0 } else { OBJECTS.len() };
    let end = if features.aggregated_v2beta1 { ALL.len() } else { 2 * OBJECTS.len() };
    &ALL[first..end]
}

fn list(parts: &RequestParts<'_>, features: Features) -> Option<List> {
    let offers = offers(features);
    let Choice::Offer(place) = accept::object(&parts.accept(), offers, parts.reading()) else { return None };
    let form = Form::of(place % OBJECTS.len(), parts.pretty());
    Some(match offers[place].aggregated {
        Some("v2beta1") => List::Aggregated(AggregatedVersion::V2beta1, form),
        Some(_) => List::Aggregated(AggregatedVersion::V2, form),
        None => List::Plain(form),
    })
}

/// Returns whether everything for a response of `/api` (`core`) or `/apis` is already computed, or is small.
pub(super) fn is_made(
    parts: &RequestParts<'_>,
    snapshot: &Snapshot,
    printed: &Printed,
    core: bool,
    features: Features,
) -> bool {
    let tagged = if core { &snapshot.discovery.aggregated_core } else { &snapshot.discovery.aggregated };
    let is_sent = |document: &Document| !parts.gzip_object() || document.is_compressed();
    tagged.json().len() < LARGE
        || match list(parts, features) {
            Some(List::Aggregated(version, form)) => {
                // For JSON, only the head and the tail are printed.
                tagged.is_hashed()
                    && (is_unchanged(parts, tagged)
                        || (form == Form::Json && !parts.gzip_object())
                        || printed.made_aggregated(core, version, form).is_some_and(|document| is_sent(document)))
            }
            Some(List::Plain(form)) => core || printed.made_groups(form).is_some_and(|document| is_sent(document)),
            None => true,
        }
}

/// Returns whether the list of resources of a group version is short.
pub(super) fn is_short(snapshot: &Snapshot, name: &str, version: &str) -> bool {
    /// The approximate bytes of a resource in a list.
    const EACH: usize = 256;
    let group = snapshot.discovery.groups.get(name);
    let found = group.and_then(|group| group.versions.iter().find(|found| &*found.version == version));
    found.is_none_or(|found| found.resources.len() * EACH < LARGE)
}

/// `/api`, which go-restful routes: GET only.
pub(super) fn core(
    parts: &RequestParts<'_>,
    snapshot: &Snapshot,
    printed: &Printed,
    advertise: &str,
    features: Features,
) -> Response {
    if let Some(refusal) = refused_by_restful(parts) {
        return refusal;
    }
    match list(parts, features) {
        Some(List::Aggregated(version, form)) => {
            let document = || printed.core(version, form, snapshot);
            aggregated(parts, &snapshot.discovery.aggregated_core, document, media_type(version, form))
        }
        Some(List::Plain(form)) => {
            let versions = snapshot.discovery.core.iter().flat_map(|core| &core.versions);
            let versions: Vec<&str> = versions.map(|version| &*version.version).collect();
            let mut out = Vec::new();
            print::versions(&mut out, &versions, &[("0.0.0.0/0", advertise)], form.into());
            object(parts, form, out)
        }
        None => not_negotiated(parts),
    }
}

/// Answers `/apis`, and `/apis/`, which has no aggregated form. All methods are treated as GET.
pub(super) fn groups(
    parts: &RequestParts<'_>,
    snapshot: &Snapshot,
    printed: &Printed,
    listed: bool,
    features: Features,
) -> Response {
    let choice = if listed && !parts.extensions { plain(parts).map(List::Plain) } else { list(parts, features) };
    match choice {
        Some(List::Aggregated(version, form)) => {
            let document = || printed.named(version, form, snapshot);
            aggregated(parts, &snapshot.discovery.aggregated, document, media_type(version, form))
        }
        Some(List::Plain(form)) => shared_object(parts, form, &printed.groups(form, snapshot)),
        None => not_negotiated(parts),
    }
}

/// Returns whether the client already has aggregated discovery. kube-apiserver only compares `If-None-Match` with the
/// whole tag, and supports no other condition. With extensions, conditions work like for documents.
fn is_unchanged(parts: &RequestParts<'_>, tagged: &Document) -> bool {
    let etag = tagged.headers().etag.as_bytes();
    let known = parts.header(header::IF_NONE_MATCH);
    if !parts.extensions {
        return known == etag;
    }
    let conditions = Conditions { reads: true, if_none_match: known, ..Conditions::default() };
    evaluate(&conditions, &Validators { etag, modified: tagged.modified() }) == Outcome::NotModified
}

/// Answers with aggregated discovery, whose tag is that of `tagged`. `document` is not computed if the client has it.
fn aggregated(
    parts: &RequestParts<'_>,
    tagged: &Document,
    document: impl FnOnce() -> Arc<Document>,
    media: HeaderValue,
) -> Response {
    let headers = tagged.headers();
    let mut response = if is_unchanged(parts, tagged) {
        reply::not_modified()
    } else {
        let mut response = compressible(parts, &document(), least(parts));
        response.headers_mut().insert(header::CONTENT_TYPE, media);
        response
    };
    let out = response.headers_mut();
    out.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
    out.insert(header::ETAG, headers.etag.clone());
    varies(parts, true, &mut response);
    response
}

/// Returns a body, compressed if it is large.
fn compressible(parts: &RequestParts<'_>, document: &Document, least: usize) -> Response {
    if document.json().len() <= least || !parts.gzip_object() {
        return reply::object(parts, StatusCode::OK, document.json().clone());
    }
    let mut response = reply::object(parts, StatusCode::OK, document.gzip().clone());
    response.headers_mut().insert(header::CONTENT_ENCODING, reply::GZIP);
    response
}

/// Sets `Vary`. kube-apiserver names `Accept-Encoding` only if it compressed; with extensions, it is always named.
fn varies(parts: &RequestParts<'_>, negotiated: bool, response: &mut Response) {
    let compressed = response.headers().contains_key(header::CONTENT_ENCODING);
    if negotiated {
        response.headers_mut().append(header::VARY, reply::ACCEPT);
    }
    if parts.extensions || compressed {
        response.headers_mut().append(header::VARY, reply::ACCEPT_ENCODING);
    }
}

/// Returns the plain form that the client accepts.
fn plain(parts: &RequestParts<'_>) -> Option<Form> {
    match accept::object(&parts.accept(), &OBJECTS, parts.reading()) {
        Choice::Offer(place) => Some(Form::of(place, parts.pretty())),
        Choice::Nothing | Choice::Unreadable => None,
    }
}

fn object(parts: &RequestParts<'_>, form: Form, content: Vec<u8>) -> Response {
    let content = Bytes::from(content);
    let is_compressed = content.len() > WORTH_COMPRESSING && parts.gzip_object();
    let content = if is_compressed { gzip_once(&content) } else { content };
    let mut response = match reply::made(parts, StatusCode::OK, content) {
        Ok(response) => response,
        Err(response) => return response,
    };
    if is_compressed {
        response.headers_mut().insert(header::CONTENT_ENCODING, reply::GZIP);
    }
    typed(parts, form, response)
}

fn shared_object(parts: &RequestParts<'_>, form: Form, document: &Document) -> Response {
    typed(parts, form, compressible(parts, document, least(parts)))
}

fn typed(parts: &RequestParts<'_>, form: Form, mut response: Response) -> Response {
    response.headers_mut().insert(header::CONTENT_TYPE, form.media_type());
    varies(parts, parts.extensions, &mut response);
    response
}

fn not_negotiated(parts: &RequestParts<'_>) -> Response {
    let mut response = status::NOT_NEGOTIATED.answer(parts);
    if parts.extensions {
        response.headers_mut().append(header::VARY, reply::ACCEPT);
    }
    response
}

/// Returns go-restful's refusal before it calls a handler, if any.
fn refused_by_restful(parts: &RequestParts<'_>) -> Option<Response> {
    if !parts.gets() {
        return Some(status::METHOD_NOT_ALLOWED.answer(parts));
    }
    let acceptable = parts.extensions || accept::restful(&parts.accept(), &OBJECTS);
    (!acceptable).then(|| status::UNKNOWN_TYPE.answer(parts))
}

/// `/api/VERSION`
pub(super) fn core_version(parts: &RequestParts<'_>, snapshot: &Snapshot, version: &str) -> Response {
    let found = snapshot.discovery.core.iter().flat_map(|core| &core.versions).find(|found| &*found.version == version);
    match found {
        Some(found) => refused_by_restful(parts).unwrap_or_else(|| resources(parts, "", found)),
        None => status::NOT_FOUND.answer(parts),
    }
}

/// Answers `/apis/GROUP`. The aggregator accepts it with at most one trailing slash, and with any method. Other
/// requests go to go-restful for built-in groups, and to the handler of custom resources.
pub(super) fn group(parts: &RequestParts<'_>, snapshot: &Snapshot, name: &str, slashes: Slashes) -> Response {
    let Some(group) = snapshot.discovery.groups.get(name) else { return reply::page_not_found(parts) };
    match slashes {
        Slashes::Leading if is_built_in(group) => return reply::page_not_found(parts),
        Slashes::Trailing if is_built_in(group) => {
            if let Some(refusal) = refused_by_restful(parts) {
                return refusal;
            }
        }
        _ => {}
    }
    let Some(form) = plain(parts) else { return not_negotiated(parts) };
    let mut out = Vec::new();
    print::group(&mut out, group, form.into());
    object(parts, form, out)
}

/// `/apis/GROUP/VERSION`
pub(super) fn group_version(
    parts: &RequestParts<'_>,
    snapshot: &Snapshot,
    name: &str,
    version: &str,
    slashes: Slashes,
) -> Response {
    let Some(group) = snapshot.discovery.groups.get(name) else { return reply::page_not_found(parts) };
    let Some(found) = group.versions.iter().find(|found| &*found.version == version) else {
        return below_group(parts, snapshot, name);
    };
    match found.origin {
        Origin::BuiltIn if slashes == Slashes::Leading => reply::page_not_found(parts),
        Origin::BuiltIn => refused_by_restful(parts).unwrap_or_else(|| resources(parts, name, found)),
        // The resources of that server are unknown.
        Origin::Aggregated if found.freshness == Freshness::Stale && found.resources.is_empty() => {
            status::UNAVAILABLE.answer(parts)
        }
        Origin::Aggregated | Origin::CustomResources => resources(parts, name, found),
    }
}

/// Answers other paths below a group.
pub(super) fn below_group(parts: &RequestParts<'_>, snapshot: &Snapshot, name: &str) -> Response {
    match snapshot.discovery.groups.get(name) {
        Some(group) if is_built_in(group) => status::NOT_FOUND.answer(parts),
        _ => reply::page_not_found(parts),
    }
}

fn is_built_in(group: &Group) -> bool {
    group.versions.iter().any(|version| version.origin == Origin::BuiltIn)
}

fn resources(parts: &RequestParts<'_>, group: &str, version: &GroupVersion) -> Response {
    let Some(form) = plain(parts) else { return not_negotiated(parts) };
    let mut out = Vec::new();
    print::resource_list(&mut out, group, version, form.into());
    object(parts, form, out)
}

/// `/`: always indented JSON.
pub(super) fn root(parts: &RequestParts<'_>, snapshot: &Snapshot, printed: &Printed) -> Response {
    let mut response = reply::object(parts, StatusCode::OK, printed.root(snapshot).clone());
    response.headers_mut().insert(header::CONTENT_TYPE, reply::JSON);
    response
}

/// `/version`, which go-restful routes: GET and JSON only.
pub(super) fn version(parts: &RequestParts<'_>, version: &Bytes) -> Response {
    if !parts.gets() {
        return status::METHOD_NOT_ALLOWED.answer(parts);
    }
    let acceptable = if parts.extensions {
        accept::object(&parts.accept(), &OBJECTS[..1], parts.reading()) == Choice::Offer(0)
    } else {
        accept::restful(&parts.accept(), &OBJECTS[..1])
    };
    if !acceptable {
        return status::ONLY_JSON.answer(parts);
    }
    let mut response = reply::object(parts, StatusCode::OK, Rope::from(version.clone()));
    response.headers_mut().insert(header::CONTENT_TYPE, reply::JSON);
    response
}
