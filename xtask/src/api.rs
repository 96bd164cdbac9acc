//! Compares the public API of the libraries with the listings in `xtask/api/`.

use crate::run::{Result, metadata, output, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the listings.
const LISTINGS: &str = "xtask/api";

/// Fails if the public API of a library differs from its listing.
pub(crate) fn compare() -> Result {
    if !has_nightly() {
        println!("there is no nightly toolchain (rustup toolchain install nightly): the public API is not compared");
        return Ok(());
    }
    let mut different = false;
    let libraries = libraries()?;
    for (library, json) in &libraries {
        let (path, api) = (listing(library), api(json)?);
        let was = fs::read_to_string(&path).unwrap_or_default();
        if was != api {
            different = true;
            println!("the public API of {library} differs from {}:", path.display());
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

/// Documents all libraries as JSON, and returns the file of each published one, sorted by name.
///
/// Only a nightly rustdoc writes JSON. Its results are in a separate folder, so that nothing else is rebuilt.
fn libraries() -> Result<Vec<(String, PathBuf)>> {
    let metadata = metadata()?;
    let target = metadata.target().join("api");
    let folder = target.join("doc");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    run(Command::new("rustup")
        .args(["run", "nightly", "cargo", "doc", "--workspace", "--lib", "--no-deps", "--quiet", "--target-dir"])
        .arg(&target)
        .env("RUSTDOCFLAGS", "-Z unstable-options --output-format json"))?;
    let published = metadata.packages().filter(|package| package.is_published && package.has_library);
    let mut libraries: Vec<_> = published
        .map(|package| (package.name.to_owned(), folder.join(package.name.replace('-', "_")).with_extension("json")))
        .collect();
    libraries.sort();
    Ok(libraries)
}

/// Returns whether a nightly toolchain is installed.
fn has_nightly() -> bool {
    output(Command::new("rustup").args(["run", "nightly", "rustc", "--version"])).is_ok()
}

/// Returns one line for each public item, sorted.
fn api(json: &Path) -> Result<String> {
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    Ok(api.to_string())
}
