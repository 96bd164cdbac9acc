//! The promises of KEP-2896, "OpenAPI V3".

use crate::common::{endpoints, get, snapshot};
use kubeshape_server::http::Http;
use serde_json::Value;

fn http(extensions: bool) -> Http {
    Http::new(endpoints(snapshot(1), extensions))
}

async fn index(http: &Http) -> Vec<(String, String)> {
    let answer = get(http, "/openapi/v3", &[]).await;
    assert_eq!(answer.code, 200);
    let index: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let paths = index["paths"].as_object().expect("paths");
    paths
        .iter()
        .map(|(path, entry)| (path.clone(), entry["serverRelativeURL"].as_str().expect("a URL").to_owned()))
        .collect()
}

#[tokio::test]
async fn every_group_version_of_the_index_has_a_document() {
    for extensions in [false, true] {
        let http = http(extensions);
        let index = index(&http).await;
        let paths: Vec<&str> = index.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["api/v1", "apis/apps/v1", "apis/example.com/v1", "apis/example.com/v1beta1"]);
        for (path, url) in &index {
            for target in [url.clone(), format!("/openapi/v3/{path}")] {
                for media in ["application/json", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"] {
                    let answer = get(&http, &target, &[("accept", media)]).await;
                    assert_eq!(answer.code, 200, "{target}");
                    assert!(!answer.body.is_empty(), "{target}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_document_requested_by_its_hash_may_be_cached() {
    let http = http(false);
    let (_, url) = index(&http).await.swap_remove(0);
    let named = get(&http, &url, &[]).await;
    assert_eq!(named.header("cache-control"), "public, immutable");
    assert!(named.header("expires").ends_with(" UTC"), "{}", named.header("expires"));
    let plain = get(&http, "/openapi/v3/api/v1", &[]).await;
    assert_eq!(plain.header("cache-control"), "no-cache, private");
    assert_eq!(plain.header("expires"), "");
    let unchanged = get(&http, &url, &[("if-none-match", named.header("etag"))]).await;
    assert_eq!(unchanged.code, 304);
}

#[tokio::test]
async fn an_outdated_hash_is_redirected_to_the_current_one() {
    for (extensions, code, target) in [
        (false, 301, "/openapi/v3/api/v1?hash=OLD&timeout=32s"),
        (true, 301, "/openapi/v3/api/v1?hash=OLD&timeout=32s"),
        (true, 301, "/openapi/v3/api/v1?etag=OLD"),
    ] {
        let http = http(extensions);
        let (_, url) = index(&http).await.swap_remove(0);
        let answer = get(&http, target, &[]).await;
        assert_eq!(answer.code, code);
        assert_eq!(answer.header("location"), url);
        assert_eq!(answer.header("content-length"), "0");
        assert_eq!(get(&http, answer.header("location"), &[]).await.code, 200);
    }
}

#[tokio::test]
async fn unchanged_content_keeps_its_hash_across_restarts() {
    assert_eq!(index(&http(false)).await, index(&http(true)).await);
}
