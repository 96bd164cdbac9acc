//! Stores objects on disk, in an embedded database (`redb`).
//!
//! A change is on disk before its request is answered: each write is a transaction that is synchronised with the disk.
//! So an answered write survives the end of the process and of the system at any moment, there are no half objects, and
//! revisions never go back. The history is kept with the objects, so that clients watch on after a restart.
//!
//! Every text has a checksum with its key and revision, which is checked at the start: an object that the disk has
//! changed is an error, and not served. Requests read from memory. A reserve beside the file, [`Reserve`], keeps room
//! for deletions on a full disk.

use bytes::Bytes;
use kubeshape_objects::store::{Event, Key, Limits, Saved, Store, Stored, Verb};
use kubeshape_server::{Keeper, Origin, Readiness, Unkept};
use redb::backends::FileBackend;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// From resource and path to revision and text. Texts begin with their checksum.
const OBJECTS: TableDefinition<'_, (&str, &str), (u64, &[u8])> = TableDefinition::new("objects");
/// Changes by revision.
const HISTORY: TableDefinition<'_, u64, Row<'_>> = TableDefinition::new("history");
/// The numbers `format`, `revision` and `forgotten`.
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");

/// A change: verb, resource, path, the text afterwards, the revision and the text before.
type Row<'r> = (u8, &'r str, &'r str, &'r [u8], u64, &'r [u8]);

/// The name of the readiness check.
const CHECK: &str = "data";
/// The current format of the tables.
const FORMAT: u64 = 2;
/// The format without checksums.
const FIRST_FORMAT: u64 = 1;
/// The size of a checksum in bytes.
const CHECKSUM: usize = 8;
/// A file that is larger than this and larger than [`SPARSE`] times its content is compacted at the start.
const LARGE_FILE: u64 = 8 << 20;
const SPARSE: u64 = 4;
/// Disk space reserved for deletions when the disk is full, in bytes.
const RESERVED: usize = 8 << 20;
/// Bytes of pages that the database caches. The objects are in memory anyway.
const CACHE: usize = 16 << 20;

/// An error for a file with objects that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum DataError {
    /// It cannot be opened: it cannot be read or written, another process has it open, or it is not a database.
    #[error("cannot use {path} for objects: {reason}")]
    Open {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A disk error or another program has changed it.
    #[error(
        "cannot use {path} for objects: the file is damaged: {reason}; put a copy in its place, or move it away and begin without objects"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        reason: String,
    },
    /// A later version of this program wrote it.
    #[error(
        "cannot use {path} for objects: it has format {found}, this version knows format {FORMAT}; use a later version"
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
}

/// A file with objects.
#[derive(Debug)]
pub(super) struct Data {
    file: File,
    /// `None` after a failure. A change that could not be written because the disk was full is tried again with a newly
    /// opened database.
    tables: Mutex<Option<Tables>>,
    reserve: Reserve,
    /// Reports whether the last change was stored.
    readiness: Arc<Readiness>,
}

#[derive(Debug)]
struct Tables {
    database: Database,
}

/// Why the tables cannot be read or written.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Database(Box<redb::Error>),
    /// The data is damaged, in this way.
    #[error("{0}")]
    Damaged(String),
    #[error("the disk is full, and only deletions have room")]
    Full,
}

/// Conversions from the errors of the database.
macro_rules! failures {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                match error.into() {
                    redb::Error::Corrupted(what) => Failure::Damaged(what),
                    error => Failure::Database(Box::new(error)),
                }
            }
        })*
    };
}

failures!(
    redb::Error,
    redb::DatabaseError,
    redb::TransactionError,
    redb::TableError,
    redb::StorageError,
    redb::CommitError
);

impl Failure {
    /// Returns whether the disk is full.
    fn is_full(&self) -> bool {
        let kinds = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];
        match self {
            Failure::Full => true,
            Failure::Database(error) => matches!(&**error, redb::Error::Io(error) if kinds.contains(&error.kind())),
            Failure::Damaged(_) => false,
        }
    }
}

/// Calls the database. Catches panics, because it panics on some damaged files.
fn guarded<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.and_then(|text| text.lines().next()).unwrap_or_default();
        Err(Failure::Damaged(format!("the database cannot be read ({text})")))
    })
}

/// A file that reserves disk space. It is deleted when a deletion needs the space, and created again as soon as
/// possible.
#[derive(Debug)]
struct Reserve(PathBuf);

impl Reserve {
    fn beside(path: &Path) -> Reserve {
        let mut name = path.as_os_str().to_owned();
        name.push(".reserve");
        Reserve(name.into())
    }

    fn is_there(&self) -> bool {
        fs::symlink_metadata(&self.0).is_ok_and(|metadata| metadata.is_file() && metadata.len() == RESERVED as u64)
    }

    /// Creates the file if it does not exist. Returns whether it exists afterwards.
    fn make(&self) -> bool {
        self.is_there() || self.fill().is_ok()
    }

    fn fill(&self) -> io::Result<()> {
        self.release();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let filled = options.open(&self.0).and_then(|mut file| {
            // Zeros may take no space on the disk.
            let block: Vec<u8> = (0..RESERVED).map(|n| (n % 251) as u8).collect();
            file.write_all(&block)?;
            file.sync_all()
        });
        filled.inspect_err(|_| self.release())
    }

    fn release(&self) {
        // If there is no file, there is nothing to delete.
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns a text with its checksum in front.
fn sealed(resource: &str, path: &str, revision: u64, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(CHECKSUM + text.len());
    out.extend_from_slice(&checksum(resource, path, revision, text));
    out.extend_from_slice(text);
    out
}

fn checksum(resource: &str, path: &str, revision: u64, text: &[u8]) -> [u8; CHECKSUM] {
    let mut hash = Sha256::new();
    for part in [resource.as_bytes(), b"\0", path.as_bytes(), b"\0", &revision.to_le_bytes(), text] {
        hash.update(part);
    }
    let mut out = [0; CHECKSUM];
    out.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
    out
}

/// Returns the text after a checksum.
///
/// # Errors
/// They do not fit.
fn opened<'t>(format: u64, (resource, path): (&str, &str), revision: u64, text: &'t [u8]) -> Result<&'t [u8], Failure> {
    if format == FIRST_FORMAT {
        return Ok(text);
    }
    let found = text.split_first_chunk::<CHECKSUM>();
    let found = found.filter(|(sum, text)| **sum == checksum(resource, path, revision, text));
    let damaged = || Failure::Damaged(format!("{path} of {resource} is not as it was written"));
    found.map(|(_, text)| text).ok_or_else(damaged)
}

impl Data {
    /// Opens a file, or creates it for this user only, and reads what it holds.
    pub(super) fn open(path: &Path, limits: Limits) -> Result<(Data, Store), DataError> {
        let unusable = |reason: String| DataError::Open { path: path.to_owned(), reason };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| unusable(error.to_string()))?;
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(unusable("it is not a regular file".to_owned()));
        }
        let failed = |failure: Failure| match failure {
            Failure::Damaged(reason) => DataError::Damaged { path: path.to_owned(), reason },
            failure => unusable(failure.to_string()),
        };
        let (tables, saved) = guarded(|| {
            let tables = Tables::open(&file)?;
            let saved = tables.read()?;
            Ok((tables, saved))
        })
        .map_err(failed)?;
        let Read { format, saved } = saved.map_err(|found| DataError::Format { path: path.to_owned(), found })?;
        let store = Store::restore(limits, saved);
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let tables = guarded(|| tables.tidied(&store, format, size)).map_err(failed)?;
        let data =
            Data { file, tables: Mutex::new(Some(tables)), reserve: Reserve::beside(path), readiness: Arc::default() };
        data.reserve.make();
        Ok((data, store))
    }

    /// Sets where to report whether objects can be stored.
    pub(super) fn with_readiness(self, readiness: Arc<Readiness>) -> Data {
        readiness.set(CHECK, None);
        Data { readiness, ..self }
    }

    /// Writes the changes of a store since a revision. They are on disk when this returns.
    fn write(&self, store: &Store, since: u64) -> Result<(), Failure> {
        let mut current = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let deletes =
            store.events_after(since).is_ok_and(|events| events.iter().all(|event| event.verb == Verb::Deleted));
        if !deletes && !self.reserve.make() {
            Data::shrink(&mut current);
            if !self.reserve.make() {
                return Err(Failure::Full);
            }
        }
        let written = self.attempt(&mut current, store, since, Events::Kept);
        if deletes && written.as_ref().is_err_and(Failure::is_full) {
            // The history contains deleted objects. Without it, clients have to list again after a restart.
            self.reserve.release();
            return self.attempt(&mut current, store, since, Events::Dropped);
        }
        written
    }

    /// Returns unused space in the file to the disk.
    fn shrink(current: &mut Option<Tables>) {
        let Some(mut tables) = current.take() else { return };
        if guarded(|| Ok(tables.database.compact().is_ok())).is_ok_and(|is_done| is_done) {
            *current = Some(tables);
        }
    }

    fn attempt(&self, current: &mut Option<Tables>, store: &Store, since: u64, events: Events) -> Result<(), Failure> {
        let (tables, is_behind) = match current.take() {
            Some(tables) => (tables, false),
            // The state that the failed change left behind is unknown.
            None => (guarded(|| Tables::open(&self.file))?, true),
        };
        guarded(|| tables.write(store, since, is_behind, events))?;
        *current = Some(tables);
        Ok(())
    }
}

/// Whether the history is stored with a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Events {
    Kept,
    Dropped,
}

/// The content of a file.
struct Read {
    format: u64,
    saved: Saved,
}

impl Tables {
    fn open(file: &File) -> Result<Tables, Failure> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        let file = FileBackend::new(file.try_clone().map_err(redb::Error::Io)?)?;
        Ok(Tables { database: builder.create_with_backend(file)? })
    }

    /// Converts the tables to the newest format, in a file that is not much larger than its content. `size` is the size
    /// of the file.
    fn tidied(mut self, store: &Store, format: u64, size: u64) -> Result<Tables, Failure> {
        if format != FORMAT {
            self.write(store, store.revision(), true, Events::Kept)?;
        }
        let texts = store.objects().map(|(_, object)| object.json().len() as u64);
        let history = store.events_after(store.forgotten()).unwrap_or_default();
        let history = history.iter().map(|event| 2 * event.object.json().len() as u64);
        let content: u64 = texts.chain(history).sum();
        if size > LARGE_FILE && size / SPARSE > content {
            // If there is no space for compaction, the file stays as it is.
            let _ = self.database.compact();
        }
        Ok(self)
    }

    /// Reads the content of the file. The inner error is an unknown format.
    fn read(&self) -> Result<Result<Read, u64>, Failure> {
        let mut format = FORMAT;
        let transaction = self.database.begin_write()?;
        {
            // Opening creates the tables if they do not exist.
            let mut numbers = transaction.open_table(NUMBERS)?;
            let found = numbers.get("format")?.map(|format| format.value());
            match found {
                None => _ = numbers.insert("format", FORMAT)?,
                Some(known @ (FIRST_FORMAT | FORMAT)) => format = known,
                Some(other) => return Ok(Err(other)),
            }
            transaction.open_table(OBJECTS)?;
            transaction.open_table(HISTORY)?;
        }
        transaction.commit()?;
        let transaction = self.database.begin_read()?;
        let numbers = transaction.open_table(NUMBERS)?;
        let number = |name: &str| -> Result<u64, Failure> { Ok(numbers.get(name)?.map_or(1, |n| n.value())) };
        let mut saved = Saved { revision: number("revision")?, forgotten: number("forgotten")?, ..Saved::default() };
        let mut resources: BTreeMap<String, Arc<str>> = BTreeMap::new();
        let mut key = |resource: &str, path: &str| {
            let resource = resources.entry(resource.to_owned()).or_insert_with(|| resource.into());
            Key { resource: Arc::clone(resource), path: path.into() }
        };
        for row in transaction.open_table(OBJECTS)?.iter()? {
            let (at, object) = row?;
            let ((resource, path), (revision, text)) = (at.value(), object.value());
            let text = opened(format, (resource, path), revision, text)?;
            saved.objects.push((key(resource, path), Arc::new(Stored::new(revision, Bytes::copy_from_slice(text)))));
        }
        for row in transaction.open_table(HISTORY)?.iter()? {
            let (revision, event) = row?;
            let (verb, resource, path, text, before, old) = event.value();
            let text = opened(format, (resource, path), revision.value(), text)?;
            let old = if before > 0 { opened(format, (resource, path), before, old)? } else { old };
            let stored = |revision, text: &[u8]| Arc::new(Stored::new(revision, Bytes::copy_from_slice(text)));
            saved.history.push(Event {
                verb: match verb {
                    0 => Verb::Added,
                    1 => Verb::Modified,
                    _ => Verb::Deleted,
                },
                key: key(resource, path),
                object: stored(revision.value(), text),
                before: (before > 0).then(|| stored(before, old)),
            });
        }
        Ok(Ok(Read { format, saved }))
    }

    /// Writes the changes of a store since a revision. Writes the whole store if the tables may hold something else.
    fn write(&self, store: &Store, since: u64, is_behind: bool, kept_events: Events) -> Result<(), Failure> {
        let revision = store.revision();
        let transaction = self.database.begin_write()?;
        {
            let mut objects = transaction.open_table(OBJECTS)?;
            if kept_events == Events::Dropped {
                transaction.delete_table(HISTORY)?;
            }
            let mut history = transaction.open_table(HISTORY)?;
            let mut numbers = transaction.open_table(NUMBERS)?;
            let on_disk = numbers.get("forgotten")?.map_or(0, |forgotten| forgotten.value());
            let forgotten = match kept_events {
                Events::Kept => store.forgotten().max(on_disk),
                Events::Dropped => revision,
            };
            let format = numbers.insert("format", FORMAT)?.map(|format| format.value());
            let kept = numbers.get("revision")?.map(|revision| revision.value());
            // A failed change is not in the file, unless the file has a later revision than the last one known to be
            // stored.
            let is_known = format == Some(FORMAT) && (!is_behind || kept.is_some_and(|kept| kept <= since));
            let from = kept.map_or(since, |kept| kept.min(since));
            let known = if is_known { store.events_after(from).ok() } else { None };
            let mut whole = || {
                // Or so much changed at once that the history does not hold all of it.
                objects.retain(|_, _| false)?;
                history.retain(|_, _| false)?;
                for (key, object) in store.objects() {
                    let text = sealed(&key.resource, &key.path, object.revision, &object.line());
                    objects.insert((&*key.resource, &*key.path), (object.revision, &*text))?;
                }
                Ok::<_, Failure>(store.events_after(forgotten).unwrap_or_default())
            };
            let events = match known {
                Some(events) => events,
                None => whole()?,
            };
            for event in &events {
                let at = (&*event.key.resource, &*event.key.path);
                let line = sealed(at.0, at.1, event.object.revision, &event.object.line());
                let verb = match event.verb {
                    Verb::Added => 0,
                    Verb::Modified => 1,
                    Verb::Deleted => 2,
                };
                if event.verb == Verb::Deleted {
                    objects.remove(at)?;
                } else {
                    objects.insert(at, (event.object.revision, &*line))?;
                }
                let before = event.before.as_ref();
                let before = before.map(|old| (old.revision, sealed(at.0, at.1, old.revision, &old.line())));
                let before = before.unwrap_or_default();
                if kept_events == Events::Dropped {
                    continue;
                }
                history.insert(event.object.revision, (verb, at.0, at.1, &*line, before.0, &*before.1))?;
            }
            while history.first()?.is_some_and(|(first, _)| first.value() <= forgotten) {
                history.pop_first()?;
            }
            numbers.insert("revision", revision)?;
            numbers.insert("forgotten", forgotten)?;
        }
        transaction.commit()?;
        Ok(())
    }
}

impl Keeper for Data {
    fn keep(&self, store: &Store, since: u64, _: Origin) -> Result<(), Unkept> {
        let written = self.write(store, since).map_err(|error| error.to_string());
        self.readiness.set(CHECK, written.as_ref().err().map(String::as_str));
        written.map_err(Unkept::Storage)
    }
}

#[cfg(test)]
mod tests {
    use super::{Data, DataError, FIRST_FORMAT, FORMAT, OBJECTS, Reserve, opened, sealed};
    use kubeshape_objects::store::Limits;

    #[test]
    fn a_file_that_is_not_of_objects_is_reported_and_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("objects");
        std::fs::write(&path, "kind: List\n").expect("a file");
        let error = Data::open(&path, Limits::default()).expect_err("it is no database").to_string();
        assert!(error.starts_with(&format!("cannot use {} for objects: ", path.display())), "{error}");
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), "kind: List\n");
        let error = Data::open(folder.path(), Limits::default());
        assert!(matches!(error, Err(DataError::Open { .. })), "{error:?}");
    }

    #[test]
    fn a_checksum_depends_on_text_and_place() {
        let text = sealed("v1 configmaps", "default/a", 7, b"{}");
        assert_eq!(opened(FORMAT, ("v1 configmaps", "default/a"), 7, &text).expect("it fits"), b"{}");
        for (resource, path, revision) in
            [("v1 secrets", "default/a", 7), ("v1 configmaps", "default/b", 7), ("v1 configmaps", "default/a", 6)]
        {
            let error = opened(FORMAT, (resource, path), revision, &text).expect_err("it does not fit");
            assert_eq!(error.to_string(), format!("{path} of {resource} is not as it was written"));
        }
        for damaged in [&text[..7], b"", b"{}"] {
            assert!(opened(FORMAT, ("v1 configmaps", "default/a"), 7, damaged).is_err());
        }
        assert_eq!(opened(FIRST_FORMAT, ("", ""), 7, b"{}").expect("no checksum"), b"{}");
    }

    #[test]
    fn the_reserve_exists_completely_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let reserve = Reserve::beside(&folder.path().join("objects"));
        assert!(!reserve.is_there() && reserve.make() && reserve.is_there() && reserve.make());
        std::fs::write(folder.path().join("objects.reserve"), "short").expect("a file");
        assert!(!reserve.is_there() && reserve.make());
        reserve.release();
        assert!(!reserve.is_there());
        assert!(!Reserve::beside(&folder.path().join("none/objects")).make());
    }

    #[test]
    fn a_mostly_empty_file_is_compacted_at_the_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("objects");
        let (data, _) = Data::open(&path, Limits::default()).expect("a new file");
        {
            let tables = data.tables.lock().expect("the tables");
            let database = &tables.as_ref().expect("the tables").database;
            let large = vec![1; 32 << 20];
            for is_there in [true, false] {
                let transaction = database.begin_write().expect("a transaction");
                let mut objects = transaction.open_table(OBJECTS).expect("the objects");
                if is_there {
                    objects.insert(("a", "b"), (1, &*large)).expect("room");
                } else {
                    objects.remove(("a", "b")).expect("it is there");
                }
                drop(objects);
                transaction.commit().expect("room");
            }
        }
        // As after a crash: the database compacts a file when it closes it.
        let path = folder.path().join("copy");
        std::fs::copy(folder.path().join("objects"), &path).expect("a copy");
        let size = || std::fs::metadata(&path).expect("the file").len();
        assert!(size() > 32 << 20, "{}", size());
        drop(Data::open(&path, Limits::default()).expect("the file"));
        assert!(size() < 4 << 20, "{}", size());
    }

    #[test]
    fn only_one_process_can_open_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("objects");
        let (first, store) = Data::open(&path, Limits::default()).expect("a new file");
        assert_eq!((store.revision(), store.len()), (1, 0));
        assert!(Data::open(&path, Limits::default()).is_err());
        drop(first);
        assert!(Data::open(&path, Limits::default()).is_ok());
    }
}
