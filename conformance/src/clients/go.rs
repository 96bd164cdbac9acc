//! The Go program of a minor release.

use super::found::Found;
use super::kubectl::{Printed, Recorded};
use crate::oracle;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The built clients of one minor release.
#[derive(Clone, Debug)]
pub(super) struct Program {
    path: PathBuf,
    /// `1.36`
    pub(super) minor: String,
}

impl Program {
    /// Builds the clients with the libraries that a module file names, into the target folder.
    pub(super) fn build(module: &str) -> Result<Program, String> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
        let version = kubectl_version(&sources.join(module))?;
        let minor = version.rsplit_once('.').map_or(version.as_str(), |(minor, _)| minor).to_owned();
        // Releases of kubectl are built like this.
        let set = |name: &str, value: &str| format!("-X k8s.io/component-base/version.{name}={value}");
        let number = minor.trim_start_matches("1.");
        let version = [
            "-s -w".to_owned(),
            set("gitVersion", &format!("v{version}")),
            set("gitMajor", "1"),
            set("gitMinor", number),
        ];
        let path = build("", module, &["-ldflags", &version.join(" ")], &format!("kubeshape-clients-{minor}"))?;
        Ok(Program { path, minor })
    }

    /// Runs commands of kubectl, one after the other with the same caches.
    pub(super) fn kubectl(&self, url: &str, caches: &Path, calls: &[Recorded]) -> Result<Vec<Printed>, String> {
        let lines: String =
            calls.iter().map(|call| serde_json::json!({ "args": call.args }).to_string() + "\n").collect();
        let output = self.run("kubectl", url, caches, lines.as_bytes())?;
        let lines = output.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).map_err(|error| error.to_string())).collect()
    }

    /// Returns the results of client-go's discovery.
    pub(super) fn discover(&self, url: &str, caches: &Path) -> Result<Found, String> {
        serde_json::from_slice(&self.run("discover", url, caches, b"")?).map_err(|error| error.to_string())
    }

    fn run(&self, what: &str, url: &str, caches: &Path, input: &[u8]) -> Result<Vec<u8>, String> {
        let failed = |error: &dyn std::fmt::Display| format!("clients of {} {what}: {error}", self.minor);
        std::fs::create_dir_all(caches).map_err(|error| failed(&error))?;
        let mut child = Command::new(&self.path)
            .args([what, "-server", url, "-cache"])
            .arg(caches)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&error))?;
        let stdin = child.stdin.take();
        let output = std::thread::scope(|scope| {
            // A program that ends early does not read its input. Its exit status says why.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
            child.wait_with_output()
        });
        let output = output.map_err(|error| failed(&error))?;
        if output.status.success() { Ok(output.stdout) } else { Err(failed(&String::from_utf8_lossy(&output.stderr))) }
    }
}

/// Builds the program of a folder below `conformance/clients` with the libraries that a module file names, into the
/// target folder.
///
/// # Errors
/// Go is missing, or the program cannot be built.
pub(super) fn build(folder: &str, module: &str, options: &[&str], name: &str) -> Result<PathBuf, String> {
    let target = oracle::target();
    std::fs::create_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    let path = target.canonicalize().map_err(|error| format!("{}: {error}", target.display()))?.join(name);
    let mut go = Command::new("go");
    go.args(["build", "-modfile", module]).args(options).arg("-o").arg(&path).arg(".");
    match go.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(folder)).output() {
        Ok(output) if output.status.success() => Ok(path),
        Ok(output) => Err(format!("go build: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("go: {error}; Go is needed to build the clients")),
    }
}

/// Returns the version of kubectl whose libraries a module file requires: for `k8s.io/kubectl v0.36.3` it is 1.36.3.
fn kubectl_version(module: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(module).map_err(|error| format!("{}: {error}", module.display()))?;
    let version = text.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubectl v0."));
    version.map(|version| format!("1.{version}")).ok_or_else(|| format!("{}: requires no kubectl", module.display()))
}
