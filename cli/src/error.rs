//! What ends a command without an answer: exit code 2, with one message.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fatal {
    /// The command line asks for something that cannot be.
    #[error("{0}")]
    Usage(String),
    /// Something could not be written.
    #[error("cannot write {}: {}", path.display(), describe(source))]
    Write {
        /// What was written.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A document that the conversion needs, other than an input, could not be read.
    #[error("cannot read {}: {message}", path.display())]
    Read {
        /// What was read.
        path: PathBuf,
        /// Why not.
        message: String,
    },
    /// Standard output is gone or full.
    #[error("cannot write to standard output: {}", describe(.0))]
    Stdout(io::Error),
    /// No threads can be had.
    #[error("cannot start threads: {}", describe(.0))]
    Threads(#[from] io::Error),
    /// The conversion of a file panicked.
    #[error("internal error while working on {input}; please report it with that file")]
    Internal {
        /// The input.
        input: String,
    },
    /// The user stopped the command; the message was printed.
    #[error("interrupted")]
    Interrupted,
}

impl Fatal {
    /// The error of writing `path`.
    pub(crate) fn write(path: &Path, source: io::Error) -> Fatal {
        Fatal::Write { path: path.to_owned(), source }
    }
}

/// The operating system's message without its number.
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
