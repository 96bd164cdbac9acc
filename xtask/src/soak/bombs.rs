//! Hostile clients that send requests about objects: small requests that need much memory or much work. Each is a
//! separate client, and repeats one kind of request.

use super::client::{HONEST, Request, hostile};
use super::{Result, Shared};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Read;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const BOMBS: &str = "/apis/bombs.example.com/v1/bombs";
const BOMB: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/bombs.bombs.example.com";
const PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
/// Number of objects for patches and lists.
const LARGE: usize = 8;

/// Creates the objects that the attacks need.
///
/// # Errors
/// The server does not respond.
pub(super) fn prepare(shared: &Shared) -> Result {
    let send = |method: &str, path: &str, body: &Value| {
        let body = body.to_string();
        Request { method, path, body: &body, ..Request::default() }.ask(HONEST, shared.address)
    };
    let properties: serde_json::Map<String, Value> = (0..300)
        .map(|n| (format!("p{n}"), json!({"type": "string", "pattern": format!(r"^(\pL{{40}}|x{n})$")})))
        .collect();
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "properties": {
        "patterns": {"type": "object", "properties": properties},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": text}}},
        "rule": {
            "type": "object",
            "properties": {
                "a": {"type": "array", "maxItems": 2000, "items": {"type": "string", "maxLength": 8}},
                "b": {"type": "string", "maxLength": 12},
            },
            "x-kubernetes-validations": [{"rule": "self.a.all(x, x.matches(self.b + x))"}],
        },
    }});
    match send("POST", DEFINITIONS, &definition("bombs.example.com", "Bomb", &[("v1", schema)]))? {
        201 => {}
        code => return Err(format!("the definition of the attacks: {code}").into()),
    }
    let began = Instant::now();
    while (Request { path: BOMBS, ..Request::default() }).ask(HONEST, shared.address)? != 200 {
        if began.elapsed() > Duration::from_mins(1) {
            return Err("the definition of the attacks is not served".into());
        }
        sleep(Duration::from_millis(50));
    }
    for n in 0..LARGE {
        let name = json!({"name": format!("large-{n}")});
        let data = json!({"a": "a: b\n".repeat(150_000)});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": name, "data": data});
        let list = vec![json!({}); 20_000];
        let bomb = json!({"apiVersion": "bombs.example.com/v1", "kind": "Bomb", "metadata": name, "list": list});
        for (path, object) in [(CONFIG_MAPS, map), (BOMBS, bomb)] {
            match send("POST", path, &object)? {
                201 => {}
                code => return Err(format!("{path}: {code}").into()),
            }
        }
    }
    Ok(())
}

/// Deletes the objects of the attacks.
pub(super) fn tidy(shared: &Shared) {
    for path in [BOMB, CONFIG_MAPS] {
        // If the deletion failed, the memory shows it.
        let _ = Request { method: "DELETE", path, ..Request::default() }.ask(HONEST, shared.address);
    }
}

fn definition(group: &str, kind: &str, versions: &[(&str, Value)]) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    let versions: Vec<Value> = versions
        .iter()
        .enumerate()
        .map(|(n, (name, schema))| {
            let schema = json!({"openAPIV3Schema": schema});
            json!({"name": name, "served": true, "storage": n == 0, "schema": schema})
        })
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Cluster", "names": {"plural": plural, "kind": kind}, "versions": versions},
    })
}

/// Returns an object with these members.
fn bomb(name: &str, members: &Value) -> String {
    let mut object = json!({"apiVersion": "bombs.example.com/v1", "kind": "Bomb", "metadata": {"name": name}});
    let members = members.as_object().cloned().unwrap_or_default();
    object.as_object_mut().into_iter().for_each(|object| object.extend(members.clone()));
    object.to_string()
}

/// Attacks until the test is over. `number` selects the attack.
pub(super) fn run(shared: &Shared, number: usize) {
    super::attack::yield_to_others();
    let mut round = 0;
    while !shared.is_over() {
        round += 1;
        // It is rejected, sooner or later.
        let _ = one(shared, number, round);
        shared.bombs.fetch_add(1, Relaxed);
    }
}

fn one(shared: &Shared, number: usize, round: usize) -> Result {
    let (from, token) = (hostile(number), format!("bomb-{number}"));
    let mine = Request { token: &token, ..Request::default() };
    let ask = |method: &str, path: &str, media: &str, body: &str| {
        Request { method, path, media, body, ..mine }.ask(from, shared.address).map(|_| ())
    };
    let list = |path: &str, accept: &str| Request { path, accept, ..mine }.ask(from, shared.address).map(|_| ());
    let large = |path: &str| format!("{path}/large-{}", round % LARGE);
    match number % 13 {
        // Objects that are written and deleted: large ones, ones with many members, and ones with many levels.
        0 => {
            let data: String = (0..60_000).fold(String::new(), |mut out, n| {
                let _ = write!(out, r#","k{n}":"v""#);
                out
            });
            let (name, data) = (format!("w{number}-{round}"), data.trim_start_matches(','));
            let body =
                format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"}},"data":{{{data}}}}}"#);
            ask("POST", CONFIG_MAPS, "application/json", &body)?;
            ask("DELETE", &format!("{CONFIG_MAPS}/{name}"), "application/json", "")
        }
        1 => ask("POST", CONFIG_MAPS, "application/json", &format!(r#"{{"x":[{}[]]}}"#, "[],".repeat(900_000))),
        2 => ask("POST", CONFIG_MAPS, "application/yaml", &format!("x: [{}]", "{a: b},".repeat(400_000))),
        // JSON patches that copy, and that move a long list.
        3 => {
            let copies: Vec<Value> =
                (0..5_000).map(|n| json!({"op": "copy", "from": "/data/a", "path": format!("/data/k{n}")})).collect();
            ask("PATCH", &large(CONFIG_MAPS), PATCH, &Value::from(copies).to_string())
        }
        4 => {
            let mut steps = vec![json!({"op": "add", "path": "/data", "value": vec![0; 500_000]})];
            steps.extend(vec![json!({"op": "add", "path": "/data/0", "value": 1}); 5_000]);
            ask("PATCH", &large(CONFIG_MAPS), PATCH, &Value::from(steps).to_string())
        }
        // Defaults of an applied object, and defaults that are inserted when stored objects are read.
        5 => ask(
            "PATCH",
            &format!("{BOMBS}/a{number}?fieldManager=m"),
            APPLY,
            &bomb(&format!("a{number}"), &json!({"list": vec![json!({}); 200_000]})),
        ),
        6 => {
            let default = "d".repeat(if round.is_multiple_of(2) { 60 } else { 10_000 });
            let path = "/spec/versions/0/schema/openAPIV3Schema/properties/list/items/properties/a/default";
            let step = json!([{"op": "add", "path": path, "value": default}]);
            ask("PATCH", BOMB, PATCH, &step.to_string())?;
            list(BOMBS, "application/json")?;
            ask("PATCH", BOMB, PATCH, &json!([{"op": "remove", "path": path}]).to_string())
        }
        // Lists in all forms.
        7 => list(CONFIG_MAPS, "application/yaml"),
        8 => list(BOMBS, ["application/yaml", "text/csv", "application/json;as=Table;g=meta.k8s.io;v=v1"][round % 3]),
        // Patterns and rules.
        9 => {
            let patterns: serde_json::Map<String, Value> = (0..300).map(|n| (format!("p{n}"), "y".into())).collect();
            ask("POST", BOMBS, "application/json", &bomb("p", &json!({"patterns": patterns})))
        }
        10 => {
            let items: Vec<String> = (0..2_000).map(|n| format!("x{n}")).collect();
            ask("POST", BOMBS, "application/json", &bomb("r", &json!({"rule": {"a": items, "b": r"\pL{40}|"}})))
        }
        // A definition with many versions and many rules, which is deleted again.
        11 => {
            let rule = |n: usize| {
                let rule = format!(r"self.matches('^(\\pL{{40}}|x{n})$')");
                json!({"type": "string", "maxLength": 5, "x-kubernetes-validations": [{"rule": rule}]})
            };
            let rules: serde_json::Map<String, Value> = (0..2_000).map(|n| (format!("p{n}"), rule(n))).collect();
            let names: Vec<String> = (1..2_000).map(|n| format!("v{n}")).collect();
            let group = format!("d{number}.example.com");
            let made = if round.is_multiple_of(2) {
                definition(&group, "Many", &[("v1", json!({"type": "object", "properties": rules}))])
            } else {
                let versions: Vec<(&str, Value)> =
                    names.iter().map(|name| (&**name, json!({"type": "object"}))).collect();
                definition(&group, "Many", &versions)
            };
            ask("POST", DEFINITIONS, "application/json", &made.to_string())?;
            ask("DELETE", &format!("{DEFINITIONS}/manys.{group}"), "application/json", "")
        }
        // Watches that are not read, and requests whose client disconnects.
        _ => {
            let path = format!("{CONFIG_MAPS}?watch=true");
            let watch = Request { path: &path, ..mine };
            let held: Vec<_> = (0..20).filter_map(|_| watch.send(from, shared.address).ok()).collect();
            sleep(Duration::from_millis(500));
            for _ in 0..10 {
                let mut gone =
                    Request { path: CONFIG_MAPS, accept: "application/yaml", ..watch }.send(from, shared.address)?;
                gone.read_exact(&mut [0])?;
            }
            drop(held);
            Ok(())
        }
    }
}
