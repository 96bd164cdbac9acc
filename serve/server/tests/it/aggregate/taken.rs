//! The data of healthy downstream servers.

use super::fake::{
    Fake, aggregate, aggregate_with, answer, discovery, discovery_as, documents, has, healthy, index, json, missing,
    shown,
};
use kubeshape_convert::aggregate::merge::merge;
use kubeshape_discovery::Freshness;
use kubeshape_publish::Profile;
use kubeshape_server::Leaf;
use kubeshape_server::aggregate::Profiles;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};

#[tokio::test]
async fn documents_and_discovery_are_used() {
    let fake = Fake::start(|seen| healthy(seen, &["a.io/v1", "b.io/v1beta1"])).await;
    let mut watched = aggregate(vec![fake.options("")]);
    let state = watched.complete().await;
    assert_eq!(
        documents(&state),
        [
            ("apis/a.io/v1", "/openapi/v3/apis/a.io/v1?hash=00", true),
            ("apis/b.io/v1beta1", "/openapi/v3/apis/b.io/v1beta1?hash=00", true),
        ]
    );
    assert_eq!(shown(&state.groups), ["a.io/v1 Current things", "b.io/v1beta1 Current things"]);
    assert_eq!((&*state.name, state.position), ("fake", 0));
    let asked = &fake.asked("/apis", 1).await[0];
    assert_eq!(
        asked.header("accept"),
        Some(
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;\
             g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
        )
    );
}

#[tokio::test]
async fn only_configured_group_versions_are_used() {
    let fake = Fake::start(|seen| healthy(seen, &["a.io/v1", "a.io/v2", "b.io/v1"])).await;
    let mut watched = aggregate(vec![fake.options(",a.io/v1,c.io/v1")]);
    let first = watched.states.recv().await.expect("a state");
    assert_eq!(shown(&first.groups), ["a.io/v1 Stale ", "c.io/v1 Stale "]);
    assert!(first.v3.is_empty());
    let state = watched.until(|state| !state.v3.is_empty() && state.groups != first.groups).await;
    assert_eq!(documents(&state), [("apis/a.io/v1", "/openapi/v3/apis/a.io/v1?hash=00", true)]);
    // A good response that lacks it.
    assert_eq!(shown(&state.groups), ["a.io/v1 Current things", "c.io/v1 Current "]);
}

#[tokio::test]
async fn unchanged_data_is_neither_sent_nor_reported() {
    let tagged = |seen: &super::fake::Seen, body: String| match seen.header("if-none-match") {
        Some("\"t\"") => answer(304, &[("Etag", "\"t\"")], ""),
        _ => answer(200, &[("Etag", "\"t\""), ("Content-Type", "application/json")], body),
    };
    let fake = Fake::start(move |seen| match seen.path() {
        "/openapi/v3" => tagged(seen, index(&["a.io/v1"], "00")),
        "/apis" => tagged(seen, discovery(&["a.io/v1"], "things")),
        _ => missing(),
    })
    .await;
    let mut watched = aggregate(vec![fake.options("")]);
    watched.complete().await;
    for path in ["/openapi/v3", "/apis"] {
        let asked = fake.asked(path, 4).await;
        assert_eq!(asked[0].header("if-none-match"), None);
        assert!(asked[1..].iter().all(|seen| seen.header("if-none-match") == Some("\"t\"")));
    }
    assert!(watched.states.try_recv().is_err(), "nothing changed");
    assert!(fake.connections() <= 4, "connections are used again: {}", fake.connections());
}

#[tokio::test]
async fn a_change_is_reported_and_keeps_unchanged_parts() {
    let turn = Arc::new(AtomicUsize::new(0));
    let turns = Arc::clone(&turn);
    let fake = Fake::start(move |seen| match (seen.path(), turns.load(Ordering::SeqCst)) {
        ("/openapi/v3", 0) => json(index(&["a.io/v1", "b.io/v1"], "00")),
        ("/openapi/v3", _) => json(index(&["a.io/v1", "b.io/v1"], "00").replacen("hash=00", "hash=01", 1)),
        ("/apis", _) => json(discovery(&["a.io/v1"], "things")),
        _ => missing(),
    })
    .await;
    let mut watched = aggregate(vec![fake.options("")]);
    let before = watched.complete().await;
    turn.store(1, Ordering::SeqCst);
    let after = watched.until(|state| state.v3[0].url.ends_with("01")).await;
    let same = |at: usize| match (&before.v3[at].leaf, &after.v3[at].leaf) {
        (Leaf::Remote(a), Leaf::Remote(b)) => Arc::ptr_eq(a, b),
        _ => false,
    };
    assert_eq!((same(0), same(1)), (false, true));
}

const V2: &str = r##"{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{
    "/apis/a.io/v1/things":{"get":{"produces":["application/json"],"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/io.a.v1.Thing"}}}}},
    "/apis/a.io/":{"get":{"responses":{"200":{"description":"OK"}}}},
    "/apis/b.io/v1/others":{"get":{"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/io.b.v1.Other"}}}}},
    "/version/":{"get":{"responses":{"200":{"description":"OK"}}}}},
    "definitions":{"io.a.v1.Thing":{"type":"object","properties":{"spec":{"type":"string"}}},"io.b.v1.Other":{"type":"object"}}}"##;

#[tokio::test]
async fn a_server_with_v2_alone_is_converted_until_it_has_v3() {
    let turn = Arc::new(AtomicUsize::new(0));
    let turns = Arc::clone(&turn);
    let fake = Fake::start(move |seen| match (seen.path(), turns.load(Ordering::SeqCst)) {
        ("/openapi/v3", 0) => missing(),
        ("/openapi/v2", _) => json(V2),
        _ => healthy(seen, &["a.io/v1"]),
    })
    .await;
    let mut watched = aggregate(vec![fake.options(",a.io/v1")]);
    let state = watched.complete().await;
    let [group, version] = &state.v3[..] else { panic!("{:?}", documents(&state)) };
    assert_eq!((&*group.path, &*version.path), ("apis/a.io", "apis/a.io/v1"));
    let Leaf::Local(document) = &version.leaf else { panic!("{:?}", version.leaf) };
    assert_eq!(&*version.url, format!("/openapi/v3/apis/a.io/v1?hash={}", document.hash()));
    let json: serde_json::Value = serde_json::from_slice(&document.json().to_bytes()).expect("JSON");
    assert_eq!(json["openapi"], "3.0.0");
    assert_eq!(json["paths"].as_object().map(serde_json::Map::len), Some(1));
    let schemas = json["components"]["schemas"].as_object().expect("schemas");
    assert_eq!(schemas.keys().collect::<Vec<_>>(), ["io.a.v1.Thing"]);

    // It is requested repeatedly, and converted once.
    fake.asked("/openapi/v2", 4).await;
    assert!(watched.states.try_recv().is_err(), "nothing changed");
    turn.store(1, Ordering::SeqCst);
    let state = watched.until(|state| documents(state).iter().all(|(.., remote)| *remote)).await;
    assert_eq!(documents(&state), [("apis/a.io/v1", "/openapi/v3/apis/a.io/v1?hash=00", true)]);
}

/// Types that v2 publishes as strings.
const STRINGS: &str = r##"{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{
    "/apis/a.io/v1/things":{"get":{"produces":["application/json"],
    "responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/io.a.v1.Thing"}}}}}},
    "definitions":{"io.a.v1.Thing":{"type":"object","properties":{"maxSurge":{"type":"string","format":"int-or-string"},
    "note":{"type":"string","default":"n"},"size":{"$ref":"#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"}}},
    "io.k8s.apimachinery.pkg.api.resource.Quantity":{"type":"string"}}}"##;

#[tokio::test]
async fn the_conversion_from_v2_restores_types_unless_upstreams_is_wanted() {
    for (profiles, surge, quantity) in [
        (
            Profiles::default(),
            serde_json::json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]}),
            serde_json::json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        ),
        (
            Profile::Kube.into(),
            serde_json::json!({"format": "int-or-string", "type": "string"}),
            serde_json::json!({"type": "string"}),
        ),
    ] {
        let fake = Fake::start(|seen| match seen.path() {
            "/openapi/v3" => missing(),
            "/openapi/v2" => json(STRINGS),
            _ => healthy(seen, &["a.io/v1"]),
        })
        .await;
        let mut watched = aggregate_with(vec![fake.options(",a.io/v1")], profiles);
        let state = watched.complete().await;
        let [version] = &state.v3[..] else { panic!("{:?}", documents(&state)) };
        let Leaf::Local(document) = &version.leaf else { panic!("{:?}", version.leaf) };
        let json: serde_json::Value = serde_json::from_slice(&document.json().to_bytes()).expect("JSON");
        let schemas = &json["components"]["schemas"];
        assert_eq!(schemas["io.a.v1.Thing"]["properties"]["maxSurge"], surge, "{profiles:?}");
        assert_eq!(schemas["io.k8s.apimachinery.pkg.api.resource.Quantity"], quantity, "{profiles:?}");
    }
}

#[tokio::test]
async fn v2_documents_are_merged() {
    let fake = Fake::start(|seen| match seen.path() {
        "/openapi/v2" => answer(200, &[("Etag", "\"1\"")], V2),
        _ => healthy(seen, &["a.io/v1"]),
    })
    .await;
    let mut watched = aggregate(vec![fake.options(",a.io/v1")]);
    let state = watched.until(|state| state.v2.is_some()).await;
    let overlay = state.v2.as_deref().expect("there is one").clone();
    assert_eq!(overlay.paths.keys().collect::<Vec<_>>(), ["/apis/a.io/v1/things"]);
    assert_eq!(overlay.definitions.keys().collect::<Vec<_>>(), ["io.a.v1.Thing"]);
    let onto = br#"{"swagger":"2.0","paths":{"/a":{}},"definitions":{"io.a.v1.Thing":{"type":"string"}}}"#;
    let merged = merge(onto, overlay, true).expect("it merges");
    assert_eq!(merged.renamed, [("io.a.v1.Thing".to_owned(), "io.a.v1.Thing_v2".to_owned())]);
}

#[tokio::test]
async fn a_failing_server_keeps_its_last_good_response() {
    let turn = Arc::new(AtomicUsize::new(0));
    let turns = Arc::clone(&turn);
    let fake = Fake::start(move |seen| match turns.load(Ordering::SeqCst) % 2 {
        0 => healthy(seen, &["a.io/v1"]),
        _ => answer(500, &[], "no"),
    })
    .await;
    let mut watched = aggregate(vec![fake.options("")]);
    let good = watched.complete().await;
    for _ in 0..3 {
        turn.fetch_add(1, Ordering::SeqCst);
        let stale = watched.until(|state| has(&state.groups, Freshness::Stale)).await;
        assert_eq!(shown(&stale.groups), ["a.io/v1 Stale things"]);
        assert_eq!(documents(&stale), documents(&good));
        turn.fetch_add(1, Ordering::SeqCst);
        let again = watched.until(|state| has(&state.groups, Freshness::Current)).await;
        assert_eq!(again.groups, good.groups);
    }
}

#[tokio::test]
async fn older_forms_of_discovery_are_read() {
    let beta = Fake::start(|seen| match seen.path() {
        "/apis" => answer(
            200,
            &[("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList")],
            discovery_as("v2beta1", &["a.io/v1"], "things")
                .replace(r#"{"group":"a.io","version":"v1","kind":"Thing"}"#, "null"),
        ),
        _ => healthy(seen, &["a.io/v1"]),
    })
    .await;
    let legacy = Fake::start(|seen| match seen.path() {
        "/apis" => json(
            r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"a.io","versions":[
            {"groupVersion":"a.io/v1","version":"v1"},{"groupVersion":"a.io/v2","version":"v2"}],
            "preferredVersion":{"groupVersion":"a.io/v1","version":"v1"}}]}"#,
        ),
        "/apis/a.io/v1" => json(
            r#"{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"a.io/v1","resources":[
            {"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get"]},
            {"name":"things/status","singularName":"","namespaced":true,"kind":"Thing","verbs":["get"]}]}"#,
        ),
        _ => healthy(seen, &["a.io/v1"]),
    })
    .await;
    let old = Fake::start(|seen| match seen.path() {
        "/apis" => answer(406, &[], ""),
        "/apis/a.io/v1" => json(
            r#"{"kind":"APIResourceList","groupVersion":"a.io/v1","resources":[
            {"name":"things","singularName":"","namespaced":true,"kind":"Thing","verbs":["get"]}]}"#,
        ),
        _ => healthy(seen, &["a.io/v1"]),
    })
    .await;
    for fake in [beta, legacy, old] {
        let mut watched = aggregate(vec![fake.options(",a.io/v1")]);
        let state = watched.complete().await;
        assert_eq!(shown(&state.groups), ["a.io/v1 Current things"]);
    }
}

#[tokio::test]
async fn the_core_group_of_a_server_is_used() {
    let fake = Fake::start(|seen| match seen.path() {
        "/openapi/v3" => json(r#"{"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=0"},"api":{}}}"#),
        "/api" => json(discovery(&["a.io/v1"], "pods").replace(r#""name":"a.io""#, "")),
        _ => healthy(seen, &["a.io/v1"]),
    })
    .await;
    let mut watched = aggregate(vec![fake.options("")]);
    let state = watched.until(|state| !state.v3.is_empty() && state.groups.len() == 2).await;
    assert_eq!(shown(&state.groups), ["/v1 Current pods", "a.io/v1 Current things"]);
    assert_eq!(documents(&state), [("api/v1", "/openapi/v3/api/v1?hash=0", true)]);
}

#[tokio::test]
async fn a_server_may_be_below_a_path() {
    let fake = Fake::start(|seen| {
        let mut seen = seen.clone();
        match seen.target.strip_prefix("/clusters/x") {
            Some(rest) => {
                seen.target = rest.to_owned();
                healthy(&seen, &["a.io/v1"])
            }
            None => missing(),
        }
    })
    .await;
    let mut watched = aggregate(vec![fake.options("/clusters/x/,a.io/v1")]);
    watched.complete().await;
}

#[tokio::test]
async fn responses_are_decompressed_within_bounds() {
    use std::io::Write as _;
    let pack = |text: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text).expect("packs");
        packed.finish().expect("packs")
    };
    let (good, bomb) = (pack(index(&["a.io/v1"], "00").as_bytes()), pack(&vec![b' '; 8 << 20]));
    let gzip = |body: &[u8]| answer(200, &[("Content-Encoding", "gzip")], body);
    let fake = Fake::start(move |seen| match seen.path() {
        "/openapi/v3" => gzip(&good),
        "/apis" => gzip(&bomb),
        _ => missing(),
    })
    .await;
    let mut watched = aggregate(vec![fake.options(",a.io/v1")]);
    let state = watched.until(|state| !state.v3.is_empty()).await;
    fake.asked("/apis", 2).await;
    assert_eq!(shown(&state.groups), ["a.io/v1 Stale "]);
}

#[tokio::test]
async fn stopping_waits_for_nothing() {
    let fake = Fake::start(|_| super::fake::Reply::Hang(Vec::new())).await;
    let mut options = fake.options("");
    options.timeouts = kubeshape_server::aggregate::Timeouts::default();
    let watched = aggregate(vec![options]);
    fake.asked("/apis", 1).await;
    timeout(Duration::from_millis(500), watched.aggregator.stop()).await.expect("it stops");
    sleep(Duration::from_millis(20)).await;
    assert!(fake.seen().len() <= 3);
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_may_be_a_unix_socket() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let listener = tokio::net::UnixListener::bind(&path).expect("a socket");
    let server = tokio::spawn(async move {
        let mut tasks = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            tasks.spawn(async move {
                let handler: Arc<dyn Fn(&super::fake::Seen) -> super::fake::Reply + Send + Sync> =
                    Arc::new(|seen| healthy(seen, &["a.io/v1"]));
                Box::pin(super::fake::serve(stream, &handler, &Mutex::default(), &AtomicU64::default())).await
            });
        }
    });
    let options = format!("fake=unix:{}", path.display()).parse().expect("options");
    let mut watched = aggregate(vec![super::fake::quick(options)]);
    watched.complete().await;
    server.abort();
}

#[tokio::test]
async fn tls_is_checked_against_the_given_authority() {
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let certificate: CertificateDer<'static> = made.cert.der().clone();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = tokio::spawn(async move {
        let mut tasks = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tasks.spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let handler: Arc<dyn Fn(&super::fake::Seen) -> super::fake::Reply + Send + Sync> =
                    Arc::new(|seen| healthy(seen, &["a.io/v1"]));
                Box::pin(super::fake::serve(stream, &handler, &Mutex::default(), &AtomicU64::default())).await;
            });
        }
    });
    let options = |pem: String| {
        let options = format!("fake=https://{address},a.io/v1").parse().expect("options");
        let mut options = super::fake::quick(options);
        options.certificates = Some(pem.into_bytes());
        options
    };
    aggregate(vec![options(made.cert.pem())]).complete().await;
    let mut watched = aggregate(vec![options(other.cert.pem())]);
    let state = watched.states.recv().await.expect("a state");
    assert_eq!(shown(&state.groups), ["a.io/v1 Stale "]);
    sleep(Duration::from_millis(200)).await;
    assert!(watched.states.try_recv().is_err(), "it is not trusted");
    server.abort();
}
