//! The Go program that runs the Kubernetes libraries, line by line.

use serde::Deserialize;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running program.
#[derive(Debug)]
pub struct Oracle {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    member: &'static str,
}

/// The answer of `oracle yaml` for a string.
#[derive(Clone, Debug, Deserialize)]
pub struct YamlAnswer {
    /// The JSON, as printed.
    pub json: Option<String>,
    /// Why there is none.
    pub error: Option<String>,
    /// Why the strict reader rejects the input, if only that one does.
    pub strict_error: Option<String>,
}

/// Returns the target folder.
#[must_use]
pub fn target() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("target");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(own, PathBuf::from)
}

/// Builds the program into the target folder. This is quick if nothing has changed.
///
/// # Errors
/// Go is not installed, or building fails.
pub fn build() -> Result<PathBuf, String> {
    build_from("oracle")
}

/// Builds the program over kube-apiserver's own code, as [`build`].
///
/// # Errors
/// Go is not installed, or building fails.
pub fn build_server() -> Result<PathBuf, String> {
    build_from("builtins-oracle")
}

/// Builds the program whose sources are in a folder next to these.
fn build_from(folder: &str) -> Result<PathBuf, String> {
    let target = target();
    std::fs::create_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    let target = target.canonicalize().map_err(|error| format!("{}: {error}", target.display()))?;
    let program = target.join(format!("kubeshape-{folder}"));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let built = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(sources).output();
    match built {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => Err(format!("go build: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("go: {error}; Go is needed to ask the Kubernetes libraries")),
    }
}

impl Oracle {
    /// Starts the program.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(program: &Path, arguments: &[&str]) -> Result<Oracle, String> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes to the Go program".to_owned());
        };
        let member = match arguments.first() {
            Some(&"answer-openapi") => "document",
            Some(&"aggregate") => "documents",
            Some(&"expressions") => "expression",
            Some(&"definitions") => "definition",
            Some(&"objects") => "objects",
            Some(&"requests") => "request",
            _ => "yaml",
        };
        Ok(Oracle { child, input: Some(input), output: BufReader::new(output), member })
    }

    /// Sends a string, or another input of the command, as the member that the command expects.
    ///
    /// # Errors
    /// The program has ended.
    pub fn send(&mut self, id: &str, text: &impl serde::Serialize) -> Result<(), String> {
        let mut line = serde_json::json!({ "id": id, self.member: text }).to_string();
        line.push('\n');
        let input = self.input.as_mut().ok_or("the Go program has no input")?;
        input
            .write_all(line.as_bytes())
            .and_then(|()| input.flush())
            .map_err(|error| format!("the Go program: {error}"))
    }

    /// Waits for the answer to a string that was sent.
    ///
    /// # Errors
    /// The program has ended, or its output is not an answer.
    pub fn receive<T: for<'a> Deserialize<'a>>(&mut self) -> Result<T, String> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|error| format!("the Go program: {error}"))?;
        serde_json::from_str(&line)
            .map_err(|error| format!("the Go program answered {:?}: {error}", line.get(..200).unwrap_or(&line)))
    }

    /// Sends an input and waits for the answer.
    ///
    /// # Errors
    /// As [`Oracle::send`] and [`Oracle::receive`].
    pub fn ask<T: for<'a> Deserialize<'a>>(&mut self, id: &str, text: &impl serde::Serialize) -> Result<T, String> {
        self.send(id, text)?;
        self.receive()
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // The program ends when its input ends.
        self.input = None;
        let _ = self.child.wait();
    }
}
