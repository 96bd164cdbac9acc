//! The promises of KEP-3352, "Aggregated Discovery".

use crate::common::{Answer, endpoints, get, snapshot};
use kubeshape_server::http::Http;
use serde_json::Value;

const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const V2BETA1: &str = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
const PLAIN: &str = "application/json";

async fn ask(extensions: bool, path: &str, accept: &str) -> Answer {
    get(&Http::new(endpoints(snapshot(2), extensions)), path, &[("accept", accept)]).await
}

#[tokio::test]
async fn the_three_step_list_is_answered_with_the_newest_version() {
    for extensions in [false, true] {
        for path in ["/api", "/apis"] {
            let answer = ask(extensions, path, &[V2, V2BETA1, PLAIN].join(",")).await;
            assert_eq!((answer.code.as_u16(), answer.header("content-type")), (200, V2));
            assert!(answer.text().starts_with(
                r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":["#
            ));
            assert!(answer.text().ends_with("]}\n"));
        }
    }
}

#[tokio::test]
async fn an_unknown_version_before_them_is_skipped() {
    let unknown = V2.replace("v=v2", "v=v9");
    for extensions in [false, true] {
        let answer = ask(extensions, "/apis", &[&unknown, V2, V2BETA1, PLAIN].join(",")).await;
        assert_eq!(answer.header("content-type"), V2);
        let answer = ask(extensions, "/apis", &[&unknown, PLAIN].join(",")).await;
        assert_eq!(answer.header("content-type"), PLAIN);
        assert!(answer.text().starts_with(r#"{"kind":"APIGroupList""#));
    }
}

#[tokio::test]
async fn the_older_version_is_an_extension() {
    let without = ask(false, "/apis", V2BETA1).await;
    assert_eq!(without.code, 406);
    let with = ask(true, "/apis", V2BETA1).await;
    assert_eq!((with.code.as_u16(), with.header("content-type")), (200, V2BETA1));
    let newest = ask(true, "/apis", V2).await;
    assert_eq!(with.text().replace("k8s.io/v2beta1", "k8s.io/v2"), newest.text());
    assert_eq!(with.header("etag"), newest.header("etag"));
}

#[tokio::test]
async fn a_request_is_refused_only_when_no_form_is_left() {
    let unknown = V2.replace("v=v2", "v=v9");
    for extensions in [false, true] {
        for path in ["/api", "/apis"] {
            assert_eq!(ask(extensions, path, &unknown).await.code, 406, "{path}");
            assert_eq!(ask(extensions, path, &format!("{unknown},text/html")).await.code, 406, "{path}");
            assert_eq!(ask(extensions, path, &format!("{unknown},*/*;q=0.1")).await.code, 200, "{path}");
        }
    }
}

#[tokio::test]
async fn every_group_version_is_in_it() {
    let mut found = Vec::new();
    for path in ["/api", "/apis"] {
        let list: Value = serde_json::from_slice(&ask(false, path, V2).await.body).expect("JSON");
        for group in list["items"].as_array().expect("items") {
            for version in group["versions"].as_array().expect("versions") {
                let name = group["metadata"]["name"].as_str().unwrap_or_default();
                assert_eq!(version["freshness"], "Current");
                found.push(format!("{name}/{}", version["version"].as_str().expect("a version")));
            }
        }
    }
    assert_eq!(found, ["/v1", "apps/v1", "example.com/v1", "example.com/v1beta1"]);
}

#[tokio::test]
async fn its_tag_says_whether_it_changed() {
    let http = Http::new(endpoints(snapshot(2), false));
    let etag = get(&http, "/apis", &[("accept", V2)]).await.header("etag").to_owned();
    let unchanged = get(&http, "/apis", &[("accept", V2), ("if-none-match", &etag)]).await;
    assert_eq!((unchanged.code.as_u16(), unchanged.header("etag")), (304, &*etag));
    let changed = Http::new(endpoints(snapshot(3), false));
    let answer = get(&changed, "/apis", &[("accept", V2), ("if-none-match", &etag)]).await;
    assert_eq!(answer.code, 200);
    assert_ne!(answer.header("etag"), etag);
}
