//! The project's own inputs for tests: CustomResourceDefinitions that show one rule each, with the answers of the
//! Kubernetes libraries ([`files`], [`answers`], [`merged`]), the same for OpenAPI documents ([`openapi_files`],
//! [`openapi_answers`]), generated inputs ([`generate`]), and servers that send recorded responses ([`replay`]).
//!
//! Answers are stored as they were printed: hash and compare them unchanged.

mod answer;
pub mod generate;
pub mod page;
pub mod replay;

pub use answer::{CrdAnswer, DocumentAnswer, FileAnswer, Merged, MergedV2, MergedV3, ProtoAnswer, VersionAnswer};

use serde::Deserialize;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

/// Returns the folder that contains `crds`, `openapi`, `recorded` and `yaml`.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder that an environment variable names, for tests that need more than this corpus.
///
/// Without the variable, such a test checks nothing and passes. So this prints a message with the name of the test
/// directly to standard error, which `cargo test` also shows for tests that pass.
///
/// # Panics
/// The variable names something that is not a folder.
pub fn folder_named_by(variable: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os(variable).map(PathBuf::from) else {
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("a test");
        let _ = writeln!(io::stderr(), "not checked: {test} ({variable} names no folder)");
        return None;
    };
    assert!(folder.is_dir(), "{variable} is {}, which is not a folder", folder.display());
    Some(folder)
}

/// Returns the step at which a test selects inputs from a long list: `n`, so that the tests are quick, or 1 if
/// `KUBESHAPE_ALL` is set and not empty. The number is for `step_by`.
pub fn one_in(n: usize) -> usize {
    if std::env::var_os("KUBESHAPE_ALL").is_some_and(|value| !value.is_empty()) { 1 } else { n }
}

/// Returns how many cases a test generates: one in three of `all`, unless `KUBESHAPE_ALL` is set (see [`one_in`]).
pub fn cases(all: u32) -> u32 {
    u32::try_from(all as usize / one_in(3)).unwrap_or(all)
}

/// A file with CustomResourceDefinitions or an OpenAPI document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path below `crds/`, `refused/` or `openapi/`.
    pub id: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl File {
    /// Returns the rule that the file shows: the part after `# Rule: ` in the first line; in JSON, the annotation
    /// `rule`, or the first string that begins with `Rule: `.
    pub fn rule(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes);
        let text = text.trim_start_matches('\u{FEFF}');
        if text.starts_with('{') {
            if let Some((_, rest)) = text.split_once("\"Rule: ") {
                return rest.split_once('"').map(|(rule, _)| rule.to_owned());
            }
            let manifest: serde_json::Value = serde_json::from_str(text).ok()?;
            return manifest["metadata"]["annotations"]["rule"].as_str().map(str::to_owned);
        }
        let first = text.split(['\n', '\r', '\u{85}', '\u{2028}']).next()?;
        Some(first.strip_prefix("# Rule: ")?.trim().to_owned())
    }

    /// Returns whether the file is in one of the folders that are merged.
    pub fn is_merged(&self) -> bool {
        ["rules/", "realistic/", "clash/"].iter().any(|folder| self.id.starts_with(folder))
    }
}

/// Returns all files below `crds/` and `refused/`, in the order of their paths there.
///
/// # Errors
/// The folder cannot be read.
pub fn files() -> io::Result<Vec<File>> {
    files_below(&["crds", "refused"])
}

/// Returns all files below `openapi/`, in the order of their paths there: `rules`, `realistic` and `broken`.
///
/// # Errors
/// The folder cannot be read.
pub fn openapi_files() -> io::Result<Vec<File>> {
    files_below(&["openapi"])
}

fn files_below(roots: &[&str]) -> io::Result<Vec<File>> {
    let mut out = Vec::new();
    for root in roots.iter().map(|name| folder().join(name)) {
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let below = path.strip_prefix(&root).unwrap_or(&path);
                    let id = below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
                    out.push(File { id, bytes: fs::read(&path)? });
                }
            }
        }
    }
    out.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(out)
}

/// Returns the recorded answers, one per file.
///
/// # Errors
/// The record is missing or damaged.
pub fn answers() -> io::Result<Vec<FileAnswer>> {
    lines(&folder().join("recorded").join("crds.ndjson.gz"))
}

/// Returns the recorded answers for OpenAPI documents, one per file.
///
/// # Errors
/// The record is missing or damaged.
pub fn openapi_answers() -> io::Result<Vec<DocumentAnswer>> {
    lines(&folder().join("recorded").join("openapi.ndjson.gz"))
}

/// Returns the recorded documents of the files that are merged.
///
/// # Errors
/// The record is missing or damaged.
pub fn merged() -> io::Result<Merged> {
    let mut out = Merged::default();
    for line in lines::<Line>(&folder().join("recorded").join("merged.ndjson.gz"))? {
        match line.record.as_str() {
            "v3" => out.v3.push(serde_json::from_str(&line.text)?),
            _ => out.v2 = Some(serde_json::from_str(&line.text)?),
        }
    }
    Ok(out)
}

/// A line. Its kind decides how it is read.
struct Line {
    record: String,
    text: String,
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Kind {
            record: String,
        }
        let text = <&serde_json::value::RawValue>::deserialize(deserializer)?.get();
        let Kind { record } = serde_json::from_str(text).map_err(serde::de::Error::custom)?;
        Ok(Line { record, text: text.to_owned() })
    }
}

fn lines<T: for<'a> Deserialize<'a>>(path: &Path) -> io::Result<Vec<T>> {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(fs::File::open(path)?).read_to_string(&mut text)?;
    text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::other)).collect()
}
