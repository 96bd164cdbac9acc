//! Values, path elements and sets that readers and printers of JSON treat differently.

use crate::Verdict;
use kubeshape_smd::fieldpath::{PathElement, Set};
use kubeshape_smd::value::Compat;
use kubeshape_smd::{Bump, Value};
use serde_json::Value as Json;

/// Replays one call: an input is read, and written again.
pub fn compare(kind: &str, record: &Json, compat: Compat) -> Verdict {
    let arena = Bump::new();
    let Some(input) = bytes(record["input"].as_str().unwrap_or_default()) else {
        return Verdict::Missing("the input is not hexadecimal".to_owned());
    };
    let written = match kind {
        "odd.value" => value(&input, compat, &arena),
        "odd.set" => set(&input, compat, &arena),
        "odd.element" => element(&input, compat, &arena),
        other => return Verdict::Missing(format!("unknown kind {other:?}")),
    };
    let shown = String::from_utf8_lossy(&input);
    match (written, record["error"].as_str()) {
        (Ok(written), None) => Verdict::of(&format!("{shown:?}"), &record["output"].as_str(), &Some(&*written)),
        (Err(_), Some(_)) => Verdict::Equal,
        (Ok(written), Some(error)) => Verdict::Differing(format!("{shown:?}: expected {error}, found {written}")),
        (Err(error), None) => Verdict::Differing(format!("{shown:?}: unexpected error: {error}")),
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn value(input: &[u8], compat: Compat, arena: &Bump) -> Result<String, String> {
    // Values are read from strings, in which each byte that is not UTF-8 has become U+FFFD.
    let mut text = String::new();
    for chunk in input.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    let value = Value::read_json(arena.alloc_str(&text), arena, compat).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    value.write_json_as(compat, &mut out).map_err(|error| error.to_string())?;
    String::from_utf8(out).map_err(|error| error.to_string())
}

fn set(input: &[u8], compat: Compat, arena: &Bump) -> Result<String, String> {
    let input = arena.alloc_slice_copy(input);
    let set = Set::read_json_as(input, compat, arena).map_err(|error| error.to_string())?;
    set.to_json_as(compat).map_err(|error| error.to_string())
}

fn element(input: &[u8], compat: Compat, arena: &Bump) -> Result<String, String> {
    let input = std::str::from_utf8(input).map_err(|error| error.to_string())?;
    let element = PathElement::parse_as(arena.alloc_str(input), compat, arena).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    element.write_as(compat, &mut out).map_err(|error| error.to_string())?;
    String::from_utf8(out).map_err(|error| error.to_string())
}
