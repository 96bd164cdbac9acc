//! The behavior of older releases.

use crate::common::{endpoints, get, snapshot};
use bytes::Bytes;
use kubeshape_schema::Dialect;
use kubeshape_schema::Release;
use kubeshape_server::http::Http;
use kubeshape_server::{Document, Emulation, EmulationError, Endpoints, LazyV2};
use std::sync::Arc;

const JSON: &str = "application/json";
/// The headers of client-go from 1.27 and from 1.30 on.
const V2BETA1: &str = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

fn release(minor: u8, gates: &[(&str, bool)], extensions: bool) -> Result<Http, EmulationError> {
    let text = r#"{"swagger":"2.0","info":{"title":"only the base","version":"1"},"paths":{}}"#;
    let make = move || Ok(Arc::new(Document::new(Some(Dialect::V2), Bytes::from(text), crate::common::modified())));
    Ok(Http::new(Endpoints {
        emulation: Some(Emulation::new(Release::of_minor(minor), gates)?),
        v2_without_custom_resources: Some(Arc::new(LazyV2::new(Box::new(make)))),
        objects: None,
        pages: None,
        ..endpoints(snapshot(0), extensions)
    }))
}

#[tokio::test]
async fn discovery_has_the_form_of_the_release() -> Result<(), EmulationError> {
    let form = |version| format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
    for (minor, to_old, to_new) in [
        (10, JSON.to_owned(), JSON.to_owned()),
        (26, JSON.to_owned(), JSON.to_owned()),
        (27, form("v2beta1"), form("v2beta1")),
        (29, form("v2beta1"), form("v2beta1")),
        (30, form("v2beta1"), form("v2")),
        (32, form("v2beta1"), form("v2")),
        (33, JSON.to_owned(), form("v2")),
        (36, JSON.to_owned(), form("v2")),
    ] {
        for extensions in [false, true] {
            let http = release(minor, &[], extensions)?;
            for path in ["/api", "/apis"] {
                for (accept, expected) in [(V2BETA1, &to_old), (V2, &to_new), (JSON, &JSON.to_owned())] {
                    let answer = get(&http, path, &[("accept", accept)]).await;
                    assert_eq!(answer.header("content-type"), expected, "1.{minor} {path} {accept}");
                }
            }
            let known = minor >= 30;
            let only = get(&http, "/apis", &[("accept", &form("v2"))]).await;
            assert_eq!(only.code, if known { 200 } else { 406 }, "1.{minor}");
        }
    }
    let alpha = release(26, &[("AggregatedDiscoveryEndpoint", true)], false)?;
    assert_eq!(get(&alpha, "/apis", &[("accept", V2)]).await.header("content-type"), form("v2beta1"));
    Ok(())
}

#[tokio::test]
async fn openapi_v3_is_unknown_before_its_release() -> Result<(), EmulationError> {
    for (minor, code) in [(15, 404), (23, 404), (24, 200), (36, 200)] {
        let http = release(minor, &[], false)?;
        for path in ["/openapi/v3", "/openapi/v3/apis/apps/v1"] {
            let answer = get(&http, path, &[]).await;
            assert_eq!(answer.code, code, "1.{minor} {path}");
            if code == 404 {
                assert_eq!(answer.text(), "404 page not found\n");
                assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
            }
        }
        assert_eq!(get(&http, "/", &[]).await.text().contains("/openapi/v3"), code == 200);
        assert_eq!(get(&http, "/openapi/v2", &[]).await.code, 200);
    }
    let off = release(24, &[("OpenAPIV3", false)], false)?;
    assert_eq!(get(&off, "/openapi/v3", &[]).await.code, 404);
    Ok(())
}

#[tokio::test]
async fn custom_resources_are_published_from_their_release_on() -> Result<(), EmulationError> {
    for (minor, gates, published) in [
        (14, &[][..], false),
        (14, &[("CustomResourcePublishOpenAPI", true)], true),
        (15, &[], true),
        (15, &[("CustomResourcePublishOpenAPI", false)], false),
        (16, &[], true),
    ] {
        let answer = get(&release(minor, gates, false)?, "/openapi/v2", &[]).await;
        assert_eq!(answer.text().contains("only the base"), !published, "1.{minor} {gates:?}");
        // A second request uses the path for documents that are already merged.
        let http = release(minor, gates, false)?;
        let (first, second) = (get(&http, "/openapi/v2", &[]).await, get(&http, "/openapi/v2", &[]).await);
        assert_eq!(first.header("etag"), second.header("etag"));
    }
    Ok(())
}

#[tokio::test]
async fn the_version_is_that_of_the_release() -> Result<(), Box<dyn std::error::Error>> {
    for minor in [10, 24, 36] {
        let answer = get(&release(minor, &[], false)?, "/version", &[]).await;
        let version: serde_json::Value = serde_json::from_slice(&answer.body)?;
        assert_eq!(version["major"], "1");
        assert_eq!(version["minor"], minor.to_string());
        assert_eq!(version["gitVersion"], format!("v1.{minor}.0"));
    }
    Ok(())
}

#[tokio::test]
async fn the_alpha_of_openapi_v3_has_a_list_of_paths() -> Result<(), EmulationError> {
    const PATH: &str = "/openapi/v3/apis/example.com/v1";
    let alpha = release(23, &[("OpenAPIV3", true)], false)?;
    let index = get(&alpha, "/openapi/v3", &[]).await;
    assert_eq!(index.code, 200);
    // Go sniffs the type, and there is no `Vary`.
    assert_eq!(index.header("content-type"), "text/plain; charset=utf-8");
    assert!(!index.headers.contains_key("etag") && !index.headers.contains_key("vary"));
    let beta = get(&release(24, &[], false)?, "/openapi/v3", &[]).await;
    let urls: serde_json::Value = serde_json::from_slice(&beta.body).expect("JSON");
    let mut paths: Vec<&String> = urls["paths"].as_object().expect("URLs by path").keys().collect();
    paths.sort();
    assert!(paths.len() > 1 && paths.iter().any(|path| PATH.ends_with(*path)));
    assert_eq!(index.text(), serde_json::json!({ "Paths": paths }).to_string());

    let document = get(&alpha, PATH, &[]).await;
    let today = get(&release(24, &[], false)?, PATH, &[]).await;
    assert_eq!((document.code, document.text()), (today.code, today.text()));
    assert_eq!(document.header("etag"), today.header("etag"));
    assert_eq!(document.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!(document.header("vary"), "Accept");
    // Hashes are not supported yet.
    assert_eq!(get(&alpha, &format!("{PATH}?hash=OLD"), &[]).await.code, 200);
    let old = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
    let protobuf = get(&alpha, PATH, &[("accept", old)]).await;
    assert_eq!((protobuf.code.as_u16(), protobuf.header("content-type")), (200, "application/octet-stream"));
    assert_eq!(get(&alpha, PATH, &[("accept", &old.replace('@', "."))]).await.code, 406);
    // The handler writes nothing for unknown paths.
    let unknown = get(&alpha, "/openapi/v3/apis/other.example.com/v1", &[]).await;
    assert_eq!((unknown.code.as_u16(), unknown.text()), (200, ""));
    Ok(())
}
