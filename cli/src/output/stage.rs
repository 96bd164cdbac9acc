//! Writes files completely or not at all: first a temporary file in the same folder, which is then renamed.
//!
//! Temporary files have random names and are created exclusively, so no link and no other process can redirect them. A
//! file that is replaced keeps its permissions. In an output folder, links are replaced and never followed. A file that
//! the user names is found behind its links; what is there and is not a regular file (a device, a pipe) is written to.

use super::record::Digest;
use super::what;
use crate::error::Fatal;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use tempfile::Builder;

/// Prefix and suffix of the names of temporary files.
const BEGIN: &str = ".kubeshape-";
const END: &str = ".tmp";

/// The temporary files of this process.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    /// Whether this is a dry run that writes nothing.
    dry: bool,
    /// Locked for reading while a file is created or renamed, and for writing by [`Stage::abandon`].
    gate: RwLock<bool>,
    unfinished: Mutex<BTreeSet<PathBuf>>,
    /// The folders that this process created.
    folders: Mutex<BTreeSet<PathBuf>>,
    /// The output folder. No link below it is followed.
    root: Option<PathBuf>,
    /// Whether to sync files and their names to the disk before the command ends.
    is_synced: bool,
    /// Folders that have new names that are not synced to the disk yet.
    unsynced: Mutex<BTreeSet<PathBuf>>,
}

/// A complete file that does not have its final name yet.
#[derive(Debug)]
#[must_use]
pub(crate) struct Staged {
    content: Content,
    /// Its final name.
    pub(crate) target: PathBuf,
    /// The digest of its content.
    pub(crate) digest: Digest,
}

/// Where the bytes of a staged file are.
#[derive(Debug)]
enum Content {
    /// In a temporary file.
    File(PathBuf),
    /// In memory, for targets that are not regular files and are written to directly.
    Bytes(Vec<u8>),
    /// Nowhere, because nothing is written.
    None,
}

/// Held while files get their names. An interrupt waits until all of them have theirs.
#[derive(Debug)]
pub(crate) struct Placing<'s> {
    stage: &'s Stage,
    _gate: RwLockReadGuard<'s, bool>,
}

/// A temporary file older than this was abandoned by its process.
const LEFT: Duration = Duration::from_hours(1);

/// Returns whether a temporary file was abandoned. A file with a time in the future is not treated as abandoned.
fn is_left(entry: &fs::DirEntry) -> bool {
    let modified = entry.metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > LEFT))
}

impl Stage {
    /// Creates a stage that writes nothing, and only finds out what would be written.
    pub(crate) fn dry() -> Stage {
        Stage { dry: true, ..Stage::default() }
    }

    /// Deletes the temporary files of processes that were killed, in a folder and below it. No link is followed. A file
    /// that was written within the last hour may be one that another process is going to finish, and stays.
    ///
    /// # Errors
    /// A folder cannot be read, or a file not be deleted.
    pub(crate) fn sweep(folder: &Path) -> io::Result<()> {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let (kind, name) = (entry.file_type()?, entry.file_name());
                let is_temporary = name.to_str().is_some_and(|name| name.starts_with(BEGIN) && name.ends_with(END));
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() && is_temporary && is_left(&entry) {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// Sets the output folder.
    #[must_use]
    pub(crate) fn within(mut self, folder: Option<&Path>) -> Stage {
        self.root = folder.map(Path::to_owned);
        self
    }

    /// Sets whether to sync files and their names to the disk before the command ends.
    #[must_use]
    pub(crate) fn synced(mut self, is_synced: bool) -> Stage {
        self.is_synced = is_synced;
        self
    }

    /// Makes Ctrl-C and signals that end the process abandon the stage.
    #[allow(clippy::exit)] // The only place where another thread ends the process.
    pub(crate) fn until_interrupted(self) -> Arc<Stage> {
        let stage = Arc::new(self);
        let own = Arc::clone(&stage);
        let handler = move || {
            let interrupted = Fatal::Interrupted;
            crate::report::fatal(&interrupted, false);
            own.abandon();
            std::process::exit(i32::from(interrupted.exit_code()));
        };
        // If this fails, the process ends at once and may leave a temporary file behind.
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

    /// Like [`Stage::write`], but if the file is new, only its owner can read it.
    ///
    /// # Errors
    /// As for [`Stage::write`].
    pub(crate) fn write_private(&self, target: PathBuf, bytes: &[u8]) -> Result<Staged, Fatal> {
        self.write_for(Readers::Owner, target, |sink| sink(bytes))
    }

    /// Like [`Stage::write`], for content that `give` writes in pieces.
    ///
    /// # Errors
    /// As for [`Stage::write`], and the errors of `give`.
    pub(crate) fn write_pieces(
        &self,
        target: PathBuf,
        give: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> Result<Staged, Fatal> {
        self.write_for(Readers::Usual, target, give)
    }

    fn write_for(
        &self,
        readers: Readers,
        target: PathBuf,
        give: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> Result<Staged, Fatal> {
        let made = if self.dry {
            self.check(&target).map(|()| None)
        } else {
            self.gate().and_then(|_gate| self.create(&target, readers)).map(Some)
        };
        let (mut file, content) = match made.map_err(|error| Fatal::write(&target, error))? {
            None => (None, Content::None),
            Some((file, temporary)) => (Some(file), Content::File(temporary)),
        };
        let mut staged = Staged { content, target, digest: Digest::default() };
        let mut hash = Sha256::new();
        let written = give(&mut |piece| {
            hash.update(piece);
            file.as_mut().map_or(Ok(()), |file| file.write_all(piece))
        });
        match written.and_then(|()| file.map_or(Ok(()), |file| self.sync(&file))) {
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

    /// Like [`Stage::write`], for a file that the user names. Links to it are followed, and a target that is not a
    /// regular file is written to directly.
    ///
    /// # Errors
    /// As for [`Stage::write`].
    pub(crate) fn write_named(&self, path: &Path, bytes: &[u8]) -> Result<Staged, Fatal> {
        match named(path).map_err(|error| Fatal::write(path, error))? {
            Named::File(target) => self.write(target, bytes),
            Named::Other => {
                let content = if self.dry { Content::None } else { Content::Bytes(bytes.to_vec()) };
                Ok(Staged { content, target: path.to_owned(), digest: Sha256::digest(bytes).into() })
            }
        }
    }

    /// Creates a temporary file in the folder of `target`, even if this is a dry run.
    ///
    /// # Errors
    /// The folder or the file cannot be written, or the stage was abandoned.
    pub(crate) fn open(&self, target: PathBuf) -> Result<(File, Staged), Fatal> {
        let made = self.gate().and_then(|_gate| self.create(&target, Readers::Usual));
        let (file, temporary) = made.map_err(|error| Fatal::write(&target, error))?;
        Ok((file, Staged { content: Content::File(temporary), target, digest: Digest::default() }))
    }

    /// Syncs the bytes of a file to the disk, if syncing was requested.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn sync(&self, file: &File) -> io::Result<()> {
        if self.is_synced { file.sync_all() } else { Ok(()) }
    }

    /// Syncs the names of files and folders to the disk, if syncing was requested.
    ///
    /// # Errors
    /// A folder cannot be written.
    pub(crate) fn settle(&self) -> Result<(), Fatal> {
        let mut folders = std::mem::take(&mut *self.unsynced.lock().unwrap_or_else(PoisonError::into_inner));
        if !folders.is_empty() {
            folders.extend(self.folders().iter().filter_map(|folder| folder.parent().map(Path::to_owned)));
        }
        for folder in folders {
            let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
            let synced = if cfg!(unix) { File::open(&folder).and_then(|folder| folder.sync_all()) } else { Ok(()) };
            synced.map_err(|error| Fatal::write(&folder, error))?;
        }
        Ok(())
    }

    /// Renames a temporary file to its target.
    ///
    /// # Errors
    /// It cannot be renamed, or the stage was abandoned.
    pub(crate) fn finish(&self, staged: Staged) -> Result<(), Fatal> {
        self.placing()?.finish(staged)?;
        self.settle()
    }

    /// Begins to give the files their names.
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
        if let Content::File(temporary) = staged.content {
            // If it cannot be deleted, there is nothing else to do.
            let _ = fs::remove_file(&temporary);
            self.unfinished().remove(&temporary);
        }
    }

    /// Deletes all temporary files and the folders that were created for them. After that, no more can be created.
    pub(crate) fn abandon(&self) {
        let mut gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        *gate = true;
        for path in std::mem::take(&mut *self.unfinished()) {
            let _ = fs::remove_file(path);
        }
        self.tidy();
    }

    /// Deletes the folders that were created and are still empty.
    pub(crate) fn tidy(&self) {
        // Subfolders sort after their folder, so they are deleted first.
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

    /// Creates a temporary file. The caller holds the gate.
    fn create(&self, target: &Path, readers: Readers) -> io::Result<(File, PathBuf)> {
        self.check(target)?;
        let folder = target.parent().unwrap_or(Path::new(""));
        let replaced = fs::symlink_metadata(target).ok().filter(fs::Metadata::is_file);
        let make = || {
            let new = |path: &Path| create_new(path, replaced.as_ref(), readers);
            // `abandon` removes the file, even when the process exits without running destructors.
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

    /// Refuses to replace a folder, device, pipe or socket by a file, and to leave the output folder through a link.
    ///
    /// # Errors
    /// What is in the way.
    pub(crate) fn check(&self, target: &Path) -> io::Result<()> {
        let inner = self.root.as_ref().and_then(|root| target.strip_prefix(root).ok().map(|inner| (root, inner)));
        if let Some((root, inner)) = inner {
            for above in inner.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
                let above = root.join(above);
                if above.is_symlink() {
                    let above = above.display();
                    return Err(io::Error::other(format!(
                        "{above} is a link, and links in the output folder are not followed"
                    )));
                }
            }
        }
        // A link is replaced, whatever it points to.
        match fs::symlink_metadata(target) {
            Ok(metadata) if !metadata.is_file() && !metadata.is_symlink() => {
                Err(io::Error::other(format!("it is {}", what(&metadata))))
            }
            _ => Ok(()),
        }
    }

    /// Creates a folder and its parents, where they do not exist.
    fn create_folders(&self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.is_dir()).collect();
        for path in missing.into_iter().rev() {
            match fs::create_dir(path) {
                Ok(()) => _ = self.folders().insert(path.to_owned()),
                // Another thread created it first.
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
        let Staged { content, target, .. } = staged;
        let failed = |error| Fatal::write(&target, error);
        match content {
            Content::None => {}
            Content::Bytes(bytes) => open_other(&target).and_then(|mut to| to.write_all(&bytes)).map_err(failed)?,
            Content::File(temporary) => {
                fs::rename(&temporary, &target).map_err(failed)?;
                self.stage.unfinished().remove(&temporary);
                if let (true, Some(folder)) = (self.stage.is_synced, target.parent()) {
                    let mut unsynced = self.stage.unsynced.lock().unwrap_or_else(PoisonError::into_inner);
                    unsynced.insert(folder.to_owned());
                }
            }
        }
        Ok(())
    }

    /// Writes a file at once.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(&self, target: &Path, bytes: &[u8]) -> Result<(), Fatal> {
        let write = || -> io::Result<PathBuf> {
            let (mut file, temporary) = self.stage.create(target, Readers::Usual)?;
            file.write_all(bytes)?;
            self.stage.sync(&file)?;
            Ok(temporary)
        };
        let temporary = write().map_err(|error| Fatal::write(target, error))?;
        self.finish(Staged { content: Content::File(temporary), target: target.to_owned(), digest: Digest::default() })
    }
}

/// Who can read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    /// Everybody that the umask of the process allows.
    Usual,
    /// Only its owner.
    Owner,
}

/// Creates a file that does not exist yet, with the permissions of the file that it will replace.
#[cfg(unix)]
fn create_new(path: &Path, replaced: Option<&fs::Metadata>, readers: Readers) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

    /// Read, write and execute bits, without setuid, setgid and sticky.
    const PERMISSIONS: u32 = 0o777;
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    let Some(mode) = replaced.map(|metadata| metadata.permissions().mode() & PERMISSIONS) else {
        if readers == Readers::Owner {
            options.mode(0o600);
        }
        return options.open(path);
    };
    // The file is created with no more access than the old one gives. Then the effect of the umask is undone.
    let file = options.mode(mode).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    Ok(file)
}

#[cfg(not(unix))]
fn create_new(path: &Path, _: Option<&fs::Metadata>, _: Readers) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(path)
}

/// What a path that the user names leads to.
#[derive(Debug)]
pub(crate) enum Named {
    /// A regular file, or nothing yet: the path after following all links.
    File(PathBuf),
    /// Something to write to directly: a device, a pipe, or the target of a descriptor of this process.
    Other,
}

/// The maximum number of links on the way to a file.
const LINKS: usize = 40;

/// Follows the links of a path.
///
/// # Errors
/// It is a folder, or the links lead nowhere.
pub(crate) fn named(path: &Path) -> io::Result<Named> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if is_descriptor(&path) {
            return Ok(Named::Other);
        }
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Named::File(path)),
            Err(error) => return Err(error),
        };
        if metadata.is_dir() {
            return Err(io::Error::other("it is a folder"));
        }
        if !metadata.is_symlink() {
            return Ok(if metadata.is_file() { Named::File(path) } else { Named::Other });
        }
        let link = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(io::Error::other(format!("there are more than {LINKS} links on the way to it")))
}

/// Returns whether a path names an open descriptor, such as `/dev/stdout`.
fn is_descriptor(path: &Path) -> bool {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    folder.is_some_and(|folder| {
        folder == Path::new("/dev/fd") || (folder.starts_with("/proc") && folder.file_name().is_some_and(|n| n == "fd"))
    })
}

/// Opens something that is not a regular file for writing. The target of a descriptor is appended to.
///
/// # Errors
/// It cannot be opened.
pub(crate) fn open_other(path: &Path) -> io::Result<File> {
    File::options().append(true).open(path)
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
    fn a_file_gets_its_name_when_it_is_finished() -> Result<(), Box<dyn std::error::Error>> {
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
    fn nothing_remains_of_discarded_or_abandoned_files() -> Result<(), Box<dyn std::error::Error>> {
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
    fn created_folders_are_removed_if_they_are_empty() -> Result<(), Box<dyn std::error::Error>> {
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
    #[cfg(unix)]
    fn a_replaced_file_keeps_its_permissions() -> Result<(), Box<dyn std::error::Error>> {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir()?;
        let (stage, target) = (Stage::default(), dir.path().join("a.json"));
        for mode in [0o600, 0o444, 0o666, 0o755] {
            fs::write(&target, "old").or_else(|_| fs::remove_file(&target).and_then(|()| fs::write(&target, "old")))?;
            fs::set_permissions(&target, fs::Permissions::from_mode(mode))?;
            let staged = stage.write(target.clone(), b"new")?;
            let temporary = fs::read_dir(dir.path())?.flatten().find(|entry| entry.path() != target);
            assert_eq!(temporary.ok_or("no temporary file")?.metadata()?.permissions().mode() & 0o777, mode);
            stage.finish(staged)?;
            assert_eq!(fs::metadata(&target)?.permissions().mode() & 0o777, mode);
        }
        // A new file gets what the umask of the process allows.
        let usual = File::create(dir.path().join("usual"))?.metadata()?.permissions().mode();
        stage.finish(stage.write(dir.path().join("new.json"), b"{}")?)?;
        assert_eq!(fs::metadata(dir.path().join("new.json"))?.permissions().mode(), usual);
        Ok(())
    }

    #[test]
    #[cfg(unix)]
    fn links_in_the_output_folder_are_not_followed() -> Result<(), Box<dyn std::error::Error>> {
        use std::os::unix::fs::symlink;
        let (dir, elsewhere) = (tempfile::tempdir()?, tempfile::tempdir()?);
        fs::write(elsewhere.path().join("v1.json"), "mine")?;
        symlink(elsewhere.path(), dir.path().join("link"))?;
        symlink(elsewhere.path().join("v1.json"), dir.path().join("v1.json"))?;
        // The output folder itself may be reached through a link.
        let named = elsewhere.path().join("out");
        symlink(dir.path(), &named)?;
        for folder in [dir.path(), &named] {
            let stage = Stage::default().within(Some(folder));
            let error = stage.write(folder.join("link/v1.json"), b"{}").err().map(|error| error.to_string());
            assert!(error.as_ref().is_some_and(|error| error.contains("link is a link")), "{error:?}");
            stage.finish(stage.write(folder.join("v1.json"), b"{}")?)?;
            assert!(fs::symlink_metadata(folder.join("v1.json"))?.is_file());
        }
        assert_eq!(fs::read(elsewhere.path().join("v1.json"))?, b"mine");
        Ok(())
    }

    #[test]
    #[cfg(unix)]
    fn a_named_file_is_found_behind_its_links() -> Result<(), Box<dyn std::error::Error>> {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir()?;
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("a"))?;
        fs::write(at("a/file"), "old")?;
        symlink("file", at("a/link"))?;
        symlink("a/link", at("link"))?;
        symlink("a/gone", at("dangling"))?;
        symlink("loop", at("loop"))?;
        symlink("/dev/null", at("null"))?;
        let stage = Stage::default();
        for name in ["link", "dangling", "null"] {
            stage.finish(stage.write_named(&at(name), b"new")?)?;
            assert!(at(name).is_symlink(), "{name}");
        }
        assert_eq!((fs::read(at("a/file"))?, fs::read(at("a/gone"))?), (b"new".to_vec(), b"new".to_vec()));
        assert!(at("a/link").is_symlink());
        for (name, why) in [("loop", "links"), ("a", "it is a folder")] {
            let error = stage.write_named(&at(name), b"").err().map(|error| error.to_string());
            assert!(error.as_ref().is_some_and(|error| error.contains(why)), "{error:?}");
        }
        Ok(())
    }

    #[test]
    fn only_regular_files_are_replaced() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        fs::create_dir(dir.path().join("a.json"))?;
        for stage in [Stage::default(), Stage::dry()] {
            let error = stage.write(dir.path().join("a.json"), b"{}").err().map(|error| error.to_string());
            assert!(error.as_ref().is_some_and(|error| error.ends_with("a.json: it is a folder")), "{error:?}");
        }
        Ok(())
    }
}
