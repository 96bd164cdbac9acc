//! `diff FOLDER`: compares pairs of definitions as `pairs.ndjson` of the folder lists them, in one process on one core.

use crate::peak_memory;
use flate2::read::GzDecoder;
use kubeshape_diff::{Effort, Proof, definitions, witnesses};
use kubeshape_schema::Bump;
use kubeshape_structural::Crd;
use kubeshape_structural::read::manifests;
use kubeshape_yaml::{Limits, Stream, Tape};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Rounds of reading and comparing. The best is reported.
const ROUNDS: usize = 5;

/// The contents of two files, and the name of the definition in both.
struct Pair {
    name: String,
    old: String,
    new: String,
}

pub(crate) fn run(folder: &Path) -> ExitCode {
    let pairs = match pairs(folder) {
        Ok(pairs) => pairs,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let (mut read, mut compared, mut changes) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let (mut own_read, mut own_compared) = (Duration::ZERO, Duration::ZERO);
        changes = 0;
        for pair in &pairs {
            let start = Instant::now();
            with_both(pair, |old, new| {
                own_read += start.elapsed();
                let start = Instant::now();
                changes += definitions(old, new).len();
                own_compared += start.elapsed();
            });
        }
        read = read.min(own_read);
        compared = compared.min(own_compared);
    }
    let memory = peak_memory();
    let (mut proven, mut open, mut slowest, mut all) = (0, 0, (Duration::ZERO, String::new()), Duration::ZERO);
    for pair in &pairs {
        with_both(pair, |old, new| {
            let start = Instant::now();
            let proofs = witnesses(old, new, &Effort::default());
            let took = start.elapsed();
            all += took;
            if took > slowest.0 {
                slowest = (took, pair.name.clone());
            }
            proven += proofs.iter().filter(|proof| matches!(proof, Proof::Witness(_))).count();
            open += proofs.iter().filter(|proof| matches!(proof, Proof::None(_))).count();
        });
    }
    let count = pairs.len().max(1) as f64;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{} pairs, {changes} changes, best of {ROUNDS} rounds on one core", pairs.len());
    println!("| work | all, ms | a pair, ms | peak memory, MiB |\n|---|---|---|---|");
    println!("| read both | {:.0} | {:.2} | |", ms(read), ms(read) / count);
    println!("| compare | {:.0} | {:.2} | {} |", ms(compared), ms(compared) / count, memory >> 10);
    println!("| witnesses | {:.0} | {:.2} | {} |", ms(all), ms(all) / count, peak_memory() >> 10);
    println!(
        "{proven} witnesses, {open} changes without one; the slowest pair: {} in {:.0} ms",
        slowest.1,
        ms(slowest.0)
    );
    ExitCode::SUCCESS
}

fn pairs(folder: &Path) -> Result<Vec<Pair>, String> {
    let list = folder.join("pairs.ndjson");
    let failed = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&list).map_err(|error| failed(&list, &error))?;
    let pair = |line: &str| {
        let pair: serde_json::Value = serde_json::from_str(line).map_err(|error| failed(&list, &error))?;
        let side = |side: &str| {
            let file = folder.join("crds").join(format!("{}.yaml.gz", pair[side]["sha"].as_str().unwrap_or_default()));
            let mut text = String::new();
            let read = File::open(&file).and_then(|packed| GzDecoder::new(packed).read_to_string(&mut text));
            read.map(|_| text).map_err(|error| failed(&file, &error))
        };
        Ok(Pair { name: pair["name"].as_str().unwrap_or_default().to_owned(), old: side("old")?, new: side("new")? })
    };
    text.lines().map(pair).collect()
}

fn with_both(pair: &Pair, then: impl FnOnce(&Crd<'_>, &Crd<'_>)) {
    let arena = Bump::new();
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let (Some(old), Some(new)) =
        (find(&pair.old, &pair.name, &mut old, &arena), find(&pair.new, &pair.name, &mut new, &arena))
    else {
        return;
    };
    then(&old, &new);
}

/// Returns the definition with that name in a stream.
fn find<'a>(text: &'a str, name: &str, tapes: &'a mut Vec<Tape>, arena: &'a Bump) -> Option<Crd<'a>> {
    let mut stream = Stream::new(text.as_bytes(), Limits::default()).ok()?;
    loop {
        let mut tape = Tape::new();
        match stream.next(&mut tape) {
            Some(read) => read.ok()?,
            None => break,
        }
        tapes.push(tape);
    }
    let roots = tapes.iter().filter_map(|tape| tape.document(text).root());
    let mut named = roots.flat_map(|root| manifests(root).0).filter(|manifest| {
        manifest.node.get("metadata").and_then(|metadata| metadata.get("name")?.as_str()) == Some(name)
    });
    named.find_map(|manifest| manifest.read(arena).value)
}
