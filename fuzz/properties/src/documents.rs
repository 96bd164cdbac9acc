//! Helpers of targets over documents.

use kubeshape_schema::Bump;
use kubeshape_yaml::{Limits, Node, Stream, Tape};

/// Calls `f` with the root of the first document of a string, and an arena.
pub(crate) fn with_document(source: &str, f: impl for<'a> FnOnce(Node<'a>, &'a Bump)) {
    let mut tape = Tape::new();
    let Ok(mut stream) = Stream::new(source.as_bytes(), Limits::default()) else { return };
    let source = stream.source();
    let Some(Ok(())) = stream.next(&mut tape) else { return };
    let arena = Bump::new();
    if let Some(root) = tape.document(source).root() {
        f(root, &arena);
    }
}
