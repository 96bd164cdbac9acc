//! Compares with recorded answers of gnostic and of a server, if `KUBESHAPE_GOLDEN` and `KUBESHAPE_CORPUS` name them.
#![allow(clippy::print_stderr)]

use std::error::Error;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use kubeshape_convert::proto::{self, Refusal};
use kubeshape_schema::Dialect;
use kubeshape_yaml::{Kind, Limits, Node, Path as Reader, Stream, Tape};
use sha2::{Digest as _, Sha256};

use crate::support::{bytes, folder};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Counts of one field of the records.
#[derive(Default)]
struct Count {
    compared: usize,
    equal: usize,
    refused: usize,
    differing: Vec<String>,
}

impl Count {
    fn add(&mut self, what: &str, outcome: Result<bool, String>) {
        self.compared += 1;
        match outcome {
            Ok(refused) => {
                self.equal += 1;
                self.refused += usize::from(refused);
            }
            Err(why) => self.differing.push(format!("{what}: {why}")),
        }
    }

    fn add_all(&mut self, other: Count) {
        self.compared += other.compared;
        self.equal += other.equal;
        self.refused += other.refused;
        self.differing.extend(other.differing);
    }

    fn report(&self, name: &str) {
        eprintln!("{name}: {} of {} equal, {} of them refused by both", self.equal, self.compared, self.refused);
        for line in self.differing.iter().take(20) {
            eprintln!("  {line}");
        }
    }
}

fn files(folder: &Path, end: &str) -> Outcome<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.to_string_lossy().ends_with(end));
    paths.sort();
    Ok(paths)
}

/// Reads the first document with content and calls `with` with its root.
fn read_as<T>(reader: Reader, source: &str, with: impl FnOnce(Node<'_>) -> T) -> Outcome<T> {
    let mut tape = Tape::new();
    let mut stream = Stream::with_path(source.as_bytes(), Limits::default(), reader)?;
    while !tape.has_content() {
        stream.next(&mut tape).ok_or("no document")??;
    }
    Ok(with(tape.document(source).root().ok_or("no root")?))
}

fn read<T>(source: &str, with: impl FnOnce(Node<'_>) -> T) -> Outcome<T> {
    read_as(Reader::Json, source, with)
}

fn encode(source: &str, reader: Reader, dialect: Dialect) -> Outcome<Result<Vec<u8>, Vec<Refusal>>> {
    read_as(reader, source, |root| {
        let checked = match dialect {
            Dialect::V2 => proto::v2::check(root),
            Dialect::V3 => proto::v3::check(root),
        };
        let encoded = proto::encode(root, dialect);
        assert_eq!(checked.as_ref().err(), encoded.as_ref().err(), "check and encode disagree");
        encoded.map(|encoded| encoded.value)
    })
}

/// Checks that bytes decode to a document with the same bytes.
fn round_trip(bytes: &[u8], dialect: Dialect) -> Result<(), String> {
    if proto::detect(bytes) != Some(dialect) {
        return Err("not detected".into());
    }
    let json = proto::decode(bytes, dialect).map_err(|error| format!("decoding: {error}"))?;
    let json = String::from_utf8(json).map_err(|error| error.to_string())?;
    match encode(&json, Reader::Json, dialect).map_err(|error| format!("decoded: {error}"))? {
        Ok(again) if again == bytes => Ok(()),
        Ok(_) => Err("the decoded document has other bytes".into()),
        Err(refusals) => Err(format!("the decoded document is refused: {}", refusals[0].problem)),
    }
}

/// Compares our bytes with a record `{sha256, len}` or `{error}`. Returns whether both refuse.
fn compare(
    (source, reader): (&str, Reader),
    dialect: Dialect,
    record: Node<'_>,
    bytes: Option<Node<'_>>,
) -> Result<bool, String> {
    let theirs = record.get("error").map(|error| error.text().to_owned());
    let ours = match encode(source, reader, dialect) {
        Ok(ours) => ours,
        Err(_) if theirs.is_some() => return Ok(true),
        Err(error) => return Err(format!("not read: {error}")),
    };
    match (ours, theirs) {
        (Err(_), Some(_)) => Ok(true),
        (Err(refusals), None) => Err(format!("refused: {}", refusals[0].problem)),
        (Ok(_), Some(error)) => Err(format!("not refused: {error}")),
        (Ok(ours), None) => {
            let text = |name| record.get(name).map(|node| node.text().to_owned()).unwrap_or_default();
            if super::proto::hex(&Sha256::digest(&ours)) != text("sha256") {
                return Err(format!("{} bytes, theirs {}", ours.len(), text("len")));
            }
            if let Some(packed) = bytes {
                let packed = BASE64_STANDARD.decode(packed.text()).map_err(|error| error.to_string())?;
                let mut bytes = Vec::new();
                let mut unpacking = flate2::read::MultiGzDecoder::new(packed.as_slice());
                unpacking.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
                if bytes != ours {
                    return Err("bytes differ".into());
                }
            }
            round_trip(&ours, dialect).map(|()| false)
        }
    }
}

/// Returns the source of an embedded document.
fn embedded<'a>(source: &'a str, node: Node<'a>) -> &'a str {
    if node.kind() == Kind::Str { node.text() } else { &source[node.span()] }
}

#[test]
fn recorded_documents_have_gnostics_bytes() -> Outcome<()> {
    let (Some(golden), Some(corpus)) = (folder("KUBESHAPE_GOLDEN"), folder("KUBESHAPE_CORPUS")) else {
        return Ok(());
    };
    let (mut source, mut proto, mut v3) = (Count::default(), Count::default(), Count::default());
    for path in files(&golden.join("openapi"), ".ndjson.gz")? {
        let project = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().replace(".ndjson.gz", "");
        for line in String::from_utf8(bytes(&path)?)?.lines().step_by(kubeshape_corpus::one_in(3)) {
            read(line, |record| -> Outcome<()> {
                let text = |name| record.get(name).map(|node| node.text().to_owned()).unwrap_or_default();
                let file = text("file");
                let name = format!("{project}/{file}");
                let dialect = if text("kind") == "v3" { Dialect::V3 } else { Dialect::V2 };
                if let Some(answer) = record.get("source_proto") {
                    let own = std::fs::read_to_string(corpus.join("openapi").join(&name))?;
                    // A file with JSON contents and a YAML name was read as YAML.
                    let reader = if Path::new(&name).extension().is_some_and(|end| end == "json") {
                        Reader::Json
                    } else {
                        Reader::Yaml
                    };
                    source.add(&name, compare((&own, reader), dialect, answer, None));
                }
                if let (Some(answer), Some(json)) = (record.get("proto"), record.get("json")) {
                    let bytes = record.get("proto_gzip_base64");
                    proto.add(&name, compare((embedded(line, json), Reader::Json), dialect, answer, bytes));
                }
                if let (Some(answer), Some(json)) = (record.get("v3_proto"), record.get("v3")) {
                    let bytes = record.get("v3_proto_gzip_base64");
                    v3.add(&name, compare((embedded(line, json), Reader::Json), Dialect::V3, answer, bytes));
                }
                Ok(())
            })??;
        }
    }
    for (name, count) in [("source_proto", &source), ("proto", &proto), ("v3_proto", &v3)] {
        count.report(name);
    }
    assert!(source.compared + proto.compared + v3.compared > 0, "no records");
    assert!(source.differing.is_empty() && proto.differing.is_empty() && v3.differing.is_empty());
    Ok(())
}

#[test]
fn documents_of_a_server_have_its_bytes() -> Outcome<()> {
    let Some(golden) = folder("KUBESHAPE_GOLDEN") else {
        return Ok(());
    };
    let mut count = Count::default();
    for state in ["crds", "rules", "empty"].into_iter().step_by(kubeshape_corpus::one_in(3)) {
        let bodies = golden.join("apiserver").join(state).join("bodies");
        let mut pairs = if bodies.join("v3").is_dir() { files(&bodies.join("v3"), ".json.zst")? } else { Vec::new() };
        pairs.push(bodies.join("openapi-v2.json.zst"));
        // OpenAPI v2 is always included.
        for json in pairs.into_iter().rev().step_by(kubeshape_corpus::one_in(3)) {
            let served = PathBuf::from(json.to_string_lossy().replace(".json.zst", ".pb.zst"));
            if !json.is_file() || !served.is_file() {
                continue;
            }
            let name = format!("{state}/{}", json.file_name().unwrap_or_default().to_string_lossy());
            let dialect = if name.ends_with("openapi-v2.json.zst") { Dialect::V2 } else { Dialect::V3 };
            let source = String::from_utf8(bytes(&json)?)?;
            let served = bytes(&served)?;
            count.add(
                &name,
                match encode(&source, Reader::Json, dialect)? {
                    Ok(ours) if ours == served => round_trip(&ours, dialect).map(|()| false),
                    Ok(ours) => Err(format!("{} bytes, theirs {}", ours.len(), served.len())),
                    Err(refusals) => Err(format!("refused: {}", refusals[0].problem)),
                },
            );
        }
    }
    count.report("server");
    assert!(count.compared > 0 && count.differing.is_empty());
    Ok(())
}

fn documents_of_crds(path: &Path, count: &mut Count) -> Outcome<()> {
    for line in String::from_utf8(bytes(path)?)?.lines() {
        read(line, |record| {
            let (Some(answer), Some(doc)) = (record.get("proto"), record.get("doc")) else {
                return;
            };
            let kind = record.get("record").map(|node| node.text().to_owned()).unwrap_or_default();
            let dialect = if kind == "v2" { Dialect::V2 } else { Dialect::V3 };
            let at = record.get("path").map(|node| node.text().to_owned()).unwrap_or_default();
            let name = format!("{} {kind} {at}", path.file_name().unwrap_or_default().to_string_lossy());
            count.add(&name, compare((embedded(line, doc), Reader::Json), dialect, answer, None));
        })?;
    }
    Ok(())
}

#[test]
fn documents_of_crds_have_gnostics_bytes() -> Outcome<()> {
    let Some(golden) = folder("KUBESHAPE_GOLDEN") else {
        return Ok(());
    };
    // On one thread this takes longer than all other tests of this program together.
    let files = files(&golden.join("crds"), ".merged.ndjson.gz")?;
    let files: Vec<PathBuf> = files.into_iter().step_by(kubeshape_corpus::one_in(12)).collect();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicUsize::new(0);
    let work = || -> Result<Count, String> {
        let mut count = Count::default();
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            documents_of_crds(path, &mut count).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(count)
    };
    let mut count = Count::default();
    std::thread::scope(|scope| -> Outcome<()> {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            count.add_all(worker.join().map_err(|_| "a thread panicked")??);
        }
        Ok(())
    })?;
    count.report("crds");
    assert!(count.compared > 0 && count.differing.is_empty());
    Ok(())
}
