//! Generated schemas, sequences and calls, which the Go program answers in the same run.

use crate::{Schemas, Verdict, replay_record};
use kubeshape_smd::value::Compat;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Replays records as they arrive, one per line, of a release of structured-merge-diff. A schema must come before the
/// records that need it. Differences are reported with the record.
///
/// # Errors
/// A line cannot be read.
pub fn replay_lines(
    input: impl BufRead,
    file: &str,
    compat: Compat,
    report: &mut dyn FnMut(&str, &str, Verdict, &Json),
) -> Result<(), String> {
    let mut schemas = Schemas::of(compat);
    for line in input.lines() {
        let record: Json = line
            .map_err(|error| error.to_string())
            .and_then(|line| serde_json::from_str(&line).map_err(|error| error.to_string()))?;
        if record.get("kind").is_none() {
            schemas = Schemas::of(compat);
            schemas.add(&record);
            continue;
        }
        replay_record(file, &record, &schemas, &mut |row, name, verdict| report(row, name, verdict, &record));
    }
    Ok(())
}

/// The Go program over one release of structured-merge-diff.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    compat: Compat,
    /// The kinds of records that it generates.
    what: &'static str,
}

/// Builds the Go program into a folder. This is quick if nothing has changed.
///
/// # Errors
/// Go is not installed, or building fails.
pub fn build(folder: &Path) -> Result<Program, String> {
    let path = whole(folder)?.join("kubeshape-smd-oracle");
    go(&["build", "-o", &path.to_string_lossy(), "."], &sources(), None)?;
    Ok(Program { path, compat: Compat::V64, what: "ssa,typed,sets" })
}

/// The release of Go that structured-merge-diff 7 needs. Go downloads it, if it is older.
const GO_OF_7: &str = "go1.27.0";
/// The modules whose packages import structured-merge-diff.
const IMPORTING: [&str; 2] = ["k8s.io/apimachinery", "k8s.io/kube-openapi"];

/// Builds the Go program with structured-merge-diff 7 into a folder. It also generates what readers of JSON treat
/// differently.
///
/// Only previews of apimachinery 0.38 import version 7. So the sources of the released one and of the program are
/// copied into the folder, and the copies import version 7 in place of 6. Both versions have the same functions.
///
/// # Errors
/// Go is not installed or cannot download its release 1.27, the modules cannot be copied, or building fails.
pub fn build_7(folder: &Path) -> Result<Program, String> {
    let folder = whole(&folder.join("go").join("smd-7"))?;
    let sources = sources();
    let module = read(&sources.join("go.mod"))?;
    let mut module = module.replace("go 1.26.0", "go 1.27.0");
    for name in IMPORTING {
        let found = go(&["mod", "download", "-json", &versioned(&module, name)?], &sources, None)?;
        let found: Json = serde_json::from_str(&found).map_err(|error| error.to_string())?;
        let to = folder.join(name.replace('/', "+"));
        copy_with_7(Path::new(found["Dir"].as_str().unwrap_or_default()), &to)?;
        write(&to.join("go.mod"), &with_7(&read(Path::new(found["GoMod"].as_str().unwrap_or_default()))?))?;
        let _ = write!(module, "\nreplace {name} => {}\n", to.display());
    }
    let program = folder.join("program");
    copy_with_7(&sources, &program)?;
    write(&program.join("go.mod"), &with_7(&module))?;
    write(&program.join("go.sum"), &read(&sources.join("go.sum"))?)?;
    let path = folder.join("kubeshape-smd-oracle");
    go(&["build", "-mod=mod", "-o", &path.to_string_lossy(), "."], &program, Some(GO_OF_7))?;
    Ok(Program { path, compat: Compat::V70, what: "ssa,typed,sets,odd" })
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("smd-oracle")
}

/// Returns a module as `name@version`, with the version that a go.mod requires.
fn versioned(module: &str, name: &str) -> Result<String, String> {
    let line = module.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(' '));
    let version = line.and_then(|line| line.split(' ').next());
    version.map(|version| format!("{name}@{version}")).ok_or_else(|| format!("go.mod does not require {name}"))
}

/// Copies the Go files of a folder and of those below it, without tests.
fn copy_with_7(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().map_err(failed)?.is_dir() {
            if name != "testdata" {
                copy_with_7(&entry.path(), &to.join(name))?;
            }
        } else if Path::new(&name).extension().is_some_and(|end| end == "go") && !name.ends_with("_test.go") {
            write(&to.join(name), &with_7(&read(&entry.path())?))?;
        }
    }
    Ok(())
}

/// Replaces version 6 of structured-merge-diff in a Go file or a go.mod.
fn with_7(text: &str) -> String {
    const NAME: &str = "sigs.k8s.io/structured-merge-diff/v";
    let lines = text.split_inclusive('\n').map(|line| match line.split_once(&format!("{NAME}6 v")) {
        Some((before, _)) => format!("{before}{NAME}7 v7.0.0\n"),
        None => line.replace(&format!("{NAME}6"), &format!("{NAME}7")),
    });
    lines.collect()
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Writes a file, unless it has this content: then Go compiles nothing again.
fn write(file: &Path, text: &str) -> Result<(), String> {
    if std::fs::read_to_string(file).is_ok_and(|known| known == text) {
        return Ok(());
    }
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Returns the absolute path of a folder, which is created if it is missing.
fn whole(folder: &Path) -> Result<PathBuf, String> {
    let made = std::fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    made.map_err(|error| format!("{}: {error}", folder.display()))
}

/// Runs Go in a folder, and returns what it prints.
fn go(arguments: &[&str], folder: &Path, release: Option<&str>) -> Result<String, String> {
    let mut command = Command::new("go");
    command.args(arguments).current_dir(folder);
    if let Some(release) = release {
        command.env("GOTOOLCHAIN", release);
    }
    let name = arguments.first().copied().unwrap_or_default();
    match command.output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(format!("go {name}: {}", String::from_utf8_lossy(&output.stderr))),
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
    program: &Program,
    seed: u64,
    count: u64,
    report: &mut dyn FnMut(&str, &str, Verdict, &Json),
) -> Result<(), String> {
    let mut differing = BTreeSet::new();
    let mut names = BTreeSet::new();
    let ask = |arguments: &[String], report: &mut dyn FnMut(&str, &str, Verdict, &Json)| {
        let mut command = Command::new(&program.path);
        command.args(["generate", "-seed", &seed.to_string(), "-what", program.what]).args(arguments);
        answered(command, program.compat, report)
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
fn answered(
    mut command: Command,
    compat: Compat,
    report: &mut dyn FnMut(&str, &str, Verdict, &Json),
) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| format!("{program}: {error}"))?;
    let output = child.stdout.take().ok_or("no pipe from the Go program")?;
    let replayed = replay_lines(BufReader::new(output), "generated", compat, report);
    let ended = child.wait().map_err(|error| format!("the Go program: {error}"))?;
    replayed?;
    if ended.success() { Ok(()) } else { Err(format!("the Go program ended with {ended}")) }
}
