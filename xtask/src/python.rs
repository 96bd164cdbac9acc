//! The Python package: its wheel is built, installed in a separate environment, and tested.

use crate::run::{Result, metadata, output, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the wheel, installs it, and runs the tests of the package, its examples and its types. It needs Python, and
/// downloads packages of PyPI.
pub(crate) fn test(profile: &str) -> Result {
    let python = if cfg!(windows) { "python" } else { "python3" };
    if output(Command::new(python).args(["-m", "venv", "--help"])).is_err() {
        println!("not checked: the Python package (Python with venv is needed: apt-get install python3-venv)");
        return Ok(());
    }
    let folder = metadata()?.target().join("python");
    let environment = folder.join("environment");
    let program = |name: &str| environment.join(if cfg!(windows) { "Scripts" } else { "bin" }).join(name);
    if !program("python").exists() && !program("python.exe").exists() {
        run(Command::new(python).args(["-m", "venv"]).arg(&environment))?;
    }
    let pip = |arguments: &[&str]| {
        let mut pip = Command::new(program("python"));
        pip.args(["-m", "pip", "--disable-pip-version-check", "install", "--quiet"]).args(arguments);
        pip
    };
    run(&mut pip(&["--upgrade", "pip"]))?;
    run(&mut pip(&["--group", "test"]))?;

    let wheels = folder.join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    run(Command::new(program("maturin"))
        .args(["build", "--quiet", "--locked", "--profile", profile, "--out"])
        .arg(&wheels)
        .env("VIRTUAL_ENV", &environment))?;
    let wheel = only(&wheels)?;
    run(pip(&["--force-reinstall", "--no-deps"]).arg(&wheel))?;

    run(Command::new(program("abi3audit")).arg(&wheel))?;
    run(Command::new(program("twine")).args(["check", "--strict"]).arg(&wheel))?;
    run(Command::new(program("mypy")).arg("--python-executable").arg(program("python")))?;
    if output(Command::new("node").arg("--version")).is_ok() {
        run(Command::new(program("pyright")).arg("--pythonpath").arg(program("python")))?;
    } else {
        println!("not checked: the types by pyright (Node is not installed)");
    }
    run(Command::new(program("python")).args(["-m", "pytest", "--quiet"]))
}

/// The only file of a folder.
fn only(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder)?;
    match (files.next(), files.next()) {
        (Some(file), None) => Ok(file?.path()),
        _ => Err(format!("{}: expected one wheel", folder.display()).into()),
    }
}
