//! Checks every property with its seeds, and with seeds that have small changes. The changes are the same in every run.

use kubeshape_corpus::generate::expression::{Expressions, Type, damaged};
use kubeshape_corpus::generate::{Draw, definition};
use kubeshape_properties::{ALL, Property, targets};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The maximum number of seeds per property, or a quarter of it by default; they are selected evenly.
const SEEDS: usize = 300;
/// How often a seed is changed, or a quarter of it by default.
const CHANGES: usize = 20;
/// The property about memory. Its target installs the counting allocator.
const MEMORY: &str = "request_memory_is_bounded";
const ALLOCATOR: &str =
    "#[global_allocator]\nstatic METER: kubeshape_properties::Meter = kubeshape_properties::Meter;\n";
/// Longer seeds are left to the fuzzer.
const LONGEST: u64 = 1 << 14;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below a folder, sorted.
fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, out);
        } else if path.metadata().expect("a file").len() <= LONGEST {
            out.push(path);
        }
    }
}

fn seeds(name: &str) -> Vec<PathBuf> {
    let own = root().join("fuzz/seeds").join(name);
    let mut all = Vec::new();
    if own.is_dir() {
        files(&own, &mut all);
    } else {
        let table = fs::read_to_string(root().join("fuzz/seeds/folders.txt")).expect("the table of folders");
        let mut lines = table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(':'));
        let (_, folders) = lines.find(|(beginning, _)| name.starts_with(beginning)).expect("the last line fits");
        folders.split_whitespace().for_each(|folder| files(&root().join(folder), &mut all));
    }
    let step = all.len().div_ceil(SEEDS / kubeshape_corpus::one_in(4)).max(1);
    all.into_iter().step_by(step).collect()
}

/// Random numbers (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).expect("31 bits") % end.max(1)
    }
}

/// Changes some bytes: drops, repeats and replaces them, or inserts a part of another seed.
fn change(data: &mut Vec<u8>, other: &[u8], numbers: &mut Numbers) {
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(data.len() + 1);
        let end = (at + 1 + numbers.below(12)).min(data.len());
        match numbers.below(5) {
            0 => drop(data.drain(at..end)),
            1 => {
                let part = data[at..end].to_vec();
                data.splice(at..at, part);
            }
            2 => {
                let from = numbers.below(other.len() + 1);
                let to = (from + numbers.below(64)).min(other.len());
                data.splice(at..end, other[from..to].iter().copied());
            }
            3 if at < data.len() => data[at] = b"\"'{}[]:,-0 \n\\&*!\xff\x00"[numbers.below(19) % 18],
            _ if at < data.len() => data[at] ^= 1 << numbers.below(8),
            _ => data.push(b'\n'),
        }
    }
}

/// Prints the input if the property panics.
struct Running<'a> {
    property: &'a str,
    seed: &'a Path,
    data: &'a [u8],
}

impl Drop for Running<'_> {
    // A test may print its input.
    #[allow(clippy::print_stderr)]
    fn drop(&mut self) {
        if thread::panicking() {
            let text = self.data.escape_ascii().to_string();
            eprintln!("{} does not hold for this change of {}:\n{text}", self.property, self.seed.display());
        }
    }
}

fn check(property: &Property) {
    let seeds = seeds(property.name);
    assert!(!seeds.is_empty(), "{} has no seeds", property.name);
    let changes = CHANGES / kubeshape_corpus::one_in(4);
    let contents: Vec<Vec<u8>> = seeds.iter().map(|seed| fs::read(seed).expect("a seed")).collect();
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for (seed, content) in seeds.iter().zip(&contents) {
        for round in 0..=changes {
            let mut data = content.clone();
            if round > 0 {
                let other = &contents[numbers.below(contents.len())];
                change(&mut data, other, &mut numbers);
            }
            let running = Running { property: property.name, seed, data: &data };
            (property.holds)(running.data);
        }
    }
}

#[test]
fn properties_hold_for_seeds_and_changed_seeds() {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(property) = ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // A separate program counts the memory.
                    if property.name != MEMORY {
                        check(property);
                    }
                }
            });
        }
    });
}

#[test]
fn properties_of_expressions_hold_for_generated_ones() {
    // The variables of the property about types.
    let variables = [
        ("words", Type::list(Type::simple("string"))),
        ("counts", Type::map(Type::simple("int"))),
        ("count", Type::simple("int")),
        ("u", Type::simple("uint")),
        ("ratio", Type::simple("double")),
        ("enabled", Type::simple("bool")),
        ("b", Type::simple("bytes")),
    ];
    let variables = variables.map(|(name, ty)| (name.to_owned(), ty));
    // More on request; 100,000 take some minutes.
    let usual = 6_000 / u64::try_from(kubeshape_corpus::one_in(6)).expect("a small number");
    let count = std::env::var("KUBESHAPE_EXPRESSIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(usual);
    for seed in 0..count {
        let name = format!("seed {seed}");
        let draw = &mut Draw::new(seed);
        let (wrong, depth) = (draw.below(2) * 8, 1 + draw.below(4));
        let mut expressions = Expressions::new(draw, &variables, wrong);
        let ty = expressions.any_type(2);
        let text = expressions.expression(&ty, depth);
        let running = Running { property: "types", seed: Path::new(&name), data: text.as_bytes() };
        targets::cel_checked_expressions_keep_their_types(running.data);
        let text = damaged(draw, &text);
        let running = Running { property: "limits", seed: Path::new(&name), data: text.as_bytes() };
        targets::cel_parse_check_evaluate_within_limits(running.data);
    }
}

#[test]
fn properties_of_definitions_hold_for_generated_ones() {
    for seed in (0..300).step_by(kubeshape_corpus::one_in(3)) {
        let name = format!("seed {seed}");
        let draw = &mut Draw::new(seed);
        let old = definition::definition(draw);
        let new = definition::changed(draw, &old);
        for text in [old, new].map(|definition| definition.to_string()) {
            let running = Running { property: "definitions", seed: Path::new(&name), data: text.as_bytes() };
            targets::map_order_changes_no_answer(running.data);
        }
    }
}

#[test]
fn every_property_has_a_target() {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).expect("the manifest of the targets");
    for Property { name, .. } in ALL {
        let path = format!("fuzz_targets/{name}.rs");
        let target = fs::read_to_string(root().join("fuzz").join(&path)).unwrap_or_default();
        let call = format!(
            "#![no_main]\n{}libfuzzer_sys::fuzz_target!(|data: &[u8]| kubeshape_properties::targets::{name}(data));\n",
            if *name == MEMORY { ALLOCATOR } else { "" }
        );
        assert_eq!(target, call, "fuzz/{path}");
        assert!(
            manifest.contains(&format!("name = \"{name}\"\npath = \"{path}\"\n")),
            "{name} is not in fuzz/Cargo.toml"
        );
    }
    let targets = fs::read_dir(root().join("fuzz/fuzz_targets")).expect("the targets").count();
    assert_eq!(targets, ALL.len(), "a target in fuzz/fuzz_targets checks no property of fuzz/properties");
}

/// Values of JSON do not depend on the crate that reads it.
#[test]
fn values_do_not_depend_on_the_crate_that_reads_them() {
    use kubeshape_smd::{Bump, ToValue};
    let texts = seeds("document_to_every_shape").into_iter().map(|seed| fs::read(seed).expect("a seed"));
    let odd = r#"{"a": [null, true, -9223372036854775808, 18446744073709551615, 1e3, 0.5, "\u00e9\n"], "b": {"": {}}}"#;
    let mut read = 0;
    for text in texts.chain([odd.as_bytes().to_vec()]) {
        let Ok(serde) = serde_json::from_slice::<serde_json::Value>(&text) else { continue };
        let (mut own, mut borrowed) = (text.clone(), text);
        let arena = Bump::new();
        let Ok(own) = simd_json::to_owned_value(&mut own) else { continue };
        let borrowed = simd_json::to_borrowed_value(&mut borrowed).expect("as above");
        let value = serde.to_value(&arena);
        assert_eq!(own.to_value(&arena), value, "{serde}");
        assert_eq!(borrowed.to_value(&arena), value, "{serde}");
        read += 1;
    }
    assert!(read > 1, "{read}");
}
