//! Operations on sets of random paths, and the sets of real objects as JSON.

use super::inputs::Inputs;
use super::measure::Bench;
use kubeshape_smd::Bump;
use kubeshape_smd::fieldpath::{PathElement, Set, SetBuilder};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::hint::black_box;

const SIZES: [usize; 6] = [10, 20, 50, 100, 500, 1000];

/// A set, the paths from which it is built, and its JSON.
struct Operand<'a> {
    paths: Vec<Vec<PathElement<'a>>>,
    set: Set<'a>,
    text: Vec<u8>,
}

/// Runs these benchmarks.
pub(super) fn all(inputs: &Inputs, bench: &mut Bench) {
    for size in SIZES {
        let Some(lines) = inputs.read(&format!("set-{size}.ndjson")) else { continue };
        let arena = Bump::new();
        // As in the Go program, all paths have the same few elements.
        let mut elements = BTreeMap::new();
        let operands = lines.lines().map(|line| operand(line, &mut elements, &arena));
        let Some(operands) = operands.collect::<Option<Vec<_>>>() else { continue };
        random(size, &operands, bench);
    }
    for name in ["podset", "nodeset", "endpointsset", "prometheus-crdset"] {
        let (Some(text), sets, mut arena) = (inputs.read(&format!("{name}.json")), Bump::new(), Bump::new()) else {
            continue;
        };
        let Ok(set) = Set::read_json(text.as_bytes(), &sets) else { continue };
        bench.run(&format!("FieldsV1/decode-{name}"), |_| {
            arena.reset();
            let _ = black_box(Set::read_json(text.as_bytes(), &arena));
        });
        bench.run(&format!("FieldsV1/encode-{name}"), |_| {
            let mut out = Vec::new();
            let _ = black_box(set.write_json(&mut out));
        });
    }
}

fn operand<'a>(line: &str, elements: &mut BTreeMap<String, PathElement<'a>>, arena: &'a Bump) -> Option<Operand<'a>> {
    let json: Json = serde_json::from_str(line).ok()?;
    let mut element = |text: &Json| {
        let text = text.as_str()?;
        if let Some(known) = elements.get(text) {
            return Some(*known);
        }
        let element = PathElement::parse(arena.alloc_str(text), arena).ok()?;
        elements.insert(text.to_owned(), element);
        Some(element)
    };
    let mut path = |path: &Json| path.as_array()?.iter().map(&mut element).collect::<Option<Vec<_>>>();
    let paths = json["paths"].as_array()?.iter().map(&mut path).collect::<Option<Vec<_>>>()?;
    let mut set = SetBuilder::new(arena);
    for path in &paths {
        set.insert(path);
    }
    let set = set.finish();
    let text = set.to_json().ok()?.into_bytes();
    Some(Operand { paths, set, text })
}

fn random(size: usize, operands: &[Operand<'_>], bench: &mut Bench) {
    let mut arena = Bump::new();
    // The same operands in the same order as in the Go program.
    let pair = |round: usize| (&operands[round * 7 % operands.len()], &operands[(round * 11 + 3) % operands.len()]);
    bench.run(&format!("Set/insert-{size}"), |round| {
        arena.reset();
        let mut set = SetBuilder::new(&arena);
        for path in &pair(round).0.paths {
            set.insert(path);
        }
        black_box(set.finish());
    });
    bench.run(&format!("Set/has-{size}"), |round| {
        let (a, b) = pair(round);
        black_box(a.set.has(&b.paths[round % b.paths.len()]));
    });
    bench.run(&format!("Set/serialize-{size}"), |round| {
        let mut out = Vec::new();
        let _ = black_box(pair(round).0.set.write_json(&mut out));
    });
    bench.run(&format!("Set/deserialize-{size}"), |round| {
        arena.reset();
        let _ = black_box(Set::read_json(&pair(round).0.text, &arena));
    });
    bench.run(&format!("Set/union-{size}"), |round| {
        arena.reset();
        let (a, b) = pair(round);
        black_box(a.set.union(b.set, &arena));
    });
    bench.run(&format!("Set/intersection-{size}"), |round| {
        arena.reset();
        let (a, b) = pair(round);
        black_box(a.set.intersection(b.set, &arena));
    });
    bench.run(&format!("Set/difference-{size}"), |round| {
        arena.reset();
        let (a, b) = pair(round);
        black_box(a.set.difference(b.set, &arena));
    });
    bench.run(&format!("Set/recursive-difference-{size}"), |round| {
        arena.reset();
        let (a, b) = pair(round);
        black_box(a.set.recursive_difference(b.set, &arena));
    });
    bench.run(&format!("Set/leaves-{size}"), |round| {
        arena.reset();
        black_box(pair(round).0.set.leaves(&arena));
    });
}
