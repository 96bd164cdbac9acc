//! Tests of `kubeshape serve --objects`: clients are warned about fields and kinds because of their lifecycle.

use crate::common::Folder;
use crate::common::client::{Answer, Kubectl, send};
use crate::serve::Server;

const TABS: &str = "/apis/example.com/v1/namespaces/default/tabs";
const OFF: &str = "spec.width: alpha since v1.20; the feature gate Frobber2D is off";
const ALPHA: &str =
    "spec.width: alpha since v1.20, behind the feature gate Frobber2D; it may change or go in any release";

/// Returns a definition with the extension on one field.
fn definition(extension: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: tabs.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: tabs, kind: Tab}}
  versions:
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
  - name: v1
    served: true
    storage: true
    subresources: {{status: {{}}}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {{type: object, x-kubernetes-preserve-unknown-fields: true}}
          spec:
            type: object
            properties:
              height: {{type: integer}}
              width:
                type: integer
                {extension}
"
    )
}

const EXTENSION: &str =
    "x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.20, status: alpha, featureGate: Frobber2D}}";

fn tab(name: &str, spec: &str) -> String {
    format!(r#"{{"apiVersion":"example.com/v1","kind":"Tab","metadata":{{"name":"{name}"}},"spec":{spec}}}"#)
}

fn warned(answer: &Answer) -> Vec<&str> {
    answer.headers("warning")
}

#[test]
fn every_write_of_a_field_is_answered_with_its_lifecycle() {
    let folder = Folder::new();
    folder.write("crd.yaml", definition(EXTENSION));
    std::fs::create_dir(folder.path("objects")).expect("a folder");
    let server = Server::start(&folder, "crd.yaml --objects objects");
    let off = format!("299 - \"{OFF}\"");
    let ask = |method: &str, path: &str, media: &str, body: &str| {
        let answer = send(&server.address, method, &format!("{TABS}{path}"), media, body).expect("an answer");
        assert!(answer.code < 300, "{answer:?}");
        answer
    };
    let json = "application/json";
    for (method, path, media, body) in [
        ("POST", "?dryRun=All", json, tab("a", r#"{"width":1}"#)),
        ("POST", "", json, tab("a", r#"{"width":1}"#)),
        ("PUT", "/a", json, tab("a", r#"{"width":2}"#)),
        ("PATCH", "/a", "application/merge-patch+json", r#"{"spec":{"width":3}}"#.to_owned()),
        (
            "PATCH",
            "/a",
            "application/json-patch+json",
            r#"[{"op":"replace","path":"/spec/width","value":4}]"#.to_owned(),
        ),
        ("PATCH", "/a?fieldManager=m&force=true", "application/apply-patch+yaml", tab("a", r#"{"width":5}"#)),
        ("PATCH", "/b?fieldManager=m", "application/apply-patch+yaml", tab("b", r#"{"width":5}"#)),
    ] {
        // Custom resources are not replaced without a revision.
        let revision =
            (method == "PUT").then(|| ask("GET", path, json, "").body["metadata"]["resourceVersion"].clone());
        let named = revision.map(|revision| format!("\"name\":\"a\",\"resourceVersion\":{revision}"));
        let body = named.map_or_else(|| body.clone(), |named| body.replace("\"name\":\"a\"", &named));
        assert_eq!(warned(&ask(method, path, media, &body)), [&*off], "{method} {media}");
    }
    // There is no warning for clients that do not write the field, that write the status, or that only read.
    for (method, path, media, body) in [
        ("POST", "", json, tab("c", r#"{"height":1}"#)),
        ("PATCH", "/a?fieldManager=n", "application/apply-patch+yaml", tab("a", r#"{"height":5}"#)),
        ("PATCH", "/a/status", "application/merge-patch+json", r#"{"status":{"done":true}}"#.to_owned()),
        ("GET", "/a", json, String::new()),
        ("GET", "", json, String::new()),
    ] {
        assert_eq!(warned(&ask(method, path, media, &body)), Vec::<&str>::new(), "{method} {path}");
    }
    // Other versions have other schemas.
    let old = send(&server.address, "GET", "/apis/example.com/v1beta1/namespaces/default/tabs/a", "", "");
    let deprecated = "299 - \"example.com/v1beta1 Tab is deprecated; use example.com/v1 Tab\"";
    assert_eq!(warned(&old.expect("an answer")), [deprecated]);
}

/// Returns the warnings for a client that creates an object with the field.
fn told(options: &str, extension: &str) -> Vec<String> {
    let folder = Folder::new();
    folder.write("crd.yaml", definition(extension));
    std::fs::create_dir(folder.path("objects")).expect("a folder");
    let server = Server::start(&folder, &format!("crd.yaml --objects objects {options}"));
    let created = send(&server.address, "POST", TABS, "application/json", &tab("a", r#"{"width":1}"#));
    let created = created.expect("an answer");
    assert_eq!(created.code, 201, "{created:?}");
    warned(&created).into_iter().map(str::to_owned).collect()
}

#[test]
fn gates_and_the_release_decide() {
    for options in ["--feature-gates Frobber2D=true", "--feature-gates AllAlpha=true,Other=false"] {
        assert_eq!(told(options, EXTENSION), [format!("299 - \"{ALPHA}\"")], "{options}");
    }
    // The gates of the release and those of fields can be combined.
    let both = "--emulate 1.34 --feature-gates AggregatedDiscoveryRemoveBetaType=false,Frobber2D=true";
    assert_eq!(told(both, EXTENSION), [format!("299 - \"{ALPHA}\"")]);
    let beta = "x-kubernetes-api-lifecycle: {kubernetes: {minVersion: v1.35, status: beta}}";
    assert_eq!(told("--kubernetes 1.34", beta), ["299 - \"spec.width: beta since v1.35; it is not in v1.34\""]);
    assert_eq!(told("--emulate 1.34", beta), ["299 - \"spec.width: beta since v1.35; it is not in v1.34\""]);
    assert_eq!(told("--kubernetes 1.35", beta), ["299 - \"spec.width: beta since v1.35\""]);
    let deprecated = "x-kubernetes-api-lifecycle: {kubernetes: {status: deprecated}}";
    assert_eq!(told("", deprecated), ["299 - \"spec.width: deprecated\""]);
    assert_eq!(told("", "description: How wide it is."), Vec::<String>::new());
    // Gates of the server's own behaviour work without an emulated release.
    let folder = Folder::new();
    folder.write("crd.yaml", definition(EXTENSION)).write("objects/none.yaml", "");
    let formats = |options: &str, release: &str| {
        let server = Server::start(&folder, &format!("crd.yaml --objects objects --extensions off {options}"));
        let accept = |media: &str| server.ask(TABS, &format!("Accept: {media}\r\n")).0;
        (accept("application/cbor"), server.get("/version").1.contains(&format!("v{release}.0")))
    };
    assert_eq!(formats("", "1.37"), (406, true));
    assert_eq!(formats("--feature-gates CBORServingAndStorage=true", "1.37"), (200, true));
    assert_eq!(formats("--feature-gates CBORServingAndStorage=true --kubernetes 1.34", "1.34"), (200, true));
    for (gate, why) in [
        ("CustomResourcePublishOpenAPI=false", "is locked to true in Kubernetes 1.37"),
        ("AggregatedDiscoveryRemoveBetaType=false", "is locked to true in Kubernetes 1.37"),
        ("CBORServingAndStorage=true --kubernetes 1.31", "Kubernetes 1.31 has no feature gate"),
    ] {
        folder.run(&format!("serve crd.yaml --objects objects --feature-gates {gate}")).says(2, &[why]);
    }
    // Without objects and without a release, gates have no effect.
    let folder = Folder::new();
    folder.write("crd.yaml", definition(EXTENSION));
    folder.run("serve crd.yaml --feature-gates Frobber2D=true").says(2, &["add --emulate or --objects"]);
    folder.run("serve crd.yaml --emulate 1.34 --feature-gates Frobber2D=true").says(2, &["no feature gate"]);
}

#[test]
fn a_changed_file_and_an_annotated_base_are_followed() {
    let folder = Folder::new();
    folder.write("crds/crd.yaml", definition(EXTENSION));
    std::fs::create_dir(folder.path("objects")).expect("a folder");
    folder.write(
        "base/apis__example.org__v1.json",
        r#"{"openapi":"3.0.0","info":{"title":"","version":""},"paths":{
"/apis/example.org/v1/boxes":{"post":{"operationId":"x","responses":{},
"x-kubernetes-action":"post","x-kubernetes-group-version-kind":{"group":"example.org","version":"v1","kind":"Box"}}},
"/apis/example.org/v1/boxes/{name}":{"get":{"operationId":"y","responses":{},
"x-kubernetes-action":"get","x-kubernetes-group-version-kind":{"group":"example.org","version":"v1","kind":"Box"}}}},
"components":{"schemas":{"org.example.v1.Box":{"type":"object",
"x-kubernetes-group-version-kind":[{"group":"example.org","version":"v1","kind":"Box"}],
"properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},
"size":{"type":"integer","x-kubernetes-api-lifecycle":{"kubernetes":{"status":"deprecated"}}}}}}}}"#,
    );
    let server = Server::start(&folder, "crds --base base --objects objects --watch");
    let boxed = r#"{"apiVersion":"example.org/v1","kind":"Box","metadata":{"name":"a"},"size":1}"#;
    let answer = send(&server.address, "POST", "/apis/example.org/v1/boxes", "application/json", boxed);
    let answer = answer.expect("an answer");
    assert_eq!(warned(&answer), ["299 - \"size: deprecated\""], "{answer:?}");

    folder.write("crds/crd.yaml", definition("x-kubernetes-api-lifecycle: {kubernetes: {status: deprecated}}"));
    let began = std::time::Instant::now();
    loop {
        let path = format!("{TABS}?dryRun=All");
        let answer = send(&server.address, "POST", &path, "application/json", &tab("a", r#"{"width":1}"#));
        let answer = answer.expect("an answer");
        if warned(&answer) == ["299 - \"spec.width: deprecated\""] {
            break;
        }
        assert!(began.elapsed().as_secs() < 30, "{answer:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn kubectl_shows_the_warnings() {
    let folder = Folder::new();
    folder.write("crd.yaml", definition(EXTENSION)).write("tab.yaml", tab("a", r#"{"width":1}"#));
    std::fs::create_dir(folder.path("objects")).expect("a folder");
    let server = Server::start(&folder, "crd.yaml --objects objects");
    let Some(kubectl) = Kubectl::find(&folder, &server.address) else { return };
    for (line, out) in [
        ("apply -f tab.yaml", "tab.example.com/a created\n"),
        ("apply -f tab.yaml --server-side --force-conflicts", "tab.example.com/a serverside-applied\n"),
        ("replace -f tab.yaml", "tab.example.com/a replaced\n"),
        ("annotate tab a b=c", "tab.example.com/a annotated\n"),
    ] {
        let run = kubectl.run(line);
        assert_eq!((run.code, run.out.as_str()), (Some(0), out), "{line}: {}", run.err);
        assert!(run.err.contains(&format!("Warning: {OFF}\n")), "{line}: {}", run.err);
    }
    let run = kubectl.run("get endpoints");
    let deprecated = "Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n";
    assert!(run.code == Some(0) && run.err.starts_with(deprecated), "{run:?}");
    drop(server);

    let server = Server::start(&folder, "crd.yaml --objects objects --kubernetes 1.32");
    let Some(kubectl) = Kubectl::find(&folder, &server.address) else { return };
    let run = kubectl.run("get endpoints");
    assert!(run.code == Some(0) && !run.err.contains("Warning"), "{run:?}");
}
