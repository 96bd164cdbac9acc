//! Watches.

use crate::common::{ALL, Server};
use kubeshape_objects::store::{Limits, Store};
use kubeshape_objects::{Moment, Outcome, Request, Watch};
use kubeshape_registry::Time;
use serde_json::{Value, json};

fn watch(server: &Server, query: &str, accept: &str) -> Box<Watch> {
    let request = Request { path: ALL, query, accept, ..Request::default() };
    match server.api.prepare(&server.store, &request, &Moment::default()) {
        Some(Outcome::Watch(watch)) => watch,
        other => panic!("{other:?}"),
    }
}

fn events(watch: &mut Watch, server: &Server) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    while !watch.is_current(&server.store) {
        let text = watch.next(&server.store, Time(0)).expect("kept");
        out.extend(serde_json::Deserializer::from_slice(&text).into_iter::<Value>().map(|event| {
            let event = event.expect("JSON");
            (event["type"].as_str().unwrap().to_owned(), event["object"].clone())
        }));
    }
    out
}

fn told(events: &[(String, Value)]) -> Vec<(&str, &str)> {
    events.iter().map(|(kind, object)| (kind.as_str(), object["metadata"]["name"].as_str().unwrap_or(""))).collect()
}

#[test]
fn a_watch_tells_what_there_is_and_then_what_changes() {
    let mut server = Server::new();
    server.create("a", "{}");
    let mut all = watch(&server, "watch=1", "");
    assert_eq!(told(&events(&mut all, &server)), [("ADDED", "a")]);
    server.create("b", "{}");
    server.send("PATCH", &format!("{ALL}/a"), "application/merge-patch+json", r#"{"spec":{"color":"red"}}"#);
    server.send("DELETE", &format!("{ALL}/a"), "", "");
    let found = events(&mut all, &server);
    assert_eq!(told(&found), [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "a")]);
    assert_eq!(found[2].1["metadata"]["resourceVersion"], server.store.revision().to_string());
    assert!(all.next(&server.store, Time(0)).unwrap().is_empty());
}

#[test]
fn an_object_enters_and_leaves_a_selection() {
    let mut server = Server::new();
    server.create("a", r#"{"color":"red"}"#);
    let mut red = watch(&server, "watch=1&fieldSelector=spec.color%3Dred", "");
    assert_eq!(told(&events(&mut red, &server)), [("ADDED", "a")]);
    let paint = |server: &mut Server, color: &str| {
        let patch = format!(r#"{{"spec":{{"color":"{color}"}}}}"#);
        server.send("PATCH", &format!("{ALL}/a"), "application/merge-patch+json", &patch);
    };
    paint(&mut server, "blue");
    let found = events(&mut red, &server);
    assert_eq!(told(&found), [("DELETED", "a")]);
    assert_eq!(found[0].1["spec"]["color"], "red");
    paint(&mut server, "red");
    assert_eq!(told(&events(&mut red, &server)), [("ADDED", "a")]);
}

#[test]
fn a_watch_goes_on_from_a_revision_and_ends_where_history_is_lost() {
    let mut server = Server::new();
    server.store = Store::new(Limits { changes: 3, ..Limits::default() });
    for n in 0..5 {
        server.create(&format!("w{n}"), "{}");
    }
    let from = server.store.revision() - 2;
    let mut late = watch(&server, &format!("watch=1&resourceVersion={from}"), "");
    assert_eq!(told(&events(&mut late, &server)), [("ADDED", "w3"), ("ADDED", "w4")]);
    let mut lost = watch(&server, "watch=1&resourceVersion=2", "");
    let end = lost.next(&server.store, Time(0)).unwrap_err().last.unwrap();
    let end: Value = serde_json::from_slice(&end).unwrap();
    assert_eq!((&end["type"], &end["object"]["code"]), (&json!("ERROR"), &json!(410)));
    let request = Request { path: ALL, query: "watch=1&resourceVersion=99", ..Request::default() };
    let reply = server.ask(&request);
    assert_eq!(reply.code, 504, "{}", reply.text());
}

#[test]
fn bookmarks_mark_the_end_of_the_first_events_and_later_revisions() {
    let mut server = Server::new();
    server.create("a", "{}");
    let query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut marked = watch(&server, query, "");
    let found = events(&mut marked, &server);
    assert_eq!(told(&found), [("ADDED", "a"), ("BOOKMARK", "")]);
    assert_eq!(found[1].1["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    let later: Value = serde_json::from_slice(&marked.bookmark()).unwrap();
    assert_eq!(later["object"]["metadata"]["resourceVersion"], server.store.revision().to_string());
}

#[test]
fn a_table_tells_its_columns_once() {
    let mut server = Server::new();
    server.create("a", r#"{"color":"red"}"#);
    server.create("b", "{}");
    let mut table = watch(&server, "watch=1", "application/json;as=Table;g=meta.k8s.io;v=v1");
    let found = events(&mut table, &server);
    assert!(found[0].1["columnDefinitions"].is_array());
    assert!(found[1].1["columnDefinitions"].is_null());
    assert_eq!(found[0].1["rows"][0]["cells"], json!(["a", "red"]));
}
