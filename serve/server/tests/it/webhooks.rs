//! Webhooks over sockets: a server with TLS on loopback converts objects of a definition, and admits objects.

use crate::common::{endpoints, snapshot};
use crate::resources::send;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use kubeshape_objects::{Api, Documents, store};
use kubeshape_registry::Registry;
use kubeshape_server::http::Http;
use kubeshape_server::{
    BaseDocuments, Branched, Endpoints, LoopbackHooks, Objects, Server, Store, StoreOptions, Worlds,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::runtime::Handle;
use tower::Service;

const V1: &str = "/apis/example.com/v1/namespaces/default/tabs";
const BETA: &str = "/apis/example.com/v1beta1/namespaces/default/tabs";

/// Answers one review. To convert, `spec.a` of v1 is `spec.b` of v1beta1. Objects with the name `refused` are not admitted.
fn answer(review: &Value) -> Value {
    let request = &review["request"];
    if review["kind"] == "AdmissionReview" {
        let response = json!({"uid": request["uid"], "allowed": request["name"] != "refused"});
        return json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response});
    }
    let to = request["desiredAPIVersion"].as_str().unwrap_or_default();
    let convert = |object: &Value| {
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        let text = object["spec"].as_object().and_then(|spec| spec.values().next().cloned()).unwrap_or_default();
        object["spec"] = if to == "example.com/v1" { json!({ "a": text }) } else { json!({ "b": text }) };
        object
    };
    let objects: Vec<Value> = request["objects"].as_array().into_iter().flatten().map(convert).collect();
    json!({"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": {
        "uid": request["uid"], "convertedObjects": objects, "result": {"status": "Success"}}})
}

/// Starts the webhook. Returns its port and its certificate.
fn webhook() -> (u16, String) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM")];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("PEM");
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a certificate");
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").expect("a port"));
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let session = rustls::ServerConnection::new(Arc::clone(&config)).expect("a session");
            std::thread::spawn(move || serve(rustls::StreamOwned::new(session, stream)));
        }
    });
    (port, certificate)
}

/// Answers the requests of a connection until it ends.
fn serve(stream: impl Read + Write) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("a body");
        let body = answer(&serde_json::from_slice(&body).expect("JSON")).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.get_mut().write_all((head + &body).as_bytes()).expect("it is read");
    }
}

/// Returns how to call the webhook.
fn client_config(port: u16, certificate: &str) -> Value {
    json!({"url": format!("https://127.0.0.1:{port}/convert"), "caBundle": STANDARD.encode(certificate)})
}

fn served(port: u16, certificate: &str) -> (Http, Arc<Objects>) {
    let version = |name: &str, is_stored: bool, field: &str| {
        let fields = json!({field: {"type": "string"}});
        let spec = json!({"type": "object", "properties": fields});
        json!({"name": name, "served": true, "storage": is_stored,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
    };
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab"},
            "versions": [version("v1", true, "a"), version("v1beta1", false, "b")],
            "conversion": {"strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1beta1", "v1"], "clientConfig": client_config(port, certificate)}},
        },
    });
    let (mut registry, text) = (Registry::default(), definition.to_string());
    registry.set_input("t", kubeshape_input::read("t.json", text.as_bytes(), kubeshape_input::Limits::default()));
    let path = "apis/admissionregistration.k8s.io/v1";
    let text = kubeshape_builtin::BuiltInDocuments::newest().api().openapi_v3(path).expect("a document");
    let api = Api::new(registry).with_documents(Documents::new([(path, text.into())]));
    let api = api.with_hooks(Arc::new(LoopbackHooks::new(Handle::current())));
    let objects = Arc::new(Objects::new(api, store::Store::default()));
    let endpoints = Endpoints { objects: Some(Arc::clone(&objects)), ..endpoints(snapshot(0), true) };
    (Http::new(endpoints), objects)
}

fn tab(version: &str, name: &str, spec: &Value) -> String {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Tab", "metadata": {"name": name}, "spec": spec})
        .to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_on_loopback_converts_what_is_written_read_and_watched() {
    let (port, certificate) = webhook();
    let (http, objects) = served(port, &certificate);
    let body = tab("v1beta1", "a", &json!({"b": "x"}));
    let (code, _, object) = send(&http, "POST", BETA, "application/json", body).await;
    assert_eq!((code.as_u16(), &object["spec"]), (201, &json!({"b": "x"})), "{object}");
    let (_, _, object) = send(&http, "GET", &format!("{V1}/a"), "", String::new()).await;
    assert_eq!(object["spec"], json!({"a": "x"}));
    // Small objects that a webhook converts are not read on the threads that answer requests.
    let (code, _, _) = send(&http, "POST", V1, "application/json", tab("v1", "b", &json!({"a": "y"}))).await;
    assert_eq!(code.as_u16(), 201);
    let (_, _, object) = send(&http, "GET", &format!("{BETA}/b"), "", String::new()).await;
    assert_eq!(object["spec"], json!({"b": "y"}));
    let request = http::Request::get(format!("{BETA}?watch=1")).body(axum::body::Body::empty()).expect("a request");
    let mut events = http.clone().call(request).await.expect("an answer").into_body();
    let mut next = async || {
        let frame = tokio::time::timeout(Duration::from_secs(30), events.frame()).await.expect("in time");
        let text = frame.expect("a frame").expect("no error").into_data().expect("data");
        let events = serde_json::Deserializer::from_slice(&text).into_iter::<Value>();
        events.map(|event| event.expect("JSON")["object"]["spec"]["b"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(next().await, ["x", "y"]);
    let (code, _, _) = send(&http, "POST", V1, "application/json", tab("v1", "c", &json!({"a": "z"}))).await;
    assert_eq!(code.as_u16(), 201);
    assert_eq!(next().await, ["z"]);
    objects.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_is_gone_is_named() {
    let (_, certificate) = webhook();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let (http, _objects) = served(free, &certificate);
    let (code, _, status) =
        send(&http, "POST", BETA, "application/json", tab("v1beta1", "a", &json!({"b": "x"}))).await;
    assert_eq!(code.as_u16(), 500);
    let message = status["message"].as_str().expect("a message");
    let expected = format!(
        "conversion webhook for example.com/v1beta1, Kind=Tab failed: Post \"https://127.0.0.1:{free}/convert?timeout=30s\": "
    );
    assert!(message.starts_with(&expected), "{message}");
}

/// Sends an object to a world, and returns the code and the body of the answer.
async fn send_to(world: &str, method: &str, path: &str, body: String) -> (u16, Value) {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let request = http::Request::builder().method(method).uri(format!("{world}{path}"));
    let request = request.header("Content-Type", "application/json").body(body.into()).expect("a request");
    let answer = client.request(request).await.expect("an answer");
    let code = answer.status().as_u16();
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    let text = || String::from_utf8_lossy(&body).into_owned();
    (code, serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{code}: {}", text())))
}

/// A world calls the webhooks of its own configurations and definitions, and no others.
#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_those_of_a_world() {
    let (port, certificate) = webhook();
    let (http, objects) = served(port, &certificate);
    objects.keep_start();
    let documents = Store::new(BaseDocuments::default(), StoreOptions::default(), SystemTime::UNIX_EPOCH);
    let documents = Arc::new(documents.expect("a base"));
    let source = move |branched: Branched| branched.answer(Arc::clone(&documents));
    let worlds = Worlds::new(&Server::new(http.clone()), ([127, 0, 0, 1], 1).into(), source).expect("objects");
    http.make_worlds(Arc::clone(&worlds));
    let mut urls = Vec::new();
    for _ in 0..2 {
        let (code, _, made) = send(&http, "POST", "/kubeshape/worlds", "application/json", "{}".to_owned()).await;
        assert_eq!(code.as_u16(), 200, "{made}");
        urls.push(made["url"].as_str().expect("an address").to_owned());
    }
    let [one, other] = &*urls else { panic!("two worlds") };
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "names"},
        "webhooks": [{
            "name": "names.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": client_config(port, &certificate),
            "rules": [{"apiGroups": ["example.com"], "apiVersions": ["*"], "operations": ["*"], "resources": ["tabs"]}],
        }],
    });
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let (code, made) = send_to(one, "POST", path, configuration.to_string()).await;
    assert_eq!(code, 201, "{made}");
    for (world, expected) in [(one, 400), (other, 201)] {
        let (code, answer) = send_to(world, "POST", V1, tab("v1", "refused", &json!({"a": "x"}))).await;
        assert_eq!(code, expected, "{answer}");
        // The definition is shared, and its objects are converted in both.
        let (code, answer) = send_to(world, "POST", BETA, tab("v1beta1", "a", &json!({"b": "y"}))).await;
        assert_eq!((code, &answer["spec"]), (201, &json!({"b": "y"})), "{answer}");
        let (_, answer) = send_to(world, "GET", &format!("{V1}/a"), String::new()).await;
        assert_eq!(answer["spec"], json!({"a": "y"}));
    }
    let (code, _, answer) = send(&http, "POST", V1, "application/json", tab("v1", "refused", &json!({"a": "x"}))).await;
    assert_eq!(code.as_u16(), 201, "{answer}");
    worlds.stop(std::future::pending()).await;
}

#[tokio::test]
async fn old_states_are_dropped_when_all_have_too_many_bytes() {
    const OBJECTS: usize = 20;
    let (http, objects) = crate::resources::served();
    for at in 0..OBJECTS {
        let note = "n".repeat(1 << 20);
        let body = json!({"apiVersion": "example.com/v1", "kind": "Counter", "metadata": {"name": format!("a{at}")},
            "note": note});
        let (code, _, answer) = send(&http, "POST", crate::resources::ALL, "application/json", body.to_string()).await;
        assert_eq!(code.as_u16(), 201, "{}", answer["message"]);
    }
    let fit = (1 << 30) / objects.store().bytes_of_objects();
    assert!((20..60).contains(&fit), "{fit}");
    for _ in 0..fit {
        objects.keep_state();
    }
    let last = objects.keep_state();
    assert!(objects.return_to_state(last - fit as u64).expect("nothing fails").is_none(), "the first is dropped");
    assert!(objects.return_to_state(last - fit as u64 + 1).expect("nothing fails").is_some(), "the second is kept");
}
