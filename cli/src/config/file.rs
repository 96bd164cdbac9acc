//! Finds and reads the configuration file.

use super::NAME;
use crate::cluster::context_of;
use crate::error::{Fatal, describe};
use crate::input::{kustomize_argument, kustomize_folder};
use kubeshape_input::{Code, Finding, Lines};
use std::fs;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// The maximum size of a configuration file, in bytes.
const MOST: u64 = 1 << 20;

/// A configuration file.
#[derive(Debug)]
pub(super) struct File {
    /// The name in messages: relative to the current folder if it is in it or above it.
    pub(super) name: String,
    /// Its folder, relative in the same way; empty for the current one.
    folder: PathBuf,
    pub(super) text: String,
    /// Whether `--config` names it. A file that was found may come from someone else, together with its folder.
    pub(super) is_named: bool,
}

/// Returns the file that `--config` names, or else the nearest one in the current folder and those above it.
///
/// # Errors
/// The file cannot be read.
pub(super) fn find(given: Option<PathBuf>, is_off: bool) -> Result<Option<File>, Fatal> {
    if let Some(path) = given {
        return read(&path, true).map(Some);
    }
    if is_off {
        return Ok(None);
    }
    nearest().map(|path| read(&path, false)).transpose()
}

/// Returns the nearest file in the current folder and those above it.
pub(super) fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let mut path = PathBuf::new();
    for folder in here.ancestors() {
        if folder.join(NAME).is_file() {
            return Some(path.join(NAME));
        }
        path.push("..");
    }
    None
}

fn read(path: &Path, is_named: bool) -> Result<File, Fatal> {
    let unreadable = |message: String| Fatal::Read { path: path.to_owned(), message };
    let metadata = fs::metadata(path).map_err(|error| unreadable(describe(&error)))?;
    if metadata.len() > MOST {
        return Err(unreadable(format!("it has {} bytes; the limit is {MOST}", metadata.len())));
    }
    let mut text = String::new();
    let read = fs::File::open(path).and_then(|file| file.take(MOST + 1).read_to_string(&mut text));
    let length = read.map_err(|error| match error.kind() {
        ErrorKind::InvalidData => unreadable("it is not UTF-8".to_owned()),
        _ => unreadable(describe(&error)),
    })?;
    if length as u64 > MOST {
        return Err(unreadable(format!("it has more than {MOST} bytes")));
    }
    // The folder of a pipe, such as `/dev/fd`, has no inputs.
    let folder = path.parent().filter(|_| metadata.is_file()).unwrap_or(Path::new("")).to_owned();
    Ok(File { name: path.to_string_lossy().into_owned(), folder, text, is_named })
}

impl File {
    /// Returns a path in the file, relative to the current folder.
    pub(super) fn path(&self, written: &str) -> String {
        if written == "-" || self.folder.as_os_str().is_empty() {
            return written.to_owned();
        }
        if context_of(Path::new(written)).is_some() {
            return written.to_owned();
        }
        if let Some(folder) = kustomize_folder(Path::new(written)) {
            return kustomize_argument(&self.path(folder));
        }
        // `./a` and `../a` are joined without the dot.
        let written = Path::new(written);
        let parts = written.components().filter(|part| !matches!(part, Component::CurDir));
        let mut path = self.folder.join(parts.collect::<PathBuf>()).to_string_lossy().into_owned();
        // A trailing slash marks a folder.
        if written.to_string_lossy().ends_with('/') && !path.ends_with('/') {
            path.push('/');
        }
        path
    }

    /// Returns whether a path in the file is inside its folder, after following links.
    pub(super) fn is_inside(&self, written: &str) -> bool {
        let start = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let Ok(folder) = start.canonicalize() else { return false };
        if written == "-" {
            return true;
        }
        let mut path = folder.clone();
        for part in Path::new(written).components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => path.push(name),
                // `..` in a name that does not exist yet is ambiguous.
                _ => return false,
            }
            // A dangling link is followed when the file is written.
            if path.is_symlink() || path.exists() {
                let Ok(found) = path.canonicalize() else { return false };
                path = found;
            }
        }
        path.starts_with(&folder)
    }

    /// Returns `FILE:LINE:COLUMN` of a byte.
    pub(super) fn place(&self, offset: usize) -> String {
        format!("{}:{}", self.name, Lines::default().place(&self.text, offset))
    }

    /// Returns the error about a part of it.
    pub(super) fn wrong(&self, span: Range<usize>, detail: impl Into<String>) -> Fatal {
        let mut finding = Finding::new(Code::Config, detail).in_input(self.name.as_str());
        let mut lines = Lines::default();
        finding.place = Some(lines.place(&self.text, span.start));
        finding.excerpt = Some(lines.excerpt(&self.text, span.clone()));
        finding.span = Some(span);
        Fatal::Config(vec![finding])
    }
}
