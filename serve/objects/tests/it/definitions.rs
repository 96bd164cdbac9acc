//! CustomResourceDefinitions as objects.

use kubeshape_objects::store::{Limits, Store};
use kubeshape_objects::{Api, Documents, Moment, Reply, Request};
use kubeshape_smd::managed::Time;
use serde_json::{Value, json};

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A server of definitions, and what it stores.
struct Server {
    api: Api,
    store: Store,
}

impl Server {
    fn new() -> Server {
        let release = kubeshape_builtin::BuiltInDocuments::newest().api();
        let documents = [
            "apis/apiextensions.k8s.io/v1",
            "api/v1",
            "apis/apps/v1",
            "apis/coordination.k8s.io/v1",
            "apis/rbac.authorization.k8s.io/v1",
        ];
        let documents = documents.map(|path| (path, release.openapi_v3(path).expect("a document").into()));
        Server { api: Api::default().with_documents(Documents::new(documents)), store: Store::default() }
    }

    fn send(&mut self, method: &str, path: &str, content_type: &str, body: &str) -> Reply {
        let before = self.store.revision();
        let now = Time::parse("2026-01-02T03:04:05Z").expect("a time");
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = Request { method, path, query, content_type, body: body.as_bytes(), ..Request::default() };
        let uid = format!("00000000-0000-4000-8000-{before:012}");
        let moment = Moment { now, uid: &uid, random: before, ..Moment::default() };
        let reply = self.api.answer(&mut self.store, &request, &moment).expect("it is served");
        if let Some(settled) = self.api.settle(&mut self.store, before, now) {
            self.api = settled.api;
        }
        reply
    }

    fn get(&mut self, path: &str) -> Value {
        serde_json::from_slice(&self.send("GET", path, "", "").body).expect("JSON")
    }
}

fn tabs() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab", "shortNames": ["t"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"size": {"type": "integer", "default": 1}}}}}],
        },
    })
}

fn condition<'v>(definition: &'v Value, kind: &str) -> &'v Value {
    let conditions = definition["status"]["conditions"].as_array().expect("conditions");
    conditions.iter().find(|condition| condition["type"] == kind).expect("the condition")
}

#[test]
fn a_definition_is_established_and_served() {
    let mut server = Server::new();
    assert!(!server.api.serves("/apis/example.com/v1/tabs"));
    let created = server.send("POST", PATH, "application/json", &tabs().to_string());
    assert_eq!(created.code, 201);
    let first: Value = serde_json::from_slice(&created.body).expect("JSON");
    assert_eq!(first["status"]["conditions"], Value::Null);
    assert_eq!(first["spec"]["names"]["listKind"], "TabList");
    let spec = &first["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"];
    assert!(spec.get(".").is_none() && spec["f:conversion"].get(".").is_some(), "{spec}");
    let later = server.get(&format!("{PATH}/tabs.example.com"));
    assert_eq!(condition(&later, "Established")["status"], "True");
    assert_eq!(condition(&later, "NamesAccepted")["reason"], "NoConflicts");
    assert_eq!(later["status"]["acceptedNames"]["shortNames"], json!(["t"]));
    assert_eq!(later["status"]["storedVersions"], json!(["v1"]));

    let tab = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a"}});
    let path = "/apis/example.com/v1/namespaces/default/tabs";
    assert_eq!(server.send("POST", path, "application/json", &tab.to_string()).code, 201);
    assert_eq!(server.get(&format!("{path}/a"))["size"], 1);
}

#[test]
fn a_changed_definition_counts_from_the_next_request_on() {
    let mut server = Server::new();
    server.send("POST", PATH, "application/json", &tabs().to_string());
    let one = format!("{PATH}/tabs.example.com");
    let patch =
        r#"[{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/size/maximum", "value": 3}]"#;
    let patched = server.send("PATCH", &one, "application/json-patch+json", patch);
    assert_eq!(patched.code, 200);
    let patched: Value = serde_json::from_slice(&patched.body).expect("JSON");
    assert_eq!(patched["metadata"]["generation"], 2);
    let tab = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a"}, "size": 4});
    let path = "/apis/example.com/v1/namespaces/default/tabs";
    let refused = server.send("POST", path, "application/json", &tab.to_string());
    assert_eq!(refused.code, 422, "{}", refused.text());

    let mut other = tabs();
    other["spec"]["group"] = "example.org".into();
    other["metadata"]["resourceVersion"] = patched["metadata"]["resourceVersion"].clone();
    let refused = server.send("PUT", &one, "application/json", &other.to_string());
    assert_eq!(refused.code, 422);
    assert!(refused.text().contains("field is immutable"), "{}", refused.text());
}

/// `JSONSchemaPropsOrArray` takes any value, and prints null for what is neither a schema nor a list of some.
#[test]
fn items_that_are_no_schema_are_not_stored() {
    for items in [json!("x"), json!(12), json!([])] {
        let (mut server, mut tabs) = (Server::new(), tabs());
        let properties = tabs.pointer_mut("/spec/versions/0/schema/openAPIV3Schema/properties").expect("properties");
        properties["odd"] = json!({"type": "string", "items": items});
        let created = server.send("POST", PATH, "application/json", &tabs.to_string());
        assert_eq!(created.code, 201, "{}", String::from_utf8_lossy(&created.body));
        let created: Value = serde_json::from_slice(&created.body).expect("JSON");
        let properties = created.pointer("/spec/versions/0/schema/openAPIV3Schema/properties");
        assert_eq!(properties.expect("properties")["odd"], json!({"type": "string"}));

        tabs["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["odd"] = json!({
            "type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        });
        let refused = Server::new().send("POST", PATH, "application/json", &tabs.to_string());
        assert_eq!(refused.code, 422);
        let text = "must only have a single schema if x-kubernetes-list-type is map";
        assert!(String::from_utf8_lossy(&refused.body).contains(text), "{}", String::from_utf8_lossy(&refused.body));
    }
}

/// `objectmeta.Coerce` of the validation of defaults works on the definition that is stored.
#[test]
fn metadata_in_defaults_is_stored_as_it_was_decoded() {
    let mut tabs = tabs();
    let properties = tabs.pointer_mut("/spec/versions/0/schema/openAPIV3Schema/properties").expect("properties");
    let template = |metadata: Value| {
        json!({
            "type": "object",
            "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
            "default": {"apiVersion": "v1", "kind": "Pod", "metadata": metadata},
        })
    };
    properties["some"] = template(json!({"name": "a", "odd": 1, "labels": {"a": "b"}}));
    properties["none"] = template(Value::Null);
    properties["list"] =
        json!({"type": "array", "items": {"type": "object", "properties": {"x": template(json!({}))}}});
    let created = Server::new().send("POST", PATH, "application/json", &tabs.to_string());
    assert_eq!(created.code, 201, "{}", String::from_utf8_lossy(&created.body));
    let created: Value = serde_json::from_slice(&created.body).expect("JSON");
    let properties = created.pointer("/spec/versions/0/schema/openAPIV3Schema/properties").expect("properties");
    assert_eq!(properties["some"]["default"]["metadata"], json!({"name": "a", "labels": {"a": "b"}}));
    assert_eq!(properties["none"]["default"]["metadata"], json!({}));
    assert_eq!(properties["list"]["items"]["properties"]["x"]["default"]["metadata"], json!({}));
}

#[test]
fn objects_go_with_their_definition() {
    let mut server = Server::new();
    server.send("POST", PATH, "application/json", &tabs().to_string());
    let path = "/apis/example.com/v1/namespaces/default/tabs";
    let tab = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a"}});
    server.send("POST", path, "application/json", &tab.to_string());
    let kept =
        json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "b", "finalizers": ["x.y/z"]}});
    server.send("POST", path, "application/json", &kept.to_string());

    let one = format!("{PATH}/tabs.example.com");
    let deleted: Value = serde_json::from_slice(&server.send("DELETE", &one, "", "").body).expect("JSON");
    assert_eq!(deleted["metadata"]["finalizers"], json!(["customresourcecleanup.apiextensions.k8s.io"]));
    assert_eq!(condition(&deleted, "Terminating")["reason"], "InstanceDeletionPending");
    // The object with a finalizer holds it.
    let terminating = server.get(&one);
    assert_eq!(condition(&terminating, "Terminating")["reason"], "InstanceDeletionInProgress");
    let created = server.send("POST", path, "application/json", &tab.to_string());
    assert_eq!(created.code, 405);
    assert!(created.text().contains("create not allowed while custom resource definition is terminating"));
    let new = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "n"}}).to_string();
    let applied = server.send("PATCH", &format!("{path}/n?fieldManager=m"), "application/apply-patch+yaml", &new);
    assert_eq!(applied.code, 403);
    assert!(applied.text().contains("create not allowed while custom resource definition is terminating"));
    let list = server.get(path);
    assert_eq!(list["items"].as_array().map(Vec::len), Some(1));

    let freed = server.send(
        "PATCH",
        &format!("{path}/b"),
        "application/merge-patch+json",
        r#"{"metadata": {"finalizers": null}}"#,
    );
    assert_eq!(freed.code, 200);
    assert_eq!(server.send("GET", &one, "", "").code, 404);
    assert!(!server.api.serves("/apis/example.com/v1/tabs"));
    // It can come again, without objects.
    server.send("POST", PATH, "application/json", &tabs().to_string());
    assert_eq!(server.get(path)["items"], json!([]));
}

#[test]
fn a_name_in_use_is_not_accepted_until_it_is_free() {
    let mut server = Server::new();
    server.send("POST", PATH, "application/json", &tabs().to_string());
    let mut other = tabs();
    other["metadata"]["name"] = "tables.example.com".into();
    other["spec"]["names"] = json!({"plural": "tables", "kind": "Table", "shortNames": ["t", "tb"]});
    server.send("POST", PATH, "application/json", &other.to_string());
    let path = format!("{PATH}/tables.example.com");
    let waiting = server.get(&path);
    let accepted = condition(&waiting, "NamesAccepted");
    assert_eq!((accepted["status"].as_str(), accepted["reason"].as_str()), (Some("False"), Some("ShortNamesConflict")));
    assert_eq!(accepted["message"], r#""t" is already in use"#);
    assert_eq!(condition(&waiting, "Established")["reason"], "NotAccepted");
    assert_eq!(waiting["status"]["acceptedNames"]["plural"], "tables");
    assert!(!server.api.serves("/apis/example.com/v1/tables"));

    server.send("DELETE", &format!("{PATH}/tabs.example.com"), "", "");
    assert_eq!(condition(&server.get(&path), "Established")["status"], "True");
    assert!(server.api.serves("/apis/example.com/v1/tables"));
}

#[test]
fn definitions_have_a_limit_of_their_own() {
    let mut server = Server::new();
    server.store = Store::new(Limits { definitions: 3000, ..Limits::default() });
    let named = |plural: &str| {
        let mut definition = tabs();
        definition["metadata"]["name"] = format!("{plural}.example.com").into();
        definition["spec"]["names"] = json!({"plural": plural, "kind": plural.to_uppercase()});
        definition.to_string()
    };
    assert_eq!(server.send("POST", PATH, "application/json", &named("as")).code, 201);
    assert_eq!(server.send("POST", PATH, "application/json", &named("bs")).code, 201);
    let refused = server.send("POST", PATH, "application/json", &named("cs"));
    assert_eq!(refused.code, 500);
    assert!(refused.text().contains("database space exceeded"), "{}", refused.text());
}

/// So many wait for one name: whoever is first gets it, and what it costs does not grow with those that wait.
#[test]
fn many_definitions_wait_for_one_name() {
    let mut server = Server::new();
    for at in 0..40 {
        let mut definition = tabs();
        let plural = format!("p{at}");
        definition["metadata"]["name"] = format!("{plural}.example.com").into();
        definition["spec"]["names"] = json!({"plural": plural, "kind": "Tab"});
        assert_eq!(server.send("POST", PATH, "application/json", &definition.to_string()).code, 201);
    }
    let established = |server: &mut Server| {
        let list = server.get(PATH);
        let items = list["items"].as_array().expect("items").clone();
        let names = items.iter().filter(|item| condition(item, "Established")["status"] == "True");
        names.map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(established(&mut server), ["p0.example.com"]);
    let before = server.store.revision();
    server.send("DELETE", &format!("{PATH}/p0.example.com"), "", "");
    assert_eq!(established(&mut server).len(), 1);
    // The one that went: marked, deleted. The one that came: accepted, established.
    assert_eq!(server.store.revision() - before, 4);
}

#[test]
fn groups_whose_names_end_alike_do_not_share_names() {
    let mut server = Server::new();
    server.send("POST", PATH, "application/json", &tabs().to_string());
    let mut other = tabs();
    other["metadata"]["name"] = "tabs.more.example.com".into();
    other["spec"]["group"] = "more.example.com".into();
    server.send("POST", PATH, "application/json", &other.to_string());
    for name in ["tabs.example.com", "tabs.more.example.com"] {
        assert_eq!(condition(&server.get(&format!("{PATH}/{name}")), "NamesAccepted")["status"], "True", "{name}");
    }
    assert!(server.api.serves("/apis/more.example.com/v1/tabs") && server.api.serves("/apis/example.com/v1/tabs"));
}

#[test]
fn built_in_kinds_are_stored_and_patched_strategically() {
    let mut server = Server::new();
    let container = |name: &str, image: &str| json!({"name": name, "image": image});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "status": {"replicas": 9},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "colour": "red", "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [container("a", "1"), container("b", "1"), container("c", "1")]}}},
    });
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let created = server.send("POST", path, "application/json", &deployment.to_string());
    assert_eq!((created.code, created.warnings), (201, vec![r#"unknown field "spec.colour""#.to_owned()]));
    let one = format!("{path}/d");
    let stored = server.get(&one);
    assert_eq!((&stored["status"], stored["spec"].get("colour")), (&json!({}), None));
    let of_pod = &stored["spec"]["template"]["spec"];
    assert_eq!((&stored["spec"]["replicas"], &of_pod["dnsPolicy"]), (&json!(1), &json!("ClusterFirst")));
    let patch = json!({"spec": {"template": {"spec": {
        "containers": [container("d", "1"), {"name": "a", "$patch": "delete"}, container("b", "2")],
        "$setElementOrder/containers": [{"name": "d"}, {"name": "b"}],
    }}}});
    let patched = server.send("PATCH", &one, "application/strategic-merge-patch+json", &patch.to_string());
    assert_eq!(patched.code, 200, "{}", patched.text());
    let patched = server.get(&one);
    let images: Vec<String> = patched["spec"]["template"]["spec"]["containers"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|container| format!("{}:{}", container["name"].as_str().unwrap(), container["image"].as_str().unwrap()))
        .collect();
    assert_eq!(images, ["c:1", "d:1", "b:2"]);
    assert_eq!(patched["metadata"]["generation"], 2);
    let wrong = r#"{"spec": {"replicas": "three"}}"#;
    let refused = server.send("PATCH", &one, "application/strategic-merge-patch+json", wrong);
    assert_eq!(refused.code, 422);
    assert!(
        refused
            .text()
            .contains("json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32")
    );

    // Go's decoder names a number of JSON as the body writes it. YAML is converted first.
    for (media_type, written, named) in [
        ("application/json", "18446744073709551617", "18446744073709551617"),
        ("application/json", "2.0", "2.0"),
        ("application/yaml", "18446744073709551617", "18446744073709552000"),
    ] {
        let body = deployment.to_string().replace("\"selector\"", &format!("\"replicas\":{written},\"selector\""));
        let refused = server.send("POST", path, media_type, &body);
        let text = refused.text();
        assert!(text.contains(&format!("cannot unmarshal number {named} into Go struct field")), "{text}");
    }

    let role =
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a:b"}});
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    assert_eq!(server.send("POST", roles, "application/json", &role.to_string()).code, 201);
    assert_eq!(server.get(&format!("{roles}/a:b"))["metadata"]["name"], "a:b");
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}});
    assert_eq!(server.send("POST", "/api/v1/namespaces", "application/json", &namespace.to_string()).code, 201);
    assert_eq!(server.get("/api/v1/namespaces/x")["metadata"]["name"], "x");
    let list = server.get("/api/v1/namespaces");
    assert_eq!((list["kind"].as_str(), list["items"][0].get("kind")), (Some("NamespaceList"), None));
}

#[test]
fn definitions_of_files_and_of_clients_replace_each_other() {
    let mut server = Server::new();
    let of_file = kubeshape_registry::Object::read("tabs.json", tabs().to_string()).expect("an object");
    server.api.define(&mut server.store, &of_file, &Moment::default()).expect("it is accepted");
    server.send("GET", PATH, "", "");
    server.api = server.api.settle(&mut server.store, 1, Time(0)).expect("it is new").api;
    assert!(server.api.serves("/apis/example.com/v1/tabs"));
    let before = server.store.revision();
    server.api.define(&mut server.store, &of_file, &Moment::default()).expect("it is accepted");
    assert_eq!(server.store.revision(), before, "nothing changed");
    let one = format!("{PATH}/tabs.example.com");
    server.send("PATCH", &one, "application/merge-patch+json", r#"{"spec": {"names": {"categories": ["all"]}}}"#);
    assert_eq!(server.get(&one)["status"]["acceptedNames"]["categories"], json!(["all"]));
    let before = server.store.revision();
    server.api.define(&mut server.store, &of_file, &Moment::default()).expect("it is accepted");
    server.api = server.api.settle(&mut server.store, before, Time(0)).expect("it changed").api;
    assert_eq!(server.get(&one)["status"]["acceptedNames"].get("categories"), None);
    let before = server.store.revision();
    server.api.undefine(&mut server.store, "tabs.example.com");
    server.api = server.api.settle(&mut server.store, before, Time(0)).expect("it is gone").api;
    assert!(!server.api.serves("/apis/example.com/v1/tabs"));
}

fn of_file(server: &mut Server, definition: &Value) -> Result<(), String> {
    let object = kubeshape_registry::Object::read("tabs.json", definition.to_string()).expect("an object");
    let before = server.store.revision();
    server.api.define(&mut server.store, &object, &Moment::default()).map_err(|status| status.message)?;
    if let Some(settled) = server.api.settle(&mut server.store, before, Time(0)) {
        server.api = settled.api;
    }
    Ok(())
}

#[test]
fn definitions_of_files_in_v1beta1_are_stored_as_v1() {
    let mut server = Server::new();
    let mut beta = json!({"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.example.com"}, "spec": {"group": "example.com", "version": "v1", "names":
        {"plural": "tabs", "kind": "Tab"}, "preserveUnknownFields": false, "subresources": {"status": {}},
        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "JSONPath": ".spec.size"}],
        "conversion": {"strategy": "Webhook", "webhookClientConfig": {"url": "https://a.example.com"}},
        "validation": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties":
        {"size": {"type": "integer", "maximum": 5}}}}}}}});
    of_file(&mut server, &beta).expect("it is accepted");
    let one = format!("{PATH}/tabs.example.com");
    let stored = server.get(&one);
    assert_eq!(stored["apiVersion"], "apiextensions.k8s.io/v1");
    let spec = &stored["spec"];
    let version = &spec["versions"][0];
    assert_eq!((&spec["scope"], &spec["names"]["listKind"]), (&json!("Namespaced"), &json!("TabList")));
    assert_eq!((&version["name"], &version["served"], &version["storage"]), (&json!("v1"), &json!(true), &json!(true)));
    assert_eq!(version["additionalPrinterColumns"][0]["jsonPath"], ".spec.size");
    assert_eq!(version["subresources"], json!({"status": {}}));
    assert_eq!(version["schema"], beta["spec"]["validation"]);
    assert_eq!(
        spec["conversion"],
        json!({"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a.example.com"},
            "conversionReviewVersions": ["v1beta1"]}})
    );
    assert_eq!(stored["status"]["storedVersions"], json!(["v1"]));
    let tabs = "/apis/example.com/v1/namespaces/x/tabs";
    let tab = |name: &str, size: i64| {
        json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": name}, "spec": {"size": size, "more": 1}})
            .to_string()
    };
    assert_eq!(server.send("POST", tabs, "application/json", &tab("a", 9)).code, 422);
    assert_eq!(server.send("POST", tabs, "application/json", &tab("b", 3)).code, 201);
    assert_eq!(server.get(&format!("{tabs}/b"))["spec"], json!({"size": 3}));
    // Without a schema and with unknown fields, which only v1beta1 permits; the file changed.
    for member in ["preserveUnknownFields", "validation", "conversion"] {
        beta["spec"].as_object_mut().expect("an object").remove(member);
    }
    of_file(&mut server, &beta).expect("it is accepted");
    let spec = &server.get(&one)["spec"];
    assert_eq!((&spec["preserveUnknownFields"], spec["versions"][0].get("schema")), (&json!(true), None));
    assert_eq!(server.send("POST", tabs, "application/json", &tab("c", 9)).code, 201);
    assert_eq!(server.get(&format!("{tabs}/c"))["spec"], json!({"size": 9, "more": 1}));
}

#[test]
fn each_version_of_v1beta1_has_what_holds_for_all() {
    let mut server = Server::new();
    let schema = |name: &str| json!({"openAPIV3Schema": {"type": "object", "properties": {name: {"type": "object"}}}});
    let beta = json!({"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.example.com"}, "spec": {"group": "example.com", "scope": "Cluster",
        "names": {"plural": "tabs", "kind": "Tab"}, "subresources": {"status": {}}, "versions": [
            {"name": "v2", "served": true, "storage": true, "schema": schema("spec"),
             "additionalPrinterColumns": [{"name": "A", "type": "string", "JSONPath": ".spec.a"}]},
            {"name": "v1", "served": true, "storage": false, "schema": schema("data")}]}});
    of_file(&mut server, &beta).expect("it is accepted");
    let versions = &server.get(&format!("{PATH}/tabs.example.com"))["spec"]["versions"];
    assert_eq!((&versions[0]["schema"], &versions[1]["schema"]), (&schema("spec"), &schema("data")));
    assert_eq!(
        (&versions[0]["subresources"], &versions[1]["subresources"]),
        (&json!({"status": {}}), &json!({"status": {}}))
    );
    assert_eq!(versions[0]["additionalPrinterColumns"][0]["jsonPath"], ".spec.a");
    assert_eq!(versions[1].get("additionalPrinterColumns"), None);
    // What is wrong in either version is refused.
    let mut wrong = beta.clone();
    wrong["metadata"]["name"] = json!("others.example.com");
    assert!(of_file(&mut server, &wrong).is_err_and(|message| message.contains("must be spec.names.plural+")));
}

/// Returns the seconds that creating, changing and deleting a definition of many versions take, and an object in one of
/// them.
fn time_of_versions(count: usize, deprecated: bool) -> f64 {
    let mut definition = tabs();
    let version = definition["spec"]["versions"][0].take();
    let versions = (0..count).map(|n| {
        let mut version = version.clone();
        (version["name"], version["storage"]) = (format!("v{}", n + 1).into(), (n == 0).into());
        version["deprecated"] = deprecated.into();
        version
    });
    definition["spec"]["versions"] = versions.collect();
    let mut server = Server::new();
    let began = std::time::Instant::now();
    let created = server.send("POST", PATH, "application/json", &definition.to_string());
    assert_eq!(created.code, 201, "{}", created.text());
    let path = format!("/apis/example.com/v{count}/namespaces/default/tabs");
    let created = server.send(
        "POST",
        &path,
        "application/json",
        &json!({"apiVersion": format!("example.com/v{count}"), "kind": "Tab", "metadata": {"name": "a"}}).to_string(),
    );
    assert_eq!(created.code, 201, "{}", created.text());
    let path = format!("{PATH}/tabs.example.com");
    let patch = json!({"spec": {"names": {"shortNames": ["u"]}}}).to_string();
    assert_eq!(server.send("PATCH", &path, "application/merge-patch+json", &patch).code, 200);
    assert_eq!(server.send("DELETE", &path, "", "").code, 200);
    assert!(server.api.registry().is_empty());
    began.elapsed().as_secs_f64()
}

#[test]
fn a_definition_takes_time_in_proportion_to_its_versions() {
    for deprecated in [false, true] {
        let times = || [500, 2_000].map(|count| time_of_versions(count, deprecated));
        // Sixteen times would be a square.
        let is_linear = |[small, large]: [f64; 2]| large < 8.0 * small.max(0.02);
        // Other work on the machine can disturb one run.
        let measured: Vec<[f64; 2]> = (0..3).map(|_| times()).take_while(|times| !is_linear(*times)).collect();
        assert!(measured.len() < 3, "deprecated: {deprecated}: {measured:?} s");
    }
}

#[test]
fn only_some_kinds_want_to_know_which_version_an_update_replaces() {
    let mut server = Server::new();
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}});
    let secrets = "/api/v1/namespaces/default/secrets";
    assert_eq!(server.send("POST", secrets, "application/json", &secret.to_string()).code, 201);
    let stored = server.get(&format!("{secrets}/s"));
    assert_eq!(
        (&stored["data"], stored.get("stringData"), &stored["type"]),
        (&json!({"a": "Yg=="}), None, &json!("Opaque"))
    );
    let changed = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "Yw=="}});
    let updated = server.send("PUT", &format!("{secrets}/s"), "application/json", &changed.to_string());
    assert_eq!(updated.code, 200, "{}", updated.text());
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {}});
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    assert_eq!(server.send("POST", leases, "application/json", &lease.to_string()).code, 201);
    let updated = server.send("PUT", &format!("{leases}/l"), "application/json", &lease.to_string());
    assert_eq!(updated.code, 422, "{}", updated.text());
    assert!(updated.text().contains("must be specified for an update"), "{}", updated.text());
}

#[test]
fn services_get_addresses_and_ports_that_no_other_has() {
    let mut server = Server::new();
    let services = "/api/v1/namespaces/default/services";
    let mut addresses = Vec::new();
    for name in ["a", "b"] {
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"type": "NodePort", "selector": {"app": name}, "ports": [{"port": 80}]}});
        let created = server.send("POST", services, "application/json", &service.to_string());
        assert_eq!(created.code, 201, "{}", created.text());
        let stored = server.get(&format!("{services}/{name}"));
        let port = &stored["spec"]["ports"][0];
        assert_eq!((&port["targetPort"], &port["protocol"]), (&json!(80), &json!("TCP")));
        addresses.push((stored["spec"]["clusterIP"].clone(), port["nodePort"].clone()));
    }
    assert!(addresses[0].0 != addresses[1].0 && addresses[0].1 != addresses[1].1, "{addresses:?}");
}

#[test]
fn a_precondition_of_a_deletion_fails() {
    let mut server = Server::new();
    server.send("POST", PATH, "application/json", &tabs().to_string());
    let body = r#"{"preconditions":{"resourceVersion":"9"}}"#;
    let refused = server.send("DELETE", &format!("{PATH}/tabs.example.com"), "application/json", body);
    assert_eq!(refused.code, 409);
    // Upstream changed the first letter with 1.37.
    assert!(refused.text().contains(": precondition failed: ResourceVersion in precondition: 9"), "{}", refused.text());
}

#[test]
fn a_definition_with_broken_authorities_of_its_webhook_is_not_established() {
    let mut server = Server::new();
    let mut definition = tabs();
    let client = json!({"url": "https://localhost/", "caBundle": "Cg=="});
    definition["spec"]["conversion"] =
        json!({"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}});
    server.send("POST", PATH, "application/json", &definition.to_string());
    let one = format!("{PATH}/tabs.example.com");
    let created = server.get(&one);
    let established = condition(&created, "Established");
    assert_eq!((&established["status"], &established["reason"]), (&json!("False"), &json!("InvalidCABundle")));
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": null}}}}}).to_string();
    server.send("PATCH", &one, "application/merge-patch+json", &patch);
    let fixed = server.get(&one);
    assert_eq!(condition(&fixed, "Established")["reason"], "InitialNamesAccepted");
}
