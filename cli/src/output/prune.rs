//! Deletion of results of earlier runs.

use super::{names, stage};
use crate::error::Fatal;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Deletes results in `root` that are not in `keep`, unfinished files of runs that were killed, and folders that become
/// empty. `keep` has names relative to `root`, with `/` as the separator. Returns the number of deleted files.
///
/// # Errors
/// A folder cannot be read, or a file cannot be deleted.
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
        // Folders of resources are named PLURAL.GROUP. Other folders are not touched.
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
            // Fails if the folder is not empty.
            let _ = fs::remove_dir(&path);
        }
    }
    Ok(deleted)
}

/// The entries of a folder: path, name, and whether it is a folder. Links are not followed.
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
