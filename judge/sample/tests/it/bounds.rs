//! Definitions whose samples would become large.

use kubeshape_sample::sample_of_document;
use kubeshape_schema::Bump;
use kubeshape_yaml::{Limits, Stream, Tape};
use std::fmt::Write as _;

/// Returns the problems of the smallest sample of `D0`.
fn problems(definitions: &str) -> Vec<String> {
    let source = format!("{{\"definitions\": {{{definitions}}}}}");
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).unwrap().next(&mut tape).transpose().unwrap();
    let root = tape.document(&source).root().unwrap();
    let arena = Bump::new();
    let made = sample_of_document(root, "D0", ("v1", "D0"), false, &arena).unwrap();
    made.problems.into_iter().map(|problem| problem.text).collect()
}

const LIMITS: &str = "a sample has at most 48 levels and 20000 values";

#[test]
fn a_sample_has_bounded_depth() {
    let chain = |length: usize| {
        let mut out = String::new();
        for at in 0..length {
            let next = at + 1;
            let _ = write!(
                out,
                r##""D{at}": {{"type": "object", "required": ["next"], "properties": {{"next": {{"$ref": "#/definitions/D{next}"}}}}}},"##
            );
        }
        out + &format!(r#""D{length}": {{"type": "string"}}"#)
    };
    assert_eq!(problems(&chain(40)), [""; 0]);
    assert!(problems(&chain(1_000)).contains(&LIMITS.to_owned()));
}

#[test]
fn a_sample_has_a_bounded_number_of_values() {
    let names: Vec<String> = (0..30_000).map(|at| format!("\"f{at}\"")).collect();
    let fields: Vec<String> = names.iter().map(|name| format!(r#"{name}: {{"type": "string"}}"#)).collect();
    let (names, fields) = (names.join(","), fields.join(","));
    let text = format!(r#""D0": {{"type": "object", "required": [{names}], "properties": {{{fields}}}}}"#);
    assert!(problems(&text).contains(&LIMITS.to_owned()));
}

#[test]
fn dangling_references_end() {
    let mut chain = String::new();
    for at in 0..10_000 {
        let next = at + 1;
        let _ = write!(chain, r##""D{at}": {{"allOf": [{{"$ref": "#/definitions/D{next}"}}]}},"##);
    }
    problems(&(chain + r#""D10000": {"type": "string"}"#));
    problems(r##""D0": {"allOf": [{"$ref": "#/definitions/D1"}]}, "D1": {"allOf": [{"$ref": "#/definitions/D0"}]}"##);
}
