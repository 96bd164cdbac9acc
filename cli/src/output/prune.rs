//! Deleting results of earlier runs.

use super::{names, stage};
use crate::error::Fatal;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Deletes results in `root` that are not among `keep`, unfinished files of runs that were killed, and folders that
/// are empty then. `keep` holds names relative to `root`, with `/` between the two parts. Returns how many files were
/// deleted.
pub(crate) fn prune(root: &Path, keep: &BTreeSet<String>) -> Result<usize, Fatal> {
    let mut deleted = 0;
    let is_old = |components: &[&str]| {
        let name = components.last().copied().unwrap_or_default();
        (names::is_result(components) || stage::is_unfinished(name)) && !keep.contains(&components.join("/"))
    };
    for (path, name, is_folder) in entries(root)? {
        if !is_folder {
            if is_old(&[&name]) {
                remove(&path)?;
                deleted += 1;
            }
            continue;
        }
        // Folders of resources are named PLURAL.GROUP; what is in others is nobody's business.
        if name.starts_with('.') || !name.contains('.') {
            continue;
        }
        let mut found = false;
        for (inner, inner_name, is_folder) in entries(&path)? {
            if !is_folder && is_old(&[&name, &inner_name]) {
                remove(&inner)?;
                found = true;
                deleted += 1;
            }
        }
        if found {
            // Succeeds only when nothing else is in it.
            let _ = fs::remove_dir(&path);
        }
    }
    Ok(deleted)
}

/// Path, name and whether it is a folder; links are neither followed nor folders.
fn entries(folder: &Path) -> Result<Vec<(PathBuf, String, bool)>, Fatal> {
    let list = || -> io::Result<Vec<_>> {
        fs::read_dir(folder)?
            .map(|entry| {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                Ok((entry.path(), name, entry.file_type()?.is_dir()))
            })
            .collect()
    };
    list().map_err(|error| Fatal::write(folder, error))
}

fn remove(path: &Path) -> Result<(), Fatal> {
    fs::remove_file(path).map_err(|error| Fatal::write(path, error))
}
