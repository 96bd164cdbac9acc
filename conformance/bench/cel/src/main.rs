//! `kubeshape-bench-cel RECORDS [--oracle PROGRAM] [--worst N]`: the cost of compiling an expression to a program, and
//! of evaluating it, here, in the `cel` crate (with the feature `cel-crate`), and in Go.
//!
//! This is a separate program, because the other benchmarks count allocations, which costs more than some evaluations.
//!
//! RECORDS has the form of the Go program's answers about expressions: a JSON object per line, with an expression,
//! variables, their values, and the value of the expression. Only expressions with a value are used. Another engine is
//! measured only if it gives that value.

#![allow(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "cel-crate")]
mod cel_crate;

use kubeshape_cel::{Env, Type, Value};
use kubeshape_conformance_cel as records;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// The cost limit of an evaluation on a server.
const LIMIT: u64 = 1_000_000;
/// The number of rounds. The best is reported.
const ROUNDS: usize = 7;
/// How often a round compiles the expression.
const COMPILED: u32 = 5;
const EVALUATED: u32 = 50;

/// Microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    compile: f64,
    evaluate: f64,
}

impl std::ops::AddAssign for Times {
    fn add_assign(&mut self, other: Times) {
        self.compile += other.compile;
        self.evaluate += other.evaluate;
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let file = arguments.first().ok_or("usage: kubeshape-bench-cel RECORDS [--oracle PROGRAM] [--worst N]")?;
    let option =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let worst: usize = option("--worst").map_or(Ok(0), |text| text.parse())?;
    let all: Vec<Json> =
        records::records(Path::new(file)).into_iter().filter(|record| record.get("value").is_some()).collect();
    let ours: BTreeMap<usize, Times> =
        all.iter().enumerate().filter_map(|(number, record)| Some((number, ours(record)?))).collect();
    println!("{} expressions with a value", ours.len());
    #[cfg(feature = "cel-crate")]
    {
        let theirs = ours.keys().filter_map(|i| Some((*i, cel_crate::times(&all[*i])?))).collect();
        print("cel crate", "at least 1", &ours, &theirs);
        print_worst(worst, &all, &ours, &theirs);
    }
    match option("--oracle") {
        Some(oracle) => {
            let theirs = go(oracle, &all)?;
            print("Go", "at least 30 and 10", &ours, &theirs);
            print_worst(worst, &all, &ours, &theirs);
        }
        None => println!("Without --oracle nothing is compared with the original."),
    }
    Ok(())
}

fn print(name: &str, target: &str, ours: &BTreeMap<usize, Times>, theirs: &BTreeMap<usize, Times>) {
    let (mut own, mut other) = (Times::default(), Times::default());
    let (mut slower, mut count) = (0, 0);
    for (number, times) in theirs {
        let Some(mine) = ours.get(number) else { continue };
        own += *mine;
        other += *times;
        count += 1;
        slower += usize::from(mine.evaluate > times.evaluate);
    }
    let each = |sum: f64| sum / f64::from(count.max(1));
    println!("{name}: {count} of them with the same value");
    println!("  {:<12} {:>10} {:>10} {:>8}", "µs each", "here", name, "times");
    for (what, own, other) in [("compile", own.compile, other.compile), ("evaluate", own.evaluate, other.evaluate)] {
        println!("  {what:<12} {:>10.2} {:>10.2} {:>7.1}x   {target}", each(own), each(other), other / own);
    }
    println!("  {slower} evaluate slower here");
}

/// Prints the expressions whose evaluation is slowest here compared with the other engine.
fn print_worst(count: usize, all: &[Json], ours: &BTreeMap<usize, Times>, theirs: &BTreeMap<usize, Times>) {
    let mut ratios: Vec<(f64, usize)> =
        theirs.iter().filter_map(|(i, times)| Some((ours.get(i)?.evaluate / times.evaluate, *i))).collect();
    ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, i) in ratios.into_iter().take(count) {
        println!("  {:>8.2} {:>8.2}   {}", ours[&i].evaluate, theirs[&i].evaluate, all[i]["expr"]);
    }
}

/// Returns the shortest time of some rounds, in microseconds per call.
fn best(times: u32, mut what: impl FnMut()) -> f64 {
    let round = |_| {
        let start = Instant::now();
        (0..times).for_each(|_| what());
        start.elapsed().as_secs_f64() * 1e6 / f64::from(times)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

fn fields<'r>(record: &'r Json, name: &str) -> impl Iterator<Item = (&'r String, &'r Json)> {
    record.get(name).and_then(Json::as_object).into_iter().flatten()
}

fn ours(record: &Json) -> Option<Times> {
    let source = record["expr"].as_str()?;
    let mut env = Env::new(records::recorded_release());
    for (name, ty) in fields(record, "vars") {
        env = env.with_variable(name, Type::parse(ty.as_str()?)?);
    }
    let compiled = || env.compile(source).ok()?.program().ok();
    let program = compiled()?;
    let bindings: Vec<(&str, Value<'_>)> = fields(record, "bindings")
        .map(|(name, value)| Some((name.as_str(), records::read(value)?)))
        .collect::<Option<_>>()?;
    // The other engines bind variables before they evaluate, too.
    let bound = program.bind(bindings);
    bound.evaluate(LIMIT).result.ok()?;
    Some(Times {
        compile: best(COMPILED, || drop(black_box(compiled()))),
        evaluate: best(EVALUATED, || drop(black_box(bound.evaluate(LIMIT)))),
    })
}

/// Returns the cost of the same expressions in Go, by their numbers.
fn go(oracle: &str, all: &[Json]) -> Result<BTreeMap<usize, Times>, Box<dyn std::error::Error>> {
    let mut child =
        Command::new(oracle).arg("bench-expressions").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("the program has no input")?;
    let mut lines = String::new();
    for (number, record) in all.iter().enumerate() {
        let expression = serde_json::json!({
            "expr": record["expr"],
            "vars": record.get("vars").cloned().unwrap_or_else(|| serde_json::json!({})),
            "bindings": record.get("bindings").cloned().unwrap_or_else(|| serde_json::json!({})),
        });
        lines += &serde_json::json!({ "id": number.to_string(), "expression": expression }).to_string();
        lines.push('\n');
    }
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output()?;
    let _ = writer.join();
    if !output.status.success() {
        return Err("the program fails".into());
    }
    let mut out = BTreeMap::new();
    for line in output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let times: Json = serde_json::from_slice(line)?;
        if let (Some(compile), Some(evaluate)) = (times["compile"].as_f64(), times["evaluate"].as_f64()) {
            let number = times["id"].as_str().unwrap_or_default().parse()?;
            out.insert(number, Times { compile, evaluate });
        }
    }
    Ok(out)
}
