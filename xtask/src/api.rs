//! The public API of the libraries, compared with the listings in `xtask/api/`.

use crate::run::{Result, cargo, metadata, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Set for the rustdoc that cargo starts: the folder for what it writes.
const AS_RUSTDOC: &str = "KUBESHAPE_XTASK_AS_RUSTDOC";
/// The folder of the listings.
const LISTINGS: &str = "xtask/api";
/// Arguments of a run of documentation tests, and whether a value follows.
const OF_TESTS: [(&str, bool); 3] = [("--test", false), ("--test-run-directory", true), ("--test-args", true)];

/// Whether cargo started this program in place of rustdoc.
pub(crate) fn is_rustdoc() -> bool {
    std::env::var_os(AS_RUSTDOC).is_some()
}

/// Documents a library as JSON, where cargo wants its documentation tests run: they need the compiled dependencies of the tests,
/// and documentation would have everything checked once more.
///
/// The variable that allows JSON is set here and not for cargo, because build scripts of dependencies look at it and everything
/// would be built again.
pub(crate) fn rustdoc() -> ExitCode {
    let mut rustdoc = Command::new("rustdoc");
    rustdoc.env("RUSTC_BOOTSTRAP", "1");
    let mut arguments = std::env::args_os().skip(1);
    let mut is_library = false;
    while let Some(argument) = arguments.next() {
        match OF_TESTS.iter().find(|(name, _)| argument == *name) {
            Some((_, true)) => drop(arguments.next()),
            Some((name, false)) => is_library |= *name == "--test",
            None => drop(rustdoc.arg(argument)),
        }
    }
    if is_library {
        rustdoc.args(["-D", "warnings", "-Z", "unstable-options", "--output-format", "json", "--out-dir"]);
        rustdoc.arg(std::env::var_os(AS_RUSTDOC).unwrap_or_default());
    }
    match rustdoc.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("rustdoc: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Fails if a library has another public API than its listing says.
pub(crate) fn compare() -> Result {
    let mut different = false;
    let libraries = libraries()?;
    for (library, json) in &libraries {
        let (path, api) = (listing(library), api(json)?);
        let was = fs::read_to_string(&path).unwrap_or_default();
        if was != api {
            different = true;
            println!("{library} has another public API than {} says:", path.display());
            let (before, after): (BTreeSet<_>, BTreeSet<_>) = (was.lines().collect(), api.lines().collect());
            before.difference(&after).for_each(|line| println!("- {line}"));
            after.difference(&before).for_each(|line| println!("+ {line}"));
        }
    }
    for stale in listings()?.iter().filter(|path| !libraries.iter().any(|(library, _)| listing(library) == **path)) {
        different = true;
        println!("{} lists no library of the workspace", stale.display());
    }
    if different { Err("if this is what you want, run `cargo xtask api --update`".into()) } else { Ok(()) }
}

/// Writes the listings.
pub(crate) fn update() -> Result {
    fs::create_dir_all(LISTINGS)?;
    for path in listings()? {
        fs::remove_file(path)?;
    }
    for (library, json) in libraries()? {
        fs::write(listing(&library), api(&json)?)?;
    }
    Ok(())
}

fn listing(library: &str) -> PathBuf {
    Path::new(LISTINGS).join(format!("{library}.txt"))
}

/// The files in `xtask/api/`, sorted.
fn listings() -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(LISTINGS)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Documents all libraries as JSON, and gives each published one's path of it, sorted by name.
fn libraries() -> Result<Vec<(String, PathBuf)>> {
    let metadata = metadata()?;
    let folder = metadata.target().join("doc");
    let json = |name: &str| folder.join(name.replace('-', "_")).with_extension("json");
    let published = || metadata.packages().filter(|package| package.is_published && package.has_library);
    // What an earlier run wrote must not pass for the library of today.
    for path in published().map(|package| json(package.name)).filter(|path| path.exists()) {
        fs::remove_file(path)?;
    }
    run(cargo("test")
        .args(["--workspace", "--doc", "--quiet"])
        .env("RUSTDOC", std::env::current_exe()?)
        .env(AS_RUSTDOC, &folder))?;
    let mut libraries: Vec<_> = published().map(|package| (package.name.to_owned(), json(package.name))).collect();
    libraries.sort();
    Ok(libraries)
}

/// One line for each public item, sorted.
fn api(json: &Path) -> Result<String> {
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    Ok(api.to_string())
}
