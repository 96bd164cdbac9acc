//! The folder of `--write-back`: one file of readable YAML per object, which is replaced and deleted as the object
//! changes.
//!
//! An object that came from an existing file stays in it. Others get `RESOURCE/NAMESPACE/NAME.yaml`. All files of a
//! change are complete before the first of them gets its name.

use crate::error::{Fatal, describe};
use crate::output::{Stage, names, prune};
use bytes::Bytes;
use kubeshape_objects::store::{Key, Store, Verb};
use kubeshape_registry::{Object, print};
use kubeshape_server::{Keeper, Origin, Unkept};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, ToValue as _, Value};
use kubeshape_yaml::emit::Emitter;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The resource whose new files only their owner can read.
const SECRETS: &str = "v1 secrets";
/// The suffixes of files with objects.
const SUFFIXES: [&str; 3] = ["yaml", "yml", "json"];

/// A folder that mirrors the objects of a server.
#[derive(Clone, Debug)]
pub(super) struct WriteBack(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    stage: Stage,
    /// The files of objects.
    files: Mutex<BTreeMap<Key, PathBuf>>,
}

impl WriteBack {
    /// Opens the folder, which must exist. Nothing is written yet, but unfinished files of a killed server are deleted.
    ///
    /// # Errors
    /// It is no folder, or it cannot be read.
    pub(super) fn new(folder: &Path) -> Result<WriteBack, Fatal> {
        if !folder.is_dir() {
            let message = format!("--write-back writes into a folder, and {} is none", folder.display());
            return Err(Fatal::Usage(message));
        }
        Stage::sweep(folder).map_err(|error| Fatal::Usage(format!("{}: {}", folder.display(), describe(&error))))?;
        let stage = Stage::default().within(Some(folder)).synced(true);
        Ok(WriteBack(Arc::new(Inner { folder: folder.to_owned(), stage, files: Mutex::default() })))
    }

    /// Checks whether a file can be replaced when its object changes: it must have one object, and must be reached
    /// without links.
    ///
    /// # Errors
    /// Why it cannot.
    pub(super) fn check(&self, path: &Path, objects: usize) -> Result<(), Fatal> {
        let refused = |why: String| {
            let path = path.display();
            Err(Fatal::Usage(format!("{path}: {why}; --write-back needs a plain file (.yaml, .yml, .json) per object")))
        };
        if objects > 1 {
            return refused(format!("found {objects} objects, expected one"));
        }
        if !path.extension().is_some_and(|suffix| SUFFIXES.iter().any(|known| suffix == *known)) {
            return refused("found a file of another type".to_owned());
        }
        let above = path.ancestors().take_while(|above| *above != self.0.folder);
        match above.into_iter().find(|above| above.is_symlink()) {
            Some(link) => refused(format!("found the link {}", link.display())),
            None => Ok(()),
        }
    }

    /// Records in which file an object is. If there are several, the first one counts.
    pub(super) fn found(&self, key: Key, path: PathBuf) {
        self.files().entry(key).or_insert(path);
    }

    fn files(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, PathBuf>> {
        self.0.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the changes of objects: their new texts, or that they were deleted.
fn changes(store: &Store, since: u64, files: &BTreeMap<Key, PathBuf>) -> BTreeMap<Key, Option<Bytes>> {
    if let Ok(events) = store.events_after(since) {
        let after =
            |event: &kubeshape_objects::store::Event| (event.verb != Verb::Deleted).then(|| event.object.json());
        return events.into_iter().map(|event| (event.key.clone(), after(&event))).collect();
    }
    // So much changed at once that the history does not hold all of it.
    let gone = files.keys().filter(|key| store.get(key).is_none()).map(|key| (key.clone(), None));
    let stored = store.objects().filter(|(_, object)| object.revision > since);
    gone.chain(stored.map(|(key, object)| (key.clone(), Some(object.json())))).collect()
}

/// Returns the members of a value except one.
fn without<'a>(value: Value<'a>, name: &str) -> Vec<(&'a str, Value<'a>)> {
    let entries = value.as_map().map(Map::entries).unwrap_or_default();
    entries.iter().copied().filter(|(key, _)| *key != name).collect()
}

/// Returns an object in a readable form, without the revision, which does not survive a restart.
fn readable(json: &[u8], path: &Path) -> Result<Vec<u8>, String> {
    let (objects, arena) = (Object::read_all("object", json).0, Bump::new());
    let object = objects.first().map_or(Value::Null, |object| object.to_value(&arena));
    let metadata = Map::from_entries(without(object.get("metadata").unwrap_or(Value::Null), "resourceVersion"), &arena);
    let mut members = without(object, "metadata");
    members.push(("metadata", Value::Map(metadata)));
    let object = Value::Map(Map::from_entries(members, &arena));
    let mut out = Vec::new();
    if path.extension().is_some_and(|suffix| suffix == "json") {
        print::write_json(object, &mut out).map_err(|error| error.to_string())?;
    } else {
        print::write_yaml(object, &mut Emitter::new(&mut out));
    }
    Ok(out)
}

impl Inner {
    /// Returns the file for an object that has none yet.
    ///
    /// # Errors
    /// Something else has its name.
    fn new_file(&self, key: &Key) -> Result<PathBuf, String> {
        let path = self.folder.join(names::stored(&key.resource, key.namespace(), key.name()));
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path),
            Ok(_) => Err(format!("{} is there, and the server did not write it", path.display())),
            Err(error) => Err(format!("{}: {}", path.display(), describe(&error))),
        }
    }

    fn write(&self, changes: &BTreeMap<Key, Option<Bytes>>, files: &mut BTreeMap<Key, PathBuf>) -> Result<(), String> {
        let mut staged = Vec::new();
        for (key, text) in changes {
            let Some(text) = text else { continue };
            let path = files.get(key).map_or_else(|| self.new_file(key), |path| Ok(path.clone()));
            let made = path.and_then(|path| {
                let bytes = readable(text, &path)?;
                let staged = match &*key.resource {
                    SECRETS => self.stage.write_private(path, &bytes),
                    _ => self.stage.write(path, &bytes),
                };
                staged.map_err(|error| error.to_string())
            });
            match made {
                Ok(file) => staged.push((key, file)),
                Err(why) => {
                    for (_, file) in staged {
                        self.stage.discard(file);
                    }
                    self.stage.tidy();
                    return Err(why);
                }
            }
        }
        let placing = self.stage.placing().map_err(|error| error.to_string())?;
        for (key, file) in staged {
            let path = file.target.clone();
            placing.finish(file).map_err(|error| error.to_string())?;
            files.insert(key.clone(), path);
        }
        self.stage.settle().map_err(|error| error.to_string())?;
        for key in changes.iter().filter(|(_, text)| text.is_none()).map(|(key, _)| key) {
            // A file that is already gone needs no deletion.
            if let Some(path) = files.get(key).filter(|path| fs::symlink_metadata(path).is_ok()) {
                self.stage.check(path).map_err(|error| format!("{}: {error}", path.display()))?;
                prune::delete(&self.folder, path).map_err(|error| error.to_string())?;
            }
            files.remove(key);
        }
        Ok(())
    }
}

impl Keeper for WriteBack {
    fn keep(&self, store: &Store, since: u64, origin: Origin) -> Result<(), Unkept> {
        // Objects that come from files are already in them.
        if origin == Origin::Files {
            return Ok(());
        }
        let mut files = self.files();
        let changes = changes(store, since, &files);
        self.0.write(&changes, &mut files).map_err(Unkept::Storage)
    }
}
