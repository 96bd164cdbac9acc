//! Unreadable inputs are findings with locations.

use kubeshape_input::{Excerpt, Finding, Input, Limits, read};
use std::io::Write;

fn lines(name: &str, bytes: &[u8], limits: Limits) -> (usize, Vec<String>) {
    let Input { documents, findings, .. } = read(name, bytes, limits);
    (documents.len(), findings.iter().map(ToString::to_string).collect())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

const TITLE: &str = "KS1001 The input is not YAML or JSON that Kubernetes accepts";
const LIMIT: &str = "KS1002 The input exceeds a size limit";
const UNREADABLE: &str = "KS1007 The file cannot be read";

#[test]
fn reading_continues_after_a_document_that_cannot_be_read() {
    let text = "kind: A\n---\nb: [1\n---\nkind: C\n...\nlost: true\n---\n\"d\n";
    let Input { documents, findings, .. } = read("a.yaml", text.as_bytes(), Limits::default());
    let kinds: Vec<_> =
        documents.iter().map(|document| document.root().get("kind").and_then(kubeshape_yaml::Node::as_str)).collect();
    assert_eq!(kinds, [Some("A"), Some("C")]);
    let found: Vec<(u16, Option<String>)> =
        findings.iter().map(|f| (f.code.number(), f.place.map(|place| place.to_string()))).collect();
    let expected = [(1001, "4:1"), (1012, "7:1"), (1001, "9:1")];
    assert_eq!(found, expected.map(|(code, place)| (code, Some(place.to_owned()))));
    assert_eq!(findings[1].excerpt, Some(Excerpt { text: "lost: true".to_owned(), span: 0..1 }));
    assert_eq!(findings[1].span, Some(34..45));
    assert!(!findings[1].is_error());
}

#[test]
fn an_input_that_is_not_text_has_one_finding() {
    let (documents, found) = lines("a.yaml", b"a: \xFF\n---\nb: 1\n", Limits::default());
    assert_eq!(documents, 0);
    let detail = "found the byte 0xFF, which is not UTF-8; convert the source to UTF-8";
    assert_eq!(found, [format!("a.yaml:1:4: {TITLE}: {detail}")]);
}

#[test]
fn limits_apply_before_and_after_unpacking() {
    let limits = Limits { bytes: 1000, ..Limits::default() };
    let large = vec![b' '; 1_000_000];
    let split = "the limit is 1000; split it into several files";
    for (bytes, what) in [
        (large.clone(), "it has 1000000 bytes"),
        (zstd(&large), "uncompressed it has more than 1000 bytes"),
        ([gzip(&large[..600]), gzip(&large[..600])].concat(), "uncompressed it has more than 1000 bytes"),
    ] {
        let found = lines("a.yaml", &bytes, limits);
        assert_eq!(found, (0, vec![format!("a.yaml: {LIMIT}: {what}; {split}")]));
    }
    let limits = Limits { depth: 3, ..Limits::default() };
    let (documents, found) = lines("a.yaml", b"[[[[]]]]\n---\na: 1\n", limits);
    assert!(documents == 1 && found.len() == 1 && found[0].starts_with(&format!("a.yaml:1:4: {LIMIT}")), "{found:?}");
}

#[test]
fn broken_compression_is_reported() {
    let packed = gzip(b"kind: Pod\n");
    let (documents, found) = lines("a.yaml", &packed[..packed.len() - 4], Limits::default());
    assert!(
        documents == 0 && found.len() == 1 && found[0].starts_with(&format!("a.yaml: {UNREADABLE}: ")),
        "{found:?}"
    );
    let (_, found) = lines("A.YAML.ZST", &packed, Limits::default());
    let detail = "the name ends in .zst, but the content is not compressed so";
    assert_eq!(found, [format!("A.YAML.ZST: {UNREADABLE}: {detail}")]);
}

#[test]
fn broken_protobuf_is_reported() {
    let (documents, found) = lines("a.pb", b"\x0a\x032.0\x12\xFF", Limits::default());
    assert!(documents == 0 && found.len() == 1 && found[0].starts_with(&format!("a.pb: {UNREADABLE}: ")), "{found:?}");
}

#[test]
fn a_finding_is_written_with_all_members_in_order() {
    let mut finding = Finding::new(kubeshape_input::Code::V2Junctor, "\"<\u{7}\u{2028}>\"")
        .in_input("a.yaml")
        .of_resource("tabs.example.com");
    finding.version = Some(String::new());
    finding.shape = Some(kubeshape_input::Shape::V2);
    let json = serde_json::to_string(&finding).expect("JSON");
    let expected = r#"{"code":"KS2001","kind":"widened","pointer":null,"input":"a.yaml","line":null,"column":null,"resource":"tabs.example.com","version":"","shape":"v2","detail":"\"<\u0007"#;
    let message = r#""message":"OpenAPI v2 drops allOf, oneOf, anyOf and not: \"<\u0007"#;
    assert_eq!(json, format!("{expected}\u{2028}>\\\"\",{message}\u{2028}>\\\"\"}}"));
    assert_eq!(
        finding.to_string(),
        "a.yaml: KS2001 OpenAPI v2 drops allOf, oneOf, anyOf and not: \"<\u{7}\u{2028}>\" (in tabs.example.com)"
    );
}
