//! Generated schemas, sequences and calls, which the Go program answers in the same run.

use crate::{Schemas, Verdict, replay_record};
use serde_json::Value as Json;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Replays records as they arrive, one in each line. A schema comes before the records that need it. Differences are
/// reported with the record.
///
/// # Errors
/// A line cannot be read.
pub fn replay_lines(
    input: impl BufRead,
    file: &str,
    tell: &mut dyn FnMut(&str, &str, Verdict, &Json),
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
        replay_record(file, &record, &schemas, &mut |row, name, verdict| tell(row, name, verdict, &record));
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

/// Generates `count` sequences, and as many of the other calls, and replays them while they are generated.
///
/// # Errors
/// The program cannot be started, fails, or writes something that is not a record.
pub fn replay(
    program: &Path,
    seed: u64,
    count: u64,
    tell: &mut dyn FnMut(&str, &str, Verdict, &Json),
) -> Result<(), String> {
    let mut child = Command::new(program)
        .arg("generate")
        .args(["-seed", &seed.to_string(), "-count", &count.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let output = child.stdout.take().ok_or("no pipe from the Go program")?;
    let replayed = replay_lines(BufReader::new(output), "generated", tell);
    let ended = child.wait().map_err(|error| format!("the Go program: {error}"))?;
    replayed?;
    if ended.success() { Ok(()) } else { Err(format!("the Go program ended with {ended}")) }
}
