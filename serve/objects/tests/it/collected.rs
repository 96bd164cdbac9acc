//! What follows from deletions: dependents, and the objects of namespaces.

use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, Documents, Moment, Request, Todo};
use kubeshape_smd::managed::Time;
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/n/configmaps";
const SECRETS: &str = "/api/v1/namespaces/n/secrets";
const NAMESPACES: &str = "/api/v1/namespaces";

struct Server {
    api: Api,
    store: Store,
    /// How many objects the collector looks at before it stops, and how often it begins.
    portion: usize,
    portions: usize,
    todo: Todo,
}

impl Server {
    fn new() -> Server {
        let text = kubeshape_builtin::BuiltInDocuments::newest().api().openapi_v3("api/v1").unwrap();
        let api = Api::default().with_documents(Documents::new([("api/v1", text.into())]));
        let mut server =
            Server { api, store: Store::default(), portion: usize::MAX, portions: usize::MAX, todo: Todo::default() };
        server.send("POST", NAMESPACES, &json!({"metadata": {"name": "n"}}));
        server
    }

    /// Answers a request, and does what follows from it.
    fn send(&mut self, method: &str, target: &str, body: &Value) -> (u16, Value) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        // Objects of built-in kinds have the kind of their endpoint.
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let content_type = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = Request { method, path, query, content_type, body: body.as_bytes(), ..Request::default() };
        let uid = format!("uid-{}", self.store.revision());
        let moment = Moment { now: Time(1_700_000_000), uid: &uid, ..Moment::default() };
        let before = self.store.revision();
        let reply = self.api.answer(&mut self.store, &request, &moment).unwrap();
        self.collect(before, Todo::default());
        (reply.code, serde_json::from_slice(&reply.body).unwrap())
    }

    /// Does what follows from changes after a revision.
    fn collect(&mut self, mut after: u64, todo: Todo) {
        self.todo = todo;
        let moment = Moment { now: Time(1_700_000_000), ..Moment::default() };
        for _ in 0..self.portions {
            self.api.collect(&mut self.store, after, &mut self.todo, self.portion, &moment);
            after = self.store.revision();
            if self.todo.is_done() {
                break;
            }
        }
    }

    /// Creates an object, and returns a reference to it.
    fn create(&mut self, path: &str, name: &str, owners: &[Value]) -> Value {
        let (code, made) = self.send("POST", path, &json!({"metadata": {"name": name, "ownerReferences": owners}}));
        assert_eq!(code, 201, "{made}");
        json!({"apiVersion": "v1", "kind": made["kind"], "name": name, "uid": made["metadata"]["uid"]})
    }

    /// The names of all objects in the namespace.
    fn left(&self) -> Vec<&str> {
        self.store.objects().filter(|(key, _)| key.namespace() == "n").map(|(key, _)| key.name()).collect()
    }

    fn owners(&mut self, path: &str) -> Vec<String> {
        let (_, object) = self.send("GET", path, &Value::Null);
        let owners = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        owners.iter().map(|owner| owner["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn blocking(owner: &Value) -> Value {
    let mut owner = owner.clone();
    owner["blockOwnerDeletion"] = true.into();
    owner
}

#[test]
fn dependents_go_with_their_last_owner() {
    let mut server = Server::new();
    let a = server.create(MAPS, "a", &[]);
    let b = server.create(MAPS, "b", &[]);
    let child = server.create(SECRETS, "child", std::slice::from_ref(&a));
    server.create(MAPS, "grandchild", &[child]);
    server.create(SECRETS, "shared", &[a, b]);
    assert_eq!(server.send("DELETE", &format!("{MAPS}/a"), &Value::Null).0, 200);
    assert_eq!(server.left(), ["b", "shared"]);
    assert_eq!(server.owners(&format!("{SECRETS}/shared")), ["b"]);
    server.send("DELETE", &format!("{MAPS}/b?propagationPolicy=Background"), &Value::Null);
    assert!(server.left().is_empty());
}

#[test]
fn orphans_stay_without_their_owner() {
    let mut server = Server::new();
    let a = server.create(MAPS, "a", &[]);
    server.create(SECRETS, "child", &[a]);
    let (code, reply) = server.send("DELETE", &format!("{MAPS}/a?propagationPolicy=Orphan"), &Value::Null);
    assert_eq!((code, &reply["metadata"]["finalizers"]), (200, &json!(["orphan"])));
    assert_eq!(server.left(), ["child"]);
    assert!(server.owners(&format!("{SECRETS}/child")).is_empty());
}

#[test]
fn an_owner_waits_in_the_foreground_for_dependents_that_block_it() {
    let mut server = Server::new();
    let a = server.create(MAPS, "a", &[]);
    let child = server.create(SECRETS, "child", &[blocking(&a)]);
    server.create(SECRETS, "grandchild", &[blocking(&child)]);
    server.send("DELETE", &format!("{MAPS}/a?propagationPolicy=Foreground"), &Value::Null);
    assert!(server.left().is_empty(), "{:?}", server.left());

    let a = server.create(MAPS, "a", &[]);
    server.create(SECRETS, "child", &[blocking(&a)]);
    let held = json!({"metadata": {"finalizers": ["example.com/held"]}});
    server.send("PATCH", &format!("{SECRETS}/child"), &held);
    server.send("DELETE", &format!("{MAPS}/a?propagationPolicy=Foreground"), &Value::Null);
    assert_eq!(server.left(), ["a", "child"]);
    server.send("PATCH", &format!("{SECRETS}/child"), &json!({"metadata": {"finalizers": null}}));
    assert!(server.left().is_empty());
}

#[test]
fn references_to_objects_that_were_never_there_and_circles_do_no_harm() {
    let mut server = Server::new();
    let stranger = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "other"});
    server.create(SECRETS, "kept", std::slice::from_ref(&stranger));
    let a = server.create(MAPS, "a", &[]);
    let b = server.create(MAPS, "b", &[a]);
    server.send("PATCH", &format!("{MAPS}/a"), &json!({"metadata": {"ownerReferences": [blocking(&b)]}}));
    server.send("DELETE", &format!("{MAPS}/a"), &Value::Null);
    assert_eq!(server.left(), ["kept"]);
}

#[test]
fn a_namespace_goes_with_its_objects() {
    let mut server = Server::new();
    server.create(MAPS, "a", &[]);
    server.create(SECRETS, "b", &[]);
    let (code, namespace) = server.send("DELETE", &format!("{NAMESPACES}/n"), &Value::Null);
    assert_eq!((code, &namespace["status"]["phase"]), (200, &json!("Terminating")));
    assert!(server.left().is_empty());
    assert_eq!(server.send("GET", &format!("{NAMESPACES}/n"), &Value::Null).0, 404);

    server.send("POST", NAMESPACES, &json!({"metadata": {"name": "n"}}));
    server.create(MAPS, "a", &[]);
    server.send("PATCH", &format!("{MAPS}/a"), &json!({"metadata": {"finalizers": ["example.com/held"]}}));
    server.send("DELETE", &format!("{NAMESPACES}/n"), &Value::Null);
    assert_eq!(server.left(), ["a"]);
    server.send("PATCH", &format!("{MAPS}/a"), &json!({"metadata": {"finalizers": null}}));
    assert_eq!(server.send("GET", &format!("{NAMESPACES}/n"), &Value::Null).0, 404);

    server.send("POST", NAMESPACES, &json!({"metadata": {"name": "default"}}));
    let (code, status) = server.send("DELETE", &format!("{NAMESPACES}/default"), &Value::Null);
    let message = "namespaces \"default\" is forbidden: this namespace may not be deleted";
    assert_eq!((code, &status["message"]), (403, &json!(message)));
}

/// Creates an owner with dependents that have dependents, some with two owners, and others that a finalizer keeps.
fn family(server: &mut Server) {
    let (a, b) = (server.create(MAPS, "a", &[]), server.create(MAPS, "b", &[]));
    for n in 0..10 {
        let child = server.create(SECRETS, &format!("child-{n}"), &[blocking(&a)]);
        server.create(MAPS, &format!("grandchild-{n}"), &[blocking(&child)]);
        server.create(SECRETS, &format!("shared-{n}"), &[a.clone(), b.clone()]);
    }
    server.send("PATCH", &format!("{MAPS}/grandchild-3"), &json!({"metadata": {"finalizers": ["example.com/held"]}}));
}

#[test]
fn small_portions_do_the_same() {
    let deletions = [
        format!("{MAPS}/a"),
        format!("{MAPS}/a?propagationPolicy=Foreground"),
        format!("{MAPS}/a?propagationPolicy=Orphan"),
        format!("{NAMESPACES}/n"),
    ];
    for deletion in deletions {
        let left = |portion| {
            let mut server = Server::new();
            family(&mut server);
            server.portion = portion;
            assert_eq!(server.send("DELETE", &deletion, &Value::Null).0, 200);
            let before: Vec<String> = server.left().into_iter().map(str::to_owned).collect();
            server.send("PATCH", &format!("{MAPS}/grandchild-3"), &json!({"metadata": {"finalizers": null}}));
            (before, server.left().into_iter().map(str::to_owned).collect::<Vec<_>>())
        };
        let whole = left(usize::MAX);
        for portion in [1, 2, 3, 7, 31] {
            assert_eq!(left(portion), whole, "{deletion} in portions of {portion}");
        }
    }
}

#[test]
fn what_was_left_in_the_middle_is_found_again() {
    for deletion in [format!("{MAPS}/a"), format!("{MAPS}/a?propagationPolicy=Foreground"), format!("{NAMESPACES}/n")] {
        let mut server = Server::new();
        family(&mut server);
        (server.portion, server.portions) = (4, 2);
        server.send("DELETE", &deletion, &Value::Null);
        let in_the_middle = server.left().len();
        assert!(!server.todo.is_done());
        server.portions = usize::MAX;
        let todo = server.api.unfinished(&server.store);
        server.todo = Todo::default();
        server.collect(server.store.revision(), todo);
        server.send("PATCH", &format!("{MAPS}/grandchild-3"), &json!({"metadata": {"finalizers": null}}));
        let left = server.left();
        assert!(left.len() < in_the_middle && !left.iter().any(|name| name.contains("child")), "{deletion}: {left:?}");
    }
}

#[test]
fn changes_that_follow_from_each_other_are_bounded() {
    let mut server = Server::new();
    let mut owner = server.create(MAPS, "0", &[]);
    for n in 1..300 {
        owner = server.create(MAPS, &n.to_string(), &[owner]);
    }
    server.send("DELETE", &format!("{MAPS}/0"), &Value::Null);
    assert_eq!(server.left().len(), 300 - 257);
}
