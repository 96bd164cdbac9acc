//! Agreement with recorded answers of gnostic and of a server, where `KUBESHAPE_GOLDEN` and `KUBESHAPE_CORPUS` name
//! them.
#![allow(clippy::print_stderr, clippy::format_collect)]

use std::error::Error;
use std::path::{Path, PathBuf};

use kubeshape_convert::proto::{self, Refusal};
use kubeshape_schema::Dialect;
use kubeshape_yaml::{Kind, Limits, Node, Path as Reader, Stream, Tape};
use prost::Message;

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

/// Reads the first document that holds anything and calls `with` with its root.
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

/// Bytes that prost's own decoder and encoder leave as they are, and that decode to a document with the same bytes.
fn round_trip(bytes: &[u8], dialect: Dialect) -> Result<(), String> {
    let again = match dialect {
        Dialect::V2 => proto::v2::model::Document::decode(bytes).map(|document| document.encode_to_vec()),
        Dialect::V3 => proto::v3::model::Document::decode(bytes).map(|document| document.encode_to_vec()),
    };
    if again.map_err(|error| format!("prost: {error}"))? != bytes {
        return Err("prost encodes other bytes".into());
    }
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

/// Compares our bytes with a record `{sha256, len}` or `{error}`; the answer says whether both refuse.
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
            if sha256(&ours) != text("sha256") {
                return Err(format!("{} bytes, theirs {}", ours.len(), text("len")));
            }
            if let Some(packed) = bytes {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("proto-golden.gz");
                std::fs::write(&path, base64(packed.text())).map_err(|error| error.to_string())?;
                if crate::support::bytes(&path).map_err(|error| error.to_string())? != ours {
                    return Err("bytes differ".into());
                }
            }
            round_trip(&ours, dialect).map(|()| false)
        }
    }
}

/// The text of an embedded document.
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
        for line in String::from_utf8(bytes(&path)?)?.lines() {
            read(line, |record| -> Outcome<()> {
                let text = |name| record.get(name).map(|node| node.text().to_owned()).unwrap_or_default();
                let file = text("file");
                let name = format!("{project}/{file}");
                let dialect = if text("kind") == "v3" { Dialect::V3 } else { Dialect::V2 };
                if let Some(answer) = record.get("source_proto") {
                    let own = std::fs::read_to_string(corpus.join("openapi").join(&name))?;
                    // A file that is JSON by its content and YAML by its name was read as YAML.
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
    for state in ["empty", "crds", "rules"] {
        let bodies = golden.join("apiserver").join(state).join("bodies");
        let mut pairs = if bodies.join("v3").is_dir() { files(&bodies.join("v3"), ".json.zst")? } else { Vec::new() };
        pairs.push(bodies.join("openapi-v2.json.zst"));
        for json in pairs {
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

#[test]
fn documents_of_crds_have_gnostics_bytes() -> Outcome<()> {
    let Some(golden) = folder("KUBESHAPE_GOLDEN") else {
        return Ok(());
    };
    let mut count = Count::default();
    for path in files(&golden.join("crds"), ".merged.ndjson.gz")? {
        for line in String::from_utf8(bytes(&path)?)?.lines() {
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
    }
    count.report("crds");
    assert!(count.compared > 0 && count.differing.is_empty());
    Ok(())
}

/// The bytes of a base64 text with padding.
fn base64(text: &str) -> Vec<u8> {
    let value = |b: u8| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut out, mut bits, mut have) = (Vec::new(), 0u32, 0);
    for digit in text.bytes().filter_map(value) {
        bits = bits << 6 | u32::from(digit);
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    out
}

/// FIPS 180-4.
fn sha256(bytes: &[u8]) -> String {
    let primes: Vec<u32> = (2..).filter(|n: &u32| (2..*n).all(|d| !n.is_multiple_of(d))).take(64).collect();
    // The first 32 bits behind the point of a cube root.
    let cube = |n: u32| {
        let (mut low, mut high) = (0u128, 1 << 36);
        while low + 1 < high {
            let middle = u128::midpoint(low, high);
            if middle.pow(3) <= u128::from(n) << 96 { low = middle } else { high = middle }
        }
        low as u32
    };
    let square = |n: u32| ((u128::from(n) << 64).isqrt()) as u32;
    let keys: Vec<u32> = primes.iter().map(|n| cube(*n)).collect();
    let mut state: Vec<u32> = primes.iter().take(8).map(|n| square(*n)).collect();
    let mut data = bytes.to_vec();
    data.push(0x80);
    data.resize((data.len() + 8).next_multiple_of(64) - 8, 0);
    data.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in data.chunks_exact(64) {
        let mut words: Vec<u32> = block.chunks_exact(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]])).collect();
        for at in 16..64 {
            let (a, b) = (words[at - 15], words[at - 2]);
            let low = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let high = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            words.push(words[at - 16].wrapping_add(low).wrapping_add(words[at - 7]).wrapping_add(high));
        }
        let mut s = state.clone();
        for at in 0..64 {
            let sum = s[4].rotate_right(6) ^ s[4].rotate_right(11) ^ s[4].rotate_right(25);
            let choice = s[4] & s[5] ^ !s[4] & s[6];
            let first = s[7].wrapping_add(sum).wrapping_add(choice).wrapping_add(keys[at]).wrapping_add(words[at]);
            let sum = s[0].rotate_right(2) ^ s[0].rotate_right(13) ^ s[0].rotate_right(22);
            let second = sum.wrapping_add(s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]);
            s.rotate_right(1);
            s[4] = s[4].wrapping_add(first);
            s[0] = first.wrapping_add(second);
        }
        for (old, new) in state.iter_mut().zip(s) {
            *old = old.wrapping_add(new);
        }
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

#[test]
fn the_hash_is_sha_256() {
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    let long = "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318";
    assert_eq!(sha256(&[b'a'; 55]), long);
    let block = "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34";
    assert_eq!(sha256(&[b'a'; 63]), block);
}
