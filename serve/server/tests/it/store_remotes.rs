//! The parts of downstream servers in what the store publishes, and which server owns a group version.

use bytes::Bytes;
use kubeshape_convert::aggregate::merge::Overlay;
use kubeshape_discovery::{Freshness, Group, GroupVersion, Origin, Resource, UNSET_PRIORITY};
use kubeshape_schema::Dialect;
use kubeshape_server::{
    BaseDocuments, Change, Document, Leaf, RemoteDocument, RemoteState, Snapshot, Store, StoreOptions,
};
use std::sync::Arc;
use std::time::SystemTime;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

fn crd(group: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: locals.{group}}}\nspec:\n  \
         group: {group}\n  scope: Cluster\n  names: {{plural: locals, kind: Local}}\n  versions:\n  \
         - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}\n"
    )
}

fn store() -> Store {
    Store::new(BaseDocuments::default(), StoreOptions::default(), NOW).expect("needs no documents")
}

fn set(store: &mut Store, name: &str, content: Option<String>) -> bool {
    let change = Change { name: name.into(), content: content.map(Bytes::from) };
    store.apply(vec![change], NOW).changed
}

/// Returns a server that has resources named after it in some group versions.
fn remote(name: &str, position: usize, groups: &[&str]) -> RemoteState {
    let mut state = RemoteState::new(name, position);
    let mut paths = Vec::new();
    for group in groups {
        let path = format!("apis/{group}/v1");
        let json = format!(r#"{{"openapi":"3.0.0","info":{{"title":"{name}","version":"1"}},"paths":{{}}}}"#);
        state.v3.push(RemoteDocument {
            path: path.as_str().into(),
            url: format!("/openapi/v3/{path}?hash={name}").into(),
            leaf: Leaf::Local(Arc::new(Document::new(Some(Dialect::V3), Bytes::from(json), NOW))),
        });
        state.groups.push(Group {
            name: (*group).into(),
            versions: vec![Arc::new(GroupVersion {
                version: "v1".into(),
                priority: UNSET_PRIORITY,
                origin: Origin::Aggregated,
                freshness: Freshness::Current,
                resources: vec![Resource { name: name.into(), ..resource() }],
            })],
        });
        paths.push(format!(r##""/{path}/{name}":{{"get":{{"schema":{{"$ref":"#/definitions/{name}.{group}"}}}}}}"##));
    }
    let definitions: Vec<String> =
        groups.iter().map(|group| format!(r#""{name}.{group}":{{"type":"object"}}"#)).collect();
    let v2 =
        format!(r#"{{"swagger":"2.0","paths":{{{}}},"definitions":{{{}}}}}"#, paths.join(","), definitions.join(","));
    state.v2 = Some(Arc::new(Overlay::of(v2.as_bytes(), |_| true).expect("a document")));
    state
}

fn resource() -> Resource {
    let mut store = store();
    set(&mut store, "a", Some(crd("a.example.com")));
    store.snapshot().discovery.groups["a.example.com"].versions[0].resources[0].clone()
}

fn v2(snapshot: &Snapshot) -> (Arc<Document>, String) {
    let document = snapshot.v2.as_ref().as_ref().expect("merges");
    (Arc::clone(document), String::from_utf8(document.json().to_bytes().to_vec()).expect("JSON"))
}

/// Returns the owner of a group version: by the document, the index, discovery and the v2 document, which must agree.
fn owner(store: &Store, group: &str) -> Option<String> {
    let snapshot = store.snapshot();
    let path = format!("apis/{group}/v1");
    let resources = snapshot.discovery.groups.get(group).map(|group| {
        let [version] = &*group.versions else { panic!("{path} is there once") };
        version.resources.iter().map(|resource| resource.name.to_string()).collect::<Vec<_>>().join(" ")
    });
    let of_document = snapshot.v3.get(&*path).map(|leaf| match leaf {
        Leaf::Local(document) => {
            let json = String::from_utf8(document.json().to_bytes().to_vec()).expect("JSON");
            ["first", "second"]
                .into_iter()
                .find(|name| json.contains(&format!("\"title\":\"{name}\"")))
                .unwrap_or("locals")
                .to_owned()
        }
        Leaf::Remote(_) => panic!("there are none"),
    });
    assert_eq!(of_document, resources, "document and discovery of {path}");
    let index = String::from_utf8(snapshot.index.document().json().to_bytes().to_vec()).expect("JSON");
    let entry = index.split_once(&format!("/{path}?hash=")).map(|(_, rest)| rest.split('"').next().unwrap_or_default());
    let of_index = entry.map(|hash| if hash.len() == 128 { "locals" } else { hash }.to_owned());
    assert_eq!(of_index, resources, "index and discovery of {path}");
    let (_, v2) = v2(&snapshot);
    for name in ["first", "second", "locals"] {
        let there = v2.contains(&format!("\"/{path}/{name}\":"));
        assert_eq!(there, resources.as_deref() == Some(name), "{name} in v2 of {path}: {v2}");
        let definition = v2.contains(&format!("\"{name}.{group}\":"));
        assert_eq!(definition, there && name != "locals", "definition of {name} in v2 of {path}: {v2}");
    }
    resources
}

#[test]
fn a_group_version_has_one_owner_everywhere() {
    let mut store = store();
    let name = |name: &str| Some(name.to_owned());
    let (shared, of_first, of_second) = ("a.example.com", "b.example.com", "c.example.com");
    // In the order in which they respond, which is not that of their positions.
    assert!(store.set_remote(remote("second", 1, &[shared, of_second]), NOW).changed);
    assert_eq!(owner(&store, shared), name("second"));
    assert!(store.set_remote(remote("first", 0, &[shared, of_first]), NOW).changed);
    assert_eq!([shared, of_first, of_second].map(|group| owner(&store, group)), ["first", "first", "second"].map(name));
    assert!(set(&mut store, "a.yaml", Some(crd(shared))));
    assert_eq!(
        [shared, of_first, of_second].map(|group| owner(&store, group)),
        ["locals", "first", "second"].map(name)
    );
    assert!(set(&mut store, "a.yaml", None));
    assert_eq!(owner(&store, shared), name("first"));
    assert!(store.remove_remote("first", NOW).changed);
    assert_eq!(owner(&store, shared), name("second"));
    assert_eq!(owner(&store, of_first), None);
}

#[test]
fn documents_and_discovery_of_different_servers_are_not_mixed() {
    let mut store = store();
    let group = "a.example.com";
    let mut first = remote("first", 0, &[group]);
    first.v3.clear();
    first.v2 = None;
    store.set_remote(remote("second", 1, &[group]), NOW);
    store.set_remote(first, NOW);
    let snapshot = store.snapshot();
    assert_eq!(&*snapshot.discovery.groups[group].versions[0].resources[0].name, "first");
    assert!(snapshot.v3.is_empty() && !v2(&snapshot).1.contains(group));
    // An input's document that has the group version under another path.
    let text = r#"{"openapi":"3.0.0","info":{"title":"all","version":"1"},"paths":{
        "/apis/":{},"/apis/a.example.com/v1/locals":{"get":{"x-kubernetes-action":"list","responses":{},
        "x-kubernetes-group-version-kind":{"group":"a.example.com","version":"v1","kind":"Local"}}}}}"#;
    set(&mut store, "all.json", Some(text.to_owned()));
    let snapshot = store.snapshot();
    assert_eq!(&*snapshot.discovery.groups[group].versions[0].resources[0].name, "locals");
    set(&mut store, "all.json", None);
    assert_eq!(&*store.snapshot().discovery.groups[group].versions[0].resources[0].name, "first");
}

#[test]
fn the_v2_document_is_merged_again_only_if_a_part_of_it_changed() {
    let mut store = store();
    set(&mut store, "a.yaml", Some(crd("a.example.com")));
    let (alone, text) = v2(&store.snapshot());
    let mut state = remote("first", 0, &["b.example.com"]);
    assert!(store.set_remote(state.clone(), NOW).changed);
    let (together, merged) = v2(&store.snapshot());
    assert!(merged.contains("/apis/a.example.com/v1/locals") && merged.contains("/apis/b.example.com/v1/first"));
    // Nothing new, and something that is not in the v2 document.
    store.set_remote(state.clone(), NOW);
    state.groups.clear();
    store.set_remote(state.clone(), NOW);
    assert!(Arc::ptr_eq(&v2(&store.snapshot()).0, &together));
    set(&mut store, "a.yaml", Some(format!("# A comment.\n{}", crd("a.example.com"))));
    assert!(Arc::ptr_eq(&v2(&store.snapshot()).0, &together));
    // A changed v2 document alone is a change, too.
    let more = br#"{"swagger":"2.0","paths":{"/apis/b.example.com/v1/more":{}}}"#;
    state.v2 = Some(Arc::new(Overlay::of(more, |_| true).expect("a document")));
    let applied = store.set_remote(state, NOW);
    assert!(applied.changed && applied.documents.is_empty() && applied.groups.is_empty());
    assert!(v2(&store.snapshot()).1.contains("/apis/b.example.com/v1/more"));
    assert!(store.remove_remote("first", NOW).changed);
    let (after, same) = v2(&store.snapshot());
    assert!(Arc::ptr_eq(&alone, &after), "without servers it is the document that was there before");
    assert_eq!(text, same);
}
