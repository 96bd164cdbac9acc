//! The same bytes give the same documents and findings, however they are read.

use kubeshape_input::{Content, Document, Finding, Input, Limits, Reader, read};
use kubeshape_yaml::{Entry, Node};
use std::io::Write;
use std::path::Path;

/// Returns all files of the corpus with their names below it.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let root = kubeshape_corpus::folder();
    let mut out = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.starts_with(root.join("recorded")) {
                let name = path.strip_prefix(&root).unwrap_or(Path::new("")).to_string_lossy().into_owned();
                out.push((name, std::fs::read(&path).expect("a file")));
            }
        }
    }
    out.sort();
    assert!(out.len() > 300, "{} files", out.len());
    out
}

/// Returns the facts about a document.
fn facts(content: Content, root: Node<'_>) -> (Content, Vec<Entry>, Vec<String>) {
    let document = root.document();
    let nodes = 0..document.len() as u32;
    let texts = nodes.clone().map(|at| document.node(at).text().to_owned()).collect();
    (content, nodes.map(|at| *document.node(at).entry()).collect(), texts)
}

/// The kind of a document, its entries, and its objects.
type Facts = (Content, Vec<Entry>, Vec<String>);

fn facts_of(document: &Document) -> (Content, Vec<Entry>, Vec<String>) {
    facts(document.content(), document.root())
}

/// Reads an input as commands do that process one document at a time.
fn lent(reader: &mut Reader, name: &str, bytes: &[u8]) -> (Vec<Facts>, Vec<Finding>) {
    let (mut all, mut findings) = (Vec::new(), Vec::new());
    let mut documents = reader.documents(name.into(), bytes, Limits::default());
    while let Some(document) = documents.next() {
        match document {
            Ok(mut document) => {
                all.push(facts(document.content(), document.root()));
                findings.extend(document.remarks());
            }
            Err(finding) => findings.push(*finding),
        }
    }
    (all, findings)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn documents_that_are_owned_lent_or_packed_are_the_same() {
    let mut reader = Reader::new();
    for (name, bytes) in corpus() {
        let Input { documents, findings, .. } = read(name.as_str(), &bytes, Limits::default());
        let owned: Vec<_> = documents.iter().map(facts_of).collect();
        let is_blank = |line: &str| line.trim().is_empty() || line.starts_with('#') || line.trim() == "---";
        let is_empty = std::str::from_utf8(&bytes).is_ok_and(|text| text.lines().all(is_blank));
        assert_eq!(owned.is_empty() && findings.is_empty(), is_empty, "{name}");
        let (lent, of_lent) = lent(&mut reader, &name, &bytes);
        assert!(owned == lent && findings == of_lent, "{name}: {findings:?} {of_lent:?}");
        for packed in [gzip(&bytes), zstd(&bytes)] {
            let again = read(name.as_str(), &packed, Limits::default());
            assert_eq!(findings, again.findings, "{name}");
            assert!(owned == again.documents.iter().map(facts_of).collect::<Vec<_>>(), "{name}");
        }
    }
}

#[test]
fn every_node_of_an_owned_document_has_its_location_and_its_line() {
    for (name, bytes) in corpus() {
        for document in read(name.as_str(), &bytes, Limits::default()).documents {
            let mut resolver = document.resolver();
            let text = document.source().text();
            for at in 0..document.document().len() as u32 {
                let node = document.document().node(at);
                let place = resolver.place(at);
                assert_eq!(place, document.source().place(node.span().start), "{name}");
                let excerpt = resolver.excerpt(at);
                let line = text.split('\n').nth(place.map_or(0, |place| place.line - 1)).unwrap_or_default();
                assert!(line.contains(&excerpt.text), "{name}: {excerpt:?}");
                assert!(excerpt.text.get(excerpt.span.clone()).is_some(), "{name}: {excerpt:?}");
            }
        }
    }
}

#[test]
fn an_openapi_document_is_the_same_in_protobuf() {
    use kubeshape_convert::{proto, v2, v3};
    use kubeshape_schema::print::Style;
    use kubeshape_schema::{Bump, Profile};
    let mut seen = 0;
    for (name, bytes) in corpus() {
        for document in read(name.as_str(), &bytes, Limits::default()).documents {
            let arena = Bump::new();
            let (root, content, mut json) = (document.root(), document.content(), Vec::new());
            let encoded = match content {
                Content::OpenApi(kubeshape_schema::Dialect::V2) => {
                    let read = v2::read(root, &arena, Profile::Kube).value;
                    read.inspect(|document| document.print(&mut json, Style::V2, Profile::Kube));
                    proto::v2::encode(root)
                }
                Content::OpenApi(kubeshape_schema::Dialect::V3) => {
                    let read = v3::read(root, &arena, Profile::Kube).value;
                    read.inspect(|document| document.print(&mut json, Profile::Kube));
                    proto::v3::encode(root)
                }
                _ => continue,
            };
            let Ok(encoded) = encoded else { continue };
            if proto::detect(&encoded.value).is_none() {
                continue;
            }
            let input = read("a.pb", &encoded.value, Limits::default());
            assert_eq!(input.findings, [], "{name}");
            assert_eq!(input.documents.len(), 1, "{name}");
            assert_eq!(input.documents[0].content(), content, "{name}");
            assert!(!input.documents[0].source().has_lines());
            assert_eq!(input.documents[0].source().place(0), None);
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}
