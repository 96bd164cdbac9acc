//! Whatever clients send about CustomResourceDefinitions, their objects and objects of built-in kinds: a rejected
//! request changes nothing, settling ends and changes nothing the second time, exactly the established definitions are
//! served, and an object that replaces itself creates no revision.

use kubeshape_builtin::BuiltInDocuments;
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, DEFINITIONS, Documents, Moment, Request};
use kubeshape_registry::Time;
use serde_json::Value;
use std::sync::LazyLock;

static API: LazyLock<Api> = LazyLock::new(|| {
    let release = BuiltInDocuments::newest().api();
    let documents = ["apis/apiextensions.k8s.io/v1", "api/v1", "apis/apps/v1"];
    let documents = documents.into_iter().filter_map(|path| Some((path, release.openapi_v3(path)?.into())));
    Api::default().with_documents(Documents::new(documents))
});

/// Checks the property. Data that begins like protobuf is sent to all kinds that can be read from it. In other data,
/// requests are separated by lines of `%%`. The first line of each is `METHOD TARGET MEDIA`, the rest is the body. The
/// target `/crd` is the path of the definitions.
pub fn holds(data: &[u8]) {
    if data.starts_with(b"k8s\0") {
        return in_protobuf(data);
    }
    let text = String::from_utf8_lossy(data);
    let (mut api, mut store) = (API.clone(), Store::default());
    for (at, part) in text.split("\n%%\n").take(12).enumerate() {
        let (head, body) = part.split_once('\n').unwrap_or((part, ""));
        let mut words = head.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (method, target, media) = (word(), word(), word());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let path = path.strip_prefix("/crd").map_or_else(|| path.to_owned(), |rest| format!("{definitions}{rest}"));
        let uid = format!("00000000-0000-0000-0000-{at:012}");
        let now = Time(i64::try_from(at).unwrap_or(0));
        let moment = Moment { now, uid: &uid, random: data.len() as u64, ..Moment::default() };
        let request = Request { method, path: &path, query, content_type: media, body: body.as_bytes(), ..Request::default() };
        let before = store.revision();
        let Some(reply) = api.answer(&mut store, &request, &moment) else { continue };
        if reply.code >= 300 {
            assert_eq!(store.revision(), before, "{head}: {}", reply.text());
            continue;
        }
        if let Some(settled) = api.settle(&mut store, before, now) {
            api = settled.api;
        }
        let after = store.revision();
        assert!(api.settle(&mut store, after, now).is_none());
        api.settle(&mut store, before, now);
        assert_eq!(store.revision(), after, "{head}: settling does not end");
    }
    for (key, stored) in store.clone().objects() {
        let object: Value = serde_json::from_str(stored.text()).expect("JSON");
        assert_eq!(object["metadata"]["name"], key.name());
        assert_eq!(object["metadata"]["resourceVersion"], stored.revision.to_string());
        if *key.resource == *DEFINITIONS {
            let spec = &object["spec"];
            let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let is = |kind: &str| conditions.iter().any(|it| it["type"] == kind && it["status"] == "True");
            for version in spec["versions"].as_array().into_iter().flatten() {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let path = format!(
                    "/apis/{}/{}/{}",
                    text(&spec["group"]),
                    text(&version["name"]),
                    text(&spec["names"]["plural"])
                );
                let expected = is("Established") && version["served"] == true;
                // A terminating definition is served until its objects are deleted.
                assert!(is("Terminating") || api.serves(&path) == expected, "{path}: {object}");
            }
        }
        replaced_by_itself(&api, &mut store, &object);
    }
}

fn in_protobuf(body: &[u8]) {
    let mut store = Store::default();
    let all = ["namespaces/default/configmaps", "namespaces/default/secrets", "namespaces/default/serviceaccounts", "namespaces"];
    for (method, rest) in all.into_iter().flat_map(|path| [("POST", path), ("DELETE", path)]) {
        let path = format!("/api/v1/{rest}");
        let content_type = "application/vnd.kubernetes.protobuf";
        let request = Request { method, path: &path, content_type, body, ..Request::default() };
        let before = store.revision();
        let reply = API.answer(&mut store, &request, &Moment::default()).expect("it is served");
        assert!(reply.code < 300 || store.revision() == before, "{}", reply.text());
        for (_, stored) in store.clone().objects() {
            replaced_by_itself(&API, &mut store, &serde_json::from_str(stored.text()).expect("JSON"));
        }
    }
}

/// Checks that an object that replaces itself is not changed.
fn replaced_by_itself(api: &Api, store: &mut Store, object: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    let Some(base) = api.path_of(&text(&object["apiVersion"]), &text(&object["kind"]), &text(&metadata["namespace"])) else {
        return;
    };
    let path = format!("{base}/{}", text(&metadata["name"]));
    let body = object.to_string();
    let put = Request {
        method: "PUT",
        path: &path,
        content_type: "application/json",
        body: body.as_bytes(),
        user_agent: "someone/1",
        ..Request::default()
    };
    let before = store.revision();
    let Some(reply) = api.answer(store, &put, &Moment { now: Time(99), ..Moment::default() }) else { return };
    // An object that was stored earlier may be rejected now, because its definition is stricter.
    let is_kept = store.revision() == before || metadata.get("deletionTimestamp").is_some();
    assert!(is_kept, "{path}: {} {}\n{body}", reply.code, reply.text());
}
