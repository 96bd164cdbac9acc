//! Tests of worlds of `kubeshape serve`: independent objects at ports of their own in one process.

use crate::common::Folder;
use crate::common::client::{self, Answer};
use crate::serve::{Server, crd};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const POLICY_BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
/// Much longer than any step takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// The greatest number of worlds.
const MOST: usize = 256;

fn send(address: &str, method: &str, path: &str, body: &Value) -> Answer {
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    client::send(address, method, path, kind, &text).unwrap_or_else(|| panic!("no answer to {method} {path}"))
}

#[track_caller]
fn done(address: &str, method: &str, path: &str, body: &Value) -> Value {
    let answer = send(address, method, path, body);
    assert!(answer.code < 300, "{method} {path}: {}", answer.body);
    answer.body
}

#[track_caller]
fn refused(address: &str, method: &str, path: &str, body: &Value) -> (u16, String) {
    let answer = send(address, method, path, body);
    assert!(answer.code >= 400, "{method} {path}: {}", answer.body);
    assert_eq!(answer.body["code"], answer.code);
    (answer.code, answer.body["message"].as_str().expect("a message").to_owned())
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"k": "v"}})
}

fn create(address: &str, name: &str) -> Value {
    done(address, "POST", MAPS, &map(name))
}

fn names(address: &str) -> String {
    let list = done(address, "GET", MAPS, &Value::Null);
    let names = list["items"].as_array().expect("items").iter().map(|item| item["metadata"]["name"].as_str());
    names.map(Option::unwrap_or_default).collect::<Vec<_>>().join(" ")
}

/// A world: its name and the address of its port.
struct World {
    name: String,
    address: String,
}

impl World {
    #[track_caller]
    fn of(server: &Server, body: &Value) -> World {
        let made = done(&server.address, "POST", "/kubeshape/worlds", body);
        let text = |name: &str| made[name].as_str().expect("a string").to_owned();
        let address = text("url").strip_prefix("http://").expect("an address").to_owned();
        World { name: text("world"), address }
    }

    fn end(&self, server: &Server) -> Answer {
        send(&server.address, "DELETE", &format!("/kubeshape/worlds/{}", self.name), &Value::Null)
    }

    fn is_closed(&self) -> bool {
        TcpStream::connect(&self.address).is_err()
    }
}

fn snapshot(address: &str) -> u64 {
    done(address, "POST", "/kubeshape/snapshot", &Value::Null)["snapshot"].as_u64().expect("a number")
}

fn start(folder: &Folder, more: &str) -> Server {
    folder.write("crds/gears.yaml", crd("a.example.com", "one")).write("objects/map.yaml", map_of_file());
    Server::start(folder, &format!("crds --objects objects --log-level error {more}"))
}

fn map_of_file() -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "first", "namespace": "default"}}).to_string()
}

#[test]
fn what_happens_in_a_world_stays_there() {
    let folder = Folder::new();
    let server = start(&folder, "--clock manual");
    let own = &server.address;
    create(own, "prepared");
    let state = snapshot(own);
    create(own, "later");
    let (one, other) = (World::of(&server, &json!({"snapshot": state})), World::of(&server, &Value::Null));
    assert_eq!((names(&one.address).as_str(), names(&other.address).as_str()), ("first prepared", "first"));
    // Objects and revisions.
    create(&one.address, "a");
    done(&one.address, "DELETE", &format!("{MAPS}/first"), &Value::Null);
    assert_eq!(
        [names(&one.address), names(&other.address), names(own)],
        ["a prepared", "first", "first later prepared"]
    );
    // The clock.
    done(&one.address, "POST", "/kubeshape/clock", &json!({"unixSeconds": 1_000_000_000}));
    let made = create(&one.address, "b");
    assert_eq!(made["metadata"]["creationTimestamp"], "2001-09-09T01:46:40Z");
    assert_ne!(create(own, "c")["metadata"]["creationTimestamp"], "2001-09-09T01:46:40Z");
    // Its states: a number names a state of one world.
    let in_one = snapshot(&one.address);
    create(&one.address, "d");
    assert_ne!(in_one, state);
    for elsewhere in [own, &other.address] {
        let answer = refused(elsewhere, "POST", "/kubeshape/restore", &json!({"snapshot": in_one}));
        assert_eq!(answer, (404, format!("there is no snapshot {in_one}")));
    }
    done(&one.address, "POST", "/kubeshape/restore", &json!({"snapshot": in_one}));
    assert_eq!(names(&one.address), "a b prepared");
    done(&one.address, "POST", "/kubeshape/restore", &json!({"snapshot": 0}));
    assert_eq!(names(&one.address), "first prepared");
    done(own, "POST", "/kubeshape/restore", &json!({"snapshot": 0}));
    assert_eq!(names(own), "first");
    // The list has both.
    let listed = done(own, "GET", "/kubeshape/worlds", &Value::Null);
    assert_eq!(listed["worlds"].as_array().map(Vec::len), Some(2));
    assert!(listed["worlds"][0]["url"].as_str().expect("an address").ends_with(&one.address));
}

/// Returns the code of an answer, whose body may be no JSON.
fn code(address: &str, path: &str) -> u16 {
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.get(9..12).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{path}: {answer}"))
}

/// Whether discovery and OpenAPI have a group.
fn publishes(address: &str, group: &str) -> bool {
    let groups = done(address, "GET", "/apis", &Value::Null);
    let found = groups["groups"].as_array().expect("groups").iter().any(|one| one["name"] == group);
    let index = done(address, "GET", "/openapi/v3", &Value::Null);
    assert_eq!(code(address, &format!("/apis/{group}/v1")) == 200, found, "{group}");
    assert_eq!(index["paths"].get(format!("apis/{group}/v1")).is_some(), found, "{group}");
    found
}

fn definition(group: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("tabs.{group}")},
        "spec": {
            "group": group, "scope": "Cluster", "names": {"plural": "tabs", "kind": "Tab"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    })
}

#[test]
fn definitions_are_those_of_the_world_and_are_published_at_once() {
    let folder = Folder::new();
    let server = start(&folder, "");
    let own = &server.address;
    done(own, "POST", CRDS, &definition("b.example.com"));
    assert!(publishes(own, "b.example.com"));
    let with = snapshot(own);
    done(own, "DELETE", &format!("{CRDS}/tabs.b.example.com"), &Value::Null);
    assert!(!publishes(own, "b.example.com"));
    // From a state with another definition, and from the start.
    let (one, other) = (World::of(&server, &json!({"snapshot": with})), World::of(&server, &Value::Null));
    for (address, expected) in [(&one.address, [true, true]), (&other.address, [true, false])] {
        assert_eq!([publishes(address, "a.example.com"), publishes(address, "b.example.com")], expected);
        assert_eq!(code(address, "/apis/b.example.com/v1/tabs"), if expected[1] { 200 } else { 404 });
    }
    done(&one.address, "DELETE", &format!("{CRDS}/tabs.b.example.com"), &Value::Null);
    assert!(!publishes(&one.address, "b.example.com"));
    // Discovery has each definition as soon as it is answered, in the server and in a world.
    for n in 0..20 {
        let group = format!("g{n}.example.com");
        for address in [own, &other.address] {
            done(address, "POST", CRDS, &definition(&group));
            assert_eq!(code(address, &format!("/apis/{group}/v1")), 200, "{group}");
        }
        assert!(!publishes(&one.address, &group));
    }
}

fn policy(expression: &str) -> Value {
    json!({
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]},
            ]},
            "validations": [{"expression": expression}],
        },
    })
}

/// Policies are compiled once for each revision. Two worlds have the same revisions, and other policies.
#[test]
fn policies_with_the_same_revisions_are_not_confused() {
    let folder = Folder::new();
    let server = start(&folder, "");
    let (one, other) = (World::of(&server, &Value::Null), World::of(&server, &Value::Null));
    let bound = json!({"metadata": {"name": "p"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}});
    let mut revisions = Vec::new();
    for (world, expression) in [(&one, "object.metadata.name != 'x'"), (&other, "object.metadata.name != 'y'")] {
        let made = done(&world.address, "POST", POLICIES, &policy(expression));
        revisions.push(made["metadata"]["resourceVersion"].clone());
        done(&world.address, "POST", POLICY_BINDINGS, &bound);
    }
    assert_eq!(revisions[0], revisions[1]);
    let codes = |world: &World| ["x", "y"].map(|name| send(&world.address, "POST", MAPS, &map(name)).code);
    assert_eq!([codes(&one), codes(&other)], [[422, 201], [201, 422]]);
    create(&server.address, "x");
}

#[test]
fn wrong_requests_say_what_is_expected() {
    let folder = Folder::new();
    let server = start(&folder, "");
    let own = &server.address;
    let expected = "expected {} or {\"snapshot\": NUMBER}";
    for body in [json!({"snapshot": "1"}), json!({"snapshot": -1}), json!([]), json!({"name": "x".repeat(3000)})] {
        assert_eq!(refused(own, "POST", "/kubeshape/worlds", &body), (400, expected.to_owned()), "{body}");
    }
    assert_eq!(refused(own, "POST", "/kubeshape/worlds", &json!({"name": "x".repeat(5000)})).0, 413);
    assert_eq!(
        refused(own, "POST", "/kubeshape/worlds", &json!({"snapshot": 7})),
        (404, "there is no snapshot 7".to_owned())
    );
    assert_eq!(refused(own, "PUT", "/kubeshape/worlds", &Value::Null), (405, "expected GET or POST".to_owned()));
    assert_eq!(refused(own, "GET", "/kubeshape/worlds/w1", &Value::Null), (405, "expected DELETE".to_owned()));
    let long = format!("/kubeshape/worlds/{}", "x".repeat(10_000));
    let (code, message) = refused(own, "DELETE", &long, &Value::Null);
    assert!(code == 404 && message.len() < 60, "{message}");
    let world = World::of(&server, &json!({}));
    let (code, message) = refused(&world.address, "POST", "/kubeshape/worlds", &Value::Null);
    assert!(code == 404 && message.contains("not in a world"), "{message}");
    assert_eq!(refused(&world.address, "DELETE", "/kubeshape/worlds/w1", &Value::Null).0, 404);
    assert_eq!(world.end(&server).code, 200);
    assert_eq!(world.end(&server).code, 404);
    assert!(world.is_closed());
    let off = Server::start(&folder, "crds --objects objects --extensions off");
    assert_eq!(off.get("/kubeshape/worlds").0, 404);
}

#[test]
fn watches_and_requests_end_with_their_world() {
    let folder = Folder::new();
    let server = start(&folder, "");
    let world = World::of(&server, &Value::Null);
    let mut watches: Vec<TcpStream> = [&world.address, &server.address]
        .map(|address| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            let request = format!("GET {MAPS}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("sent");
            stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
            let mut buffer = [0; 4096];
            let mut got = String::new();
            while !got.contains("first") {
                let n = stream.read(&mut buffer).expect("an event");
                assert!(n > 0, "{got}");
                got.push_str(&String::from_utf8_lossy(&buffer[..n]));
            }
            stream
        })
        .into();
    // A request that never gets its body.
    let mut stuck = TcpStream::connect(&world.address).expect("a connection");
    let head = format!("POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n");
    stuck.write_all(head.as_bytes()).expect("sent");
    let began = Instant::now();
    assert_eq!(world.end(&server).code, 200);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(world.is_closed());
    let mut rest = String::new();
    watches.remove(0).read_to_string(&mut rest).expect("the end of the watch");
    // That of the server goes on.
    create(&server.address, "next");
    let mut buffer = [0; 4096];
    let n = watches[0].read(&mut buffer).expect("an event");
    assert!(String::from_utf8_lossy(&buffer[..n]).contains("next"));
}

#[test]
fn there_are_only_so_many_worlds() {
    let folder = Folder::new();
    let server = start(&folder, "");
    let mut worlds: Vec<World> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..100).map(|_| scope.spawn(|| World::of(&server, &Value::Null))).collect();
        all.into_iter().map(|one| one.join().expect("a world")).collect()
    });
    while worlds.len() < MOST {
        worlds.push(World::of(&server, &Value::Null));
    }
    let (code, message) = refused(&server.address, "POST", "/kubeshape/worlds", &Value::Null);
    assert_eq!((code, message.starts_with("there are 256 worlds: end one with DELETE")), (429, true), "{message}");
    let addresses: std::collections::BTreeSet<&str> = worlds.iter().map(|world| world.address.as_str()).collect();
    assert_eq!(addresses.len(), MOST);
    for world in [&worlds[0], &worlds[99], &worlds[255]] {
        create(&world.address, &world.name);
        assert_eq!(names(&world.address), format!("first {}", world.name));
    }
    assert_eq!(worlds[7].end(&server).code, 200);
    World::of(&server, &Value::Null);
}

#[test]
fn all_worlds_together_have_so_much_memory() {
    /// The bytes of the objects that worlds begin with, almost.
    const SHARED: usize = 30 << 20;
    let folder = Folder::new();
    let server = start(&folder, "");
    for n in 0..30 {
        let name = format!("large{n}");
        let large = json!({"metadata": {"name": name}, "data": {"k": "x".repeat(SHARED / 30)}});
        done(&server.address, "POST", MAPS, &large);
    }
    let state = snapshot(&server.address);
    let body = json!({"snapshot": state});
    let worlds: Vec<World> = (0..(2 << 30) / SHARED - 1).map(|_| World::of(&server, &body)).collect();
    let (one, other) = (&worlds[0].address, &worlds[1].address);
    // There is room for less than two more. A definition takes nine times its bytes: what is derived from it counts.
    let mut long = definition("large.example.com");
    let schema = &mut long["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["description"] = "x".repeat(1_200_000).into();
    for at in 0..4 {
        long["metadata"]["name"] = format!("tabs.{at}.example.com").into();
        long["spec"]["group"] = format!("{at}.example.com").into();
        done(one, "POST", CRDS, &long);
    }
    for address in [one, other] {
        let (code, message) = refused(address, "POST", MAPS, &map("more"));
        assert_eq!(code, 500, "{message}");
        assert!(message.contains("all worlds together have more than 2147483648 bytes"), "{message}");
    }
    let (code, message) = refused(&server.address, "POST", "/kubeshape/worlds", &body);
    assert!(code == 429 && message.starts_with("all worlds together have at most 2 GiB of objects"), "{message}");
    // The server itself is not concerned, and what makes room is possible.
    create(&server.address, "more");
    done(other, "DELETE", &format!("{MAPS}/large0"), &Value::Null);
    for at in 0..4 {
        done(one, "DELETE", &format!("{CRDS}/tabs.{at}.example.com"), &Value::Null);
    }
    create(one, "more");
    assert_eq!(worlds[2].end(&server).code, 200);
    World::of(&server, &body);
}

/// Returns the threads, descriptors and KiB of memory of the process.
#[cfg(target_os = "linux")]
fn used(server: &Server) -> (usize, usize, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("a status");
    let figure = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a figure");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
    };
    let files = std::fs::read_dir(format!("/proc/{}/fd", server.id())).expect("descriptors").count();
    (figure("Threads:") as usize, files, figure("VmRSS:"))
}

#[test]
#[cfg(target_os = "linux")]
fn ended_worlds_leave_nothing_behind() {
    /// The memory in KiB that may remain.
    const LEFT: u64 = 24 << 10;
    /// With `KUBESHAPE_ALL`.
    const ROUNDS: usize = 200;
    let folder = Folder::new();
    let server = start(&folder, "");
    let state = snapshot(&server.address);
    let large = json!({"metadata": {"name": "large"}, "data": {"k": "x".repeat(500_000)}});
    let one = |n: usize| {
        let world = World::of(&server, &json!({"snapshot": state}));
        for name in ["a", "b", "c", "d"] {
            create(&world.address, name);
        }
        done(&world.address, "POST", MAPS, &large);
        done(&world.address, "POST", CRDS, &definition(&format!("w{n}.example.com")));
        assert_eq!(send(&world.address, "GET", "/openapi/v3", &Value::Null).code, 200);
        snapshot(&world.address);
        let mut watch = TcpStream::connect(&world.address).expect("a connection");
        write!(watch, "GET {MAPS}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
        assert_eq!(world.end(&server).code, 200);
        assert!(world.is_closed());
    };
    (0..40).for_each(one);
    let before = used(&server);
    (0..ROUNDS / kubeshape_corpus::one_in(4)).for_each(one);
    let began = Instant::now();
    loop {
        let (threads, files, memory) = used(&server);
        // Threads of the runtime end some seconds after their last work.
        if threads <= before.0 + 2 && files <= before.1 + 1 && memory <= before.2 + LEFT {
            break;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{threads} threads, {files} files, {memory} KiB: {before:?}");
        assert_eq!(server.get("/livez").0, 200);
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(done(&server.address, "GET", "/kubeshape/worlds", &Value::Null)["worlds"], json!([]));
}

#[test]
fn worlds_are_not_kept_and_do_not_hold_the_server() {
    let folder = Folder::new();
    let server = start(&folder, "--data objects.db");
    create(&server.address, "kept");
    let state = snapshot(&server.address);
    let world = World::of(&server, &json!({"snapshot": state}));
    create(&world.address, "lost");
    done(&world.address, "DELETE", &format!("{MAPS}/kept"), &Value::Null);
    server.kill();
    let server = Server::start(&folder, "crds --objects objects --log-level error --data objects.db");
    assert_eq!(names(&server.address), "first kept");
    // Without a snapshot, a world begins with what was kept.
    let world = World::of(&server, &Value::Null);
    assert_eq!(names(&world.address), "first kept");
    let mut watch = TcpStream::connect(&world.address).expect("a connection");
    write!(watch, "GET {MAPS}?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let began = Instant::now();
    #[cfg(unix)]
    {
        server.signal("-TERM");
        assert_eq!(server.ended(), Some(0));
    }
    #[cfg(not(unix))]
    server.kill();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(world.is_closed());
}
