//! Either reader reads the printed form of a document as the same JSON, and the printed form of any string as the same
//! string.

use kubeshape_yaml::emit::Emitter;
use kubeshape_yaml::{Limits, Path, Stream, Tape, json};

const PLAIN: json::Options = json::Options { sorted: false, escape_html: false };

fn read(source: &str, path: Path) -> Vec<u8> {
    let mut stream = Stream::with_path(source.as_bytes(), Limits::default(), path).expect("UTF-8");
    let mut tape = Tape::new();
    stream.next(&mut tape).expect("a document").unwrap_or_else(|error| panic!("{error} in\n{source}"));
    let mut out = Vec::new();
    json::write(tape.document(source).root().expect("a root"), &mut out, PLAIN);
    assert_eq!(stream.next(&mut tape), None, "{source}");
    out
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // Any string, as a key and as values.
    let mut out = Vec::new();
    let mut emitter = Emitter::new(&mut out);
    emitter.begin_seq();
    emitter.item();
    emitter.str(text);
    emitter.item();
    emitter.begin_map();
    emitter.key(text);
    emitter.str(text);
    emitter.end_map();
    emitter.end_seq();
    let printed = String::from_utf8(out).expect("UTF-8");
    let mut expected = b"[".to_vec();
    json::write_str(text, &mut expected, false);
    expected.extend_from_slice(b",{");
    json::write_str(text, &mut expected, false);
    expected.push(b':');
    json::write_str(text, &mut expected, false);
    expected.extend_from_slice(b"}]");
    for path in [Path::Yaml, Path::Full] {
        assert_eq!(read(&printed, path), expected, "{printed}");
    }
    // The documents of the input.
    let Ok(mut stream) = Stream::new(data, Limits::default()) else { return };
    let mut tape = Tape::new();
    while let Some(result) = stream.next(&mut tape) {
        if result.is_err() {
            continue;
        }
        let root = tape.document(text).root().expect("a root");
        let (mut expected, mut out) = (Vec::new(), Vec::new());
        json::write(root, &mut expected, PLAIN);
        Emitter::new(&mut out).node(root);
        let printed = String::from_utf8(out).expect("UTF-8");
        for path in [Path::Yaml, Path::Full] {
            let found = read(&printed, path);
            // Integers have no negative zero.
            if !expected.windows(2).any(|two| two == b"-0") {
                assert_eq!(
                    String::from_utf8_lossy(&found),
                    String::from_utf8_lossy(&expected),
                    "{printed}"
                );
            }
        }
    }
}
