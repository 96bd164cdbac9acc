use kubeshape_client::cache::{Bounds, Cache, CacheError, Digest, Record, Stat, record_of};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_hours(24);

fn open(folder: &Path, bounds: Bounds) -> Cache {
    Cache::open(folder.join("cache"), bounds).expect("a cache")
}

/// Returns a cache whose clock a test sets, in seconds.
fn clocked(folder: &Path, bounds: Bounds) -> (Cache, Arc<AtomicU64>) {
    let seconds = Arc::new(AtomicU64::new(2_000_000_000));
    let own = Arc::clone(&seconds);
    let clock = move || SystemTime::UNIX_EPOCH + Duration::from_secs(own.load(Ordering::Relaxed));
    (open(folder, bounds).with_clock(clock), seconds)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { out.append(&mut files(&path)) } else { out.push(path) }
    }
    out.sort();
    out
}

fn document(folder: &Path) -> PathBuf {
    files(&folder.join("cache/documents")).pop().expect("a document")
}

#[test]
fn a_damaged_entry_is_missing_and_can_be_added_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = open(folder.path(), Bounds::default());
    let text = br#"{"openapi":"3.0.0"}"#;
    let digest = cache.put(text).expect("written");
    for at in 0..text.len() {
        let path = document(folder.path());
        let mut bytes = fs::read(&path).expect("read");
        bytes[at] ^= 1;
        fs::write(&path, bytes).expect("written");
        assert_eq!(cache.get(digest), None, "byte {at}");
        assert!(!path.exists(), "it is gone");
        cache.put(text).expect("written");
        assert_eq!(cache.get(digest).as_deref(), Some(&text[..]));
    }
    for length in 0..text.len() {
        fs::write(document(folder.path()), &text[..length]).expect("written");
        assert_eq!(cache.get(digest), None, "{length} bytes");
        cache.put(text).expect("written");
    }
    // A truncated file is written again although it was not read.
    fs::write(document(folder.path()), "").expect("written");
    cache.put(text).expect("written");
    assert_eq!(cache.get(digest).as_deref(), Some(&text[..]));
    assert_eq!(cache.verify().expect("a cache").damaged, 0);
    fs::write(document(folder.path()), "x").expect("written");
    let verified = cache.verify().expect("a cache");
    assert_eq!((verified.whole, verified.damaged), (0, 1));
}

#[cfg(unix)]
#[test]
fn links_pipes_and_folders_in_the_place_of_a_document_are_not_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = open(folder.path(), Bounds::default());
    let digest = cache.put(b"{}").expect("written");
    let (path, elsewhere) = (document(folder.path()), folder.path().join("elsewhere"));
    fs::write(&elsewhere, "{}").expect("written");
    fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink(&elsewhere, &path).expect("a link");
    assert_eq!(cache.get(digest), None, "a link, though it leads to the same text");
    cache.put(b"{}").expect("written");
    assert_eq!(fs::read(&elsewhere).expect("read"), b"{}", "nothing is written through a link");
    assert!(fs::symlink_metadata(&path).expect("there").is_file());
    fs::remove_file(&path).expect("removed");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("run").success());
    assert_eq!(cache.get(digest), None, "a pipe is not waited for");
    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("a folder");
    assert_eq!(cache.get(digest), None);
    assert!(cache.put(b"{}").is_err());
    cache.compact().expect("a cache");
    // The lock must not follow links either.
    let lock = folder.path().join("cache/lock");
    fs::remove_file(&lock).expect("removed");
    std::os::unix::fs::symlink(&elsewhere, &lock).expect("a link");
    assert!(cache.compact().is_err());
}

#[cfg(unix)]
#[test]
fn files_are_private_and_a_folder_of_others_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let cache = open(folder.path(), Bounds::default());
    cache.put(b"{}").expect("written");
    cache.set_record("c", &Record::default()).expect("written");
    cache.compact().expect("a cache");
    for path in files(&folder.path().join("cache")) {
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        let is_tag = path.ends_with("CACHEDIR.TAG");
        assert!(mode.trailing_zeros() >= 6 || is_tag, "{} {mode:o}", path.display());
    }
    assert_eq!(fs::metadata(cache.folder()).expect("there").permissions().mode() & 0o777, 0o700);
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).expect("a folder");
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).expect("set");
    assert!(matches!(Cache::open(&shared, Bounds::default()), Err(CacheError::Shared(_))));
    let foreign = folder.path().join("foreign");
    fs::create_dir(&foreign).expect("a folder");
    fs::write(foreign.join("thesis.txt"), "").expect("written");
    assert!(matches!(Cache::open(&foreign, Bounds::default()), Err(CacheError::Foreign(_))));
    assert_eq!(files(&foreign).len(), 1, "nothing was added");
    assert!(matches!(Cache::open(foreign.join("thesis.txt"), Bounds::default()), Err(CacheError::Io { .. })));
}

#[test]
fn the_cache_stays_within_its_bounds() {
    let folder = tempfile::tempdir().expect("a folder");
    let bounds = Bounds { bytes: 8000, ..Bounds::default() };
    let (cache, clock) = clocked(folder.path(), bounds);
    let mut last = Digest::of(b"");
    for n in 0..500 {
        clock.fetch_add(10, Ordering::Relaxed);
        last = cache.put(format!("{n:0100}").as_bytes()).expect("written");
        let size = cache.stat().expect("a cache").bytes;
        assert!(size <= 8000 + 8000 / 8 + 100, "{size} bytes after {n}");
    }
    assert!(cache.get(last).is_some());
    cache.compact().expect("a cache");
    assert!(cache.stat().expect("a cache").bytes <= 8000);
    assert!(cache.get(Digest::of(format!("{:0100}", 0).as_bytes())).is_none(), "the oldest went first");
    let few = Cache::open(cache.folder(), Bounds { entries: 3, ..Bounds::default() }).expect("a cache");
    few.compact().expect("a cache");
    assert_eq!(few.stat().expect("a cache").documents, 3);
}

#[test]
fn small_writes_of_many_programs_do_not_add_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let bounds = Bounds { bytes: 8000, ..Bounds::default() };
    for n in 0..200 {
        open(folder.path(), bounds).put(format!("{n:0100}").as_bytes()).expect("written");
    }
    let size = open(folder.path(), bounds).stat().expect("a cache").bytes;
    assert!(size <= 8000 + 100, "{size} bytes");
    let few = Bounds { entries: 40, ..Bounds::default() };
    let cache = open(folder.path(), few);
    for n in 0..200 {
        cache.put(format!("few {n}").as_bytes()).expect("written");
        let count = cache.stat().expect("a cache").documents;
        assert!(count <= 40 + 40 / 8 + 1, "{count} after {n}");
    }
}

#[test]
fn used_entries_stay_and_unused_ones_are_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, clock) = clocked(folder.path(), Bounds::default());
    let (used, unused) = (cache.put(b"used").expect("written"), cache.put(b"unused").expect("written"));
    cache.set_record("c", &Record::default()).expect("written");
    for _ in 0..40 {
        clock.fetch_add(DAY.as_secs(), Ordering::Relaxed);
        assert!(cache.get(used).is_some());
        cache.compact().expect("a cache");
    }
    assert!(cache.get(unused).is_none());
    assert!(cache.record("c").is_none());
}

#[test]
fn a_clock_that_jumps_neither_empties_the_cache_nor_fills_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, clock) = clocked(folder.path(), Bounds { bytes: 2000, ..Bounds::default() });
    let now = clock.load(Ordering::Relaxed);
    clock.store(now + 3000 * DAY.as_secs(), Ordering::Relaxed);
    let of_future = cache.put(&[b'f'; 900]).expect("written");
    clock.store(now, Ordering::Relaxed);
    cache.compact().expect("a cache");
    assert!(cache.get(of_future).is_some(), "it is new");
    // An entry from the future is corrected, and deleted when newer documents need its room.
    clock.fetch_add(DAY.as_secs(), Ordering::Relaxed);
    cache.put(&[b'a'; 900]).expect("written");
    cache.put(&[b'b'; 900]).expect("written");
    cache.compact().expect("a cache");
    assert!(cache.get(of_future).is_none());
    assert!(cache.stat().expect("a cache").bytes <= 2000);
    // Back to the beginning of time.
    clock.store(0, Ordering::Relaxed);
    cache.put(&[b'c'; 900]).expect("written");
    cache.compact().expect("a cache");
    assert!(cache.stat().expect("a cache").bytes <= 2000);
}

#[test]
fn remains_of_killed_programs_are_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, clock) = clocked(folder.path(), Bounds::default());
    cache.put(b"{}").expect("written");
    let left = cache.folder().join("new/.tmpabcdef");
    fs::write(&left, "half").expect("written");
    let file = fs::File::options().append(true).open(&left).expect("there");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::Relaxed))).expect("set");
    cache.compact().expect("a cache");
    assert!(left.exists(), "somebody may be writing it");
    clock.fetch_add(2 * 3600, Ordering::Relaxed);
    cache.compact().expect("a cache");
    assert!(!left.exists());
    assert_eq!(cache.stat().expect("a cache").documents, 1);
}

#[test]
fn sixteen_threads_share_a_cache() {
    let folder = tempfile::tempdir().expect("a folder");
    let bounds = Bounds { bytes: 40_000, ..Bounds::default() };
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let folder = folder.path();
            scope.spawn(move || {
                let cache = open(folder, bounds);
                for n in 0..60 {
                    let text = format!("{:0200}", (thread + n) % 50);
                    let digest = cache.put(text.as_bytes()).expect("written");
                    if let Some(found) = cache.get(digest) {
                        assert_eq!(found, text.as_bytes());
                    }
                    if n % 7 == 0 {
                        let record = Record { server: text, ..Record::default() };
                        cache.set_record("one", &record).expect("written");
                        assert!(cache.record("one").is_none_or(|found| found.server.len() == 200));
                        cache.compact().expect("a cache");
                    }
                }
            });
        }
    });
    let cache = open(folder.path(), bounds);
    assert_eq!(cache.verify().expect("a cache").damaged, 0);
    cache.compact().expect("a cache");
    assert!(cache.stat().expect("a cache").bytes <= 40_000);
    assert!(cache.clear().expect("a cache").entries > 0);
    assert_eq!(cache.stat().expect("a cache"), Stat::default());
}

proptest! {
    #[test]
    fn a_modified_record_is_rejected(at in 0_usize..400, with in any::<u8>()) {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = open(folder.path(), Bounds::default());
        let record = Record { server: "https://10.0.0.7:6443".to_owned(), ..Record::default() };
        cache.set_record("c", &record).expect("written");
        let path = files(&cache.folder().join("clusters")).pop().expect("a record");
        let mut bytes = fs::read(&path).expect("read");
        prop_assert!(record_of(&bytes).is_some());
        let at = at % bytes.len();
        prop_assume!(bytes[at] != with);
        // Digits of the hash may be in either case.
        prop_assume!(!bytes[at].eq_ignore_ascii_case(&with));
        bytes[at] = with;
        prop_assert_eq!(record_of(&bytes), None);
        fs::write(&path, bytes).expect("written");
        prop_assert_eq!(cache.record("c"), None);
        prop_assert!(!path.exists());
    }
}
