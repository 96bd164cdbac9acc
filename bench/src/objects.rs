//! `kubeshape-bench objects STREAM… [--oracle PROGRAM]`: what a custom resource costs between its bytes and the verdict, here and
//! in Go.
//!
//! A stream holds a CustomResourceDefinition, and then objects of its first version, each in JSON on one line.

use kubeshape_schema::{Bump, field::Path};
use kubeshape_smd::Value;
use kubeshape_structural::read::manifests;
use kubeshape_validate::Release;
use kubeshape_validate::object::{Resource, Rules};
use kubeshape_yaml::{Limits, Stream, Tape};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// How long each step is repeated.
const TIME: Duration = Duration::from_millis(500);

/// Measures all streams.
pub(crate) fn all(arguments: &[String]) -> ExitCode {
    let flag = arguments.iter().position(|argument| argument == "--oracle").unwrap_or(arguments.len());
    let (files, rest) = arguments.split_at(flag);
    let oracle = rest.get(1).cloned().or_else(crate::report::build_oracle);
    if oracle.is_none() {
        println!("Go is not there: nothing is compared with the originals.");
    }
    println!("{:<40} {:>7} {:>10} {:>10} {:>10} {:>10}", "stream", "bytes", "read", "+ decode", "+ validate", "rules");
    for file in files {
        if let Err(error) = one(file, oracle.as_deref()) {
            eprintln!("{file}: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn one(file: &str, oracle: Option<&str>) -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(file)?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let definition = lines.next().ok_or("found nothing, expected a definition")?;
    let objects: Vec<&str> = lines.collect();
    let mut tape = Tape::new();
    Stream::new(definition.as_bytes(), Limits::default())?.next(&mut tape).ok_or("found nothing")??;
    let arena = Bump::new();
    let root = tape.document(definition).root().ok_or("found nothing")?;
    let manifest = manifests(root).0.into_iter().next().ok_or("found no definition")?;
    let crd = manifest.read(&arena).value.ok_or("the definition cannot be read")?;
    let first = objects.first().ok_or("found no objects")?;
    let version = crd
        .versions
        .iter()
        .find(|version| first.contains(&format!("\"apiVersion\":\"{}/{}\"", crd.group, version.name)))
        .ok_or("found no version of the objects")?;
    let resource = Resource::new(&crd, version, Release::DEFAULT, &arena);
    // Whoever judges many objects keeps the memory.
    let (mut tape, mut memory) = (Tape::new(), Bump::new());
    let mut read = |text: &'_ str, with: &mut dyn FnMut(Value<'_>, &Bump)| -> bool {
        let Ok(mut stream) = Stream::new(text.as_bytes(), Limits::default()) else { return false };
        if !matches!(stream.next(&mut tape), Some(Ok(()))) {
            return false;
        }
        memory.reset();
        let Some(root) = tape.document(text).root() else { return false };
        with(Value::from_node(root, &memory), &memory);
        true
    };
    let per_object = |step: &mut dyn FnMut(&str)| {
        let (start, mut rounds) = (Instant::now(), 0u32);
        while start.elapsed() < TIME {
            for object in &objects {
                step(object);
            }
            rounds += 1;
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds) / objects.len() as f64
    };
    let only_read = per_object(&mut |text| {
        read(text, &mut |value, _| {
            std::hint::black_box(value);
        });
    });
    let decoded = per_object(&mut |text| {
        read(text, &mut |value, arena| {
            let _ = std::hint::black_box(resource.decode(value, arena));
        });
    });
    let judged = per_object(&mut |text| {
        read(text, &mut |value, arena| {
            if let Ok(object) = resource.decode(value, arena) {
                std::hint::black_box(resource.validate(object.value));
            }
        });
    });
    let with_rules = match &resource.rules {
        None => f64::NAN,
        Some(rules) => {
            let without = decoded;
            per_object(&mut |text| {
                read(text, &mut |value, arena| {
                    if let Ok(object) = resource.decode(value, arena) {
                        std::hint::black_box(rules.check(object.value, &Path::Root, Rules::BUDGET));
                    }
                });
            }) - without
        }
    };
    let bytes = objects.iter().map(|object| object.len()).sum::<usize>() / objects.len();
    let name: String = file.chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
    println!("{name:<40} {bytes:>7} {only_read:>9.2}µ {decoded:>9.2}µ {judged:>9.2}µ {with_rules:>9.2}µ");
    let Some(go) = oracle.and_then(|oracle| theirs(oracle, file)) else { return Ok(()) };
    let time = |step: &str| go[step].as_f64().unwrap_or(f64::NAN);
    let [read, decode, validate, rules] = ["read", "decode", "validate", "rules"].map(time);
    println!("{:<40} {:>7} {read:>9.2}µ {decode:>9.2}µ {validate:>9.2}µ {rules:>9.2}µ", "  Go", "");
    let ratios = [read / only_read, decode / decoded, validate / judged, rules / with_rules];
    let [read, decode, validate, rules] = ratios.map(|ratio| format!("{ratio:.1}x"));
    println!("{:<40} {:>7} {read:>10} {decode:>10} {validate:>10} {rules:>10}", "  times faster (at least 20)", "");
    Ok(())
}

/// What the same objects cost in Go.
fn theirs(oracle: &str, file: &str) -> Option<serde_json::Value> {
    let output = Command::new(oracle).args(["bench-objects", file]).output().ok()?;
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    serde_json::from_slice(&output.stdout).ok()
}
