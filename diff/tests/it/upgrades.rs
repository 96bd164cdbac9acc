//! Definitions as real projects changed them, where `KUBESHAPE_CORPUS` names the folder that holds them.

use flate2::read::GzDecoder;
use kubeshape_diff::{Class, Consumer, Effort, Proof, definitions, witnesses};
use kubeshape_schema::Bump;
use kubeshape_structural::Crd;
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Calls a function with each pair of definitions. Returns how many there are.
pub(crate) fn pairs(folder: &Path, mut each: impl FnMut(&str, &Crd<'_>, &Crd<'_>)) -> usize {
    let folder = folder.join("upgrades");
    let list = std::fs::read_to_string(folder.join("pairs.ndjson")).unwrap();
    let mut count = 0;
    for line in list.lines() {
        let pair: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = pair["name"].as_str().unwrap();
        let read = |side: &str| {
            let file = folder.join("crds").join(format!("{}.yaml.gz", pair[side]["sha"].as_str().unwrap()));
            let mut text = String::new();
            GzDecoder::new(File::open(file).unwrap()).read_to_string(&mut text).unwrap();
            text
        };
        let texts = (read("old"), read("new"));
        let arena = Bump::new();
        let (mut old_tapes, mut new_tapes) = (Vec::new(), Vec::new());
        let (Some(old), Some(new)) =
            (find(&texts.0, name, &mut old_tapes, &arena), find(&texts.1, name, &mut new_tapes, &arena))
        else {
            panic!("{line}");
        };
        count += 1;
        each(&format!("{name} {} {}", pair["old"]["tag"], pair["new"]["tag"]), &old, &new);
    }
    count
}

fn find<'a>(text: &'a str, name: &str, tapes: &'a mut Vec<Tape>, arena: &'a Bump) -> Option<Crd<'a>> {
    let mut stream = Stream::new(text.as_bytes(), Limits::default()).unwrap();
    loop {
        let mut tape = Tape::new();
        match stream.next(&mut tape) {
            Some(read) => read.unwrap(),
            None => break,
        }
        tapes.push(tape);
    }
    tapes
        .iter()
        .filter_map(|tape| tape.document(text).root())
        .flat_map(|root| manifests(root).0)
        .filter_map(|manifest| manifest.read(arena).value)
        .find(|crd| crd.name == name)
}

#[test]
fn breaking_claims_have_witnesses() {
    let Some(folder) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let (mut proven, mut all) = (0, 0);
    let mut by_code: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut missing = Vec::new();
    let effort = Effort::default();
    let started = std::time::Instant::now();
    pairs(&folder, |name, old, new| {
        let begun = std::time::Instant::now();
        let changes = definitions(old, new);
        let proofs = witnesses(old, new, &effort);
        assert_eq!(changes.len(), proofs.len());
        if begun.elapsed().as_millis() > 1000 { eprintln!("SLOW {name} {:?} {}", begun.elapsed(), changes.len()); }
        for (change, proof) in changes.iter().zip(&proofs) {
            let class = change.class_for(Consumer::Writers);
            let entry = by_code.entry(format!("{} {:?}", change.code, class)).or_default();
            match proof {
                Proof::NotNeeded => continue,
                Proof::Witness(_) => entry.0 += 1,
                Proof::None(_) => {}
            }
            entry.1 += 1;
            if class == Some(Class::Breaking) {
                all += 1;
                match proof {
                    Proof::Witness(_) => proven += 1,
                    Proof::None(reason) => {
                        missing.push(format!("{name} {} {} {} {}: {reason}", change.version, change.code, change.path, change.detail));
                    }
                    Proof::NotNeeded => {}
                }
            }
        }
    });
    eprintln!("{proven} of {all} in {:?}", started.elapsed());
    for (code, (proven, all)) in by_code { eprintln!("{code} {proven}/{all}"); }
    for line in &missing { eprintln!("{line}"); }
    assert!(missing.is_empty());
}
