//! The web application that browsers get.

use crate::common::{ask, endpoints, get, snapshot};
use http::StatusCode;
use kubeshape_server::http::{Http, router};
use kubeshape_server::{Authenticator, Endpoints, Listener, Pages, Server, Tokens, View, Views};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

fn pages() -> Arc<Pages> {
    let files = [
        ("index.html", "text/html; charset=utf-8", &b"<!doctype html>"[..]),
        ("app.js", "text/javascript; charset=utf-8", &b"1"[..]),
    ];
    Arc::new(Pages::new(files).with_views(Arc::new(Echo)))
}

/// Views that say of what they are.
#[derive(Debug)]
struct Echo;

impl Views for Echo {
    fn view(&self, name: &str, document: &[u8], api_version: &str, kind: &str, view: View) -> Option<Vec<u8>> {
        let is_openapi = document.starts_with(b"{\"openapi\"");
        (kind != "None").then(|| format!("{name} {is_openapi} {api_version} {kind} {view:?}").into_bytes())
    }
}

fn http() -> Http {
    Http::new(Endpoints { pages: Some(pages()), ..endpoints(snapshot(0), true) })
}

#[tokio::test]
async fn browsers_get_the_application_and_clients_the_list_of_paths() {
    let (http, without) = (http(), Http::new(endpoints(snapshot(0), true)));
    for accept in
        ["", "*/*", "application/json", "application/json, */*", "text/html;q=0, */*", "text/plain", "text/htmlx"]
    {
        let answer = get(&http, "/", &[("accept", accept)]).await;
        let plain = get(&without, "/", &[("accept", accept)]).await;
        assert_eq!((answer.code, answer.header("content-type")), (StatusCode::OK, "application/json"), "{accept}");
        assert_eq!((answer.text(), answer.vary()), (plain.text(), plain.vary()), "{accept}");
    }
    for accept in [BROWSER, "application/json, text/html", "TEXT/HTML;q=0.1"] {
        let answer = get(&http, "/", &[("accept", accept)]).await;
        assert_eq!((answer.code, answer.header("location")), (StatusCode::FOUND, "explorer/"), "{accept}");
        assert_eq!(answer.vary(), ["Accept"]);
        assert_eq!(get(&without, "/", &[("accept", accept)]).await.code, StatusCode::OK);
    }
    assert_eq!(ask(&http, "POST", "/", &[("accept", BROWSER)]).await.code, StatusCode::OK);
    assert_eq!(get(&http, "/explorer", &[]).await.header("location"), "explorer/");
}

#[tokio::test]
async fn files_have_a_policy_and_a_tag() {
    let http = http();
    for (path, content_type, text) in [
        ("/explorer/", "text/html; charset=utf-8", "<!doctype html>"),
        ("/explorer/app.js", "text/javascript; charset=utf-8", "1"),
    ] {
        let answer = get(&http, path, &[]).await;
        assert_eq!((answer.code, answer.header("content-type"), answer.text()), (StatusCode::OK, content_type, text));
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "), "{policy}");
        assert!(policy.contains("connect-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        let tag = answer.header("etag").to_owned();
        let again = get(&http, path, &[("if-none-match", &tag)]).await;
        assert_eq!((again.code, again.body.len(), again.header("etag")), (StatusCode::NOT_MODIFIED, 0, &*tag));
        let head = ask(&http, "HEAD", path, &[]).await;
        assert_eq!((head.code, head.body.len()), (StatusCode::OK, 0));
        assert_eq!(head.header("content-length"), text.len().to_string());
    }
    let data = get(&http, "/explorer/data/index.json", &[]).await;
    assert_eq!(data.text(), r#"{"kinds":[],"inputs":[],"served":"kinds.json"}"#);
    assert_eq!(data.header("cache-control"), "no-store");
    for path in ["/explorer/none", "/explorer/../openapi/v2", "/explorer/%2e%2e/version", "/explorer//"] {
        assert_eq!(get(&http, path, &[]).await.code, StatusCode::NOT_FOUND, "{path}");
    }
    let refused = ask(&http, "POST", "/explorer/", &[]).await;
    assert_eq!((refused.code, refused.header("allow")), (StatusCode::METHOD_NOT_ALLOWED, "GET, HEAD"));
    let without = Http::new(endpoints(snapshot(0), true));
    assert_eq!(get(&without, "/explorer/", &[]).await.code, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn kinds_are_shown_from_what_the_server_publishes() {
    let http = http();
    let kinds = get(&http, "/explorer/data/kinds.json", &[]).await;
    assert_eq!((kinds.code, kinds.header("content-type")), (StatusCode::OK, "application/json"));
    assert!(kinds.header("content-security-policy").starts_with("default-src 'none'"));
    let kinds: serde_json::Value = serde_json::from_str(kinds.text()).expect("JSON");
    let first = &kinds["kinds"][0];
    let file = first["file"].as_str().expect("a file");
    let inputs: Vec<_> = kinds["inputs"].as_array().into_iter().flatten().map(|input| input["name"].as_str()).collect();
    assert_eq!(
        inputs,
        [Some("api/v1"), Some("apis/apps/v1"), Some("apis/example.com/v1"), Some("apis/example.com/v1beta1")]
    );
    assert_eq!(kinds["inputs"][1]["file"], "../../openapi/v3/apis/apps/v1");
    let (version, kind) = (first["apiVersion"].as_str().expect("a version"), first["kind"].as_str().expect("a kind"));
    let input = first["input"].as_str().expect("an input");
    assert_eq!(file, format!("kinds/{input}/{kind}/kind"));
    for (end, view) in [(".json", "Tree"), ("-fields.json", "Fields")] {
        let answer = get(&http, &format!("/explorer/data/{file}{end}"), &[]).await;
        assert_eq!(answer.text(), format!("{input} true {version} {kind} {view}"));
        assert_eq!((answer.header("cache-control"), answer.header("vary")), ("no-store", "Accept-Encoding"));
    }
    let packed = get(&http, &format!("/explorer/data/{file}.json"), &[("accept-encoding", "gzip")]).await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    for path in
        ["kinds/api/v1/None/kind.json", "kinds/api/v2/Pod/kind.json", "kinds/version/Pod/kind.json", "kinds/kind.json"]
    {
        assert_eq!(get(&http, &format!("/explorer/data/{path}"), &[]).await.code, StatusCode::NOT_FOUND, "{path}");
    }
    let refused = ask(&http, "POST", "/explorer/data/kinds.json", &[]).await;
    assert_eq!(refused.code, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn without_a_token_the_application_asks_for_nothing_that_it_may_not_read() {
    let authenticator = Authenticator::new(Tokens::parse("t1").expect("tokens"));
    let endpoints =
        Endpoints { authenticator: Some(authenticator.clone()), pages: Some(pages()), ..endpoints(snapshot(0), true) };
    let server = Server::new(router(endpoints)).authenticator(authenticator).open_pages();
    let listener = Listener::tcp(([127, 0, 0, 1], 0).into()).await.expect("a port");
    let address = listener.address().expect("an address");
    tokio::spawn(server.run(vec![listener], std::future::pending(), std::future::pending()));
    let ask = async |path: &str, headers: &str| {
        let mut stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    };
    let (html, token) = (format!("Accept: {BROWSER}\r\n"), "Authorization: Bearer t1\r\n");
    assert!(ask("/", &html).await.starts_with("HTTP/1.1 302"));
    assert!(ask("/explorer/", &html).await.ends_with("<!doctype html>"));
    assert!(ask("/explorer/data/index.json", "").await.ends_with(r#"{"kinds":[],"inputs":[]}"#));
    assert!(ask("/explorer/data/index.json", token).await.ends_with(r#""served":"kinds.json"}"#));
    for path in
        ["/explorer/data/kinds.json", "/explorer/data/kinds/api/v1/Pod/kind.json", "/explorer/data/%6binds.json"]
    {
        assert!(ask(path, "").await.starts_with("HTTP/1.1 404"), "{path}");
        assert!(ask(path, token).await.starts_with("HTTP/1.1 200"), "{path}");
    }
    for path in ["/", "/openapi/v3", "/explorers", "/explorer%2f..%2fversion", "//explorer/"] {
        assert!(ask(path, "").await.starts_with("HTTP/1.1 401"), "{path}");
    }
    assert!(ask("/", token).await.starts_with("HTTP/1.1 200"));
}
