//! What each request does.

use crate::common::{ALL, Server};
use kubeshape_objects::{Moment, Request, Stop};
use serde_json::json;

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";

#[test]
fn a_created_object_is_complete_and_stays() {
    let mut server = Server::new();
    let made = server.create("a", r#"{"color":"red"}"#);
    assert_eq!(made["metadata"]["resourceVersion"], "2");
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(made["metadata"]["namespace"], "default");
    assert_eq!(made["spec"], json!({"color": "red", "replicas": 1}));
    assert_eq!(made["metadata"]["managedFields"][0]["manager"], "unknown");
    assert_eq!(server.get(&format!("{ALL}/a")), (200, made));
    let again =
        server.send("POST", ALL, JSON, r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}"#);
    assert_eq!((again.0, again.1["reason"].as_str()), (409, Some("AlreadyExists")));
    assert_eq!(server.get(&format!("{ALL}/b")).1["message"], "widgets.example.com \"b\" not found");
}

#[test]
fn names_are_generated_and_dry_runs_change_nothing() {
    let mut server = Server::new();
    let body = r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generateName":"w-"}}"#;
    let (code, dry) = server.send("POST", &format!("{ALL}?dryRun=All"), JSON, body);
    assert_eq!((code, dry["metadata"].get("resourceVersion")), (201, None));
    assert!(server.store.is_empty());
    let (_, made) = server.send("POST", ALL, JSON, body);
    let name = made["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("w-") && name.len() == 7, "{name}");
    let (code, wrong) = server.send("POST", &format!("{ALL}?dryRun=Some"), JSON, body);
    assert_eq!(code, 422, "{wrong}");
}

#[test]
fn an_object_that_breaks_a_rule_is_refused_with_the_field() {
    let mut server = Server::new();
    let body = |spec: &str| {
        format!(r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"a"}},"spec":{spec}}}"#)
    };
    let (code, refused) = server.send("POST", ALL, JSON, &body(r#"{"color":"green"}"#));
    assert_eq!((code, &refused["details"]["causes"][0]["field"]), (422, &json!("spec.color")));
    let (_, refused) = server.send("POST", ALL, JSON, &body(r#"{"replicas":100}"#));
    assert_eq!(refused["message"], "Widget.example.com \"a\" is invalid: spec: Invalid value: too many");
    let (code, refused) =
        server.send("POST", &format!("{ALL}?fieldValidation=Strict"), JSON, &body(r#"{"nope":1,"nope":2}"#));
    assert_eq!(code, 400);
    assert_eq!(
        refused["message"],
        "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: duplicate field \
         \"spec.nope\", unknown field \"spec.nope\""
    );
    let text = body(r#"{"nope":1}"#);
    let request = Request { method: "POST", path: ALL, body: text.as_bytes(), ..Request::default() };
    assert_eq!(server.ask(&request).warnings, ["unknown field \"spec.nope\""]);
}

#[test]
fn an_update_needs_the_current_revision() {
    let mut server = Server::new();
    let mut object = server.create("a", r#"{"replicas":1}"#);
    object["spec"]["replicas"] = json!(2);
    let (code, second) = server.send("PUT", &format!("{ALL}/a"), JSON, &object.to_string());
    assert_eq!((code, second["metadata"]["generation"].as_i64()), (200, Some(2)));
    object["spec"]["replicas"] = json!(3);
    let (code, conflict) = server.send("PUT", &format!("{ALL}/a"), JSON, &object.to_string());
    assert_eq!((code, &conflict["reason"]), (409, &json!("Conflict")));
    object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    let (code, missing) = server.send("PUT", &format!("{ALL}/a"), JSON, &object.to_string());
    assert_eq!(code, 422, "{missing}");
    let (code, other) = server.send("PUT", &format!("{ALL}/b"), JSON, &object.to_string());
    assert_eq!((code, &other["reason"]), (400, &json!("BadRequest")));
}

/// A widget with more metadata than its name.
fn with_metadata(metadata: &str) -> String {
    format!(r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"a",{metadata}}}}}"#)
}

#[test]
fn an_object_with_a_version_is_not_created() {
    let mut server = Server::new();
    let message = "resourceVersion should not be set on objects to be created";
    let versioned = with_metadata(r#""resourceVersion":"5""#);
    let (code, refused) = server.send("POST", ALL, JSON, &versioned);
    assert_eq!((code, &refused["message"], refused.get("reason")), (500, &json!(message), None));
    // Validation comes before the storage, and a dry run ends before it.
    let invalid = versioned.replace(r#""name":"a""#, r#""name":"A""#);
    assert_eq!(server.send("POST", ALL, JSON, &invalid).0, 422);
    assert_eq!(server.send("POST", &format!("{ALL}?dryRun=All"), JSON, &versioned).0, 201);
    let (code, made) = server.send("POST", ALL, JSON, &with_metadata(r#""resourceVersion":"0""#));
    assert_eq!((code, &made["metadata"]["resourceVersion"]), (201, &json!("2")));
    let (code, refused) = server.send("POST", ALL, JSON, &versioned);
    assert_eq!((code, &refused["message"]), (500, &json!(message)), "before the name is looked for");
}

#[test]
fn metadata_of_the_system_is_wiped_on_creation() {
    let mut server = Server::new();
    let system = r#""uid":"u","selfLink":"/a","creationTimestamp":"2020-01-01T00:00:00Z","deletionTimestamp":"2020-01-01T00:00:00Z","deletionGracePeriodSeconds":3,"generation":7"#;
    let (code, made) = server.send("POST", ALL, JSON, &with_metadata(system));
    assert_eq!(code, 201, "{made}");
    let metadata = &made["metadata"];
    for key in ["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"] {
        assert_eq!(metadata.get(key), None, "{key}");
    }
    assert_eq!(metadata["uid"], "00000000-0000-0000-0000-000000000001");
    assert_eq!((&metadata["creationTimestamp"], &metadata["generation"]), (&json!("2023-11-14T22:13:21Z"), &json!(1)));
}

#[test]
fn an_object_with_a_uid_is_not_created_by_apply() {
    let mut server = Server::new();
    let target = format!("{ALL}/a?fieldManager=me");
    let applied = with_metadata(r#""uid":"u""#);
    let (code, refused) = server.send("PATCH", &target, "application/apply-patch+yaml", &applied);
    let message = "Operation cannot be fulfilled on widgets.example.com \"a\": uid mismatch: the provided object specified uid u, \
                   and no existing object was found";
    assert_eq!((code, &refused["message"]), (409, &json!(message)));
}

#[test]
fn unknown_fields_have_the_characters_of_the_request() {
    let mut server = Server::new();
    let body = r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"\u00a0a":1,"q\"r":1,"é":1,"é":1}}"#;
    let (code, refused) = server.send("POST", &format!("{ALL}?fieldValidation=Strict"), JSON, body);
    let words = refused["message"].as_str().unwrap().split_once("strict decoding error: ").unwrap().1;
    let expected = "duplicate field \"spec.é\", unknown field \"spec.q\"r\", unknown field \"spec.\u{a0}a\", unknown \
                    field \"spec.é\"";
    assert_eq!((code, words), (400, expected));
}

#[test]
fn duplicate_fields_of_yaml_have_the_words_of_its_decoder() {
    let mut server = Server::new();
    let yaml = "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  replicas: 3\n  replicas: 4\n  \
                color: red\nmetadata: {name: b, name: c}\nspec: {replicas: 5}\n1: 2\n1: 3\n";
    let words = "yaml: unmarshal errors:\n  line 7: key \"replicas\" already set in map\n  line 9: key \"name\" already set in \
                 map\n  line 9: key \"metadata\" already set in map\n  line 10: key \"spec\" already set in map\n  line 12: \
                 key 1 already set in map";
    let strict = format!("{ALL}?fieldValidation=Strict");
    let (code, refused) = server.send("POST", &strict, "application/yaml", yaml);
    let (_, message) = refused["message"].as_str().unwrap().split_once(": ").unwrap();
    assert_eq!((code, message), (400, format!("strict decoding error: {words}, unknown field \"1\"").as_str()));
    let apply = format!("{ALL}/c?fieldManager=me&fieldValidation=Strict");
    let twice = yaml.replace("1: 2\n1: 3\n", "");
    let (code, refused) = server.send("PATCH", &apply, "application/apply-patch+yaml", &twice);
    let words = words.replace("\n  line 12: key 1 already set in map", "");
    let expected = format!("error strict decoding patch: error converting YAML to JSON: {words}");
    assert_eq!((code, refused["message"].as_str()), (400, Some(expected.as_str())));
    // Without strict validation the last value counts, and JSON has other words.
    let (code, made) = server.send("POST", &format!("{ALL}?fieldValidation=Ignore"), "application/yaml", yaml);
    assert_eq!((code, &made["metadata"]["name"], &made["spec"]["replicas"]), (201, &json!("c"), &json!(5)));
    let body =
        r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"d"},"spec":{"replicas":1,"replicas":2}}"#;
    let (_, refused) = server.send("POST", &strict, JSON, body);
    assert!(refused["message"].as_str().unwrap().ends_with("strict decoding error: duplicate field \"spec.replicas\""));
}

#[test]
fn nothing_changes_if_nothing_differs() {
    let mut server = Server::new();
    let object = server.create("a", r#"{"replicas":1}"#);
    let revision = server.store.revision();
    for (method, media, body) in [
        ("PUT", JSON, object.to_string()),
        ("PATCH", MERGE, r#"{"spec":{"replicas":1}}"#.to_owned()),
        ("PATCH", "application/json-patch+json", "[]".to_owned()),
    ] {
        let (code, same) = server.send(method, &format!("{ALL}/a"), media, &body);
        assert_eq!((code, &same), (200, &object), "{method} {media}");
    }
    let apply = "apiVersion: example.com/v1\nkind: Widget\nspec: {color: red}\n";
    for _ in 0..3 {
        let target = format!("{ALL}/b?fieldManager=me");
        let (code, applied) = server.send("PATCH", &target, "application/apply-patch+yaml", apply);
        assert!(code < 300, "{applied}");
        assert_eq!(applied["metadata"]["resourceVersion"], (revision + 1).to_string());
    }
}

#[test]
fn the_status_changes_through_its_subresource_alone() {
    let mut server = Server::new();
    server.create("a", r#"{"replicas":1}"#);
    let (_, spec) =
        server.send("PATCH", &format!("{ALL}/a"), MERGE, r#"{"status":{"replicas":9},"spec":{"replicas":2}}"#);
    assert_eq!((spec.get("status"), &spec["spec"]["replicas"]), (None, &json!(2)));
    let (_, status) =
        server.send("PATCH", &format!("{ALL}/a/status"), MERGE, r#"{"status":{"replicas":9},"spec":{"replicas":3}}"#);
    assert_eq!((&status["status"]["replicas"], &status["spec"]["replicas"]), (&json!(9), &json!(2)));
    assert_eq!(status["metadata"]["generation"], 2);
    assert_eq!(server.get("/apis/example.com/v1beta1/namespaces/default/widgets/a/status").0, 404);
}

#[test]
fn the_scale_reads_and_writes_replicas() {
    let mut server = Server::new();
    server.create("a", r#"{"replicas":2}"#);
    let scale = format!("{ALL}/a/scale");
    assert_eq!(server.get(&scale).1["spec"], json!({"replicas": 2}));
    let (code, scaled) = server.send("PATCH", &scale, MERGE, r#"{"spec":{"replicas":5}}"#);
    assert_eq!((code, &scaled["spec"]["replicas"]), (200, &json!(5)));
    let (_, mut sent) = server.get(&scale);
    sent["spec"]["replicas"] = json!(-1);
    let (code, refused) = server.send("PUT", &scale, JSON, &sent.to_string());
    assert_eq!((code, &refused["details"]["causes"][0]["field"]), (422, &json!(".spec.replicas")));
    let owner = &server.get(&format!("{ALL}/a")).1["metadata"]["managedFields"][0];
    assert_eq!((&owner["subresource"], &owner["fieldsV1"]), (&json!("scale"), &json!({"f:spec": {"f:replicas": {}}})));
}

#[test]
fn server_side_apply_tells_conflicts_and_forces() {
    let mut server = Server::new();
    let config = |color: &str| format!("apiVersion: example.com/v1\nkind: Widget\nspec: {{color: {color}}}\n");
    let media = "application/apply-patch+yaml";
    assert_eq!(server.send("PATCH", &format!("{ALL}/a?fieldManager=one"), media, &config("red")).0, 201);
    let (code, conflict) = server.send("PATCH", &format!("{ALL}/a?fieldManager=two"), media, &config("blue"));
    assert_eq!(code, 409);
    assert_eq!(conflict["details"]["causes"][0]["field"], ".spec.color");
    let (code, forced) = server.send("PATCH", &format!("{ALL}/a?fieldManager=two&force=true"), media, &config("blue"));
    assert_eq!((code, &forced["spec"]["color"]), (200, &json!("blue")));
    let (code, _) = server.send("PATCH", &format!("{ALL}/a?fieldManager=two&force=1"), MERGE, "{}");
    assert_eq!(code, 422);
}

#[test]
fn finalizers_hold_an_object_until_they_are_gone() {
    let mut server = Server::new();
    server.create("a", "{}");
    let target = format!("{ALL}/a");
    server.send("PATCH", &target, MERGE, r#"{"metadata":{"finalizers":["example.com/hold"]}}"#);
    let (code, held) = server.send("DELETE", &target, "", "");
    assert_eq!(code, 200);
    let when = held["metadata"]["deletionTimestamp"].clone();
    assert!(when.is_string(), "{held}");
    assert_eq!(server.send("DELETE", &target, "", "").1["metadata"]["deletionTimestamp"], when);
    let (code, gone) = server.send("PATCH", &target, MERGE, r#"{"metadata":{"finalizers":null}}"#);
    assert_eq!((code, gone["metadata"].get("finalizers")), (200, None));
    assert_eq!(server.get(&target).0, 404);
    server.create("b", "{}");
    let precondition = r#"{"preconditions":{"uid":"other"}}"#;
    assert_eq!(server.send("DELETE", &format!("{ALL}/b"), JSON, precondition).0, 409);
    let (code, deleted) = server.send("DELETE", &format!("{ALL}/b"), JSON, r#"{"propagationPolicy":"Background"}"#);
    assert_eq!((code, &deleted["status"]), (200, &json!("Success")));
}

#[test]
fn lists_have_pages_of_one_moment() {
    let mut server = Server::new();
    for n in 0..5 {
        server.create(&format!("w{n}"), "{}");
    }
    let (_, first) = server.get(&format!("{ALL}?limit=2"));
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    let mut token = first["metadata"]["continue"].as_str().unwrap().to_owned();
    server.create("w1x", "{}");
    server.send("DELETE", &format!("{ALL}/w4"), "", "");
    let mut names = Vec::new();
    while !token.is_empty() {
        let (code, page) = server.get(&format!("{ALL}?limit=2&continue={token}"));
        assert_eq!((code, &page["metadata"]["resourceVersion"]), (200, &first["metadata"]["resourceVersion"]));
        names.extend(page["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].clone()));
        token = page["metadata"]["continue"].as_str().unwrap().to_owned();
    }
    assert_eq!(names, ["w2", "w3", "w4"]);
    assert_eq!(server.get(&format!("{ALL}?limit=2&continue=nonsense")).0, 400);
}

#[test]
fn collections_are_deleted_by_selector() {
    let mut server = Server::new();
    for name in ["a", "b", "c"] {
        server.create(name, "{}");
    }
    let (code, deleted) = server.send("DELETE", &format!("{ALL}?labelSelector=name+in+(a,c)"), "", "");
    assert_eq!((code, deleted["items"].as_array().unwrap().len()), (200, 2));
    assert_eq!(server.get(ALL).1["items"].as_array().unwrap().len(), 1);
}

#[test]
fn fields_select_as_far_as_the_definition_allows() {
    let mut server = Server::new();
    server.create("a", r#"{"color":"red"}"#);
    server.create("b", r#"{"color":"blue"}"#);
    let (_, red) = server.get(&format!("{ALL}?fieldSelector=spec.color%3Dred"));
    assert_eq!(red["items"][0]["metadata"]["name"], "a");
    assert_eq!(red["items"].as_array().unwrap().len(), 1);
    let (code, refused) = server.get(&format!("{ALL}?fieldSelector=spec.replicas%3D1"));
    assert_eq!((code, &refused["message"]), (400, &json!("field label not supported: spec.replicas")));
}

#[test]
fn other_versions_show_the_same_object_and_warn() {
    let mut server = Server::new();
    server.create("a", r#"{"color":"red"}"#);
    let path = "/apis/example.com/v1beta1/namespaces/default/widgets/a";
    let reply = server.ask(&Request { path, ..Request::default() });
    assert!(reply.text().starts_with(r#"{"apiVersion":"example.com/v1beta1","kind":"Widget""#), "{}", reply.text());
    assert_eq!(reply.warnings, ["example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget"]);
}

#[test]
fn what_is_too_large_is_refused() {
    let mut server = Server::new();
    let color = "x".repeat(2 << 20);
    let body = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"a"}},"spec":{{"list":["{color}"]}}}}"#
    );
    let (code, refused) = server.send("POST", ALL, JSON, &body);
    assert_eq!((code, &refused["message"]), (500, &json!("etcdserver: request is too large")));
    assert_eq!(server.send("POST", ALL, JSON, &" ".repeat(4 << 20)).0, 413);
    let deep = format!("{}1{}", "[".repeat(600), "]".repeat(600));
    let patch = format!(r#"{{"status":{{"deep":{deep}}}}}"#);
    server.create("b", "{}");
    assert_eq!(server.send("PATCH", &format!("{ALL}/b/status"), MERGE, &patch).0, 400);
}

#[test]
fn methods_and_media_types_that_do_not_fit_are_refused() {
    let mut server = Server::new();
    server.create("a", "{}");
    assert_eq!(server.send("POST", &format!("{ALL}/a"), JSON, "{}").0, 405);
    assert_eq!(server.send("PUT", ALL, JSON, "{}").0, 405);
    assert_eq!(server.send("POST", ALL, "text/plain", "{}").0, 415);
    assert_eq!(server.send("PATCH", &format!("{ALL}/a"), "application/strategic-merge-patch+json", "{}").0, 415);
    assert_eq!(server.send("POST", ALL, JSON, "{").0, 400);
    let html = Request { path: ALL, accept: "text/html", ..Request::default() };
    assert_eq!(server.ask(&html).code, 406);
    assert!(!server.api.serves("/apis/example.com/v2/widgets"));
}

#[test]
fn long_reads_end_when_they_are_stopped() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let mut server = Server::new();
    let spec = json!({"list": vec!["some words"; 2_000]});
    for at in 0..200 {
        let name = format!("w{at}");
        let object =
            json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec});
        assert_eq!(server.send("POST", ALL, "application/json", &object.to_string()).0, 201);
    }
    let forms = [
        ("application/yaml", ""),
        ("application/json", "pretty=1"),
        ("application/json;as=Table;g=meta.k8s.io;v=v1", "includeObject=Object"),
        ("text/csv", ""),
        ("application/json;as=Description;g=meta.k8s.io;v=v1", ""),
        ("application/json;as=TabularOutput;g=meta.k8s.io;v=v1", ""),
        ("application/json", "labelSelector=a%3Db"),
    ];
    for (accept, query) in forms {
        let request = Request { path: ALL, accept, query, alternates: true, ..Request::default() };
        let whole = server.ask(&request);
        assert_eq!(whole.code, 200, "{accept}: {}", whole.text());
        // It is stopped before it begins, or while it works.
        for after in [0, 5] {
            let flag = AtomicBool::new(false);
            let began = std::time::Instant::now();
            let code = std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(std::time::Duration::from_millis(after));
                    flag.store(true, Ordering::Relaxed);
                });
                let moment = Moment { stop: Stop::when(&flag), ..Moment::default() };
                server.api.answer(&mut server.store, &request, &moment).expect("a resource").code
            });
            // What was ready before the flag was set is an answer.
            assert!([200, 504].contains(&code), "{accept}: {code}");
            assert!(began.elapsed() < std::time::Duration::from_secs(2), "{accept}: {:?}", began.elapsed());
        }
    }
}

#[test]
fn what_nests_deeply_has_bounded_indentation() {
    let mut server = Server::new();
    let deep = format!("{}[{}1]{}", "{\"a\":".repeat(400), "1,".repeat(400_000), "}".repeat(400));
    let body = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"deep"}},"status":{deep},"spec":{{}}}}"#
    );
    assert_eq!(server.send("POST", ALL, "application/json", &body).0, 201);
    let path = format!("{ALL}/deep/status");
    assert_eq!(server.send("PUT", &path, "application/json", &body).0, 200);
    let one = format!("{ALL}/deep");
    for path in [&one, ALL] {
        for (accept, query) in [("application/yaml", ""), ("application/json", "pretty=1")] {
            let reply = server.ask(&Request { path, accept, query, ..Request::default() });
            assert_eq!(reply.code, 500, "{path} {accept}");
            assert!(reply.text().contains("request application/json without pretty"), "{}", reply.text());
        }
        assert_eq!(server.ask(&Request { path, ..Request::default() }).code, 200);
    }
}

#[test]
fn aliases_do_not_make_a_body_much_larger() {
    let mut server = Server::new();
    let body = |count: usize| {
        let list = vec!["*a"; count].join(", ");
        let text = "x".repeat(10_000);
        format!(
            "{{apiVersion: example.com/v1, kind: Widget, metadata: {{name: a, annotations: {{t: &a {text}}}}}, spec: {{list: [{list}]}}}}"
        )
    };
    let (code, answer) = server.send("POST", ALL, "application/yaml", &body(100));
    assert_eq!(code, 201, "{answer}");
    for (method, path, media) in [
        ("POST", ALL.to_owned(), "application/yaml"),
        ("PUT", format!("{ALL}/a"), "application/yaml"),
        ("PATCH", format!("{ALL}/a?fieldManager=me"), "application/apply-patch+yaml"),
    ] {
        let (code, answer) = server.send(method, &path, media, &body(2_000));
        let message = answer["message"].as_str().unwrap();
        assert!(
            code == 400 && message.contains("aliases of the document make it larger than 12582912 bytes"),
            "{message}"
        );
    }
}

#[test]
fn errors_about_an_object_have_a_bounded_size() {
    let mut server = Server::new();
    let key = "k".repeat(50_000);
    let send = |server: &mut Server, query: &str, spec: String| {
        let body =
            format!(r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"a"}},"spec":{spec}}}"#);
        server.send("POST", &format!("{ALL}{query}"), "application/json", &body)
    };
    let unknown = format!("{{{}}}", (0..200).map(|at| format!(r#""{at}{key}":1"#)).collect::<Vec<_>>().join(","));
    let (code, answer) = send(&mut server, "?fieldValidation=Strict", unknown);
    let message = answer["message"].as_str().unwrap();
    // The body is larger than what is reported of it.
    assert!(code == 400 || code == 413, "{code}");
    assert!(message.len() < 6 << 20, "{}", message.len());
    let repeated = (0..500).map(|_| format!(r#""{}":1"#, &key[..5_000])).collect::<Vec<_>>().join(",");
    let (code, answer) = send(&mut server, "?fieldValidation=Strict", format!("{{{repeated}}}"));
    assert_eq!(code, 400);
    assert!(answer["message"].as_str().unwrap().contains("duplicate field \"spec.kkk"));
}
