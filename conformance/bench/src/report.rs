//! Runs all benchmarks and prints the ratios.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The best round of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) seconds: f64,
    /// Seconds of the first round, with cold memory.
    pub(crate) first: f64,
    /// KiB
    pub(crate) memory: f64,
    /// Bytes printed.
    pub(crate) output: f64,
}

const SHAPES: [&str; 3] = ["v3", "v2", "smd"];
/// The shapes that Go is measured with.
const GO: [&str; 4] = ["v3", "v2", "smd", "check"];

/// Runs all benchmarks and prints the table.
pub(crate) fn all(arguments: &[String]) -> ExitCode {
    let value = |flag: &str| arguments.iter().position(|a| a == flag).and_then(|i| arguments.get(i + 1)).cloned();
    let path = &arguments[0];
    let rounds: usize = value("--rounds").and_then(|n| n.parse().ok()).unwrap_or(5);
    let base = value("--base");
    let oracle = value("--oracle").or_else(build_oracle);
    if oracle.is_none() {
        println!("Go is not there: nothing is compared with the originals.");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(2);
    let mut best: BTreeMap<(String, usize), Measured> = BTreeMap::new();
    for round in 0..rounds {
        for (name, _) in super::work::Work::ALL {
            for jobs in [1, cores] {
                if jobs == 1 || SHAPES.contains(&name) {
                    keep(&mut best, name, jobs, ours(name, jobs, path, base.as_deref()));
                }
            }
        }
        // The Go programs are slow and their times vary little, so two rounds are enough.
        for shape in GO.iter().filter(|_| round < 2) {
            for jobs in [1, cores] {
                keep(
                    &mut best,
                    &format!("go-{shape}"),
                    jobs,
                    oracle.as_deref().and_then(|o| theirs(o, shape, jobs, path)),
                );
            }
        }
    }
    print(&best, cores);
    ExitCode::SUCCESS
}

fn keep(best: &mut BTreeMap<(String, usize), Measured>, name: &str, jobs: usize, measured: Option<Measured>) {
    let Some(measured) = measured else { return };
    let entry = best.entry((name.to_owned(), jobs)).or_insert(measured);
    entry.seconds = entry.seconds.min(measured.seconds);
    entry.memory = entry.memory.min(measured.memory);
}

fn ours(name: &str, jobs: usize, path: &str, base: Option<&str>) -> Option<Measured> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["one", name, &jobs.to_string(), path]).args(base);
    parse(command)
}

fn theirs(oracle: &str, shape: &str, jobs: usize, path: &str) -> Option<Measured> {
    let mut command = Command::new(oracle);
    command.args(["bench", "-shape", shape, "-j", &jobs.to_string(), path]);
    parse(command)
}

pub(crate) fn parse(mut command: Command) -> Option<Measured> {
    let output = command.output().ok()?;
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(Measured {
        seconds: line["min_seconds"].as_f64().or_else(|| line["seconds"].as_f64())?,
        first: line["first_seconds"].as_f64().unwrap_or_default(),
        memory: line["max_rss_kib"].as_f64()?,
        output: line["out_bytes"].as_f64()?,
    })
}

/// Builds the Go program of the conformance crate, if Go is installed.
pub(crate) fn build_oracle() -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = root.join("target").join("oracle");
    let built = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(root.join("conformance").join("oracle"))
        .status()
        .ok()?;
    built.success().then(|| program.display().to_string())
}

fn print(best: &BTreeMap<(String, usize), Measured>, cores: usize) {
    println!("{:<10} {:>5} {:>10} {:>9} {:>10}", "what", "jobs", "ms", "MiB peak", "MB out");
    for ((name, jobs), m) in best {
        println!("{name:<10} {jobs:>5} {:>10.1} {:>9.1} {:>10.1}", m.seconds * 1e3, m.memory / 1024.0, m.output / 1e6);
    }
    println!();
    let get = |name: &str, jobs: usize| best.get(&(name.to_owned(), jobs));
    let ratio = |what: String, a: Option<f64>, b: Option<f64>, target: &str| {
        if let (Some(a), Some(b)) = (a, b) {
            println!("{what:<44} {:>7.2}   {target}", a / b);
        }
    };
    let seconds = |name: &str, jobs| get(name, jobs).map(|m| m.seconds);
    let memory = |name: &str, jobs| get(name, jobs).map(|m| m.memory);
    for shape in SHAPES {
        ratio(
            format!("{shape}: times Go's throughput, one core"),
            seconds(&format!("go-{shape}"), 1),
            seconds(shape, 1),
            "at least 40, aim at 60",
        );
    }
    let check = "check: times Go's throughput, one core";
    ratio(check.to_owned(), seconds("go-check", 1), seconds("check", 1), "at least 20");
    let all = "check: all releases over one".to_owned();
    ratio(all, seconds("check-all", 1), seconds("check", 1), "at most 2");
    ratio("v3: share of saphyr-parser's events".to_owned(), seconds("v3", 1), seconds("saphyr", 1), "less than 0.5");
    for shape in SHAPES {
        ratio(
            format!("{shape}: times our floor"),
            seconds(shape, 1),
            seconds(&format!("floor-{shape}"), 1),
            "at most 1.6",
        );
    }
    for shape in GO {
        ratio(
            format!("{shape}: peak memory as a share of Go's"),
            memory(shape, 1),
            memory(&format!("go-{shape}"), 1),
            "at most 0.2",
        );
    }
    for shape in SHAPES {
        ratio(format!("{shape}: one core over {cores}"), seconds(shape, 1), seconds(shape, cores), "at least 1.7");
    }
    for shape in SHAPES {
        let name = format!("go-{shape}");
        ratio(format!("{shape}: Go, one core over {cores}"), seconds(&name, 1), seconds(&name, cores), "");
    }
}
