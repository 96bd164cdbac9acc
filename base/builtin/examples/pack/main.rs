//! Packs the API of a release: `cargo xtask builtin --update` calls this for every release.
//!
//! `pack --releases` prints the releases. `pack API_FOLDER FILE` reads `openapi-spec/` and `discovery/` in the folder
//! `api/` of the module `k8s.io/kubernetes`, and writes the file.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod facts;
mod write;

use kubeshape_builtin::BuiltInDocuments;
use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (api, file) = match arguments.as_slice() {
        [option] if option.as_os_str() == "--releases" => {
            BuiltInDocuments::all().for_each(|release| println!("{}", release.version()));
            return ExitCode::SUCCESS;
        }
        [api, file] => (api, file),
        _ => {
            eprintln!("usage: pack --releases\n       pack API_FOLDER FILE");
            return ExitCode::FAILURE;
        }
    };
    match pack(api, file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", api.display());
            ExitCode::FAILURE
        }
    }
}

fn pack(api: &Path, file: &Path) -> Result {
    let v3 = documents(&api.join("openapi-spec/v3"))?;
    let v2 = facts::of(&read(&api.join("openapi-spec/swagger.json"))?)?;
    let discovery = documents(&api.join("discovery"))?;
    let packed = write::packed(v3, &v2, &discovery)?;
    // The file is either complete or unchanged.
    let new = file.with_extension("new");
    fs::write(&new, &packed)?;
    fs::rename(&new, file)?;
    println!("{}: {} bytes", file.display(), packed.len());
    Ok(())
}

/// Returns all documents in a folder without descriptions, sorted by file name without `.json`.
fn documents(folder: &Path) -> Result<Vec<(String, Value)>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let facts = |path: &Path| {
        facts::of(&read(path)?).map_err(|error| Box::<dyn Error>::from(format!("{}: {error}", path.display())))
    };
    paths.iter().map(|path| Ok((name(path), facts(path)?))).collect()
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?)
}
