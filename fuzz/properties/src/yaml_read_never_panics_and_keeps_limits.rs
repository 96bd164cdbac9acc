//! No reader panics on any bytes, and its results are well formed and within the limits.

use kubeshape_yaml::{Flags, Kind, Limits, Path, Stream, Tape, json};

/// Checks the property.
pub fn holds(data: &[u8]) {
    let limits = Limits { bytes: 1 << 16, depth: 16, nodes: 500, alias_nodes: 200, scalar: 500 };
    for path in [Path::Auto, Path::Yaml, Path::Full, Path::Json] {
        let mut stream = match Stream::with_path(data, limits, path) {
            Ok(stream) => stream,
            Err(error) => {
                assert!(error.line >= 1 && error.column >= 1);
                continue;
            }
        };
        let source = stream.source();
        let mut tape = Tape::new();
        let mut documents = 0;
        while let Some(result) = stream.next(&mut tape) {
            documents += 1;
            assert!(documents <= data.len() + 1, "the stream does not end");
            match result {
                Err(error) => {
                    assert!(error.offset <= source.len());
                    assert!(!error.message.is_empty());
                }
                Ok(()) => well_formed(&tape, source, limits),
            }
        }
    }
}

fn well_formed(tape: &Tape, source: &str, limits: Limits) {
    let document = tape.document(source);
    let entries = tape.entries();
    assert!(!entries.is_empty() && entries.len() <= limits.nodes);
    let aliased = entries.iter().filter(|entry| entry.flags.has(Flags::ALIASED)).count();
    assert!(aliased <= limits.alias_nodes);
    // Ends of the surrounding collections.
    let mut open: Vec<u32> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let node = document.node(index as u32);
        while open.last().is_some_and(|end| *end <= index as u32) {
            open.pop();
        }
        assert!(entry.start <= entry.end && entry.end as usize <= source.len());
        assert!(source.is_char_boundary(entry.start as usize) && source.is_char_boundary(entry.end as usize));
        if entry.is_container() {
            assert!(open.last().is_none_or(|end| entry.a <= *end));
            open.push(entry.a);
            assert!(open.len() <= limits.depth);
            let children = if entry.kind == Kind::Map { node.pairs().count() } else { node.items().count() };
            assert_eq!(children, node.len());
            for (key, _) in node.pairs() {
                assert_eq!(key.kind(), Kind::Str);
            }
        } else {
            let _ = node.text();
            match entry.kind {
                Kind::Int => assert!(node.as_number().is_some()),
                // An infinite number has no value if a duplicate key replaces it.
                Kind::Float => {}
                _ => assert!(node.as_number().is_none()),
            }
        }
    }
    if let Some(last) = entries.len().checked_sub(1) {
        let _ = document.pointer(last as u32);
    }
    let mut out = Vec::new();
    json::write(document.node(0), &mut out, json::Options::default());
}
