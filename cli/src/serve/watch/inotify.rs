//! Changes in folders, reported by inotify.
//!
//! Only events of changes are requested. Reading a file, even by this process, causes no event.

use super::super::event::Change;
use super::Notice;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::{Errno, retry_on_intr};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Events in a folder and about the folder.
const EVENTS: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::MOVE_SELF);

/// Bytes of events that are read at once. One event has at most 272 bytes: its header and a name.
const BUFFER: usize = 16 << 10;

/// A program that replaces a file causes a handful of events within this time. They are read together, and wake this
/// thread once.
const TOGETHER: Duration = Duration::from_micros(500);

/// The watches of this process.
#[derive(Debug)]
pub(super) struct System {
    queue: Arc<OwnedFd>,
    folders: Arc<Mutex<Folders>>,
}

/// The folders that are watched.
#[derive(Debug, Default)]
struct Folders {
    /// The paths of a watched folder. There are several if it is mounted at several places.
    paths: BTreeMap<i32, Vec<PathBuf>>,
    watches: BTreeMap<PathBuf, i32>,
    is_over: bool,
}

impl System {
    /// Starts a thread that calls `tell` with each report.
    ///
    /// # Errors
    /// The system has no room for another queue of events, or for a thread.
    pub(super) fn new(tell: impl FnMut(Notice) + Send + 'static) -> io::Result<System> {
        let queue = Arc::new(inotify::init(CreateFlags::CLOEXEC)?);
        let system = System { queue: Arc::clone(&queue), folders: Arc::default() };
        let folders = Arc::clone(&system.folders);
        std::thread::Builder::new().name("watch".to_owned()).spawn(move || read(&queue, &folders, tell))?;
        Ok(system)
    }

    /// Watches a folder.
    ///
    /// # Errors
    /// It is gone, or there are too many watches.
    pub(super) fn watch(&mut self, folder: &Path) -> io::Result<()> {
        // Locked until its path is known, because events may be read before that.
        let mut folders = lock(&self.folders);
        let watch = inotify::add_watch(&self.queue, folder, EVENTS).map_err(|error| match error {
            Errno::NOSPC => io::Error::other("the limit on watches (fs.inotify.max_user_watches) is reached"),
            error => error.into(),
        })?;
        match folders.watches.insert(folder.to_owned(), watch) {
            Some(before) if before == watch => return Ok(()),
            // Another folder had this path before.
            Some(before) => self.leave(&mut folders, folder, before),
            None => {}
        }
        folders.paths.entry(watch).or_default().push(folder.to_owned());
        Ok(())
    }

    /// Stops watching a folder.
    pub(super) fn unwatch(&mut self, folder: &Path) {
        let mut folders = lock(&self.folders);
        if let Some(watch) = folders.watches.remove(folder) {
            self.leave(&mut folders, folder, watch);
        }
    }

    fn leave(&self, folders: &mut Folders, folder: &Path, watch: i32) {
        let Some(paths) = folders.paths.get_mut(&watch) else { return };
        paths.retain(|path| path != folder);
        if paths.is_empty() {
            folders.paths.remove(&watch);
            // The folder may have been deleted, and its watch with it.
            let _ = inotify::remove_watch(&self.queue, watch);
        }
    }
}

impl Drop for System {
    fn drop(&mut self) {
        lock(&self.folders).is_over = true;
        // The thread waits for an event. The end of a watch is one.
        if let Ok(watch) = inotify::add_watch(&self.queue, "/", WatchFlags::DELETE_SELF | WatchFlags::MASK_ADD) {
            let _ = inotify::remove_watch(&self.queue, watch);
        }
    }
}

fn lock(folders: &Mutex<Folders>) -> MutexGuard<'_, Folders> {
    folders.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads events until the watcher is dropped.
fn read(queue: &OwnedFd, folders: &Mutex<Folders>, mut tell: impl FnMut(Notice)) {
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut reader = inotify::Reader::new(queue, &mut buffer);
    loop {
        let notices = retry_on_intr(|| poll(&mut [PollFd::new(queue, PollFlags::IN)], None)).and_then(|_| {
            std::thread::sleep(TOGETHER);
            notices(&mut reader, folders)
        });
        match notices {
            Ok(Some(notices)) => notices.into_iter().for_each(&mut tell),
            Ok(None) => return,
            Err(error) => return tell(Notice::End(error.into())),
        }
    }
}

/// Returns the reports from the pending events, or from as many as fit into the buffer. Returns `None` if the watcher
/// was dropped.
///
/// # Errors
/// The events cannot be read.
fn notices(reader: &mut inotify::Reader<'_, &OwnedFd>, folders: &Mutex<Folders>) -> Result<Option<Vec<Notice>>, Errno> {
    let (mut changes, mut notices) = (Vec::new(), Vec::new());
    loop {
        let event = match reader.next() {
            Err(Errno::INTR) => continue,
            event => event?,
        };
        let happened = event.events();
        let mut folders = lock(folders);
        if folders.is_over {
            return Ok(None);
        }
        if happened.contains(ReadFlags::QUEUE_OVERFLOW) {
            notices.push(Notice::Missed(None));
        } else if happened.contains(ReadFlags::IGNORED) {
            for path in folders.paths.remove(&event.wd()).unwrap_or_default() {
                folders.watches.remove(&path);
            }
        } else {
            let of = |path: &PathBuf| match event.file_name() {
                Some(name) => path.join(OsStr::from_bytes(name.to_bytes())),
                None => path.clone(),
            };
            let paths = folders.paths.get(&event.wd()).into_iter().flatten();
            changes.extend(paths.map(|path| (of(path), change(happened))));
        }
        if reader.is_buffer_empty() {
            break;
        }
    }
    if !changes.is_empty() {
        notices.push(Notice::Changes(changes));
    }
    Ok(Some(notices))
}

/// Returns what events say about a path.
fn change(happened: ReadFlags) -> Change {
    if happened.contains(ReadFlags::CLOSE_WRITE) {
        Change::Closed
    } else if happened.contains(ReadFlags::MOVED_TO) {
        Change::Named
    } else if happened.contains(ReadFlags::MODIFY) {
        Change::Writing
    } else if happened.contains(ReadFlags::ATTRIB) {
        Change::Other
    } else if happened.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) && !happened.contains(ReadFlags::ISDIR) {
        Change::Gone
    } else {
        // It is new, or it is a folder that was removed.
        Change::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Instant;

    /// Returns all reports until there are none for a while, as file names and changes.
    fn told(receiver: &Receiver<Notice>) -> Vec<(String, Change)> {
        let mut out = Vec::new();
        while let Ok(Notice::Changes(changes)) = receiver.recv_timeout(Duration::from_millis(200)) {
            let name = |path: PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            out.extend(changes.into_iter().map(|(path, change)| (name(path), change)));
        }
        out
    }

    #[test]
    fn changes_are_reported_and_reading_is_not() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("a"), "1")?;
        let (sender, receiver) = channel();
        let mut system = System::new(move |told| _ = sender.send(told))?;
        system.watch(folder.path())?;
        system.watch(folder.path())?;
        for _ in 0..10 {
            fs::read(folder.path().join("a"))?;
            fs::read_dir(folder.path())?.for_each(drop);
        }
        assert_eq!(told(&receiver), []);
        fs::write(folder.path().join("a"), "2")?;
        let of_a = told(&receiver);
        assert_eq!(of_a.last(), Some(&("a".to_owned(), Change::Closed)), "{of_a:?}");
        assert!(of_a.iter().rev().skip(1).all(|(_, change)| *change == Change::Writing), "{of_a:?}");
        fs::rename(folder.path().join("a"), folder.path().join("b"))?;
        assert_eq!(told(&receiver), [("a".to_owned(), Change::Gone), ("b".to_owned(), Change::Named)]);
        fs::remove_file(folder.path().join("b"))?;
        assert_eq!(told(&receiver), [("b".to_owned(), Change::Gone)]);
        system.unwatch(folder.path());
        fs::write(folder.path().join("c"), "3")?;
        assert_eq!(told(&receiver), []);
        Ok(())
    }

    /// However many events there are, `tell` is called at most once in half a millisecond.
    #[test]
    fn a_storm_of_events_gives_few_notices() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let (sender, receiver) = channel();
        let mut system = System::new(move |told| _ = sender.send((Instant::now(), told)))?;
        system.watch(folder.path())?;
        let began = Instant::now();
        for n in 0..2_000 {
            fs::write(folder.path().join(format!("f{n}")), "1")?;
        }
        let (mut closed, mut notices, mut last) = (0, 0_u32, began);
        while closed < 2_000 {
            let (at, told) = receiver.recv_timeout(Duration::from_secs(10)).map_err(io::Error::other)?;
            let Notice::Changes(changes) = told else { panic!("{told:?}") };
            closed += changes.iter().filter(|(_, change)| *change == Change::Closed).count();
            (notices, last) = (notices + 1, at);
        }
        let most = (last - began).as_micros() / TOGETHER.as_micros() + 1;
        assert!(u128::from(notices) <= most, "{notices} notices in {:?}", last - began);
        Ok(())
    }

    #[test]
    fn a_folder_in_the_place_of_another_gets_a_watch_of_its_own() -> io::Result<()> {
        let parent = tempfile::tempdir()?;
        let [folder, away] = ["folder", "away"].map(|name| parent.path().join(name));
        fs::create_dir(&folder)?;
        let (sender, receiver) = channel();
        let mut system = System::new(move |told| _ = sender.send(told))?;
        system.watch(&folder)?;
        fs::rename(&folder, &away)?;
        assert_eq!(told(&receiver), [("folder".to_owned(), Change::Open)]);
        fs::create_dir(&folder)?;
        system.watch(&folder)?;
        fs::write(away.join("a"), "")?;
        assert_eq!(told(&receiver), [], "the old folder has another path");
        fs::remove_dir_all(&folder)?;
        assert_eq!(told(&receiver), [("folder".to_owned(), Change::Open)]);
        assert!(system.watch(&folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound));
        assert!(lock(&system.folders).watches.is_empty());
        Ok(())
    }

    #[test]
    fn the_thread_ends_with_the_watcher() -> io::Result<()> {
        let (sender, receiver) = channel();
        let system = System::new(move |told| _ = sender.send(told))?;
        drop(system);
        let end = receiver.recv_timeout(Duration::from_secs(10));
        assert_eq!(end.err(), Some(std::sync::mpsc::RecvTimeoutError::Disconnected));
        Ok(())
    }
}
