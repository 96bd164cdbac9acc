//! Prints the CustomResourceDefinitions of files, and those that are made of definitions of other systems, as JSON: a
//! line for each document that has some, or that is wrong.

use kubeshape_input::{Limits, Reader};
use kubeshape_yaml::json;
use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut reader = Reader::new();
    let mut out = std::io::stdout().lock();
    for path in std::env::args_os().skip(1) {
        let bytes = std::fs::read(&path)?;
        let name = path.to_string_lossy();
        let mut documents = reader.documents(name.as_ref().into(), &bytes, Limits::default());
        while let Some(document) = documents.next() {
            let mut line = Vec::from(&br#"{"file":"#[..]);
            json::write_str(&name, &mut line, false);
            match document {
                Err(finding) => {
                    line.extend_from_slice(br#","error":"#);
                    json::write_str(&finding.detail, &mut line, false);
                }
                Ok(document) => {
                    let (definitions, _) = document.manifests();
                    if definitions.is_empty() {
                        continue;
                    }
                    line.extend_from_slice(br#","crds":["#);
                    for (number, definition) in definitions.iter().enumerate() {
                        line.extend_from_slice(if number > 0 { b"," } else { b"" });
                        json::write(definition.node, &mut line, json::Options::default());
                    }
                    line.push(b']');
                }
            }
            line.extend_from_slice(b"}\n");
            out.write_all(&line)?;
        }
    }
    Ok(())
}
