//! The input files of the server, and which of them changed.

use crate::error::describe;
use crate::input::{Filter, Gathered, Input, Reader, Source, gather, open_file};
use bytes::Bytes;
use kubeshape_input::{Code, Finding, Limits};
use kubeshape_server::Change;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The last known state of a file.
#[derive(Debug)]
struct FileState {
    name: Arc<str>,
    /// `None` if it could not be read, or was not checked yet.
    stamp: Option<Stamp>,
    /// Whether a change may turn it into a template.
    in_chart: bool,
    /// Whether it is read only once: standard input, or a pipe or device of the command line.
    once: bool,
}

/// Metadata that changes whenever the content does. It may also change without the content, so contents are compared
/// afterwards.
type Stamp = (u64, u64, u64, i64, i64, i64, i64);

/// The files of the command line.
#[derive(Debug)]
pub(super) struct Inputs {
    arguments: Vec<PathBuf>,
    filter: Filter,
    /// Findings about skipped files.
    passed_over: Vec<Finding>,
    /// By canonical path.
    files: BTreeMap<PathBuf, FileState>,
    /// Files and folders that cannot be read, with the reason.
    unreadable: BTreeMap<Arc<str>, Finding>,
    reader: Reader,
    places: Places,
    /// Whether all inputs were checked before.
    began: bool,
}

/// The places to watch for changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Folders to watch.
    pub(super) watched: BTreeSet<PathBuf>,
    /// The folders among them that are searched for files.
    searched: BTreeSet<PathBuf>,
    /// Paths that always matter: files, links on the way to them, and folders of the command line.
    names: BTreeSet<PathBuf>,
    filter: Filter,
}

/// Files that changed.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) changes: Vec<Change>,
    /// Files that were readable before and are not readable now, with the reason.
    pub(super) unreadable: Vec<Finding>,
    /// Whether all files were searched for, so that the places to watch may have changed.
    pub(super) is_whole: bool,
    /// Files that do not exist any more but do not count as deleted, with the reason.
    pub(super) vanished: Vec<Finding>,
    /// New findings about skipped files.
    pub(super) passed_over: Vec<Finding>,
}

impl Inputs {
    pub(super) fn new(arguments: Vec<PathBuf>, filter: Filter) -> Inputs {
        Inputs {
            arguments,
            filter,
            passed_over: Vec::new(),
            files: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            reader: Reader::default(),
            places: Places::default(),
            began: false,
        }
    }

    /// Returns the places to watch.
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// Returns the files that are not readable now.
    pub(super) fn unreadable(&self) -> impl Iterator<Item = &Finding> {
        self.unreadable.values()
    }

    /// Returns the number of files.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Reads those of the paths that are known files and readable now, and removes them from `paths`.
    pub(super) fn early(&mut self, paths: &mut BTreeSet<PathBuf>) -> Vec<(PathBuf, Change)> {
        let mut changes = Vec::new();
        paths.retain(|path| {
            let Some(known) = self.files.get_mut(path).filter(|known| !known.in_chart && !known.once) else {
                return true;
            };
            let Ok(metadata) = fs::symlink_metadata(path) else { return true };
            if !metadata.is_file() {
                return true;
            }
            let Ok(Some(bytes)) = self.reader.read_file(path, &Limits::default()) else { return true };
            known.stamp = stamp(&metadata);
            let change = Change { name: Arc::clone(&known.name), content: Some(Bytes::copy_from_slice(bytes)) };
            self.reader.shrink();
            self.unreadable.remove(&change.name);
            changes.push((path.clone(), change));
            false
        });
        changes
    }

    /// Forgets the metadata, so that every file is read the next time.
    pub(super) fn forget(&mut self) {
        self.files.values_mut().for_each(|known| known.stamp = None);
    }

    /// Checks only these paths, which the system reports, if that is enough to find all changes. Otherwise checks
    /// everything.
    pub(super) fn rescan(&mut self, paths: &BTreeSet<PathBuf>) -> Scan {
        let is_file = |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
        let relevant: BTreeSet<PathBuf> = paths.iter().filter(|path| self.places.concern(path)).cloned().collect();
        let stays = |path: &PathBuf| self.files.get(path).is_some_and(|known| !known.in_chart) && is_file(path);
        if !relevant.iter().all(stays) {
            return self.scan(&relevant);
        }
        let mut scan = Scan::default();
        for path in relevant {
            self.read(&path, true, &mut scan);
        }
        scan
    }

    /// Checks everything. A file with unchanged metadata is read only if it is in `changed`.
    pub(super) fn scan(&mut self, changed: &BTreeSet<PathBuf>) -> Scan {
        let Gathered { inputs, unreadable, findings, folders, followed, roots: _ } =
            gather(&self.arguments, None, &self.filter);
        let mut scan = Scan { is_whole: true, ..Scan::default() };
        self.places = Places::new(&self.arguments, &inputs, folders, &followed, &self.filter);
        scan.passed_over.extend(findings.iter().filter(|finding| !self.passed_over.contains(finding)).cloned());
        self.passed_over = findings;

        let gone: BTreeMap<Arc<str>, String> =
            unreadable.into_iter().map(|(path, why)| (path.to_string_lossy().into(), why)).collect();
        // If an argument cannot be read now, its files stay, because it may be about to be replaced.
        let kept = |path: &str| gone.keys().any(|root| Path::new(path).starts_with(&**root));
        let path = |input: &Input| {
            if input.source == Source::Stdin { PathBuf::from("-") } else { input.canonical.clone() }
        };
        let found: BTreeMap<PathBuf, Arc<str>> =
            inputs.iter().map(|input| (path(input), Arc::from(input.name()))).collect();
        let in_charts: BTreeSet<PathBuf> = inputs.iter().filter(|input| input.in_chart).map(path).collect();
        let mut removed = Vec::new();
        self.files.retain(|path, known| {
            let stays = found.get(path) == Some(&known.name) || (!found.contains_key(path) && kept(&known.name));
            if !stays {
                removed.push(Arc::clone(&known.name));
            }
            stays
        });
        self.unreadable.retain(|name, _| found.values().any(|found| found == name) || gone.contains_key(name));
        for (name, why) in gone {
            let finding = Finding::new(Code::Unreadable, why).in_input(Arc::clone(&name));
            self.unreadable_now(name, finding, &mut scan);
        }
        let mut present = BTreeSet::new();
        for (path, name) in found {
            present.insert(Arc::clone(&name));
            let is_changed = changed.contains(&path);
            let in_chart = in_charts.contains(&path);
            let new = FileState { name, stamp: None, in_chart, once: false };
            self.files.entry(path.clone()).or_insert(new).in_chart = in_chart;
            self.read(&path, is_changed, &mut scan);
        }
        // If a link has a new target, its file has a new path and the same name, so it was not removed.
        for name in removed.into_iter().filter(|name| !present.contains(name)) {
            match vanished(Path::new(&*name)) {
                Some(why) => scan.vanished.push(Finding::new(Code::Unreadable, why).in_input(name)),
                None => scan.changes.push(Change { name, content: None }),
            }
        }
        self.began = true;
        scan
    }

    /// Reads a file if its metadata changed, or in any case if `always` is set.
    fn read(&mut self, path: &Path, always: bool, scan: &mut Scan) {
        let Some(known) = self.files.get_mut(path) else { return };
        let is_stdin = path == Path::new("-");
        let metadata = if is_stdin { None } else { fs::metadata(path).ok() };
        let is_file = metadata.as_ref().is_none_or(Metadata::is_file) && !is_stdin;
        let now = metadata.as_ref().and_then(stamp);
        if known.once || (!always && known.stamp.is_some() && known.stamp == now) {
            return;
        }
        if !is_file && self.began {
            // Reading a pipe would wait for its writer.
            known.stamp = None;
            let name = Arc::clone(&known.name);
            let finding = Finding::new(Code::Unreadable, NO_FILE).in_input(Arc::clone(&name));
            return self.unreadable_now(name, finding, scan);
        }
        known.once = !is_file;
        let source = if is_stdin { Source::Stdin } else { Source::File(path.to_owned()) };
        let input = Input { source, canonical: path.to_owned(), named: true, in_chart: known.in_chart };
        let name = Arc::clone(&known.name);
        let read = if is_file && self.began {
            self.reader.read_file(path, &Limits::default())
        } else {
            self.reader.read(&input, &Limits::default()).map(Some)
        };
        match read {
            Ok(Some(bytes)) => {
                known.stamp = now;
                self.unreadable.remove(&name);
                scan.changes.push(Change { name, content: Some(Bytes::copy_from_slice(bytes)) });
                self.reader.shrink();
            }
            // It became one after its metadata was read.
            Ok(None) => {
                known.stamp = None;
                let finding = Finding::new(Code::Unreadable, NO_FILE).in_input(Arc::clone(&name));
                self.unreadable_now(name, finding, scan);
            }
            Err(finding) => {
                known.stamp = None;
                self.unreadable_now(Arc::clone(&name), finding.in_input(name), scan);
            }
        }
    }

    fn unreadable_now(&mut self, name: Arc<str>, finding: Finding, scan: &mut Scan) {
        if self.unreadable.get(&name) != Some(&finding) {
            scan.unreadable.push(finding.clone());
            self.unreadable.insert(name, finding);
        }
    }
}

/// Why something that exists is not read.
const NO_FILE: &str = "found a pipe, device or folder, expected a file";

/// Returns why a missing file does not count as deleted. Returns `None` if it does: if its folder exists and has
/// nothing of this name, or has a file that is now skipped.
pub(super) fn vanished(path: &Path) -> Option<&'static str> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !fs::metadata(folder).is_ok_and(|metadata| metadata.is_dir()) {
        return Some("its folder is gone");
    }
    let is_there = fs::symlink_metadata(path).is_ok();
    (is_there && !fs::metadata(path).is_ok_and(|metadata| metadata.is_file())).then_some(NO_FILE)
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)] // Elsewhere there is no error.
fn stamp(metadata: &Metadata) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt;
    Some((
        metadata.dev(),
        metadata.ino(),
        metadata.size(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ))
}

#[cfg(not(unix))]
fn stamp(_: &Metadata) -> Option<Stamp> {
    None
}

impl Places {
    fn new(
        arguments: &[PathBuf],
        inputs: &[Input],
        folders: BTreeSet<PathBuf>,
        followed: &[PathBuf],
        filter: &Filter,
    ) -> Places {
        let (searched, names) = (folders.clone(), BTreeSet::new());
        let mut places = Places { watched: folders, searched, names, filter: filter.clone() };
        for path in arguments.iter().filter(|path| path.as_os_str() != "-") {
            places.trail(path, 0);
        }
        for path in followed {
            places.trail(path, 0);
        }
        for input in inputs.iter().filter(|input| input.source != Source::Stdin) {
            places.watched.extend(input.canonical.parent().map(Path::to_owned));
            places.names.insert(input.canonical.clone());
        }
        places
    }

    /// Returns places where only these paths matter.
    #[cfg(test)]
    pub(super) fn of_files(names: &[&str]) -> Places {
        Places { names: names.iter().map(PathBuf::from).collect(), ..Places::default() }
    }

    /// Adds files that are not inputs.
    pub(super) fn with(mut self, paths: &[PathBuf]) -> Places {
        for path in paths {
            self.trail(path, 0);
        }
        self
    }

    /// Adds a path and every link on the way to it, with the folders that they are in. If the path does not exist, adds
    /// the part of the way that does.
    fn trail(&mut self, path: &Path, depth: usize) {
        /// The number of links that Linux follows.
        const LINKS: usize = 40;
        let Ok(path) = std::path::absolute(path) else { return };
        let mut way = PathBuf::new();
        let mut parts = path.components();
        while let Some(part) = parts.next() {
            let parent = way.clone();
            way.push(part);
            let Ok(metadata) = fs::symlink_metadata(&way) else {
                self.note(&parent, &way);
                return;
            };
            if metadata.is_symlink() && depth < LINKS {
                self.note(&parent, &way);
                if let Ok(target) = fs::read_link(&way) {
                    self.trail(&parent.join(target).join(parts.as_path()), depth + 1);
                }
                return;
            }
        }
        if let Some(parent) = way.parent() {
            self.note(parent, &way);
        }
    }

    fn note(&mut self, parent: &Path, path: &Path) {
        // The system reports paths below the watched folder.
        let Ok(parent) = parent.canonicalize() else { return };
        if let Some(name) = path.file_name() {
            self.names.insert(parent.join(name));
        }
        self.watched.insert(parent);
    }

    /// Returns whether a change at this path may change what is served.
    pub(super) fn concern(&self, path: &Path) -> bool {
        self.concern_kind(path, || fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()))
    }

    /// Returns the same as [`Places::concern`], for a path that is known to be a file. This makes no system call.
    pub(super) fn concern_file(&self, path: &Path) -> bool {
        self.concern_kind(path, || false)
    }

    fn concern_kind(&self, path: &Path, is_no_file: impl Fn() -> bool) -> bool {
        let on_the_way = |names: &BTreeSet<PathBuf>| {
            names
                .range::<Path, _>((Bound::Included(path), Bound::Unbounded))
                .next()
                .is_some_and(|name| name.starts_with(path))
        };
        if on_the_way(&self.names) || on_the_way(&self.searched) {
            return true;
        }
        // In a folder, new files, folders and links matter, but temporary files of editors do not.
        path.parent().is_some_and(|parent| self.searched.contains(parent))
            && (self.filter.may_matter(path) || is_no_file())
    }
}

/// The maximum size of a file that is not an input, in bytes.
pub(super) const LARGEST: u64 = 16 << 20;

/// Reads a file that is not an input. `again` says that it was read before, when it may have been a pipe.
///
/// # Errors
/// The reason why the file cannot be read.
pub(super) fn read(path: &Path, again: bool) -> Result<Vec<u8>, String> {
    let all = || {
        let file = if again { open_file(path)?.map(|(file, _)| file) } else { Some(fs::File::open(path)?) };
        let Some(file) = file else { return Ok(Err(NO_FILE.to_owned())) };
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes)?;
        Ok(if bytes.len() as u64 > LARGEST { Err(format!("it has more than {LARGEST} bytes")) } else { Ok(bytes) })
    };
    all().map_err(|error: std::io::Error| describe(&error))?
}
