//! Reading and printing an OpenAPI document gives a document, and doing so again changes nothing, with either profile.
//! Every note has a location in the document.

use kubeshape_convert::{v2, v3};
use kubeshape_schema::print::Style;
use kubeshape_schema::{Bump, Note, Profile};
use kubeshape_yaml::{Limits, Node, Stream, Tape};

fn check(notes: &[Note<'_>], root: Node<'_>) {
    for note in notes {
        assert!((note.at as usize) < root.document().len(), "{note:?}");
        root.document().pointer(note.at);
    }
}

/// Prints the document as v2 and as v3, if it can be read so.
fn print(source: &str, profile: Profile) -> [Option<Vec<u8>>; 2] {
    let mut tape = Tape::new();
    let Ok(mut stream) = Stream::new(source.as_bytes(), Limits::default()) else { return [None, None] };
    let Some(Ok(())) = stream.next(&mut tape) else { return [None, None] };
    let Some(root) = tape.document(source).root() else { return [None, None] };
    let arena = Bump::new();
    let second = v2::read(root, &arena, profile);
    let third = v3::read(root, &arena, profile);
    check(&second.notes, root);
    check(&third.notes, root);
    let second = second.value.map(|document| {
        let mut out = Vec::new();
        document.print(&mut out, Style::V2, profile);
        out
    });
    let third = third.value.map(|document| {
        let mut out = Vec::new();
        document.print(&mut out, profile);
        out
    });
    [second, third]
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    for profile in [Profile::Kube, Profile::Faithful] {
        let printed = print(source, profile);
        for (which, bytes) in printed.iter().enumerate() {
            let Some(bytes) = bytes else { continue };
            let text = std::str::from_utf8(bytes).expect("UTF-8");
            serde_json::from_str::<serde::de::IgnoredAny>(text).expect("JSON");
            let again = print(text, profile);
            assert_eq!(
                again[which].as_deref().map(String::from_utf8_lossy),
                Some(String::from_utf8_lossy(bytes)),
                "{source}"
            );
        }
    }
}
