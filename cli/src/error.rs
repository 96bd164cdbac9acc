//! Errors that end a command, and the exit code of each.

use kubeshape_input::Finding;
use std::io;
use std::path::{Path, PathBuf};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fatal {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// A file could not be written.
    #[error("cannot write {}: {}", path.display(), describe(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file other than an input could not be read.
    #[error("cannot read {}: {message}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// A cluster or the cache of its documents cannot be used.
    #[cfg(feature = "cluster")]
    #[error("{0}")]
    Cluster(String),
    /// Standard output is closed or full.
    #[error("cannot write to standard output: {}", describe(.0))]
    Stdout(io::Error),
    /// Threads cannot be started.
    #[error("cannot start threads: {}", describe(.0))]
    Threads(#[from] io::Error),
    /// The conversion of a file panicked.
    #[error("internal error while working on {input}; please report it with that file")]
    Internal {
        /// The input.
        input: String,
    },
    /// The configuration file is wrong: what is, in the order of the file.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Config(Vec<Finding>),
    /// Inputs could not be read. Findings told which, and the others were handled.
    #[error("not every input could be read")]
    Unread,
    /// The user interrupted the command.
    #[error("interrupted")]
    Interrupted,
}

impl Fatal {
    /// Returns the exit code, usually 2. A closed pipe is a success, because its reader, such as `head`, has seen
    /// enough. An interrupted command ends as if by SIGINT.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Fatal::Stdout(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Fatal::Interrupted => 130,
            _ => 2,
        }
    }

    /// Returns whether nothing remains to be printed about it.
    pub(crate) fn is_quiet(&self) -> bool {
        // The thread that receives the signal reports an interrupt.
        matches!(self, Fatal::Unread | Fatal::Interrupted) || self.exit_code() == 0
    }

    /// Combines several errors of the configuration file. `None` without any.
    pub(crate) fn of_all(faults: Vec<Fatal>) -> Option<Fatal> {
        let mut found = Vec::new();
        for fault in faults {
            match fault {
                Fatal::Config(findings) => found.extend(findings),
                other => return Some(other),
            }
        }
        found.sort_by_key(|finding| finding.span.as_ref().map(|span| span.start));
        (!found.is_empty()).then_some(Fatal::Config(found))
    }

    /// Returns the error of writing `path`.
    pub(crate) fn write(path: &Path, source: io::Error) -> Fatal {
        match source.kind() {
            io::ErrorKind::Interrupted => Fatal::Interrupted,
            _ => Fatal::Write { path: path.to_owned(), source },
        }
    }
}

/// Returns the message of the operating system without its number.
pub(crate) fn describe(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::StorageFull {
        return "the disk is full".to_owned();
    }
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
