//! The benchmarks: each is a pass over all files that discards its output.

use kubeshape_check::{Check, Releases};
use kubeshape_publish::{Publisher, Resource};
use kubeshape_schema::{Bump, escape};
use kubeshape_yaml::{Kind, Limits, Stream, Tape};
use std::path::{Path, PathBuf};

/// A benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Reading the files from disk.
    Disk,
    /// kubeshape's reader, without building anything.
    Read,
    /// The events of `saphyr-parser`.
    Saphyr,
    /// kubeshape's reader, decoding, and deciding which schemas are used.
    Decode,
    /// The complete conversion to a shape.
    V3,
    /// The complete conversion to a shape.
    V2,
    /// The complete conversion to a shape.
    Smd,
    /// The errors of a server of 1.36 for the creation of the definitions.
    Check,
    /// The errors of the servers of all releases.
    CheckAll,
    /// kubeshape's reader, and printing as many bytes as the shape has with the same printer.
    FloorV3,
    /// kubeshape's reader, and printing as many bytes as the shape has with the same printer.
    FloorV2,
    /// kubeshape's reader, and printing as many bytes as the shape has with the same printer.
    FloorSmd,
}

impl Work {
    /// All, with their names.
    pub(crate) const ALL: [(&'static str, Work); 12] = [
        ("disk", Work::Disk),
        ("read", Work::Read),
        ("saphyr", Work::Saphyr),
        ("decode", Work::Decode),
        ("v3", Work::V3),
        ("v2", Work::V2),
        ("smd", Work::Smd),
        ("check", Work::Check),
        ("check-all", Work::CheckAll),
        ("floor-v3", Work::FloorV3),
        ("floor-v2", Work::FloorV2),
        ("floor-smd", Work::FloorSmd),
    ];

    /// The benchmark with that name.
    pub(crate) fn parse(name: &str) -> Option<Work> {
        Work::ALL.iter().find(|(n, _)| *n == name).map(|(_, work)| *work)
    }
}

/// Memory that a worker reuses for every file.
#[derive(Default)]
pub(crate) struct Scratch {
    file: Vec<u8>,
    tape: Tape,
    arena: Bump,
    out: Vec<u8>,
    /// The part of every v3 and v2 document in addition to the schema of the resource.
    shared: [Vec<u8>; 2],
}

/// A resource without a schema, to find the part that every document has.
const EMPTY: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab}
  versions:
  - {name: v1, served: true, storage: true, subresources: {status: {}}}
";

impl Scratch {
    /// Prepares only what the floors print.
    pub(crate) fn new(publisher: &Publisher) -> Scratch {
        let mut scratch = Scratch { file: EMPTY.into(), ..Scratch::default() };
        let shared = [Work::V3, Work::V2].map(|work| {
            documents(work, publisher, &mut scratch, &mut Counts::default());
            scratch.out.clone()
        });
        Scratch { shared, ..Scratch::default() }
    }
}

/// Counts of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Bytes read.
    pub(crate) input: usize,
    /// Bytes printed.
    pub(crate) output: usize,
    /// CustomResourceDefinitions.
    pub(crate) crds: usize,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.input += other.input;
        self.output += other.output;
        self.crds += other.crds;
    }
}

/// The files with a YAML suffix below a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Runs a benchmark on one file.
pub(crate) fn file(work: Work, path: &Path, publisher: &Publisher, scratch: &mut Scratch) -> Counts {
    use std::io::Read;
    scratch.file.clear();
    if let Ok(mut file) = std::fs::File::open(path) {
        let _ = file.read_to_end(&mut scratch.file);
    }
    let mut counts = Counts { input: scratch.file.len(), ..Counts::default() };
    match work {
        Work::Disk => {}
        Work::Saphyr => {
            if let Ok(text) = std::str::from_utf8(&scratch.file) {
                counts.output += saphyr_parser::Parser::new_from_str(text).map_while(Result::ok).count();
            }
        }
        _ => documents(work, publisher, scratch, &mut counts),
    }
    counts
}

fn documents(work: Work, publisher: &Publisher, scratch: &mut Scratch, counts: &mut Counts) {
    let Scratch { file, tape, arena, out, shared } = scratch;
    let Ok(mut stream) = Stream::new(file, Limits::default()) else { return };
    let source = stream.source();
    while let Some(read) = stream.next(tape) {
        if read.is_err() {
            continue;
        }
        let Some(root) = tape.document(source).root() else { continue };
        match work {
            Work::Read => counts.output += tape.entries().len(),
            Work::FloorV3 | Work::FloorV2 | Work::FloorSmd => {
                out.clear();
                for entry in (0..root.document().len()).map(|i| root.document().node(i as u32)) {
                    match entry.kind() {
                        Kind::Map | Kind::Seq => out.push(b'{'),
                        _ if work == Work::FloorSmd => {
                            // Descriptions are not printed. Half of the strings are keys and short values.
                            let text = entry.text();
                            if text.len() < 32 {
                                out.extend_from_slice(text.as_bytes());
                            }
                        }
                        _ => escape::string(out, entry.text(), escape::Escape::Html),
                    }
                }
                if work != Work::FloorSmd {
                    // Paths and shared definitions have the same length in every version.
                    let versions = root.get("spec").and_then(|s| s.get("versions")).map_or(1, |v| v.len().max(1));
                    let shared = &shared[usize::from(work == Work::FloorV2)];
                    for _ in 0..versions {
                        out.extend_from_slice(shared);
                    }
                }
                counts.output += out.len();
            }
            Work::Check | Work::CheckAll => {
                arena.reset();
                let releases = if work == Work::CheckAll { Releases::ALL } else { Releases::default() };
                for manifest in kubeshape_structural::read::manifests(root).0 {
                    counts.crds += 1;
                    counts.output += Check::new(releases).definition(manifest, arena).problems.len();
                }
            }
            _ => {
                arena.reset();
                let (manifests, _) = kubeshape_structural::read::manifests(root);
                for manifest in manifests {
                    let Some(crd) = manifest.read(arena).value else { continue };
                    counts.crds += 1;
                    let resource = publisher.resource(&crd, arena);
                    counts.output += shapes(work, &resource, out);
                }
            }
        }
    }
}

fn shapes(work: Work, resource: &Resource<'_>, out: &mut Vec<u8>) -> usize {
    if work == Work::Smd {
        out.clear();
        if let Ok(schema) = resource.smd() {
            kubeshape_smd::schema::print_yaml(&schema, out);
        }
        return out.len();
    }
    let mut total = 0;
    for version in resource.versions().iter().filter(|version| version.is_published()) {
        out.clear();
        match work {
            Work::V3 => version.v3(out),
            Work::V2 => version.v2(out),
            _ => {}
        }
        total += out.len();
    }
    total
}
