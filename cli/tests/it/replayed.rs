//! Tests of `kubeshape pull` with a server that replays the answers of a real one (`KUBESHAPE_GOLDEN`): a
//! kube-apiserver with 142 CustomResourceDefinitions. Every request is counted.

use crate::common::{Folder, Run};
use crate::pull::unwrapped;
use crate::serve::Server;
use kubeshape_corpus::replay::{DEFINITIONS, Recording, Replay};
use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

const JSON: &str = "application/json";
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/// A definition of the server, and the document in which it is published.
const CRD: (&str, &str) = ("certificates.cert-manager.io", "apis/cert-manager.io/v1");

/// Returns the recorded answers of the real server.
fn recording() -> Option<Recording> {
    let golden = kubeshape_corpus::folder_named_by("KUBESHAPE_GOLDEN")?.join("apiserver");
    Some(Recording::read(&[golden.join("crds"), golden.join("empty")]))
}

fn pull(folder: &Folder, server: &Replay, more: &str) -> Run {
    let run = unwrapped(folder.run(&format!("pull --server http://{} --cache cache {more}", server.address)));
    assert_eq!(run.code, Some(0), "{}", run.err);
    run
}

/// Returns the requests for documents.
fn documents(asked: &[String]) -> Vec<&String> {
    asked.iter().filter(|line| line.contains(" /openapi/v3/")).collect()
}

/// Returns the file of a document.
fn file(path: &str) -> String {
    let name = path.replace('/', "__") + "_openapi.json";
    name.strip_prefix('.').map_or(name.clone(), |rest| format!("%2E{rest}"))
}

#[test]
fn everything_is_fetched_once_and_then_only_changes() {
    let Some(recording) = recording() else { return };
    let (folder, server) = (Folder::new(), recording.clone().serve());
    let first = pull(&folder, &server, "-o out --crds --openapi-v2");
    let urls = recording.documents();
    assert_eq!(urls.len(), 92);
    let asked = server.asked();
    assert_eq!(asked.len(), 5 + 92 + 2, "{asked:?}");
    assert!(asked.iter().all(|line| line.starts_with("200 ")), "{asked:?}");
    assert!(first.err.contains("92 documents: 92 downloaded"), "{}", first.err);
    assert!(
        first.err.contains("; 142 CustomResourceDefinitions, 142 of them downloaded; wrote 238 files"),
        "{}",
        first.err
    );
    for (path, url) in &urls {
        assert!(folder.bytes(&format!("out/{}", file(path))) == recording.body(url, JSON), "{path}");
    }
    assert!(folder.bytes("out/swagger.json") == recording.body("/openapi/v2", JSON));
    for name in ["apis", "api"] {
        assert!(folder.bytes(&format!("out/discovery/{name}.json")) == recording.body(&format!("/{name}"), AGGREGATED));
    }

    // The index is requested, and the server reports that it is unchanged.
    let second = pull(&folder, &server, "-o out --crds --openapi-v2");
    let list = format!("200 {DEFINITIONS}?limit=250");
    let unchanged = ["200 /openapi/v3", "200 /version", "304 /api", "304 /apis", "304 /openapi/v2"];
    assert_eq!(server.asked(), [&[&*list][..], &unchanged].concat());
    assert!(second.err.contains(" 0 downloaded") && second.err.contains("wrote nothing to out"), "{}", second.err);
    assert!(second.err.contains("238 stay as they were"), "{}", second.err);

    // If one definition changes, the index, its document and the definition itself are requested.
    let body = String::from_utf8(recording.body(&urls[CRD.1], JSON)).expect("UTF-8");
    let changed = body.replacen("\"description\":\"", "\"description\":\"Changed. ", 1);
    let hash = "AB".repeat(64);
    server.change(|recording| {
        recording.change_document(CRD.1, &hash, changed.as_bytes(), false);
        recording.change_definition(CRD.0, |definition| definition["metadata"]["labels"] = "{}".parse().expect("JSON"));
    });
    let third = pull(&folder, &server, "-o out --crds --openapi-v2");
    let (document, one) = (format!("200 /openapi/v3/{}?hash={hash}", CRD.1), format!("200 {DEFINITIONS}/{}", CRD.0));
    let asked = server.asked();
    assert_eq!(asked.len(), 6 + 2, "{asked:?}");
    assert!(asked.contains(&document) && asked.contains(&one), "{asked:?}");
    let told = format!("wrote 2 files to out ({}, crds/{}.yaml); 236 stay as they were", file(CRD.1), CRD.0);
    assert!(third.err.contains(&told), "{}", third.err);
    assert_eq!(folder.read(&format!("out/{}", file(CRD.1))), changed);
    // A file that somebody else changed or deleted is written again.
    fs::remove_file(folder.path("out/swagger.json")).expect("there");
    folder.write("out/discovery/api.json", "{}");
    let fourth = pull(&folder, &server, "-o out --crds --openapi-v2");
    assert!(fourth.err.contains("wrote 2 files to out (swagger.json, discovery/api.json)"), "{}", fourth.err);
}

#[test]
fn a_document_newer_than_the_index_is_used() {
    let Some(recording) = recording() else { return };
    let (folder, server) = (Folder::new(), recording.clone().serve());
    let old = recording.documents().remove(CRD.1).expect("a document");
    let hash = "CD".repeat(64);
    server.change(|recording| recording.change_document(CRD.1, &hash, br#"{"openapi":"3.0.0"}"#, true));
    pull(&folder, &server, &format!("-o out --group-version {}", &CRD.1[5..]));
    let asked = server.asked();
    let expected = [format!("200 /openapi/v3/{}?hash={hash}", CRD.1), format!("301 {old}")];
    assert_eq!(documents(&asked), expected.iter().collect::<Vec<_>>());
    assert_eq!(folder.read(&format!("out/{}", file(CRD.1))), r#"{"openapi":"3.0.0"}"#);
}

#[test]
fn a_server_with_only_v2_is_read_through_it_once() {
    let Some(mut recording) = recording() else { return };
    recording.without_v3();
    let (folder, server) = (Folder::new(), recording.clone().serve());
    let first = pull(&folder, &server, "-o out --openapi-v2");
    let expected = ["200 /api", "200 /apis", "200 /openapi/v2", "200 /version", "404 /openapi/v3"];
    assert_eq!(server.asked(), expected);
    assert!(first.err.contains("KS1043"), "{}", first.err);
    let converted = folder.tree("out");
    pull(&folder, &server, "-o out --openapi-v2");
    let expected = ["200 /version", "304 /api", "304 /apis", "304 /openapi/v2", "404 /openapi/v3"];
    assert_eq!(server.asked(), expected);
    assert!(folder.tree("out") == converted);
    let names: BTreeSet<String> = converted.into_keys().collect();
    assert!(names.contains(&file(CRD.1)) && names.contains("api__v1_openapi.json") && names.contains("swagger.json"));
    // Without the cache it is also downloaded only once.
    pull(&folder, &server, "-o without");
    assert!(server.asked().contains(&"304 /openapi/v2".to_owned()) && !folder.path("without/swagger.json").exists());
}

#[test]
fn a_server_without_aggregated_discovery_is_asked_by_group_versions() {
    let Some(recording) = recording() else { return };
    let mut plain = recording.clone();
    plain.without_aggregated_discovery();
    let (folder, whole, server) = (Folder::new(), recording.serve(), plain.serve());
    pull(&folder, &server, "-o out");
    let asked = server.asked();
    let versions = asked.iter().filter(|line| line.starts_with("200 /api") && line.matches('/').count() > 1).count();
    let files = fs::read_dir(folder.path("out/discovery")).expect("a folder").count();
    assert_eq!(files, versions + 3, "{asked:?}");
    pull(&folder, &whole, "-o aggregated");
    // When both are served again, they are the same.
    let groups = |name: &str| {
        let server = Server::start(&folder, &format!("--base {name} --log-level error"));
        let (code, body) = server.ask("/apis", &format!("Accept: {AGGREGATED}\r\n"));
        assert_eq!(code, 200);
        let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
        let mut names: Vec<String> = Vec::new();
        for group in body["items"].as_array().expect("groups") {
            for version in group["versions"].as_array().expect("versions") {
                for resource in version["resources"].as_array().into_iter().flatten() {
                    let part = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
                    let name = [&group["metadata"]["name"], &version["version"], &resource["resource"]].map(part);
                    names.push(
                        name.join("/") + &resource["responseKind"]["kind"].to_string() + &resource["scope"].to_string(),
                    );
                }
            }
        }
        names.sort();
        names
    };
    let (plain, aggregated) = (groups("out"), groups("aggregated"));
    assert!(aggregated.len() > 200);
    assert_eq!(plain, aggregated);
}

#[test]
fn documents_served_again_have_the_hashes_of_the_real_server() {
    let Some(recording) = recording() else { return };
    let (folder, real) = (Folder::new(), recording.clone().serve());
    pull(&folder, &real, "-o out --crds --openapi-v2");
    // With extensions, discovery uses cheaper tags.
    let server = Server::start(&folder, "--base out --extensions off --log-level error");
    let (_, index) = server.get("/openapi/v3");
    assert_eq!(index.as_bytes(), recording.body("/openapi/v3", JSON));
    for (path, accept) in [("/openapi/v2", JSON), ("/apis", AGGREGATED), ("/api", AGGREGATED)] {
        let tag = recording.tag(path, accept).expect("a tag");
        let (head, body) = server.whole(path, &format!("Accept: {accept}\r\n"));
        assert!(body.as_bytes() == recording.body(path, accept), "{path}: {} bytes", body.len());
        assert!(head.to_lowercase().contains(&format!("etag: {}", tag.to_lowercase())), "{path}: {head}");
        let known = server.ask(path, &format!("Accept: {accept}\r\nIf-None-Match: {tag}\r\n"));
        assert_eq!(known.0, 304, "{path}");
    }
    let version = server.get("/version").1;
    assert_eq!(version.as_bytes(), recording.body("/version", JSON));
    for (path, url) in recording.documents() {
        let (code, body) = server.get(&url);
        assert!(code == 200 && body.as_bytes() == recording.body(&url, JSON), "{path}");
    }
    // So the documents of the other cluster are already known.
    let again = unwrapped(folder.run(&format!("pull --server http://{} --cache cache -o again", server.address)));
    assert!(again.code == Some(0) && again.err.contains("92 documents: 0 downloaded"), "{}", again.err);
    assert!(folder.tree("again/discovery") == folder.tree("out/discovery"));
}

#[test]
fn a_killed_pull_continues_where_it_was() {
    let Some(recording) = recording() else { return };
    let (folder, server) = (Folder::new(), recording.serve());
    server.answer_documents(30);
    let line = format!("pull --server http://{} --cache cache -o out", server.address);
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let mut child = folder.command(&arguments).stderr(Stdio::null()).spawn().expect("a process");
    let end = Instant::now() + Duration::from_mins(1);
    while folder.tree("cache/documents").len() < 30 {
        assert!(Instant::now() < end, "{} documents are there", folder.tree("cache/documents").len());
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("killed");
    child.wait().expect("an end");
    assert!(folder.tree("out").keys().all(|name| !name.ends_with("_openapi.json")), "nothing is half written");
    assert_eq!(documents(&server.asked()).len(), 30);
    server.answer_documents(usize::MAX);
    let second = pull(&folder, &server, "-o out");
    assert_eq!(documents(&server.asked()).len(), 92 - 30);
    assert!(second.err.contains("62 downloaded") && second.err.contains("30 from the cache"), "{}", second.err);
    assert_eq!(folder.tree("cache/new").len(), 0);
}

#[test]
fn damaged_cache_entries_are_fetched_again() {
    let Some(recording) = recording() else { return };
    let (folder, server) = (Folder::new(), recording.clone().serve());
    pull(&folder, &server, "");
    server.asked();
    let hashes: BTreeSet<String> =
        recording.documents().values().filter_map(|url| Some(url.split_once("hash=")?.1.to_owned())).collect();
    let names: Vec<String> = folder.tree("cache/documents").into_keys().collect();
    let damaged: Vec<&String> = names.iter().filter(|name| hashes.contains(&name[3..])).step_by(31).collect();
    assert_eq!(damaged.len(), 3);
    for (at, name) in damaged.iter().enumerate() {
        let path = folder.path(&format!("cache/documents/{name}"));
        let mut bytes = fs::read(&path).expect("there");
        // A single bit, the end, or everything is damaged.
        match at {
            0 => bytes[7] ^= 0x20,
            1 => bytes.truncate(bytes.len() / 2),
            _ => bytes.clear(),
        }
        fs::write(&path, bytes).expect("written");
    }
    let run = pull(&folder, &server, "-o out");
    let asked = server.asked();
    let fetched: BTreeSet<&str> =
        documents(&asked).into_iter().filter_map(|line| Some(line.split_once("hash=")?.1)).collect();
    assert_eq!(fetched, damaged.iter().map(|name| &name[3..]).collect(), "{}", run.err);
    for (path, url) in recording.documents() {
        assert!(folder.bytes(&format!("out/{}", file(&path))) == recording.body(&url, JSON), "{path}");
    }
}

#[test]
fn a_single_document_is_that_of_the_library() {
    let Some(recording) = recording() else { return };
    let (folder, server) = (Folder::new(), recording.clone().serve());
    pull(&folder, &server, "--single -o out");
    let documents: Vec<kubeshape_client::Document> = recording
        .documents()
        .into_iter()
        .map(|(path, url)| kubeshape_client::Document { path, hash: None, bytes: recording.body(&url, JSON) })
        .collect();
    let whole = kubeshape_client::aggregate(&documents).expect("a document");
    assert_eq!(whole.conflicts, []);
    assert!(folder.bytes("out/openapi.json") == whole.bytes);
    let text = String::from_utf8(whole.bytes).expect("UTF-8");
    assert!(text.contains("\"/apis/cert-manager.io/v1/certificates\"") && text.contains("\"/api/v1/pods\""));
}
