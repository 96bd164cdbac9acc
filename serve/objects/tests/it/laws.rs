//! What holds for every history of requests.

use crate::common::{ALL, Server};
use kubeshape_objects::store::Store;
use kubeshape_objects::{Moment, Outcome, Request};
use kubeshape_registry::Time;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    Create(u8),
    Paint(u8, bool),
    Apply(u8, bool),
    Hold(u8, bool),
    Delete(u8),
    DeleteAll,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..4_u8).prop_map(Step::Create),
        3 => (0..4_u8, any::<bool>()).prop_map(|(n, red)| Step::Paint(n, red)),
        2 => (0..4_u8, any::<bool>()).prop_map(|(n, red)| Step::Apply(n, red)),
        1 => (0..4_u8, any::<bool>()).prop_map(|(n, held)| Step::Hold(n, held)),
        2 => (0..4_u8).prop_map(Step::Delete),
        1 => Just(Step::DeleteAll),
    ]
}

fn take(server: &mut Server, step: &Step) {
    const MERGE: &str = "application/merge-patch+json";
    let color = |red: bool| if red { "red" } else { "blue" };
    match step {
        Step::Create(n) => {
            let body = format!(r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"w{n}"}}}}"#);
            server.send("POST", ALL, "application/json", &body);
        }
        Step::Paint(n, red) => {
            let patch = format!(r#"{{"spec":{{"color":"{}"}}}}"#, color(*red));
            server.send("PATCH", &format!("{ALL}/w{n}"), MERGE, &patch);
        }
        Step::Apply(n, red) => {
            let config = format!("apiVersion: example.com/v1\nkind: Widget\nspec: {{color: {}}}\n", color(*red));
            let target = format!("{ALL}/w{n}?fieldManager=applier&force=true");
            server.send("PATCH", &target, "application/apply-patch+yaml", &config);
        }
        Step::Hold(n, held) => {
            let patch = if *held {
                r#"{"metadata":{"finalizers":["example.com/x"]}}"#
            } else {
                r#"{"metadata":{"finalizers":null}}"#
            };
            server.send("PATCH", &format!("{ALL}/w{n}"), MERGE, patch);
        }
        Step::Delete(n) => {
            server.send("DELETE", &format!("{ALL}/w{n}"), "", "");
        }
        Step::DeleteAll => {
            server.send("DELETE", ALL, "", "");
        }
    }
}

/// Returns the objects of a list by name.
fn listed(server: &Server, store: &Store, query: &str) -> BTreeMap<String, Value> {
    let request = Request { path: ALL, query, ..Request::default() };
    let Some(Outcome::Reply(reply)) = server.api.prepare(store, &request, &Moment::default()) else { panic!() };
    let list: Value = serde_json::from_slice(&reply.body).unwrap();
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| (item["metadata"]["name"].as_str().unwrap().to_owned(), item.clone())).collect()
}

proptest! {
    /// Revisions only grow, an old moment reads as it was, and who watches knows what a list tells.
    #[test]
    fn histories_are_consistent(steps in prop::collection::vec(step(), 1..40), from in 0..20_usize, red_only in any::<bool>()) {
        let mut server = Server::new();
        let query = if red_only { "fieldSelector=spec.color%3Dred" } else { "" };
        let mut moments: Vec<Store> = Vec::new();
        let mut watch = None;
        for (at, step) in steps.iter().enumerate() {
            let before = server.store.revision();
            take(&mut server, step);
            prop_assert!(server.store.revision() >= before);
            moments.push(server.store.clone());
            if at == from {
                let query = format!("watch=1&{query}");
                let request = Request { path: ALL, query: &query, ..Request::default() };
                if let Some(Outcome::Watch(begun)) = server.api.prepare(&server.store, &request, &Moment::default()) {
                    watch = Some(begun);
                }
            }
        }
        for moment in &moments {
            let again = server.store.at(moment.revision()).unwrap();
            prop_assert_eq!(listed(&server, &again, ""), listed(&server, moment, ""));
        }
        let Some(mut watch) = watch else { return Ok(()) };
        let mut known = BTreeMap::new();
        while !watch.is_current(&server.store) {
            let text = watch.next(&server.store, Time(0)).unwrap();
            for event in serde_json::Deserializer::from_slice(&text).into_iter::<Value>() {
                let event = event.unwrap();
                let name = event["object"]["metadata"]["name"].as_str().unwrap().to_owned();
                match event["type"].as_str().unwrap() {
                    "ADDED" => prop_assert!(known.insert(name, event["object"].clone()).is_none()),
                    "MODIFIED" => prop_assert!(known.insert(name, event["object"].clone()).is_some()),
                    _ => prop_assert!(known.remove(&name).is_some()),
                }
            }
        }
        prop_assert_eq!(known, listed(&server, &server.store, query));
    }

    /// A stored object is one that the server accepts again, and replacing it by itself changes nothing.
    #[test]
    fn what_is_stored_is_accepted_again(steps in prop::collection::vec(step(), 1..20)) {
        let mut server = Server::new();
        for step in &steps {
            take(&mut server, step);
        }
        let revision = server.store.revision();
        for (name, object) in listed(&server, &server.store, "") {
            let (code, same) = server.send("PUT", &format!("{ALL}/{name}"), "application/json", &object.to_string());
            prop_assert_eq!((code, same), (200, object));
        }
        prop_assert_eq!(server.store.revision(), revision);
    }
}
