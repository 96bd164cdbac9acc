//! `cargo run --release -p kubeshape-conformance-smd [-- [--stdin | --generate COUNT] [--seven] WORD…]` prints the rows
//! whose names contain a word, with the first differences of each. With `--stdin`, the records of the Go program come
//! from standard input; with `--generate`, the Go program answers `COUNT` generated sequences and calls. With `--seven`,
//! the answers are those of structured-merge-diff 7.
//! `kubeshape-conformance smd` prints the whole table.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use kubeshape_conformance_smd::{Verdict, generated, replay};
use kubeshape_smd::value::Compat;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

#[derive(Default)]
struct Row {
    equal: usize,
    all: usize,
    differences: Vec<String>,
}

#[derive(Default)]
struct Rows(BTreeMap<String, Row>);

impl Rows {
    fn add(&mut self, row: &str, name: &str, verdict: Verdict) {
        let entry = self.0.entry(row.to_owned()).or_default();
        entry.all += 1;
        match verdict {
            Verdict::Equal => entry.equal += 1,
            Verdict::Differing(text) | Verdict::Missing(text) => entry.differences.push(format!("{name}: {text}")),
        }
    }
}

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let stdin = words.iter().any(|word| word == "--stdin");
    let seven = words.iter().any(|word| word == "--seven");
    words.retain(|word| word != "--stdin" && word != "--seven");
    let generate =
        words.iter().position(|word| word == "--generate").map(|at| words.drain(at..words.len().min(at + 2)));
    let generate = generate.map(|mut given| given.nth(1).unwrap_or_default());
    let compat = if seven { Compat::V70 } else { Compat::default() };
    let mut rows = Rows::default();
    let mut report = |row: &str, name: &str, verdict, _: &_| rows.add(row, name, verdict);
    let replayed = if let Some(count) = generate {
        let Ok(count) = count.parse() else {
            eprintln!("--generate wants a number, found {count:?}");
            return ExitCode::from(2);
        };
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
        let program = if seven { generated::build_7(&target) } else { generated::build(&target) };
        program.and_then(|program| generated::replay(&program, 1, count, &mut report))
    } else if stdin {
        generated::replay_lines(std::io::stdin().lock(), "generated", compat, &mut report)
    } else {
        let Some(golden) = std::env::var_os("KUBESHAPE_GOLDEN") else {
            eprintln!("set KUBESHAPE_GOLDEN to the folder of recorded answers");
            return ExitCode::from(2);
        };
        replay(&Path::new(&golden).join("smd"), &mut |row, name, verdict| rows.add(row, name, verdict))
    };
    if let Err(error) = replayed {
        eprintln!("{error}");
        return ExitCode::from(2);
    }
    let mut whole = true;
    for (name, row) in
        rows.0.iter().filter(|(name, _)| words.is_empty() || words.iter().any(|word| name.contains(word.as_str())))
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
