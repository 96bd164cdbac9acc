//! A document of OpenAPI 3.0 that becomes OpenAPI 3.1 and comes back is the same, whatever version it was read from,
//! and nothing is lost on the way. With kept members, the same is true for a document of OpenAPI 3.1.

use kubeshape_convert::v3::{self, later};
use kubeshape_schema::{Bump, Code, Profile};
use kubeshape_yaml::{Limits, Stream, Tape};

const MOST: usize = 1 << 26;

/// Reads a document, and prints it as OpenAPI 3.0. Returns also whether something was lost.
fn print(source: &str, keeps: bool) -> Option<(String, bool)> {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    let root = tape.document(source).root()?;
    let arena = Bump::new();
    let read = if keeps { v3::read_keeping } else { v3::read }(root, &arena, Profile::Faithful);
    for note in &read.notes {
        root.document().pointer(note.at);
    }
    let lost = read.notes.iter().any(|note| matches!(note.code, Code::V31Keyword | Code::V31Dropped));
    let mut out = Vec::new();
    read.value?.print(&mut out, Profile::Faithful);
    Some((String::from_utf8(out).expect("UTF-8"), lost))
}

/// Returns how deep brackets are nested; those in strings count, too.
fn depth(json: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for byte in json.bytes() {
        match byte {
            b'{' | b'[' => now += 1,
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
        most = most.max(now);
    }
    most
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    // It has the version of a document that was converted before.
    if source.contains("x-kubeshape-openapi") {
        return;
    }
    for keeps in [false, true] {
        let Some((before, lost)) = print(source, keeps) else { return };
        assert!(!(lost && keeps), "{source}");
        let Ok(raised) = later::raise_text(before.as_bytes(), Profile::Faithful, MOST) else { return };
        let raised = std::str::from_utf8(&raised).expect("UTF-8");
        let Some((after, lost)) = print(raised, keeps) else {
            // An alternative for null adds a level.
            assert!(depth(raised) > 400, "what is written cannot be read: {raised}");
            return;
        };
        assert_eq!(before, after, "{source}\n{raised}");
        assert!(!lost, "{source}\n{raised}");
    }
}
