//! Where the file is, and its text.

use super::NAME;
use crate::error::{Fatal, describe};
use kubeshape_input::{Code, Finding, Lines};
use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// No configuration is that large.
const MOST: u64 = 1 << 20;

/// A configuration file.
#[derive(Debug)]
pub(super) struct File {
    /// As messages name it: relative to the current folder if it is in it or above it.
    pub(super) name: String,
    /// The folder that it stands in, relative in the same way; empty for the current one.
    folder: PathBuf,
    pub(super) text: String,
}

/// The file that `--config` names, else the nearest one in the current folder and those above it.
///
/// # Errors
/// The file cannot be read.
pub(super) fn find(given: Option<PathBuf>, is_off: bool) -> Result<Option<File>, Fatal> {
    if let Some(path) = given {
        return read(&path).map(Some);
    }
    if is_off {
        return Ok(None);
    }
    let Ok(here) = std::env::current_dir() else { return Ok(None) };
    let mut path = PathBuf::new();
    for folder in here.ancestors() {
        if folder.join(NAME).is_file() {
            return read(&path.join(NAME)).map(Some);
        }
        path.push("..");
    }
    Ok(None)
}

fn read(path: &Path) -> Result<File, Fatal> {
    let unreadable = |message: String| Fatal::Read { path: path.to_owned(), message };
    let metadata = fs::metadata(path).map_err(|error| unreadable(describe(&error)))?;
    if metadata.len() > MOST {
        return Err(unreadable(format!("it has {} bytes; the limit is {MOST}", metadata.len())));
    }
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => unreadable("it is not UTF-8".to_owned()),
        _ => unreadable(describe(&error)),
    })?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok(File { name: path.to_string_lossy().into_owned(), folder, text })
}

impl File {
    /// A path that stands in the file, as seen from the current folder.
    pub(super) fn path(&self, written: &str) -> String {
        if written == "-" || self.folder.as_os_str().is_empty() {
            return written.to_owned();
        }
        // `./a` and `../a` are joined without the dot.
        let written = Path::new(written);
        let parts = written.components().filter(|part| !matches!(part, Component::CurDir));
        let mut path = self.folder.join(parts.collect::<PathBuf>()).to_string_lossy().into_owned();
        // A trailing slash says that it is a folder.
        if written.to_string_lossy().ends_with('/') && !path.ends_with('/') {
            path.push('/');
        }
        path
    }

    /// `FILE:LINE:COLUMN` of a byte.
    pub(super) fn place(&self, offset: usize) -> String {
        format!("{}:{}", self.name, Lines::default().place(&self.text, offset))
    }

    /// What is wrong with a part of it.
    pub(super) fn wrong(&self, span: Range<usize>, detail: impl Into<String>) -> Fatal {
        let mut finding = Finding::new(Code::Config, detail).in_input(self.name.as_str());
        let mut lines = Lines::default();
        finding.place = Some(lines.place(&self.text, span.start));
        finding.excerpt = Some(lines.excerpt(&self.text, span.clone()));
        finding.span = Some(span);
        Fatal::Config(Box::new(finding))
    }
}
