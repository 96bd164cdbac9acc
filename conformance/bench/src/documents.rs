//! Benchmarks of documents. Each runs in a separate process, which keeps the bytes in memory and converts them several
//! times, like the Go program.

use crate::report::{Measured, parse};
use kubeshape_convert::aggregate::Aggregator;
use kubeshape_convert::document::Document;
use kubeshape_convert::{graph, proto, smd, v2, v3};
use kubeshape_schema::Dialect;
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Profile};
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// The benchmarks, with the names that they have in the Go program.
const SHAPES: [&str; 14] = [
    "tape",
    "serde_json",
    "simd-json",
    "reprint-v2",
    "reprint-v3",
    "v2-to-v3",
    "v2-to-v3-faithful",
    "v3-to-v2",
    "v2-to-smd",
    "v3-to-smd",
    "v2-to-pb",
    "v3-to-pb",
    "split",
    "inline",
];

/// `documents [--swagger FILE] [--v3 FILE] [--rounds N] [--oracle PROGRAM]`
pub(crate) fn all(arguments: &[String]) -> ExitCode {
    let value = |flag: &str| arguments.iter().position(|a| a == flag).and_then(|i| arguments.get(i + 1)).cloned();
    let (Some(swagger), Some(v3)) = (value("--swagger"), value("--v3")) else {
        eprintln!("usage: kubeshape-bench documents --swagger FILE --v3 FILE [--rounds N] [--oracle PROGRAM]");
        return ExitCode::from(2);
    };
    let rounds: usize = value("--rounds").and_then(|n| n.parse().ok()).unwrap_or(7);
    let oracle = value("--oracle").or_else(crate::report::build_oracle);
    if oracle.is_none() {
        println!("Go is not there: nothing is compared with the originals.");
    }
    let generated = match Generated::write() {
        Ok(generated) => generated,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut best = BTreeMap::new();
    for round in 0..rounds {
        for shape in SHAPES {
            for file in [&swagger, &v3] {
                if fits(shape, file, &swagger) {
                    keep(&mut best, &key(shape, file, &swagger), one_of_ours(shape, &[file]));
                    if round < 3 {
                        keep(
                            &mut best,
                            &format!("go {}", key(shape, file, &swagger)),
                            theirs(oracle.as_deref(), shape, &[file]),
                        );
                    }
                }
            }
        }
        for (size, file) in &generated.documents {
            for shape in SCALED {
                keep(&mut best, &format!("{shape}, {size} definitions"), one_of_ours(shape, &[file]));
            }
        }
        for (size, folder) in &generated.folders {
            keep(&mut best, &format!("aggregate {size} documents"), one_of_ours("aggregate", &[folder]));
            if round < 2 && *size <= 1250 {
                let theirs = theirs(oracle.as_deref(), "aggregate", &[folder]);
                keep(&mut best, &format!("go aggregate {size} documents"), theirs);
            }
        }
    }
    print(&best);
    ExitCode::SUCCESS
}

fn key(shape: &str, file: &str, swagger: &str) -> String {
    let which = match shape {
        "tape" | "serde_json" | "simd-json" if file == swagger => " of v2",
        "tape" | "serde_json" | "simd-json" => " of v3",
        _ => "",
    };
    format!("{shape}{which}")
}

/// Returns whether a shape is measured on a file.
fn fits(shape: &str, file: &str, swagger: &str) -> bool {
    match shape {
        "tape" | "serde_json" | "simd-json" => true,
        "aggregate" => false,
        shape if shape.contains("v2-") || shape.ends_with("reprint-v2") => file == swagger,
        _ => file != swagger,
    }
}

fn keep(best: &mut BTreeMap<String, Measured>, name: &str, measured: Option<Measured>) {
    let Some(measured) = measured else { return };
    let entry = best.entry(name.to_owned()).or_insert(measured);
    entry.seconds = entry.seconds.min(measured.seconds);
    entry.memory = entry.memory.min(measured.memory);
    entry.first = entry.first.min(measured.first);
}

fn one_of_ours(shape: &str, files: &[&String]) -> Option<Measured> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["one-document", shape]).args(files);
    parse(command)
}

fn theirs(oracle: Option<&str>, shape: &str, files: &[&String]) -> Option<Measured> {
    const THEIRS: [&str; 8] =
        ["reprint-v2", "reprint-v3", "v2-to-v3", "v2-to-smd", "v3-to-smd", "v2-to-pb", "v3-to-pb", "aggregate"];
    if !THEIRS.contains(&shape) {
        return None;
    }
    let mut command = Command::new(oracle?);
    command.args(["bench-openapi", "-shape", shape, "-rounds", "3"]).args(files);
    parse(command)
}

/// Runs one benchmark in this process: `one-document SHAPE FILE…`. As in the Go program, the bytes are in memory, and
/// nothing is kept between rounds.
pub(crate) fn one(arguments: &[String]) -> ExitCode {
    let Some((shape, files)) = arguments.split_first() else { return ExitCode::from(2) };
    let sources = sources(files);
    if sources.is_empty() {
        return ExitCode::from(2);
    }
    let mut scratch = Scratch::default();
    let (mut first, mut seconds) = (0.0, f64::MAX);
    let mut output = 0;
    for round in 0..5 {
        let start = Instant::now();
        output = if shape == "aggregate" {
            aggregate(&sources, &mut scratch)
        } else {
            sources.iter().map(|source| convert(shape, source, &mut scratch)).sum()
        };
        let took = start.elapsed().as_secs_f64();
        if round == 0 {
            first = took;
        }
        seconds = seconds.min(took);
    }
    println!(
        "{}",
        serde_json::json!({
            "work": shape, "in_bytes": sources.iter().map(Vec::len).sum::<usize>(), "out_bytes": output,
            "seconds": seconds, "first_seconds": first, "max_rss_kib": crate::peak_memory(),
        })
    );
    ExitCode::SUCCESS
}

/// Memory that is reused for every document, as in a batch. Go reuses its heap in the same way.
#[derive(Default)]
struct Scratch {
    tape: Tape,
    arena: Bump,
    out: Vec<u8>,
}

/// Converts one document, and returns the number of printed bytes.
fn convert(shape: &str, bytes: &[u8], scratch: &mut Scratch) -> usize {
    match shape {
        "serde_json" => {
            return serde_json::from_slice::<serde_json::Value>(bytes)
                .map_or(0, |value| value.as_object().map_or(0, serde_json::Map::len));
        }
        "simd-json" => {
            let mut bytes = bytes.to_vec();
            return simd_json::to_tape(&mut bytes).map_or(0, |tape| tape.0.len());
        }
        _ => {}
    }
    let Scratch { tape, arena, out, .. } = scratch;
    arena.reset();
    out.clear();
    let arena = &*arena;
    // The output is about as long as the input.
    out.reserve(bytes.len());
    let Some(root) = read(bytes, tape) else { return 0 };
    match shape {
        "tape" => return root.document().len(),
        "v2-to-smd" => {
            return usize::from(smd::from_v2::convert(root.get("definitions"), smd::Options::default()).is_ok());
        }
        "v3-to-smd" => return usize::from(smd::from_v3::of_document(root, arena, smd::Options::default()).is_ok()),
        "v2-to-pb" | "v3-to-pb" => {
            let encoded = if shape == "v2-to-pb" { proto::v2::encode(root) } else { proto::v3::encode(root) };
            return encoded.map_or(0, |encoded| encoded.value.len());
        }
        _ => {}
    }
    if Dialect::of(root) == Some(Dialect::V2) {
        let profile = if shape == "v2-to-v3-faithful" { Profile::Faithful } else { Profile::Kube };
        let Some(document) = v2::read(root, arena, profile).value else { return 0 };
        if shape == "reprint-v2" {
            document.print(out, Style::V2, profile);
        } else {
            v3::from_v2::print(&document, out, profile);
        }
        return out.len();
    }
    let Some(document) = v3::read(root, arena, Profile::Kube).value else { return 0 };
    match shape {
        "v3-to-v2" => {
            let options = v2::from_v3::Options {
                profile: Profile::Faithful,
                keep_losses: false,
                ..v2::from_v3::Options::default()
            };
            if let Some(converted) = v2::from_v3::convert(&document, arena, &options).value {
                converted.print(out, Style::V2, Profile::Faithful);
            }
        }
        "split" => {
            for slice in graph::split::split(&document, arena).value {
                slice.document.print(out, Profile::Kube);
            }
        }
        "inline" => {
            let options = graph::inline::Options::default();
            if let Some(inlined) = graph::inline::document(&document, &options, arena).value {
                inlined.print(out, Profile::Kube);
            }
        }
        _ => document.print(out, Profile::Kube),
    }
    out.len()
}

fn read<'s>(bytes: &'s [u8], tape: &'s mut Tape) -> Option<Node<'s>> {
    let mut stream = Stream::new(bytes, Limits::default()).ok()?;
    let source = stream.source();
    stream.next(tape)?.ok()?;
    tape.document(source).root()
}

/// The bytes of files, and of the files in folders.
fn sources(paths: &[String]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for path in paths {
        match std::fs::read_dir(path) {
            Ok(folder) => files.extend(folder.flatten().map(|entry| entry.path())),
            Err(_) => files.push(path.into()),
        }
    }
    files.sort();
    files.iter().filter_map(|file| std::fs::read(file).ok()).collect()
}

/// Merges v2 documents, and returns the number of printed bytes.
fn aggregate(sources: &[Vec<u8>], scratch: &mut Scratch) -> usize {
    let Scratch { tape, arena, .. } = scratch;
    let mut aggregator = Aggregator::new(Profile::Kube);
    for bytes in sources {
        arena.reset();
        let Some(root) = read(bytes, tape) else { return 0 };
        let Some(document) = v2::read(root, arena, Profile::Kube).value else { return 0 };
        if aggregator.add("", &Document::V2(document), arena).is_err() {
            return 0;
        }
    }
    aggregator.finish().map_or(0, |whole| whole.to_vec().len())
}

const SCALED: [&str; 5] = ["tape", "reprint-v2", "v2-to-v3", "v2-to-smd", "v2-to-pb"];
const SIZES: [usize; 3] = [1_000, 4_000, 16_000];
const FOLDERS: [usize; 3] = [312, 1_250, 5_000];

/// Generated documents of several sizes, in a temporary folder.
struct Generated {
    /// Deleted when it is dropped.
    _folder: tempfile::TempDir,
    /// Documents by their number of definitions.
    documents: Vec<(usize, String)>,
    /// Folders by their number of documents. A server publishes each document for one CustomResourceDefinition.
    folders: Vec<(usize, String)>,
}

impl Generated {
    fn write() -> std::io::Result<Generated> {
        let temporary = tempfile::tempdir()?;
        let folder = temporary.path().to_owned();
        let mut generated = Generated { _folder: temporary, documents: Vec::new(), folders: Vec::new() };
        for size in SIZES {
            let file = folder.join(format!("{size}.json"));
            std::fs::write(&file, made(size))?;
            generated.documents.push((size, file.display().to_string()));
        }
        let base = kubeshape_publish::Publisher::new(
            kubeshape_publish::Base::builtin(),
            kubeshape_publish::Options::default(),
        );
        for size in FOLDERS {
            let inside = folder.join(format!("{size}-documents"));
            std::fs::create_dir_all(&inside)?;
            for number in 0..size {
                std::fs::write(inside.join(format!("{number:05}.json")), published(number, &base))?;
            }
            generated.folders.push((size, inside.display().to_string()));
        }
        Ok(generated)
    }
}

/// Returns a v2 document with this number of definitions, each with a path and references to others.
fn made(size: usize) -> String {
    let mut out = String::from("{\"swagger\":\"2.0\",\"info\":{\"title\":\"made\",\"version\":\"v1\"},\"paths\":{");
    for i in 0..size {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            out,
            r##"{comma}"/apis/g{group}.example.com/v1/kinds{i}":{{"get":{{"description":"list objects of kind {i}","produces":["application/json"],"operationId":"list{i}","parameters":[{{"name":"limit","in":"query","type":"integer","uniqueItems":true}}],"responses":{{"200":{{"description":"OK","schema":{{"$ref":"#/definitions/com.example.v1.Kind{i}"}}}}}}}}}}"##,
            group = i / 20,
        );
    }
    out.push_str("},\"definitions\":{");
    for i in 0..size {
        let comma = if i == 0 { "" } else { "," };
        let (next, half) = ((i + 1) % size, i / 2);
        let _ = write!(
            out,
            r##"{comma}"com.example.v1.Kind{i}":{{"description":"Kind {i} is one of many kinds, described at some length.","type":"object","required":["name"],"properties":{{"name":{{"description":"the name","type":"string"}},"count":{{"type":"integer","format":"int32"}},"next":{{"description":"the next","$ref":"#/definitions/com.example.v1.Kind{next}"}},"halves":{{"type":"array","items":{{"$ref":"#/definitions/com.example.v1.Kind{half}"}},"x-kubernetes-list-type":"atomic"}}}}}}"##
        );
    }
    out.push_str("}}");
    out
}

/// Returns the v2 document of one CustomResourceDefinition.
fn published(number: usize, publisher: &kubeshape_publish::Publisher) -> Vec<u8> {
    let manifest = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: kinds.g{number}.example.com}}\nspec:\n  group: g{number}.example.com\n  scope: Namespaced\n  names: {{plural: kinds, kind: Kind}}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{size: {{type: integer, description: size {number}}}}}}}}}}}}}\n"
    );
    let mut tape = Tape::new();
    let mut out = Vec::new();
    let arena = Bump::new();
    let Some(root) = read(manifest.as_bytes(), &mut tape) else { return out };
    let (manifests, _) = kubeshape_structural::read::manifests(root);
    for manifest in manifests {
        if let Some(crd) = manifest.read(&arena).value {
            for version in publisher.resource(&crd, &arena).versions() {
                version.v2(&mut out);
            }
        }
    }
    out
}

fn print(best: &BTreeMap<String, Measured>) {
    println!("{:<40} {:>10} {:>12} {:>9} {:>10}", "what", "ms", "first round", "MiB peak", "MB out");
    for (name, m) in best {
        let (ms, first) = (m.seconds * 1e3, m.first * 1e3);
        println!("{name:<40} {ms:>10.3} {first:>12.3} {:>9.1} {:>10.2}", m.memory / 1024.0, m.output / 1e6);
    }
    println!();
    let ratio = |what: &str, a: &str, b: &str, target: &str| {
        if let (Some(a), Some(b)) = (best.get(a), best.get(b)) {
            println!("{what:<56} {:>8.2}   {target}", a.seconds / b.seconds);
        }
    };
    for (shape, target) in [
        ("v2-to-v3", "at least 30"),
        ("v3-to-smd", "at least 25"),
        ("v2-to-smd", "at least 25"),
        ("v2-to-pb", ""),
        ("v3-to-pb", ""),
        ("reprint-v2", ""),
        ("reprint-v3", ""),
        ("aggregate 312 documents", ""),
        ("aggregate 1250 documents", ""),
    ] {
        ratio(&format!("{shape}: times Go's speed"), &format!("go {shape}"), shape, target);
    }
    ratio("v2-to-v3: times parse + print", "v2-to-v3", "reprint-v2", "at most 1.5");
    ratio("v2-to-v3-faithful: times parse + print", "v2-to-v3-faithful", "reprint-v2", "");
    ratio("split: times parse + print", "split", "reprint-v3", "");
    ratio("serde_json's value: times our tape, v2", "serde_json of v2", "tape of v2", "");
    ratio("simd-json's tape: times our tape, v2", "simd-json of v2", "tape of v2", "");
    ratio("simd-json's tape: times our tape, v3", "simd-json of v3", "tape of v3", "");
    for (name, m) in best {
        if let Some(theirs) = best.get(&format!("go {name}")) {
            println!(
                "{:<56} {:>8.2}   at most 0.2",
                format!("{name}: share of Go's peak memory"),
                m.memory / theirs.memory
            );
        }
    }
    for shape in SCALED {
        let name = |size: usize| format!("{shape}, {size} definitions");
        ratio(&format!("{shape}: four times the definitions"), &name(SIZES[1]), &name(SIZES[0]), "about 4");
        ratio(&format!("{shape}: sixteen times the definitions"), &name(SIZES[2]), &name(SIZES[0]), "about 16");
    }
    let name = |size: usize| format!("aggregate {size} documents");
    ratio("aggregate: four times the documents", &name(FOLDERS[1]), &name(FOLDERS[0]), "about 4");
    ratio("aggregate: sixteen times the documents", &name(FOLDERS[2]), &name(FOLDERS[0]), "about 16");
}
