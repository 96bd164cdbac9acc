//! The forms of objects: each example of the proposal "Alternate representations of API resources" by its name, and the
//! rules around them.

use crate::common::{ALL, Server};
use kubeshape_objects::accept::Form;
use kubeshape_objects::{Api, Documents, Moment, Reply, Request, store::Store};
use kubeshape_registry::Time;
use serde_json::{Value, json};

const MERGE: &str = "application/merge-patch+json";

/// A request in which all forms are there.
fn asked<'r>(path: &'r str, query: &'r str, accept: &'r str) -> Request<'r> {
    Request { path, query, accept, alternates: true, ..Request::default() }
}

fn parsed(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or_else(|error| panic!("{error}: {}", reply.text()))
}

/// A server with two widgets.
fn widgets() -> Server {
    let mut server = Server::new();
    server.create("a", r#"{"color":"red","replicas":1,"list":["x","y"]}"#);
    server.create("b", r#"{"color":"blue","replicas":5}"#);
    server
}

/// A server with the core group and `apps`, in which objects were created.
struct Core {
    api: Api,
    store: Store,
}

const PODS: &str = "/api/v1/namespaces/example/pods";
const SETS: &str = "/apis/apps/v1/namespaces/example/replicasets";

impl Core {
    fn new() -> Core {
        let api = kubeshape_builtin::BuiltInDocuments::newest().api();
        let documents = ["api/v1", "apis/apps/v1"];
        let documents = documents.map(|path| (path, api.openapi_v3(path).expect("a built-in document").into()));
        let mut core = Core { api: Api::default().with_documents(Documents::new(documents)), store: Store::default() };
        core.create("/api/v1/namespaces", r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"foo"}}"#);
        let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i","resources":{},"ports":[{"containerPort":80,"protocol":"TCP"}]}]}}"#;
        core.create(PODS, pod);
        let set = r#"{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"test"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}"#;
        core.create(SETS, set);
        core
    }

    fn create(&mut self, path: &str, body: &str) {
        let request = Request { method: "POST", path, body: body.as_bytes(), ..Request::default() };
        let reply = self.ask(&request);
        assert_eq!(reply.code, 201, "{}", reply.text());
    }

    fn ask(&mut self, request: &Request<'_>) -> Reply {
        let moment = Moment { now: Time(1_700_000_000), ..Moment::default() };
        self.api.answer(&mut self.store, request, &moment).expect("a resource")
    }
}

#[test]
fn pods_are_listed_as_a_table() {
    let reply = Core::new().ask(&asked(PODS, "", "application/json;as=Table;g=meta.k8s.io;v=v1"));
    assert_eq!(reply.content_type(), "application/json;g=meta.k8s.io;v=v1;as=Table");
    let table = parsed(&reply);
    assert_eq!((&table["kind"], &table["apiVersion"]), (&json!("Table"), &json!("meta.k8s.io/v1")));
    let names: Vec<&Value> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(
        names,
        ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"]
    );
    let cells = json!(["p", "0/1", "Pending", "0", "0s", "<none>", "<none>", "<none>", "<none>"]);
    assert_eq!(table["rows"][0]["cells"], cells);
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
}

#[test]
fn pods_are_listed_as_a_table_with_indentation() {
    let mut core = Core::new();
    let reply = core.ask(&asked(PODS, "", "application/json;as=Table;g=meta.k8s.io;v=v1;pretty=1"));
    assert!(reply.text().starts_with("{\n  \"kind\": \"Table\""), "{}", reply.text());
    assert_eq!(reply.content_type(), "application/json;g=meta.k8s.io;v=v1;as=Table;pretty=1");
    // Whoever asks for none gets none, also if the program is one that shows answers to people.
    let request = Request { user_agent: "curl/8", ..asked(PODS, "", "application/json;pretty=0") };
    assert_eq!(core.ask(&request).form, Form::Json);
}

#[test]
fn a_status_has_the_version_that_was_asked_for() {
    let mut core = Core::new();
    let reply = core.ask(&asked("/api/v1/namespaces/example/pods/none", "", "application/json;sv=v2"));
    assert_eq!((reply.code, reply.content_type().as_ref()), (404, "application/json;sv=v2"));
    let status = parsed(&reply);
    assert_eq!((&status["kind"], &status["apiVersion"]), (&json!("Status"), &json!("meta.k8s.io/v2")));
    for (accept, version) in
        [("", "v1"), ("application/json;sv=v1", "meta.k8s.io/v1"), ("application/json;sv=v9, */*", "v1")]
    {
        let reply = core.ask(&asked("/api/v1/namespaces/example/pods/none", "", accept));
        assert_eq!(parsed(&reply)["apiVersion"], version, "{accept}");
    }
    let pod = format!("{PODS}/p");
    let request = Request { method: "DELETE", ..asked(&pod, "", "application/yaml;sv=v2") };
    let reply = core.ask(&request);
    assert!(reply.text().contains("apiVersion: meta.k8s.io/v2"), "{}", reply.text());
}

const NAMESPACES: &str = "application/json;g=meta.k8s.io,v=v1,as=PartialObjectMetadata, application/json";

#[test]
fn namespaces_are_listed_as_partial_metadata() {
    let reply = Core::new().ask(&asked("/api/v1/namespaces", "", NAMESPACES));
    assert_eq!(reply.content_type(), "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata");
    let list = parsed(&reply);
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("PartialObjectMetadataList"), &json!("meta.k8s.io/v1")));
    let item = &list["items"][0];
    assert_eq!((&item["kind"], &item["metadata"]["name"]), (&json!("PartialObjectMetadata"), &json!("foo")));
    assert_eq!((item.get("spec"), item.get("status")), (None, None));
}

#[test]
fn an_old_server_ignores_the_parameters() {
    // It reads a comma as the end of the clause: the first has `g` alone and is skipped, the next two are none.
    let request = Request { alternates: false, ..asked("/api/v1/namespaces", "", NAMESPACES) };
    let reply = Core::new().ask(&request);
    assert_eq!(reply.content_type(), "application/json");
    let list = parsed(&reply);
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("NamespaceList"), &json!("v1")));
    // What it does not know at all it refuses, or falls back to what comes next.
    let mut core = Core::new();
    for (accept, code) in [
        ("text/csv", 406),
        ("application/json;as=TabularOutput;g=meta.k8s.io;v=v1", 406),
        ("application/json;as=TabularOutput;g=meta.k8s.io;v=v1, application/json", 200),
        ("application/json;sv=v2", 406),
        ("application/json+vnd.kubernetes.export", 406),
        ("application/cbor", 406),
        // These it reads, and does nothing with them.
        ("application/json;sv=v1", 200),
        ("application/json;export=1", 200),
    ] {
        let request = Request { alternates: false, ..asked(PODS, "apiVersion=meta.k8s.io/v2&wide=1", accept) };
        let reply = core.ask(&request);
        assert_eq!(reply.code, code, "{accept}");
        assert_eq!(parsed(&reply)["apiVersion"], "v1", "{accept}");
    }
    let pod = format!("{PODS}/p");
    let request = Request { alternates: false, ..asked(&pod, "export=1", "") };
    let message = "the export parameter, deprecated since v1.14, is no longer supported";
    assert_eq!(parsed(&core.ask(&request))["message"], message);
}

#[test]
fn a_scale_is_read_and_written_by_its_kind() {
    let mut core = Core::new();
    let (scale, accept) =
        (format!("{SETS}/test/scale"), "application/json;g=meta.k8s.io,v=v1,as=Scale, application/json");
    let reply = core.ask(&asked(&scale, "", accept));
    assert_eq!(reply.content_type(), "application/json;g=meta.k8s.io;v=v1;as=Scale");
    let read = parsed(&reply);
    assert_eq!((&read["kind"], &read["apiVersion"]), (&json!("Scale"), &json!("meta.k8s.io/v1")));
    assert_eq!(read["spec"], json!({"replicas": 1}));
    let mut sent = read.clone();
    sent["spec"]["replicas"] = json!(2);
    let body = sent.to_string();
    let put =
        Request { method: "PUT", body: body.as_bytes(), content_type: "application/json", ..asked(&scale, "", accept) };
    let written = parsed(&core.ask(&put));
    assert_eq!((&written["spec"]["replicas"], &written["apiVersion"]), (&json!(2), &json!("meta.k8s.io/v1")));
    // The object itself can be read as its scale, and patched with that answer.
    let set = format!("{SETS}/test");
    let reply = core.ask(&asked(&set, "", "application/json;g=autoscaling;v=v1;as=Scale"));
    assert_eq!(parsed(&reply)["spec"], json!({"replicas": 2}));
    let patch = Request {
        method: "PATCH",
        body: br#"{"spec":{"replicas":3}}"#,
        content_type: MERGE,
        ..asked(&set, "", accept)
    };
    assert_eq!(parsed(&core.ask(&patch))["spec"], json!({"replicas": 3}));
    let patch = Request { path: &scale, ..patch };
    assert_eq!(parsed(&core.ask(&patch))["apiVersion"], "meta.k8s.io/v1");
    // A kind that is no scale is refused; without the proposal, so is its scale.
    for (alternates, body) in [(true, r#"{"apiVersion":"apps/v1","kind":"ReplicaSet"}"#), (false, &*body)] {
        let put = Request { body: body.as_bytes(), alternates, ..put };
        let refused = core.ask(&put);
        assert_eq!(refused.code, 400, "{}", refused.text());
    }
}

#[test]
fn a_scale_of_a_custom_resource_is_read_by_its_kind() {
    let mut server = widgets();
    let reply = server.ask(&asked(&format!("{ALL}/b"), "", "application/json;as=Scale;g=meta.k8s.io;v=v1"));
    assert_eq!(parsed(&reply)["spec"], json!({"replicas": 5}));
    // Another version has no scale, and a list is none.
    let beta = "/apis/example.com/v1beta1/namespaces/default/widgets/b";
    for path in [beta, ALL] {
        assert_eq!(server.ask(&asked(path, "", "application/json;as=Scale;g=meta.k8s.io;v=v1")).code, 406, "{path}");
    }
    let csv = server.ask(&asked(&format!("{ALL}/b/scale"), "", "text/csv"));
    assert!(csv.text().starts_with("Name,Desired,Available,Age\r\nb,5,"), "{}", csv.text());
}

#[test]
fn replica_sets_are_listed_as_tabular_output() {
    let accept = "application/json;g=meta.k8s.io,v=v1,as=TabularOutput, application/json";
    let reply = Core::new().ask(&asked(SETS, "", accept));
    assert_eq!(reply.content_type(), "application/json;g=meta.k8s.io;v=v1;as=TabularOutput");
    let table = parsed(&reply);
    assert_eq!((&table["kind"], &table["apiVersion"]), (&json!("TabularOutput"), &json!("meta.k8s.io/v1")));
    let column = &table["columns"][0];
    assert_eq!(column["name"], "Name");
    assert!(column["description"].as_str().is_some_and(|text| !text.is_empty()));
    assert_eq!(table["items"], json!([{"columns": ["test", 1, 0, 0, "0s"]}]));
}

#[test]
fn list_options_have_a_version() {
    let mut core = Core::new();
    let version = core.ask(&asked(SETS, "apiVersion=meta.k8s.io/v2&rv=10", ""));
    assert_eq!(version.code, 400);
    let status = parsed(&version);
    assert_eq!(status["reason"], "BadRequest");
    let message =
        "apiVersion: found \"meta.k8s.io/v2\", which is no version of ListOptions here, expected meta.k8s.io/v1 or v1";
    assert_eq!(status["message"], message);
    let one = format!("{SETS}/test");
    for (method, path, query, code) in [
        ("GET", SETS, "apiVersion=meta.k8s.io/v1&kind=ListOptions", 200),
        ("GET", SETS, "queryVersion=v1", 200),
        ("GET", SETS, "queryVersion=meta.k8s.io/v2", 400),
        ("GET", SETS, "kind=DeleteOptions", 400),
        ("GET", &one, "kind=GetOptions", 200),
        ("GET", &one, "kind=ListOptions&apiVersion=meta.k8s.io/v1", 200),
        ("DELETE", &one, "kind=ListOptions", 400),
        ("DELETE", &one, "kind=DeleteOptions&apiVersion=x", 400),
        ("DELETE", &one, "kind=DeleteOptions&apiVersion=meta.k8s.io/v1", 200),
    ] {
        let reply = core.ask(&Request { method, ..asked(path, query, "") });
        assert_eq!(reply.code, code, "{method} {path}?{query}: {}", reply.text());
    }
    let pod = format!("{PODS}/p");
    for (body, code) in [
        (r#"{"apiVersion":"meta.k8s.io/v2","kind":"DeleteOptions"}"#, 400),
        (r#"{"apiVersion":"v1","kind":"ListOptions"}"#, 400),
        (r#"{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"}"#, 200),
    ] {
        let request = Request { method: "DELETE", body: body.as_bytes(), ..asked(&pod, "", "") };
        assert_eq!(core.ask(&request).code, code, "{body}");
    }
}

#[test]
fn an_exported_object_is_what_somebody_would_write() {
    let mut server = widgets();
    let expected = json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "a", "labels": {"name": "a"}},
        "spec": {"color": "red", "list": ["x", "y"]},
    });
    let one = format!("{ALL}/a");
    for (query, accept) in
        [("", "application/json;export=1"), ("export=1", ""), ("", "application/json+vnd.kubernetes.export")]
    {
        let reply = server.ask(&asked(&one, query, accept));
        assert_eq!(parsed(&reply), expected, "{query} {accept}");
    }
    let reply = server.ask(&asked(&one, "", "application/json+vnd.kubernetes.export"));
    assert_eq!(reply.content_type(), "application/json;export=1");
    let exact = parsed(&server.ask(&asked(&one, "export=1&exact=1", "")));
    assert_eq!(exact["metadata"]["namespace"], "default");
    let list = parsed(&server.ask(&asked(ALL, "export=1", "")));
    assert_eq!((&list["items"][0], list["items"][1]["spec"].get("replicas")), (&expected, Some(&json!(5))));
    assert_eq!(server.ask(&asked(&one, "export=maybe", "")).code, 400);
    // It can be created again.
    server.send("DELETE", &one, "", "");
    let (code, again) = server.send("POST", ALL, "application/json", &expected.to_string());
    assert_eq!((code, &again["spec"]["replicas"]), (201, &json!(1)));
}

#[test]
fn an_exported_pod_lacks_defaults_of_its_document() {
    let pod = parsed(&Core::new().ask(&asked(&format!("{PODS}/p"), "export=1", "application/json")));
    let container = &pod["spec"]["containers"][0];
    assert_eq!(*container, json!({"name": "c", "image": "i", "ports": [{"containerPort": 80}]}), "{pod}");
    assert_eq!(pod["metadata"], json!({"name": "p", "labels": {"app": "web"}}));
}

#[test]
fn tables_take_the_options_of_kubectl_get() {
    let mut server = widgets();
    let tabular = "application/json;as=TabularOutput;g=meta.k8s.io;v=v1";
    let query = "labelColumns=name,example.com/none&showLabels=1&fieldSelector=spec.color%3Dred";
    let table = parsed(&server.ask(&asked(ALL, query, tabular)));
    let heads: Vec<&str> =
        table["columns"].as_array().unwrap().iter().filter_map(|column| column["name"].as_str()).collect();
    assert_eq!(heads, ["Name", "Color", "NAME", "NONE", "Labels"]);
    assert_eq!(table["items"], json!([{"columns": ["a", "red", "a", "", "name=a"]}]));
    assert_eq!(server.ask(&asked(ALL, "wide=maybe", tabular)).code, 400);
    let many = format!("labelColumns={}", vec!["a"; 65].join(","));
    assert_eq!(server.ask(&asked(ALL, &many, tabular)).code, 400);
}

#[test]
fn columns_of_a_priority_are_for_those_who_want_them() {
    use kubeshape_registry::Registry;
    let text = crate::common::WIDGETS.replace("jsonPath: .spec.color}]", "jsonPath: .spec.color, priority: 1}]");
    let mut registry = Registry::default();
    registry.set_input("w", kubeshape_input::read("w.yaml", text.as_bytes(), kubeshape_input::Limits::default()));
    let (api, mut store) = (Api::new(registry), Store::default());
    let mut heads = |query: &str, kind: &str| {
        let accept = format!("application/json;as={kind};g=meta.k8s.io;v=v1");
        let request = asked(ALL, query, &accept);
        let table = parsed(&api.answer(&mut store, &request, &Moment::default()).unwrap());

        table.get("columns").or(table.get("columnDefinitions")).unwrap().as_array().unwrap().len()
    };
    // Clients of a Table choose by the priorities that it tells.
    assert_eq!([heads("", "Table"), heads("wide=1", "Table"), heads("wide=0", "Table")], [2, 2, 1]);
    assert_eq!([heads("", "TabularOutput"), heads("wide=1", "TabularOutput")], [1, 2]);
}

#[test]
fn a_table_is_written_as_comma_separated_values() {
    let mut server = widgets();
    let reply = server.ask(&asked(ALL, "", "text/csv"));
    assert_eq!(reply.content_type(), "text/csv;charset=utf-8;header=present");
    assert_eq!(reply.text(), "Name,Color\r\na,red\r\nb,blue\r\n");
    let one = server.ask(&asked(&format!("{ALL}/b"), "showLabels=1", "text/csv"));
    assert_eq!(one.text(), "Name,Color,Labels\r\nb,blue,name=b\r\n");
    // A list that goes on says so outside of the rows.
    let first = server.ask(&asked(ALL, "limit=1", "text/csv"));
    assert_eq!(first.text(), "Name,Color\r\na,red\r\n");
    let rest = server.ask(&asked(ALL, &format!("limit=1&continue={}", first.token), "text/csv"));
    assert_eq!((rest.text(), rest.token.as_str()), ("Name,Color\r\nb,blue\r\n", ""));
    assert_eq!((reply.token.as_str(), one.token.as_str()), ("", ""));
    // Others have it in their metadata.
    let table = server.ask(&asked(ALL, "limit=1", "application/json;as=Table;g=meta.k8s.io;v=v1"));
    assert_eq!((table.token.as_str(), &parsed(&table)["metadata"]["continue"]), ("", &json!(first.token)));
    // An error is no row.
    let none = server.ask(&asked(&format!("{ALL}/none"), "", "text/csv"));
    assert_eq!((none.code, none.form), (404, Form::Indented));
    let deleted = server.ask(&Request { method: "DELETE", ..asked(&format!("{ALL}/b"), "", "text/csv") });
    assert_eq!((deleted.form, parsed(&deleted)["status"].as_str()), (Form::Json, Some("Success")));
    let all = server.ask(&Request { method: "DELETE", ..asked(ALL, "", "text/csv") });
    assert_eq!((all.form, parsed(&all)["kind"].as_str()), (Form::Json, Some("WidgetList")));
}

#[test]
fn the_alias_of_a_kind_stands_for_its_parameters() {
    let mut server = widgets();
    let accept = "application/json+vnd.kubernetes.as+meta.k8s.io+v1+TabularOutput";
    let reply = server.ask(&asked(ALL, "", accept));
    assert_eq!(reply.content_type(), "application/json;g=meta.k8s.io;v=v1;as=TabularOutput");
    assert_eq!(parsed(&reply)["items"].as_array().map(Vec::len), Some(2));
}

#[test]
fn an_object_is_described_for_people() {
    let mut server = widgets();
    let described =
        parsed(&server.ask(&asked(&format!("{ALL}/b"), "", "application/json;as=Description;g=meta.k8s.io;v=v1")));
    assert_eq!(
        described["sections"][1],
        json!({"title": "Spec", "fields": [
        {"label": "Color", "value": "blue"}, {"label": "Replicas", "value": "5"}]})
    );
    let all = parsed(&server.ask(&asked(ALL, "", "application/json;as=Description;g=meta.k8s.io;v=v1")));
    assert_eq!((&all["kind"], all["items"].as_array().map(Vec::len)), (&json!("DescriptionList"), Some(2)));
}

#[test]
fn the_generic_kinds_can_be_asked_for() {
    let mut server = widgets();
    let mut get = |path: &str, kind: &str| {
        parsed(&server.ask(&asked(path, "", &format!("application/json;as={kind};g=meta.k8s.io;v=v1"))))
    };
    let list = get(ALL, "List");
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("List"), &json!("meta.k8s.io/v1")));
    assert_eq!(list["items"][1]["kind"], "Widget");
    let meta = get(ALL, "ListMeta");
    assert_eq!(meta, json!({"kind": "ListMeta", "apiVersion": "meta.k8s.io/v1", "resourceVersion": "3"}));
    let of_object = get(&format!("{ALL}/a"), "ObjectMeta");
    assert_eq!((&of_object["kind"], &of_object["name"]), (&json!("ObjectMeta"), &json!("a")));
    assert_eq!(get(&format!("{ALL}/a"), "List")["reason"], "NotAcceptable");
}

#[test]
fn another_version_of_the_resource_can_be_asked_for() {
    let mut server = widgets();
    let reply = server.ask(&asked(&format!("{ALL}/a"), "", "application/json;v=v1beta1"));
    assert_eq!(reply.content_type(), "application/json;v=v1beta1");
    assert_eq!(parsed(&reply)["apiVersion"], "example.com/v1beta1");
    assert_eq!(parsed(&server.ask(&asked(ALL, "", "application/json;v=v1beta1")))["apiVersion"], "example.com/v1beta1");
    assert_eq!(server.ask(&asked(ALL, "", "application/json;v=v7")).code, 406);
}

#[test]
fn nothing_that_fits_is_not_acceptable() {
    let reply = widgets().ask(&asked(ALL, "", "text/html, application/json;as=Nope;g=meta.k8s.io;v=v1"));
    assert_eq!((reply.code, reply.form), (406, Form::Json));
    let accepted = |kinds: &str| format!("only the following media types are accepted: application/json, {kinds}");
    let metadata = |kind: &str| format!("application/vnd.kubernetes.protobuf;as={kind};g=meta.k8s.io;v=v1");
    // Custom resources are not written as protobuf, their metadata is.
    let list = metadata("PartialObjectMetadataList");
    let message = accepted(&format!("application/yaml, {list}, application/cbor, text/csv"));
    assert_eq!(parsed(&reply)["message"], message);
    let one = widgets().ask(&asked(&format!("{ALL}/a"), "", "text/html"));
    let message =
        accepted(&format!("application/yaml, {}, application/cbor, text/csv", metadata("PartialObjectMetadata")));
    assert_eq!(parsed(&one)["message"], message);
    // Neither YAML nor comma-separated values stream.
    let watch = widgets().ask(&asked(ALL, "watch=1", "text/csv"));
    assert_eq!(
        parsed(&watch)["message"],
        accepted(&format!("{}, application/cbor", metadata("PartialObjectMetadata")))
    );
    let pods = Core::new().ask(&asked(PODS, "", "text/html"));
    let message = accepted("application/yaml, application/vnd.kubernetes.protobuf, application/cbor, text/csv");
    assert_eq!(parsed(&pods)["message"], message);
    let reply = widgets().ask(&asked(ALL, "", "text/html"));
    assert_eq!((reply.code, reply.form), (406, Form::Indented));
}

#[test]
fn cbor_is_written_and_read() {
    let mut server = widgets();
    let one = format!("{ALL}/a");
    let json = server.ask(&asked(&one, "", "application/json"));
    for (alternates, cbor) in [(true, false), (false, true)] {
        let request = Request { alternates, cbor, ..asked(&one, "", "application/cbor") };
        let reply = server.ask(&request);
        assert_eq!(reply.content_type(), "application/cbor");
        assert!(reply.body.starts_with(&[0xd9, 0xd9, 0xf7]), "{:x?}", reply.body);
        // It is put back as it came: nothing changes.
        let put = Request { method: "PUT", body: &reply.body, content_type: "application/cbor", accept: "", ..request };
        assert_eq!(parsed(&server.ask(&put)), parsed(&json));
    }
    // {"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"color": "red"}}
    let apply = [
        &[0xa3, 0x4a][..],
        b"apiVersion",
        &[0x4e],
        b"example.com/v1",
        &[0x44],
        b"kind",
        &[0x46],
        b"Widget",
        &[0x44],
        b"spec",
        &[0xa1, 0x45],
        b"color",
        &[0x43],
        b"red",
    ]
    .concat();
    let path = format!("{ALL}/c");
    let request = Request {
        method: "PATCH",
        content_type: "application/apply-patch+cbor",
        body: &apply,
        ..asked(&path, "fieldManager=me", "")
    };
    assert_eq!(server.ask(&request).code, 201);
    for (request, code) in [
        (Request { alternates: false, ..request }, 415),
        (Request { body: b"\xa2\x41a\x01\x41a\x02", ..request }, 400),
        (Request { method: "PUT", content_type: "application/cbor", body: b"\x9f", ..request }, 400),
        (Request { method: "PUT", content_type: "application/cbor", alternates: false, ..request }, 415),
    ] {
        let reply = server.ask(&request);
        assert_eq!(reply.code, code, "{}", reply.text());
    }
    let refused = server.ask(&Request { alternates: false, cbor: true, content_type: "text/plain", ..request });
    assert!(refused.text().ends_with("application/apply-patch+yaml, application/apply-patch+cbor\",\"reason\":\"UnsupportedMediaType\",\"code\":415}\n"), "{}", refused.text());
    // Upstream has no tables in CBOR.
    let table =
        Request { cbor: true, alternates: false, ..asked(ALL, "", "application/cbor;as=Table;g=meta.k8s.io;v=v1") };
    assert_eq!(server.ask(&table).code, 406);
}

#[test]
fn watches_tell_events_in_every_form() {
    let mut server = widgets();
    let query = "watch=1&fieldSelector=metadata.name%3Db";
    let told = |server: &mut Server, accept: &str, query: &str| server.ask(&asked(ALL, query, accept));
    let tabular = told(&mut server, "application/json;as=TabularOutput;g=meta.k8s.io;v=v1", query);
    let event = parsed(&tabular);
    assert_eq!((&event["type"], &event["object"]["items"]), (&json!("ADDED"), &json!([{"columns": ["b", "blue"]}])));
    assert_eq!(tabular.form, Form::Json);
    let both = told(&mut server, "application/json;as=TabularOutput;g=meta.k8s.io;v=v1", "watch=1");
    let lines: Vec<Value> = both.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has_columns: Vec<bool> = lines.iter().map(|event| event["object"].get("columns").is_some()).collect();
    assert_eq!(has_columns, [true, false], "columns are told once");
    let exported = parsed(&told(&mut server, "application/json;export=1", query));
    assert_eq!(exported["object"]["metadata"], json!({"name": "b", "labels": {"name": "b"}}));
    let described = parsed(&told(&mut server, "application/json;as=Description;g=meta.k8s.io;v=v1", query));
    assert_eq!(described["object"]["kind"], "Description");
    let cbor = told(&mut server, "application/cbor", query);
    assert!(
        cbor.body.starts_with(b"\xd9\xd9\xf7\xa2\x44type\x45ADDED\x46object\xd9\xd9\xf7\xa4\x44kind"),
        "{:x?}",
        cbor.body
    );
    let old = "watch=1&resourceVersion=1";
    server.store = shortened(&server.store);
    let ended = parsed(&told(&mut server, "application/json;sv=v2", old));
    assert_eq!((&ended["type"], &ended["object"]["apiVersion"]), (&json!("ERROR"), &json!("meta.k8s.io/v2")));
    // A form in which nothing can be told is skipped.
    assert_eq!(told(&mut server, "text/csv", query).code, 406);
    assert_eq!(told(&mut server, "text/csv, application/json", query).code, 200);
}

/// Returns the same store without its history.
fn shortened(store: &Store) -> Store {
    use kubeshape_objects::store::{Limits, Saved};
    let objects = store.objects().map(|(key, object)| (key.clone(), std::sync::Arc::clone(object))).collect();
    let revision = store.revision();
    Store::restore(Limits::default(), Saved { revision, forgotten: revision, objects, history: Vec::new() })
}

#[test]
fn a_bookmark_of_exported_objects_says_its_revision() {
    let mut server = widgets();
    let query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&export=1";
    let reply = server.ask(&asked(ALL, query, ""));
    let last: Value = serde_json::from_str(reply.text().lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["object"]["metadata"]["resourceVersion"]), (&json!("BOOKMARK"), &json!("3")));
}

mod laws {
    use super::*;
    use proptest::prelude::*;

    /// Objects of any shape below `spec.any`, where the schema keeps everything.
    fn json_of_any_shape() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            (-1e6..1e6).prop_map(|n: f64| json!(n)),
            ".{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                proptest::collection::btree_map(".{0,6}", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_form_of_any_object_is_whole(status in json_of_any_shape(), color in 0_usize..3) {
            let mut server = Server::new();
            let spec = [r#"{"color":"red"}"#, r#"{"replicas":1}"#, r#"{"replicas":7,"list":["=1+1","a\r\nb\u001b[31m"]}"#][color];
            server.create("a", spec);
            let path = format!("{ALL}/a");
            let body = json!({"status": {"any": status}}).to_string();
            let patch = Request {
                method: "PATCH", path: &format!("{path}/status"), content_type: MERGE, body: body.as_bytes(),
                ..Request::default()
            };
            prop_assert_eq!(server.ask(&patch).code, 200);
            let stored = parsed(&server.ask(&asked(&path, "", "")));
            // CBOR loses nothing.
            let cbor = server.ask(&asked(&path, "", "application/cbor"));
            let put = Request { method: "PUT", body: &cbor.body, content_type: "application/cbor", ..asked(&path, "", "") };
            prop_assert_eq!(&parsed(&server.ask(&put)), &stored);
            // What is exported and created again has the same spec.
            let exported = server.ask(&asked(&path, "export=1", ""));
            let created = Request {
                method: "POST", path: "/apis/example.com/v1/namespaces/other/widgets", body: &exported.body,
                ..Request::default()
            };
            let again = server.ask(&created);
            prop_assert_eq!(again.code, 201);
            prop_assert_eq!(&parsed(&again)["spec"], &stored["spec"]);
            for accept in ["Table", "TabularOutput", "Description", "ObjectMeta", "PartialObjectMetadata", "Scale"] {
                let accept = format!("application/json;as={accept};g=meta.k8s.io;v=v1");
                let reply = server.ask(&asked(&path, "showLabels=1", &accept));
                prop_assert_eq!(reply.code, 200);
                parsed(&reply);
            }
            let csv = server.ask(&asked(ALL, "showLabels=1", "text/csv"));
            prop_assert!(csv.text().chars().all(|c| !c.is_control() || c == '\r' || c == '\n'));
            prop_assert_eq!(csv.text().matches("\r\n").count(), 2);
        }
    }
}
