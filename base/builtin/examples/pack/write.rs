//! The form in which the crate stores a release; `src/api.rs` describes it.

use crate::Result;
use flate2::{Compression, write::ZlibEncoder};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

/// Replaces the definitions of a document: as JSON prints it, and in the packed form.
const SCHEMAS: (&str, &str) = ("\"\\u0001\"", "{\u{1}}");
/// Replaces its paths in the same way.
const PATHS: (&str, &str) = ("\"\\u0002\"", "{\u{2}}");

/// Packs documents.
pub(crate) fn packed(mut v3: Vec<(String, Value)>, v2: &Value, discovery: &[(String, Value)]) -> Result<Vec<u8>> {
    let mut definitions: BTreeMap<String, usize> = BTreeMap::new();
    let mut parts: Vec<(String, Vec<String>, Vec<String>, String)> = Vec::new();
    for (name, document) in &mut v3 {
        let path = name.strip_suffix("_openapi").unwrap_or(name).replace("__", "/");
        let own = taken(document.pointer_mut("/components/schemas"), SCHEMAS.0)?;
        let paths = taken(document.pointer_mut("/paths"), PATHS.0)?;
        definitions.extend(own.iter().map(|definition| (definition.clone(), 0)));
        let template = document.to_string().replace(SCHEMAS.0, SCHEMAS.1).replace(PATHS.0, PATHS.1);
        parts.push((path, own, paths, template));
    }
    parts.sort();
    for (number, (_, at)) in definitions.iter_mut().enumerate() {
        *at = number;
    }
    let (mut documents, mut paths) = (String::new(), String::new());
    for (path, own, own_paths, template) in &parts {
        let numbers: Vec<String> = own.iter().map(|definition| definitions[definition].to_string()).collect();
        writeln!(documents, "{path}\t{template}\t{}\t{}", numbers.join(","), own_paths.len())?;
        for path in own_paths {
            writeln!(paths, "{path}")?;
        }
    }
    let sections = [
        ("definitions", lines(definitions.keys())),
        ("paths", paths),
        ("openapi-v3", documents),
        ("openapi-v2", v2.to_string()),
        ("discovery", lines(discovery.iter().map(|(name, document)| format!("{name}\t{document}")))),
    ];
    let (mut head, mut body) = (String::new(), Vec::new());
    for (name, text) in sections {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text.as_bytes())?;
        let packed = encoder.finish()?;
        writeln!(head, "{name} {} {}", packed.len(), text.len())?;
        body.extend(packed);
    }
    Ok([head.as_bytes(), b"\n", &body].concat())
}

/// Returns each string on a line.
fn lines<T: AsRef<str>>(texts: impl Iterator<Item = T>) -> String {
    texts.fold(String::new(), |lines, text| lines + text.as_ref() + "\n")
}

/// Removes the members of an object and returns them as strings. The object is replaced by a string, which JSON prints
/// as `mark`.
fn taken(object: Option<&mut Value>, mark: &str) -> Result<Vec<String>> {
    let Some(object) = object else { return Ok(Vec::new()) };
    let mark: Value = serde_json::from_str(mark)?;
    let members = object.as_object().ok_or("found no object where the document has its definitions or paths")?;
    let texts = members.iter().map(|(name, member)| format!("{}:{member}", json!(name))).collect();
    *object = mark;
    Ok(texts)
}
