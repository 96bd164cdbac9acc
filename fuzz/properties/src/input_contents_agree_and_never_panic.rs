//! Any bytes have the same documents, contents and findings, whether documents are owned or borrowed and whether the
//! bytes are compressed. Every finding about an input has a location in it, and can be printed.

use kubeshape_input::{Content, Finding, Limits, Reader, read};
use std::io::Write;

type Found = (Vec<(Content, usize)>, Vec<Finding>);

fn owned(bytes: &[u8], limits: Limits) -> Found {
    let input = read("input", bytes, limits);
    for document in &input.documents {
        let (definitions, others) = document.manifests();
        let mut resolver = document.resolver();
        for node in others.into_iter().chain(definitions.iter().map(|manifest| manifest.node)) {
            assert!(resolver.finding(&kubeshape_input::skipped(node)).to_string().starts_with("input"));
        }
    }
    let documents = input.documents.iter().map(|document| (document.content(), document.document().len()));
    (documents.collect(), input.findings)
}

fn lent(bytes: &[u8], limits: Limits) -> Found {
    let mut out = Found::default();
    let mut reader = Reader::new();
    let mut documents = reader.documents("input".into(), bytes, limits);
    while let Some(document) = documents.next() {
        match document {
            Ok(mut document) => {
                out.0.push((document.content(), document.document().len()));
                out.1.extend(document.remarks());
            }
            Err(finding) => out.1.push(*finding),
        }
    }
    out
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let limits = Limits { bytes: 1 << 20, ..Limits::default() };
    let found = owned(data, limits);
    assert_eq!(found, lent(data, limits));
    for finding in &found.1 {
        assert!(!finding.help().is_empty());
        serde_json::to_string(finding).expect("JSON");
        if let Some(excerpt) = &finding.excerpt {
            assert!(excerpt.text.get(excerpt.span.clone()).is_some(), "{excerpt:?}");
        }
    }
    // Bytes that look compressed are unpacked once.
    if !data.starts_with(&[0x1F, 0x8B]) && !data.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).expect("writing to memory");
        assert_eq!(found, owned(&encoder.finish().expect("writing to memory"), limits));
    }
}
