//! Bodies of a malicious server: mutations of good ones never panic, and parsed ones are printed and parsed again
//! unchanged.

use kubeshape_discovery::openapi::Index;
use kubeshape_discovery::print::{AggregatedVersion, Encoding, aggregated};
use kubeshape_publish::Profile;
use kubeshape_server::aggregate::{AggregateOptions, DiscoveryBody, documents_of_v2};
use proptest::prelude::*;

const SEEDS: [&str; 5] = [
    r#"{"paths":{"apis/a.io/v1":{"serverRelativeURL":"/openapi/v3/apis/a.io/v1?hash=00"},"api/v1":null,"version":{}}}"#,
    r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"a.io","creationTimestamp":null},
    "versions":[{"version":"v1","resources":[{"resource":"things","responseKind":null,"scope":"Namespaced","singularResource":"thing","verbs":["get"],
    "shortNames":["t"],"categories":["all"],"subresources":[{"subresource":"status","responseKind":{"group":"a.io","version":"v1","kind":"T"},
    "acceptedTypes":[{"group":"","version":"v1","kind":"S"}],"verbs":["get"]}]}],"freshness":"Stale"}]}]}"#,
    r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"a.io","versions":[{"groupVersion":"a.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"a.io/v1","version":"v1"}}]}"#,
    r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"h:1"}]}"#,
    r##"{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{"/apis/a.io/v1/things":{"parameters":[{"$ref":"#/parameters/p"}],
    "get":{"produces":["application/json"],"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/T"}}}}}},
    "definitions":{"T":{"type":"object","properties":{"t":{"$ref":"#/definitions/T"}}}},"parameters":{"p":{"name":"p","in":"query","type":"string"}}}"##,
];

/// Pieces that a malicious server may insert.
const PIECES: [&str; 16] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    "null",
    ":",
    ",",
    "\\u0000",
    "\u{1F600}",
    "..",
    "/",
    "1e999",
    "&a ",
    "*a",
    "{\"paths\":",
];

fn check(body: &[u8], options: &AggregateOptions) {
    if let Ok(index) = Index::read(body) {
        assert_eq!(Index::read(index.to_json().as_bytes()).as_ref(), Ok(&index));
        for (path, url) in index.urls() {
            assert!(url.starts_with(&format!("/openapi/v3/{path}")), "{url}");
            assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{url}");
        }
    }
    if let Ok(DiscoveryBody::Groups(groups)) = DiscoveryBody::read(body) {
        let print = |groups: &[_]| {
            let mut out = Vec::new();
            aggregated(&mut out, AggregatedVersion::V2, groups, Encoding::Json);
            out
        };
        let printed = print(&groups);
        let Ok(DiscoveryBody::Groups(again)) = DiscoveryBody::read(&printed) else { panic!("it reads back") };
        assert_eq!(printed, print(&again));
    }
    for profile in [Profile::Kube, Profile::Faithful] {
        for (_, document) in documents_of_v2(body, options, profile).unwrap_or_default() {
            serde_json::from_slice::<serde_json::Value>(&document).expect("JSON");
        }
    }
}

#[test]
fn good_bodies_are_read() {
    let options = "a=http://h".parse().expect("options");
    assert_eq!(Index::read(SEEDS[0].as_bytes()).map(|index| index.of_groups().len()), Ok(2));
    for body in &SEEDS[1..4] {
        assert!(DiscoveryBody::read(body.as_bytes()).is_ok(), "{body}");
    }
    for profile in [Profile::Kube, Profile::Faithful] {
        assert_eq!(documents_of_v2(SEEDS[4].as_bytes(), &options, profile).map(|all| all.len()), Ok(1));
    }
    for body in SEEDS {
        check(body.as_bytes(), &options);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn mutated_bodies_are_harmless(
        seed in 0..SEEDS.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0..30_usize, 0..PIECES.len() + 2), 1..6),
    ) {
        let mut body = SEEDS[seed].as_bytes().to_vec();
        for (at, length, piece) in changes {
            let at = at.index(body.len() + 1);
            let end = (at + length).min(body.len());
            let bytes = match PIECES.get(piece) {
                Some(piece) => piece.as_bytes().to_vec(),
                // Repeats a part of it.
                None => body[at..end].repeat(piece - PIECES.len() + 1),
            };
            body.splice(at..end, bytes);
        }
        check(&body, &"a=http://h".parse().expect("options"));
    }
}
