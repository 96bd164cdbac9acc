//! Stored objects, with their caches.

use crate::raw;
use arc_swap::ArcSwapOption;
use bytes::Bytes;
use kubeshape_show::table::{Cell, Convertor};
use std::sync::{Arc, OnceLock};

/// An object as it is stored.
#[derive(Debug)]
pub struct Stored {
    /// The revision of its last change.
    pub revision: u64,
    /// The object: compact JSON, keys in order, and a line break.
    pub(super) text: Bytes,
    /// The parts that lists show, cached at the first use.
    derived: OnceLock<Box<Derived>>,
    /// The object as a definition last decoded it.
    reading: ArcSwapOption<Reading>,
    /// The object as a webhook last converted it.
    converted: ArcSwapOption<Reading>,
}

/// A stored object as a version of a definition decodes it: without unknown fields, with defaults. It is computed at
/// the first read and kept until the definition changes.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The version of a definition. It is unique.
    by: Arc<Reader>,
    /// The decoded object; `None` if it equals the stored one.
    pub(crate) other: Option<Arc<Stored>>,
}

/// Identifies a version of a definition. It changes with the definition.
#[derive(Debug)]
struct Reader;

impl Reading {
    /// Returns a new reader, which returns an object as stored.
    pub(crate) fn as_stored() -> Arc<Reading> {
        Arc::new(Reading { by: Arc::new(Reader), other: None })
    }

    /// Returns the same reader with its decoded object.
    pub(crate) fn as_other(&self, other: Arc<Stored>) -> Arc<Reading> {
        Arc::new(Reading { by: Arc::clone(&self.by), other: Some(other) })
    }
}

/// Clones the JSON and the revision. The caches start empty.
impl Clone for Stored {
    fn clone(&self) -> Stored {
        Stored::new(self.revision, self.text.clone())
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Stored) -> bool {
        (self.revision, &self.text) == (other.revision, &other.text)
    }
}

impl Eq for Stored {}

impl Stored {
    /// Creates an object at a revision from compact JSON with a line break, as [`line`](Self::line) gives it.
    pub fn new(revision: u64, text: Bytes) -> Stored {
        Stored {
            revision,
            text,
            derived: OnceLock::new(),
            reading: ArcSwapOption::empty(),
            converted: ArcSwapOption::empty(),
        }
    }

    /// Returns whether a reader is known to return it as stored.
    pub(crate) fn is_read_as_stored(&self, reading: &Arc<Reading>) -> bool {
        self.reading.load().as_ref().is_some_and(|known| Arc::ptr_eq(known, reading))
    }

    /// Returns the object as a reader decoded it, if known.
    pub(crate) fn reading(&self, by: &Reading) -> Option<Arc<Reading>> {
        let of = |slot: &ArcSwapOption<Reading>| slot.load_full().filter(|reading| Arc::ptr_eq(&reading.by, &by.by));
        of(&self.reading).or_else(|| of(&self.converted))
    }

    /// Caches the object as a reader decoded it, and replaces that of another reader.
    pub(crate) fn keep(&self, reading: Arc<Reading>) {
        self.reading.store(Some(reading));
    }

    /// Caches the object as a webhook converted it for a reader. Readers that need no webhook have another place, so
    /// clients of both versions do not displace each other.
    pub(crate) fn keep_converted(&self, reading: Arc<Reading>) {
        self.converted.store(Some(reading));
    }

    /// Creates an object that is not stored from its JSON.
    pub(crate) fn of_json(json: &[u8]) -> Stored {
        Stored::new(0, [json, b"\n"].concat().into())
    }

    pub(crate) fn derived(&self) -> &Derived {
        self.derived.get_or_init(Box::default)
    }

    /// Returns the object as compact JSON.
    pub fn json(&self) -> Bytes {
        self.text.slice(..self.text.len().saturating_sub(1))
    }

    /// Returns the same without a new handle.
    pub(crate) fn as_json(&self) -> &[u8] {
        self.text.split_last().map_or(&[], |(_, json)| json)
    }

    /// Returns the object as compact JSON, with a line break.
    pub fn line(&self) -> Bytes {
        self.text.clone()
    }

    /// Returns the object as a string.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.text).unwrap_or_default()
    }
}

/// The uids of the owners of an object. Most objects have none, and are not parsed.
pub(super) fn owners(object: &Stored) -> impl Iterator<Item = Arc<str>> + use<> {
    let has_some = memchr::memmem::find(&object.text, b"\"ownerReferences\":[").is_some();
    let found = has_some.then(|| {
        let references = raw::member(raw::member(&object.text, "metadata")?, "ownerReferences")?;
        serde_json::from_slice::<Vec<serde_json::Value>>(references).ok()
    });
    let references = found.flatten().unwrap_or_default();
    references.into_iter().filter_map(|reference| Some(Arc::from(reference["uid"].as_str()?)))
}

/// The parts of an object that lists show, computed at the first use.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    pub(crate) metadata: OnceLock<Box<[u8]>>,
    pub(crate) protobuf: OnceLock<Box<[u8]>>,
    /// Cells of the first convertor. After a definition changes, cells are computed each time.
    pub(crate) cells: OnceLock<(Arc<Convertor>, Box<[Cell]>)>,
}
