//! Runs other programs.

use std::path::Path;
use std::process::Command;

pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Returns the cargo that runs this program.
pub(crate) fn cargo(command: &str) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.arg(command);
    cargo
}

/// Runs a program and waits for it.
pub(crate) fn run(command: &mut Command) -> Result {
    let status = command.status().map_err(|error| format!("{}: {error}", shown(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", shown(command)).into()) }
}

/// Returns what a program prints on standard output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().map_err(|error| format!("{}: {error}", shown(command)))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}\n{stderr}", shown(command), output.status).into())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The output of `cargo metadata` for the workspace.
pub(crate) struct Metadata(serde_json::Value);

/// A member of the workspace.
pub(crate) struct Package<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    pub(crate) rust_version: Option<&'a str>,
    pub(crate) is_published: bool,
    pub(crate) has_library: bool,
}

pub(crate) fn metadata() -> Result<Metadata> {
    let json = output(cargo("metadata").args(["--no-deps", "--format-version", "1"]))?;
    Ok(Metadata(serde_json::from_slice(&json)?))
}

impl Metadata {
    pub(crate) fn packages(&self) -> impl Iterator<Item = Package<'_>> {
        self.0["packages"].as_array().into_iter().flatten().map(|package| Package {
            name: package["name"].as_str().unwrap_or_default(),
            version: package["version"].as_str().unwrap_or_default(),
            rust_version: package["rust_version"].as_str(),
            // Packages that are not published have an empty list of registries.
            is_published: package["publish"].is_null(),
            has_library: package["targets"]
                .as_array()
                .is_some_and(|targets| targets.iter().any(|target| target["kind"][0] == "lib")),
        })
    }

    /// Returns the folder of build results.
    pub(crate) fn target(&self) -> &Path {
        Path::new(self.0["target_directory"].as_str().unwrap_or("target"))
    }
}
