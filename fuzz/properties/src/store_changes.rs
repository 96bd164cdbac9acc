//! After any sequence of changes, a store publishes what a new store publishes for the same files.

use kubeshape_publish::Profile;
use kubeshape_server::{BaseDocuments, Change, Leaf, Snapshot, Store, StoreOptions, Tags};
use arbitrary::Arbitrary;
use std::collections::BTreeMap;
use std::time::SystemTime;

/// A definition of a small family, in which names often collide.
#[derive(Arbitrary, Debug)]
struct Definition {
    group: u8,
    plural: u8,
    kind: u8,
    second_version: Option<bool>,
    is_namespaced: bool,
    text: u8,
}

impl Definition {
    fn yaml(&self) -> String {
        let (group, plural, kind) = (self.group % 3, self.plural % 4, self.kind % 4);
        let scope = if self.is_namespaced { "Namespaced" } else { "Cluster" };
        // Some schemas are too long to be copied.
        let text = format!("text {} ", self.text % 4).repeat(if self.text.is_multiple_of(3) { 900 } else { 1 });
        let version = |name: &str, served: bool, storage: bool| {
            format!(
                "  - {{name: {name}, served: {served}, storage: {storage}, \
                 schema: {{openAPIV3Schema: {{type: object, description: {text}}}}}}}\n"
            )
        };
        let second = self.second_version.map(|served| version("v2", served, false)).unwrap_or_default();
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
             metadata: {{name: things{plural}.g{group}.example.com}}\nspec:\n  group: g{group}.example.com\n  \
             scope: {scope}\n  names: {{plural: things{plural}, kind: Kind{kind}}}\n  versions:\n{}{second}",
            version("v1", true, true)
        )
    }
}

#[derive(Arbitrary, Debug)]
enum Step {
    Write(Vec<Definition>),
    /// A file that cannot be read; its earlier contents stay.
    Break,
    Delete,
}

#[derive(Arbitrary, Debug)]
struct Input {
    rounds: Vec<Vec<(u8, Step)>>,
    chunks: bool,
    /// Whether to read everything between the rounds, so that forms are built and reused.
    reads: bool,
}

fn store(tags: Tags) -> Store {
    let options = StoreOptions { profile: Profile::Faithful, tags, ..StoreOptions::default() };
    Store::new(BaseDocuments::default(), options, SystemTime::UNIX_EPOCH).expect("there is no base")
}

/// Returns everything that is published.
fn all(snapshot: &Snapshot) -> BTreeMap<String, (String, Vec<u8>)> {
    let mut out = BTreeMap::new();
    let mut add = |name: String, document: &kubeshape_server::Document| {
        let (json, gzip) = (document.json().to_bytes().to_vec(), document.gzip().to_bytes());
        let mut unpacked = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*gzip), &mut unpacked).expect("gzip");
        assert!(unpacked == json, "{name} differs from its compressed form");
        out.insert(name, (document.hash().to_string(), json));
    };
    for (path, leaf) in &snapshot.v3 {
        let Leaf::Local(document) = leaf else { panic!("{path} is not ours") };
        add(format!("v3 {path}"), document);
    }
    add("index".to_owned(), snapshot.index.document());
    add("aggregated".to_owned(), &snapshot.discovery.aggregated);
    add("v2".to_owned(), snapshot.v2.as_ref().as_ref().expect("it merges"));
    out
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Some(input) = crate::input::<Input>(data) else { return };
    let tags = if input.chunks { Tags::Chunks } else { Tags::Content };
    let mut changed = store(tags);
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for round in input.rounds {
        let changes = round.into_iter().map(|(file, step)| {
            let name = format!("file{}.yaml", file % 6);
            let content = match step {
                Step::Write(definitions) => {
                    let text = definitions.iter().map(Definition::yaml).collect::<Vec<_>>().join("---\n");
                    files.insert(name.clone(), text.clone());
                    Some(text.into())
                }
                Step::Break => Some("kind: [".into()),
                Step::Delete => {
                    files.remove(&name);
                    None
                }
            };
            Change { name: name.as_str().into(), content }
        });
        let changes: Vec<Change> = changes.collect();
        changed.apply(changes, SystemTime::UNIX_EPOCH);
        if input.reads {
            all(&changed.snapshot());
        }
    }
    let mut fresh = store(tags);
    let change = |(name, text): (&String, &String)| Change { name: name.as_str().into(), content: Some(text.clone().into()) };
    fresh.apply(files.iter().map(change).collect(), SystemTime::UNIX_EPOCH);
    assert!(all(&changed.snapshot()) == all(&fresh.snapshot()), "{files:?}");
}
