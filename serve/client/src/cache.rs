//! A disk cache of documents, by their content (KEP-2896).
//!
//! ```text
//! FOLDER/CACHEDIR.TAG     tells programs that make backups to leave the folder out
//! FOLDER/lock             held while the cache is compacted
//! FOLDER/documents/ab/…   one file per document, named by the SHA-512 of what it holds
//! FOLDER/clusters/…       one file per cluster: which documents it has
//! FOLDER/new/…            files that are being written
//! ```
//!
//! A file is written under a random name and then renamed, so a program that is killed leaves no partial document.
//! Contents are compared with the hash in the name: a damaged file is deleted, and treated as missing. So processes
//! share a cache, and only compaction is locked. [`Cache::compact`] deletes the least recently used entries until the
//! cache is within its [`Bounds`]; the first write of a [`Cache`] does so automatically, and then every write after an
//! eighth of the bound was written.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha512};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

const DOCUMENTS: &str = "documents";
const CLUSTERS: &str = "clusters";
const NEW: &str = "new";
const LOCK: &str = "lock";
const TAG: &str = "CACHEDIR.TAG";
const TAG_TEXT: &str =
    "Signature: 8a477f597d28d172789f06886806bc55\n# Documents of Kubernetes clusters, kept by kubeshape.\n";

/// The accuracy of times of use, so that reads rarely write.
const EXACT: Duration = Duration::from_hours(1);
/// A file that is being written is not older than this.
const WRITING: Duration = Duration::from_hours(1);
/// The largest record of a cluster that is read, in bytes.
const RECORD: u64 = 64 << 20;

/// The maximum size of a cache, and the maximum age of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// All entries together, in bytes. During writes, the cache may be an eighth larger per process.
    pub bytes: u64,
    /// The maximum number of entries.
    pub entries: usize,
    /// An entry that was not used for this long is deleted.
    pub unused: Duration,
}

impl Default for Bounds {
    /// 512 MiB, 50,000 entries, 30 days.
    fn default() -> Bounds {
        Bounds { bytes: 512 << 20, entries: 50_000, unused: Duration::from_hours(720) }
    }
}

/// SHA-512 of a document: its name in the cache, and the hash by which kube-apiserver knows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 64]);

impl Digest {
    /// Returns the digest of a string.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha512::digest(bytes).into())
    }

    /// Parses 128 hexadecimal digits.
    pub fn read(text: &str) -> Option<Digest> {
        let mut out = [0; 64];
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
        if text.len() != 128 {
            return None;
        }
        for (byte, pair) in out.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Digest(out))
    }
}

impl fmt::Display for Digest {
    /// Prints it in upper case, as servers do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(deserializer)?;
        Digest::read(&text).ok_or_else(|| serde::de::Error::custom("expected 128 hexadecimal digits"))
    }
}

/// The documents of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The address of the server, without credentials.
    pub server: String,
    /// The list of OpenAPI v3 documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Kept>,
    /// OpenAPI v3 documents by path (`apis/apps/v1`).
    pub documents: BTreeMap<String, Kept>,
    /// Whether the documents were converted, because the server has only OpenAPI v2.
    pub converted: bool,
    /// Discovery documents by path (`/apis`).
    pub discovery: BTreeMap<String, Kept>,
    /// CustomResourceDefinitions by name; the tag is uid and resource version.
    #[serde(default)]
    pub definitions: BTreeMap<String, Kept>,
    /// The OpenAPI v2 document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v2: Option<Kept>,
}

/// A document of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The server's name for this version of the document: the hash of the index, or the ETag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The document.
    pub digest: Digest,
}

/// The format version of records that this version writes and reads.
const FORM: u32 = 1;

/// A record in its file.
#[derive(Serialize, Deserialize)]
struct Stored<R> {
    form: u32,
    record: R,
}

/// Why a folder is not a cache.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// It cannot be created or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Others can write to it.
    #[error("{} can be written by other users; expected a folder of your own with mode 0700", .0.display())]
    Shared(PathBuf),
    /// It contains something else.
    #[error("{} is no cache: it has files and no {TAG}; name an empty folder", .0.display())]
    Foreign(PathBuf),
}

/// Statistics of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Documents.
    pub documents: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// Clusters.
    pub clusters: usize,
    /// Temporary files of writers, finished or not.
    pub unfinished: usize,
}

/// The deleted entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Documents and records of clusters.
    pub entries: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// Whether another process is compacting the cache, so nothing was done.
    pub is_busy: bool,
}

/// The result of a verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Intact entries.
    pub whole: usize,
    /// Entries that were damaged, and deleted.
    pub damaged: usize,
}

/// A cache in a folder. Clones share it.
///
/// # Example
/// ```
/// use kubeshape_client::cache::{Bounds, Cache};
///
/// let folder = tempfile::tempdir()?;
/// let cache = Cache::open(folder.path().join("cache"), Bounds::default())?;
/// let digest = cache.put(b"{}")?;
/// assert_eq!(cache.get(digest).as_deref(), Some(&b"{}"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Cache {
    folder: PathBuf,
    bounds: Bounds,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    /// Bytes written since the last compaction. An entry is counted with at least its share of the bounds.
    written: Arc<AtomicU64>,
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("folder", &self.folder).field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

/// An entry of the folder.
struct Entry {
    path: PathBuf,
    used: SystemTime,
    bytes: u64,
}

impl Cache {
    /// Opens the cache in a folder, which is created with mode 0700 if it does not exist. The folder may be read-only:
    /// then the cache is only read, and [`put`](Cache::put) fails.
    ///
    /// # Errors
    /// - [`CacheError::Io`]: the folder cannot be created or read.
    /// - [`CacheError::Shared`]: another user owns it or can write to it.
    /// - [`CacheError::Foreign`]: it contains files, and is not a cache.
    pub fn open(folder: impl Into<PathBuf>, bounds: Bounds) -> Result<Cache, CacheError> {
        let folder = folder.into();
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| CacheError::Io { path, source }
        };
        make_folder(&folder).map_err(io(&folder))?;
        let metadata = fs::metadata(&folder).map_err(io(&folder))?;
        if !is_own(&metadata) {
            return Err(CacheError::Shared(folder));
        }
        let tag = folder.join(TAG);
        if fs::symlink_metadata(&tag).is_err() {
            // A cache without its tag has its folders; anything else is not from this cache.
            let mut names =
                fs::read_dir(&folder).map_err(io(&folder))?.filter_map(Result::ok).map(|entry| entry.file_name());
            let own = [DOCUMENTS, CLUSTERS, NEW, LOCK, TAG];
            if names.any(|name| !own.iter().any(|own| name == *own)) {
                return Err(CacheError::Foreign(folder));
            }
            // A read-only cache without a tag is accepted.
            let _ = fs::write(&tag, TAG_TEXT);
        }
        // The first write compacts, so that the small writes of many short programs do not add up.
        let written = Arc::new(AtomicU64::new(bounds.bytes / 8));
        Ok(Cache { folder, bounds, clock: Arc::new(SystemTime::now), written })
    }

    /// Returns the same cache with another clock, for tests.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Cache {
        Cache { clock: Arc::new(clock), ..self }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its bounds.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Returns whether a document exists. It may be damaged.
    pub fn has(&self, digest: Digest) -> bool {
        let path = self.document(digest);
        let found = open(&path);
        if let Some((_, metadata)) = &found {
            self.touch(&path, metadata);
        }
        found.is_some()
    }

    /// Returns a document. A damaged one is deleted, and `None` is returned.
    pub fn get(&self, digest: Digest) -> Option<Vec<u8>> {
        let path = self.document(digest);
        let (file, metadata) = open(&path)?;
        // If a document was replaced by an endless file, it is not read to its end.
        let bytes = read(file, self.bounds.bytes)?;
        if Digest::of(&bytes) != digest {
            let _ = fs::remove_file(&path);
            return None;
        }
        self.touch(&path, &metadata);
        Some(bytes)
    }

    /// Adds a document.
    ///
    /// # Errors
    /// The folder cannot be written, or the disk is full. The cache is unchanged.
    pub fn put(&self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(bytes);
        let path = self.document(digest);
        match open(&path) {
            Some((_, metadata)) if metadata.len() == bytes.len() as u64 => self.touch(&path, &metadata),
            _ => self.write(&path, bytes)?,
        }
        Ok(digest)
    }

    /// Returns the known documents of a cluster. `cluster` is any string that identifies it.
    pub fn record(&self, cluster: &str) -> Option<Record> {
        let path = self.cluster(cluster);
        let (file, metadata) = open(&path)?;
        let bytes = read(file, RECORD)?;
        let record = record_of(&bytes);
        match record {
            Some(_) => self.touch(&path, &metadata),
            None => drop(fs::remove_file(&path)),
        }
        record
    }

    /// Replaces the record of a cluster.
    ///
    /// # Errors
    /// The folder cannot be written, or the disk is full. The cache is unchanged.
    pub fn set_record(&self, cluster: &str, record: &Record) -> io::Result<()> {
        let json = serde_json::to_string(&Stored { form: FORM, record })?;
        let text = format!("{}\n{json}\n", Digest::of(json.as_bytes()));
        self.write(&self.cluster(cluster), text.as_bytes())
    }

    /// Deletes the least recently used entries until the cache is within its bounds, and the remains of programs that
    /// were killed.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn compact(&self) -> io::Result<Compacted> {
        let Some(_lock) = self.lock()? else { return Ok(Compacted { is_busy: true, ..Compacted::default() }) };
        self.written.store(0, Ordering::Relaxed);
        let now = (self.clock)();
        for entry in entries(&self.folder.join(NEW), now)? {
            if age(now, entry.used) > WRITING {
                remove(&entry.path)?;
            }
        }
        let mut all = entries(&self.folder.join(CLUSTERS), now)?;
        for folder in folders(&self.folder.join(DOCUMENTS))? {
            all.append(&mut entries(&folder, now)?);
        }
        let mut compacted = Compacted::default();
        // The newest first, and by name if they have the same age.
        all.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.path.cmp(&b.path)));
        let (mut bytes, mut count) = (0, 0);
        for entry in all {
            let is_kept = bytes + entry.bytes <= self.bounds.bytes
                && count < self.bounds.entries
                && age(now, entry.used) <= self.bounds.unused;
            if is_kept {
                (bytes, count) = (bytes + entry.bytes, count + 1);
            } else {
                remove(&entry.path)?;
                compacted.entries += 1;
                compacted.bytes += entry.bytes;
            }
        }
        Ok(compacted)
    }

    /// Deletes everything.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn clear(&self) -> io::Result<Compacted> {
        let Some(_lock) = self.lock()? else { return Ok(Compacted { is_busy: true, ..Compacted::default() }) };
        let mut compacted = Compacted::default();
        for entry in self.everything()? {
            remove(&entry.path)?;
            compacted.entries += 1;
            compacted.bytes += entry.bytes;
        }
        Ok(compacted)
    }

    /// Returns statistics of the cache.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn stat(&self) -> io::Result<Stat> {
        let now = (self.clock)();
        let mut stat = Stat {
            clusters: entries(&self.folder.join(CLUSTERS), now)?.len(),
            unfinished: entries(&self.folder.join(NEW), now)?.len(),
            ..Stat::default()
        };
        for folder in folders(&self.folder.join(DOCUMENTS))? {
            let documents = entries(&folder, now)?;
            stat.documents += documents.len();
            stat.bytes += documents.iter().map(|entry| entry.bytes).sum::<u64>();
        }
        Ok(stat)
    }

    /// Reads every entry, and deletes damaged ones.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn verify(&self) -> io::Result<Verified> {
        let now = (self.clock)();
        let mut verified = Verified::default();
        let mut count = |is_whole: bool, path: &Path| -> io::Result<()> {
            if is_whole {
                verified.whole += 1;
            } else if path.exists() {
                remove(path)?;
                verified.damaged += 1;
            }
            Ok(())
        };
        for folder in folders(&self.folder.join(DOCUMENTS))? {
            for entry in entries(&folder, now)? {
                let digest = entry.path.file_name().and_then(|name| Digest::read(name.to_str()?));
                let bytes = open(&entry.path).and_then(|(file, metadata)| read(file, metadata.len()));
                count(
                    digest.is_some_and(|digest| bytes.is_some_and(|bytes| Digest::of(&bytes) == digest)),
                    &entry.path,
                )?;
            }
        }
        for entry in entries(&self.folder.join(CLUSTERS), now)? {
            let bytes = open(&entry.path).and_then(|(file, _)| read(file, RECORD));
            count(bytes.is_some_and(|bytes| record_of(&bytes).is_some()), &entry.path)?;
        }
        Ok(verified)
    }

    fn everything(&self) -> io::Result<Vec<Entry>> {
        let now = (self.clock)();
        let mut all = entries(&self.folder.join(NEW), now)?;
        all.append(&mut entries(&self.folder.join(CLUSTERS), now)?);
        for folder in folders(&self.folder.join(DOCUMENTS))? {
            all.append(&mut entries(&folder, now)?);
        }
        Ok(all)
    }

    fn document(&self, digest: Digest) -> PathBuf {
        let name = digest.to_string();
        self.folder.join(DOCUMENTS).join(name[..2].to_ascii_lowercase()).join(name)
    }

    fn cluster(&self, cluster: &str) -> PathBuf {
        let mut name = Digest::of(cluster.as_bytes()).to_string();
        name.truncate(64);
        self.folder.join(CLUSTERS).join(name + ".json")
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let new = self.folder.join(NEW);
        make_folder(&new)?;
        // The name is random, the mode is 0600, and no link is followed.
        let mut file = tempfile::NamedTempFile::new_in(&new)?;
        file.write_all(bytes)?;
        file.as_file().set_modified((self.clock)())?;
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        file.persist(path).map_err(|error| error.error)?;
        let share = self.bounds.bytes / (self.bounds.entries as u64).max(1);
        let size = (bytes.len() as u64).max(share).max(1);
        let written = self.written.fetch_add(size, Ordering::Relaxed) + size;
        if written > self.bounds.bytes / 8 {
            self.compact()?;
        }
        Ok(())
    }

    /// Records the use of an entry.
    fn touch(&self, path: &Path, metadata: &fs::Metadata) {
        let now = (self.clock)();
        let is_recent = metadata.modified().is_ok_and(|used| used <= now && age(now, used) < EXACT);
        if !is_recent && let Ok(file) = File::options().append(true).open(path) {
            // A read-only cache cannot record it.
            let _ = file.set_modified(now);
        }
    }

    /// Locks compaction; `None` if another process holds the lock.
    fn lock(&self) -> io::Result<Option<File>> {
        let mut options = File::options();
        options.read(true).append(true).create(true);
        private(&mut options);
        let file = options.open(self.folder.join(LOCK))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Parses a record: a line with the digest of the rest, and JSON. Returns `None` if it is damaged, or of another
/// format.
///
/// # Example
/// ```
/// assert_eq!(kubeshape_client::cache::record_of(b"no record"), None);
/// ```
pub fn record_of(bytes: &[u8]) -> Option<Record> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (digest, json) = text.split_once('\n')?;
    let json = json.strip_suffix('\n')?;
    if Digest::read(digest)? != Digest::of(json.as_bytes()) {
        return None;
    }
    let stored: Stored<Record> = serde_json::from_str(json).ok()?;
    (stored.form == FORM).then_some(stored.record)
}

/// Returns the age of something. The age of a time in the future is zero.
fn age(now: SystemTime, then: SystemTime) -> Duration {
    now.duration_since(then).unwrap_or_default()
}

/// Returns the files of a folder; empty if there is no folder. A time of use in the future is corrected, because
/// otherwise the entry would outlive all others.
fn entries(folder: &Path, now: SystemTime) -> io::Result<Vec<Entry>> {
    let mut out = Vec::new();
    for entry in list(folder)? {
        let Ok(metadata) = entry.metadata() else { continue };
        let path = entry.path();
        let mut used = metadata.modified().unwrap_or(now);
        if used > now {
            used = now;
            if metadata.is_file() {
                let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(now));
            }
        }
        if !metadata.is_dir() {
            out.push(Entry { path, used, bytes: metadata.len() });
        }
    }
    Ok(out)
}

fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let all = list(folder)?.into_iter();
    Ok(all.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect())
}

fn list(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        // Another process may delete listed files.
        Ok(entries) => Ok(entries.filter_map(Result::ok).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        // Another process was quicker.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Opens a regular file. Links are not followed, and pipes do not block.
fn open(path: &Path) -> Option<(File, fs::Metadata)> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path).ok()?;
    let metadata = file.metadata().ok()?;
    metadata.is_file().then_some((file, metadata))
}

fn read(file: File, limit: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(file.metadata().ok()?.len().min(limit) as usize + 1);
    file.take(limit + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= limit).then_some(bytes)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

fn private(options: &mut fs::OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// Returns whether a folder is ours, and no other user can write to it.
fn is_own(metadata: &fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let uid = rustix::process::geteuid().as_raw();
        (metadata.uid() == uid || uid == 0) && metadata.mode() & 0o022 == 0
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        true
    }
}
