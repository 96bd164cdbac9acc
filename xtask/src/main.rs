//! Tasks of kubeshape's developers, as commands: `cargo xtask`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod api;
mod builtin;
mod components;
mod dist;
mod explorer;
mod fuzz;
mod lint;
mod package;
mod python;
mod recording;
mod release;
mod run;
#[cfg(unix)]
mod soak;
mod tools;

use run::{Result, cargo, run};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask COMMAND [ARGUMENT…]

  fmt                formats every file
  lint               runs clippy over everything; a warning is an error
  test [ARGUMENT…]   runs the tests: all of them, or those that `cargo test` selects by these arguments
  doc                builds the documentation; a warning is an error
  agree [AREA…]      compares kubeshape's answers with recorded answers and prints a table
                     (without areas: the project's own corpus, which needs nothing else)
  api [--update]     compares the public API of every library with the listings in xtask/api/, or updates them
                     (this needs a nightly toolchain: only there, rustdoc writes JSON)
  builtin [--update] compares the API of Kubernetes' releases in base/builtin/ with the released modules (this needs Go
                     and downloads them), or updates it
  package [--run]    packs every crate, and checks that the command compiles from the archives alone; with --run, builds
                     and runs it
  archive TARGET [--zig] [--texts PROGRAM]
                     builds the command for a target, and archives it with its completions and manual pages; writes
                     the list of its components (CycloneDX)
  image ARCHITECTURE=PROGRAM…
                     writes an OCI image with only a static program
  recording          runs the commands of the picture in the README, and draws it again (docs/recording.svg)
  release RELEASE    prints what changed in Kubernetes since the previous release, in the files that our rules
                     follow, and the steps to add the release (this needs Go and downloads modules)
  wasm               checks that the libraries compile to WebAssembly, without a C compiler
  explorer [--check|--test|--pictures|--bench FOLDER]
                     builds the files of the explorer in describe/explorer/dist/ (this needs Node), or checks that they
                     are up to date, or tests them, reports, pages and the npm package in a browser; --pictures also
                     makes the picture in docs/; --bench measures the explorer with the CRDs of a folder
  python [PROFILE]   builds the Python package and tests it (this needs Python, and downloads packages)
  fuzz [SECONDS [TARGET…]]
                     builds all fuzz targets, or some of them, and runs each on its seeds and on changes of them: for
                     a second, or for SECONDS
  msrv               checks that rust-toolchain.toml names the oldest Rust that Cargo.toml promises
  deny               checks licences, advisories and sources of dependencies with cargo-deny
  soak [--minutes N] [--hostile N] [--bombs N] [--honest N] [--writers N] [--authorization-mode RBAC] [--program FILE]
                     runs `kubeshape serve` with hostile and honest clients, changing files and an aggregated server
                     that is not always reachable; prints times and memory, and fails if an honest request fails
                     or memory is not returned (Linux)
  ci                 runs all checks of CI (.ci/run)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match command(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the folder of the workspace.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn command(arguments: &[&str]) -> Result {
    std::env::set_current_dir(root())?;
    match arguments {
        ["fmt"] => run(cargo("fmt").arg("--all")),
        ["lint"] => lint::everything(),
        ["test"] => run(cargo("test").arg("--workspace")),
        ["test", rest @ ..] => run(cargo("test").args(rest)),
        ["doc"] => run(cargo("doc").args(["--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings")),
        ["agree"] => command(&["agree", "corpus"]),
        ["agree", areas @ ..] => {
            run(cargo("run").args(["--release", "--quiet", "-p", "kubeshape-conformance", "--"]).args(areas))
        }
        ["api"] => api::compare(),
        ["api", "--update"] => api::update(),
        ["builtin"] => builtin::compare(),
        ["builtin", "--update"] => builtin::update(),
        ["package"] => package::prove(false),
        ["package", "--run"] => package::prove(true),
        ["release", release] => release::compare(release),
        ["recording"] => recording::write(),
        ["wasm"] => explorer::wasm(),
        ["explorer"] => explorer::build(),
        ["explorer", "--check"] => explorer::check(),
        ["explorer", "--test"] => explorer::test(false),
        ["explorer", "--pictures"] => explorer::test(true),
        ["explorer", "--bench", folder] => explorer::bench(folder),
        ["python"] => python::test("dev"),
        ["python", profile] => python::test(profile),
        ["archive", arguments @ ..] => dist::archive(arguments),
        ["image", arguments @ ..] => dist::image(arguments),
        ["fuzz", arguments @ ..] => fuzz::run_all(arguments),
        ["msrv"] => tools::msrv(),
        ["deny"] => tools::deny(),
        #[cfg(unix)]
        ["soak", options @ ..] => soak::soak(options),
        ["ci"] => run(Command::new("bash").arg(".ci/run")),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        other => Err(format!("unknown command: {}\n\n{USAGE}", other.join(" ")).into()),
    }
}
