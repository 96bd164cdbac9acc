//! Checks that need a tool which is not always there: they say so where it is missing.

use crate::run::{Result, cargo, output, run};
use std::process::Command;

/// Checks every published crate with the oldest Rust that the workspace promises.
pub(crate) fn msrv() -> Result {
    let metadata = crate::run::metadata()?;
    let published: Vec<_> = metadata.packages().filter(|package| package.is_published).collect();
    let Some(version) = published.iter().find_map(|package| package.rust_version) else {
        return Err("Cargo.toml states no rust-version".into());
    };
    let install = ["toolchain", "install", version, "--profile", "minimal", "--no-self-update"];
    if let Err(error) = output(Command::new("rustup").args(install)) {
        println!("Rust {version} cannot be installed here: not checked\n{error}");
        return Ok(());
    }
    let mut check = Command::new("rustup");
    check.args(["run", version, "cargo", "check", "--quiet"]).env_remove("RUSTUP_TOOLCHAIN");
    // A folder of its own, so that other builds can go on meanwhile.
    check.arg("--target-dir").arg(metadata.target().join("msrv"));
    for package in published {
        check.args(["-p", package.name]);
    }
    run(&mut check)
}

/// Runs cargo-deny where it is installed; advisories where their database can be fetched.
pub(crate) fn deny() -> Result {
    if output(cargo("deny").arg("--version")).is_err() {
        println!("cargo-deny is not installed (cargo install cargo-deny): licences and advisories are not checked");
        return Ok(());
    }
    run(cargo("deny").args(["check", "bans", "licenses", "sources"]))?;
    if let Err(error) = output(cargo("deny").args(["fetch", "db"])) {
        println!("the advisory database cannot be fetched here: advisories are not checked\n{error}");
        return Ok(());
    }
    run(cargo("deny").args(["check", "advisories"]))
}
