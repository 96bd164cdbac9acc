//! The endpoints over a small snapshot: kube-apiserver's responses, and the corrections of extensions.

use crate::common::{Answer, ask, endpoints, get, snapshot};
use flate2::read::GzDecoder;
use kubeshape_server::Leaf;
use kubeshape_server::http::{Http, router};
use std::io::Read;
use std::sync::Arc;

const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const NOT_FOUND: &str = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
    \"message\":\"the server could not find the requested resource\",\"reason\":\"NotFound\",\"details\":{},\"code\":404}\n";

fn kube() -> Http {
    Http::new(endpoints(snapshot(3000), false))
}

fn extended() -> Http {
    Http::new(endpoints(snapshot(3000), true))
}

fn unzipped(answer: &Answer) -> Vec<u8> {
    assert_eq!(answer.header("content-encoding"), "gzip");
    let mut out = Vec::new();
    GzDecoder::new(&*answer.body).read_to_end(&mut out).expect("gzip");
    out
}

#[tokio::test]
async fn every_response_has_an_id_and_forbids_caching() {
    let http = kube();
    for path in ["/nope", "/openapi/v3", "/api", "/version", "/healthz", "/%zz"] {
        let answer = get(&http, path, &[]).await;
        assert_eq!(answer.header("cache-control"), "no-cache, private", "{path}");
        assert_eq!(answer.header("audit-id").len(), 36, "{path}");
    }
    assert_eq!(get(&http, "/nope", &[("audit-id", "mine")]).await.header("audit-id"), "mine");
    assert_eq!(get(&http, "/%zz", &[]).await.code, 400);
}

#[tokio::test]
async fn the_v2_document_is_compressed_on_request() {
    for http in [kube(), extended()] {
        let plain = get(&http, "/openapi/v2", &[]).await;
        assert_eq!(plain.vary(), ["Accept-Encoding", "Accept"]);
        assert_eq!(plain.header("content-length"), plain.body.len().to_string());
        let compressed = get(&http, "/openapi/v2", &[("accept-encoding", "br, GZIP;q=0.5")]).await;
        assert_eq!(unzipped(&compressed), plain.body);
        let part = get(&http, "/openapi/v2", &[("accept-encoding", "gzip"), ("range", "bytes=0-1999")]).await;
        assert_eq!((part.code.as_u16(), part.header("content-encoding")), (206, ""));
        assert_eq!(part.body, plain.body[..2000]);
        let head = ask(&http, "HEAD", "/openapi/v2", &[]).await;
        assert_eq!((head.body.len(), head.header("content-length")), (0, plain.header("content-length")));
        let protobuf =
            get(&http, "/openapi/v2", &[("accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")])
                .await;
        assert_eq!(protobuf.header("content-type"), "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
        assert_eq!(protobuf.header("etag"), plain.header("etag"));
        assert_eq!(get(&http, "/openapi/v2", &[("accept", "text/html")]).await.code, 406);
    }
}

#[tokio::test]
async fn nothing_is_compressed_for_a_client_that_has_the_document() {
    let endpoints = endpoints(snapshot(3000), true);
    let live = Arc::clone(&endpoints.live);
    let http = Http::new(endpoints);
    let compressed = |path: &str| match live.current().v3.get(path) {
        Some(Leaf::Local(document)) => document.sizes().compressed,
        _ => 0,
    };
    let (v3, gzip) = ("apis/example.com/v1", ("accept-encoding", "gzip"));
    for path in [&format!("/openapi/v3/{v3}"), "/openapi/v3", "/openapi/v2"] {
        let plain = get(&http, path, &[]).await;
        let tag = plain.header("etag");
        let again = get(&http, path, &[gzip, ("if-none-match", tag)]).await;
        assert_eq!((again.code.as_u16(), again.header("etag")), (304, tag), "{path}");
        let refused = get(&http, path, &[gzip, ("if-match", "\"other\"")]).await;
        assert_eq!(refused.code, 412, "{path}");
    }
    let current = live.current();
    let v2 = (**current.v2).as_ref().expect("a document");
    assert_eq!((compressed(v3), current.index.document().sizes().compressed, v2.sizes().compressed), (0, 0, 0));
    assert!(unzipped(&get(&http, &format!("/openapi/v3/{v3}"), &[gzip]).await).len() > 200_000);
    assert!(compressed(v3) > 0);
}

#[tokio::test]
async fn extensions_compress_everything_and_weaken_the_tag() {
    let path = "/openapi/v3/apis/example.com/v1";
    let gzip = [("accept-encoding", "gzip")];
    assert_eq!(get(&kube(), path, &gzip).await.header("content-encoding"), "");
    let http = extended();
    let plain = get(&http, path, &[]).await;
    assert_eq!(plain.vary(), ["Accept-Encoding", "Accept"]);
    let compressed = get(&http, path, &gzip).await;
    assert_eq!(unzipped(&compressed), plain.body);
    assert_eq!(compressed.header("etag"), format!("W/{}", plain.header("etag")));
    let unchanged = get(&http, path, &[gzip[0], ("if-none-match", compressed.header("etag"))]).await;
    assert_eq!(unchanged.code, 304);
    let index = get(&http, "/openapi/v3", &[]).await;
    assert_eq!(index.header("content-type"), "application/json");
    assert_eq!(get(&http, "/openapi/v3", &[("if-none-match", index.header("etag"))]).await.code, 304);
    let groups = get(&http, "/apis", &[("accept", V2)]).await;
    assert_eq!(unzipped(&get(&http, "/apis", &[("accept", V2), gzip[0]]).await), groups.body);
}

#[tokio::test]
async fn large_objects_are_compressed_and_sent_in_chunks() {
    let http = kube();
    let large = get(&http, "/apis", &[("accept", V2)]).await;
    assert!(large.body.len() > 128 << 10);
    assert_eq!((large.header("content-length"), large.vary()), ("", vec!["Accept"]));
    let compressed = get(&http, "/apis", &[("accept", V2), ("accept-encoding", "gzip")]).await;
    assert_eq!(compressed.vary(), ["Accept", "Accept-Encoding"]);
    assert_eq!(unzipped(&compressed), large.body);
    assert_eq!(
        get(&http, "/apis", &[("accept", V2), ("accept-encoding", "GZIP")]).await.header("content-encoding"),
        ""
    );
    let head = ask(&http, "HEAD", "/apis", &[("accept", V2)]).await;
    assert_eq!((head.code.as_u16(), head.header("content-length"), head.body.len()), (200, "", 0));
}

#[tokio::test]
async fn paths_below_groups_are_answered_by_their_owners() {
    let http = kube();
    for (path, code, text) in [
        ("/api/v1", 200, ""),
        ("/api/v1//", 200, ""),
        ("/api/v2", 404, NOT_FOUND),
        ("/api/v1/pods", 404, NOT_FOUND),
        ("/apis/apps", 200, ""),
        ("/apis/apps/v9", 404, NOT_FOUND),
        ("/apis/apps/v1/nope", 404, NOT_FOUND),
        ("//apis/apps/v1", 404, "404 page not found\n"),
        ("//apis/example.com/v1", 200, ""),
        ("/apis/example.com/v9", 404, "404 page not found\n"),
        ("/apis/example.com/v1/nope", 404, "404 page not found\n"),
        ("/apis/nope", 404, "404 page not found\n"),
        ("/apis//", 404, "404 page not found\n"),
        ("/openapi/v3/apis/nope/v1", 404, ""),
        ("/openapi/v3/%61pis/apps/v1", 200, ""),
    ] {
        let answer = get(&http, path, &[("accept", "application/json")]).await;
        assert_eq!(answer.code, code, "{path}");
        if code == 404 {
            assert_eq!(answer.text(), text, "{path}");
        }
    }
}

#[tokio::test]
async fn some_endpoints_accept_any_method_and_some_only_get() {
    let http = kube();
    for (path, code) in [
        ("/openapi/v2", 200),
        ("/openapi/v3", 200),
        ("/openapi/v3/api/v1", 200),
        ("/apis", 200),
        ("/apis/apps", 200),
        ("/apis/example.com/v1", 200),
        ("/", 200),
        ("/api", 405),
        ("/api/v1", 405),
        ("/apis/apps/v1", 405),
        ("/apis/apps//", 405),
        ("/version", 405),
    ] {
        assert_eq!(ask(&http, "POST", path, &[]).await.code, code, "{path}");
    }
    assert_eq!(ask(&http, "HEAD", "/api", &[]).await.code, 405);
    assert_eq!(ask(&extended(), "HEAD", "/api", &[]).await.code, 200);
}

#[tokio::test]
async fn refusals_have_an_accepted_form() {
    let http = kube();
    let yaml = ask(&http, "POST", "/api", &[("accept", "application/yaml")]).await;
    assert!(yaml.text().starts_with("apiVersion: v1\ncode: 405\n"), "{}", yaml.text());
    assert_eq!(yaml.header("content-type"), "application/yaml");
    let html = get(&http, "/api/v1", &[("accept", "text/html")]).await;
    assert!(html.text().contains("\"message\": \"406: Not Acceptable\\n\\nAvailable"), "{}", html.text());
    let other = get(&http, "/apis/apps", &[("accept", "text/html")]).await;
    assert!(other.text().contains("\"message\": \"only the following media types"), "{}", other.text());
    let pretty = get(&http, "/apis/apps?pretty=true", &[("accept", "application/json")]).await;
    assert!(pretty.text().starts_with("{\n  \"kind\": \"APIGroup\""), "{}", pretty.text());
    let curl = get(&http, "/apis/apps", &[("user-agent", "curl/8")]).await;
    assert_eq!(curl.body, pretty.body);
}

#[tokio::test]
async fn unreadable_types_are_a_fault_of_the_real_server() {
    let garbage = [("accept", "garbage")];
    let empty = get(&kube(), "/openapi/v3/api/v1", &garbage).await;
    assert_eq!((empty.code.as_u16(), empty.header("content-length"), empty.vary().len()), (200, "0", 0));
    assert_eq!(get(&extended(), "/openapi/v3/api/v1", &garbage).await.code, 406);
    let excluded = [("accept", "application/json;q=0")];
    assert_eq!(get(&kube(), "/openapi/v2", &excluded).await.code, 200);
    assert_eq!(get(&extended(), "/openapi/v2", &excluded).await.code, 406);
    let lines = [("accept", "text/html"), ("accept", "application/json")];
    assert_eq!(get(&kube(), "/openapi/v2", &lines).await.code, 406);
    assert_eq!(get(&extended(), "/openapi/v2", &lines).await.code, 200);
}

#[tokio::test]
async fn parts_are_sent_one_or_several() {
    let http = kube();
    let whole = get(&http, "/openapi/v3/apis/apps/v1", &[]).await;
    let one = get(&http, "/openapi/v3/apis/apps/v1", &[("range", "bytes=-10")]).await;
    let size = whole.body.len();
    assert_eq!(one.header("content-range"), format!("bytes {}-{}/{size}", size - 10, size - 1));
    assert_eq!(one.body, whole.body[size - 10..]);
    let two = get(&http, "/openapi/v3/apis/apps/v1", &[("range", "bytes=0-4,10-14")]).await;
    let boundary = two.header("content-type").strip_prefix("multipart/byteranges; boundary=").expect("a boundary");
    let part = |range: &str, text: &str| {
        format!(
            "--{boundary}\r\nContent-Range: bytes {range}/{size}\r\nContent-Type: application/json\r\n\r\n{text}\r\n"
        )
    };
    assert_eq!(two.text(), format!("{}{}--{boundary}--\r\n", part("0-4", "{\"ope"), part("10-14", ":\"3.0")));
    let none = get(&http, "/openapi/v3/apis/apps/v1", &[("range", "bytes=999999-")]).await;
    assert_eq!((none.code.as_u16(), none.text()), (416, "invalid range: failed to overlap\n"));
    assert_eq!(none.header("etag"), "");
}

#[tokio::test]
async fn readiness_names_missing_parts() {
    let endpoints = endpoints(snapshot(1), true);
    let http = Http::new(endpoints.clone());
    assert_eq!(get(&http, "/readyz", &[]).await.text(), "ok");
    endpoints.readiness.set("files", Some("a.yaml:1:2: found no mapping"));
    let answer = get(&http, "/readyz", &[]).await;
    assert_eq!(answer.code, 500);
    assert_eq!(answer.text(), "[+]ping ok\n[-]files failed: a.yaml:1:2: found no mapping\nreadyz check failed\n");
    assert_eq!(get(&http, "/livez?verbose", &[]).await.text(), "[+]ping ok\nlivez check passed\n");
    let excluded = get(&http, "/readyz?verbose&exclude=files&exclude=x", &[]).await;
    assert_eq!(
        excluded.text(),
        "[+]ping ok\n[+]files excluded: ok\nwarn: some health checks cannot be excluded: no matches for \"x\"\nreadyz check passed\n"
    );
    assert_eq!(get(&http, "/readyz/files", &[]).await.code, 500);
    assert_eq!(get(&http, "/readyz/nope", &[]).await.code, 404);
}

#[tokio::test]
async fn a_new_snapshot_is_served_immediately() {
    let endpoints = endpoints(snapshot(1), false);
    let http = Http::new(endpoints.clone());
    let before = get(&http, "/apis", &[("accept", V2)]).await;
    endpoints.live.swap(std::sync::Arc::new(snapshot(2)));
    let after = get(&http, "/apis", &[("accept", V2)]).await;
    assert_ne!(before.header("etag"), after.header("etag"));
    assert!(after.text().contains("resources1"));
}

#[tokio::test]
async fn the_router_adds_nothing() {
    use http_body_util::{BodyExt, Empty};
    use tower::Service;
    let mut router = router(endpoints(snapshot(1), false));
    let etag = get(&kube(), "/openapi/v3/api/v1", &[]).await.header("etag").to_owned();
    for (method, path, header) in [("GET", "/openapi/v3/api/v1", &*etag), ("HEAD", "/openapi/v3/api/v1?hash=x", "")] {
        let request = http::Request::builder().method(method).uri(path).header("if-none-match", header);
        let request = request.body(axum::body::Body::new(Empty::<bytes::Bytes>::new())).expect("a request");
        let response = router.call(request).await.expect("an answer");
        assert!(!response.headers().contains_key("content-length"), "{method} {path}");
        assert!(response.into_body().collect().await.expect("a body").to_bytes().is_empty());
    }
}
