//! Checks that the packages are complete: the command compiles from the archives alone, and does its main task.

use crate::run::{Result, cargo, metadata, run};
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// Packs every published crate, unpacks the archives into a separate folder, and checks that the command compiles
/// there. With `run`, it is built, and converts the project's own CustomResourceDefinitions.
pub(crate) fn prove(is_run: bool) -> Result {
    let metadata = metadata()?;
    let target = metadata.target();

    println!("packing");
    let mut pack = cargo("package");
    pack.args(["--workspace", "--no-verify", "--allow-dirty", "--quiet"]);
    let mut archives = Vec::new();
    for package in metadata.packages() {
        if package.is_published {
            archives.push((package.name, format!("{}-{}", package.name, package.version)));
        } else {
            pack.args(["--exclude", package.name]);
        }
    }
    run(&mut pack)?;

    println!("unpacking {} archives", archives.len());
    let folder = target.join("package").join("unpacked");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut manifest = String::from("[workspace]\nresolver = \"3\"\nmembers = [\"kubeshape-cli-*\"]\n");
    manifest.push_str("\n[patch.crates-io]\n");
    for (name, archive) in &archives {
        let file = target.join("package").join(format!("{archive}.crate"));
        run(Command::new("tar").arg("-xzmf").arg(file).arg("-C").arg(&folder))?;
        if *name != "kubeshape-cli" {
            writeln!(manifest, "{name} = {{ path = \"{archive}\" }}")?;
        }
    }
    // The profiles and the versions of dependencies must be those of the workspace.
    let workspace = fs::read_to_string("Cargo.toml")?;
    // The task is small, so the packages themselves are built without optimisation.
    if let Some(profiles) = workspace.find("\n[profile.") {
        let lines = workspace[profiles..].split_inclusive('\n').filter(|line| !line.starts_with("kubeshape-"));
        manifest.extend(lines);
    }
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy("Cargo.lock", folder.join("Cargo.lock"))?;

    // Dependencies that were compiled for lints and tests are reused.
    let (task, what) = if is_run { ("build", "building") } else { ("check", "checking") };
    println!("{what} the command from them");
    let cargo_toml = folder.join("Cargo.toml");
    run(cargo(task)
        .args(["--quiet", "-p", "kubeshape-cli", "--manifest-path"])
        .arg(&cargo_toml)
        .arg("--target-dir")
        .arg(target))?;
    if !is_run {
        return Ok(());
    }

    println!("converting corpus/crds with it");
    let out = folder.join("shapes");
    run(Command::new(target.join("debug").join("kubeshape"))
        .args(["convert", "corpus/crds", "--to", "v3", "--to", "v2", "--to", "smd", "-o"])
        .arg(&out))?;
    for name in ["swagger.json"] {
        if fs::metadata(out.join(name)).map_or(0, |file| file.len()) == 0 {
            return Err(format!("{} is missing or empty", out.join(name).display()).into());
        }
    }
    Ok(())
}
