//! The public API of the libraries, compared with the listings in `api/`.

use crate::run::{Result, cargo, metadata, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Set for the rustdoc that cargo starts.
const AS_RUSTDOC: &str = "KUBESHAPE_XTASK_AS_RUSTDOC";

/// Whether cargo started this program in place of rustdoc.
pub(crate) fn is_rustdoc() -> bool {
    std::env::var_os(AS_RUSTDOC).is_some()
}

/// Runs rustdoc so that the stable one writes JSON.
///
/// The variable that allows it is set here and not for cargo, because build scripts of dependencies look at it and
/// everything would be built again.
pub(crate) fn rustdoc() -> ExitCode {
    let status = Command::new("rustdoc").args(std::env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").status();
    match status {
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
    fs::create_dir_all("api")?;
    for path in listings()? {
        fs::remove_file(path)?;
    }
    for (library, json) in libraries()? {
        fs::write(listing(&library), api(&json)?)?;
    }
    Ok(())
}

fn listing(library: &str) -> PathBuf {
    Path::new("api").join(format!("{library}.txt"))
}

/// The files in `api/`, sorted.
fn listings() -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir("api")? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Builds the documentation of everything as JSON, and gives each published library's path of it, sorted by name.
fn libraries() -> Result<Vec<(String, PathBuf)>> {
    // Examples make cargo choose the features of dependencies that tests have: what clippy compiled serves here, too.
    run(cargo("doc")
        .args(["--workspace", "--all-features", "--no-deps", "--lib", "--examples", "--quiet"])
        .env("RUSTDOC", std::env::current_exe()?)
        .env("RUSTDOCFLAGS", "-D warnings -Z unstable-options --output-format json")
        .env(AS_RUSTDOC, "1"))?;
    let metadata = metadata()?;
    let mut libraries = Vec::new();
    for package in metadata.packages().filter(|package| package.is_published && package.has_library) {
        let json = metadata.target().join("doc").join(package.name.replace('-', "_")).with_extension("json");
        libraries.push((package.name.to_owned(), json));
    }
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
