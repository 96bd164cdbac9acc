//! Tests of `kubeshape serve --data`: answered writes are still there after the process was killed.

use crate::common::{Folder, client};
use crate::serve::Server;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WRITERS: usize = 3;
/// The number of times that the process is killed. `KUBESHAPE_KILLS` sets another number.
const ROUNDS: usize = 6;

/// Returns the code and body of an answer, or `None` if it is not complete.
fn send(address: &str, method: &str, path: &str, media: &str, body: &str) -> Option<(u16, Value)> {
    client::send(address, method, path, media, body).map(|answer| (answer.code, answer.body))
}

fn revision(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// The last number that a writer got an answer for, and the revision.
#[derive(Clone, Copy, Default)]
struct Answered {
    number: u64,
    revision: u64,
}

/// Writes numbers until the server has ended.
fn write(address: &str, name: &str, from: Answered, is_over: &AtomicBool) -> Answered {
    let mut told = from;
    if told.revision == 0 {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"n": "0"}});
        let Some((201, created)) = send(address, "POST", CONFIG_MAPS, "application/json", &object.to_string()) else {
            return told;
        };
        told.revision = revision(&created);
    }
    while !is_over.load(Ordering::Relaxed) {
        let patch = json!({"data": {"n": (told.number + 1).to_string()}}).to_string();
        let path = format!("{CONFIG_MAPS}/{name}");
        let Some((200, patched)) = send(address, "PATCH", &path, "application/merge-patch+json", &patch) else { break };
        assert!(revision(&patched) > told.revision, "{patched}");
        told = Answered { number: told.number + 1, revision: revision(&patched) };
    }
    told
}

#[test]
fn answered_writes_survive_killing_the_process() {
    let rounds = std::env::var("KUBESHAPE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let folder = Folder::new();
    let mut told = [Answered::default(); WRITERS];
    let mut seed: u64 = 0x5DEE_CE66;
    for round in 0..rounds {
        let server = Server::start(&folder, "--data objects.db --log-level error");
        let address = server.address.clone();
        for (writer, told) in told.iter_mut().enumerate() {
            let (code, object) = send(&address, "GET", &format!("{CONFIG_MAPS}/w{writer}"), "", "").expect("an answer");
            if told.revision == 0 && code == 404 {
                continue;
            }
            assert_eq!(code, 200, "round {round}: {object}");
            let number: u64 = object["data"]["n"].as_str().and_then(|text| text.parse().ok()).expect("a number");
            // The last write may be stored although it was not answered.
            let last = told.number..=told.number + 1;
            assert!(last.contains(&number), "round {round}: found {number}, expected {last:?}");
            assert!(revision(&object) >= told.revision, "round {round}: revisions went back");
            *told = Answered { number, revision: revision(&object) };
        }
        let (_, list) = send(&address, "GET", CONFIG_MAPS, "", "").expect("an answer");
        assert!(told.iter().all(|told| told.revision <= revision(&list)), "round {round}: {}", list["metadata"]);

        let is_over = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = told
            .iter()
            .enumerate()
            .map(|(writer, told)| {
                let (address, told, is_over) = (address.clone(), *told, Arc::clone(&is_over));
                std::thread::spawn(move || write(&address, &format!("w{writer}"), told, &is_over))
            })
            .collect();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(20 + (seed >> 33) % 150));
        server.kill();
        is_over.store(true, Ordering::Relaxed);
        for (told, writer) in told.iter_mut().zip(writers) {
            *told = writer.join().expect("a writer");
        }
    }
    assert!(told.iter().map(|told| told.number).sum::<u64>() > 0, "nothing was written");
}

#[test]
fn definitions_and_their_objects_survive_a_restart() {
    let folder = Folder::new();
    let tabs = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"size": {"type": "integer", "default": 1}}}}}],
        },
    });
    let tab = json!({"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a"}});
    let path = "/apis/example.com/v1/namespaces/default/tabs";
    let server = Server::start(&folder, "--data objects.db --log-level error");
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let created = send(&server.address, "POST", definitions, "application/json", &tabs.to_string());
    assert_eq!(created.expect("an answer").0, 201);
    // The objects are served immediately, the documents soon afterwards.
    let created = send(&server.address, "POST", path, "application/json", &tab.to_string());
    assert_eq!(created.expect("an answer").0, 201);
    server.until("/openapi/v3/apis/example.com/v1", |code, _| code == 200);
    server.until("/apis/example.com/v1", |code, body| code == 200 && body.contains("\"tabs\""));
    let (_, before) = send(&server.address, "GET", path, "", "").expect("an answer");
    server.kill();

    let server = Server::start(&folder, "--data objects.db --log-level error");
    server.until("/openapi/v3/apis/example.com/v1", |code, _| code == 200);
    let (_, after) = send(&server.address, "GET", path, "", "").expect("an answer");
    assert_eq!(after["items"], before["items"]);
    // Clients continue to watch from where they were.
    let watch = format!("{path}?watch=1&resourceVersion={}&timeoutSeconds=1", revision(&before) - 1);
    let (code, event) = send(&server.address, "GET", &watch, "", "").expect("an answer");
    assert_eq!((code, event["type"].as_str(), &event["object"]["metadata"]["name"]), (200, Some("ADDED"), &json!("a")));
    let deleted = send(&server.address, "DELETE", &format!("{definitions}/tabs.example.com"), "", "");
    assert_eq!(deleted.expect("an answer").0, 200);
    server.until("/openapi/v3", |_, body| !body.contains("apis/example.com/v1"));
    assert_eq!(server.get(path).0, 404);
}

#[test]
fn definitions_of_files_count_again_when_the_files_change() {
    let folder = Folder::new();
    let crd = |description: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: tabs.example.com}}\nspec:\n  \
             group: example.com\n  scope: Cluster\n  names: {{plural: tabs, kind: Tab}}\n  versions:\n  - name: v1\n    \
             served: true\n    storage: true\n    schema: {{openAPIV3Schema: {{type: object, description: {description}}}}}\n"
        )
    };
    folder.write("tabs.yaml", crd("text-a"));
    folder.write("objects/.keep", "");
    let server = Server::start(&folder, "tabs.yaml --objects objects --watch --log-level error");
    let document = "/openapi/v3/apis/example.com/v1";
    assert!(server.get(document).1.contains("text-a"));
    let one = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tabs.example.com";
    let patch =
        r#"[{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/description", "value": "text-b"}]"#;
    let patched = send(&server.address, "PATCH", one, "application/json-patch+json", patch).expect("an answer");
    assert_eq!(patched.0, 200, "{}", patched.1);
    server.until(document, |_, body| body.contains("text-b") && !body.contains("text-a"));
    folder.write("tabs.yaml", crd("text-c"));
    server.until(document, |_, body| body.contains("text-c") && !body.contains("text-b"));
    let (_, stored) = send(&server.address, "GET", one, "", "").expect("an answer");
    assert_eq!(stored["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"], "text-c");
    let deleted = send(&server.address, "DELETE", one, "", "").expect("an answer");
    assert_eq!(deleted.0, 200);
    server.until(document, |code, _| code == 404);
    folder.write("tabs.yaml", crd("text-d"));
    server.until(document, |_, body| body.contains("text-d"));
}

/// Creates config maps.
fn create(server: &Server, names: std::ops::Range<usize>, value: &str) -> Vec<u16> {
    let create = |n: usize| {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("a{n}")}, "data": {"value": format!("{value}-{n}")}
        });
        send(&server.address, "POST", CONFIG_MAPS, "application/json", &object.to_string()).expect("an answer").0
    };
    names.map(create).collect()
}

/// Returns the message of a server that cannot use its file, or `None` if it can.
fn refusal(folder: &Folder) -> Option<(Option<i32>, String)> {
    let arguments = ["serve", "--data", "objects.db", "--listen", "127.0.0.1:0", "--log-level", "error"];
    let mut command = folder.command(&arguments);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("a process");
    let mut first = String::new();
    let out = child.stdout.take().expect("standard output");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut first).expect("a line");
    if first.starts_with("serving on ") {
        child.kill().expect("the process");
        child.wait().expect("the process");
        return None;
    }
    let output = child.wait_with_output().expect("the process");
    let words: Vec<String> = String::from_utf8_lossy(&output.stderr).split_whitespace().map(str::to_owned).collect();
    Some((output.status.code(), words.join(" ")))
}

#[test]
fn a_damaged_file_is_an_error_with_advice() {
    let folder = Folder::new();
    let server = Server::start(&folder, "--data objects.db --log-level error");
    assert_eq!(create(&server, 0..40, "some-value"), [201; 40]);
    let (_, before) = send(&server.address, "GET", CONFIG_MAPS, "", "").expect("an answer");
    server.kill();
    let whole = folder.bytes("objects.db");
    let advice = "put a copy in its place, or move it away and begin without objects";
    // An object that is still valid JSON.
    let text = b"some-value-17";
    let mut damaged = whole.clone();
    let places: Vec<usize> = (0..whole.len() - text.len()).filter(|at| whole[*at..].starts_with(text)).collect();
    assert!(!places.is_empty());
    for at in places {
        damaged[at] ^= 1;
    }
    folder.write("objects.db", &damaged);
    let (code, error) = refusal(&folder).expect("an error");
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("the file is damaged: ") && error.contains(advice), "{error}");
    // Damage at random bytes: either an error with the advice, or all objects are there.
    let mut seed: u64 = 0x5DEE_CE66;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for round in 0..10 {
        let mut damaged = whole.clone();
        for _ in 0..200 {
            let (at, bits) = (random(damaged.len()), random(255) as u8 + 1);
            damaged[at] ^= bits;
        }
        folder.write("objects.db", &damaged);
        if let Some((code, error)) = refusal(&folder) {
            assert_eq!(code, Some(2), "{round}: {error}");
            assert!(error.contains("cannot use objects.db for objects"), "{round}: {error}");
        } else {
            let server = Server::start(&folder, "--data objects.db --log-level error");
            let (_, after) = send(&server.address, "GET", CONFIG_MAPS, "", "").expect("an answer");
            assert_eq!(after["items"], before["items"], "{round}");
        }
    }
    folder.write("objects.db", &whole);
    assert_eq!(refusal(&folder), None);
}

/// Runs on a file system of 48 MiB, if this process may create one.
#[cfg(target_os = "linux")]
#[test]
fn deletions_have_room_on_a_full_disk() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("disk")).expect("a folder");
    let disk = folder.path("disk");
    let Some(server) = Server::start_on_small_disk(&folder, "--data disk/objects.db --log-level error", &disk, 48)
    else {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"not checked: a full disk (this process may not mount)\n",
        );
        return;
    };
    // A ConfigMap holds at most 1 MiB.
    let large = "x".repeat((1 << 20) - 1024);
    let kept = (0..100).take_while(|n| create(&server, *n..n + 1, &large) == [201]).count();
    assert!((2..40).contains(&kept), "{kept}");
    assert_eq!(create(&server, 200..201, &large), [500]);
    server.until("/readyz?verbose", |code, body| code == 500 && body.contains("[-]data failed"));
    for n in 0..kept {
        let deleted = send(&server.address, "DELETE", &format!("{CONFIG_MAPS}/a{n}"), "", "").expect("an answer");
        assert_eq!(deleted.0, 200, "{n}: {}", deleted.1);
    }
    assert_eq!(create(&server, 50..52, "small"), [201; 2]);
    server.until("/readyz", |code, _| code == 200);
}
