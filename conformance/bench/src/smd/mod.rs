//! `smd FOLDER [--oracle PROGRAM] [--rounds N] [--time MS] [--only WORD,…]`: structured merge diff compared with the Go
//! original, on upstream's inputs (the folder of its test data) and on inputs that the Go program generates.
//!
//! Both sides measure processor time and count allocations, and prepare the same things before the measurement. The
//! rounds of both are interleaved, and the best of each is reported.

mod inputs;
mod managed;
mod measure;
mod operations;
mod sets;

pub(crate) use measure::live_bytes;

use inputs::Inputs;
use measure::{Bench, Line};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Runs both sides and prints the ratios.
pub(crate) fn all(arguments: &[String]) -> ExitCode {
    let value = |flag: &str| arguments.iter().position(|a| a == flag).and_then(|at| arguments.get(at + 1)).cloned();
    let Some(folder) = arguments.get(1).filter(|folder| !folder.starts_with('-')) else {
        eprintln!("usage: kubeshape-bench smd FOLDER [--oracle PROGRAM] [--rounds N] [--time MS] [--only WORD,…]");
        return ExitCode::from(2);
    };
    let rounds: usize = value("--rounds").and_then(|n| n.parse().ok()).unwrap_or(3);
    let time: u64 = value("--time").and_then(|n| n.parse().ok()).unwrap_or(100);
    let only = value("--only").unwrap_or_default();
    let oracle = value("--oracle").or_else(build_oracle);
    if oracle.is_none() {
        println!("Go is not there: nothing is compared with the original, and inputs that it makes are missing.");
    }
    let made = match tempfile::tempdir() {
        Ok(made) => made,
        Err(error) => {
            eprintln!("no temporary folder: {error}");
            return ExitCode::from(2);
        }
    };
    if let Some(oracle) = &oracle {
        let wrote = Command::new(oracle).args(["bench-inputs", folder]).arg(made.path()).status();
        if !wrote.is_ok_and(|status| status.success()) {
            eprintln!("{oracle} makes no inputs");
        }
    }
    let (mut ours, mut theirs) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..rounds {
        let mut command = Command::new(std::env::current_exe().unwrap_or_default());
        command.args(["one-smd", folder]).arg(made.path()).args([&time.to_string(), &only]);
        keep(&mut ours, command);
        if let Some(oracle) = &oracle {
            let mut command = Command::new(oracle);
            command.args(["bench", "-time", &format!("{time}ms"), "-only", &only, folder]);
            keep(&mut theirs, command);
        }
    }
    print(&ours, &theirs);
    ExitCode::SUCCESS
}

/// Runs a program that prints a line per benchmark, and keeps the best of each.
fn keep(best: &mut BTreeMap<String, Line>, mut command: Command) {
    let Ok(output) = command.output() else { return };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some(line) = Line::parse(line) else { continue };
        let entry = best.entry(line.name.clone()).or_insert_with(|| line.clone());
        if line.ns < entry.ns {
            *entry = line;
        }
    }
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn print(ours: &BTreeMap<String, Line>, theirs: &BTreeMap<String, Line>) {
    println!(
        "{:<44} {:>11} {:>12} {:>7}   {:>9} {:>9}   {:>11} {:>11}",
        "processor time (ns), allocations, bytes", "ours", "Go", "times", "ours", "Go", "ours", "Go"
    );
    let mut least: Vec<(f64, &str)> = Vec::new();
    for (name, our) in ours {
        let Some(their) = theirs.get(name) else {
            println!(
                "{name:<44} {:>11.0} {:>12} {:>7}   {:>9} {:>9}   {:>11}",
                our.ns, "", "", our.allocs, "", our.bytes
            );
            continue;
        };
        let times = their.ns / our.ns;
        least.push((times, name));
        println!(
            "{name:<44} {:>11.0} {:>12.0} {times:>7.1}   {:>9} {:>9}   {:>11} {:>11}",
            our.ns, their.ns, our.allocs, their.allocs, our.bytes, their.bytes
        );
    }
    for name in theirs.keys().filter(|name| !ours.contains_key(*name)) {
        println!("{name:<44} has no counterpart here");
    }
    least.sort_by(|a, b| a.0.total_cmp(&b.0));
    let low = least.iter().filter(|(times, _)| *times < 10.0).count();
    println!("\n{} compared, {low} below 10 times; the least:", least.len());
    for (times, name) in least.iter().take(10) {
        println!("{name:<44} {times:>7.1}");
    }
}

/// Builds the Go program of structured merge diff, if Go is installed.
fn build_oracle() -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = root.join("target").join("smd-oracle");
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(&program).arg(".").current_dir(root.join("conformance").join("smd-oracle"));
    go.status().ok()?.success().then(|| program.display().to_string())
}

/// Runs our side in this process: `one-smd FOLDER MADE MS ONLY`, a line of JSON per benchmark.
pub(crate) fn one(arguments: &[String]) -> ExitCode {
    let [folder, made, time, only] = arguments else { return ExitCode::from(2) };
    let inputs = Inputs::new(Path::new(folder), Path::new(made));
    let mut bench = Bench::new(time.parse().unwrap_or(100), only);
    operations::all(&inputs, &mut bench);
    sets::all(&inputs, &mut bench);
    managed::all(&inputs, &mut bench);
    ExitCode::SUCCESS
}
