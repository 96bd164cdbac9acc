//! Errors that end a command with exit code 2 and one message.

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
    /// The configuration file is wrong.
    #[error("{0}")]
    Config(Box<Finding>),
    /// The user interrupted the command.
    #[error("interrupted")]
    Interrupted,
}

impl Fatal {
    /// The error of writing `path`.
    pub(crate) fn write(path: &Path, source: io::Error) -> Fatal {
        Fatal::Write { path: path.to_owned(), source }
    }
}

/// The message of the operating system without its number.
pub(crate) fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::BrokenPipe => "the reader closed it (broken pipe)".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        _ => {
            let text = error.to_string();
            match text.rfind(" (os error ") {
                Some(end) => text[..end].to_lowercase(),
                None => text,
            }
        }
    }
}
