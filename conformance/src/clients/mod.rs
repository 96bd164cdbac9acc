//! Area `clients`: real clients of `kubeshape serve`. kubectl and client-go of two minor releases are built from
//! `conformance/clients`, and example controllers from `conformance/clients/controllers`. The output of kubectl is
//! compared with its output for a real server. The results of client-go with one form of discovery are compared with
//! those of the other form.

mod commands;
mod controllers;
mod found;
mod go;
mod kubectl;
mod mapper;
mod serve;

use crate::golden;
use crate::input::{Answer, answers};
use crate::known::Known;
use crate::table::Table;
pub use commands::compare_commands;
use found::Found;
use go::Program;
use kubeshape_publish::{Base, Options, Publisher};
use serde::Deserialize;
use serve::Serve;
use std::path::{Path, PathBuf};

/// The inputs of the server, and the program that serves them.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The `kubeshape` command.
    pub program: PathBuf,
    /// Folder of inputs and folder of recorded answers, if available.
    pub recorded: Option<(PathBuf, PathBuf)>,
    /// Whether only the clients of the newest minor release are built and run.
    pub newest: bool,
}

/// Returns the `kubeshape` command that was built next to this program.
#[must_use]
pub fn program_of_this_build() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
    // Test programs are one folder deeper.
    let folders = beside.iter().flat_map(|folder| [Some(folder.as_path()), folder.parent()]).flatten();
    let mut found = folders.map(|folder| folder.join("kubeshape")).filter(|path| path.is_file());
    found.next().unwrap_or_else(|| PathBuf::from("kubeshape"))
}

/// A served CustomResourceDefinition.
#[derive(Clone, Debug)]
struct Defined {
    plural: String,
    group: String,
    /// Names of the served versions.
    versions: Vec<String>,
    /// The file that defines it.
    file: PathBuf,
}

/// The inputs of a server, and the recorded output of kubectl about it.
struct Inputs {
    crds: Vec<Defined>,
    base: Option<PathBuf>,
    calls: Vec<kubectl::Recorded>,
}

#[derive(Deserialize)]
struct Install {
    file: String,
    status: u16,
}

#[derive(Deserialize)]
struct Kind {
    kind: String,
}

/// Starts the servers, runs the clients, and compares.
///
/// # Errors
/// Go or the command is missing, a program fails, or a recording cannot be read.
pub fn compare(plan: &Plan, known: Known) -> Result<Table, String> {
    let mut table = Table::new("clients", known);
    let mut programs = vec![Program::build("go.mod")?];
    if !plan.newest {
        programs.push(Program::build("previous.mod")?);
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let inputs = match &plan.recorded {
        Some((corpus, golden)) if golden.join("apiserver").join("kubectl").is_dir() => {
            recorded(corpus, golden, folder.path())?
        }
        _ => own()?,
    };
    for extensions in ["off", "on"] {
        let server = Serve::start(&plan.program, &inputs, extensions, folder.path())?;
        // Two clients in parallel: each runs its commands one after the other.
        let answers = std::thread::scope(|scope| {
            let ask = programs.iter().map(|program| {
                let caches = folder.path().join(format!("{}-{extensions}", program.minor));
                let (inputs, url) = (&inputs, server.url());
                scope.spawn(move || -> Result<_, String> {
                    let printed = program.kubectl(url, &caches.join("kubectl"), &inputs.calls)?;
                    Ok((printed, program.discover(url, &caches.join("client-go"))?))
                })
            });
            // All are started before the first result is awaited.
            let threads: Vec<_> = ask.collect();
            let answer = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|_| Err("a client's thread ended".to_owned()))
            };
            threads.into_iter().map(answer).collect::<Vec<_>>()
        });
        let own = mapper::mapped(server.url())?;
        for (program, answer) in programs.iter().zip(answers) {
            let (printed, found): (Vec<kubectl::Printed>, Found) = answer?;
            let row = format!("kubectl {}, extensions {extensions}", program.minor);
            kubectl::compare(&row, &inputs.calls, &printed, &mut table);
            let row = format!("client-go {}, extensions {extensions}", program.minor);
            found.compare(&row, &inputs.crds, &mut table);
            found.compare_mapper(&row, &own, &mut table);
        }
    }
    controllers::compare(&plan.program, folder.path(), &mut table)?;
    Ok(table)
}

/// Returns the CustomResourceDefinitions, the base and the calls of a recorded server.
fn recorded(corpus: &Path, golden: &Path, scratch: &Path) -> Result<Inputs, String> {
    let server = golden.join("apiserver");
    let installed: Vec<Install> = lines(&server.join("crds").join("install.ndjson.zst"))?;
    let files = installed.into_iter().filter(|install| install.status == 201);
    let crds = defined(files.map(|install| corpus.join("crds").join(install.file)))?;
    // The command reads documents, not recordings.
    let bodies = server.join("empty").join("bodies");
    let base = scratch.join("base");
    for file in golden::files(&bodies) {
        let inside = file.strip_prefix(&bodies).map_err(|error| error.to_string())?.with_extension("");
        if inside.extension().is_some_and(|extension| extension == "json") {
            let bytes = golden::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            // Rejected requests were recorded, too.
            let refusal = serde_json::from_slice::<Kind>(&bytes).is_ok_and(|body| body.kind == "Status");
            if !refusal {
                write(&base.join(inside), &bytes)?;
            }
        }
    }
    let calls = lines(&server.join("kubectl").join("explain.ndjson.zst"))?;
    Ok(Inputs { crds, base: Some(base), calls })
}

/// Returns some CustomResourceDefinitions of the project's own corpus, without recordings.
fn own() -> Result<Inputs, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("corpus").join("crds").join("realistic");
    let crds = defined(golden::files(&folder).into_iter())?;
    let calls = kubectl::expected(&crds);
    Ok(Inputs { crds, base: None, calls })
}

fn defined(files: impl Iterator<Item = PathBuf>) -> Result<Vec<Defined>, String> {
    let publisher = Publisher::new(Base::builtin(), Options::default());
    let mut out: Vec<Defined> = Vec::new();
    for file in files {
        let bytes = golden::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        for crd in answers(&bytes, &publisher).into_iter().filter_map(Answer::into_crd) {
            let Some((plural, group)) = crd.name.split_once('.') else { continue };
            let served = crd.versions.iter().filter(|version| version.served);
            out.push(Defined {
                plural: plural.to_owned(),
                group: group.to_owned(),
                versions: served.map(|version| version.name.clone()).collect(),
                file: file.clone(),
            });
        }
    }
    Ok(out)
}

fn lines<T: for<'a> Deserialize<'a>>(file: &Path) -> Result<Vec<T>, String> {
    let text = golden::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let lines = text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(|error| format!("{}: {error}", file.display()))).collect()
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(file, bytes))
        .map_err(|error| format!("{}: {error}", file.display()))
}
