//! The histories in `corpus/ownership` with real tools against `serve --objects`: the predicted conflicts are those of
//! kubectl and Helm, word for word, and after the hand-over the same apply succeeds without force.

use crate::common::client::{Kubectl, send};
use crate::common::{Folder, Run};
use crate::serve::Server;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

/// Returns the files with histories, with their names.
pub(crate) fn histories() -> Vec<(String, Value)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/ownership"));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let object = kubeshape_registry::Object::read(name.as_str(), std::fs::read(path).expect("a file"));
        (name, object.expect("a history").into_value())
    };
    files.into_iter().map(read).collect()
}

/// A server with the objects of one history.
pub(crate) struct World {
    pub(crate) folder: Folder,
    pub(crate) server: Server,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("objects")).expect("a folder");
        let server = Server::start(&folder, "--objects objects --log-level error");
        let world = World { folder, server };
        let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        world.request("POST", "/api/v1/namespaces", "application/json", &space);
        world
    }

    fn request(&self, method: &str, path: &str, media: &str, body: &Value) -> Value {
        let answer = send(&self.server.address, method, path, media, &body.to_string()).expect("an answer");
        assert!(answer.code < 300, "{method} {path}: {}", answer.body);
        answer.body
    }

    /// Makes a step of a history.
    pub(crate) fn step(&self, kubectl: &Kubectl<'_>, step: &Value, path: &str) {
        let manager = step["manager"].as_str().unwrap_or_default();
        if !step["set"].is_null() {
            let collection = path.rsplit_once('/').expect("a path").0;
            self.request("POST", collection, "application/json", &step["set"]);
            let none = json!({"metadata": {"managedFields": [{}]}});
            self.request("PATCH", path, "application/merge-patch+json", &none);
        } else if !step["clientSide"].is_null() {
            let run = kubectl.pipe("apply -f -", &step["clientSide"].to_string());
            assert_eq!(run.code, Some(0), "{}", run.err);
        } else if !step["apply"].is_null() {
            let force = step["force"] == true;
            let path = format!("{path}?fieldManager={manager}&force={force}");
            self.request("PATCH", &path, "application/apply-patch+yaml", &step["apply"]);
        } else {
            let sub = step["subresource"].as_str().map(|name| format!("/{name}")).unwrap_or_default();
            let patch = &step["patch"];
            let exists = send(&self.server.address, "GET", path, "", "").expect("an answer").code == 200;
            if exists {
                let path = format!("{path}{sub}?fieldManager={manager}");
                self.request("PATCH", &path, "application/merge-patch+json", patch);
            } else {
                let collection = path.rsplit_once('/').expect("a path").0;
                let path = format!("{collection}?fieldManager={manager}");
                self.request("POST", &path, "application/json", patch);
            }
        }
    }
}

/// Returns the path of an object.
pub(crate) fn path(object: &Value) -> String {
    let resource = match object["kind"].as_str().expect("a kind") {
        "ConfigMap" => "api/v1/namespaces/shop/configmaps",
        "Service" => "api/v1/namespaces/shop/services",
        "Deployment" => "apis/apps/v1/namespaces/shop/deployments",
        "HorizontalPodAutoscaler" => "apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers",
        "Ingress" => "apis/networking.k8s.io/v1/namespaces/shop/ingresses",
        "NetworkPolicy" => "apis/networking.k8s.io/v1/namespaces/shop/networkpolicies",
        other => panic!("{other}"),
    };
    format!("/{resource}/{}", object["metadata"]["name"].as_str().expect("a name"))
}

/// Returns the object without what every write changes.
pub(crate) fn bare(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().expect("metadata");
    for key in ["managedFields", "resourceVersion", "generation"] {
        metadata.remove(key);
    }
    object
}

/// Returns the options of `hand-over`, and whether they need the configuration.
pub(crate) fn options(wanted: &Value, to: &str) -> String {
    let list = |key: &str, option: &str| -> String {
        let all = wanted[key].as_array().cloned().unwrap_or_default();
        all.iter().flat_map(|name| [" ", option, " ", name.as_str().expect("a name")]).collect()
    };
    let to = wanted["to"].as_str().unwrap_or(to);
    let mut out = list("from", "--from") + &list("fields", "--fields");
    if wanted["release"] == true {
        return out + " --release";
    }
    if wanted["migrate"] == true {
        out += " --migrate-csa";
    }
    format!("{out} --to {to}")
}

#[test]
fn kubectl_conflicts_as_predicted_and_a_hand_over_resolves_it() {
    let probe = Folder::new();
    if Kubectl::find(&probe, "127.0.0.1:1").is_none() {
        return;
    }
    let mut wrong = Vec::new();
    let world = World::new();
    let kubectl = Kubectl::find(&world.folder, &world.server.address).expect("kubectl");
    let (mut conflicts, mut resolved) = (0, 0);
    for (name, history) in histories() {
        let next = &history["next"]["apply"];
        let manager = history["next"]["manager"].as_str().expect("a manager");
        let path = path(next);
        for step in history["steps"].as_array().expect("steps") {
            world.step(&kubectl, step, &path);
        }
        let live = send(&world.server.address, "GET", &path, "", "").expect("an answer").body;
        world.folder.write("live.json", live.to_string()).write("next.json", next.to_string());
        let plan = world.folder.run(&format!(
            "apply --kubernetes 1.37 --plan=json --tool kubectl --live live.json --field-manager {manager} next.json"
        ));
        let planned: Value =
            serde_json::from_str(&plan.out).unwrap_or_else(|error| panic!("{name}: {error} {}", plan.err));
        let predicted = planned["objects"][0]["words"].as_str().unwrap_or_default().to_owned();
        let hand_over = world.folder.run(&format!(
            "ownership hand-over --kubernetes 1.37 -o json live.json --configs next.json{}",
            options(&history["handOver"], manager)
        ));
        let apply = format!("apply --server-side --field-manager={manager} -f next.json");
        let applied = kubectl.run(&apply);
        // A plan does not validate. What a server refuses for that reason is not predicted.
        let is_invalid = applied.err.contains(" is invalid: ") && predicted.is_empty();
        let is_fine = is_invalid || applied.code == Some(0) && predicted.is_empty();
        if applied.err.trim_end() != predicted && !is_fine {
            wrong.push(format!("{name}: predicted {predicted}\nfound {}", applied.err));
        }
        conflicts += usize::from(applied.code != Some(0));
        let found: Value = serde_json::from_str(&hand_over.out).unwrap_or_default();
        if let (Some(found), Some(1)) = (found.get(0), applied.code) {
            let patch = found["patch"].to_string();
            world.folder.write("patch.json", patch);
            let name_of = path.rsplit('/').take(2).collect::<Vec<_>>();
            let line = format!("patch {} {} -n shop --type=json --patch-file patch.json", name_of[1], name_of[0]);
            let patched = kubectl.run(&line);
            let after = send(&world.server.address, "GET", &path, "", "").expect("an answer").body;
            if patched.code != Some(0) || bare(after) != bare(live) {
                wrong.push(format!("{name}: {line}: {}", patched.err));
            }
            let again = kubectl.run(&apply);
            let goes_to_it = found["to"] == manager && found["proven"] == true;
            if goes_to_it && again.code != Some(0) {
                wrong.push(format!("{name}: after the hand-over: {}", again.err));
            }
            resolved += usize::from(again.code == Some(0));
        }
        send(&world.server.address, "DELETE", &path, "", "");
        let none = json!({"metadata": {"finalizers": null}});
        send(&world.server.address, "PATCH", &path, "application/merge-patch+json", &none.to_string());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(conflicts >= 15 && resolved >= 12, "{conflicts} conflicts, {resolved} resolved");
}

/// Helm 4, if `KUBESHAPE_HELM` names it.
pub(crate) fn helm(world: &World, line: &str) -> Option<Run> {
    let program = std::env::var_os("KUBESHAPE_HELM")?;
    std::fs::write(
        world.folder.path("kubeconfig"),
        format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: c, cluster: {{server: \"http://{}\"}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, namespace: shop}}}}]\ncurrent-context: c\n",
            world.server.address
        ),
    )
    .expect("a file");
    let mut command = Command::new(program);
    command.args(line.split_whitespace()).current_dir(world.folder.path(""));
    command.env("HOME", world.folder.path("")).env("KUBECONFIG", world.folder.path("kubeconfig"));
    Some(Run::of(&command.output().expect("helm runs")))
}

#[test]
fn helm_upgrade_conflicts_as_predicted_and_a_hand_over_resolves_it() {
    let world = World::new();
    std::fs::create_dir_all(world.folder.path("chart/templates")).expect("a folder");
    world.folder.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n");
    let chart = |data: &str| {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings}}\ndata: {data}\n");
        world.folder.write("chart/templates/settings.yaml", text);
    };
    chart("{mode: a, old: x}");
    let Some(installed) = helm(&world, "install shop chart") else {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "skipped: KUBESHAPE_HELM names no Helm 4");
        return;
    };
    assert_eq!(installed.code, Some(0), "{}", installed.err);
    let settings = "/api/v1/namespaces/shop/configmaps/settings";
    let edit = json!({"data": {"mode": "hotfix"}});
    world.request("PATCH", &format!("{settings}?fieldManager=kubectl-edit"), "application/merge-patch+json", &edit);

    chart("{mode: b}");
    let rendered = helm(&world, "template shop chart").expect("helm");
    world.folder.write("next.yaml", rendered.out);
    let live = || {
        let object = send(&world.server.address, "GET", settings, "", "").expect("an answer").body;
        let secrets =
            send(&world.server.address, "GET", "/api/v1/namespaces/shop/secrets", "", "").expect("an answer").body;
        let mut items = vec![object];
        for mut secret in secrets["items"].as_array().cloned().unwrap_or_default() {
            secret["apiVersion"] = json!("v1");
            secret["kind"] = json!("Secret");
            items.push(secret);
        }
        world.folder.write("live.json", json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string());
    };
    live();
    let line = "apply --kubernetes 1.37 --plan=json --helm-release shop --live live.json next.yaml";
    let plan = world.folder.run(line);
    assert_eq!(plan.code, Some(1), "{}{}", plan.out, plan.err);
    let planned: Value = serde_json::from_str(&plan.out).expect("JSON");
    let upgraded = helm(&world, "upgrade shop chart").expect("helm");
    assert_eq!(upgraded.code, Some(1));
    let words = upgraded.err.lines().filter(|line| line.starts_with("Error:")).collect::<Vec<_>>().join("\n");
    assert_eq!(planned["failure"].as_str(), Some(words.as_str()), "{}", upgraded.err);

    live();
    let line = "ownership hand-over --kubernetes 1.37 --namespace shop -o json live.json --configs next.yaml --to helm";
    let found = world.folder.run(line);
    let found: Value = serde_json::from_str(&found.out).expect("JSON");
    world.request("PATCH", settings, "application/json-patch+json", &found[0]["patch"]);
    let upgraded = helm(&world, "upgrade shop chart").expect("helm");
    assert_eq!(upgraded.code, Some(0), "{}", upgraded.err);
    let after = send(&world.server.address, "GET", settings, "", "").expect("an answer").body;
    assert_eq!(after["data"], json!({"mode": "b"}));
}

#[test]
fn a_cluster_is_read_and_patched() {
    let world = World::new();
    let settings = "/api/v1/namespaces/shop/configmaps/settings";
    let object = |value: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": value, "b": "1"}});
    let media = "application/apply-patch+yaml";
    world.request("PATCH", &format!("{settings}?fieldManager=helm"), media, &object("1"));
    let edit = json!({"data": {"a": "2"}});
    world.request("PATCH", &format!("{settings}?fieldManager=kubectl-edit"), "application/merge-patch+json", &edit);
    world.folder.write(
        "kubeconfig",
        format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: c, cluster: {{server: \"http://{}\"}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c}}}}]\ncurrent-context: c\n",
            world.server.address
        ),
    );
    let run = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubeshape"));
        command.args(line.split_whitespace()).current_dir(world.folder.path(""));
        command.env("KUBECONFIG", world.folder.path("kubeconfig")).env("HOME", world.folder.path(""));
        Run::of(&command.output().expect("kubeshape runs"))
    };
    let report = run("ownership cluster:c --resources cm --namespace shop -o json");
    assert_eq!((report.code, report.err.as_str()), (Some(0), ""));
    let report: Value = serde_json::from_str(&report.out).expect("JSON");
    assert_eq!(report[0]["owners"].as_array().map(Vec::len), Some(2), "{report}");
    let line = "ownership hand-over cluster:c --resources cm --namespace shop --from kubectl-edit --to helm --yes";
    let handed = run(line);
    assert_eq!(handed.code, Some(0), "{}", handed.err);
    assert!(handed.err.contains("ConfigMap shop/settings: patched"), "{}", handed.err);
    world.request("PATCH", &format!("{settings}?fieldManager=helm"), media, &object("3"));
}
