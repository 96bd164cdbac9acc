//! What the store publishes, and its findings about files.

use bytes::Bytes;
use kubeshape_server::{Applied, BaseDocuments, Change, Leaf, Reason, Snapshot, Store, StoreOptions};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

fn crd(group: &str, plural: &str, kind: &str, versions: &[&str]) -> String {
    let mut out = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.{group}}}\nspec:\n  \
         group: {group}\n  scope: Namespaced\n  names: {{plural: {plural}, kind: {kind}}}\n  versions:\n"
    );
    for (i, version) in versions.iter().enumerate() {
        let _ = write!(
            out,
            "  - name: {version}\n    served: true\n    storage: {}\n    schema: {{openAPIV3Schema: {{type: object, description: {kind} of {version}}}}}\n",
            i == 0
        );
    }
    out
}

fn store() -> Store {
    Store::new(BaseDocuments::default(), StoreOptions::default(), SystemTime::UNIX_EPOCH).expect("needs no documents")
}

fn now(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn set(store: &mut Store, files: &[(&str, &str)]) -> Applied {
    let change = |(name, text): &(&str, &str)| Change {
        name: (*name).into(),
        content: Some(Bytes::copy_from_slice(text.as_bytes())),
    };
    store.apply(files.iter().map(change).collect(), now(1))
}

fn delete(store: &mut Store, name: &str) -> Applied {
    store.apply(vec![Change { name: name.into(), content: None }], now(2))
}

fn v3(snapshot: &Snapshot, path: &str) -> Option<String> {
    match snapshot.v3.get(path)? {
        Leaf::Local(document) => Some(String::from_utf8(document.json().to_bytes().to_vec()).expect("JSON")),
        Leaf::Remote(_) => None,
    }
}

fn v2(snapshot: &Snapshot) -> String {
    let document = snapshot.v2.as_ref().as_ref().expect("merges");
    String::from_utf8(document.json().to_bytes().to_vec()).expect("JSON")
}

fn index(snapshot: &Snapshot) -> String {
    String::from_utf8(snapshot.index.document().json().to_bytes().to_vec()).expect("JSON")
}

/// Checks that all parts of the resource are in v2 and v3.
fn assert_published(snapshot: &Snapshot, group: &str, version: &str, plural: &str, kind: &str) {
    let path = format!("/apis/{group}/{version}/namespaces/{{namespace}}/{plural}");
    let reversed = group.split('.').rev().collect::<Vec<_>>().join(".");
    let definition = format!("\"{reversed}.{version}.{kind}\":{{");
    for (form, text) in
        [("v3", v3(snapshot, &format!("apis/{group}/{version}")).expect("has a document")), ("v2", v2(snapshot))]
    {
        assert!(text.contains(&path), "{form} lacks {path}");
        assert!(text.contains(&definition), "{form} lacks {definition}");
    }
    assert!(index(snapshot).contains(&format!("/openapi/v3/apis/{group}/{version}?hash=")));
    let group = snapshot.discovery.groups.get(group).expect("has a group");
    let version = group.versions.iter().find(|v| *v.version == *version).expect("has a version");
    assert!(version.resources.iter().any(|resource| *resource.name == *plural));
}

/// A clone and the original change independently, in any order.
#[test]
fn clones_change_independently() {
    let mut one = store();
    set(&mut one, &[("a.yaml", &crd("a.example", "as", "A", &["v1"]))]);
    assert!(v2(&one.snapshot()).contains("/apis/a.example/v1/"));
    let mut other = one.clone();
    set(&mut other, &[("b.yaml", &crd("b.example", "bs", "B", &["v1"]))]);
    delete(&mut other, "a.yaml");
    set(&mut one, &[("c.yaml", &crd("c.example", "cs", "C", &["v1"]))]);
    for (store, has, lacks) in [(&other, &["b"][..], &["a", "c"][..]), (&one, &["a", "c"], &["b"])] {
        let snapshot = store.snapshot();
        let (v2, index) = (v2(&snapshot), index(&snapshot));
        for (names, is_there) in [(has, true), (lacks, false)] {
            for name in names {
                assert_eq!(v2.contains(&format!("/apis/{name}.example/v1/")), is_there, "{name}");
                assert_eq!(index.contains(&format!("/apis/{name}.example/v1?")), is_there, "{name}");
                assert_eq!(snapshot.v3.contains_key(&*format!("apis/{name}.example/v1")), is_there, "{name}");
            }
        }
    }
}

// The test plan of "Publish CRD OpenAPI".

#[test]
fn crds_in_two_groups_are_in_v2_and_v3() {
    let mut store = store();
    set(
        &mut store,
        &[("a", &crd("a.example.com", "foos", "Foo", &["v1"])), ("b", &crd("b.example.com", "bars", "Bar", &["v1"]))],
    );
    let snapshot = store.snapshot();
    assert_published(&snapshot, "a.example.com", "v1", "foos", "Foo");
    assert_published(&snapshot, "b.example.com", "v1", "bars", "Bar");
}

#[test]
fn two_versions_of_one_crd_are_in_v2_and_v3() {
    let mut store = store();
    set(&mut store, &[("a", &crd("example.com", "foos", "Foo", &["v1", "v2"]))]);
    let snapshot = store.snapshot();
    assert_published(&snapshot, "example.com", "v1", "foos", "Foo");
    assert_published(&snapshot, "example.com", "v2", "foos", "Foo");
}

#[test]
fn two_versions_of_a_group_from_two_crds_are_in_v2_and_v3() {
    let mut store = store();
    set(
        &mut store,
        &[("a", &crd("example.com", "foos", "Foo", &["v1"])), ("b", &crd("example.com", "bars", "Bar", &["v2"]))],
    );
    let snapshot = store.snapshot();
    assert_published(&snapshot, "example.com", "v1", "foos", "Foo");
    assert_published(&snapshot, "example.com", "v2", "bars", "Bar");
}

#[test]
fn two_kinds_of_one_group_version_are_in_v2_and_v3() {
    let mut store = store();
    set(
        &mut store,
        &[("a", &crd("example.com", "foos", "Foo", &["v1"])), ("b", &crd("example.com", "bars", "Bar", &["v1"]))],
    );
    let snapshot = store.snapshot();
    assert_published(&snapshot, "example.com", "v1", "foos", "Foo");
    assert_published(&snapshot, "example.com", "v1", "bars", "Bar");
}

#[test]
fn documents_are_current_after_a_crd_is_created_changed_and_deleted() {
    let mut store = store();
    set(&mut store, &[("a", &crd("example.com", "foos", "Foo", &["v1"]))]);
    let first = store.snapshot();
    assert!(v2(&first).contains("Foo of v1"));
    let applied = set(&mut store, &[("b", &crd("example.com", "bars", "Bar", &["v1"]))]);
    assert_eq!(applied.documents, [("apis/example.com/v1".into(), Reason::Changed)]);
    assert_published(&store.snapshot(), "example.com", "v1", "bars", "Bar");
    set(&mut store, &[("a", &crd("example.com", "foos", "Foo", &["v1"]).replace("Foo of v1", "Something else"))]);
    let third = store.snapshot();
    for text in [v2(&third), v3(&third, "apis/example.com/v1").expect("has a document")] {
        assert!(text.contains("Something else") && !text.contains("Foo of v1") && text.contains("Bar of v1"));
    }
    delete(&mut store, "a");
    let fourth = store.snapshot();
    for text in [v2(&fourth), v3(&fourth, "apis/example.com/v1").expect("has a document")] {
        assert!(!text.contains("foos") && text.contains("Bar of v1"));
    }
    let applied = delete(&mut store, "b");
    assert_eq!(applied.documents, [("apis/example.com/v1".into(), Reason::Removed)]);
    let last = store.snapshot();
    assert_eq!(index(&last), r#"{"paths":{}}"#);
    assert!(!v2(&last).contains("example.com") && last.v3.is_empty() && last.discovery.groups.is_empty());
    assert!(v2(&first).contains("Foo of v1"), "a snapshot never changes");
}

#[test]
fn a_version_that_is_no_longer_served_loses_its_document() {
    let mut store = store();
    let text = crd("example.com", "foos", "Foo", &["v1", "v2"]);
    set(&mut store, &[("a", &text)]);
    assert!(store.snapshot().v3.contains_key("apis/example.com/v2"));
    let v2_off = text.replacen("name: v2\n    served: true", "name: v2\n    served: false", 1);
    let applied = set(&mut store, &[("a", &v2_off)]);
    assert_eq!(applied.documents, [("apis/example.com/v2".into(), Reason::Removed)]);
    let snapshot = store.snapshot();
    assert!(!index(&snapshot).contains("example.com/v2") && !v2(&snapshot).contains("example.com/v2"));
    assert_published(&snapshot, "example.com", "v1", "foos", "Foo");
}

#[test]
fn unchanged_parts_are_shared_between_snapshots() {
    let mut store = store();
    set(
        &mut store,
        &[("a", &crd("a.example.com", "foos", "Foo", &["v1"])), ("b", &crd("b.example.com", "bars", "Bar", &["v1"]))],
    );
    let before = store.snapshot();
    let applied = set(&mut store, &[("b", &crd("b.example.com", "bars", "Bar", &["v1"]).replace("Bar of", "Bars of"))]);
    assert_eq!(applied.documents.len(), 1);
    assert!(applied.groups.is_empty(), "discovery shows no description");
    let after = store.snapshot();
    let leaf = |snapshot: &Snapshot, path: &str| match snapshot.v3.get(path) {
        Some(Leaf::Local(document)) => Arc::clone(document),
        _ => panic!("{path} is missing"),
    };
    assert!(Arc::ptr_eq(&leaf(&before, "apis/a.example.com/v1"), &leaf(&after, "apis/a.example.com/v1")));
    assert!(!Arc::ptr_eq(&leaf(&before, "apis/b.example.com/v1"), &leaf(&after, "apis/b.example.com/v1")));
    assert!(Arc::ptr_eq(&before.discovery.aggregated, &after.discovery.aggregated));
    // A comment changes nothing that is published.
    let comment = format!("# A comment.\n{}", crd("a.example.com", "foos", "Foo", &["v1"]));
    let applied = set(&mut store, &[("a", &comment)]);
    assert!(applied.documents.is_empty() && applied.groups.is_empty());
    let last = store.snapshot();
    assert!(Arc::ptr_eq(&leaf(&after, "apis/a.example.com/v1"), &leaf(&last, "apis/a.example.com/v1")));
    assert_eq!(leaf(&last, "apis/a.example.com/v1").modified(), now(1));
}

#[test]
fn a_broken_file_keeps_its_content_until_it_is_whole_or_gone() {
    let mut store = store();
    let text = crd("example.com", "foos", "Foo", &["v1"]);
    set(&mut store, &[("a", &text)]);
    let before = store.snapshot();
    let applied = set(&mut store, &[("a", "apiVersion: apiextensions.k8s.io/v1\nkind: [CustomResourceDefinition\n")]);
    assert!(!applied.changed);
    assert_eq!(applied.broken.len(), 1);
    assert!(
        applied.broken[0].place.is_some() && applied.broken[0].to_string().starts_with("a:"),
        "{}",
        applied.broken[0]
    );
    assert_eq!(index(&store.snapshot()), index(&before));
    let applied = set(&mut store, &[("b", &crd("b.example.com", "bars", "Bar", &["v1"]))]);
    assert_eq!(applied.broken.len(), 1, "it is reported as long as it is broken");
    let applied = set(&mut store, &[("a", &text.replace("Foo of", "Foos of"))]);
    assert!(applied.broken.is_empty() && applied.changed);
    set(&mut store, &[("a", "kind: {")]);
    let applied = delete(&mut store, "a");
    assert!(applied.broken.is_empty());
    assert!(!store.snapshot().v3.contains_key("apis/example.com/v1"));
}

#[test]
fn the_first_by_file_of_two_crds_with_one_name_is_used() {
    let mut store = store();
    let text = crd("example.com", "foos", "Foo", &["v1"]);
    let applied = set(&mut store, &[("b", &text.replace("Foo of", "Second of")), ("a", &text)]);
    assert_eq!(applied.findings.len(), 1);
    assert_eq!(applied.findings[0].input.as_deref(), Some("b"));
    assert!(v3(&store.snapshot(), "apis/example.com/v1").expect("has a document").contains("Foo of v1"));
    delete(&mut store, "a");
    assert!(v3(&store.snapshot(), "apis/example.com/v1").expect("has a document").contains("Second of v1"));
}

#[test]
fn a_crd_that_lacks_a_name_is_not_published() {
    let mut store = store();
    let other = crd("example.com", "foes", "Foe", &["v1"]).replace("kind: Foe}", "kind: Foe, shortNames: [foos]}");
    let applied = set(&mut store, &[("a", &crd("example.com", "foos", "Foo", &["v1"])), ("b", &other)]);
    assert_eq!(applied.findings.len(), 1);
    assert_eq!(applied.findings[0].code.to_string(), "KS9001");
    assert!(!v2(&store.snapshot()).contains("foes"));
    let applied = delete(&mut store, "a");
    assert!(applied.findings.is_empty());
    assert_published(&store.snapshot(), "example.com", "v1", "foes", "Foe");
}

#[test]
fn lists_and_streams_contain_any_number_of_crds() {
    let mut store = store();
    let (a, b) = (crd("a.example.com", "foos", "Foo", &["v1"]), crd("b.example.com", "bars", "Bar", &["v1"]));
    let indented = |text: &str| text.replace('\n', "\n  ");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}\n- {}", indented(&a).trim_end(), indented(&b));
    set(&mut store, &[("list", &list)]);
    let of_list = store.snapshot();
    assert_published(&of_list, "a.example.com", "v1", "foos", "Foo");
    let applied = set(&mut store, &[("list", &format!("{a}---\n{b}"))]);
    assert!(applied.documents.is_empty(), "the same definitions give the same documents");
    assert_published(&store.snapshot(), "b.example.com", "v1", "bars", "Bar");
}

// Documents of inputs and of a base.

const THINGS: &str = r#"{"swagger":"2.0","info":{"title":"Things","version":"1"},"paths":{"/apis/d.example.com/v1/things":{"get":{"responses":{}}}}}"#;

#[test]
fn of_several_v2_documents_the_first_is_published_and_the_others_are_reported() {
    let mut store = store();
    let other = THINGS.replace("things", "others");
    let applied = set(&mut store, &[("a.json", THINGS), ("b.json", &other), ("c.json", THINGS)]);
    assert!(applied.changed);
    let findings: Vec<String> = applied.findings.iter().map(ToString::to_string).collect();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("b.json: KS9021") && findings[0].contains("which a.json holds"), "{findings:?}");
    assert!(v2(&store.snapshot()).contains("things") && !v2(&store.snapshot()).contains("others"));
    let applied = delete(&mut store, "a.json");
    assert_eq!(applied.findings.len(), 1);
    assert_eq!(applied.findings[0].input.as_deref(), Some("c.json"));
    assert_eq!(store.findings().count(), 1);
    assert!(v2(&store.snapshot()).contains("others"));
    assert!(delete(&mut store, "c.json").findings.is_empty());
    assert_eq!(store.findings().count(), 0);
}

#[test]
fn of_several_v3_documents_for_a_path_the_first_is_published_and_the_others_are_reported() {
    let mut store = store();
    let document = |title: &str| {
        format!(
            r#"{{"openapi":"3.0.0","info":{{"title":"{title}","version":"1"}},"paths":{{"/apis/d.example.com/v1/things":{{}}}}}}"#
        )
    };
    let applied = set(&mut store, &[("a.json", &document("One")), ("b.json", &document("Two"))]);
    assert_eq!(applied.findings.len(), 1);
    assert_eq!((applied.findings[0].code.number(), applied.findings[0].input.as_deref()), (9021, Some("b.json")));
    assert!(v3(&store.snapshot(), "apis/d.example.com/v1").expect("has a document").contains("One"));
    assert!(set(&mut store, &[("b.json", &document("One"))]).findings.is_empty(), "it is the same document");
}

#[test]
fn a_document_of_an_input_is_served_as_a_server_prints_it() {
    let title = r#"Things: \"a\", [b] {c}"#;
    let compact = THINGS.replace("Things", title).replace("swagger", "openapi").replace("2.0", "3.0.0");
    let served = |text: &str| {
        let mut store = store();
        let applied = set(&mut store, &[("a.json", text)]);
        assert_eq!(applied.findings, [], "{text}");
        v3(&store.snapshot(), "apis/d.example.com/v1").expect("has a document")
    };
    assert_eq!(served(&compact), compact);
    let path = r#""/apis/d.example.com/v1/things":"#;
    let spaced = [
        compact.replace(path, &format!("{path} ")),
        compact.replacen('{', "{ ", 1),
        compact.replace("}}}}}", "}}}}\t}"),
        compact.replace(":{\"get\"", ":\r{\"get\""),
        format!("{compact}\n"),
        format!(" {compact}"),
        // YAML, although it looks like JSON.
        format!("--- {compact}"),
    ];
    for text in spaced {
        assert_ne!(text, compact);
        assert_eq!(served(&text), compact, "{text}");
    }
    // A blank at the end of the last string, and one after an escaped quotation mark, are parts of strings.
    let inside = compact.replace("[b] {c}", r" \\");
    assert_eq!(served(&inside), inside);
}

#[test]
fn two_documents_in_one_line_are_two_documents() {
    let document = |path: &str| {
        format!(r#"{{"openapi":"3.0.0","info":{{"title":"t","version":"1"}},"paths":{{"/apis/{path}/things":{{}}}}}}"#)
    };
    let (one, two) = (document("a.example.com/v1"), document("b.example.com/v1"));
    let mut store = store();
    set(&mut store, &[("a.json", &format!("{one}{two}"))]);
    let snapshot = store.snapshot();
    assert_eq!(v3(&snapshot, "apis/a.example.com/v1").as_deref(), Some(one.as_str()));
    assert_eq!(v3(&snapshot, "apis/b.example.com/v1").as_deref(), Some(two.as_str()));
}

#[test]
fn bare_definitions_are_an_openapi_v2_document() {
    let mut store = store();
    let definitions = r#"{"definitions":{"com.example.Thing":{"type":"object"}}}"#;
    let applied = set(&mut store, &[("a.json", definitions)]);
    assert_eq!(applied.findings, []);
    assert!(v2(&store.snapshot()).contains(r#""com.example.Thing":{"type":"object"}"#), "{}", v2(&store.snapshot()));
}

#[test]
fn ignored_files_are_reported() {
    let mut store = store();
    let text = crd("example.com", "foos", "Foo", &["v1"]);
    let applied = set(&mut store, &[("a.yaml", &format!("{text}...\nkind: Lost\n"))]);
    let findings: Vec<String> = applied.findings.iter().map(ToString::to_string).collect();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].contains(": KS1012 "), "{findings:?}");
    assert_eq!(applied.findings[0].excerpt.as_ref().map(|excerpt| excerpt.text.as_str()), Some("kind: Lost"));
    assert!(applied.broken.is_empty());
}

#[test]
fn inputs_may_be_compressed_and_broken_compression_breaks_the_file() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(crd("example.com", "foos", "Foo", &["v1"]).as_bytes()).expect("memory");
    let packed = encoder.finish().expect("memory");
    let mut store = store();
    let change = |bytes: &[u8]| Change { name: "a.yaml.gz".into(), content: Some(Bytes::copy_from_slice(bytes)) };
    let applied = store.apply(vec![change(&packed)], now(1));
    assert_eq!(applied.findings, []);
    assert_published(&store.snapshot(), "example.com", "v1", "foos", "Foo");
    let applied = store.apply(vec![change(&packed[..packed.len() / 2])], now(2));
    assert_eq!(applied.broken.iter().map(|finding| finding.code.number()).collect::<Vec<_>>(), [1007]);
    assert_published(&store.snapshot(), "example.com", "v1", "foos", "Foo");
}

#[test]
fn an_invalid_document_is_left_out_of_a_folder_and_an_error_elsewhere() {
    let refusal = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":406}"#;
    for (text, what) in
        [(refusal, "Status"), ("404 page not found\n", "found"), ("[1, 2]", "found"), ("", "found nothing")]
    {
        let documents = vec![
            ("base/openapi-v2.json".into(), Bytes::from_static(THINGS.as_bytes())),
            ("base/other.json".into(), Bytes::copy_from_slice(text.as_bytes())),
        ];
        let named = BaseDocuments { documents, ..BaseDocuments::default() };
        let error = Store::new(named.clone(), StoreOptions::default(), now(0)).expect_err("it was named").to_string();
        assert!(error.starts_with("base/other.json: found ") && error.contains(what), "{error}");
        let found = BaseDocuments { found: ["base/other.json".into()].into(), ..named };
        let store = Store::new(found, StoreOptions::default(), now(0)).expect("it was found in a folder");
        let findings: Vec<String> = store.findings().map(ToString::to_string).collect();
        assert_eq!(findings.len(), 1);
        assert!(findings[0].starts_with("base/other.json: KS1009") && findings[0].contains(what), "{findings:?}");
        assert!(v2(&store.snapshot()).contains("things"));
    }
}
