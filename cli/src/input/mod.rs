//! Inputs: which files are read, in which order, and their bytes.
//!
//! [`gather()`] lists the inputs without duplicates, in an order that depends only on their names; a [`Filter`] says
//! what is skipped in folders; [`read`](read::Reader::read) returns the bytes of an input. `kubeshape-input` recognizes
//! their content.

mod archive;
mod build;
mod chart;
mod filter;
mod gather;
mod ignored;
mod kustomize;
mod objects;
mod order;
mod pipe;
mod read;

pub(crate) use build::finding as build_files;
pub(crate) use filter::Filter;
pub(crate) use gather::{Gathered, gather};
pub(crate) use kustomize::{argument as kustomize_argument, folder_of as kustomize_folder};
pub(crate) use objects::objects;
pub(crate) use pipe::check_once;
pub(crate) use read::{Reader, open_file};

use bytes::Bytes;
use std::path::{Path, PathBuf};

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Standard input.
    Stdin,
    /// A file, by the path under which it was found.
    File(PathBuf),
    /// A document of a cluster or of a release of Kubernetes, a member of an archive, or what kustomize builds: its name
    /// in messages, and its content.
    Memory(PathBuf, Bytes),
}

/// One input.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// What is read.
    pub(crate) source: Source,
    /// The path without symbolic links; empty for standard input.
    pub(crate) canonical: PathBuf,
    /// Whether it was named on the command line, as opposed to found in a folder.
    pub(crate) named: bool,
    /// Whether it is in the templates of a Helm chart. It then has no template actions, or was named.
    pub(crate) in_chart: bool,
}

impl Input {
    /// Returns a file named by an option, `-` for standard input.
    pub(crate) fn named(path: &Path) -> Input {
        let source = if path.as_os_str() == "-" { Source::Stdin } else { Source::File(path.to_owned()) };
        Input { source, canonical: path.to_owned(), named: true, in_chart: false }
    }

    /// Returns its path, `-` for standard input.
    pub(crate) fn path(&self) -> &Path {
        match &self.source {
            Source::Stdin => Path::new("-"),
            Source::File(path) | Source::Memory(path, _) => path,
        }
    }

    /// Returns whether it is a regular file, which can be read again. Only the command line can name something else.
    pub(crate) fn is_file(&self) -> bool {
        let is_regular = |path: &Path| std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        matches!(&self.source, Source::File(path) if !self.named || is_regular(path))
    }

    /// Returns the name in messages and reports.
    pub(crate) fn name(&self) -> String {
        self.path().to_string_lossy().into_owned()
    }
}
