//! Whatever clients send about objects and their definitions, the peak memory of one request is at most [`TIMES`] times
//! what it reads, and [`BEYOND`] in addition.
//!
//! An allocator that the program must install counts memory; without it, the property checks nothing.

use kubeshape_builtin::BuiltInDocuments;
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Documents, MAX_BODY, Moment, Request};
use kubeshape_registry::Time;
use peak_alloc::PeakAlloc;
use std::sync::LazyLock;

/// The maximum memory of a request, as a multiple of its body, its query and the stored objects.
pub const TIMES: usize = 64;
/// The maximum additional memory of a request: defaults, patches and columns may add this much, in several forms.
pub const BEYOND: usize = 256 << 20;

/// The forms in which objects are read after each request.
const FORMS: [&str; 11] = [
    "application/json",
    "application/json;pretty=1",
    "application/yaml",
    "application/cbor",
    "text/csv",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/yaml;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=TabularOutput;g=meta.k8s.io;v=v1",
    "application/json;as=Description;g=meta.k8s.io;v=v1",
    "application/json;as=DescriptionList;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
];
/// The media type of binary bodies.
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// Levels of nested repetitions.
const DEPTH: usize = 4;

static API: LazyLock<Api> = LazyLock::new(|| {
    let release = BuiltInDocuments::newest().api();
    let documents = ["apis/apiextensions.k8s.io/v1", "api/v1"];
    let documents = documents.into_iter().filter_map(|path| Some((path, release.openapi_v3(path)?.into())));
    let api = Api::default().with_documents(Documents::new(documents));
    // Documents are read at their first use.
    for path in ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/api/v1/configmaps"] {
        api.answer(&mut Store::default(), &Request { path, ..Request::default() }, &Moment::default());
    }
    api
});

/// Checks the property. Requests are separated by lines of `%%`. The first line of each is `METHOD TARGET MEDIA`, the
/// rest is the body, in which `(*3:text*)` is expanded to `texttexttext`. A protobuf body is written in hexadecimal
/// digits. The target `/crd` is the path of the definitions. After each request, its path is read in all forms.
pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (mut api, mut store) = (API.clone(), Store::default());
    for part in text.split("\n%%\n").take(8) {
        let (head, body) = part.split_once('\n').unwrap_or((part, ""));
        let mut words = head.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (method, target, media) = (word(), word(), word());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let path = path.strip_prefix("/crd").map_or_else(|| path.to_owned(), |rest| format!("{definitions}{rest}"));
        let body = expanded(body.trim_end_matches('\n')).into_bytes();
        let body = if media == PROTOBUF { bytes(&body) } else { body };
        let query = expanded(query);
        let base = Request { path: &path, query: &query, alternates: true, ..Request::default() };
        let request = Request { method, content_type: media, body: &body, ..base };
        api = measured(&api, &mut store, &request);
        for accept in FORMS {
            let (accept, query) = accept.strip_suffix(";pretty=1").map_or((accept, &*query), |accept| (accept, "pretty=1"));
            api = measured(&api, &mut store, &Request { accept, query, ..base });
        }
    }
}

/// Sends a request, and checks how much memory it takes. Returns the API after it.
fn measured(api: &Api, store: &mut Store, request: &Request<'_>) -> Api {
    let moment = Moment { now: Time(1_700_000_000), uid: "6d3ab1ff-a1b4-4a63-9f3c-5b1d2f4f9c5e", ..Moment::default() };
    let objects: usize = store.objects().map(|(_, object)| object.json().len()).sum();
    let read = request.body.len() + request.query.len() + objects;
    let before_revision = store.revision();
    let before = PeakAlloc.current_usage();
    PeakAlloc.reset_peak_usage();
    let reply = api.answer(store, request, &moment);
    let settled = api.settle(store, before_revision, moment.now);
    let taken = PeakAlloc.peak_usage().saturating_sub(before);
    let code = reply.map_or(0, |reply| reply.code);
    let (method, path, accept) = (request.method, request.path, request.accept);
    assert!(
        taken <= TIMES * read + BEYOND,
        "{taken} bytes for a request that reads {read} ({code}): {method} {path} {accept}"
    );
    settled.map_or_else(|| api.clone(), |settled| settled.api)
}

/// Returns the bytes of pairs of hexadecimal digits.
fn bytes(digits: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = digits.iter().filter_map(|digit| Some((*digit as char).to_digit(16)? as u8)).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Returns the string with its repetitions expanded, up to the size limit of a body.
fn expanded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    repeat(&mut rest, 0, &mut out);
    out
}

/// Appends a string up to the end of the current repetition.
fn repeat(rest: &mut &str, depth: usize, out: &mut String) {
    while let Some(at) = rest.find(['(', '*']) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        if depth > 0 && behind.starts_with("*)") {
            *rest = &behind[2..];
            return;
        }
        let digits = behind.strip_prefix("(*").map_or(0, |text| text.bytes().take_while(u8::is_ascii_digit).count());
        let count = behind.get(2..2 + digits).and_then(|count| count.parse::<usize>().ok());
        if let Some(count) = count.filter(|_| depth < DEPTH && behind.as_bytes().get(2 + digits) == Some(&b':')) {
            *rest = &behind[3 + digits..];
            let mut inner = String::new();
            repeat(rest, depth + 1, &mut inner);
            let room = MAX_BODY.saturating_sub(out.len()) / inner.len().max(1);
            out.push_str(&inner.repeat(count.min(room)));
        } else {
            out.push_str(&behind[..1]);
            *rest = &behind[1..];
        }
    }
    out.push_str(rest);
    *rest = "";
}
