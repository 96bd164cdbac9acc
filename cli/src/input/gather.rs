//! Finds the input files of the command line.

use super::chart::{self, Charts};
use super::filter::{Filter, View};
use super::ignored::{self, IgnoreFiles};
use super::order::by_component;
use super::{Input, Source, archive, build, kustomize, pipe};
use crate::cluster;
use crate::error::{Fatal, describe};
use kubeshape_input::{BuildFile, Code, Finding};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of the command line.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    /// As on the command line.
    pub(crate) path: PathBuf,
    /// Without symbolic links.
    pub(crate) canonical: PathBuf,
}

/// The result of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    /// The inputs, sorted and without duplicates.
    pub(crate) inputs: Vec<Input>,
    /// The folders of the command line.
    pub(crate) roots: Vec<Root>,
    /// Files and folders that cannot be read, sorted, with the reason.
    pub(crate) unreadable: Vec<(PathBuf, String)>,
    /// Findings about skipped files.
    pub(crate) findings: Vec<Finding>,
    /// Canonical paths of the folders that were searched.
    pub(crate) folders: BTreeSet<PathBuf>,
    /// All symbolic links that were found in folders, and the ignore files that were read.
    pub(crate) followed: Vec<PathBuf>,
}

impl Gathered {
    /// Returns a folder of the command line in which nothing was found.
    pub(crate) fn empty_folder(&self) -> Option<&Path> {
        let has = |root: &Root| self.inputs.iter().any(|input| input.canonical.starts_with(&root.canonical));
        self.roots.iter().find(|root| !has(root)).map(|root| root.path.as_path())
    }

    /// Returns the inputs, if all of them can be read and no folder is empty.
    ///
    /// # Errors
    /// Names the first file or folder that cannot be read, or the first folder without documents.
    pub(crate) fn complete(self) -> Result<Vec<Input>, Fatal> {
        if let Some((path, message)) = self.unreadable.first().cloned() {
            return Err(Fatal::Read { path, message });
        }
        if let Some(folder) = self.empty_folder() {
            let message = "found no documents in the folder".to_owned();
            return Err(Fatal::Read { path: folder.to_owned(), message });
        }
        Ok(self.inputs)
    }

    /// Reports skipped files, and unreadable ones.
    pub(crate) fn tell(&self, mut tell: impl FnMut(&Finding)) {
        self.findings.iter().for_each(&mut tell);
        for (path, why) in &self.unreadable {
            tell(&Finding::new(Code::Unreadable, why.as_str()).in_input(path.to_string_lossy()));
        }
    }

    /// Like [`tell`](Self::tell), and reports a folder in which nothing was found; `nothing` is the message.
    pub(crate) fn tell_all(&self, nothing: &str, mut tell: impl FnMut(&Finding)) {
        self.tell(&mut tell);
        if let Some(folder) = self.empty_folder() {
            tell(&Finding::new(Code::Nothing, nothing).in_input(folder.to_string_lossy()));
        }
    }
}

/// Finds all inputs. `outside` is a folder that is not searched: the output folder.
pub(crate) fn gather(arguments: &[PathBuf], outside: Option<&Path>, filter: &Filter) -> Gathered {
    let mut arguments: Vec<&Path> = arguments.iter().map(PathBuf::as_path).collect();
    arguments.sort_by(|a, b| by_component(a, b));
    arguments.dedup();

    let mut walk = Walk {
        outside,
        filter,
        files: BTreeMap::new(),
        folders: BTreeSet::new(),
        unreadable: Vec::new(),
        links: Vec::new(),
        ignored: ignored::Read::default(),
        charts: Charts::default(),
        listed: build::Listed::default(),
    };
    let mut roots = Vec::new();
    let mut stdin = false;
    let mut in_memory = Vec::new();
    let mut passed = Vec::new();
    for path in arguments {
        if path.as_os_str() == "-" {
            stdin = true;
            continue;
        }
        if let Some(context) = cluster::context_of(path) {
            let found = cluster::inputs(context, filter.is_offline());
            in_memory.extend(found.inputs);
            walk.unreadable.extend(found.unreadable);
            continue;
        }
        if let Some(folder) = kustomize::folder_of(path) {
            match kustomize::inputs(folder) {
                Ok(found) => in_memory.extend(found),
                Err(why) => walk.unreadable.push((path.to_owned(), why)),
            }
            continue;
        }
        match pipe::canonical(path).and_then(|canonical| Ok((fs::metadata(&canonical)?, canonical))) {
            Err(error) => walk.unreadable.push((path.to_owned(), describe(&error))),
            Ok((metadata, canonical)) if metadata.is_dir() => {
                roots.push(Root { path: path.to_owned(), canonical: canonical.clone() });
                walk.root(path.to_owned(), canonical);
            }
            Ok((_, canonical)) if archive::is_archive(path) => {
                let view = filter.in_folder(&canonical);
                match archive::inputs(path, &canonical, &view, &mut walk.charts) {
                    Err(why) => walk.unreadable.push((path.to_owned(), why)),
                    Ok(found) => {
                        in_memory.extend(found.inputs);
                        walk.unreadable.extend(found.unreadable);
                        passed.extend(build::finding(&path.to_string_lossy(), found.passed));
                        roots.push(Root { path: path.to_owned(), canonical });
                    }
                }
            }
            Ok((_, canonical)) => walk.file(path.to_owned(), canonical, true),
        }
    }

    let Walk { mut files, folders, mut unreadable, links, ignored, charts, listed, .. } = walk;
    let mut findings = charts.findings(|template| files.contains_key(template));
    findings.extend(ignored.findings);
    findings.extend(passed);
    findings.extend(pass_over(&mut files, &listed, &roots));
    findings.sort_by(|a, b| (&a.input, a.place.map(|at| at.line)).cmp(&(&b.input, b.place.map(|at| at.line))));
    findings.dedup();
    let mut inputs: Vec<Input> = files
        .into_iter()
        .map(|(canonical, (path, named))| {
            let in_chart = !named && chart::around(canonical.parent().unwrap_or(&canonical)).is_some();
            Input { source: Source::File(path), canonical, named, in_chart }
        })
        .collect();
    if stdin {
        inputs.push(Input { source: Source::Stdin, canonical: PathBuf::new(), named: true, in_chart: false });
    }
    inputs.extend(in_memory);
    inputs.sort_by(|a, b| by_component(a.path(), b.path()));
    unreadable.sort_by(|a, b| by_component(&a.0, &b.0));
    let followed = links.into_iter().chain(ignored.files).collect();
    Gathered { inputs, roots, unreadable, findings, folders, followed }
}

/// Removes files from which manifests are built, unless they are named. Returns a finding for each folder of the
/// command line that has some.
fn pass_over(files: &mut BTreeMap<PathBuf, (PathBuf, bool)>, listed: &build::Listed, roots: &[Root]) -> Vec<Finding> {
    let mut passed: Vec<Vec<BuildFile>> = vec![Vec::new(); roots.len()];
    files.retain(|canonical, (path, named)| {
        let Some(kind) = Some(()).filter(|()| !*named).and_then(|()| listed.kind(path, canonical)) else { return true };
        if let Some(at) = roots.iter().position(|root| path.starts_with(&root.path)) {
            passed[at].push(kind);
        }
        false
    });
    roots.iter().zip(passed).filter_map(|(root, kinds)| build::finding(&root.path.to_string_lossy(), kinds)).collect()
}

struct Walk<'a> {
    outside: Option<&'a Path>,
    filter: &'a Filter,
    /// By canonical path: the path that is used in messages, and whether it is on the command line.
    files: BTreeMap<PathBuf, (PathBuf, bool)>,
    /// Canonical paths of the folders that were searched. Each is searched once, so loops of symbolic links end.
    folders: BTreeSet<PathBuf>,
    unreadable: Vec<(PathBuf, String)>,
    links: Vec<PathBuf>,
    ignored: ignored::Read,
    charts: Charts,
    /// The files that kustomizations list.
    listed: build::Listed,
}

/// A folder to search.
#[derive(Clone)]
struct Folder {
    /// The path in messages.
    path: PathBuf,
    /// The path without links.
    canonical: PathBuf,
    /// The absolute path by which it is reached from the folder of the command line; ignore files apply to it.
    place: PathBuf,
    /// The ignore files in and around it.
    ignored: Option<Arc<IgnoreFiles>>,
    /// The chart in whose templates it is.
    chart: Option<Arc<Path>>,
}

impl Walk<'_> {
    /// Adds a file. If several paths lead to it, the shortest one is used, and of equally short ones the first one in
    /// order.
    fn file(&mut self, path: PathBuf, canonical: PathBuf, named: bool) {
        match self.files.get_mut(&canonical) {
            None => {
                self.files.insert(canonical, (path, named));
            }
            Some((known, was_named)) => {
                *was_named |= named;
                let length = |path: &Path| path.components().count();
                if length(&path).cmp(&length(known)).then_with(|| by_component(&path, known)).is_lt() {
                    *known = path;
                }
            }
        }
    }

    fn link(&mut self, path: &Path) -> std::io::Result<(fs::Metadata, PathBuf)> {
        self.links.push(path.to_owned());
        Ok((fs::metadata(path)?, path.canonicalize()?))
    }

    /// Searches a folder of the command line and the folders in it.
    fn root(&mut self, path: PathBuf, canonical: PathBuf) {
        let filter = self.filter;
        let view = filter.in_folder(&canonical);
        let ignored =
            if filter.reads_ignore_files() { IgnoreFiles::around(&canonical, &mut self.ignored) } else { None };
        let chart = chart::around(&canonical).map(Arc::from);
        let mut todo = vec![Folder { path, place: canonical.clone(), canonical, ignored, chart }];
        while let Some(folder) = todo.pop() {
            if self.outside == Some(folder.canonical.as_path()) || !self.folders.insert(folder.canonical.clone()) {
                continue;
            }
            self.search(folder, &view, &mut todo);
        }
    }

    fn search(&mut self, mut folder: Folder, view: &View<'_>, todo: &mut Vec<Folder>) {
        let mut entries = match fs::read_dir(&folder.path).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
            Ok(entries) => entries,
            Err(error) => {
                self.unreadable.push((folder.path, describe(&error)));
                return;
            }
        };
        // In reverse order, because folders are taken from the end of the list.
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.file_name().into_encoded_bytes()));
        let has = |name: &str| entries.iter().any(|entry| entry.file_name() == OsStr::new(name));
        if self.filter.reads_ignore_files() {
            let outer = folder.ignored.take();
            folder.ignored = IgnoreFiles::enter(outer, &folder.place, &folder.path, has, &mut self.ignored);
        }
        let is_chart = has(chart::CHART);
        self.listed.enter(&folder.path, has);
        for entry in &entries {
            let name = entry.file_name();
            let path = folder.path.join(&name);
            let (mut canonical, place) = (folder.canonical.join(&name), folder.place.join(&name));
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) => {
                    self.unreadable.push((path, describe(&error)));
                    continue;
                }
            };
            let ignored = folder.ignored.as_deref();
            let (mut is_folder, mut is_file) = (kind.is_dir(), kind.is_file());
            if kind.is_symlink() {
                match self.link(&path) {
                    Ok((metadata, target)) => {
                        (is_folder, is_file, canonical) = (metadata.is_dir(), metadata.is_file(), target);
                    }
                    // A dangling link is reported only if its name is that of an input.
                    Err(error) => {
                        if view.takes(&place, false, ignored) {
                            self.unreadable.push((path, describe(&error)));
                        }
                        continue;
                    }
                }
            }
            // Kubernetes mounts each version of a ConfigMap as a folder `..TIME`, and links to the current one.
            let is_version = name.as_encoded_bytes().starts_with(b"..");
            if is_folder && !is_version && view.takes(&place, true, ignored) {
                let of_chart = is_chart && name == chart::TEMPLATES && folder.chart.is_none();
                let chart = if of_chart { Some(Arc::from(folder.path.as_path())) } else { folder.chart.clone() };
                todo.push(Folder { path, canonical, place, ignored: folder.ignored.clone(), chart });
            } else if is_file && view.takes(&place, false, ignored) {
                match &folder.chart {
                    Some(chart) if chart::is_template(&path) => self.charts.add(chart, canonical),
                    _ => self.file(path, canonical, false),
                }
            }
            // Other files, pipes and devices are skipped.
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(gathered: &Gathered, root: &Path) -> Vec<String> {
        let relative = |input: &Input| {
            let path = input.path();
            path.strip_prefix(root).unwrap_or(path).display().to_string()
        };
        gathered.inputs.iter().map(relative).collect()
    }

    #[test]
    fn the_order_of_arguments_does_not_matter_and_nothing_occurs_twice() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let root = dir.path();
        fs::create_dir_all(root.join("a/b"))?;
        for name in ["a/b/1.yaml", "a/b.json.gz", "a/c.YML", "a/d.txt", "e.yaml.zst"] {
            fs::write(root.join(name), "")?;
        }
        let expected = ["-", "a/b/1.yaml", "a/b.json.gz", "a/c.YML", "a/d.txt", "e.yaml.zst"];
        let mut arguments: Vec<PathBuf> =
            [".", "a", "a/b/1.yaml", "a/../a/d.txt", "a/d.txt"].iter().map(|name| root.join(name)).collect();
        arguments.push("-".into());
        for _ in 0..arguments.len() {
            arguments.rotate_left(1);
            let gathered = gather(&arguments, None, &Filter::default());
            // `-` is relative and therefore comes after absolute paths.
            let mut found = names(&gathered, root);
            found.sort_by(|a, b| by_component(Path::new(a), Path::new(b)));
            assert_eq!(found, expected);
            assert!(gathered.unreadable.is_empty());
        }
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn loops_of_links_end_and_dangling_ones_are_reported() -> std::io::Result<()> {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir()?;
        let root = dir.path();
        fs::create_dir_all(root.join("a"))?;
        fs::write(root.join("a/1.yaml"), "")?;
        symlink(root, root.join("a/up"))?;
        symlink(root.join("a/self.yaml"), root.join("a/self.yaml"))?;
        symlink("1.yaml", root.join("a/2.yaml"))?;
        let gathered = gather(&[root.to_owned()], None, &Filter::default());
        assert_eq!(names(&gathered, root), ["a/1.yaml"]);
        assert_eq!(gathered.unreadable.len(), 1);
        assert_eq!(gathered.unreadable[0].0, root.join("a/self.yaml"));
        Ok(())
    }

    #[test]
    fn the_output_folder_is_not_searched() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let root = dir.path().canonicalize()?;
        fs::create_dir_all(root.join("out"))?;
        fs::write(root.join("out/swagger.json"), "")?;
        fs::write(root.join("a.yaml"), "")?;
        assert_eq!(
            names(&gather(std::slice::from_ref(&root), Some(&root.join("out")), &Filter::default()), &root),
            ["a.yaml"]
        );
        Ok(())
    }
}
