//! `kubeshape-bench serve-update FOLDER [N…]`: the cost of a change of one CustomResourceDefinition among N others, the
//! memory of each, and the cost of aggregated discovery of 3,000.
//!
//! The CustomResourceDefinitions come from the folder, and each copy has its own group. Times are processor time of the
//! process, and the best of many rounds is reported. Memory is what the allocator has allocated and not freed.

use crate::smd::live_bytes;
use bytes::Bytes;
use cpu_time::ProcessTime;
use kubeshape_server::{BaseDocuments, Change, Document, Leaf, Snapshot, Store, StoreOptions, Tags};
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

const NOW: SystemTime = SystemTime::UNIX_EPOCH;
/// Rounds of a change, and of a change followed by a read of v2.
const ROUNDS: usize = 60;
const V2_ROUNDS: usize = 7;

/// A CustomResourceDefinition and its group.
struct Definition {
    text: String,
    group: String,
}

impl Definition {
    /// Returns the definition in another group.
    fn renamed(&self, group: &str) -> String {
        self.text.replace(&self.group, group)
    }
}

pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let Some(folder) = arguments.first() else { return ExitCode::from(2) };
    let numbers: Vec<usize> = arguments[1..].iter().filter_map(|n| n.parse().ok()).collect();
    let sources = sources(Path::new(folder));
    if sources.is_empty() {
        eprintln!("found no CustomResourceDefinition in {folder}");
        return ExitCode::FAILURE;
    }
    for n in if numbers.is_empty() { vec![1_000, 10_000] } else { numbers } {
        for tags in [Tags::Content, Tags::Chunks] {
            measure(&sources, n, tags);
        }
    }
    discovery(&sources, 3_000);
    ExitCode::SUCCESS
}

/// Returns the CustomResourceDefinitions of a folder that can be served, in a fixed order.
fn sources(folder: &Path) -> Vec<Definition> {
    let mut out = Vec::new();
    for path in crate::work::files(folder) {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        for document in text.split("\n---") {
            let Ok(mut stream) = Stream::new(document.as_bytes(), Limits::default()) else { continue };
            let source = stream.source();
            let mut tape = Tape::new();
            let Some(Ok(())) = stream.next(&mut tape) else { continue };
            let Some(root) = tape.document(source).root() else { continue };
            let arena = kubeshape_schema::Bump::new();
            let (crds, _) = manifests(root);
            let [crd] = crds.as_slice() else { continue };
            let Some(crd) = crd.read(&arena).value else { continue };
            if crd.group.contains('.') && crd.versions.iter().any(|version| version.served) {
                out.push(Definition { text: document.to_owned(), group: crd.group.to_owned() });
            }
        }
    }
    out
}

/// Returns `n` CustomResourceDefinitions, each in its own group. If there are many, short ones are used, so that they
/// fit into memory.
fn files(sources: &[Definition], n: usize) -> Vec<Change> {
    let fits = |source: &&Definition| n <= 3_000 || source.text.len() < 16 << 10;
    let sources: Vec<&Definition> = sources.iter().filter(fits).collect();
    let file = |i: usize| {
        // Groups are spread over the alphabet.
        let group = format!("{}{i:05}.example.com", char::from(b'b' + (i * 7 % 24) as u8));
        let text = sources.get(i % sources.len().max(1)).map(|source| source.renamed(&group)).unwrap_or_default();
        change(&format!("{group}.yaml"), text)
    };
    (0..n).map(file).collect()
}

fn change(name: &str, text: String) -> Change {
    Change { name: name.into(), content: Some(text.into_boxed_str().into_boxed_bytes().into()) }
}

fn store(tags: Tags) -> Option<Store> {
    let options = StoreOptions { tags, ..StoreOptions::default() };
    Store::new(BaseDocuments::default(), options, NOW).ok()
}

fn v2(snapshot: &Snapshot) -> Option<&Document> {
    snapshot.v2.as_ref().as_ref().ok().map(|document| &**document)
}

fn measure(sources: &[Definition], n: usize, tags: Tags) {
    let Some(mut store) = store(tags) else { return };
    let before = live_bytes();
    let files = files(sources, n);
    let source_bytes: usize = files.iter().filter_map(|file| file.content.as_ref()).map(Bytes::len).sum();
    let start = ProcessTime::now();
    store.apply(files, NOW);
    let load = start.elapsed();
    let snapshot = store.snapshot();
    let start = ProcessTime::now();
    snapshot.discovery.aggregated.hash();
    let first_tag = start.elapsed();
    let published = store.published();
    let v3_bytes: usize = snapshot
        .v3
        .values()
        .map(|leaf| match leaf {
            Leaf::Local(document) => document.json().len(),
            Leaf::Remote(_) => 0,
        })
        .sum();
    let each = |bytes: usize| bytes / published.max(1) / 1000;
    println!(
        "{n} definitions, {tags:?}: {published} published in {:.2} s; source {} kB, v3 {} kB each; memory {} kB each; discovery {} kB, its first tag {:.2} ms",
        load.as_secs_f64(),
        each(source_bytes),
        each(v3_bytes),
        each(live_bytes().saturating_sub(before)),
        snapshot.discovery.aggregated.json().len() / 1000,
        ms(first_tag)
    );
    drop(snapshot);
    // A CustomResourceDefinition whose document has the average size of real ones.
    let can = |source: &&Definition| source.text.contains("\n    plural:") && !source.text.contains("shortNames:");
    let probe = sources.iter().filter(can).min_by_key(|source| source.text.len().abs_diff(95_000));
    let Some(probe) = probe else { return };
    for (place, group) in [("first", "a.example.com"), ("middle", "m.example.com"), ("last", "zz.example.com")] {
        one_change(&mut store, probe, place, group);
    }
    let start = ProcessTime::now();
    let snapshot = store.snapshot();
    let Some(document) = v2(&snapshot) else { return };
    document.hash();
    println!(
        "  v2: first read {:.0} ms, {} MB; memory {} kB each",
        ms(start.elapsed()),
        document.json().len() / 1_000_000,
        each(live_bytes().saturating_sub(before))
    );
    drop(snapshot);
    for (place, group) in [("first", "a.example.com"), ("middle", "m.example.com"), ("last", "zz.example.com")] {
        let (mut merge, mut tag) = (Duration::MAX, Duration::MAX);
        for round in 0..V2_ROUNDS {
            store.apply(vec![change(group, variant(probe, group, round))], NOW);
            let snapshot = store.snapshot();
            let start = ProcessTime::now();
            let Some(document) = v2(&snapshot) else { return };
            merge = merge.min(start.elapsed());
            let start = ProcessTime::now();
            document.hash();
            tag = tag.min(start.elapsed());
        }
        println!("  v2 after a change, {place}: merge {:.2} ms, tag {:.2} ms", ms(merge), ms(tag));
    }
}

/// Returns the definition with another description and another short name.
fn variant(probe: &Definition, group: &str, round: usize) -> String {
    let text = probe.renamed(group).replacen("    plural:", &format!("    shortNames: [probe{round}]\n    plural:"), 1);
    // The first description of the schema that is a plain scalar.
    let schema = text.find("openAPIV3Schema:").unwrap_or_default();
    let plain = |at: &usize| text.as_bytes().get(at + 13).is_some_and(u8::is_ascii_uppercase);
    match text[schema..].match_indices("description: ").map(|(at, _)| schema + at).find(plain) {
        Some(at) => format!("{}Round {round} {}", &text[..at + 13], &text[at + 13..]),
        None => text,
    }
}

fn one_change(store: &mut Store, probe: &Definition, place: &str, group: &str) {
    store.apply(vec![change(group, probe.renamed(group))], NOW);
    store.snapshot().discovery.aggregated.hash();
    let (mut apply, mut tag, mut all) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let mut size = 0;
    for round in 0..ROUNDS {
        let change = change(group, variant(probe, group, round));
        let start = ProcessTime::now();
        let applied = store.apply(vec![change], NOW);
        let snapshot = store.snapshot();
        let applying = start.elapsed();
        snapshot.discovery.aggregated.hash();
        let total = start.elapsed();
        assert!(applied.groups.len() == 1 && !applied.documents.is_empty(), "invisible: {applied:?}");
        if let Some(Leaf::Local(document)) = snapshot.v3.get(&*applied.documents[0].0) {
            size = document.json().len();
        }
        apply = apply.min(applying);
        tag = tag.min(total.saturating_sub(applying));
        all = all.min(total);
    }
    println!(
        "  change of one of {} kB, {place}: v3 document, index, discovery {:.3} ms; tag of discovery {:.3} ms; all {:.3} ms",
        size / 1000,
        ms(apply),
        ms(tag),
        ms(all)
    );
}

/// Measures aggregated discovery of `n` CustomResourceDefinitions: its compressed size, and the cost of reads.
fn discovery(sources: &[Definition], n: usize) {
    let Some(mut store) = store(Tags::Content) else { return };
    let mut files = files(sources, n + 1);
    files.truncate(n);
    store.apply(files, NOW);
    let snapshot = store.snapshot();
    let document = &snapshot.discovery.aggregated;
    let start = ProcessTime::now();
    let body = document.enveloped(br#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","#, b"\n");
    let gzip = body.gzip().len();
    let first = start.elapsed();
    let start = ProcessTime::now();
    let mut pieces = 0;
    for _ in 0..100 {
        pieces += body.gzip().clone().pieces().len();
        pieces += document.hash().len();
    }
    println!(
        "discovery of {n}: {} kB, compressed {} kB in {:.1} ms; each read {:.4} ms ({} pieces)",
        body.json().len() / 1000,
        gzip / 1000,
        ms(first),
        ms(start.elapsed()) / 100.0,
        pieces / 100
    );
    store.apply(vec![change("a", sources[0].renamed("a.example.com"))], NOW);
    let snapshot = store.snapshot();
    let start = ProcessTime::now();
    snapshot.discovery.aggregated.enveloped(b"{", b"\n").gzip();
    println!("  compressed again after a change in {:.3} ms", ms(start.elapsed()));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
