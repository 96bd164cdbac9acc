//! Reading a document as go-yaml's third version never panics, a second time changes nothing more, and a document whose
//! scalars both versions read the same stays the same.

use kubeshape_yaml::{Limits, Stream, Tape, json};

const PLAIN: json::Options = json::Options { sorted: false, escape_html: false };

fn printed(tape: &Tape, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    json::write(tape.document(text).root().expect("a root"), &mut out, PLAIN);
    out
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(mut stream) = Stream::new(data, Limits::default()) else { return };
    let mut tape = Tape::new();
    while let Some(result) = stream.next(&mut tape) {
        if result.is_err() {
            continue;
        }
        let before = printed(&tape, text);
        let first = tape.read_as_third(text);
        let after = printed(&tape, text);
        assert!(first.is_changed || before == after, "{}", String::from_utf8_lossy(&after));
        let second = tape.read_as_third(text);
        assert_eq!((second.is_changed, second.refused), (false, first.refused), "{text}");
        assert!(printed(&tape, text) == after, "{text}");
    }
}
