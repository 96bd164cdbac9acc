//! Forms of objects over HTTP: headers, compression, the group of the generic kinds.

use crate::common::{endpoints, get, modified, snapshot};
use flate2::read::GzDecoder;
use kubeshape_objects::{Api, Moment, Request, store::Store as Stored};
use kubeshape_registry::Registry;
use kubeshape_server::http::Http;
use kubeshape_server::{BaseDocuments, Change, Emulation, Endpoints, Live, Objects, Store, StoreOptions};
use serde_json::{Value, json};
use std::io::Read;
use std::sync::Arc;

const NOTES: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: notes.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: notes, kind: Note}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {text: {type: string}, mode: {type: string, default: plain}}}}
";
const ALL: &str = "/apis/example.com/v1/notes";

/// Returns a server with one note of this length.
fn served(length: usize, extensions: bool) -> Http {
    Http::new(with_note(length, endpoints(snapshot(0), extensions)))
}

fn with_note(length: usize, endpoints: Endpoints) -> Endpoints {
    let mut registry = Registry::default();
    registry.set_input("n", kubeshape_input::read("n.yaml", NOTES.as_bytes(), kubeshape_input::Limits::default()));
    let (api, mut stored) = (Api::new(registry), Stored::default());
    let note =
        json!({"apiVersion": "example.com/v1", "kind": "Note", "metadata": {"name": "a"}, "text": "x".repeat(length)});
    let body = note.to_string();
    let post = Request { method: "POST", path: ALL, body: body.as_bytes(), ..Request::default() };
    let reply = api.answer(&mut stored, &post, &Moment::default()).expect("a resource");
    assert_eq!(reply.code, 201, "{}", reply.text());
    Endpoints { objects: Some(Arc::new(Objects::new(api, stored))), ..endpoints }
}

#[tokio::test]
async fn responses_have_their_form_and_vary() {
    let http = served(10, true);
    let table = "application/json;g=meta.k8s.io,v=v1,as=TabularOutput";
    for (path, accept, media) in [
        (ALL, "", "application/json"),
        (ALL, table, "application/json;g=meta.k8s.io;v=v1;as=TabularOutput"),
        (&*format!("{ALL}/a"), table, "application/json;g=meta.k8s.io;v=v1;as=TabularOutput"),
        (&*format!("{ALL}/a"), "application/yaml;export=1", "application/yaml;export=1"),
        (&*format!("{ALL}/a"), "application/cbor", "application/cbor"),
        (&*format!("{ALL}/none"), "application/json;sv=v2", "application/json;sv=v2"),
        (ALL, "text/csv", "text/csv;charset=utf-8;header=present"),
        (ALL, "image/png", "application/json"),
    ] {
        let answer = get(&http, path, &[("accept", accept)]).await;
        assert_eq!(answer.header("content-type"), media, "{path} {accept}");
        assert_eq!(answer.vary(), ["Accept", "Accept-Encoding"], "{path} {accept}");
    }
    // All lines of the header are used.
    let answer = get(&http, ALL, &[("accept", "image/png"), ("accept", "text/csv")]).await;
    assert_eq!(answer.code, 200);
    assert!(answer.text().starts_with("Name,Age\r\na,"), "{}", answer.text());
    assert_eq!(answer.header("continue"), "");
}

#[tokio::test]
async fn without_extensions_responses_are_those_of_kube_apiserver() {
    let http = served(10, false);
    let table = "application/json;g=meta.k8s.io;v=v1;as=Table";
    for (accept, code, media) in [
        (table, 200, "application/json"),
        ("application/json;g=meta.k8s.io,v=v1,as=Table, application/json", 200, "application/json"),
        ("application/yaml;export=1", 200, "application/yaml"),
        ("text/csv", 406, "application/json"),
        ("application/cbor", 406, "application/json"),
    ] {
        let answer = get(&http, ALL, &[("accept", accept)]).await;
        assert_eq!((answer.code.as_u16(), answer.header("content-type")), (code, media), "{accept}");
        assert!(answer.vary().is_empty(), "{accept}");
    }
    let answer = get(&http, &format!("{ALL}/a?export=1"), &[]).await;
    assert_eq!(answer.code, 400);
}

#[tokio::test]
async fn cbor_is_behind_its_gate() {
    let emulation =
        Emulation::new(kubeshape_schema::Release::of_minor(36), &[("CBORServingAndStorage", true)]).expect("a gate");
    let endpoints = Endpoints { emulation: Some(emulation), ..endpoints(snapshot(0), false) };
    let http = Http::new(with_note(10, endpoints));
    let answer = get(&http, ALL, &[("accept", "application/cbor")]).await;
    assert_eq!((answer.code.as_u16(), answer.header("content-type")), (200, "application/cbor"));
    assert!(answer.body.starts_with(&[0xd9, 0xd9, 0xf7]));
    let watch = get(&http, &format!("{ALL}?watch=1&timeoutSeconds=1"), &[("accept", "application/cbor")]).await;
    assert_eq!(watch.header("content-type"), "application/cbor-seq");
    let refused = get(&http, ALL, &[("accept", "image/png")]).await;
    let message: Value = serde_json::from_slice(&refused.body).expect("JSON");
    let expected = "only the following media types are accepted: application/json, application/yaml, \
                    application/vnd.kubernetes.protobuf, application/cbor";
    assert_eq!(message["message"], expected);
}

#[tokio::test]
async fn large_responses_are_compressed_on_request() {
    // Upstream: `defaultGzipThresholdBytes`.
    const THRESHOLD: usize = 128 << 10;
    for extensions in [false, true] {
        let around = get(&served(0, extensions), &format!("{ALL}/a"), &[]).await.body.len();
        for (more, compressed) in [(0, false), (1, true)] {
            let http = served(THRESHOLD - around + more, extensions);
            let plain = get(&http, &format!("{ALL}/a"), &[]).await;
            assert_eq!(plain.body.len(), THRESHOLD + more);
            let answer = get(&http, &format!("{ALL}/a"), &[("accept-encoding", "deflate, gzip")]).await;
            assert_eq!(answer.header("content-encoding") == "gzip", compressed);
            assert_eq!(answer.vary().contains(&"Accept-Encoding"), compressed || extensions);
            if compressed {
                let mut read = Vec::new();
                GzDecoder::new(&answer.body[..]).read_to_end(&mut read).expect("gzip");
                assert_eq!(read, plain.body);
                assert!(answer.body.len() < THRESHOLD / 10);
            }
        }
        // Only with extensions, a weight is read as HTTP defines it.
        let http = served(THRESHOLD * 2, extensions);
        let weighed = get(&http, ALL, &[("accept-encoding", "gzip;q=0.5")]).await;
        assert_eq!(weighed.header("content-encoding") == "gzip", extensions);
        let none = get(&http, ALL, &[]).await;
        assert_eq!(none.header("content-encoding"), "");
    }
}

#[tokio::test]
async fn the_generic_kinds_are_a_group() {
    let options = StoreOptions { generic_kinds: true, ..StoreOptions::default() };
    let store = Store::new(BaseDocuments::default(), options, modified()).expect("a store");
    let live = Arc::new(Live::new(store.snapshot()));
    let http = Http::new(Endpoints { live, ..endpoints(snapshot(0), true) });
    let index = get(&http, "/openapi/v3", &[]).await;
    assert!(index.text().contains("\"apis/meta.k8s.io/v1\":"), "{}", index.text());
    let document = get(&http, "/openapi/v3/apis/meta.k8s.io/v1", &[]).await;
    let document: Value = serde_json::from_slice(&document.body).expect("JSON");
    assert!(document["components"]["schemas"].get("io.k8s.meta.v1.ListOptions").is_some());
    let v2 = get(&http, "/openapi/v2", &[]).await;
    let v2: Value = serde_json::from_slice(&v2.body).expect("JSON");
    assert!(v2["definitions"].get("io.k8s.meta.v1.ListOptions").is_some(), "{v2}");
    assert!(v2["paths"].get("/apis/meta.k8s.io/v1/").is_some(), "{v2}");
    let groups = get(&http, "/apis", &[]).await;
    assert!(
        groups
            .text()
            .contains(r#"{"name":"meta.k8s.io","versions":[{"groupVersion":"meta.k8s.io/v1","version":"v1"}]"#),
        "{}",
        groups.text()
    );
    let group = get(&http, "/apis/meta.k8s.io", &[]).await;
    assert_eq!(group.code, 200);
    let resources = get(&http, "/apis/meta.k8s.io/v1", &[]).await;
    let resources: Value = serde_json::from_slice(&resources.body).expect("JSON");
    assert_eq!((&resources["groupVersion"], &resources["resources"]), (&json!("meta.k8s.io/v1"), &json!([])));
    // No document of a definition changes.
    let plain = Store::new(BaseDocuments::default(), StoreOptions::default(), modified()).expect("a store");
    assert!(!plain.snapshot().v3.contains_key("apis/meta.k8s.io/v1"));
}

#[tokio::test]
async fn definitions_alone_are_published_as_the_release_publishes_them() {
    for (release, has_shards) in [("1.35", false), ("1.36", true), ("1.37", true)] {
        let options = StoreOptions { release: release.parse().expect("a release"), ..StoreOptions::default() };
        let mut store = Store::new(BaseDocuments::default(), options, modified()).expect("a store");
        let live = Arc::new(Live::new(store.snapshot()));
        let http = Http::new(Endpoints { live, ..endpoints(snapshot(0), true) });
        let v2: Value = serde_json::from_slice(&get(&http, "/openapi/v2", &[]).await.body).expect("JSON");
        assert_eq!(v2["info"]["version"], release);
        let content = Some(NOTES.into());
        store.apply(vec![Change { name: "notes.yaml".into(), content }], modified());
        let live = Arc::new(Live::new(store.snapshot()));
        let http = Http::new(Endpoints { live, ..endpoints(snapshot(0), true) });
        let document = get(&http, "/openapi/v3/apis/example.com/v1", &[]).await;
        assert_eq!(document.text().contains("shardSelector"), has_shards, "{release}");
    }
}
