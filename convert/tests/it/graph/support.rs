//! Reads and prints documents.

use kubeshape_convert::aggregate::Aggregator;
use kubeshape_convert::document::Document;
use kubeshape_convert::{v2, v3};
use kubeshape_schema::{Bump, Note, Profile};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Memory for documents: sources, tapes and nodes.
#[derive(Default)]
pub(crate) struct Room {
    pub(crate) arena: Bump,
}

impl Room {
    /// A v3 document.
    pub(crate) fn v3<'a>(&'a self, text: &str) -> v3::Document<'a> {
        let (tape, text) = self.tape(text);
        let root = tape.document(text).root().expect("the text holds a document");
        let read = v3::read(root, &self.arena, Profile::Faithful);
        read.value.unwrap_or_else(|| panic!("the document is read: {:?}", read.notes))
    }

    /// A v2 document.
    pub(crate) fn v2<'a>(&'a self, text: &str) -> v2::Document<'a> {
        let (tape, text) = self.tape(text);
        let root = tape.document(text).root().expect("the text holds a document");
        let read = v2::read(root, &self.arena, Profile::Faithful);
        read.value.unwrap_or_else(|| panic!("the document is read: {:?}", read.notes))
    }

    fn tape<'a>(&'a self, text: &str) -> (&'a Tape, &'a str) {
        let text = &*self.arena.alloc_str(text);
        let mut tape = Tape::new();
        let mut stream = Stream::new(text.as_bytes(), Limits::default()).expect("the text is UTF-8");
        stream.next(&mut tape).expect("there is a document").expect("the document is YAML");
        (self.arena.alloc(tape), text)
    }
}

/// Returns the printed aggregate of documents with these names, and the findings by document.
pub(crate) fn aggregate<'a>(
    room: &'a Room,
    sources: &[(&str, Document<'a>)],
    profile: Profile,
) -> (Option<String>, Vec<Vec<Note<'a>>>) {
    let mut aggregator = Aggregator::new(profile);
    let add = |(name, document): &(&str, Document<'a>)| {
        aggregator.add(name, document, &room.arena).expect("the documents are of one dialect")
    };
    let notes = sources.iter().map(add).collect();
    let text = aggregator.finish().map(|whole| String::from_utf8(whole.to_vec()).expect("printed is UTF-8"));
    (text, notes)
}

pub(crate) fn print_v3(document: &v3::Document<'_>) -> String {
    let mut out = Vec::new();
    document.print(&mut out, Profile::Faithful);
    String::from_utf8(out).expect("printed is UTF-8")
}

/// Prints notes as `KSnnnn detail`.
pub(crate) fn shown(notes: &[Note<'_>]) -> Vec<String> {
    notes.iter().map(|note| format!("{} {}", note.code, note.detail)).collect()
}

/// A v3 document of paths and definitions, given as members.
pub(crate) fn document(paths: &str, schemas: &str) -> String {
    format!(
        r#"{{"openapi":"3.0.0","info":{{"title":"T","version":"1"}},"paths":{{{paths}}},"components":{{"schemas":{{{schemas}}}}}}}"#
    )
}

/// Returns a path whose response is a schema.
pub(crate) fn path(name: &str, schema: &str) -> String {
    format!(
        r#""{name}":{{"get":{{"responses":{{"200":{{"description":"OK","content":{{"application/json":{{"schema":{schema}}}}}}}}}}}}}"#
    )
}

/// A reference to a definition.
pub(crate) fn to(name: &str) -> String {
    format!(r##"{{"$ref":"#/components/schemas/{name}"}}"##)
}
