//! `kubeshape-bench objects STREAM… [--oracle PROGRAM]`: the cost of a custom resource from its bytes to the verdict,
//! here and in Go.
//!
//! A stream contains a CustomResourceDefinition, and then objects of its first version, each in JSON on one line.

use cpu_time::ProcessTime;
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
    if let Err(error) = large() {
        eprintln!("{error}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

fn one(file: &str, oracle: Option<&str>) -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(file)?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let definition = lines.next().ok_or("found nothing, expected a definition")?;
    let objects: Vec<&str> = lines.collect();
    let first = objects.first().ok_or("found no objects")?;
    with_resource(definition, first, |resource| measure(file, &objects, resource, oracle))?;
    Ok(())
}

/// Prepares the definition for an object, and passes it on.
fn with_resource<T>(
    definition: &str,
    object: &str,
    on: impl FnOnce(&Resource<'_>) -> T,
) -> Result<T, Box<dyn std::error::Error>> {
    let mut tape = Tape::new();
    Stream::new(definition.as_bytes(), Limits::default())?.next(&mut tape).ok_or("found nothing")??;
    let arena = Bump::new();
    let root = tape.document(definition).root().ok_or("found nothing")?;
    let manifest = manifests(root).0.into_iter().next().ok_or("found no definition")?;
    let crd = manifest.read(&arena).value.ok_or("the definition cannot be read")?;
    // The Go program uses this version, too, and would reject objects of another one immediately.
    let version = crd.versions.first().ok_or("found no version")?;
    if !object.contains(&format!("\"apiVersion\":\"{}/{}\"", crd.group, version.name)) {
        return Err("the objects are not of the first version of the definition".into());
    }
    Ok(on(&Resource::new(&crd, version, Release::DEFAULT, &arena)))
}

/// Reads objects with reused memory, like a caller that checks many of them.
#[derive(Default)]
struct Reader {
    tape: Tape,
    memory: Bump,
}

impl Reader {
    fn read(&mut self, text: &str, with: &mut dyn FnMut(Value<'_>, &Bump)) {
        let Ok(mut stream) = Stream::new(text.as_bytes(), Limits::default()) else { return };
        if !matches!(stream.next(&mut self.tape), Some(Ok(()))) {
            return;
        }
        self.memory.reset();
        if let Some(root) = self.tape.document(text).root() {
            with(Value::from_node(root, &self.memory), &self.memory);
        }
    }
}

/// Returns microseconds per object, in the best of ten portions, as in Go, because other work on the machine disturbs
/// some.
fn per_object(objects: &[&str], step: &mut dyn FnMut(&str)) -> f64 {
    let mut portion = |_| {
        let (start, mut rounds) = (Instant::now(), 0u32);
        while start.elapsed() < TIME / 10 {
            for object in objects {
                step(object);
            }
            rounds += 1;
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds) / objects.len() as f64
    };
    (0..10).map(&mut portion).fold(f64::INFINITY, f64::min)
}

/// Decodes and validates an object.
fn judge(reader: &mut Reader, text: &str, resource: &Resource<'_>) {
    reader.read(text, &mut |value, arena| {
        if let Ok(object) = resource.decode(value, arena) {
            std::hint::black_box(resource.validate(object.value));
        }
    });
}

/// Compares an object of a megabyte with one of a quarter of this size, by the processor time of the best round.
fn large() -> Result<(), Box<dyn std::error::Error>> {
    const DEFINITION: &str = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"lists.example.com"},"spec":{"group":"example.com","names":{"plural":"lists","singular":"list","kind":"List","listKind":"ListList"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string","pattern":"^[a-z0-9]+$"},"count":{"type":"integer","default":1},"labels":{"type":"object","additionalProperties":{"type":"string"}}}}}}}}}}}]}}"#;
    let object = |count: usize| {
        let items: Vec<String> = (0..count)
            .map(|at| format!(r#"{{"name":"n{at}","labels":{{"team":"t{}","unknown":"x"}}}}"#, at % 7))
            .collect();
        let items = items.join(",");
        format!(
            r#"{{"apiVersion":"example.com/v1","kind":"List","metadata":{{"name":"a","namespace":"b"}},"spec":{{"items":[{items}]}}}}"#
        )
    };
    let (small, large) = (object(5_000), object(20_000));
    let times = with_resource(DEFINITION, &small, |resource| {
        let mut reader = Reader::default();
        [&small, &large].map(|text| {
            let round = |_| {
                let start = ProcessTime::now();
                judge(&mut reader, text, resource);
                start.elapsed().as_secs_f64() * 1e6
            };
            (0..20).map(round).fold(f64::INFINITY, f64::min)
        })
    })?;
    println!(
        "an object of {} bytes takes {:.0} µs, one of {} bytes {:.0} µs: {:.2} times as long (at most {:.2}, and a little)",
        small.len(),
        times[0],
        large.len(),
        times[1],
        times[1] / times[0],
        large.len() as f64 / small.len() as f64,
    );
    Ok(())
}

fn measure(file: &str, objects: &[&str], resource: &Resource<'_>, oracle: Option<&str>) {
    let mut reader = Reader::default();
    let only_read = per_object(objects, &mut |text| {
        reader.read(text, &mut |value, _| {
            std::hint::black_box(value);
        });
    });
    let decoded = per_object(objects, &mut |text| {
        reader.read(text, &mut |value, arena| {
            let _ = std::hint::black_box(resource.decode(value, arena));
        });
    });
    let judged = per_object(objects, &mut |text| judge(&mut reader, text, resource));
    let with_rules = match &resource.rules {
        None => f64::NAN,
        Some(rules) => {
            per_object(objects, &mut |text| {
                reader.read(text, &mut |value, arena| {
                    if let Ok(object) = resource.decode(value, arena) {
                        std::hint::black_box(rules.check(object.value, &Path::Root, Rules::BUDGET));
                    }
                });
            }) - decoded
        }
    };
    let bytes = objects.iter().map(|object| object.len()).sum::<usize>() / objects.len();
    let name: String = file.chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
    println!("{name:<40} {bytes:>7} {only_read:>9.2}µ {decoded:>9.2}µ {judged:>9.2}µ {with_rules:>9.2}µ");
    let Some(go) = oracle.and_then(|oracle| theirs(oracle, file)) else { return };
    let time = |step: &str| go[step].as_f64().unwrap_or(f64::NAN);
    let [read, decode, validate, rules] = ["read", "decode", "validate", "rules"].map(time);
    println!("{:<40} {:>7} {read:>9.2}µ {decode:>9.2}µ {validate:>9.2}µ {rules:>9.2}µ", "  Go", "");
    let ratios = [read / only_read, decode / decoded, validate / judged, rules / with_rules];
    let [read, decode, validate, rules] = ratios.map(|ratio| format!("{ratio:.1}x"));
    println!("{:<40} {:>7} {read:>10} {decode:>10} {validate:>10} {rules:>10}", "  times faster (at least 20)", "");
}

/// Returns the cost of the same objects in Go.
fn theirs(oracle: &str, file: &str) -> Option<serde_json::Value> {
    let output = Command::new(oracle).args(["bench-objects", file]).output().ok()?;
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    serde_json::from_slice(&output.stdout).ok()
}
