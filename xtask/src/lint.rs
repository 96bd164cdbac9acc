//! Lints, by clippy alone or while everything is compiled.

use crate::run::{Result, cargo, run};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};

/// What clippy is told.
const LINTS: [&str; 2] = ["-D", "warnings"];
/// `smd` without what is on by default.
const WITHOUT_SERDE: [&str; 6] = ["-p", "kubeshape-smd", "--no-default-features", "--features", "simd-json", "--quiet"];
/// The command without what is on by default. Of all else, only `smd` has such features. The example makes cargo choose the
/// features of dependencies that tests have, so that these are not compiled twice.
const WITHOUT_DEFAULTS: [&str; 7] =
    ["--workspace", "--no-default-features", "--bin", "kubeshape", "--example", "pack", "--quiet"];

/// Set where cargo compiles libraries with their tests, too. They are linted then, and only then: tests leave out nothing.
const WITH_TESTS: &str = "KUBESHAPE_LINT_WITH_TESTS";

/// Lints everything.
pub(crate) fn everything() -> Result {
    run(clippy().args(["--workspace", "--all-targets", "--quiet", "--"]).args(LINTS))?;
    run(clippy().args(WITHOUT_SERDE).arg("--").args(LINTS))?;
    run(clippy().args(WITHOUT_DEFAULTS).arg("--").args(LINTS))
}

/// Lints what no test is compiled with, where the tests were compiled by [`compile`].
pub(crate) fn without_defaults() -> Result {
    run(clippy().args(WITHOUT_SERDE).arg("--").args(LINTS))?;
    run(cargo("build").args(WITHOUT_DEFAULTS).env("RUSTC_WORKSPACE_WRAPPER", std::env::current_exe()?))
}

fn clippy() -> Command {
    cargo("clippy")
}

/// Whether cargo started this program in place of the compiler, because `RUSTC_WORKSPACE_WRAPPER` says so: the path of rustc is
/// the first argument then.
pub(crate) fn is_compiler() -> bool {
    std::env::args_os().nth(1).is_some_and(|program| Path::new(&program).file_stem() == Some(OsStr::new("rustc")))
}

/// Compiles a crate as cargo says, and lints it. What was compiled serves both: nothing has to be checked once more, dependencies
/// least of all.
pub(crate) fn compile() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some((rustc, arguments)) = arguments.split_first() else { return ExitCode::FAILURE };
    if !succeeds(Command::new(rustc).args(arguments)) {
        return ExitCode::FAILURE;
    }
    // Cargo asks for versions and names, too.
    let is_crate = arguments.iter().any(|argument| argument.to_str().is_some_and(|text| text.starts_with("--emit=")));
    if !is_crate || (std::env::var_os(WITH_TESTS).is_some() && is_linted_with_tests(arguments)) {
        return ExitCode::SUCCESS;
    }
    let out = match tempfile::tempdir() {
        Ok(out) => out,
        Err(error) => {
            eprintln!("a folder for what clippy writes: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut clippy = Command::new(Path::new(rustc).with_file_name("clippy-driver"));
    clippy.arg(rustc);
    let mut is_folder = false;
    for argument in arguments {
        match argument.to_str() {
            _ if is_folder => clippy.arg(out.path()),
            Some(text) if text.starts_with("--emit=") => clippy.arg("--emit=metadata"),
            // Cargo takes each artifact that it is told of for the compiler's.
            Some(text) if text.starts_with("--json=") => clippy.arg(text.replace("artifacts,", "")),
            _ => clippy.arg(argument),
        };
        is_folder = argument == "--out-dir";
    }
    if succeeds(clippy.args(LINTS)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether this is a library without its tests, and cargo compiles it with them, too.
fn is_linted_with_tests(arguments: &[OsString]) -> bool {
    let is_library = arguments.windows(2).any(|pair| pair[0] == "--crate-type" && pair[1] == "lib");
    let is_test = arguments.iter().any(|argument| argument == "--test");
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(|package| Path::new(&package).join("Cargo.toml"));
    let manifest = manifest.and_then(|manifest| std::fs::read_to_string(manifest).ok());
    is_library && !is_test && manifest.is_some_and(|manifest| has_tests(&manifest))
}

/// Whether a library has a test program, as its manifest says.
fn has_tests(manifest: &str) -> bool {
    let (_, library) = manifest.split_once("\n[lib]\n").unwrap_or_default();
    library.lines().take_while(|line| !line.starts_with('[')).all(|line| line.trim() != "test = false")
}

fn succeeds(command: &mut Command) -> bool {
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("{}: {error}", command.get_program().display());
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_say_whether_a_library_is_compiled_with_its_tests() {
        assert!(has_tests("[package]\nname = \"a\"\n"));
        assert!(has_tests("[package]\n\n[lib]\nname = \"a\"\n\n[[bin]]\ntest = false\n"));
        assert!(!has_tests("[package]\n\n[lib]\n# Why.\ntest = false\n"));
    }
}
