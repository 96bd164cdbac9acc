//! Compares `kubeshape serve` with upstream's handlers: the cost of requests and updates, and memory. Servers are
//! processes that get requests over loopback. The kernel measures their processor time.

mod client;
mod load;
mod many;
mod marker;
pub(crate) mod objects;
mod process;
mod requests;
mod table;
mod updates;

use process::Server;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use table::Table;

/// Number of CustomResourceDefinitions for measuring discovery.
const DISCOVERED: usize = 3000;
/// From this number on, updates of the Go libraries are not measured, because they need gigabytes.
const TOO_MANY_FOR_GO: usize = 2000;

/// The configuration of the benchmarks.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    folder: PathBuf,
    base: Option<PathBuf>,
    program: PathBuf,
    oracle: Option<PathBuf>,
    time: Duration,
    counts: Vec<usize>,
    only: Option<String>,
}

/// `serve FOLDER [--base FOLDER] [--program KUBESHAPE] [--oracle PROGRAM] [--time MS] [--counts N,…] [--only WORD]`
pub(crate) fn all(arguments: &[String]) -> ExitCode {
    let value = |flag: &str| arguments.iter().position(|a| a == flag).and_then(|i| arguments.get(i + 1)).cloned();
    let Some(folder) = arguments.get(1).filter(|folder| !folder.starts_with('-')) else {
        eprintln!("serve: a FOLDER of CustomResourceDefinitions is needed");
        return ExitCode::from(2);
    };
    let sibling = std::env::current_exe().ok().map(|own| own.with_file_name("kubeshape"));
    let counts = value("--counts").unwrap_or_else(|| "1000,10000".to_owned());
    let plan = Plan {
        folder: PathBuf::from(folder),
        base: value("--base").map(PathBuf::from),
        program: value("--program").map(PathBuf::from).or(sibling).unwrap_or_else(|| PathBuf::from("kubeshape")),
        oracle: value("--oracle").map(PathBuf::from).or_else(build_oracle),
        time: Duration::from_millis(value("--time").and_then(|ms| ms.parse().ok()).unwrap_or(2000)),
        counts: counts.split(',').filter_map(|count| count.parse().ok()).collect(),
        only: value("--only"),
    };
    if plan.oracle.is_none() {
        println!("Go is not there: nothing is compared with the originals.");
    }
    match plan.run() {
        Ok(table) => {
            println!("{}", table.closing_line());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

impl Plan {
    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }

    fn run(&self) -> Result<Table, String> {
        let mut table = Table::default();
        let scratch = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let scratch = scratch.path();
        Table::head();
        if self.wants("requests") {
            requests::documents(self, scratch, &mut table)?;
        }
        let templates = many::templates(&self.folder);
        if templates.is_empty() {
            return Err(format!("{}: no files of one CustomResourceDefinition each", self.folder.display()));
        }
        if self.wants("discovery") {
            let folder = scratch.join("many-discovered");
            many::write_copies(&templates, DISCOVERED, &folder)?;
            requests::discovery(self, &folder, scratch, &mut table)?;
        }
        for &count in self.counts.iter().filter(|_| self.wants("updates")) {
            let folder = scratch.join(format!("many-{count}"));
            let changed = many::write_copies(&templates, count, &folder)?;
            let oracle = self.oracle.as_ref().filter(|_| count < TOO_MANY_FOR_GO);
            let theirs = oracle.map(|oracle| updates::theirs(oracle, &folder)).transpose()?;
            #[allow(clippy::cast_precision_loss)]
            let many = (count as f64, folder.as_path(), &changed);
            updates::measure(self, many, theirs, scratch, &mut table)?;
        }
        Ok(table)
    }

    /// Starts `kubeshape serve` with a folder.
    fn kubeshape(&self, folder: &Path, watch: bool) -> Result<Server, String> {
        Server::start(&self.program, |command, address| {
            command.args(["serve", "--listen", address]).arg(folder);
            if let Some(base) = &self.base {
                command.arg("--base").arg(base);
            }
            if watch {
                command.arg("--watch");
            }
        })
    }
}

/// Builds the Go server, if Go is installed.
fn build_oracle() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let own = || root.join("../../target");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(own, PathBuf::from);
    std::fs::create_dir_all(&target).ok()?;
    let program = target.canonicalize().ok()?.join("kubeshape-serve-oracle");
    let mut go = Command::new("go");
    go.args(["build", "-ldflags", "-s -w", "-o"]).arg(&program).arg(".").current_dir(root.join("serve-oracle"));
    go.status().ok()?.success().then_some(program)
}
