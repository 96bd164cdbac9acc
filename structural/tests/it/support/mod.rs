//! Helpers of the tests of this crate.
#![allow(clippy::unwrap_used)]

use kubeshape_schema::{Bump, Code, Schema, print, read};
use kubeshape_structural::{Crd, Structural, convert, read as crds, unfold, usable, validate};
use kubeshape_yaml::{Limits, Node, Stream, Tape};

/// Reads the first document of a source.
pub(crate) fn with_root<T>(source: &str, f: impl FnOnce(Node<'_>) -> T) -> T {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    f(tape.document(source).root().unwrap())
}

/// Reads a schema.
pub(crate) fn with_schema<T>(source: &str, f: impl FnOnce(&Schema<'_>) -> T) -> T {
    with_root(source, |root| {
        let arena = Bump::new();
        let mut reader = read::Reader::new(&arena, read::Rules::Crd);
        let schema = reader.schema(root);
        assert!(!reader.failed(), "{source}");
        f(&schema)
    })
}

/// The structural errors of a schema that converts.
pub(crate) fn errors(source: &str) -> Vec<String> {
    with_schema(source, |schema| {
        assert_eq!(convert(schema), Ok(()), "{source}");
        validate(schema, "").iter().map(ToString::to_string).collect()
    })
}

/// Returns the codes and details of the notes about a version with this schema.
pub(crate) fn reasons(source: &str) -> Vec<(Code, String)> {
    with_schema(source, |schema| {
        let decision = usable(Some(schema), 0);
        assert_eq!(decision.value.is_some(), decision.notes.is_empty(), "{source}");
        decision.notes.iter().map(|note| (note.code, note.detail.to_string())).collect()
    })
}

/// Returns the normal form of a structural schema as OpenAPI v3, and whether it is the same node.
pub(crate) fn unfolded(source: &str) -> (String, bool) {
    with_schema(source, |schema| {
        let arena = Bump::new();
        let structural = Structural::new(schema).unwrap();
        let normal = unfold(structural, &arena);
        let mut out = Vec::new();
        print::schema(&mut out, normal, print::Style::V3);
        (String::from_utf8(out).unwrap(), std::ptr::eq(normal, schema))
    })
}

/// Reads a CustomResourceDefinition and calls `f` with it and the notes, each as `code pointer detail`.
pub(crate) fn with_crd<T>(source: &str, f: impl FnOnce(Option<Crd<'_>>, Vec<String>) -> T) -> T {
    with_root(source, |root| {
        let arena = Bump::new();
        let read = crds::read(root, &arena);
        let place = |at| root.document().pointer(at);
        let notes = read.notes.iter().map(|n| format!("{} {} {}", n.code, place(n.at), n.detail)).collect();
        f(read.value, notes)
    })
}
