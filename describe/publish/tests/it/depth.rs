//! Schemas as deep as the reader of documents allows are published without exhausting the stack of a test's thread (2
//! MiB), in a build without optimisation.

use kubeshape_publish::{Base, MergeV2, MergeV3, Options, Publisher, Shape, V2Form};
use kubeshape_schema::Bump;
use kubeshape_yaml::{Limits, Stream, Tape};

fn publish(schema: &str) -> usize {
    let source = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"a.example.com"}},
        "spec":{{"group":"example.com","scope":"Cluster","names":{{"plural":"a","kind":"A"}},
        "versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{schema}}}}}]}}}}"#
    );
    let mut tape = Tape::new();
    let mut stream = Stream::new(source.as_bytes(), Limits::default()).expect("UTF-8");
    stream.next(&mut tape).expect("a document").expect("within the limits");
    let arena = Bump::new();
    let root = tape.document(&source).root().expect("a root");
    let crd = kubeshape_structural::read::read(root, &arena).value.expect("a CRD");
    let publisher = Publisher::new(Base::builtin(), Options::default());
    let resource = publisher.resource(&crd, &arena);
    let version = &resource.versions()[0];
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    version.v3(&mut out);
    version.v2(&mut out);
    version.structural(&mut out);
    for shape in [Shape::V3, Shape::V2] {
        version.losses(shape, &mut notes);
    }
    version.v2_default_losses(&mut notes);
    resource.smd_losses(&mut notes);
    if let Ok(schema) = resource.smd() {
        kubeshape_smd::schema::print_yaml(&schema, &mut out);
    }
    let mut merge = MergeV3::new();
    merge.add("a", version.v3_fragments());
    assert_eq!(merge.finish(publisher.base()).count(), 1);
    let mut merge = MergeV2::new();
    merge.add("a", resource.v2_fragments(V2Form::Served));
    out.len() + merge.finish(publisher.base()).len()
}

/// Returns `n` times `open`, then `inner`, then `n` times `close`.
fn nested(n: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

#[test]
fn nested_items_are_published() {
    publish(&format!(
        r#"{{"type":"object","properties":{{"a":{}}}}}"#,
        nested(490, r#"{"type":"array","items":"#, r#"{"type":"string","nullable":true}"#, "}")
    ));
}

#[test]
fn nested_properties_are_published() {
    publish(&nested(
        250,
        r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":"#,
        r#"{"type":"string","default":"x"}"#,
        "}}",
    ));
}

#[test]
fn nested_junctors_are_read() {
    publish(&nested(160, r#"{"type":"object","not":{"anyOf":["#, "{}", "]}}"));
}

#[test]
fn nested_values_are_printed() {
    publish(&format!(
        r#"{{"type":"object","properties":{{"a":{{"type":"object","x-kubernetes-preserve-unknown-fields":true,"default":{}}}}}}}"#,
        nested(490, r#"{"a":"#, "1", "}")
    ));
}
