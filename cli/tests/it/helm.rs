//! Helm 4 as a client of `serve --objects`: a chart is installed, upgraded, rolled back and uninstalled, with
//! server-side and client-side apply. Needs the program that `KUBESHAPE_HELM` names.

use crate::common::Run;
use crate::common::client::send;
use crate::ownership_tools::{World, helm};
use serde_json::{Value, json};

const CHART: &str = "apiVersion: v2\nname: shop\nversion: 1.0.0\n";
const VALUES: &str = "replicas: 2\nmode: a\nextra: true\n";
const TEMPLATE: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {mode: {{ .Values.mode }}}
---
apiVersion: v1
kind: Secret
metadata: {name: token}
stringData: {token: {{ .Values.mode }}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, name: http}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "web:{{ .Values.mode }}", resources: {requests: {cpu: 0.5}}}
{{- if .Values.extra }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: extra}
data: {a: b}
{{- end }}
"#;
const HOOK: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: hook
  annotations: {"helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-delete-policy": "before-hook-creation"}
data: {mode: {{ .Values.mode }}}
"#;

/// A server and a chart.
fn world() -> World {
    let world = World::new();
    std::fs::create_dir_all(world.folder.path("chart/templates")).expect("a folder");
    world.folder.write("chart/Chart.yaml", CHART).write("chart/values.yaml", VALUES);
    world.folder.write("chart/templates/all.yaml", TEMPLATE).write("chart/templates/hook.yaml", HOOK);
    world
}

/// Runs Helm, which must succeed. Returns `None` without Helm.
fn run(world: &World, line: &str) -> Option<Run> {
    let run = helm(world, line)?;
    assert_eq!(run.code, Some(0), "helm {line}: {}{}", run.out, run.err);
    Some(run)
}

fn get(world: &World, path: &str) -> Value {
    send(&world.server.address, "GET", path, "", "").expect("an answer").body
}

/// Returns the names of the objects of a resource.
fn names(world: &World, group: &str, resource: &str) -> Vec<String> {
    let list = get(world, &format!("{group}/namespaces/shop/{resource}"));
    let items = list["items"].as_array().cloned().unwrap_or_default();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the replicas, the image and the managers of the Deployment.
fn web(world: &World) -> (Value, Value, Vec<String>) {
    let web = get(world, "/apis/apps/v1/namespaces/shop/deployments/web");
    let container = &web["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["resources"]["requests"]["cpu"], "500m", "quantities are canonical");
    let entries = web["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let manager = |entry: &Value| format!("{} {}", entry["manager"], entry["operation"]).replace('"', "");
    (web["spec"]["replicas"].clone(), container["image"].clone(), entries.iter().map(manager).collect())
}

/// Returns revision, status and description of each revision.
fn history(world: &World) -> Vec<(u64, String, String)> {
    let found = run(world, "history shop -o json").expect("helm");
    let found: Value = serde_json::from_str(&found.out).expect("JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let revisions = found.as_array().cloned().unwrap_or_default();
    let revision =
        |of: &Value| (of["revision"].as_u64().unwrap_or_default(), text(&of["status"]), text(&of["description"]));
    revisions.iter().map(revision).collect()
}

fn skipped() {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "skipped: KUBESHAPE_HELM names no Helm 4");
}

#[test]
fn a_chart_is_installed_upgraded_rolled_back_and_uninstalled() {
    for (side, operation) in [("true", "Apply"), ("false", "Update")] {
        let world = world();
        let Some(installed) = run(&world, &format!("install shop chart --server-side={side}")) else {
            return skipped();
        };
        assert!(installed.out.contains("STATUS: deployed") && installed.err.is_empty(), "{}", installed.err);
        let owner = vec![format!("helm {operation}")];
        assert_eq!(web(&world), (json!(2), json!("web:a"), owner.clone()));
        assert_eq!(names(&world, "/api/v1", "configmaps"), ["extra", "hook", "settings"]);
        let token = get(&world, "/api/v1/namespaces/shop/secrets/token");
        assert_eq!((&token["data"], &token["stringData"]), (&json!({"token": "YQ=="}), &Value::Null));

        run(&world, &format!("upgrade shop chart --set mode=b,replicas=3,extra=false --server-side={side}"));
        assert_eq!(web(&world), (json!(3), json!("web:b"), owner.clone()));
        assert_eq!(names(&world, "/api/v1", "configmaps"), ["hook", "settings"], "what the chart lost is deleted");
        let listed: Value = serde_json::from_str(&run(&world, "list -o json").expect("helm").out).expect("JSON");
        let release = &listed[0];
        assert_eq!(listed.as_array().map(Vec::len), Some(1));
        assert_eq!(
            [&release["name"], &release["revision"], &release["status"], &release["chart"]],
            ["shop", "2", "deployed", "shop-1.0.0"]
        );

        run(&world, &format!("rollback shop 1 --server-side={side}"));
        assert_eq!(web(&world), (json!(2), json!("web:a"), owner));
        assert_eq!(names(&world, "/api/v1", "configmaps"), ["extra", "hook", "settings"]);
        let revision = |number, status: &str, words: &str| (number, status.to_owned(), words.to_owned());
        assert_eq!(
            history(&world),
            [
                revision(1, "superseded", "Install complete"),
                revision(2, "superseded", "Upgrade complete"),
                revision(3, "deployed", "Rollback to 1")
            ]
        );

        let gone = run(&world, "uninstall shop").expect("helm");
        assert_eq!(gone.out, "release \"shop\" uninstalled\n");
        assert_eq!(run(&world, "list -o json").expect("helm").out.trim(), "[]");
        for (group, resource) in [("/api/v1", "secrets"), ("/api/v1", "services"), ("/apis/apps/v1", "deployments")] {
            assert_eq!(names(&world, group, resource), [""; 0], "{resource}");
        }
        assert_eq!(names(&world, "/api/v1", "configmaps"), ["hook"], "Helm leaves hooks alone");
    }
}

#[test]
fn a_release_changes_from_client_side_to_server_side_apply() {
    let world = world();
    if run(&world, "install shop chart --server-side=false").is_none() {
        return skipped();
    }
    run(&world, "upgrade shop chart --set mode=b --server-side=true");
    assert_eq!(web(&world), (json!(2), json!("web:b"), vec!["helm Apply".to_owned()]));
    run(&world, "upgrade shop chart --set mode=c,extra=false");
    assert_eq!(web(&world).1, "web:c", "the release stays server-side");
    assert_eq!(names(&world, "/api/v1", "configmaps"), ["hook", "settings"]);
}

#[test]
fn a_refused_upgrade_fails_and_the_release_stays_as_it_is() {
    let world = world();
    if run(&world, "install shop chart").is_none() {
        return skipped();
    }
    let refused = helm(&world, "upgrade shop chart --set replicas=-1").expect("helm");
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        "{}",
        refused.err
    );
    assert_eq!(web(&world).0, 2);
    let states: Vec<String> = history(&world).into_iter().map(|(_, status, _)| status).collect();
    assert_eq!(states, ["deployed", "failed"]);
    run(&world, "upgrade shop chart --set replicas=4");
    assert_eq!(web(&world).0, 4);
}
