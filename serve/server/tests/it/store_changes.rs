//! What is published is a function of the current contents of files, not of their history.

use bytes::Bytes;
use kubeshape_discovery::{custom_resource, established};
use kubeshape_publish::{Base, MergeV2, Options, Profile, Publisher, V2Form};
use kubeshape_schema::{Bump, Dialect};
use kubeshape_server::{BaseDocuments, Change, Document, Leaf, Snapshot, Store, StoreOptions, Tags};
use kubeshape_yaml::{Limits, Stream, Tape};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::SystemTime;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

/// A definition of a small family, in which names often collide.
#[derive(Clone, Debug)]
struct Crd {
    group: u8,
    kind: u8,
    plural: u8,
    /// Served or not.
    versions: Vec<bool>,
    namespaced: bool,
    scale: bool,
    text: u8,
}

impl Crd {
    fn yaml(&self) -> String {
        let Crd { group, kind, plural, .. } = self;
        let scope = if self.namespaced { "Namespaced" } else { "Cluster" };
        let mut out = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: things{plural}.g{group}.example.com}}\n\
             spec:\n  group: g{group}.example.com\n  scope: {scope}\n  names: {{plural: things{plural}, kind: Kind{kind}}}\n  versions:\n"
        );
        let subresources =
            if self.scale { "{scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}}" } else { "{}" };
        // Some schemas are too long to be copied.
        let text = format!("text {} ", self.text).repeat(if self.text.is_multiple_of(3) { 900 } else { 1 });
        for (i, served) in self.versions.iter().enumerate() {
            let _ = write!(
                out,
                "  - name: v{}\n    served: {served}\n    storage: {}\n    subresources: {subresources}\n    \
                 schema: {{openAPIV3Schema: {{type: object, description: {text}}}}}\n",
                i + 1,
                i == 0
            );
        }
        out
    }
}

fn crds() -> impl Strategy<Value = Crd> {
    let versions = prop::collection::vec(prop::bool::weighted(0.8), 1..3);
    (0_u8..3, 0_u8..6, 0_u8..6, versions, any::<bool>(), prop::bool::weighted(0.2), 0_u8..9).prop_map(
        |(group, kind, plural, versions, namespaced, scale, text)| Crd {
            group,
            // Usually a kind of its own.
            kind: if text == 0 { kind } else { plural },
            plural,
            versions,
            namespaced,
            scale,
            text,
        },
    )
}

/// A change of a file.
#[derive(Clone, Debug)]
enum Step {
    Write(Vec<Crd>),
    Break,
    Delete,
}

fn steps() -> impl Strategy<Value = Vec<Vec<(u8, Step)>>> {
    let step = prop_oneof![
        6 => prop::collection::vec(crds(), 0..3).prop_map(Step::Write),
        1 => Just(Step::Break),
        2 => Just(Step::Delete),
    ];
    prop::collection::vec(prop::collection::vec((0_u8..8, step), 1..4), 1..10)
}

/// A server's v2 document, with a path and a definition that collide with some.
const ONTO: &str = r##"{"swagger":"2.0","info":{"title":"Kubernetes","version":"1.36"},"paths":{
"/apis/g0.example.com/v1/namespaces/{namespace}/things1":{"get":{"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/com.example.g1.v1.Kind2"}}}}}},
"definitions":{"com.example.g1.v1.Kind2":{"type":"string"}},"securityDefinitions":{"BearerToken":{"type":"apiKey","name":"authorization","in":"header"}}}"##;

fn store(onto: bool, tags: Tags) -> Store {
    let onto = onto.then(|| ("onto.json".into(), Bytes::from_static(ONTO.as_bytes())));
    let options = StoreOptions { profile: Profile::Faithful, tags, ..StoreOptions::default() };
    Store::new(BaseDocuments { onto, ..BaseDocuments::default() }, options, NOW).expect("the base is good")
}

/// Returns everything that is published, with its names.
fn all(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let text = |bytes: Bytes| String::from_utf8(bytes.to_vec()).expect("text");
    for (path, leaf) in &snapshot.v3 {
        let Leaf::Local(document) = leaf else { panic!("{path} is not ours") };
        out.insert(format!("v3 {path}"), format!("{} {}", document.hash(), text(document.json().to_bytes())));
    }
    let v2 = snapshot.v2.as_ref().as_ref().expect("merges");
    for (name, document) in [
        ("index", snapshot.index.document()),
        ("v2", v2),
        ("aggregated", &snapshot.discovery.aggregated),
        ("aggregated core", &snapshot.discovery.aggregated_core),
    ] {
        let json = document.json().to_bytes();
        let mut unpacked = Vec::new();
        let gzip = document.gzip().to_bytes();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*gzip), &mut unpacked).expect("gzip");
        assert!(unpacked == json, "{name} is not what its compressed form holds");
        out.insert(name.to_owned(), format!("{} {}", document.hash(), text(json)));
    }
    out.insert("groups".to_owned(), format!("{:?}", snapshot.discovery.groups));
    let whole = Document::new(Some(Dialect::V2), v2.json().clone(), NOW);
    let (protobuf, expected) = (v2.protobuf().expect("a form"), whole.protobuf().expect("a form"));
    assert!(protobuf.to_bytes() == expected.to_bytes(), "v2 as protobuf is not what its JSON becomes as a whole");
    let (gzip, mut unpacked) = (v2.protobuf_gzip().expect("a form").to_bytes(), Vec::new());
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*gzip), &mut unpacked).expect("gzip");
    assert!(unpacked == expected.to_bytes(), "v2 as protobuf is not what its compressed form holds");
    out
}

/// Returns the v2 document by the rules of merging.
fn v2_by_the_rules(files: &BTreeMap<String, String>, onto: Option<&str>) -> String {
    let publisher = Publisher::new(
        Base::builtin_of(kubeshape_schema::Release::NEWEST),
        Options { profile: Profile::Faithful, ..Options::default() },
    );
    let mut merge = MergeV2::new();
    let mut names = BTreeSet::new();
    let mut groups: BTreeMap<String, Vec<(String, _, _)>> = BTreeMap::new();
    for text in files.values() {
        let mut stream = Stream::new(text.as_bytes(), Limits::default()).expect("YAML");
        let source = stream.source();
        let mut tape = Tape::new();
        while let Some(read) = stream.next(&mut tape) {
            read.expect("YAML");
            let Some(root) = tape.document(source).root().filter(|_| tape.has_content()) else { continue };
            let arena = Bump::new();
            let crd = kubeshape_structural::read::read(root, &arena).value.expect("a definition");
            if names.insert(crd.name.to_owned()) {
                let fragments = publisher.resource(&crd, &arena).v2_fragments(V2Form::Served);
                groups.entry(crd.group.to_owned()).or_default().push((
                    crd.name.to_owned(),
                    custom_resource(&crd),
                    fragments,
                ));
            }
        }
    }
    for resources in groups.into_values() {
        let customs: Vec<_> = established(resources.iter().map(|(_, custom, _)| custom)).into_iter().cloned().collect();
        for (name, custom, fragments) in resources {
            if customs.contains(&custom) {
                merge.add(&name, fragments);
            }
        }
    }
    let onto = onto.unwrap_or(r#"{"swagger":"2.0","info":{"title":"Kubernetes","version":"1.37"},"paths":{}}"#);
    let merged = merge.finish_into(publisher.base(), onto.as_bytes(), Profile::Faithful).expect("merges");
    String::from_utf8(merged.document).expect("text")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(kubeshape_corpus::cases(96)))]
    #[test]
    fn any_history_gives_what_a_fresh_store_gives(
        rounds in steps(),
        reads in prop::collection::vec(any::<bool>(), 10),
        onto in any::<bool>(),
        chunks in any::<bool>(),
    ) {
        let tags = if chunks { Tags::Chunks } else { Tags::Content };
        let mut store_ = store(onto, tags);
        // The last whole content of each existing file.
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for (round, read) in rounds.into_iter().zip(reads) {
            let before = store_.snapshot();
            let old = read.then(|| all(&before));
            let mut changes = Vec::new();
            for (file, step) in round {
                let name = format!("file{file}.yaml");
                let content = match step {
                    Step::Write(crds) => {
                        let text = crds.iter().map(Crd::yaml).collect::<Vec<_>>().join("---\n");
                        files.insert(name.clone(), text.clone());
                        Some(Bytes::from(text))
                    }
                    Step::Break => Some(Bytes::from_static(b"kind: [")),
                    Step::Delete => {
                        files.remove(&name);
                        None
                    }
                };
                changes.push(Change { name: name.as_str().into(), content });
            }
            let applied = store_.apply(changes, NOW);
            let after = store_.snapshot();
            let touched: BTreeSet<&str> = applied.documents.iter().map(|(path, _)| &**path).collect();
            for (path, leaf) in &after.v3 {
                if let (Some(Leaf::Local(old)), Leaf::Local(new)) = (before.v3.get(path), leaf) {
                    prop_assert_eq!(Arc::ptr_eq(old, new), !touched.contains(&**path), "{} is made anew only with another content", path);
                    prop_assert_eq!(Arc::ptr_eq(old, new), old.json().to_bytes() == new.json().to_bytes());
                }
            }
            if let Some(old) = old {
                prop_assert_eq!(all(&before), old, "a snapshot never changes");
            }
        }
        let mut fresh = store(onto, tags);
        let change = |(name, text): (&String, &String)| Change { name: name.as_str().into(), content: Some(text.clone().into()) };
        fresh.apply(files.iter().map(change).collect(), NOW);
        let (ours, theirs) = (all(&store_.snapshot()), all(&fresh.snapshot()));
        for (name, text) in &theirs {
            prop_assert_eq!(ours.get(name), Some(text), "{}", name);
        }
        prop_assert_eq!(ours.len(), theirs.len());
        let v2 = ours["v2"].split_once(' ').map_or("", |(_, text)| text);
        prop_assert_eq!(v2, v2_by_the_rules(&files, onto.then_some(ONTO)));
    }
}

#[test]
fn after_a_change_only_its_chunks_of_v2_are_encoded_as_protobuf_again() {
    let crd = |plural, text| Crd {
        group: 0,
        kind: plural,
        plural,
        versions: vec![true],
        namespaced: true,
        scale: false,
        text,
    };
    let change = |plural, text| Change {
        name: format!("file{plural}.yaml").into(),
        content: Some(crd(plural, text).yaml().into()),
    };
    let mut store = store(false, Tags::Content);
    store.apply((0..200).map(|plural| change(plural, 1)).collect(), NOW);
    let pieces = |store: &Store| {
        let snapshot = store.snapshot();
        let v2 = snapshot.v2.as_ref().as_ref().expect("merges");
        v2.protobuf().expect("a form").pieces().to_vec()
    };
    let before = pieces(&store);
    assert!(before.len() > 100, "{} pieces", before.len());
    store.apply(vec![change(77, 3)], NOW);
    let after = pieces(&store);
    let kept: BTreeSet<*const u8> = before.iter().map(|piece| piece.as_ptr()).collect();
    let new: Vec<usize> = after.iter().filter(|piece| !kept.contains(&piece.as_ptr())).map(bytes::Bytes::len).collect();
    // The bytes between the sections, and the chunk of the definition.
    assert!(new.len() <= 5, "{new:?}");
    let bytes: usize = new.iter().sum();
    assert!(bytes < 40_000, "{new:?}");
}
