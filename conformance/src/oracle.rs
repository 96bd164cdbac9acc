//! The Go program that runs the Kubernetes libraries, line by line.

use kubeshape_validate::Release;
use serde::Deserialize;
use std::fmt::Write as _;
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
    /// Why there is no JSON.
    pub error: Option<String>,
    /// Why the strict reader rejects the input, if only this reader does.
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
    let program = whole(&target())?.join(format!("kubeshape-{folder}"));
    go_build(&program, &sources(folder))
}

fn sources(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// Returns the absolute path of a folder, which is created if it is missing.
fn whole(folder: &Path) -> Result<PathBuf, String> {
    let made = std::fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    made.map_err(|error| format!("{}: {error}", folder.display()))
}

fn go_build(program: &Path, sources: &Path) -> Result<PathBuf, String> {
    let output = program.to_string_lossy();
    go(&["build", "-o", &output, "."], sources).map(|_| program.to_owned())
}

/// Runs Go in a folder, and returns what it prints.
fn go(arguments: &[&str], folder: &Path) -> Result<String, String> {
    let name = arguments.first().copied().unwrap_or_default();
    match Command::new("go").args(arguments).current_dir(folder).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(format!("go {name}: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("go: {error}; Go is needed to ask the Kubernetes libraries")),
    }
}

/// A program over the libraries of another release.
#[derive(Clone, Debug)]
pub struct Other {
    /// The program.
    pub program: PathBuf,
    /// The release.
    pub release: Release,
}

/// Calls that differ in older libraries: the last minor release with the old call, the current call, and the old call.
const OLDER_CALLS: [(u8, &str, &str); 5] = [
    (30, "\tcase apiservercel.Format:\n\t\treturn map[string]any{\"format\": v.Name}, nil\n", ""),
    (31, "case apiservercel.Format:", "case *apiservercel.Format:"),
    (31, "\tcase apiservercel.Semver:\n\t\treturn map[string]any{\"semver\": v.Version.String()}, nil\n", ""),
    (33, "sigs.k8s.io/structured-merge-diff/v6", "sigs.k8s.io/structured-merge-diff/v4"),
    (
        34,
        "MustBaseEnvSet(environment.DefaultCompatibilityVersion())",
        "MustBaseEnvSet(environment.DefaultCompatibilityVersion(), true)",
    ),
];

/// Patch releases whose modules are used, of minor releases without documents of built-in kinds.
const OTHER_MODULES: [(u8, &str); 1] = [(30, "30.14")];

/// The module whose go.mod names the staging modules of a release.
const KUBERNETES: &str = "k8s.io/kubernetes";

impl Other {
    /// Builds the program of a folder, such as `oracle`, with the modules of a release. The first time, it
    /// downloads them, and takes minutes.
    ///
    /// # Errors
    /// The modules of the release are not known, Go is not installed, or building fails.
    pub fn build(folder: &str, release: Release) -> Result<Other, String> {
        let other = OTHER_MODULES.iter().find(|(minor, _)| *minor == release.minor()).map(|(_, version)| *version);
        let version = if let Some(version) = other {
            version
        } else {
            let documents =
                kubeshape_builtin::BuiltInDocuments::try_from(release).map_err(|error| error.to_string())?;
            documents.version().strip_prefix("1.").unwrap_or_default()
        };
        let copy = whole(&target().join("go").join(release.without_patch().to_string()).join(folder))?;
        let failed = |error: std::io::Error| format!("{}: {error}", copy.display());
        let read = |name: &Path| std::fs::read_to_string(name).map_err(|error| format!("{}: {error}", name.display()));
        for entry in std::fs::read_dir(sources(folder)).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let (Some(name), Some("go")) = (path.file_name(), path.extension().and_then(|e| e.to_str())) else {
                continue;
            };
            let edits = OLDER_CALLS.iter().filter(|(until, ..)| release.minor() <= *until);
            let text = edits.fold(read(&path)?, |text, (_, now, then)| text.replace(now, then));
            std::fs::write(copy.join(name), text).map_err(failed)?;
        }
        let module = copy.join("go.mod");
        let named = read(&sources(folder).join("go.mod"))?;
        let mut wanted = format!("module kubeshape/conformance/{folder}\n\ngo 1.26.0\n\nrequire (\n");
        for line in direct(&named) {
            // The other modules follow from the requirements of these.
            let prefix = match line {
                KUBERNETES => "v1",
                line if is_staged(line) => "v0",
                _ => continue,
            };
            let _ = writeln!(wanted, "\t{line} {prefix}.{version}");
        }
        if wanted.contains(KUBERNETES) {
            let found = go(&["mod", "download", "-json", &format!("{KUBERNETES}@v1.{version}")], &copy)?;
            let found: serde_json::Value = serde_json::from_str(&found).map_err(|error| error.to_string())?;
            let kubernetes = read(Path::new(found["GoMod"].as_str().unwrap_or_default()))?;
            // Kubernetes' own modules have no version in its go.mod.
            let staged = direct(&kubernetes).filter(|line| kubernetes.contains(&format!("{line} v0.0.0\n")));
            for staged in staged {
                if !wanted.contains(&format!("\t{staged} ")) {
                    let _ = writeln!(wanted, "\t{staged} v0.{version}");
                }
            }
        }
        wanted.push_str(")\n");
        // `go mod tidy` adds lines, so the original is kept for the comparison.
        let made_of = copy.join("made-of.mod");
        if std::fs::read_to_string(&made_of).ok().as_ref() != Some(&wanted) {
            std::fs::write(&module, &wanted).map_err(failed)?;
            go(&["mod", "tidy"], &copy)?;
            std::fs::write(&made_of, &wanted).map_err(failed)?;
        }
        let program = go_build(&copy.join("program"), &copy)?;
        Ok(Other { program, release })
    }
}

/// The modules that a go.mod requires itself.
fn direct(text: &str) -> impl Iterator<Item = &str> {
    let lines =
        text.lines().filter(|line| line.starts_with('\t') && !line.contains("=>") && !line.ends_with("// indirect"));
    lines.filter_map(|line| line.trim().split(' ').next())
}

/// Returns whether the version of a module is that of its release of Kubernetes.
fn is_staged(module: &str) -> bool {
    ["api", "apiextensions-apiserver", "apimachinery", "apiserver", "client-go"]
        .iter()
        .any(|name| module.strip_prefix("k8s.io/") == Some(*name))
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
