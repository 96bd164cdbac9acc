//! The fast reader and the full reader give the same entries, strings and errors.

use kubeshape_yaml::{Limits, Path, Stream, Tape};

/// Checks the property.
pub fn holds(data: &[u8]) {
    let limits = Limits { depth: 20, nodes: 1000, alias_nodes: 500, scalar: 1000, ..Limits::default() };
    let Ok(mut fast) = Stream::with_path(data, limits, Path::Yaml) else { return };
    let Ok(mut full) = Stream::with_path(data, limits, Path::Full) else { return };
    let source = full.source();
    let (mut a, mut b) = (Tape::new(), Tape::new());
    loop {
        let (x, y) = (fast.next(&mut a), full.next(&mut b));
        assert_eq!(x, y);
        assert_eq!(fast.ignored(), full.ignored());
        let Some(result) = x else { break };
        if result.is_err() {
            continue;
        }
        assert_eq!(a.has_content(), b.has_content());
        assert_eq!(a.entries(), b.entries());
        let (x, y) = (a.document(source), b.document(source));
        for index in 0..x.len() as u32 {
            assert_eq!(x.node(index).text(), y.node(index).text());
        }
    }
}
