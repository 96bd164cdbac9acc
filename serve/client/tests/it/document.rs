use crate::server::{Server, ok};
use kubeshape_client::{
    Client, Document, Encoding, Error, Limits, Request, Response, Transport, TransportError, aggregate,
};
use kubeshape_convert::proto;
use kubeshape_yaml::{Limits as TextLimits, Stream, Tape};

const APPS: &str = r#"{"openapi":"3.0.0","info":{"title":"Kubernetes","version":"v1.36.3"},"paths":{"/apis/apps/v1/":{
    "get":{"responses":{"200":{"description":"OK"}}}}},"components":{"schemas":{"io.k8s.api.apps.v1.Deployment":{"type":"object",
    "x-kubernetes-group-version-kind":[{"group":"apps","kind":"Deployment","version":"v1"}]}}}}"#;

/// Returns the bytes of the protobuf form.
fn encoded(json: &str) -> Vec<u8> {
    let mut tape = Tape::new();
    Stream::new(json.as_bytes(), TextLimits::default()).expect("a text").next(&mut tape).expect("one").expect("read");
    proto::v3::encode(tape.document(json).root().expect("a root")).expect("a document").value
}

fn of(path: &str, bytes: impl Into<Vec<u8>>) -> Document {
    Document { path: path.to_owned(), hash: None, bytes: bytes.into() }
}

/// Returns the title and the names of the schemas.
fn read(document: &Document) -> Result<(String, Vec<String>), Error> {
    document.read(|document, _| {
        let schemas = document.components.map_or(&[][..], |components| components.schemas);
        let names = schemas.iter().map(|schema| schema.name.to_owned());
        (document.info.map_or("", |info| info.title).to_owned(), names.collect())
    })
}

/// A server that has one document in both encodings, and records its requests.
struct Both(Server);

impl Transport for Both {
    async fn get(&self, request: Request<'_>) -> Result<Response, TransportError> {
        let is_protobuf = request.accept == "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
        if is_protobuf && request.path.starts_with("/openapi/v3/") {
            return Ok(Response { status: 200, body: encoded(APPS), ..Response::default() });
        }
        self.0.get(request).await
    }
}

#[test]
fn both_encodings_are_read_as_one_document() {
    let server = Both(Server::default());
    server.0.documents(&[("apis/apps/v1", APPS)]);
    let client = Client::new(&server, Limits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let fetch = |encoding| {
        runtime.block_on(async {
            let index = client.index().await?;
            client.document(&index, "apis/apps/v1", encoding).await
        })
    };
    let json = fetch(Encoding::Json).expect("a document");
    let protobuf = fetch(Encoding::Protobuf).expect("a document");
    assert_eq!(json.bytes, APPS.as_bytes());
    assert_eq!(protobuf.bytes, encoded(APPS));
    // The hash is the one of the index, which is that of the JSON.
    assert_eq!(protobuf.hash, json.hash);
    let expected = ("Kubernetes".to_owned(), vec!["io.k8s.api.apps.v1.Deployment".to_owned()]);
    assert_eq!(read(&json).as_ref(), Ok(&expected));
    assert_eq!(read(&protobuf), Ok(expected));
    assert_eq!(json.json().expect("JSON"), APPS.as_bytes());
    let decoded: serde_json::Value = serde_json::from_slice(&protobuf.json().expect("JSON")).expect("JSON");
    assert_eq!(decoded, serde_json::from_str::<serde_json::Value>(APPS).expect("JSON"));
}

#[test]
fn an_invalid_document_is_an_error_with_its_path() {
    let mut cut = encoded(APPS);
    cut.truncate(cut.len() - 3);
    let deep = format!("{{\"openapi\":\"3.0.0\",\"x\":{}", "[".repeat(100_000));
    for bytes in [&b""[..], b"[]", b"{", b"\xff\xfe", &cut, deep.as_bytes()] {
        let error = read(&of("apis/apps/v1", bytes)).expect_err("it is none");
        assert_eq!(error.path, "/openapi/v3/apis/apps/v1", "{error}");
        assert!(aggregate(&[of("apis/apps/v1", bytes)]).is_err());
    }
    assert!(aggregate([]).expect_err("there are none").to_string().contains("no documents"));
}

#[test]
fn merged_documents_may_have_both_encodings() {
    let other = APPS.replace("apps", "batch").replace("Deployment", "Job");
    let of_json = aggregate(&[of("apis/apps/v1", APPS), of("apis/batch/v1", &*other)]).expect("a document");
    let mixed = aggregate(&[of("apis/apps/v1", APPS), of("apis/batch/v1", encoded(&other))]).expect("a document");
    assert_eq!((&of_json.conflicts[..], &mixed.bytes), (&[][..], &of_json.bytes));
    let (_, names) = read(&of("all", of_json.bytes)).expect("a document");
    assert_eq!(names, ["io.k8s.api.apps.v1.Deployment", "io.k8s.api.batch.v1.Job"]);
    // Two documents with the same path contradict each other.
    let twice = [of("apis/apps/v1", APPS), of("apis/copy/v1", APPS.replace("OK", "Fine"))];
    let error = aggregate(&twice).expect_err("a conflict");
    assert!(error.to_string().contains("/apis/apps/v1/"), "{error}");
}

#[test]
fn a_response_that_is_not_json_is_refused_only_if_json_was_requested() {
    let server = Server::default();
    server.documents(&[("apis/apps/v1", APPS)]);
    let url = format!("/openapi/v3/apis/apps/v1?hash={}", kubeshape_client::cache::Digest::of(APPS.as_bytes()));
    server.forget(&url).answer(&url, Response { body: encoded(APPS), ..ok("") });
    let client = Client::new(&server, Limits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let index = runtime.block_on(client.index()).expect("an index");
    assert!(runtime.block_on(client.document(&index, "apis/apps/v1", Encoding::Json)).is_err());
    assert!(runtime.block_on(client.document(&index, "apis/apps/v1", Encoding::Protobuf)).is_ok());
}

#[test]
fn recorded_protobuf_documents_are_those_in_json() {
    let Some(golden) = kubeshape_corpus::folder_named_by("KUBESHAPE_GOLDEN") else { return };
    let golden = golden.join("apiserver");
    let recording = kubeshape_corpus::replay::Recording::read(&[golden.join("crds"), golden.join("empty")]);
    let protobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
    let (mut count, mut smaller) = (0, 0);
    for (path, url) in recording.documents().into_iter().step_by(5) {
        let json = of(&path, recording.body(&url, "application/json"));
        let encoded = of(&path, recording.body(&url, protobuf));
        assert_eq!(read(&json).expect("JSON"), read(&encoded).expect("protobuf"), "{path}");
        count += 1;
        smaller += usize::from(encoded.bytes.len() < json.bytes.len());
    }
    assert_eq!((count, smaller), (19, 19));
}
