//! `kubeshape-bench forms [N] [BYTES]`: the cost of a list of objects in its forms, compared with the plain list.
//!
//! The requests go through the HTTP service of the server, without a socket: sending a list over one would cost its
//! bytes again. Processor time is that of the process.

use cpu_time::ProcessTime;
use http_body_util::{BodyExt, Empty};
use kubeshape_objects::store::Store as Stored;
use kubeshape_objects::{Api, Moment, Request};
use kubeshape_registry::{Registry, Time};
use kubeshape_server::http::Http;
use kubeshape_server::{BaseDocuments, Endpoints, Live, Metrics, Objects, Readiness, Store, StoreOptions};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tower::ServiceExt;

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
    additionalPrinterColumns:
    - {name: Color, type: string, jsonPath: .spec.color}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type==\"Ready\")].status'}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
const ROUNDS: usize = 9;

/// What is measured: a name, `Accept`, and the maximum share of the list's cost.
const FORMS: [(&str, &str, Option<f64>); 7] = [
    ("list", "application/json", None),
    ("partial metadata", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", Some(1.0 / 5.0)),
    (
        "the same, protobuf",
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        Some(1.0 / 5.0),
    ),
    ("table", "application/json;as=Table;g=meta.k8s.io;v=v1", Some(1.0 / 3.0)),
    ("tabular output", "application/json;as=TabularOutput;g=meta.k8s.io;v=v1", Some(1.0 / 3.0)),
    ("csv", "text/csv", Some(1.0 / 3.0)),
    ("cbor", "application/cbor", None),
];

pub(crate) fn all(arguments: &[String]) -> ExitCode {
    let number = |at: usize, default: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (count, bytes) = (number(0, 10_000), number(1, 5_000));
    let Some(http) = service(count, bytes) else { return ExitCode::FAILURE };
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() else {
        return ExitCode::FAILURE;
    };
    println!("{count} objects of {bytes} bytes; best of {ROUNDS} rounds, processor time, and the first round");
    let mut is_within = true;
    for encoding in ["", "gzip"] {
        let mut best = [(Duration::MAX, Duration::ZERO, 0); FORMS.len()];
        for round in 0..ROUNDS {
            for ((_, accept, _), best) in FORMS.iter().zip(&mut best) {
                let start = ProcessTime::now();
                let length = runtime.block_on(get(&http, accept, encoding));
                let took = start.elapsed();
                let Some(length) = length else { return ExitCode::FAILURE };
                let first = if round == 0 { took } else { best.1 };
                *best = (best.0.min(took), first, length);
            }
        }
        println!("{}", if encoding.is_empty() { "as it is" } else { "compressed, as clients in Go ask for it" });
        let whole = best[0];
        for ((name, _, most), (time, first, length)) in FORMS.iter().zip(best) {
            let of_time = time.as_secs_f64() / whole.0.as_secs_f64();
            let of_bytes = length as f64 / whole.2 as f64;
            let verdict = match most {
                Some(most) if of_time > *most || of_bytes > *most => {
                    is_within = false;
                    format!("above {most:.2}")
                }
                Some(most) => format!("within {most:.2}"),
                None => String::new(),
            };
            println!(
                "  {name:20} {:8.1} ms (first {:8.1})  {:9} kB  time {of_time:.3}  bytes {of_bytes:.3}  {verdict}",
                time.as_secs_f64() * 1e3,
                first.as_secs_f64() * 1e3,
                length / 1000,
            );
        }
    }
    if is_within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn get(http: &Http, accept: &str, encoding: &str) -> Option<usize> {
    let mut request = http::Request::get(WIDGETS).header("Accept", accept);
    if !encoding.is_empty() {
        request = request.header("Accept-Encoding", encoding);
    }
    let request = request.body(Empty::<bytes::Bytes>::new()).ok()?;
    let response = http.clone().oneshot(request).await.ok()?;
    let is_good = response.status().is_success();
    let (mut body, mut length) = (response.into_body(), 0);
    while let Some(frame) = body.frame().await {
        length += frame.ok()?.data_ref().map_or(0, bytes::Bytes::len);
    }
    is_good.then_some(length)
}

/// Returns a server with objects of this size, as a controller leaves them: with labels, owners and managed fields.
fn service(count: usize, bytes: usize) -> Option<Http> {
    let mut registry = Registry::default();
    let limits = kubeshape_input::Limits::default();
    registry.set_input("widgets", kubeshape_input::read("widgets.yaml", DEFINITION.as_bytes(), limits));
    let (api, mut stored) = (Api::new(registry), Stored::default());
    let text = "lorem ipsum dolor sit amet consectetur";
    for n in 0..count {
        let mut entries = String::new();
        while entries.len() + 1_000 < bytes {
            let place = entries.len();
            // Writing to a string cannot fail.
            let _ = write!(entries, r#"{{"name":"entry-{place}","value":"{text} {n}","port":{place},"on":true}},"#);
        }
        let body = format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"widget-{n:05}","labels":{{"app":"widgets","tier":"t{}"}}}},"spec":{{"color":"red","entries":[{}]}}}}"#,
            n % 10,
            entries.trim_end_matches(',')
        );
        let uid = format!("00000000-0000-0000-0000-{n:012}");
        let moment =
            Moment { now: Time(1_700_000_000 + n.cast_signed() as i64), uid: &uid, random: 0, ..Moment::default() };
        let post =
            Request { method: "POST", path: WIDGETS, body: body.as_bytes(), user_agent: "bench", ..Request::default() };
        let path = format!("{WIDGETS}/widget-{n:05}/status");
        let status = br#"{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Fine","message":"all is well","lastTransitionTime":"2023-11-14T22:13:20Z"}]}}"#;
        let patch = Request {
            method: "PATCH",
            path: &path,
            body: status,
            content_type: "application/merge-patch+json",
            ..post
        };
        for request in [post, patch] {
            let reply = api.answer(&mut stored, &request, &moment)?;
            if reply.code >= 300 {
                eprintln!("{}", reply.text());
                return None;
            }
        }
    }
    let published = Store::new(BaseDocuments::default(), StoreOptions::default(), SystemTime::now()).ok()?;
    Some(Http::new(Endpoints {
        live: Arc::new(Live::new(published.snapshot())),
        extensions: true,
        advertise: "localhost".into(),
        metrics: Arc::new(Metrics::default()),
        readiness: Arc::new(Readiness::default()),
        authenticator: None,
        emulation: None,
        v2_without_custom_resources: None,
        objects: Some(Arc::new(Objects::new(api, stored))),
        pages: None,
    }))
}
