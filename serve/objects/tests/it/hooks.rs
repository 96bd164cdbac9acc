//! Admission webhooks: their bounds, and the versions in which they see objects.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Documents, HookCall, Hooks, Moment, Request};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// A webhook that answers with a patch, and keeps what it was sent.
#[derive(Debug)]
struct Patching {
    patch: Value,
    reviews: Mutex<Vec<Value>>,
}

impl Hooks for Patching {
    fn call(&self, call: &HookCall) -> Result<Vec<u8>, String> {
        let review: Value = serde_json::from_slice(&call.body).map_err(|error| error.to_string())?;
        let response = json!({
            "uid": review["request"]["uid"], "allowed": true, "patchType": "JSONPatch",
            "patch": STANDARD.encode(self.patch.to_string()),
        });
        self.reviews.lock().unwrap().push(review);
        let answer = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
        Ok(answer.to_string().into_bytes())
    }
}

struct Server {
    api: Api,
    store: Store,
    hooks: Arc<Patching>,
}

impl Server {
    fn new(patch: Value) -> Server {
        let release = kubeshape_builtin::BuiltInDocuments::newest().api();
        let paths = ["api/v1", "apis/admissionregistration.k8s.io/v1"];
        let documents = paths.map(|path| (path, release.openapi_v3(path).unwrap().into()));
        let hooks = Arc::new(Patching { patch, reviews: Mutex::default() });
        let api = Api::default().with_documents(Documents::new(documents)).with_hooks(Arc::<Patching>::clone(&hooks));
        Server { api, store: Store::default(), hooks }
    }

    fn post(&mut self, path: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let content_type = "application/json";
        let request = Request { method: "POST", path, content_type, body: body.as_bytes(), ..Request::default() };
        let reply = self.api.answer(&mut self.store, &request, &Moment::default()).unwrap();
        (reply.code, serde_json::from_slice(&reply.body).unwrap())
    }

    /// Configures webhooks for ConfigMaps.
    fn configure(&mut self, count: usize) {
        let hook = |at: usize| {
            json!({
                "name": format!("h{at}.example.com"), "clientConfig": {"url": "https://127.0.0.1:9/x"},
                "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
            })
        };
        let hooks: Vec<Value> = (0..count).map(hook).collect();
        let (code, answer) = self.post(CONFIGURATIONS, &json!({"metadata": {"name": "c"}, "webhooks": hooks}));
        assert_eq!(code, 201, "{answer}");
    }
}

#[test]
fn the_patches_for_one_request_are_bounded() {
    let large = json!([{"op": "add", "path": "/data", "value": {"a": "x".repeat(1_300_000)}}]);
    let map = json!({"metadata": {"name": "a"}});
    let mut server = Server::new(large.clone());
    server.configure(3);
    let (code, answer) = server.post(MAPS, &map);
    assert_eq!(code, 422, "larger than a ConfigMap may be: {}", answer["message"]);
    let mut server = Server::new(large);
    server.configure(60);
    let (code, answer) = server.post(MAPS, &map);
    let message = answer["message"].as_str().unwrap();
    assert_eq!(code, 500, "{message}");
    assert!(message.contains("the patches of webhooks take more than 67108864 bytes for one request"), "{message}");
    // The work ended there.
    assert!(server.hooks.reviews.lock().unwrap().len() < 60);
}

#[test]
fn a_patch_is_applied_in_order() {
    let mut server = Server::new(json!([{"op": "add", "path": "/data", "value": {"a": "1"}}]));
    server.configure(2);
    let (code, answer) = server.post(MAPS, &json!({"metadata": {"name": "a"}}));
    assert_eq!((code, &answer["data"]), (201, &json!({"a": "1"})));
    let reviews = server.hooks.reviews.lock().unwrap();
    let seen: Vec<&Value> = reviews.iter().map(|review| &review["request"]["object"]["data"]).collect();
    assert_eq!(seen, [&Value::Null, &json!({"a": "1"})]);
}
