//! Tests of `kubeshape serve --objects DIR --write-back`: the folder mirrors the objects.

use crate::common::Folder;
use crate::common::client::{Answer, send};
use crate::serve::{Server, crd};
use serde_json::json;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn start(folder: &Folder) -> Server {
    Server::start(folder, "crds --objects objects --write-back --log-level error")
}

#[track_caller]
fn ask(server: &Server, method: &str, path: &str, body: &str) -> Answer {
    let media = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let answer = send(&server.address, method, path, media, body).expect("an answer");
    assert!(answer.code < 300, "{method} {path}: {answer:?}");
    answer
}

fn map(name: &str, value: &str) -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": value}}).to_string()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crds/a.yaml", crd("a.example.com", "teeth"));
    std::fs::create_dir(folder.path("objects")).expect("a folder");
    folder
}

#[test]
fn each_object_has_a_readable_file_that_mirrors_it() {
    let folder = folder();
    let server = start(&folder);
    // Nothing is written before a client writes, because definitions of inputs already have their files.
    assert_eq!(folder.names("objects"), Vec::<String>::new());
    ask(&server, "POST", MAPS, &map("b", "1"));
    let file = "configmaps__v1/default/b.yaml";
    assert_eq!(folder.names("objects"), [file]);
    let text = folder.read(&format!("objects/{file}"));
    assert!(text.starts_with("apiVersion: v1\ndata:\n  a: \"1\"\nkind: ConfigMap\nmetadata:\n"), "{text}");
    assert!(text.contains("  name: b\n") && !text.contains("resourceVersion"), "{text}");
    ask(&server, "PATCH", &format!("{MAPS}/b"), r#"{"data":{"a":"2"}}"#);
    assert!(folder.read(&format!("objects/{file}")).contains("  a: \"2\"\n"));
    // A dry run and a request that changes nothing write nothing.
    let before = folder.read(&format!("objects/{file}"));
    ask(&server, "PATCH", &format!("{MAPS}/b?dryRun=All"), r#"{"data":{"a":"3"}}"#);
    ask(&server, "PATCH", &format!("{MAPS}/b"), r#"{"data":{"a":"2"}}"#);
    assert_eq!(folder.read(&format!("objects/{file}")), before);
    let uid = ask(&server, "GET", &format!("{MAPS}/b"), "").body["metadata"]["uid"].clone();
    server.kill();

    let server = start(&folder);
    let found = ask(&server, "GET", &format!("{MAPS}/b"), "").body;
    assert_eq!((&found["data"]["a"], &found["metadata"]["uid"]), (&json!("2"), &uid));
    ask(&server, "POST", MAPS, &map("c", "1"));
    ask(&server, "DELETE", &format!("{MAPS}/b"), "");
    assert_eq!(folder.names("objects"), ["configmaps__v1/default/c.yaml"]);
    ask(&server, "DELETE", MAPS, "");
    assert_eq!(folder.names("objects"), Vec::<String>::new());
    assert!(!folder.path("objects/configmaps__v1").exists());
}

#[test]
fn an_object_stays_in_its_original_file() {
    let folder = folder();
    folder.write("objects/mine.yaml", format!("# A comment.\n{}", map("b", "1")));
    folder.write("objects/mine.json", map("c", "1"));
    let server = start(&folder);
    assert!(folder.read("objects/mine.yaml").starts_with("# A comment.\n"));
    ask(&server, "PATCH", &format!("{MAPS}/b"), r#"{"data":{"a":"2"}}"#);
    ask(&server, "PATCH", &format!("{MAPS}/c"), r#"{"data":{"a":"2"}}"#);
    assert_eq!(folder.names("objects"), ["mine.json", "mine.yaml"]);
    assert!(folder.read("objects/mine.yaml").contains("  a: \"2\"\n"));
    assert!(folder.read("objects/mine.json").contains("\"a\": \"2\""));
    ask(&server, "DELETE", &format!("{MAPS}/b"), "");
    assert_eq!(folder.names("objects"), ["mine.json"]);
}

#[test]
fn definitions_of_clients_and_their_objects_are_written_and_deleted() {
    let folder = folder();
    let server = start(&folder);
    let text = crd("b.example.com", "teeth");
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let answer = send(&server.address, "POST", definitions, "application/yaml", &text).expect("an answer");
    assert_eq!(answer.code, 201, "{answer:?}");
    let (name, group) = (answer.body["metadata"]["name"].clone(), answer.body["spec"]["group"].clone());
    let (name, group) = (name.as_str().expect("a name"), group.as_str().expect("a group"));
    let plural = answer.body["spec"]["names"]["plural"].as_str().expect("a plural").to_owned();
    let kind = answer.body["spec"]["names"]["kind"].clone();
    let version = answer.body["spec"]["versions"][0]["name"].as_str().expect("a version").to_owned();
    let namespaced = answer.body["spec"]["scope"] == "Namespaced";
    let object = json!({"apiVersion": format!("{group}/{version}"), "kind": kind, "metadata": {"name": "x"}});
    let within = if namespaced { "/namespaces/default" } else { "" };
    ask(&server, "POST", &format!("/apis/{group}/{version}{within}/{plural}"), &object.to_string());
    let place = if namespaced { "default/x.yaml" } else { "x.yaml" };
    let files = [format!("customresourcedefinitions.apiextensions.k8s.io/{name}.yaml"), format!("{name}/{place}")];
    assert_eq!(folder.names("objects"), files);
    server.kill();
    let server = start(&folder);
    ask(&server, "GET", &format!("/apis/{group}/{version}{within}/{plural}/x"), "");
    ask(&server, "DELETE", &format!("{definitions}/{name}"), "");
    assert_eq!(folder.names("objects"), Vec::<String>::new());
}

#[test]
#[cfg(unix)]
fn hostile_names_and_planted_links_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let folder = folder();
    std::fs::create_dir(folder.path("elsewhere")).expect("a folder");
    folder.write("elsewhere/b.yaml", "mine");
    let server = start(&folder);
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let role = |name: &str| json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}});
    for name in ["system:Node", "system:node", "a b\\c\u{1b}[31m", &"x".repeat(200)] {
        ask(&server, "POST", roles, &role(name).to_string());
    }
    let names = folder.names("objects");
    assert!(names.iter().all(|name| name.is_ascii() && !name.contains([':', '\\', ' ', '\u{1b}'])), "{names:?}");
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(
        names.contains(&"clusterroles__rbac.authorization.k8s.io__v1/system%3A%4Eode.yaml".to_owned()),
        "{names:?}"
    );

    // A folder that is a link, and something else with the name of a file.
    std::fs::create_dir_all(folder.path("objects/configmaps__v1")).expect("a folder");
    symlink(folder.path("elsewhere"), folder.path("objects/configmaps__v1/default")).expect("a link");
    let answer = send(&server.address, "POST", MAPS, "application/json", &map("b", "1")).expect("an answer");
    assert_eq!(answer.code, 500, "{answer:?}");
    let answer = send(&server.address, "POST", MAPS, "application/json", &map("new", "1")).expect("an answer");
    assert_eq!(answer.code, 500, "{answer:?}");
    assert_eq!(folder.names("elsewhere"), ["b.yaml"]);
    assert_eq!(folder.read("elsewhere/b.yaml"), "mine");
    let answer = send(&server.address, "GET", &format!("{MAPS}/new"), "", "").expect("an answer");
    assert_eq!(answer.code, 404, "{answer:?}");
    std::fs::remove_file(folder.path("objects/configmaps__v1/default")).expect("the link goes");
    folder.write("objects/configmaps__v1/default/c.yaml", "mine");
    let answer = send(&server.address, "POST", MAPS, "application/json", &map("c", "1")).expect("an answer");
    assert_eq!(answer.code, 500, "{answer:?}");
    assert_eq!(folder.read("objects/configmaps__v1/default/c.yaml"), "mine");
    // The others are written anyway, and no temporary file is left.
    ask(&server, "POST", MAPS, &map("d", "1"));
    let left = std::fs::read_dir(folder.path("objects/configmaps__v1/default")).expect("a folder");
    let mut left: Vec<String> = left.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    left.sort();
    assert_eq!(left, ["c.yaml", "d.yaml"]);
}

#[test]
fn a_folder_that_cannot_mirror_objects_is_refused() {
    let folder = folder();
    folder.write("objects/two.yaml", format!("{}\n---\n{}", map("b", "1"), map("c", "1")));
    let before = folder.read("objects/two.yaml");
    let line = "serve crds --objects objects --write-back --listen 127.0.0.1:0";
    folder.run(line).says(2, &["two.yaml: found 2 objects, expected one"]);
    assert_eq!(folder.read("objects/two.yaml"), before);
    folder.run("serve crds --write-back").says(2, &["--objects"]);
    folder.run("serve crds --objects crds --objects objects --write-back").says(2, &["give --objects once"]);
    folder.run("serve crds --objects objects/two.yaml --write-back").says(2, &["and objects/two.yaml is none"]);
    folder.run("serve crds --objects objects --write-back --data x.db").says(2, &["cannot be used with"]);
}

#[test]
fn a_definition_of_the_inputs_counts_and_can_be_changed_again() {
    let folder = folder();
    let server = start(&folder);
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let list = ask(&server, "GET", definitions, "").body;
    let name = list["items"][0]["metadata"]["name"].as_str().expect("a name").to_owned();
    let file = format!("objects/customresourcedefinitions.apiextensions.k8s.io/{name}.yaml");
    let label = |server: &Server, value: &str| {
        let patch = json!({"metadata": {"labels": {"a": value}}}).to_string();
        ask(server, "PATCH", &format!("{definitions}/{name}"), &patch);
        let text = folder.read(&file);
        assert!(text.contains(&format!("  labels:\n    a: {value}\n")), "{text}");
    };
    label(&server, "first");
    server.kill();
    let server = start(&folder);
    let found = ask(&server, "GET", &format!("{definitions}/{name}"), "").body;
    assert_eq!(found["metadata"]["labels"], serde_json::Value::Null);
    label(&server, "second");
}

/// The number of times that the server is killed. `KUBESHAPE_KILLS` sets another number.
const KILLS: usize = 4;

/// What a writer got answers for: the last number, and an object that is created and deleted in turn.
#[derive(Clone, Debug, Default)]
struct Told {
    number: u64,
    /// The number of the last created object, and whether it was deleted again.
    last: (u64, bool),
}

/// Writes until the server has ended: numbers into one object, and objects that are created and deleted.
fn write_until_killed(address: &str, name: &str, mut told: Told) -> Told {
    let media = "application/merge-patch+json";
    loop {
        let next = told.number + 1;
        let patch = json!({"data": {"a": next.to_string()}}).to_string();
        match send(address, "PATCH", &format!("{MAPS}/{name}"), media, &patch) {
            Some(answer) if answer.code == 200 => told.number = next,
            _ => return told,
        }
        let (method, path, number) = match told.last {
            (number, false) => ("DELETE", format!("{MAPS}/{name}-{number}"), number),
            (number, true) => ("POST", MAPS.to_owned(), number + 1),
        };
        let body = if method == "POST" { map(&format!("{name}-{number}"), "new") } else { String::new() };
        match send(address, method, &path, "application/json", &body) {
            Some(answer) if answer.code < 300 => told.last = (number, method == "DELETE"),
            _ => return told,
        }
    }
}

#[test]
fn answered_writes_are_in_the_folder_after_the_process_was_killed() {
    let rounds = std::env::var("KUBESHAPE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let folder = folder();
    let names = ["w0", "w1"];
    let server = start(&folder);
    for name in names {
        ask(&server, "POST", MAPS, &map(name, "0"));
        ask(&server, "POST", MAPS, &map(&format!("{name}-0"), "new"));
    }
    server.kill();
    let mut told = names.map(|_| Told::default());
    let mut seed: u64 = 0x5DEE_CE66;
    for round in 0..rounds {
        // A server starts with these files, so no file has half an object or comes from an incomplete write.
        let server = start(&folder);
        for (name, told) in names.iter().zip(&mut told) {
            let found = ask(&server, "GET", &format!("{MAPS}/{name}"), "").body;
            let number = found["data"]["a"].as_str().and_then(|text| text.parse().ok()).expect("a number");
            // The last write may be there although it was not answered.
            assert!((told.number..=told.number + 1).contains(&number), "round {round}: {number} after {told:?}");
            told.number = number;
            let code = |number: u64| {
                send(&server.address, "GET", &format!("{MAPS}/{name}-{number}"), "", "").expect("an answer").code
            };
            let (last, is_deleted) = told.last;
            told.last = match (is_deleted, code(last), code(last + 1)) {
                (_, 404, 404) => (last, true),
                (false, 200, 404) => (last, false),
                (true, 404, 200) => (last + 1, false),
                found => panic!("round {round}: {found:?} after {told:?}"),
            };
        }
        let address = server.address.clone();
        let writers = names.iter().zip(&told).map(|(name, told)| {
            let (address, name, told) = (address.clone(), (*name).to_owned(), told.clone());
            std::thread::spawn(move || write_until_killed(&address, &name, told))
        });
        let writers: Vec<_> = writers.collect();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(std::time::Duration::from_millis(20 + (seed >> 33) % 150));
        server.kill();
        for (told, writer) in told.iter_mut().zip(writers) {
            *told = writer.join().expect("a writer");
        }
    }
    assert!(told.iter().map(|told| told.number).sum::<u64>() > 0, "nothing was written");
    let server = start(&folder);
    ask(&server, "DELETE", MAPS, "");
    server.kill();
    // A new temporary file may belong to another process. Old ones are deleted.
    folder.write("objects/.kubeshape-old.tmp", "");
    for name in folder.names("objects") {
        assert!(name.rsplit('/').next().is_some_and(|name| name.starts_with(".kubeshape-")), "{name}");
        let file = std::fs::File::options().append(true).open(folder.path(&format!("objects/{name}"))).expect("a file");
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_hours(2)).expect("a time");
    }
    folder.write("objects/.kubeshape-another.tmp", "");
    let _server = start(&folder);
    assert_eq!(folder.names("objects"), [".kubeshape-another.tmp"]);
}

#[cfg(unix)]
#[test]
fn files_of_secrets_are_only_readable_by_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let server = start(&folder);
    let secret = |name: &str, value: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"a": value}})
            .to_string()
    };
    let secrets = "/api/v1/namespaces/default/secrets";
    ask(&server, "POST", secrets, &secret("s", "1"));
    ask(&server, "POST", MAPS, &map("m", "1"));
    let mode = |name: &str| {
        let file = folder.path(&format!("objects/{name}"));
        std::fs::metadata(file).expect("a file").permissions().mode() & 0o777
    };
    std::fs::write(folder.path("usual"), "").expect("a file");
    let usual = std::fs::metadata(folder.path("usual")).expect("a file").permissions().mode() & 0o777;
    assert_eq!((mode("secrets__v1/default/s.yaml"), mode("configmaps__v1/default/m.yaml")), (0o600, usual));
    ask(&server, "PATCH", &format!("{secrets}/s"), r#"{"data":{"b":"MQ=="}}"#);
    assert_eq!(mode("secrets__v1/default/s.yaml"), 0o600);
    // A file keeps other permissions that its user has set.
    let file = folder.path("objects/secrets__v1/default/s.yaml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("permissions");
    ask(&server, "PATCH", &format!("{secrets}/s"), r#"{"data":{"b":"Mg=="}}"#);
    assert_eq!(mode("secrets__v1/default/s.yaml"), 0o640);
}

#[test]
fn an_answer_names_no_file_of_the_server() {
    let folder = folder();
    let server = start(&folder);
    // Something else has the name of the file.
    folder.write("objects/configmaps__v1/default/b.yaml", "kind: X\n");
    let answer = send(&server.address, "POST", MAPS, "application/json", &map("b", "1")).expect("an answer");
    assert_eq!(answer.code, 500);
    assert_eq!(answer.body["message"], "the change is not stored; the log of the server has the reason");
}
