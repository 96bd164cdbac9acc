//! Results: their names, their formats, and writing them completely or not at all.

pub(crate) mod format;
pub(crate) mod in_place;
mod layout;
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "documents of clusters have names, too"))]
pub(crate) mod names;
pub(crate) mod place;
pub(crate) mod prune;
pub(crate) mod record;
mod stage;
mod targets;

pub(crate) use layout::{Layout, Subject};
pub(crate) use stage::{Named, Stage, Staged, named, open_other};
pub(crate) use targets::targets;

use std::fs::Metadata;

/// A result that was not renamed yet.
#[derive(Debug)]
pub(crate) enum Output {
    /// In a temporary file, with its name relative to the output folder.
    Staged(Staged, String),
    /// In memory, with its name.
    Held(Vec<u8>, String),
}

impl Output {
    /// Returns the name relative to an output folder.
    pub(crate) fn name(&self) -> &str {
        match self {
            Output::Staged(_, name) | Output::Held(_, name) => name,
        }
    }
}

/// Describes the target of a path in words.
pub(crate) fn what(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_file() {
        "a file"
    } else if kind.is_symlink() {
        "a link"
    } else {
        special(kind)
    }
}

#[cfg(unix)]
fn special(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn special(_: std::fs::FileType) -> &'static str {
    "a device"
}
