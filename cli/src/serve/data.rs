//! Objects on disk, in an embedded database (`redb`).
//!
//! A change is on disk before its request is answered: each write is a transaction that is synchronised with the disk. So an answered
//! write survives the end of the process and of the system at any moment, there are no half objects, and revisions never go back.
//! The history is kept with the objects, so that clients watch on after a restart.

use bytes::Bytes;
use kubeshape_objects::store::{Event, Key, Limits, Saved, Store, Stored, Verb};
use kubeshape_server::{Keeper, Origin, Unkept};
use redb::backends::FileBackend;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Resource and path; revision and text.
const OBJECTS: TableDefinition<'_, (&str, &str), (u64, &[u8])> = TableDefinition::new("objects");
/// By revision.
const HISTORY: TableDefinition<'_, u64, Row<'_>> = TableDefinition::new("history");
/// `format`, `revision`, `forgotten`.
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");

/// A change: verb, resource, path, the text afterwards, the revision and the text before.
type Row<'r> = (u8, &'r str, &'r str, &'r [u8], u64, &'r [u8]);

/// The form of the tables.
const FORMAT: u64 = 1;
/// Bytes of pages that the database keeps in memory. The objects are in memory anyway.
const CACHE: usize = 16 << 20;

/// A file with objects cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum DataError {
    /// It cannot be opened: it cannot be read or written, another process has it open, or it is no database.
    #[error("cannot use {path} for objects: {reason}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
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
    /// None after a failure: what could not be written, because the disk was full, is tried again with a database that is
    /// opened anew.
    tables: Mutex<Option<Tables>>,
}

#[derive(Debug)]
struct Tables {
    database: Database,
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
        let tables = Tables::open(&file).map_err(|error| unusable(error.to_string()))?;
        let saved = tables.read().map_err(|error| unusable(error.to_string()))?;
        let data = Data { file, tables: Mutex::new(Some(tables)) };
        match saved {
            Ok(saved) => Ok((data, Store::restore(limits, saved))),
            Err(found) => Err(DataError::Format { path: path.to_owned(), found }),
        }
    }

    /// Writes the changes of a store since a revision. They are on disk when this returns.
    fn write(&self, store: &Store, since: u64) -> Result<(), redb::Error> {
        let mut current = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let (tables, is_behind) = match current.take() {
            Some(tables) => (tables, false),
            // What the change that failed left behind is not known.
            None => (Tables::open(&self.file)?, true),
        };
        tables.write(store, since, is_behind)?;
        *current = Some(tables);
        Ok(())
    }
}

impl Tables {
    fn open(file: &File) -> Result<Tables, redb::Error> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        let file = FileBackend::new(file.try_clone()?)?;
        Ok(Tables { database: builder.create_with_backend(file)? })
    }

    /// What the file holds. The inner error is a format that is not known.
    fn read(&self) -> Result<Result<Saved, u64>, redb::Error> {
        let transaction = self.database.begin_write()?;
        {
            // They are made, if they are not there.
            let mut numbers = transaction.open_table(NUMBERS)?;
            let found = numbers.get("format")?.map(|format| format.value());
            match found {
                None => _ = numbers.insert("format", FORMAT)?,
                Some(FORMAT) => {}
                Some(other) => return Ok(Err(other)),
            }
            transaction.open_table(OBJECTS)?;
            transaction.open_table(HISTORY)?;
        }
        transaction.commit()?;
        let transaction = self.database.begin_read()?;
        let numbers = transaction.open_table(NUMBERS)?;
        let number = |name: &str| -> Result<u64, redb::Error> { Ok(numbers.get(name)?.map_or(1, |n| n.value())) };
        let mut saved = Saved { revision: number("revision")?, forgotten: number("forgotten")?, ..Saved::default() };
        let mut resources: BTreeMap<String, Arc<str>> = BTreeMap::new();
        let mut key = |resource: &str, path: &str| {
            let resource = resources.entry(resource.to_owned()).or_insert_with(|| resource.into());
            Key { resource: Arc::clone(resource), path: path.into() }
        };
        for row in transaction.open_table(OBJECTS)?.iter()? {
            let (at, object) = row?;
            let ((resource, path), (revision, text)) = (at.value(), object.value());
            saved.objects.push((key(resource, path), Arc::new(Stored::new(revision, Bytes::copy_from_slice(text)))));
        }
        for row in transaction.open_table(HISTORY)?.iter()? {
            let (revision, event) = row?;
            let (verb, resource, path, text, before, old) = event.value();
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
        Ok(Ok(saved))
    }

    /// Writes the changes of a store since a revision; all of the store, if the tables may hold something else.
    fn write(&self, store: &Store, since: u64, is_behind: bool) -> Result<(), redb::Error> {
        let (revision, forgotten) = (store.revision(), store.forgotten());
        let transaction = self.database.begin_write()?;
        {
            let mut objects = transaction.open_table(OBJECTS)?;
            let mut history = transaction.open_table(HISTORY)?;
            let known = if is_behind { None } else { store.events_after(since).ok() };
            let mut whole = || {
                // Or so much changed at once that the history does not hold all of it.
                objects.retain(|_, _| false)?;
                history.retain(|_, _| false)?;
                for (key, object) in store.objects() {
                    objects.insert((&*key.resource, &*key.path), (object.revision, &*object.line()))?;
                }
                Ok::<_, redb::Error>(store.events_after(forgotten).unwrap_or_default())
            };
            let events = match known {
                Some(events) => events,
                None => whole()?,
            };
            for event in &events {
                let at = (&*event.key.resource, &*event.key.path);
                let line = event.object.line();
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
                let before = event.before.as_ref().map(|before| (before.revision, before.line())).unwrap_or_default();
                history.insert(event.object.revision, (verb, at.0, at.1, &*line, before.0, &*before.1))?;
            }
            while history.first()?.is_some_and(|(first, _)| first.value() <= forgotten) {
                history.pop_first()?;
            }
            let mut numbers = transaction.open_table(NUMBERS)?;
            numbers.insert("revision", revision)?;
            numbers.insert("forgotten", forgotten)?;
        }
        transaction.commit()?;
        Ok(())
    }
}

impl Keeper for Data {
    fn keep(&self, store: &Store, since: u64, _: Origin) -> Result<(), Unkept> {
        self.write(store, since).map_err(|error| Unkept(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Data, DataError};
    use kubeshape_objects::store::Limits;

    #[test]
    fn what_is_no_file_of_objects_is_told_and_stays() {
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
    fn one_process_has_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("objects");
        let (first, store) = Data::open(&path, Limits::default()).expect("a new file");
        assert_eq!((store.revision(), store.len()), (1, 0));
        assert!(Data::open(&path, Limits::default()).is_err());
        drop(first);
        assert!(Data::open(&path, Limits::default()).is_ok());
    }
}
