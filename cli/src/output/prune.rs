//! Files of earlier runs in an output folder: which of them may be deleted, and which may be adopted.

use super::names;
use super::record::{NAME, Record, There};
use crate::error::Fatal;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names in an output folder that must stay: this run's results, and its inputs.
#[derive(Debug, Default)]
pub(crate) struct Keep(BTreeSet<String>);

impl Keep {
    /// Adds a name. Names must differ by more than case, because of some file systems.
    pub(crate) fn add(&mut self, name: &str) {
        self.0.insert(name.to_lowercase());
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(&name.to_lowercase())
    }
}

/// Results of earlier runs that this run did not write.
#[derive(Debug, Default)]
pub(crate) struct Old {
    /// Unchanged: their names and paths.
    pub(crate) unchanged: Vec<(String, PathBuf)>,
    /// Changed since, or replaced by something else.
    pub(crate) changed: Vec<String>,
}

/// Finds the results of earlier runs that are not in `keep`. Removes files from the record that no longer exist.
pub(crate) fn old(folder: &Path, record: &mut Record, keep: &Keep) -> Old {
    let mut old = Old::default();
    let names: Vec<String> = record.names().filter(|name| !keep.has(name)).map(str::to_owned).collect();
    for name in names {
        match record.there(folder, &name) {
            There::Nothing => record.remove(&name),
            There::Result(path) => old.unchanged.push((name, path)),
            There::Other => old.changed.push(name),
        }
    }
    old
}

/// Deletes a result of an earlier run, and the folders that become empty.
///
/// # Errors
/// The file cannot be deleted.
pub(crate) fn delete(folder: &Path, path: &Path) -> Result<(), Fatal> {
    fs::remove_file(path).map_err(|error| Fatal::write(path, error))?;
    let above = path.ancestors().skip(1).take_while(|above| *above != folder);
    for above in above {
        // Fails if the folder is not empty.
        if fs::remove_dir(above).is_err() {
            break;
        }
    }
    Ok(())
}

/// Returns the files that are named like a result, and that are neither in the record nor in `keep`, sorted.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn unrecorded(folder: &Path, record: &Record, keep: &Keep) -> Result<Vec<String>, Fatal> {
    let mut found = Vec::new();
    let is_wanted = |components: &[&str], name: &str| {
        names::is_result(components) && name != NAME && !record.has(name) && !keep.has(name)
    };
    for (path, name, kind) in entries(folder)? {
        if kind.is_file() && is_wanted(&[&name], &name) {
            found.push(name);
        } else if kind.is_dir() && !name.starts_with('.') {
            // A folder that cannot be read belongs to someone else.
            for (_, inner, kind) in entries(&path).unwrap_or_default() {
                let full = format!("{name}/{inner}");
                if kind.is_file() && is_wanted(&[&name, &inner], &full) {
                    found.push(full);
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the entries of a folder whose names are Unicode. Links are not followed.
fn entries(folder: &Path) -> Result<Vec<(PathBuf, String, fs::FileType)>, Fatal> {
    let list = || -> io::Result<Vec<_>> {
        let mut out = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                out.push((entry.path(), name, entry.file_type()?));
            }
        }
        Ok(out)
    };
    list().map_err(|error| Fatal::Read { path: folder.to_owned(), message: crate::error::describe(&error) })
}
