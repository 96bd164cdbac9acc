//! Helpers that run the binary on small inputs.

pub(crate) mod client;
pub(crate) mod editor;
pub(crate) mod ssa;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A separate folder for every test, in which the binary runs.
#[derive(Debug)]
pub(crate) struct Folder(TempDir, &'static str);

/// The result of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"), "")
    }

    /// Returns a folder where the binary runs in a subfolder, so that results can be written next to it.
    pub(crate) fn in_sub() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a temporary folder"), "in");
        fs::create_dir(folder.0.path().join("in")).expect("a folder");
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(self.1).join(name)
    }

    /// Writes a file, and creates the folders above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))).expect("UTF-8")
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubeshape"));
        command.args(arguments).current_dir(self.0.path().join(self.1)).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the binary with the arguments in a line.
    pub(crate) fn run(&self, line: &str) -> Run {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        Run::of(&self.command(&arguments).output().expect("a run"))
    }

    /// Runs the binary with a text on its standard input.
    pub(crate) fn pipe(&self, line: &str, input: impl AsRef<[u8]>) -> Run {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut command = self.command(&arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a run");
        let mut stdin = child.stdin.take().expect("standard input");
        let input = input.as_ref().to_vec();
        let writer = std::thread::spawn(move || _ = stdin.write_all(&input));
        let output = child.wait_with_output().expect("a run");
        writer.join().expect("a writer");
        Run::of(&output)
    }

    /// Returns all files below a folder with their content, except for records of results. The names are relative.
    pub(crate) fn tree(&self, name: &str) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let root = self.path(name);
        let mut todo = vec![root.clone()];
        while let Some(folder) = todo.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let path = entry.path();
                if path.is_dir() {
                    todo.push(path);
                } else if entry.file_name() != ".kubeshape.json" {
                    let relative = path.strip_prefix(&root).expect("below").to_string_lossy().into_owned();
                    found.insert(relative, fs::read(&path).unwrap_or_default());
                }
            }
        }
        found
    }

    /// Returns the names in the record of a folder.
    pub(crate) fn recorded(&self, name: &str) -> Vec<String> {
        let record = json(&self.read(&format!("{name}/.kubeshape.json")));
        record["files"].as_object().expect("files").keys().cloned().collect()
    }

    /// Returns the names of all files below a folder, except for records of results.
    pub(crate) fn names(&self, name: &str) -> Vec<String> {
        self.tree(name).into_keys().collect()
    }
}

impl Run {
    pub(crate) fn of(output: &std::process::Output) -> Run {
        Run {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Checks that the run succeeded without any output.
    #[track_caller]
    pub(crate) fn is_silent(&self) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (Some(0), "", ""));
    }

    /// Returns standard output as one line.
    pub(crate) fn words_out(&self) -> String {
        self.out.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    }

    /// Returns standard error without the line breaks of long messages.
    pub(crate) fn words(&self) -> String {
        self.err.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    }

    /// Checks that every line of standard error that can be broken fits into 80 columns.
    #[track_caller]
    pub(crate) fn fits(&self) -> &Self {
        for line in self.err.lines().filter(|line| line.trim().contains(' ')) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        self
    }

    /// Checks that the run ended with this code, and that standard error contains all of these parts, with or without
    /// line breaks.
    #[track_caller]
    pub(crate) fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.err);
        let words = self.words();
        for part in parts {
            assert!(self.err.contains(part) || words.contains(part), "{part:?} is not in\n{}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

/// Returns a CustomResourceDefinition with a version for each name.
pub(crate) fn crd(plural: &str, versions: &[&str]) -> String {
    let kind = format!("{}{}", plural[..1].to_uppercase(), &plural[1..plural.len() - 1]);
    let mut out = format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {plural}.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: {plural}, kind: {kind}}}
  versions:
"
    );
    let version = |(i, version): (usize, &&str)| {
        let storage = i == 0;
        format!(
            "  - name: {version}
    served: true
    storage: {storage}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {{type: integer, default: 1}}
"
        )
    };
    out.extend(versions.iter().enumerate().map(version));
    out
}

/// Returns a CustomResourceDefinition with this `openAPIV3Schema`.
pub(crate) fn crd_with_schema(schema: &str) -> String {
    let head = crd("widgets", &["v1"]);
    let (head, _) = head.split_once("        type: object").expect("a schema");
    let indent = "        ";
    format!("{head}{indent}{}\n", schema.trim_end().replace('\n', &format!("\n{indent}")))
}

/// Compresses a text.
pub(crate) fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

/// Parses the JSON of a file or of standard output.
pub(crate) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Parses the lines of a report.
pub(crate) fn report(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(json).collect()
}

/// Returns whether the tests run as a user who can read everything.
pub(crate) fn is_root() -> bool {
    let folder = Folder::new();
    folder.write("x", "");
    let mut permissions = fs::metadata(folder.path("x")).expect("metadata").permissions();
    #[cfg(unix)]
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0);
    fs::set_permissions(folder.path("x"), permissions).expect("permissions");
    fs::read(folder.path("x")).is_ok()
}

/// Returns the path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
