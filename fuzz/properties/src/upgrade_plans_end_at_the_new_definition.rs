//! For any two definitions, a plan is built, and the second time it is the same. A server accepts every step.
//! Afterwards the server has the new definition, every object is stored in its storage version, and nothing is lost
//! except what the plan reports. At no step is an object stored in a version that the definition does not have or does
//! not list as stored.

use kubeshape_builtin::BuiltInDocuments;
use kubeshape_diff::upgrade::{Action, Answer, Cluster, Conversion, Plan, Request as Sent, When, plan};
use kubeshape_objects::store::Store;
use kubeshape_objects::{Api, DEFINITIONS, Documents, Moment, Request};
use kubeshape_registry::Time;
use kubeshape_schema::Bump;
use kubeshape_sample::sample;
use kubeshape_smd::Value as Borrowed;
use kubeshape_structural::read::{Manifest, manifests};
use kubeshape_validate::object::Resource;
use kubeshape_yaml::{Limits, Stream, Tape};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The number of versions whose samples are stored.
const SAMPLES: usize = 3;
/// The number of definitions in a chain.
const CHAIN: usize = 4;
const NAMES: [&str; 5] = ["v1alpha1", "v1beta1", "v1", "v2beta1", "v2"];
const FIELDS: [&str; 3] = ["a", "b", "c"];
const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

static API: LazyLock<Api> = LazyLock::new(|| {
    let release = BuiltInDocuments::newest().api();
    let documents = ["apis/apiextensions.k8s.io/v1", "api/v1"];
    let documents = documents.into_iter().filter_map(|path| Some((path, release.openapi_v3(path)?.into())));
    Api::default().with_documents(Documents::new(documents))
});

/// Checks the property for the first two definitions in the bytes, and for a chain of definitions that the bytes
/// determine.
pub fn holds(data: &[u8]) {
    pair(data);
    chain(data);
}

struct Server {
    api: Api,
    store: Store,
    time: u64,
}

impl Server {
    fn new() -> Server {
        Server { api: API.clone(), store: Store::default(), time: 0 }
    }

    fn send(&mut self, sent: &Sent) -> Answer {
        self.time += 1;
        let (path, query) = sent.target.split_once('?').unwrap_or((&sent.target, ""));
        let body = sent.body.as_ref().map(Value::to_string).unwrap_or_default();
        let request = Request {
            method: sent.method,
            path,
            query,
            content_type: sent.media_type,
            body: body.as_bytes(),
            ..Request::default()
        };
        let uid = format!("00000000-0000-0000-0000-{:012}", self.time);
        let moment = Moment { now: Time(self.time.cast_signed()), uid: &uid, random: self.time, ..Moment::default() };
        let before = self.store.revision();
        let Some(reply) = self.api.answer(&mut self.store, &request, &moment) else {
            return Answer { code: 404, body: Value::Null };
        };
        if let Some(settled) = self.api.settle(&mut self.store, before, moment.now) {
            self.api = settled.api;
        }
        Answer { code: reply.code, body: serde_json::from_slice(&reply.body).unwrap_or_default() }
    }

    fn apply(&mut self, definition: &Value) -> bool {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        let target = format!("{PATH}/{name}?fieldManager=kubectl&force=true");
        let media_type = "application/apply-patch+yaml";
        self.send(&Sent { method: "PATCH", target, media_type, body: Some(definition.clone()) }).code < 300
    }

    fn create(&mut self, object: &Value) -> bool {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let path = self.api.path_of(&text(&object["apiVersion"]), &text(&object["kind"]), "default");
        let Some(target) = path else { return false };
        let media_type = "application/json";
        self.send(&Sent { method: "POST", target, media_type, body: Some(object.clone()) }).code < 300
    }

    /// Returns the definition as it is stored.
    fn definition(&self, name: &str) -> Value {
        let text = self.api.definition(&self.store, name).expect("the definition");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// Returns the stored objects by name.
    fn stored(&self) -> BTreeMap<String, Value> {
        let all = self.store.objects().filter(|(key, _)| *key.resource != *DEFINITIONS);
        all.map(|(key, stored)| (key.name().to_owned(), serde_json::from_str(stored.text()).expect("JSON"))).collect()
    }

    /// Panics if an object is stored in a version that its definition lacks.
    fn nothing_is_stranded(&mut self, name: &str, plan: &Plan) {
        let definition = self.definition(name);
        let all = definition["spec"]["versions"].as_array().expect("versions").clone();
        for object in self.stored().values() {
            let version = object["apiVersion"].as_str().and_then(|text| text.split_once('/')).expect("a version").1;
            assert!(all.iter().any(|known| known["name"] == version), "{version} is not defined\n{plan}");
            let counted = definition["status"]["storedVersions"].as_array().expect("stored versions");
            assert!(counted.iter().any(|known| known == version), "{version} is not counted\n{plan}");
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (group, plural) = (text(&definition["spec"]["group"]), text(&definition["spec"]["names"]["plural"]));
        for version in all.iter().filter(|version| version["served"] == true) {
            let target = format!("/apis/{group}/{}/{plural}", text(&version["name"]));
            let answer = self.send(&Sent { method: "GET", target, media_type: "", body: None });
            assert!(answer.code == 200, "{}: {}\n{plan}", answer.code, answer.body);
        }
    }

    /// Carries out a plan. Panics if a step is rejected, or if the plan does not end at the new definition.
    fn play(&mut self, name: &str, plan: &Plan) {
        for number in 0..plan.steps.len() {
            if let Err(error) = plan.carry_out(number, &mut |request| self.send(request)) {
                panic!("step {}: {error}\n{plan}", number + 1);
            }
            self.nothing_is_stranded(name, plan);
        }
        let definition = self.definition(name);
        assert_eq!(definition["status"]["storedVersions"], json!([plan.storage]), "{plan}");
        for step in &plan.steps {
            if let Action::Apply { definition: given, is_new: true, .. } = &step.action {
                let names = |definition: &Value| {
                    let all = definition["spec"]["versions"].as_array().expect("versions").iter();
                    all.map(|version| {
                        (version["name"].clone(), version["served"].clone(), version["storage"].clone())
                    })
                    .collect::<Vec<_>>()
                };
                assert_eq!(names(given), names(&definition), "{plan}");
            }
        }
        for object in self.stored().values() {
            let version = object["apiVersion"].as_str().and_then(|text| text.split_once('/')).expect("a version").1;
            assert_eq!(version, plan.storage, "{plan}");
        }
    }
}

/// The first two definitions of a string.
fn pair(data: &[u8]) {
    let limits = Limits { nodes: 5_000, depth: 64, ..Limits::default() };
    let Ok(mut stream) = Stream::new(data, limits) else { return };
    let source = stream.source();
    let mut tapes = Vec::new();
    while tapes.len() < 8 {
        let mut tape = Tape::new();
        match stream.next(&mut tape) {
            Some(Ok(())) => tapes.push(tape),
            _ => break,
        }
    }
    let roots = tapes.iter().filter_map(|tape| tape.document(source).root());
    let all: Vec<Manifest<'_>> = roots.flat_map(|root| manifests(root).0).collect();
    let Some(old) = all.first().copied() else { return };
    let new = all.get(1).copied().unwrap_or(old);
    let mut server = Server::new();
    let arena = Bump::new();
    let mut cluster = Cluster::default();
    let first = plan(old, new, &cluster);
    assert_eq!(first, plan(old, new, &cluster));
    let (Ok(first), Some(was)) = (first, old.read(&arena).value) else { return };
    let _ = first.to_string();
    let mut definition = Borrowed::from_node(old.node, &arena).to_serde();
    if let Some(definition) = definition.as_object_mut() {
        definition.remove("status");
        definition.insert("metadata".to_owned(), json!({"name": was.name}));
    }
    // A server does not apply a definition with unknown fields, whatever the old definition is.
    let mut wanted = Borrowed::from_node(new.node, &arena).to_serde();
    if let Some(wanted) = wanted.as_object_mut() {
        wanted.remove("status");
    }
    if first.obstacle.is_some() || !server.apply(&definition) || !Server::new().apply(&wanted) {
        return;
    }
    for (at, version) in was.versions.iter().take(SAMPLES).enumerate() {
        let resource = Resource::new(&was, version, cluster.release, &arena);
        let mut object = sample(&resource, false, &arena).value.to_serde();
        object["metadata"] = json!({"name": format!("o{at}")});
        if server.create(&object) {
            cluster.objects.push(object);
        }
    }
    let Ok(plan) = plan(old, new, &cluster) else { return };
    let must_change = plan.steps.iter().any(|step| matches!(step.action, Action::Change { .. }));
    if plan.obstacle.is_none() && !must_change && plan.conversion == Conversion::None {
        server.play(was.name, &plan);
    }
}

/// Numbers that follow from the bytes.
struct Choice<'d>(&'d [u8], u32);

impl Choice<'_> {
    fn of(&mut self, count: usize) -> usize {
        let byte = self.0.split_off_first().copied().unwrap_or_default();
        self.1 = self.1.wrapping_mul(1_664_525).wrapping_add(1_013_904_223).wrapping_add(u32::from(byte));
        (self.1 >> 8) as usize % count.max(1)
    }
}

/// Returns a definition in which one version is stored, and each has some of the fields.
fn definition(choice: &mut Choice<'_>) -> Value {
    let mut names = NAMES.to_vec();
    let mut versions = Vec::new();
    for _ in 0..=choice.of(4) {
        let name = names.remove(choice.of(names.len()));
        let fields = FIELDS.iter().filter(|_| choice.of(3) > 0).map(|field| ((*field).to_owned(), json!({"type": "string"})));
        let spec = json!({"type": "object", "properties": fields.collect::<serde_json::Map<_, _>>()});
        versions.push(json!({
            "name": name, "served": choice.of(4) > 0, "storage": false,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
        }));
    }
    let storage = choice.of(versions.len());
    versions[storage]["storage"] = true.into();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "versions": versions, "conversion": {"strategy": "None"},
            "names": {"plural": "tabs", "kind": "Tab", "singular": "tab", "listKind": "TabList"},
        },
    })
}

/// The fields that a version has.
fn fields(definition: &Value, version: &str) -> Vec<String> {
    let all = definition["spec"]["versions"].as_array().into_iter().flatten();
    let found = all.into_iter().find(|known| known["name"] == version);
    let schema = found.map(|found| &found["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]);
    schema.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn chain(data: &[u8]) {
    let mut choice = Choice(data, 1);
    let mut server = Server::new();
    let mut old = definition(&mut choice);
    assert!(server.apply(&old), "{old}");
    let served: Vec<Value> = old["spec"]["versions"].as_array().into_iter().flatten().cloned().collect();
    for (at, version) in served.iter().filter(|version| version["served"] == true).enumerate() {
        let object = json!({
            "apiVersion": format!("example.com/{}", version["name"].as_str().unwrap_or_default()), "kind": "Tab",
            "metadata": {"name": format!("o{at}")}, "spec": {"a": "1", "b": "2", "c": "3"},
        });
        assert!(server.create(&object), "{object}");
    }
    for _ in 1..CHAIN {
        let new = definition(&mut choice);
        // Sometimes a client does not wait for the plan.
        if choice.of(3) == 0 {
            if server.apply(&new) {
                old = new;
            }
            continue;
        }
        let held = server.definition("tabs.example.com");
        let stored = held["status"]["storedVersions"].as_array().into_iter().flatten();
        let stored: Vec<String> = stored.filter_map(Value::as_str).map(str::to_owned).collect();
        let cluster = Cluster { stored, ..Cluster::default() };
        let texts = [old.to_string(), new.to_string()];
        let mut tapes = [Tape::new(), Tape::new()];
        for (text, tape) in texts.iter().zip(&mut tapes) {
            let mut stream = Stream::new(text.as_bytes(), Limits::default()).expect("JSON");
            stream.next(tape).expect("a document").expect("JSON");
        }
        let node = |at: usize| Manifest { node: tapes[at].document(&texts[at]).root().expect("a root"), implied: None };
        let plan = plan(node(0), node(1), &cluster).expect("both can be read");
        assert_eq!(plan.obstacle, None, "{plan}");
        let before = server.stored();
        server.play("tabs.example.com", &plan);
        let after = server.stored();
        for (name, object) in &before {
            let version = object["apiVersion"].as_str().and_then(|text| text.split_once('/')).expect("a version").1;
            let losses = plan.losses.iter().filter(|loss| loss.when == When::Stored && loss.from == version);
            let lost: Vec<&String> = losses.flat_map(|loss| &loss.fields).collect();
            // Fields that the old definition does not have in its version were dropped before.
            for field in fields(&old, version) {
                let is_lost = lost.iter().any(|lost| **lost == format!("spec.{field}"));
                let (was, is) = (&object["spec"][&field], &after[name]["spec"][&field]);
                let moved = after[name] != *object;
                assert!(!moved || is_lost || was == is, "{name} loses {field}\n{plan}");
            }
        }
        old = new;
    }
}
