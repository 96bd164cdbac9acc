//! `cargo run --release -p kubeshape-conformance-smd [-- WORD…]`: the rows whose names hold a word, with the first
//! differences of each. The whole table is printed by `kubeshape-conformance smd`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use kubeshape_conformance_smd::{Verdict, replay};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

#[derive(Default)]
struct Row {
    equal: usize,
    all: usize,
    differences: Vec<String>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(golden) = std::env::var_os("KUBESHAPE_GOLDEN") else {
        eprintln!("set KUBESHAPE_GOLDEN to the folder of recorded answers");
        return ExitCode::from(2);
    };
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let replayed = replay(&Path::new(&golden).join("smd"), &mut |row, name, verdict| {
        let entry = rows.entry(row.to_owned()).or_default();
        entry.all += 1;
        match verdict {
            Verdict::Equal => entry.equal += 1,
            Verdict::Differing(text) | Verdict::Missing(text) => entry.differences.push(format!("{name}: {text}")),
        }
    });
    if let Err(error) = replayed {
        eprintln!("{error}");
        return ExitCode::from(2);
    }
    let mut whole = true;
    for (name, row) in
        rows.iter().filter(|(name, _)| words.is_empty() || words.iter().any(|word| name.contains(word.as_str())))
    {
        println!("{name}: {} of {}", row.equal, row.all);
        let shown = if words.is_empty() { 1 } else { 12 };
        for text in row.differences.iter().take(shown) {
            println!("    {}", text.chars().take(1500).collect::<String>());
        }
        whole &= row.equal == row.all;
    }
    if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
