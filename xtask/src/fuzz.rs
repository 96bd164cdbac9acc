//! Runs the fuzz targets on their seeds.
//!
//! They are built with the stable compiler, with the coverage that libFuzzer needs. They have no sanitizer, because
//! there is no unsafe code to check.

use crate::run::{Result, cargo, output};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// Shows libFuzzer which code an input reaches.
const COVERAGE: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

/// The folder where the targets are built, and where they store new inputs and crashes.
const BUILT: &str = "fuzz/target";

/// Seeds written for one target are in a folder with its name here.
const OWN: &str = "fuzz/seeds";
/// Folders of seeds for other targets.
const FOLDERS: &str = "fuzz/seeds/folders.txt";

/// Seconds for each target by default.
const SECONDS: u32 = 1;
/// The largest input, in bytes.
const LARGEST: usize = 1 << 16;
/// Memory that a target may use, in MB.
const MEMORY: u32 = 2048;

/// Builds the targets, and runs each for this many seconds: `[SECONDS [TARGET…]]`.
pub(crate) fn run_all(arguments: &[&str]) -> Result {
    let (seconds, wanted) = match arguments {
        [] => (SECONDS, &[][..]),
        [seconds, wanted @ ..] => {
            (seconds.parse().map_err(|error| format!("{seconds} is not a number of seconds: {error}"))?, wanted)
        }
    };
    let host = host()?;
    let mut build = cargo("build");
    // With a target, programs that run during the build have no coverage.
    build.args(["--quiet", "--manifest-path", "fuzz/Cargo.toml", "--target", &host, "--target-dir", BUILT]);
    crate::run::run(build.env("RUSTFLAGS", COVERAGE.join(" ")))?;

    let mut targets: Vec<String> = Vec::new();
    for entry in fs::read_dir("fuzz/fuzz_targets")? {
        let path = entry?.path();
        if let (Some(name), true) = (path.file_stem().and_then(|name| name.to_str()), path.is_file()) {
            targets.push(name.to_owned());
        }
    }
    targets.sort();
    if let Some(unknown) = wanted.iter().find(|name| !targets.iter().any(|target| target == *name)) {
        return Err(format!("there is no fuzz target {unknown}; they are {}", targets.join(", ")).into());
    }
    targets.retain(|target| wanted.is_empty() || wanted.contains(&target.as_str()));

    let programs = Path::new(BUILT).join(&host).join("debug");
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    for window in targets.chunks(jobs) {
        let failed: Vec<String> = thread::scope(|scope| {
            let runs: Vec<_> =
                window.iter().map(|target| scope.spawn(|| run_one(&programs, target, seconds))).collect();
            runs.into_iter()
                .filter_map(|run| run.join().unwrap_or_else(|_| Err("a run panicked".to_owned())).err())
                .collect()
        });
        if !failed.is_empty() {
            return Err(failed.join("\n").into());
        }
    }
    println!("{} fuzz targets, {seconds} s each: nothing found", targets.len());
    Ok(())
}

/// Returns the target triple of this machine.
fn host() -> Result<String> {
    let version = String::from_utf8(output(Command::new("rustc").arg("-vV"))?)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc -vV names no host")?.to_owned())
}

/// Returns the folders of seeds that the table names for a target. The first matching line is used.
fn folders(target: &str) -> std::io::Result<Vec<PathBuf>> {
    let table = fs::read_to_string(FOLDERS)?;
    let lines = table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(':'));
    let line = lines.into_iter().find(|(beginning, _)| target.starts_with(beginning));
    Ok(line.map_or("", |(_, folders)| folders).split_whitespace().map(PathBuf::from).collect())
}

fn run_one(programs: &Path, target: &str, seconds: u32) -> std::result::Result<(), String> {
    let failed = |error: std::io::Error| format!("{target}: {error}");
    let found: PathBuf = Path::new(BUILT).join("corpus").join(target);
    let crashes: PathBuf = Path::new(BUILT).join("artifacts").join(target);
    for folder in [&found, &crashes] {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let own = Path::new(OWN).join(target);
    let seeds = if own.is_dir() { vec![own] } else { folders(target).map_err(failed)? };
    let output = Command::new(programs.join(target))
        .args([format!("-max_total_time={seconds}"), format!("-max_len={LARGEST}")])
        .args([format!("-rss_limit_mb={MEMORY}"), format!("-artifact_prefix={}/", crashes.display())])
        .arg(&found)
        .args(seeds)
        .stdout(Stdio::null())
        .output()
        .map_err(failed)?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = told.lines().rev().take(60).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!("{target}: {}\n{}", output.status, last.join("\n")))
}
