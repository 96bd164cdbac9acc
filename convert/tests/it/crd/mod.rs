//! CustomResourceDefinitions from schemas.
#![allow(clippy::unwrap_used)]

mod rules;
mod soundness;

use kubeshape_convert::crd::{Made, Names, Options, Source, candidates, definition};
use kubeshape_schema::print::{self, Style};
use kubeshape_schema::{Bump, Code, NoteKind};
use kubeshape_yaml::{Limits, Stream, Tape};

/// A converted schema: that of `spec`, printed, and the codes of the losses.
#[derive(Debug)]
struct Spec {
    json: String,
    whole: String,
    codes: Vec<Code>,
}

impl Spec {
    fn has(&self, kind: NoteKind) -> bool {
        self.codes.iter().any(|code| code.kind() == kind)
    }
}

/// Converts the first schema of a document, which becomes the spec.
fn spec(source: &str, options: Options) -> Option<Spec> {
    with(source, options, |made| {
        let definition = made.definition.as_ref()?;
        let schema = &definition.versions[0].schema;
        let mut json = Vec::new();
        print::schema(&mut json, schema.property("spec").unwrap_or(schema), Style::V2);
        let mut whole = Vec::new();
        definition.print(&mut whole);
        let codes = made.notes.iter().map(|(_, note)| note.code).filter(|code| *code != Code::ToCrdSpec).collect();
        Some(Spec { json: String::from_utf8(json).ok()?, whole: String::from_utf8(whole).ok()?, codes })
    })
}

fn with<T>(source: &str, options: Options, read: impl FnOnce(&Made<'_>) -> T) -> T {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).unwrap().next(&mut tape).unwrap().unwrap();
    let root = tape.document(source).node(0);
    let arena = Bump::new();
    let schema = candidates(root)[0].node;
    read(&definition(
        Names::new("example.com", "Box", &arena),
        &[Source { version: "v1", root, schema }],
        options,
        &arena,
    ))
}
