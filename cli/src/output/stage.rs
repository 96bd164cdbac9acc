//! Writing files completely or not at all: into a temporary file in the same folder, which is then renamed.

use crate::error::Fatal;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};
use tempfile::Builder;

/// Prefix and suffix of the names of temporary files.
const BEGIN: &str = ".kubeshape-";
const END: &str = ".tmp";

/// Whether this is the name of a temporary file.
pub(crate) fn is_unfinished(name: &str) -> bool {
    name.starts_with(BEGIN) && name.ends_with(END)
}

/// The temporary files of this process.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    /// Locked for reading while a file is created or renamed, and for writing by [`Stage::abandon`].
    gate: RwLock<bool>,
    unfinished: Mutex<BTreeSet<PathBuf>>,
}

/// A temporary file that is complete, but not renamed yet.
#[derive(Debug)]
#[must_use]
pub(crate) struct Staged {
    temporary: PathBuf,
    /// The name it will have.
    pub(crate) target: PathBuf,
}

impl Stage {
    /// Writes a temporary file in the folder of `target`. Creates the folder if it does not exist.
    ///
    /// # Errors
    /// The folder or the file cannot be written, or the stage was abandoned.
    pub(crate) fn write(&self, target: PathBuf, bytes: &[u8]) -> Result<Staged, Fatal> {
        self.write_pieces(target, |sink| sink(bytes))
    }

    /// The same for content that `give` writes in pieces.
    ///
    /// # Errors
    /// As for [`Stage::write`], and the errors of `give`.
    pub(crate) fn write_pieces(
        &self,
        target: PathBuf,
        give: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> Result<Staged, Fatal> {
        let (mut file, temporary) = self.create(&target).map_err(|error| Fatal::write(&target, error))?;
        let staged = Staged { temporary, target };
        match give(&mut |piece| file.write_all(piece)) {
            Ok(()) => Ok(staged),
            Err(error) => {
                let fatal = Fatal::write(&staged.target, error);
                self.discard(staged);
                Err(fatal)
            }
        }
    }

    /// Creates a temporary file in the folder of `target`.
    ///
    /// # Errors
    /// The folder or the file cannot be written, or the stage was abandoned.
    pub(crate) fn open(&self, target: PathBuf) -> Result<(File, Staged), Fatal> {
        let (file, temporary) = self.create(&target).map_err(|error| Fatal::write(&target, error))?;
        Ok((file, Staged { temporary, target }))
    }

    fn create(&self, target: &Path) -> io::Result<(File, PathBuf)> {
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if *gate {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let folder = target.parent().unwrap_or(Path::new(""));
        let make = || {
            let new = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
            // `abandon` removes it, also when the process exits without dropping anything.
            Builder::new().prefix(BEGIN).suffix(END).disable_cleanup(true).make_in(folder, new)
        };
        let made = match make() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(folder)?;
                make()
            }
            result => result,
        }?;
        let (file, temporary) = made.into_parts();
        let temporary = temporary.to_path_buf();
        self.unfinished().insert(temporary.clone());
        Ok((file, temporary))
    }

    /// Renames a temporary file to its target.
    ///
    /// # Errors
    /// It cannot be renamed, or the stage was abandoned.
    pub(crate) fn finish(&self, staged: Staged) -> Result<(), Fatal> {
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if *gate {
            return Err(Fatal::Interrupted);
        }
        let Staged { temporary, target } = staged;
        fs::rename(&temporary, &target).map_err(|error| Fatal::write(&target, error))?;
        self.unfinished().remove(&temporary);
        Ok(())
    }

    /// Deletes a temporary file.
    pub(crate) fn discard(&self, staged: Staged) {
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        let Staged { temporary, .. } = staged;
        // If it cannot be deleted, nothing else can be done.
        let _ = fs::remove_file(&temporary);
        self.unfinished().remove(&temporary);
    }

    /// Deletes all temporary files. No more can be created.
    pub(crate) fn abandon(&self) {
        let mut gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        *gate = true;
        for path in std::mem::take(&mut *self.unfinished()) {
            let _ = fs::remove_file(path);
        }
    }

    fn unfinished(&self) -> std::sync::MutexGuard<'_, BTreeSet<PathBuf>> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(path: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(path)
            .map(|entries| entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
            .unwrap_or_default();
        names.sort();
        names
    }

    #[test]
    fn a_file_has_its_name_when_it_is_finished() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let stage = Stage::default();
        let target = dir.path().join("a/b/c.json");
        let staged = stage.write(target.clone(), b"{}")?;
        assert!(!target.exists());
        stage.finish(staged)?;
        assert_eq!(fs::read(&target)?, b"{}");
        assert_eq!(listing(&dir.path().join("a/b")), ["c.json"]);
        Ok(())
    }

    #[test]
    fn nothing_is_left_of_what_is_discarded_or_abandoned() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let stage = Stage::default();
        let first = stage.write(dir.path().join("a.json"), b"{}")?;
        let second = stage.write(dir.path().join("b.json"), b"{}")?;
        assert!(listing(dir.path()).iter().all(|name| is_unfinished(name)));
        stage.discard(first);
        stage.abandon();
        assert!(listing(dir.path()).is_empty());
        assert!(stage.finish(second).is_err());
        assert!(stage.write(dir.path().join("c.json"), b"{}").is_err());
        assert!(listing(dir.path()).is_empty());
        Ok(())
    }
}
