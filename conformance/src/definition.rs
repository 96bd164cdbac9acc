//! Reads definitions.

use kubeshape_schema::Bump;
use kubeshape_structural::read::Manifest;
use kubeshape_validate::crd::{Defaults, Definition};
use kubeshape_yaml::{Limits, Stream, Tape};

/// Reads a definition. Returns `None` if it cannot be decoded.
pub(crate) fn with_definition<T>(
    source: &str,
    defaults: Defaults,
    f: impl for<'a> FnOnce(Definition<'a>, &'a Bump) -> T,
) -> Option<T> {
    let mut tape = Tape::new();
    Stream::new(source.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    let arena = Bump::new();
    let node = tape.document(source).root()?;
    let definition = Definition::read(Manifest { node, implied: None }, defaults, &arena).value?;
    Some(f(definition, &arena))
}
