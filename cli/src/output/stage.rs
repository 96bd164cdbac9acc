//! Writing files completely or not at all: into a temporary file in the same folder, which is then renamed.

use super::record::Digest;
use super::what;
use crate::error::Fatal;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use tempfile::Builder;

/// Prefix and suffix of the names of temporary files.
const BEGIN: &str = ".kubeshape-";
const END: &str = ".tmp";

/// The temporary files of this process.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    /// Whether nothing is written.
    dry: bool,
    /// Locked for reading while a file is created or renamed, and for writing by [`Stage::abandon`].
    gate: RwLock<bool>,
    unfinished: Mutex<BTreeSet<PathBuf>>,
    /// The folders that this process created.
    folders: Mutex<BTreeSet<PathBuf>>,
}

/// A file that is complete, but does not have its name yet.
#[derive(Debug)]
#[must_use]
pub(crate) struct Staged {
    /// None if nothing is written.
    temporary: Option<PathBuf>,
    /// The name it will have.
    pub(crate) target: PathBuf,
    /// What it holds.
    pub(crate) digest: Digest,
}

/// Files get their names, and an interrupt waits until all of them have theirs.
#[derive(Debug)]
pub(crate) struct Placing<'s> {
    stage: &'s Stage,
    _gate: RwLockReadGuard<'s, bool>,
}

impl Stage {
    /// A stage that writes nothing, and finds out what would be written.
    pub(crate) fn dry() -> Stage {
        Stage { dry: true, ..Stage::default() }
    }

    /// The stage, which is abandoned on Ctrl-C and on signals that end the process.
    #[allow(clippy::exit)] // the one place where the process ends from another thread
    pub(crate) fn until_interrupted(self) -> Arc<Stage> {
        let stage = Arc::new(self);
        let own = Arc::clone(&stage);
        let handler = move || {
            let interrupted = Fatal::Interrupted;
            crate::report::fatal(&interrupted, false);
            own.abandon();
            std::process::exit(i32::from(interrupted.exit_code()));
        };
        // If it fails, the process ends at once and may leave a temporary file.
        let _ = ctrlc::set_handler(handler);
        stage
    }

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
        let made = if self.dry {
            check(&target).map(|()| None)
        } else {
            self.gate().and_then(|_gate| self.create(&target)).map(Some)
        };
        let (mut file, temporary) = made.map_err(|error| Fatal::write(&target, error))?.unzip();
        let mut staged = Staged { temporary, target, digest: Digest::default() };
        let mut hash = Sha256::new();
        let written = give(&mut |piece| {
            hash.update(piece);
            file.as_mut().map_or(Ok(()), |file| file.write_all(piece))
        });
        match written {
            Ok(()) => {
                staged.digest = hash.finalize().into();
                Ok(staged)
            }
            Err(error) => {
                let fatal = Fatal::write(&staged.target, error);
                self.discard(staged);
                Err(fatal)
            }
        }
    }

    /// Creates a temporary file in the folder of `target`, also if nothing else is written.
    ///
    /// # Errors
    /// The folder or the file cannot be written, or the stage was abandoned.
    pub(crate) fn open(&self, target: PathBuf) -> Result<(File, Staged), Fatal> {
        let made = self.gate().and_then(|_gate| self.create(&target));
        let (file, temporary) = made.map_err(|error| Fatal::write(&target, error))?;
        Ok((file, Staged { temporary: Some(temporary), target, digest: Digest::default() }))
    }

    /// Renames a temporary file to its target.
    ///
    /// # Errors
    /// It cannot be renamed, or the stage was abandoned.
    pub(crate) fn finish(&self, staged: Staged) -> Result<(), Fatal> {
        self.placing()?.finish(staged)
    }

    /// Begins to give files their names.
    ///
    /// # Errors
    /// The stage was abandoned.
    pub(crate) fn placing(&self) -> Result<Placing<'_>, Fatal> {
        match self.gate() {
            Ok(gate) => Ok(Placing { stage: self, _gate: gate }),
            Err(_) => Err(Fatal::Interrupted),
        }
    }

    /// Deletes a temporary file.
    pub(crate) fn discard(&self, staged: Staged) {
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(temporary) = staged.temporary {
            // If it cannot be deleted, nothing else can be done.
            let _ = fs::remove_file(&temporary);
            self.unfinished().remove(&temporary);
        }
    }

    /// Deletes all temporary files, and folders that were created for them. No more can be created.
    pub(crate) fn abandon(&self) {
        let mut gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        *gate = true;
        for path in std::mem::take(&mut *self.unfinished()) {
            let _ = fs::remove_file(path);
        }
        self.tidy();
    }

    /// Deletes the folders that were created and are empty.
    pub(crate) fn tidy(&self) {
        // What stands in a folder comes behind it.
        for folder in std::mem::take(&mut *self.folders()).iter().rev() {
            // Fails if the folder is not empty.
            let _ = fs::remove_dir(folder);
        }
    }

    /// Locks the gate, unless the stage was abandoned.
    fn gate(&self) -> io::Result<RwLockReadGuard<'_, bool>> {
        let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if *gate { Err(io::ErrorKind::Interrupted.into()) } else { Ok(gate) }
    }

    /// Creates a temporary file. The gate is locked.
    fn create(&self, target: &Path) -> io::Result<(File, PathBuf)> {
        check(target)?;
        let folder = target.parent().unwrap_or(Path::new(""));
        let make = || {
            let new = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
            // `abandon` removes it, also when the process exits without dropping anything.
            Builder::new().prefix(BEGIN).suffix(END).disable_cleanup(true).make_in(folder, new)
        };
        let made = match make() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.create_folders(folder)?;
                make()
            }
            result => result,
        }?;
        let (file, temporary) = made.into_parts();
        let temporary = temporary.to_path_buf();
        self.unfinished().insert(temporary.clone());
        Ok((file, temporary))
    }

    /// Creates a folder and those above it, as far as they do not exist.
    fn create_folders(&self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.is_dir()).collect();
        for path in missing.into_iter().rev() {
            match fs::create_dir(path) {
                Ok(()) => _ = self.folders().insert(path.to_owned()),
                // Another thread was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn unfinished(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn folders(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Placing<'_> {
    /// Renames a temporary file to its target.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub(crate) fn finish(&self, staged: Staged) -> Result<(), Fatal> {
        let Staged { temporary: Some(temporary), target, .. } = staged else { return Ok(()) };
        fs::rename(&temporary, &target).map_err(|error| Fatal::write(&target, error))?;
        self.stage.unfinished().remove(&temporary);
        Ok(())
    }

    /// Writes a file at once.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(&self, target: &Path, bytes: &[u8]) -> Result<(), Fatal> {
        let write = || -> io::Result<PathBuf> {
            let (mut file, temporary) = self.stage.create(target)?;
            file.write_all(bytes)?;
            Ok(temporary)
        };
        let temporary = write().map_err(|error| Fatal::write(target, error))?;
        self.finish(Staged { temporary: Some(temporary), target: target.to_owned(), digest: Digest::default() })
    }
}

/// Refuses to put a file in the place of a folder, a device, a pipe or a socket.
fn check(target: &Path) -> io::Result<()> {
    match fs::metadata(target) {
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other(format!("it is {}", what(&metadata)))),
        _ => Ok(()),
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
        assert!(listing(dir.path()).iter().all(|name| name.starts_with(BEGIN) && name.ends_with(END)));
        stage.discard(first);
        stage.abandon();
        assert!(listing(dir.path()).is_empty());
        assert!(stage.finish(second).is_err());
        assert!(stage.write(dir.path().join("c.json"), b"{}").is_err());
        assert!(listing(dir.path()).is_empty());
        Ok(())
    }

    #[test]
    fn folders_that_were_created_go_if_nothing_is_in_them() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let stage = Stage::default();
        fs::create_dir(dir.path().join("old"))?;
        let kept = stage.write(dir.path().join("new/kept/a.json"), b"{}")?;
        let dropped = stage.write(dir.path().join("new/dropped/a/b.json"), b"{}")?;
        let old = stage.write(dir.path().join("old/a.json"), b"{}")?;
        stage.finish(kept)?;
        stage.discard(dropped);
        stage.discard(old);
        stage.tidy();
        assert_eq!(
            (listing(dir.path()), listing(&dir.path().join("new"))),
            (vec!["new".into(), "old".into()], vec!["kept".into()])
        );
        Ok(())
    }

    #[test]
    fn a_dry_stage_writes_nothing() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let (dry, stage) = (Stage::dry(), Stage::default());
        let target = dir.path().join("a/b.json");
        let staged = dry.write(target.clone(), b"{}")?;
        assert!(listing(dir.path()).is_empty());
        let digest = staged.digest;
        dry.finish(staged)?;
        assert!(listing(dir.path()).is_empty());
        assert_eq!(digest, stage.write(target, b"{}")?.digest);
        Ok(())
    }

    #[test]
    fn only_files_are_replaced() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        fs::create_dir(dir.path().join("a.json"))?;
        for stage in [Stage::default(), Stage::dry()] {
            let error = stage.write(dir.path().join("a.json"), b"{}").err().map(|error| error.to_string());
            assert!(error.as_ref().is_some_and(|error| error.ends_with("a.json: it is a folder")), "{error:?}");
        }
        Ok(())
    }
}
