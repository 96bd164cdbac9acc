//! Definitions as real projects changed them. `KUBESHAPE_CORPUS` is their folder.

use flate2::read::GzDecoder;
use kubeshape_diff::{Class, Consumer, Effort, Proof, definitions, witnesses};
use kubeshape_sample::{Step, Wanted, sample_with, values};
use kubeshape_schema::{Bump, Schema};
use kubeshape_structural::Crd;
use kubeshape_structural::read::manifests;
use kubeshape_validate::Release;
use kubeshape_validate::object::Resource;
use kubeshape_value::Value;
use kubeshape_yaml::{Limits, Stream, Tape};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Calls a function with every fourth pair of definitions, or with each.
pub(crate) fn pairs(folder: &Path, mut each: impl FnMut(&str, &Crd<'_>, &Crd<'_>)) {
    pairs_with_texts(folder, |name, _, old, new| each(name, old, new));
}

/// Like [`pairs`], with the contents of the files.
pub(crate) fn pairs_with_texts(folder: &Path, mut each: impl FnMut(&str, (&str, &str), &Crd<'_>, &Crd<'_>)) {
    let folder = folder.join("upgrades");
    let list = std::fs::read_to_string(folder.join("pairs.ndjson")).unwrap();
    for line in list.lines().step_by(kubeshape_corpus::one_in(4)) {
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
        let label = format!("{name} {} {}", pair["old"]["tag"], pair["new"]["tag"]);
        each(&label, (&texts.0, &texts.1), &old, &new);
    }
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

/// The changes do not depend on the order of pairs or on the thread. Every tenth pair gets witnesses, too.
#[test]
fn orders_and_workers_change_nothing() {
    const WORKERS: usize = 4;
    let Some(folder) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let told = |at: usize, old: &Crd<'_>, new: &Crd<'_>| {
        let effort = Effort { changes: 4, values: 4, rounds: 4, shrinking: 8, ..Effort::default() };
        let proofs = at.is_multiple_of(10).then(|| witnesses(old, new, &effort));
        format!("{:?} {proofs:?}", definitions(old, new))
    };
    let mut all: Vec<(String, String, String, String)> = Vec::new();
    pairs_with_texts(&folder, |name, (old_text, new_text), old, new| {
        let name = name.split(' ').next().unwrap().to_owned();
        all.push((name, old_text.to_owned(), new_text.to_owned(), told(all.len(), old, new)));
    });
    let all = &all;
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            scope.spawn(move || {
                for (at, (name, old, new, expected)) in
                    all.iter().enumerate().rev().filter(|(at, _)| at % WORKERS == worker)
                {
                    let arena = Bump::new();
                    let (mut old_tapes, mut new_tapes) = (Vec::new(), Vec::new());
                    let old = find(old, name, &mut old_tapes, &arena).unwrap();
                    let new = find(new, name, &mut new_tapes, &arena).unwrap();
                    assert_eq!(told(at, &old, &new), *expected, "{name}");
                }
            });
        }
    });
}

/// The number of objects generated for each pair. `KUBESHAPE_DRAWS` sets another number.
const DRAWS: usize = 8;

#[test]
fn breaking_claims_have_witnesses() {
    let Some(folder) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let mut proven = 0;
    let mut missing = Vec::new();
    pairs(&folder, |name, old, new| {
        let changes = definitions(old, new);
        let proofs = witnesses(old, new, &Effort::default());
        assert_eq!(changes.len(), proofs.len());
        for (change, proof) in changes.iter().zip(&proofs) {
            let classes = [Consumer::Writers, Consumer::Storage].map(|consumer| change.class_for(consumer));
            match proof {
                Proof::Witness(_) => proven += 1,
                _ if !classes.contains(&Some(Class::Breaking)) => {}
                _ => missing.push(format!("{name} {change:?}: {proof:?}")),
            }
        }
    });
    assert!(proven > 1_000 / kubeshape_corpus::one_in(4), "{proven}");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Pseudo-random numbers from a seed.
struct Choice(u64);

impl Choice {
    fn of(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count.max(1)
    }
}

/// Returns a place in a schema, and a value for it.
fn draw<'a>(root: &'a Schema<'a>, choice: &mut Choice, arena: &'a Bump) -> (Vec<Step<'a>>, Option<Value<'a>>) {
    let mut schema = root;
    let mut steps = Vec::new();
    for _ in 0..12 {
        let is_leaf = schema.properties.is_empty() && schema.item().is_none() && schema.additional_schema().is_none();
        if is_leaf || !steps.is_empty() && choice.of(6) == 0 {
            break;
        }
        if let Some(item) = schema.item() {
            steps.push(Step::Item);
            schema = item;
        } else if !schema.properties.is_empty() {
            let property = &schema.properties[choice.of(schema.properties.len())];
            steps.push(Step::Property(property.name));
            schema = &property.schema;
        } else if let Some(below) = schema.additional_schema() {
            steps.push(Step::Key("any"));
            schema = below;
        }
    }
    let given = match choice.of(8) {
        0 => None,
        1 => Some(Value::Null),
        _ => {
            let values = values(schema, 12, arena);
            values.get(choice.of(values.len())).copied()
        }
    };
    (steps, given)
}

/// Returns whether the field of a change is that of an error, or above it.
fn is_above(change: &str, error: &str) -> bool {
    let steps = |path: &str| {
        let path = path.replace(['[', ']'], ".");
        let steps = path.split('.').filter(|step| !step.is_empty() && step.parse::<usize>().is_err());
        steps.map(str::to_owned).collect::<Vec<_>>()
    };
    let (change, error) = (steps(change), steps(error));
    change.len() <= error.len() && change.iter().zip(&error).all(|(change, error)| change == "*" || change == error)
}

#[test]
fn refusals_are_reported() {
    let Some(folder) = kubeshape_corpus::folder_named_by("KUBESHAPE_CORPUS") else { return };
    let draws = std::env::var("KUBESHAPE_DRAWS").ok().and_then(|draws| draws.parse().ok()).unwrap_or(DRAWS);
    let (mut accepted, mut refused) = (0, 0);
    let mut missed = BTreeSet::new();
    pairs(&folder, |name, old, new| {
        let changes = definitions(old, new);
        let kept: Vec<_> = old
            .versions
            .iter()
            .filter_map(|was| Some((was, new.versions.iter().find(|is| is.name == was.name)?)))
            .collect();
        let mut choice = Choice(name.bytes().fold(7, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte))));
        for (was, is) in &kept {
            let arena = Bump::new();
            let (mut old, mut new) =
                (Resource::new(old, was, Release::DEFAULT, &arena), Resource::new(new, is, Release::DEFAULT, &arena));
            // So that the status is generated, too.
            (old.status, new.status) = (false, false);
            let Some(schema) = old.schema else { continue };
            for _ in 0..usize::div_ceil(draws, kept.len()) {
                let memory = Bump::new();
                let mut wanted = Wanted::default();
                for _ in 0..=choice.of(3) {
                    let (steps, value) = draw(schema, &mut choice, &memory);
                    wanted.want(&steps, value);
                }
                let made = sample_with(&old, &wanted, 2, &memory);
                if !made.problems.is_empty() {
                    continue;
                }
                accepted += 1;
                let errors: Vec<(String, String)> = match new.decode(made.value, &memory) {
                    Err(error) => vec![(String::new(), error)],
                    Ok(decoded) => {
                        let unknown = decoded.unknown.into_iter().map(|path| (path, "unknown field".to_owned()));
                        let errors = new.create(decoded.value, &memory).errors;
                        unknown.chain(errors.into_iter().map(|error| (error.path.clone(), error.to_string()))).collect()
                    }
                };
                refused += usize::from(!errors.is_empty());
                for (path, error) in errors {
                    let is_told = changes.iter().any(|change| {
                        change.class_for(Consumer::Writers).is_some_and(|class| class >= Class::Risky)
                            && change.version == was.name
                            && is_above(
                                &change.path,
                                if path.is_empty() || path == "<nil>" {
                                    error.split('"').nth(3).unwrap_or_default()
                                } else {
                                    &path
                                },
                            )
                    });
                    if !is_told && !error.contains("some validation rules were not checked") {
                        missed.insert(format!("{name} {}: {error}", was.name));
                    }
                }
            }
        }
    });
    let step = kubeshape_corpus::one_in(4);
    assert!(accepted > 1_000 / step && refused > 10 / step, "{accepted} objects, {refused} refused");
    assert!(missed.is_empty(), "{missed:#?}");
}
