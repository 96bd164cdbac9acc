//! Strategic merge patches: the results of `strategicpatch` of apimachinery for patches, differences and three-way
//! patches.

use crate::golden;
use crate::known::Known;
use crate::table::{Table, Verdict};
use crate::typed::built_in;
use kubeshape_registry::strategic::{Error, KUBECTL, ThreeWay, apply, three_way, two_way};
use kubeshape_registry::{DocumentSchema, Gvk, Registry};
use kubeshape_schema::Bump;
use kubeshape_smd::Value;
use kubeshape_smd::value::Map;
use kubeshape_yaml::{Limits, Stream, Tape};
use std::path::{Path, PathBuf};

/// Returns the file of recorded answers.
pub fn file(golden: &Path) -> PathBuf {
    golden.join("builtins/strategic.ndjson.gz")
}

/// Compares every recorded answer.
pub fn compare(golden: &Path, known: Known) -> Table {
    let mut table = Table::new("strategic", known);
    if !file(golden).is_file() {
        return table;
    }
    let read = golden::read(&file(golden)).map_err(|error| error.to_string());
    let text = read.and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
    let (registry, text) = match (built_in(), text) {
        (Ok(registry), Ok(text)) => (registry, text),
        (Err(error), _) | (_, Err(error)) => {
            table.add("reading", "strategic", Verdict::Missing(error));
            return table;
        }
    };
    for line in text.lines() {
        record(line, &registry, &mut table);
    }
    table
}

fn record(line: &str, registry: &Registry, table: &mut Table) {
    let (arena, mut tape) = (Bump::new(), Tape::new());
    let read = Stream::new(line.as_bytes(), Limits::default()).ok().and_then(|mut stream| stream.next(&mut tape));
    let root = tape.document(line).root().filter(|_| matches!(read, Some(Ok(()))));
    let Some(record) = root.map(|root| Value::from_node(root, &arena)) else {
        return table.add("reading", "strategic", Verdict::Missing("a line is not JSON".to_owned()));
    };
    let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = (text("group"), text("version"));
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let kind = registry.kind(Gvk::new(&api_version, text("kind")));
    let label = format!("{} {} {}", text("id"), text("kind"), text("what"));
    let verdict = match kind.and_then(|kind| Some(ours(record, Some(kind.document_schema()?), &arena))) {
        None => Verdict::Missing("the kind has no schema".to_owned()),
        Some(ours) => verdict(&ours, record.get("answer").unwrap_or(Value::Null)),
    };
    table.add(text("op"), &label, verdict);
}

fn ours<'a>(record: Value<'a>, schema: Option<DocumentSchema<'_>>, arena: &'a Bump) -> Result<Map<'a>, Error> {
    let map = |key: &str| match record.get(key) {
        None | Some(Value::Null) => Ok(Map::EMPTY),
        Some(value) => value.as_map().ok_or(Error::NoObject),
    };
    match record.get("op").and_then(Value::as_str) {
        Some("apply") => apply(map("original")?, map("patch")?, schema, arena),
        Some("diff") => two_way(map("original")?, map("modified")?, schema, arena),
        _ => {
            let overwrite = matches!(record.get("overwrite"), Some(Value::Bool(true)));
            let (original, modified, current) = (map("original")?, map("modified")?, map("current")?);
            three_way(ThreeWay { original, modified, current, overwrite }, &KUBECTL, schema, arena)
        }
    }
}

/// Compares an answer. If upstream panics, any error is right; the order of some of its errors is that of a Go map.
fn verdict(ours: &Result<Map<'_>, Error>, answer: Value<'_>) -> Verdict {
    let json = |value: Value<'_>| {
        let mut out = Vec::new();
        value.write_go_json(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    };
    let error = answer.get("error").or_else(|| answer.get("panic"));
    let is_unstable = answer.get("unstable").is_some() || answer.get("panic").is_some();
    let (own, theirs) = match (ours, error) {
        (Err(_), Some(_)) if is_unstable => return Verdict::Equal,
        (Err(own), Some(theirs)) => (own.to_string(), theirs.as_str().unwrap_or_default().to_owned()),
        (Ok(own), None) => (json(Value::Map(*own)), json(answer.get("result").unwrap_or(Value::Null))),
        (Ok(own), Some(theirs)) => (json(Value::Map(*own)), format!("error {}", json(theirs))),
        (Err(own), None) => (format!("error {own}"), json(answer.get("result").unwrap_or(Value::Null))),
    };
    match golden::first_byte_difference(own.as_bytes(), theirs.as_bytes()) {
        None => Verdict::Equal,
        Some(place) => Verdict::Differing(place),
    }
}
