use crate::server::{Server, ok, status, tagged};
use kubeshape_client::cache::{Bounds, Cache, Digest};
use kubeshape_client::{Cached, Change, Client, Error, Fault, Limits, Pulled, Response, Wanted, pull};
use std::time::Duration;

const APPS: &str = r#"{"openapi":"3.0.0","paths":{"/apis/apps/v1/":{}}}"#;
const CORE: &str = r#"{"openapi":"3.0.0","paths":{"/api/v1/":{}}}"#;
const AGGREGATED: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},
    "items":[{"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[{"resource":"deployments",
    "responseKind":{"group":"","version":"","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment",
    "verbs":["get"]}],"freshness":"Current"}]}]}"#;
const EMPTY: &str =
    r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[]}"#;
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=250";

fn server() -> Server {
    let server = Server::default();
    server.documents(&[("api/v1", CORE), ("apis/apps/v1", APPS)]);
    server.answer("/apis", tagged("\"1\"", AGGREGATED)).answer("/api", tagged("\"2\"", EMPTY));
    server.ok("/version", r#"{"major":"1","minor":"36","gitVersion":"v1.36.3"}"#);
    server
}

fn run(server: &Server, wanted: &Wanted, cache: Option<&Cache>) -> Result<Pulled, Error> {
    let client = Client::new(server, Limits::default());
    let cached = cache.map(|cache| Cached { cache, cluster: "c", server: "http://c" });
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(pull(&client, wanted, cached))
}

fn all(server: &Server, cache: Option<&Cache>) -> Pulled {
    let pulled = run(server, &Wanted::default(), cache).expect("a server");
    assert_eq!((&pulled.failures[..], &pulled.unkept), (&[][..], &None));
    pulled
}

fn bodies(pulled: &Pulled) -> Vec<&str> {
    pulled.documents.iter().map(|fetched| std::str::from_utf8(&fetched.document.bytes).expect("UTF-8")).collect()
}

fn folder() -> (tempfile::TempDir, Cache) {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(folder.path().join("cache"), Bounds::default()).expect("a cache");
    (folder, cache)
}

#[test]
fn unchanged_documents_are_not_fetched_again() {
    let ((_folder, cache), server) = (folder(), server());
    let first = all(&server, Some(&cache));
    assert_eq!(bodies(&first), [CORE, APPS]);
    assert_eq!(first.groups().expect("discovery")[0].versions[0].resources[0].name.as_ref(), "deployments");
    assert_eq!(server.asked().len(), 6);

    let again = all(&server, Some(&cache));
    assert_eq!(server.asked(), ["200 /version", "304 /api", "304 /apis", "304 /openapi/v3"]);
    assert!(again.documents.iter().all(|fetched| fetched.is_cached));
    assert_eq!((bodies(&again), &again.discovery), (bodies(&first), &first.discovery));

    let changed = APPS.replace("3.0.0", "3.0.1");
    server.documents(&[("api/v1", CORE), ("apis/apps/v1", &changed)]);
    let third = all(&server, Some(&cache));
    let fetched: Vec<String> = server.asked().into_iter().filter(|line| line.contains("apps")).collect();
    assert_eq!(fetched, [format!("200 /openapi/v3/apis/apps/v1?hash={}", Digest::of(changed.as_bytes()))]);
    assert_eq!(bodies(&third), [CORE, &changed]);
}

#[test]
fn clusters_share_documents() {
    let ((_folder, cache), server) = (folder(), server());
    all(&server, Some(&cache));
    server.asked();
    let client = Client::new(&server, Limits::default());
    let other = Cached { cache: &cache, cluster: "another", server: "http://another" };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let pulled = runtime.block_on(pull(&client, &Wanted::default(), Some(other))).expect("a server");
    assert!(pulled.documents.iter().all(|fetched| fetched.is_cached));
    assert_eq!(cache.stat().expect("a cache").clusters, 2);
}

#[test]
fn an_interrupted_pull_continues() {
    let ((_folder, cache), server) = (folder(), server());
    // The state after a killed process: documents, and no record.
    cache.put(CORE.as_bytes()).expect("written");
    all(&server, Some(&cache));
    assert!(!server.asked().iter().any(|line| line.contains("/openapi/v3/api/v1")));
}

#[test]
fn a_document_that_changes_between_index_and_request_is_the_newest() {
    let ((_folder, cache), server) = (folder(), server());
    let old = format!("/openapi/v3/apis/apps/v1?hash={}", Digest::of(APPS.as_bytes()));
    let changed = APPS.replace("3.0.0", "3.0.1");
    let hash = Digest::of(changed.as_bytes()).to_string();
    let new = format!("/openapi/v3/apis/apps/v1?hash={hash}");
    server.forget(&old).answer(&old, Response { location: Some(new.clone()), ..status(301) });
    server.ok(&new, &changed);
    let pulled = all(&server, Some(&cache));
    assert_eq!(bodies(&pulled), [CORE, &changed]);
    assert_eq!(pulled.documents[1].document.hash, Some(hash));
}

#[test]
fn redirects_lead_to_no_other_place() {
    for (location, is_loop) in
        [("https://other/x", false), ("/openapi/v3/api/v1?hash=1", false), ("/openapi/v3/apis/apps/v1?hash=0", true)]
    {
        let server = server();
        let path = format!("/openapi/v3/apis/apps/v1?hash={}", Digest::of(APPS.as_bytes()));
        let redirect = Response { location: Some(location.to_owned()), ..status(301) };
        server.forget(&path).answer(&path, redirect.clone()).answer("/openapi/v3/apis/apps/v1?hash=0", redirect);
        let pulled = run(&server, &Wanted::default(), None).expect("a server");
        assert_eq!(bodies(&pulled), [CORE]);
        let fault = &pulled.failures[0].fault;
        let expected = if is_loop { Fault::Redirects } else { Fault::Redirect(location.to_owned()) };
        assert_eq!(*fault, expected);
    }
}

#[test]
fn a_server_of_openapi_v2_is_converted() {
    let ((_folder, cache), server) = (folder(), server());
    server.forget("/openapi/v3").ok(
        "/openapi/v2",
        r#"{"swagger":"2.0","info":{"title":"t","version":"v"},"paths":{"/apis/apps/v1/deployments":{"get":{"responses":{}}},
           "/api/v1/pods":{"get":{"responses":{}}}}}"#,
    );
    let pulled = all(&server, Some(&cache));
    assert!(pulled.is_converted);
    let paths: Vec<&str> = pulled.documents.iter().map(|fetched| fetched.document.path.as_str()).collect();
    assert_eq!(paths, ["api/v1", "apis/apps/v1"]);
    assert!(bodies(&pulled).iter().all(|body| body.starts_with(r#"{"openapi":"3.0.0""#)));
    let offline = run(&server, &Wanted { offline: true, ..Wanted::default() }, Some(&cache)).expect("the cache");
    assert!(offline.is_converted);
    assert_eq!(bodies(&offline), bodies(&pulled));
    server.forget("/openapi/v2");
    let error = run(&server, &Wanted::default(), None).expect_err("it has neither");
    assert_eq!(error.to_string(), "/openapi/v3: the server answers with status 404");
}

#[test]
fn a_server_without_aggregated_discovery_is_asked_by_group_versions() {
    let ((_folder, cache), server) = (folder(), server());
    server.forget("/apis").answer(
        "/apis",
        tagged("\"a\"", r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],
            "preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}"#),
    );
    server.forget("/api").ok("/api", r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}"#);
    let resources = |group_version: &str, name: &str, kind: &str| {
        format!(
            r#"{{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"{group_version}","resources":[{{"name":"{name}",
               "singularName":"","namespaced":true,"kind":"{kind}","verbs":["get"]}}]}}"#
        )
    };
    server.ok("/apis/apps/v1", &resources("apps/v1", "deployments", "Deployment"));
    server.ok("/api/v1", &resources("v1", "pods", "Pod"));
    let pulled = all(&server, Some(&cache));
    let groups = pulled.groups().expect("discovery");
    let names: Vec<&str> = groups.iter().map(|group| &*group.name).collect();
    assert_eq!(
        (names.len(), groups.iter().all(|group| group.versions[0].resources.len() == 1)),
        (2, true),
        "{names:?}"
    );
    server.asked();
    all(&server, Some(&cache));
    assert!(server.asked().contains(&"304 /apis".to_owned()));
}

#[test]
fn names_that_servers_choose_lead_nowhere_else() {
    let server = server();
    let group =
        |name: &str| format!(r#"{{"name":"{name}","versions":[{{"groupVersion":"{name}/v1","version":"v1"}}]}}"#);
    let hostile = ["..", "a/../..", "a?b", "\\u001b[31m", "a b", "a%2e"].map(group).join(",");
    server.forget("/apis").ok("/apis", &format!(r#"{{"kind":"APIGroupList","groups":[{hostile}]}}"#));
    let item = |name: &str| format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
    server.ok(CRDS, &format!(r#"{{"items":[{}]}}"#, item("../../../../api/v1/secrets")));
    let pulled = run(&server, &Wanted { definitions: true, ..Wanted::default() }, None).expect("a server");
    assert_eq!(pulled.failures.len(), 6 + 1, "{:?}", pulled.failures);
    assert!(pulled.failures.iter().any(|error| error.to_string().contains("is no name of a CustomResourceDefinition")));
    let asked = server.asked();
    assert!(asked.iter().all(|line| !line.contains("..") && !line.contains("secrets")), "{asked:?}");
    assert_eq!(pulled.discovery.keys().collect::<Vec<_>>(), ["/api", "/apis", "/version"]);
}

#[test]
fn discovery_and_lists_are_bounded_as_a_whole() {
    let server = server();
    let groups: Vec<String> =
        (0..50).map(|n| format!(r#"{{"name":"g{n}","versions":[{{"version":"v1"}}]}}"#)).collect();
    server.forget("/apis").ok("/apis", &format!(r#"{{"kind":"APIGroupList","groups":[{}]}}"#, groups.join(",")));
    for n in 0..50 {
        let list = format!(r#"{{"kind":"APIResourceList","groupVersion":"g{n}/v1","resources":[]}}"#);
        server.ok(&format!("/apis/g{n}/v1"), &format!("{list}{}", " ".repeat(1000)));
    }
    let items: Vec<String> = (0..21).map(|n| format!(r#"{{"metadata":{{"name":"n{n}"}},"spec":{{}}}}"#)).collect();
    server.ok(CRDS, &format!(r#"{{"items":[{}]}}"#, items.join(",")));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let of = |limits| {
        let wanted = Wanted { definitions: true, ..Wanted::default() };
        let pulled = runtime.block_on(pull(&Client::new(&server, limits), &wanted, None)).expect("a server");
        (
            pulled.discovery.len(),
            pulled.definitions.len(),
            pulled.failures.iter().map(ToString::to_string).collect::<Vec<_>>(),
        )
    };
    assert_eq!(of(Limits::default()), (53, 21, Vec::new()));
    let (lists, _, told) = of(Limits { total: 10_000, ..Limits::default() });
    assert!(
        lists < 15 && told.iter().any(|text| text.contains("all discovery documents are larger")),
        "{lists} {told:?}"
    );
    let (_, _, told) = of(Limits { group_versions: 20, ..Limits::default() });
    assert!(told.iter().any(|text| text.contains("more than 20 objects")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("50 group versions; the limit is 20")), "{told:?}");
}

#[test]
fn openapi_v2_is_fetched_once() {
    const V2: &str = r#"{"swagger":"2.0","info":{"title":"t","version":"v"},"paths":{}}"#;
    let ((_folder, cache), server) = (folder(), server());
    let wanted = Wanted { v2: true, ..Wanted::default() };
    let go = |wanted: &Wanted| run(&server, wanted, Some(&cache)).expect("a server");
    // A server may have none.
    let without = go(&wanted);
    assert_eq!((without.v2, &without.failures[..]), (None, &[][..]));
    server.answer("/openapi/v2", tagged("\"v2\"", V2));
    let first = go(&wanted).v2.expect("a document");
    assert_eq!((&first.bytes[..], first.tag.as_deref(), first.is_cached), (V2.as_bytes(), Some("\"v2\""), false));
    server.asked();
    let again = go(&wanted).v2.expect("a document");
    assert!(again.is_cached && again.bytes == first.bytes);
    assert_eq!(server.asked(), ["200 /version", "304 /api", "304 /apis", "304 /openapi/v2", "304 /openapi/v3"]);
    // Who does not ask for it does not forget it.
    assert_eq!(go(&Wanted::default()).v2, None);
    assert!(!server.asked().iter().any(|line| line.contains("v2")));
    let offline = go(&Wanted { offline: true, ..wanted.clone() });
    assert_eq!(offline.v2, Some(again));
    server.forget("/openapi/v2").answer("/openapi/v2", status(403));
    let refused = go(&wanted);
    assert_eq!((refused.v2, refused.failures.len()), (None, 1));
    assert!(go(&Wanted { offline: true, ..wanted }).v2.is_some(), "what was known stays");
}

#[test]
fn a_server_of_openapi_v2_sends_it_once() {
    let ((_folder, cache), server) = (folder(), server());
    let v2 =
        r#"{"swagger":"2.0","info":{"title":"t","version":"v"},"paths":{"/api/v1/pods":{"get":{"responses":{}}}}}"#;
    server.forget("/openapi/v3").answer("/openapi/v2", tagged("\"1\"", v2));
    let wanted = Wanted { v2: true, ..Wanted::default() };
    let go = || run(&server, &wanted, Some(&cache)).expect("a server");
    let first = go();
    assert!(first.is_converted && first.v2.as_ref().is_some_and(|first| first.bytes == v2.as_bytes()));
    assert_eq!(server.asked().iter().filter(|line| line.contains("/openapi/v2")).count(), 1);
    let second = go();
    assert!(server.asked().contains(&"304 /openapi/v2".to_owned()));
    assert!(second.documents.iter().all(|fetched| fetched.is_cached));
    assert_eq!(bodies(&second), bodies(&first));
}

#[test]
fn changes_of_definitions_are_waited_for() {
    const LIST: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=1";
    const WATCH: &str =
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=true&resourceVersion=7&timeoutSeconds=9";
    let server = server();
    let client = Client::new(&server, Limits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    server.ok(
        LIST,
        r#"{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"7","continue":"x"},"items":[{}]}"#,
    );
    assert_eq!(runtime.block_on(client.definitions_version()).as_deref(), Ok("7"));
    let change = |body: Response| {
        server.forget(WATCH).answer(WATCH, body);
        runtime.block_on(client.change("7", Duration::from_secs(10))).map_err(|error| error.fault.status())
    };
    let modified = r#"{"type":"MODIFIED","object":{"kind":"PartialObjectMetadata","metadata":{"name":"a.b","resourceVersion":"9"}}}"#;
    assert_eq!(change(ok(modified)), Ok(Change::To("9".to_owned())));
    assert_eq!(change(ok("")), Ok(Change::None), "the server ended the watch");
    assert_eq!(change(status(0)), Ok(Change::None), "nothing came");
    let expired = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"metadata":{}}}"#;
    assert_eq!(change(ok(expired)), Ok(Change::Unknown));
    assert_eq!(change(status(410)), Ok(Change::Unknown));
    assert_eq!(change(status(403)), Err(Some(403)));
    for broken in ["no JSON", "[]", "{}", r#"{"type":"ADDED"}"#, r#"{"type":"ADDED","object":7}"#] {
        assert_eq!(change(ok(broken)), Err(None), "{broken}");
    }
    server.forget(LIST).ok(LIST, "<html>");
    assert!(runtime.block_on(client.definitions_version()).is_err());
}

#[test]
fn discovery_is_asked_for_without_a_pull() {
    let server = server();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let client = Client::new(&server, Limits::default());
    let discovery = runtime.block_on(client.discovery()).expect("a server");
    assert_eq!(discovery.documents.keys().collect::<Vec<_>>(), ["/api", "/apis", "/version"]);
    assert_eq!(discovery.groups(), all(&server, None).groups());
    server.forget("/apis").answer("/apis", status(503));
    let partial = runtime.block_on(client.discovery()).expect("a server");
    assert_eq!((partial.documents.len(), partial.failures.len()), (2, 1));
    for path in ["/api", "/version"] {
        server.forget(path);
    }
    let error = runtime.block_on(client.discovery()).expect_err("nothing is there");
    assert_eq!(error.fault.status(), Some(503));
}

#[test]
fn discovery_that_fails_once_is_still_known() {
    let ((_folder, cache), server) = (folder(), server());
    let first = all(&server, Some(&cache));
    server.forget("/apis").answer("/apis", status(500));
    let pulled = run(&server, &Wanted::default(), Some(&cache)).expect("a server");
    assert_eq!(pulled.failures.len(), 1);
    let offline = run(&server, &Wanted { offline: true, ..Wanted::default() }, Some(&cache)).expect("the cache");
    assert_eq!(offline.discovery, first.discovery);
}

#[test]
fn what_fails_is_told_and_the_rest_is_there() {
    let ((_folder, cache), server) = (folder(), server());
    all(&server, Some(&cache));
    let changed = APPS.replace("3.0.0", "3.0.1");
    server.documents(&[("api/v1", CORE), ("apis/apps/v1", &changed), ("apis/gone/v1", CORE)]);
    let path = format!("/openapi/v3/apis/apps/v1?hash={}", Digest::of(changed.as_bytes()));
    let refused = r#"{"kind":"Status","message":"service unavailable"}"#;
    server.forget(&path).answer(&path, Response { body: refused.into(), ..status(503) });
    let pulled = run(&server, &Wanted::default(), Some(&cache)).expect("a server");
    assert_eq!(bodies(&pulled), [CORE, CORE]);
    let told: Vec<String> = pulled.failures.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["/openapi/v3/apis/apps/v1: the server answers with status 503: service unavailable"]);
    // What was known of it stays for those who work without the server.
    let offline = run(&server, &Wanted { offline: true, ..Wanted::default() }, Some(&cache)).expect("the cache");
    assert_eq!(bodies(&offline), [CORE, APPS, CORE]);
    for broken in [status(0), ok("no JSON"), ok("[]"), ok("")] {
        server.forget(&path).answer(&path, broken);
        let pulled = run(&server, &Wanted::default(), Some(&cache)).expect("a server");
        assert_eq!((pulled.documents.len(), pulled.failures.len()), (2, 1));
    }
}

#[test]
fn a_group_version_that_goes_meanwhile_is_no_failure() {
    let server = server();
    let index = |paths: &str| ok(&format!("{{\"paths\":{{{paths}}}}}"));
    let core = format!(r#""api/v1":{{"serverRelativeURL":"/openapi/v3/api/v1?hash={}"}}"#, Digest::of(CORE.as_bytes()));
    server.forget("/openapi/v3");
    server.answer("/openapi/v3", index(&format!(r#"{core},"apis/gone/v1":{{}},"apis/there/v1":{{}}"#)));
    server.answer("/openapi/v3", index(&format!(r#"{core},"apis/there/v1":{{}}"#)));
    let pulled = run(&server, &Wanted::default(), None).expect("a server");
    assert_eq!(bodies(&pulled), [CORE]);
    let told: Vec<&str> = pulled.failures.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(told, ["/openapi/v3/apis/there/v1"], "the index still has it");
}

#[test]
fn a_busy_server_is_asked_again_when_it_says() {
    let server = server();
    server.forget("/openapi/v3");
    let busy = Response { retry_after: Some(Duration::from_hours(1)), ..status(429) };
    server.answer("/openapi/v3", busy.clone()).answer("/openapi/v3", busy.clone()).ok("/openapi/v3", r#"{"paths":{}}"#);
    assert!(all(&server, None).documents.is_empty());
    server.forget("/openapi/v3").answer("/openapi/v3", busy);
    let error = run(&server, &Wanted::default(), None).expect_err("it never is ready");
    assert_eq!(error.fault.status(), Some(429));
    assert_eq!(server.asked().iter().filter(|line| line.contains("429")).count(), 2 + 6);
}

#[test]
fn limits_hold() {
    let server = server();
    let many: Vec<String> = (0..10_001).map(|n| format!("\"apis/g{n}/v1\":{{}}")).collect();
    server.forget("/openapi/v3").ok("/openapi/v3", &format!("{{\"paths\":{{{}}}}}", many.join(",")));
    let error = run(&server, &Wanted::default(), None).expect_err("too many");
    assert_eq!(error.to_string(), "/openapi/v3: it lists 10001 documents; the limit is 10000");
    server.documents(&[("api/v1", CORE), ("apis/apps/v1", APPS)]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let limits = Limits { total: CORE.len() + 1, ..Limits::default() };
    let error = runtime.block_on(pull(&Client::new(&server, limits), &Wanted::default(), None)).expect_err("too large");
    assert!(error.to_string().contains("larger than"), "{error}");
    let limits = Limits { document: APPS.len() - 1, ..Limits::default() };
    let pulled = runtime.block_on(pull(&Client::new(&server, limits), &Wanted::default(), None)).expect("a server");
    assert_eq!((pulled.documents.len(), pulled.failures.len()), (1, 1));
}

#[test]
fn only_wanted_documents_are_fetched() {
    let ((_folder, cache), server) = (folder(), server());
    let of = |path: &str| Wanted { paths: vec![path.to_owned()], ..Wanted::default() };
    let pulled = run(&server, &of("apis/apps/v1"), Some(&cache)).expect("a server");
    assert_eq!(bodies(&pulled), [APPS]);
    assert!(!server.asked().iter().any(|line| line.contains("api/v1?")));
    run(&server, &of("api/v1"), Some(&cache)).expect("a server");
    let offline = run(&server, &Wanted { offline: true, ..Wanted::default() }, Some(&cache)).expect("the cache");
    assert_eq!(bodies(&offline), [CORE, APPS], "both are known now");
    // What the cluster has no more is forgotten.
    server.documents(&[("api/v1", CORE)]);
    run(&server, &of("api/v1"), Some(&cache)).expect("a server");
    let offline = run(&server, &Wanted { offline: true, ..Wanted::default() }, Some(&cache)).expect("the cache");
    assert_eq!(bodies(&offline), [CORE]);
    let error = run(&server, &of("apis/none/v1"), None).expect_err("it is not there");
    assert_eq!(error.to_string(), "/openapi/v3: the server has no document \"apis/none/v1\"");
}

#[test]
fn definitions_are_fetched_once() {
    let ((_folder, cache), server) = (folder(), server());
    let wanted = Wanted { definitions: true, ..Wanted::default() };
    let metadata = |name: &str, version: u32| {
        format!(r#"{{"metadata":{{"name":"{name}","uid":"u-{name}","resourceVersion":"{version}"}}}}"#)
    };
    let whole = |name: &str, version: u32| {
        format!(
            r#"{{"metadata":{{"name":"{name}","uid":"u-{name}","resourceVersion":"{version}"}},"spec":{{"group":"g{version}"}}}}"#
        )
    };
    let path = |name: &str| format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
    let list = |items: &[String], next: &str| {
        let metadata = if next.is_empty() { "{}".to_owned() } else { format!(r#"{{"continue":"{next}"}}"#) };
        format!(r#"{{"kind":"PartialObjectMetadataList","metadata":{metadata},"items":[{}]}}"#, items.join(","))
    };
    server.ok(CRDS, &list(&[metadata("b.g", 1)], "n=/&"));
    server.ok(&format!("{CRDS}&continue=n%3D%2F%26"), &list(&[metadata("a.g", 2)], ""));
    server.ok(&path("a.g"), &whole("a.g", 2)).ok(&path("b.g"), &whole("b.g", 1));
    let names = |pulled: &Pulled| pulled.definitions.iter().map(|d| d.version.name.clone()).collect::<Vec<_>>();
    let pulled = run(&server, &wanted, Some(&cache)).expect("a server");
    assert_eq!((names(&pulled), &pulled.failures[..]), (vec!["a.g".to_owned(), "b.g".to_owned()], &[][..]));
    let text = String::from_utf8(pulled.definitions[0].bytes.clone()).expect("UTF-8");
    assert!(
        text.starts_with(r#"{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata""#),
        "{text}"
    );

    server.asked();
    let again = run(&server, &wanted, Some(&cache)).expect("a server");
    assert!(again.definitions.iter().all(|definition| definition.is_known));
    assert_eq!(
        again.definitions.iter().map(|d| &d.bytes).collect::<Vec<_>>(),
        pulled.definitions.iter().map(|d| &d.bytes).collect::<Vec<_>>()
    );
    assert!(!server.asked().iter().any(|line| line.contains("definitions/")));

    server.forget(&path("b.g")).ok(&path("b.g"), &whole("b.g", 7));
    server.forget(CRDS).ok(CRDS, &list(&[metadata("b.g", 7)], ""));
    let third = run(&server, &wanted, Some(&cache)).expect("a server");
    assert!(names(&third) == ["b.g"] && String::from_utf8_lossy(&third.definitions[0].bytes).contains("g7"));
    assert_eq!(server.asked().iter().filter(|line| line.contains("definitions/")).count(), 1);

    // A server that knows no partial metadata sends everything.
    server
        .forget(CRDS)
        .ok(CRDS, &format!(r#"{{"kind":"CustomResourceDefinitionList","items":[{}]}}"#, whole("c.g", 1)));
    let fourth = run(&server, &wanted, Some(&cache)).expect("a server");
    assert_eq!(names(&fourth), ["c.g"]);
    let offline = run(&server, &Wanted { offline: true, ..wanted.clone() }, Some(&cache)).expect("the cache");
    assert_eq!(
        (names(&offline), offline.definitions[0].bytes == fourth.definitions[0].bytes),
        (vec!["c.g".to_owned()], true)
    );

    // Many new ones are fetched as one list.
    let many: Vec<String> = (0..21).map(|n| metadata(&format!("n{n}.g"), 1)).collect();
    let whole: Vec<String> = (0..21).map(|n| whole(&format!("n{n}.g"), 1)).collect();
    server.forget(CRDS).ok(CRDS, &list(&many, "")).ok(CRDS, &list(&whole, ""));
    server.asked();
    assert_eq!(run(&server, &wanted, Some(&cache)).expect("a server").definitions.len(), 21);
    assert_eq!(server.asked().iter().filter(|line| line.contains("definitions")).count(), 2);

    server.forget(CRDS).answer(CRDS, status(403));
    let refused = run(&server, &wanted, Some(&cache)).expect("a server");
    assert_eq!((refused.definitions.len(), refused.failures[0].fault.status()), (0, Some(403)));
    server.forget(CRDS).ok(CRDS, &list(&[], "on"));
    let endless = run(&server, &wanted, Some(&cache)).expect("a server");
    assert!(endless.failures[0].to_string().contains("is empty, and is not the last"), "{}", endless.failures[0]);
}

#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let ((_folder, cache), server) = (folder(), server());
    // A file is where the folder of new files should be.
    std::fs::write(cache.folder().join("new"), "").expect("written");
    let pulled = run(&server, &Wanted::default(), Some(&cache)).expect("a server");
    assert_eq!(bodies(&pulled), [CORE, APPS]);
    assert!(pulled.unkept.is_some() && pulled.failures.is_empty());
}

#[test]
fn offline_takes_what_the_cache_has() {
    let ((_folder, cache), server) = (folder(), server());
    let offline = Wanted { offline: true, ..Wanted::default() };
    for cache in [None, Some(&cache)] {
        let error = run(&server, &offline, cache).expect_err("nothing is there");
        assert_eq!(error.fault, Fault::NotCached);
    }
    let first = all(&server, Some(&cache));
    server.asked();
    let pulled = run(&server, &offline, Some(&cache)).expect("the cache");
    assert_eq!((bodies(&pulled), &pulled.discovery), (bodies(&first), &first.discovery));
    assert!(server.asked().is_empty(), "no request was sent");
}
