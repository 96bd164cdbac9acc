//! The histories in `corpus/ownership`, replayed against `serve --objects` by the tools that they are about: Helm 4,
//! kubectl, client-go and Flux's library. What is predicted is what the tool prints and what it makes of the object. Then
//! the printed hand-over is run, and the same apply succeeds without force.
//!
//! `KUBESHAPE_HELM` and `KUBESHAPE_CONTROLLER` name the programs of `conformance/clients/helm`.

use crate::common::client::{Kubectl, send};
use crate::common::{Folder, Run};
use crate::ownership_tools::{World, bare, histories, options, path};
use kubeshape_ownership::{PlanOptions, Planner, Style};
use kubeshape_registry::{Object, Registry, Time};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

/// The name of the release and of its namespace.
const RELEASE: &str = "shop";

/// Returns the built-in kinds of the histories.
fn built_in() -> Registry {
    let api = kubeshape_builtin::BuiltInDocuments::newest().api();
    let mut registry = Registry::default();
    let wanted = ["api/v1", "apis/apps/v1", "apis/autoscaling/v2", "apis/networking.k8s.io/v1"];
    for (path, document) in api.openapi_v3_of(|path| wanted.contains(&path)) {
        registry
            .set_built_in(path, kubeshape_input::read(path, document.as_bytes(), kubeshape_input::Limits::default()));
    }
    registry
}

/// Who applies next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tool {
    Kubectl,
    Helm,
    ArgoCd,
    Flux,
    ClientGo,
}

impl Tool {
    /// Returns the tool of a manager, unless the history names another one.
    fn of(manager: &str, named: &Value) -> Tool {
        match named.as_str().unwrap_or(manager) {
            "kubectl" => Tool::Kubectl,
            "helm" => Tool::Helm,
            "argocd-controller" => Tool::ArgoCd,
            "kustomize-controller" => Tool::Flux,
            _ => Tool::ClientGo,
        }
    }
}

/// A history, and the object as far as it has happened.
struct Replay<'w> {
    world: &'w World,
    kubectl: &'w Kubectl<'w>,
    registry: &'w Registry,
    programs: &'w (OsString, OsString),
    history: &'w Value,
    path: String,
    /// The release of Helm, and whether it was applied on the server.
    release: Option<bool>,
}

impl Replay<'_> {
    fn next(&self) -> &Value {
        &self.history["next"]["apply"]
    }

    fn manager(&self) -> &str {
        self.history["next"]["manager"].as_str().expect("a manager")
    }

    fn live(&self) -> Value {
        let found = send(&self.world.server.address, "GET", &self.path, "", "").expect("an answer");
        if found.code == 200 { found.body } else { Value::Null }
    }

    /// Runs a program with a kubeconfig and with the wanted kubectl.
    fn run(&self, program: &OsString, line: &str, input: &str, manager: &str) -> Run {
        let folder = &self.world.folder;
        let search = std::env::var_os("PATH").unwrap_or_default();
        let search = std::env::join_paths(std::iter::once(folder.path("bin")).chain(std::env::split_paths(&search)));
        let mut command = Command::new(program);
        command.args(line.split_whitespace()).current_dir(folder.path("")).env("PATH", search.expect("a path"));
        command.env("HOME", folder.path("")).env("KUBECONFIG", folder.path("kubeconfig"));
        command.env("KUBESHAPE_MANAGER", manager).env("KUBE_EDITOR", "sh editor.sh");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let _ = child.stdin.take().expect("standard input").write_all(input.as_bytes());
        Run::of(&child.wait_with_output().expect("the program ends"))
    }

    fn by_kubectl(&self, line: &str, input: &str) -> Run {
        self.run(&Kubectl::program(), line, input, "")
    }

    fn by_controller(&self, verb: &str, manager: &str, flags: &str, object: &Value) -> Run {
        let line = format!("-server http://{} -manager {manager} {flags} {verb}", self.world.server.address);
        self.run(&self.programs.1, &line, &object.to_string(), "")
    }

    /// Applies a chart with one object. `client_side` installs it as Helm 3 does.
    fn by_helm(&mut self, manager: &str, object: &Value, (force, client_side): (bool, bool)) -> Run {
        self.world.folder.write("chart/templates/object.yaml", object.to_string());
        let exists = !self.live().is_null();
        let release = object["metadata"]["annotations"]["meta.helm.sh/release-name"].as_str().unwrap_or(RELEASE);
        let is_own = release == RELEASE;
        let mut line = match self.release.filter(|_| is_own) {
            Some(true) => format!("upgrade {release} chart"),
            Some(false) => format!("upgrade {release} chart --server-side=true"),
            None if exists => format!("install {release} chart --take-ownership"),
            None => format!("install {release} chart"),
        };
        if force {
            line += " --force-conflicts";
        }
        if client_side {
            line += " --server-side=false";
        }
        let run = self.run(&self.programs.0, &line, "", manager);
        // A release that conflicts is stored as a failed one.
        if is_own && (run.code == Some(0) || run.err.contains("conflict occurred")) {
            self.release = Some(!client_side);
        }
        run
    }

    /// Removes the object and the releases.
    fn reset(&mut self) {
        let address = &self.world.server.address;
        send(address, "DELETE", &self.path, "", "");
        let none = json!({"metadata": {"finalizers": null}});
        send(address, "PATCH", &self.path, "application/merge-patch+json", &none.to_string());
        for secret in self.secrets() {
            let name = secret["metadata"]["name"].as_str().expect("a name");
            send(address, "DELETE", &format!("/api/v1/namespaces/shop/secrets/{name}"), "", "");
        }
        self.release = None;
    }

    fn secrets(&self) -> Vec<Value> {
        let found = send(&self.world.server.address, "GET", "/api/v1/namespaces/shop/secrets", "", "");
        found.expect("an answer").body["items"].as_array().cloned().unwrap_or_default()
    }

    /// Makes the steps. Returns the live object.
    fn steps(&mut self) -> Value {
        for step in self.history["steps"].as_array().expect("steps") {
            if !step["set"].is_null() || !step["clientSide"].is_null() {
                self.world.step(self.kubectl, step, &self.path);
                continue;
            }
            let run = self.step(step);
            assert_eq!(run.code, Some(0), "{step}: {}", run.err);
        }
        self.live()
    }

    fn step(&mut self, step: &Value) -> Run {
        let manager = step["manager"].as_str().expect("a manager");
        let force = step["force"] == true;
        let (object, patch) = (&step["apply"], &step["patch"]);
        if !object.is_null() {
            return match manager {
                // A pipeline that applies what `helm template` prints: Helm itself would take over its updates.
                "helm" if self.release == Some(false) => self.by_controller("apply", manager, "-force", object),
                "helm" | "helm-controller" => self.by_helm(manager, object, (force, false)),
                "kubectl" | "argocd-controller" | "kustomize-controller" => {
                    self.by_tool(Tool::of(manager, &Value::Null), object, manager)
                }
                _ => {
                    let force = if force { "-force " } else { "" };
                    self.by_controller("apply", manager, &format!("{force}{}", below(step)), object)
                }
            };
        }
        let exists = !self.live().is_null();
        match manager {
            "helm" if !exists => self.by_helm(manager, patch, (false, true)),
            _ if manager.starts_with("kubectl") => self.by_hand(manager, patch),
            _ => {
                let mut given = patch.clone();
                let of = |key: &str| self.next()[key].clone();
                (given["apiVersion"], given["kind"]) = (of("apiVersion"), of("kind"));
                for key in ["name", "namespace"] {
                    given["metadata"][key] = self.next()["metadata"][key].clone();
                }
                self.by_controller("update", manager, &below(step), &given)
            }
        }
    }

    /// Makes a change with the command of kubectl that owns fields under this name.
    fn by_hand(&self, manager: &str, patch: &Value) -> Run {
        let name = self.next()["metadata"]["name"].as_str().expect("a name");
        let of = format!("{} {name} -n shop", self.next()["kind"].as_str().expect("a kind").to_lowercase());
        let pairs = |map: &Value| -> String {
            let all = map.as_object().expect("a map").iter();
            let words = all.map(|(key, value)| format!("{key}={}", value.as_str().expect("a string")));
            words.collect::<Vec<_>>().join(" ")
        };
        self.world.folder.write("change.json", patch.to_string());
        match manager {
            "kubectl" => self.by_kubectl(&format!("scale {of} --replicas={}", patch["spec"]["replicas"]), ""),
            "kubectl-create" => self.by_kubectl("create -f -", &patch.to_string()),
            "kubectl-edit" => self.by_kubectl(&format!("edit {of}"), ""),
            "kubectl-label" => self.by_kubectl(&format!("label {of} {}", pairs(&patch["metadata"]["labels"])), ""),
            "kubectl-annotate" => {
                self.by_kubectl(&format!("annotate {of} {}", pairs(&patch["metadata"]["annotations"])), "")
            }
            "kubectl-patch" => self.by_kubectl(&format!("patch {of} --type=merge --patch-file change.json"), ""),
            "kubectl-rollout" => self.by_kubectl(&format!("rollout restart {of}"), ""),
            "kubectl-set" => {
                let container = &patch["spec"]["template"]["spec"]["containers"][0];
                let text = |key: &str| container[key].as_str().expect("a string");
                self.by_kubectl(&format!("set image {of} {}={}", text("name"), text("image")), "")
            }
            other => panic!("{other} has no command"),
        }
    }

    /// Applies as a tool does it.
    fn by_tool(&mut self, tool: Tool, object: &Value, manager: &str) -> Run {
        let on_server = format!("apply --server-side --field-manager={manager} -f -");
        match tool {
            Tool::Kubectl => self.by_kubectl(&on_server, &object.to_string()),
            Tool::Helm => self.by_helm(manager, object, (false, false)),
            Tool::ArgoCd => {
                let live = self.live().to_string();
                if live.contains(r#""manager":"kubectl-client-side-apply""#) {
                    let run = self.by_kubectl("apply -f -", &object.to_string());
                    assert_eq!(run.code, Some(0), "{}", run.err);
                }
                self.by_kubectl(&format!("{on_server} --force-conflicts"), &object.to_string())
            }
            Tool::Flux => self.by_controller("flux", manager, "", object),
            Tool::ClientGo => self.by_controller("apply", manager, "", object),
        }
    }

    /// Returns what the plan says.
    fn plan(&self, tool: Tool, live: &Value) -> Value {
        let mut items = vec![live.clone()];
        for mut secret in self.secrets() {
            (secret["apiVersion"], secret["kind"]) = (json!("v1"), json!("Secret"));
            items.push(secret);
        }
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        self.world.folder.write("live.json", list.to_string());
        let manager = self.manager();
        let how = if tool == Tool::Helm {
            self.world.folder.write("chart/templates/object.yaml", self.next().to_string());
            let rendered = self.run(&self.programs.0, "template shop chart", "", "helm");
            self.world.folder.write("next.yaml", &rendered.out);
            if self.release.is_some() { "--helm-release shop" } else { "--helm-install shop --namespace shop" }
        } else {
            self.world.folder.write("next.yaml", self.next().to_string());
            if tool == Tool::Kubectl { "--tool kubectl" } else { "" }
        };
        let line =
            format!("apply --kubernetes 1.37 --plan=json --live live.json --field-manager {manager} {how} next.yaml");
        let run = self.world.folder.run(&line);
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error} {}", run.err))
    }

    /// Returns what the object is after the apply, as predicted; `None` if the apply is refused.
    fn predicted(&self, live: &Value) -> Option<Value> {
        let tool = Tool::of(self.manager(), &self.history["next"]["tool"]);
        let mut options = PlanOptions::new(self.manager(), Time(0));
        if tool == Tool::Kubectl {
            options.style = Style::Kubectl;
        }
        options.release = (tool == Tool::Helm).then(|| (RELEASE.to_owned(), RELEASE.to_owned()));
        options.was_client_side = self.release == Some(false);
        options.installs = tool == Tool::Helm && self.release.is_none();
        let next = Object::from(self.next().clone());
        let mut planner = Planner::new(self.registry, &[Object::from(live.clone())], options);
        let planned = planner.apply(&next, None);
        planned.error.is_none().then(|| planner.live(&next).expect("the object").value().clone())
    }

    /// Applies, and compares with the prediction. Returns whether the apply succeeds.
    fn compare(&mut self, tool: Tool, wrong: &mut Vec<String>) -> bool {
        let live = self.live();
        let plan = self.plan(tool, &live);
        let words = if tool == Tool::Helm { &plan["failure"] } else { &plan["objects"][0]["words"] };
        let words = words.as_str().unwrap_or_default();
        let predicted = self.predicted(&live);
        let (next, manager) = (self.next().clone(), self.manager().to_owned());
        let run = self.by_tool(tool, &next, &manager);
        // A plan does not validate. What a server refuses for that reason is not predicted.
        if run.code != Some(0) && run.err.contains(" is invalid: ") && words.is_empty() {
            return false;
        }
        let error = run.err.find("Error: ").filter(|_| tool == Tool::Helm).and_then(|at| run.err.get(at..));
        let printed = if run.code == Some(0) { "" } else { error.unwrap_or(&run.err).trim_end() };
        if printed != words {
            wrong.push(format!("predicted: {words}\nprinted: {printed}"));
        }
        if let Some(predicted) = predicted.filter(|_| run.code == Some(0)) {
            let mut found = Vec::new();
            differences(&comparable(predicted), &comparable(self.live()), String::new(), &mut found);
            let defaulted = self.history["defaulted"].as_array().cloned().unwrap_or_default();
            found.retain(|(path, _)| !defaulted.iter().any(|known| known == path));
            for (path, what) in found {
                wrong.push(format!("{path}: {what}"));
            }
        }
        run.code == Some(0)
    }

    /// Runs what `hand-over` prints. Returns the JSON of the hand-over; `None` if there is nothing to do.
    fn hand_over(&self, way: &str, wrong: &mut Vec<String>) -> Result<Option<Value>, String> {
        let live = self.live();
        self.world.folder.write("live.json", live.to_string());
        let line = format!(
            "ownership hand-over --kubernetes 1.37 live.json --configs next.yaml --namespace shop --as {way}{}",
            options(&self.history["handOver"], self.manager())
        );
        let json = self.world.folder.run(&format!("{line} -o json"));
        if json.code != Some(0) {
            return Err(json.err);
        }
        let found: Value = serde_json::from_str(&json.out).expect("JSON");
        let Some(found) = found.get(0).cloned() else { return Ok(None) };
        let commands = self.world.folder.run(&line);
        let run = self.run(&"sh".into(), "-e", &commands.out, "");
        if run.code != Some(0) {
            wrong.push(format!("hand-over by {way}: {}\n{}", run.err, commands.out));
        }
        if way == "patch" && bare(self.live()) != bare(live) {
            wrong.push(format!("the patch changes more than owners: {}", commands.out));
        }
        Ok(Some(found))
    }
}

/// Returns the option for the subresource of a step.
fn below(step: &Value) -> String {
    step["subresource"].as_str().map(|name| format!("-subresource {name}")).unwrap_or_default()
}

/// Returns an object without what differs between two runs.
fn comparable(object: Value) -> Value {
    let mut entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    for entry in &mut entries {
        entry.as_object_mut().expect("an entry").remove("time");
    }
    entries.sort_by_key(ToString::to_string);
    let mut object = bare(object);
    object["metadata"]["managedFields"] = entries.into();
    object
}

/// Adds the paths at which two values differ, with both values.
fn differences(predicted: &Value, found: &Value, path: String, out: &mut Vec<(String, String)>) {
    if predicted == found {
        return;
    }
    match (predicted, found) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                differences(&of(a), &of(b), format!("{path}/{key}"), out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differences(a, b, format!("{path}/{at}"), out);
            }
        }
        _ => out.push((path, format!("predicted {predicted}, found {found}"))),
    }
}

/// Returns the conflict that is recorded for a history, from the server's first words on.
fn recorded(name: &str) -> String {
    let file = format!("{}/../corpus/ownership/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).expect("a recorded result");
    let head = text.split("\nhand-over").next().unwrap_or_default().split("\n  ");
    let words = head
        .filter(|part| !part.contains("taken over: "))
        .find_map(|part| part.find("Apply failed with").map(|at| &part[at..]));
    words.unwrap_or_default().trim_end().to_owned()
}

#[test]
fn every_history_is_as_predicted_with_its_tools() {
    let (Some(helm), Some(controller)) = (std::env::var_os("KUBESHAPE_HELM"), std::env::var_os("KUBESHAPE_CONTROLLER"))
    else {
        let _ = writeln!(std::io::stderr(), "skipped: KUBESHAPE_HELM and KUBESHAPE_CONTROLLER name no programs");
        return;
    };
    let programs = (helm, controller);
    let world = World::new();
    let kubectl = Kubectl::find(&world.folder, &world.server.address).expect("kubectl");
    prepare(&world);
    let registry = built_in();
    let only = std::env::var("KUBESHAPE_HISTORY").unwrap_or_default();
    let mut all = Vec::new();
    let (mut conflicts, mut resolved, mut applied) = (0, 0, 0);
    for (name, history) in histories().into_iter().filter(|(name, _)| name.contains(&only)) {
        let next = &history["next"];
        let tool = Tool::of(next["manager"].as_str().expect("a manager"), &next["tool"]);
        let mut replay = Replay {
            world: &world,
            kubectl: &kubectl,
            registry: &registry,
            programs: &programs,
            history: &history,
            path: path(&next["apply"]),
            release: None,
        };
        let mut wrong = Vec::new();
        replay.steps();
        let words = replay.plan(tool, &replay.live())["objects"][0]["words"].as_str().unwrap_or_default().to_owned();
        if !words.contains(&recorded(&name)) || recorded(&name).is_empty() == words.contains("Apply failed") {
            wrong.push(format!("recorded: {}\npredicted here: {words}", recorded(&name)));
        }
        let succeeds = replay.compare(tool, &mut wrong);
        conflicts += usize::from(!succeeds);
        let wanted = history["handOver"]["to"].as_str().is_none_or(|to| next["manager"] == to);
        let mut outcomes = Vec::new();
        for way in ["patch", "applies"] {
            if succeeds || way == "applies" {
                replay.reset();
                replay.steps();
                replay.plan(tool, &replay.live());
            }
            let outcome = match replay.hand_over(way, &mut wrong) {
                Err(why) if why.contains("applies cannot do it: ") => "not possible",
                Err(why) => {
                    wrong.push(format!("hand-over by {way}: {why}"));
                    "refused"
                }
                Ok(None) => "nothing to do",
                Ok(Some(_)) => {
                    let again = replay.compare(tool, &mut wrong);
                    if wanted && !again {
                        wrong.push(format!("after the hand-over by {way}, the apply fails"));
                    }
                    resolved += usize::from(way == "patch" && again && !succeeds);
                    applied += usize::from(way == "applies");
                    "done"
                }
            };
            outcomes.push(format!("{way}: {outcome}"));
        }
        replay.reset();
        let is = if wrong.is_empty() { "equal" } else { "differs" };
        let result = if succeeds { "succeeds" } else { "is refused" };
        let _ = writeln!(std::io::stderr(), "{is}: {name}, {tool:?} {result}; {}", outcomes.join(", "));
        all.extend(wrong.into_iter().map(|wrong| format!("{name}: {wrong}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    assert!(!only.is_empty() || conflicts >= 20 && resolved >= 18 && applied >= 15, "{conflicts} {resolved} {applied}");
}

/// Writes what the programs read.
fn prepare(world: &World) {
    let folder: &Folder = &world.folder;
    for name in ["chart/templates", "bin"] {
        std::fs::create_dir_all(folder.path(name)).expect("a folder");
    }
    folder.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n");
    folder.write(
        "kubeconfig",
        format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: c, cluster: {{server: \"http://{}\"}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, namespace: shop}}}}]\ncurrent-context: c\n",
            world.server.address
        ),
    );
    // Saves a changed object, as an editor does.
    let merge = "kubectl patch --local -f \"$1\" --type=merge --patch-file change.json -o yaml";
    folder.write("editor.sh", format!("{merge} > edited.yaml && cp edited.yaml \"$1\"\n"));
    let program = Kubectl::program();
    if std::path::Path::new(&program).is_absolute() {
        folder.write("bin/kubectl", format!("#!/bin/sh\nexec '{}' \"$@\"\n", program.display()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let all = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(folder.path("bin/kubectl"), all).expect("permissions");
        }
    }
}
