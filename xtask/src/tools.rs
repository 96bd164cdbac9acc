//! Checks that need an optional tool: they print a message if it is missing.

use crate::run::{Result, cargo, metadata, output, run};

/// Checks that every published crate declares the Rust version of `rust-toolchain.toml`. All checks run with it, so the
/// oldest declared Rust version is the one that is tested.
pub(crate) fn msrv() -> Result {
    let toolchain = std::fs::read_to_string("rust-toolchain.toml")?;
    let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"'));
    let Some(channel) = channel else {
        return Err("rust-toolchain.toml names no channel: expected a line `channel = \"1.N.P\"`".into());
    };
    for package in metadata()?.packages().filter(|package| package.is_published) {
        let promised = package.rust_version.unwrap_or("no Rust version");
        if channel.strip_prefix(promised).is_none_or(|rest| !rest.is_empty() && !rest.starts_with('.')) {
            return Err(format!("{} promises {promised}, and rust-toolchain.toml has {channel}", package.name).into());
        }
    }
    Ok(())
}

/// Runs cargo-deny if it is installed, with advisories if their database can be fetched.
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
