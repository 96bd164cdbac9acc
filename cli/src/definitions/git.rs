//! Files of a git repository at a revision.
//!
//! Only commands that read objects are used: they run no filters, hooks or pagers that a repository could name.

use crate::error::{Fatal, describe};
use kubeshape_input::{BuildFile, KUSTOMIZATIONS, Limits, listed};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The maximum number of files in a folder.
const FILES: usize = 100_000;
/// The maximum bytes of the list of a folder.
const LISTING: u64 = 64 << 20;
/// The suffixes of files with definitions.
const ENDINGS: [&str; 5] = [".yaml", ".yml", ".json", ".gz", ".zst"];

/// Passes the files of `REV:PATH` to `give` one after the other: the name for messages, and the bytes. Files from which
/// manifests are built, such as patches, are left out; returns what they are.
///
/// # Errors
/// There is no such path, or git cannot be run.
pub(super) fn read(spec: &str, limits: Limits, mut give: impl FnMut(&str, &[u8])) -> Result<Vec<BuildFile>, Fatal> {
    let refuse = |why: &str| Fatal::Usage(format!("--against git:{spec}: {why}; expected git:REV:PATH"));
    let (revision, _) = spec.split_once(':').ok_or_else(|| refuse("it has no path"))?;
    if revision.is_empty() || spec.starts_with('-') {
        return Err(refuse("the revision is empty or begins with `-`"));
    }
    if spec.contains(char::is_control) {
        return Err(refuse("it holds a control character"));
    }
    let label = format!("git:{spec}");
    let failed = |message: String| Fatal::Read { path: PathBuf::from(&label), message };
    let kind = output(&["cat-file", "-t", spec], 64).map_err(failed)?;
    if kind.trim_ascii() == b"blob" {
        let ids = [(label.clone(), spec.to_owned())];
        return blobs(&ids, limits, give).map(|()| Vec::new()).map_err(failed);
    }
    if kind.trim_ascii() != b"tree" {
        return Err(failed("it is neither a file nor a folder".to_owned()));
    }
    let listing = output(&["ls-tree", "-r", "-z", spec], LISTING).map_err(failed)?;
    let mut ids = Vec::new();
    for line in listing.split(|byte| *byte == 0) {
        // MODE SP TYPE SP ID TAB NAME; links and submodules are skipped.
        let line = String::from_utf8_lossy(line);
        let Some((head, name)) = line.split_once('\t') else { continue };
        let mut head = head.split(' ');
        let (mode, kind, id) = (head.next(), head.next(), head.next());
        let is_file = kind == Some("blob") && mode.is_some_and(|mode| mode.starts_with("100"));
        let is_read = ENDINGS.iter().any(|ending| name.ends_with(ending)) || is_kustomization(name);
        if let (true, Some(id)) = (is_file && is_read, id) {
            ids.push((format!("{}/{name}", label.trim_end_matches('/')), id.to_owned()));
        }
    }
    if ids.len() > FILES {
        return Err(failed(format!("it has {} files; the limit is {FILES}", ids.len())));
    }
    let (heads, mut ids): (Vec<_>, Vec<_>) = ids.into_iter().partition(|(name, _)| is_kustomization(name));
    let mut others = BTreeMap::new();
    let mut kinds = vec![BuildFile::Kustomization; heads.len()];
    blobs(&heads, limits, |name, bytes| others.extend(paths_of(name, bytes, limits))).map_err(failed)?;
    ids.retain(|(name, _)| {
        let kind = others.get(name);
        kinds.extend(kind);
        kind.is_none()
    });
    let given = blobs(&ids, limits, |name, bytes| match BuildFile::of_file(file_name(name), bytes, limits) {
        Some(kind) => kinds.push(kind),
        None => give(name, bytes),
    });
    given.map(|()| kinds).map_err(failed)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_kustomization(path: &str) -> bool {
    KUSTOMIZATIONS.contains(&file_name(path))
}

/// Returns the paths that a kustomization lists as something else than resources.
fn paths_of(name: &str, bytes: &[u8], limits: Limits) -> Vec<(String, BuildFile)> {
    let folder = name.strip_suffix(file_name(name)).unwrap_or_default();
    let input = kubeshape_input::read(name, bytes, limits);
    let all = input.documents.iter().flat_map(|document| listed(document.root()));
    all.map(|(path, kind)| (joined(folder, path), kind)).collect()
}

/// Joins a path to a folder, whose name ends in `/`, without `.` and `..`.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.trim_end_matches('/').split('/').collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Passes the bytes of objects to `give`, from one process.
fn blobs(ids: &[(String, String)], limits: Limits, mut give: impl FnMut(&str, &[u8])) -> Result<(), String> {
    let mut child = git(&["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| not_run(&error))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("git has no pipes".to_owned());
    };
    let mut output = BufReader::new(output);
    let mut bytes = Vec::new();
    let mut all = || -> Result<(), String> {
        for (name, id) in ids {
            let told = writeln!(input, "{id}").and_then(|()| input.flush());
            told.map_err(|error| describe(&error))?;
            let mut head = String::new();
            output.by_ref().take(LISTING).read_line(&mut head).map_err(|error| describe(&error))?;
            // ID SP TYPE SP SIZE
            let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
            let size = size.ok_or_else(|| format!("git has no object for {}", Path::new(name).display()))?;
            if size > limits.bytes {
                return Err(format!("{name} has {size} bytes; the limit is {}", limits.bytes));
            }
            bytes.clear();
            output.by_ref().take(size as u64 + 1).read_to_end(&mut bytes).map_err(|error| describe(&error))?;
            if bytes.len() != size + 1 {
                return Err(format!("git ended within {name}"));
            }
            bytes.truncate(size);
            give(name, &bytes);
        }
        Ok(())
    };
    let result = all();
    drop(input);
    drop(output);
    // The process has nothing more to read, and its output is not read.
    let _ = child.wait();
    result
}

/// Returns the output of a git command, up to a number of bytes.
fn output(arguments: &[&str], most: u64) -> Result<Vec<u8>, String> {
    let mut child = git(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| not_run(&error))?;
    let mut bytes = Vec::new();
    if let Some(output) = child.stdout.take() {
        output.take(most + 1).read_to_end(&mut bytes).map_err(|error| describe(&error))?;
    }
    let status = child.wait().map_err(|error| describe(&error))?;
    if bytes.len() as u64 > most {
        return Err(format!("the list of its files has more than {most} bytes"));
    }
    if !status.success() {
        return Err("git knows no such revision or path; in CI, fetch the revision first".to_owned());
    }
    Ok(bytes)
}

fn git(arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    // Missing objects are not fetched, and no password is requested.
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0").args(arguments);
    command
}

fn not_run(error: &std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::NotFound {
        return "git is missing: inputs that begin with git: need the program git in PATH".to_owned();
    }
    format!("git cannot be run: {}", describe(error))
}
