//! Objects of built-in kinds in protobuf, compared with Go's reader and writer, and the table of their members.

use super::go::Program;
use crate::table::{Table, Verdict};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::Path;

/// Number of objects of each kind; the first is empty.
const SAMPLES: usize = 6;

/// An object in both forms.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sample {
    api_version: String,
    kind: String,
    protobuf: String,
    json: Box<RawValue>,
    /// The protobuf that Go writes after reading the JSON.
    again: String,
}

/// Compares the reading of random objects, and the table of members with the one from Go's types.
pub(super) fn compare(program: &Program, table: &mut Table) -> Result<(), String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../base/gotypes/src/members.txt");
    let known = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let verdict = if known == program.members()? {
        Verdict::Equal
    } else {
        Verdict::Differing("`clients protobuf` prints another table".to_owned())
    };
    table.add("members of protobuf", "members.txt", verdict);
    for (number, line) in program.samples(SAMPLES)?.split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let sample: Sample = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let bytes = STANDARD.decode(&sample.protobuf).map_err(|error| error.to_string())?;
        let read = kubeshape_objects::protobuf_to_json(&bytes).unwrap_or_else(|| Err("no protobuf".to_owned()));
        let read = read.and_then(|text| serde_json::from_slice::<Value>(&text).map_err(|error| error.to_string()));
        let expected: Value = serde_json::from_str(sample.json.get()).map_err(|error| error.to_string())?;
        let verdict = match read {
            Ok(read) if read == expected => Verdict::Equal,
            Ok(read) => Verdict::Differing(format!("Go: {expected}\nours: {read}")),
            Err(error) => Verdict::Differing(format!("Go: {expected}\nours: {error}")),
        };
        let record = format!("{} {} {}", sample.api_version, sample.kind, number % SAMPLES);
        table.add("objects from protobuf", &record, verdict);

        let json = sample.json.get();
        let written = kubeshape_objects::json_to_protobuf(&sample.api_version, &sample.kind, json.as_bytes());
        let verdict = match written.map(|bytes| STANDARD.encode(bytes)) {
            Ok(written) if written == sample.again => Verdict::Equal,
            Ok(written) => Verdict::Differing(format!("{json}\nGo: {}\nours: {written}", sample.again)),
            Err(error) => Verdict::Differing(format!("{json}\nours: {error}")),
        };
        table.add("objects to protobuf", &record, verdict);
    }
    Ok(())
}
