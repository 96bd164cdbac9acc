//! Generated schemas, sequences and calls, which the Go program answers in the same run.

use crate::{Schemas, Verdict, replay_record};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Replays records as they arrive, one per line. A schema must come before the records that need it. Differences are
/// reported with the record.
///
/// # Errors
/// A line cannot be read.
pub fn replay_lines(
    input: impl BufRead,
    file: &str,
    report: &mut dyn FnMut(&str, &str, Verdict, &Json),
) -> Result<(), String> {
    let mut schemas = Schemas::default();
    for line in input.lines() {
        let record: Json = line
            .map_err(|error| error.to_string())
            .and_then(|line| serde_json::from_str(&line).map_err(|error| error.to_string()))?;
        if record.get("kind").is_none() {
            schemas = Schemas::default();
            schemas.add(&record);
            continue;
        }
        replay_record(file, &record, &schemas, &mut |row, name, verdict| report(row, name, verdict, &record));
    }
    Ok(())
}

/// Builds the Go program into a folder. This is quick if nothing has changed.
///
/// # Errors
/// Go is not installed, or building fails.
pub fn build(folder: &Path) -> Result<PathBuf, String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("smd-oracle");
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let program = folder.join("kubeshape-smd-oracle");
    let built = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(sources).output();
    match built {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => Err(format!("go build: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("go: {error}; Go is needed to ask structured-merge-diff")),
    }
}

/// How many times as often calls with differing answers are repeated.
const PATIENCE: u32 = 500;
/// The maximum number of sequences with differences that are replayed again. If there are more, the order of Go's maps
/// is not the reason.
const ASKED_AGAIN: usize = 200;

/// Generates `count` sequences, and as many of the other calls, and replays them while they are generated.
///
/// Some of upstream's answers depend on the order of a Go map. The program repeats each call to find these, but a rare
/// order may not come up. So sequences with differences are generated again, with calls repeated `PATIENCE` times as
/// often, and only the differences that remain are reported.
///
/// # Errors
/// The program cannot be started, fails, or writes something that is not a record.
pub fn replay(
    program: &Path,
    seed: u64,
    count: u64,
    report: &mut dyn FnMut(&str, &str, Verdict, &Json),
) -> Result<(), String> {
    let mut differing = BTreeSet::new();
    let mut names = BTreeSet::new();
    let ask = |arguments: &[String], report: &mut dyn FnMut(&str, &str, Verdict, &Json)| {
        let mut command = Command::new(program);
        command.args(["generate", "-seed", &seed.to_string()]).args(arguments);
        answered(command, report)
    };
    ask(&["-count".to_owned(), count.to_string()], &mut |row, name, verdict, record| match record["number"]
        .as_u64()
        .filter(|_| verdict != Verdict::Equal)
    {
        Some(number) if differing.contains(&number) || differing.len() < ASKED_AGAIN => {
            differing.insert(number);
            names.insert((row.to_owned(), name.to_owned()));
        }
        _ => report(row, name, verdict, record),
    })?;
    if differing.is_empty() {
        return Ok(());
    }
    let only: Vec<String> = differing.iter().map(u64::to_string).collect();
    let patient = ["-only".to_owned(), only.join(","), "-patience".to_owned(), PATIENCE.to_string()];
    // If a record is dropped because it has several answers, the names of later records change, so other names may
    // differ now.
    ask(&patient, &mut |row, name, verdict, record| {
        if verdict != Verdict::Equal || names.contains(&(row.to_owned(), name.to_owned())) {
            report(row, name, verdict, record);
        }
    })
}

/// Replays the records that a program writes.
fn answered(mut command: Command, report: &mut dyn FnMut(&str, &str, Verdict, &Json)) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| format!("{program}: {error}"))?;
    let output = child.stdout.take().ok_or("no pipe from the Go program")?;
    let replayed = replay_lines(BufReader::new(output), "generated", report);
    let ended = child.wait().map_err(|error| format!("the Go program: {error}"))?;
    replayed?;
    if ended.success() { Ok(()) } else { Err(format!("the Go program ended with {ended}")) }
}
