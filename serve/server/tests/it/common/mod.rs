//! A small snapshot, and requests against it.

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use kubeshape_discovery::{Freshness, Group, GroupVersion, Kind, Origin, Priority, Resource, Scope, print};
use kubeshape_schema::Dialect;
use kubeshape_server::http::Http;
use kubeshape_server::{Discovery, Document, Endpoints, Index, LazyV2, Leaf, Live, Metrics, Readiness, Snapshot};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tower::Service;

/// When the documents of the snapshot changed.
pub(crate) fn modified() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

pub(crate) fn v3(title: &str, padding: usize) -> String {
    let padding = "p".repeat(padding);
    format!(
        r#"{{"openapi":"3.0.0","info":{{"title":"{title}","version":"1","description":"{padding}"}},"paths":{{}}}}"#
    )
}

fn version(name: &str, origin: Origin, resources: &[&str]) -> Arc<GroupVersion> {
    let resource = |name: &&str| Resource {
        name: (**name).into(),
        response_kind: Kind { group: "".into(), version: "".into(), kind: "Kind".into() },
        scope: Scope::Namespaced,
        singular: "one".into(),
        verbs: vec!["get".into(), "list".into()],
        short_names: vec![],
        categories: vec![],
        storage_version_hash: None,
        subresources: vec![],
    };
    Arc::new(GroupVersion {
        version: name.into(),
        priority: Priority { group: 1000, version: 15 },
        origin,
        freshness: Freshness::Current,
        resources: resources.iter().map(resource).collect(),
    })
}

/// Returns `v1` of the core group, the built-in group `apps`, and `example.com` of custom resources. `large` is a
/// number of resources that make discovery large.
pub(crate) fn snapshot(large: usize) -> Snapshot {
    let core = Arc::new(Group { name: "".into(), versions: vec![version("v1", Origin::BuiltIn, &["pods"])] });
    let many: Vec<String> = (0..large).map(|n| format!("resources{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let groups = [
        Group { name: "apps".into(), versions: vec![version("v1", Origin::BuiltIn, &["deployments"])] },
        Group {
            name: "example.com".into(),
            versions: vec![
                version("v1", Origin::CustomResources, &many),
                version("v1beta1", Origin::CustomResources, &["old"]),
            ],
        },
    ];
    let tagged = |groups: &[&Group]| {
        let mut out = Vec::new();
        print::etag_text(&mut out, groups.iter().copied());
        Arc::new(Document::new(None, Bytes::from(out), modified()))
    };
    let document = |text: String| Arc::new(Document::new(Some(Dialect::V3), Bytes::from(text), modified()));
    let documents = [
        ("api/v1", document(v3("core", 10))),
        ("apis/apps/v1", document(v3("apps", 4000))),
        ("apis/example.com/v1", document(v3("example", 200_000))),
        ("apis/example.com/v1beta1", document(v3("old", 0))),
    ];
    let entries: Vec<String> = documents
        .iter()
        .map(|(path, document)| {
            format!(r#""{path}":{{"serverRelativeURL":"/openapi/v3/{path}?hash={}"}}"#, document.hash())
        })
        .collect();
    let index = format!(r#"{{"paths":{{{}}}}}"#, entries.join(","));
    let v2 = || {
        let text =
            format!(r#"{{"swagger":"2.0","info":{{"title":"{}","version":"1"}},"paths":{{}}}}"#, "t".repeat(3000));
        Ok(Arc::new(Document::new(Some(Dialect::V2), Bytes::from(text), modified())))
    };
    Snapshot {
        v3: documents.into_iter().map(|(path, document)| (Arc::from(path), Leaf::Local(document))).collect(),
        index: Arc::new(Index::new(Document::new(None, Bytes::from(index), modified()))),
        v2: Arc::new(LazyV2::new(Box::new(v2))),
        discovery: Discovery {
            aggregated_core: tagged(&[&core]),
            aggregated: tagged(&groups.iter().collect::<Vec<_>>()),
            core: Some(core),
            groups: groups.into_iter().map(|group| (Arc::clone(&group.name), Arc::new(group))).collect(),
        },
        version: Bytes::from_static(b"{\n  \"major\": \"1\"\n}"),
        root_paths: Arc::new([]),
    }
}

/// Returns the endpoints over a snapshot.
pub(crate) fn endpoints(snapshot: Snapshot, extensions: bool) -> Endpoints {
    Endpoints {
        live: Arc::new(Live::new(Arc::new(snapshot))),
        extensions,
        advertise: "127.0.0.1:8001".into(),
        metrics: Arc::new(Metrics::default()),
        readiness: Arc::new(Readiness::default()),
        authenticator: None,
        emulation: None,
        v2_without_custom_resources: None,
        objects: None,
        pages: None,
    }
}

/// A response.
pub(crate) struct Answer {
    pub(crate) code: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().expect("ASCII")).unwrap_or_default()
    }

    pub(crate) fn vary(&self) -> Vec<&str> {
        self.headers.get_all("vary").iter().map(|value| value.to_str().expect("ASCII")).collect()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }
}

/// Sends one request.
pub(crate) async fn ask(http: &Http, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Empty::<Bytes>::new()).expect("a request");
    let response = http.clone().call(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    Answer { code: parts.status, headers: parts.headers, body }
}

pub(crate) async fn get(http: &Http, target: &str, headers: &[(&str, &str)]) -> Answer {
    ask(http, "GET", target, headers).await
}
