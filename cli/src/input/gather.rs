//! Finding the input files of the command line.

use super::order::by_component;
use super::{Input, Source};
use crate::error::describe;
use crate::output::record;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Suffixes of files that are read in folders. Each may be followed by one of [`COMPRESSED`].
const SUFFIXES: [&str; 4] = [".yaml", ".yml", ".json", ".pb"];
const COMPRESSED: [&str; 2] = [".gz", ".zst"];

/// A folder of the command line.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    /// As on the command line.
    pub(crate) path: PathBuf,
    /// Without symbolic links.
    pub(crate) canonical: PathBuf,
}

/// Everything that was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    /// The inputs, sorted and without duplicates.
    pub(crate) inputs: Vec<Input>,
    /// The folders of the command line.
    pub(crate) roots: Vec<Root>,
    /// Files and folders that cannot be read, sorted, with the reason.
    pub(crate) unreadable: Vec<(PathBuf, String)>,
    /// Canonical paths of the folders that were searched.
    pub(crate) folders: BTreeSet<PathBuf>,
    /// All symbolic links that were found in folders.
    pub(crate) links: Vec<PathBuf>,
}

impl Gathered {
    /// A folder of the command line in which nothing was found.
    pub(crate) fn empty_folder(&self) -> Option<&Path> {
        let has = |root: &Root| self.inputs.iter().any(|input| input.canonical.starts_with(&root.canonical));
        self.roots.iter().find(|root| !has(root)).map(|root| root.path.as_path())
    }
}

/// Finds all inputs. `outside` is a folder that is not searched: the output folder.
pub(crate) fn gather(arguments: &[PathBuf], outside: Option<&Path>) -> Gathered {
    let mut arguments: Vec<&Path> = arguments.iter().map(PathBuf::as_path).collect();
    arguments.sort_by(|a, b| by_component(a, b));
    arguments.dedup();

    let mut walk =
        Walk { outside, files: BTreeMap::new(), folders: BTreeSet::new(), unreadable: Vec::new(), links: Vec::new() };
    let mut roots = Vec::new();
    let mut stdin = false;
    for path in arguments {
        if path.as_os_str() == "-" {
            stdin = true;
            continue;
        }
        match path.canonicalize().and_then(|canonical| Ok((fs::metadata(&canonical)?, canonical))) {
            Err(error) => walk.unreadable.push((path.to_owned(), describe(&error))),
            Ok((metadata, canonical)) if metadata.is_dir() => {
                roots.push(Root { path: path.to_owned(), canonical: canonical.clone() });
                walk.folder(path.to_owned(), canonical);
            }
            Ok((_, canonical)) => walk.file(path.to_owned(), canonical, true),
        }
    }

    let mut inputs: Vec<Input> = walk
        .files
        .into_iter()
        .map(|(canonical, (path, named))| Input { source: Source::File(path), canonical, named })
        .collect();
    if stdin {
        inputs.push(Input { source: Source::Stdin, canonical: PathBuf::new(), named: true });
    }
    inputs.sort_by(|a, b| by_component(a.path(), b.path()));
    walk.unreadable.sort_by(|a, b| by_component(&a.0, &b.0));
    Gathered { inputs, roots, unreadable: walk.unreadable, folders: walk.folders, links: walk.links }
}

struct Walk<'a> {
    outside: Option<&'a Path>,
    /// By canonical path: the path that is used in messages, and whether it is on the command line.
    files: BTreeMap<PathBuf, (PathBuf, bool)>,
    /// Canonical paths of the folders that were searched. Each is searched once, so loops of symbolic links end.
    folders: BTreeSet<PathBuf>,
    unreadable: Vec<(PathBuf, String)>,
    links: Vec<PathBuf>,
}

impl Walk<'_> {
    /// Adds a file. If several paths lead to it, the shortest one is used, and of several the first one in order.
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

    /// Searches a folder recursively.
    fn folder(&mut self, path: PathBuf, canonical: PathBuf) {
        let mut todo = vec![(path, canonical)];
        while let Some((path, canonical)) = todo.pop() {
            if self.outside == Some(canonical.as_path()) || !self.folders.insert(canonical.clone()) {
                continue;
            }
            let mut entries = match fs::read_dir(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
                Ok(entries) => entries,
                Err(error) => {
                    self.unreadable.push((path, describe(&error)));
                    continue;
                }
            };
            // In reverse order, because folders are taken from the end of the list.
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.file_name().into_encoded_bytes()));
            for entry in entries {
                let name = entry.file_name();
                let (path, inner) = (path.join(&name), canonical.join(&name));
                match entry.file_type() {
                    Err(error) => self.unreadable.push((path, describe(&error))),
                    // Kubernetes mounts each version of a ConfigMap as a folder `..TIME`, and links to the current one.
                    Ok(kind) if kind.is_dir() && name.as_encoded_bytes().starts_with(b"..") => {}
                    Ok(kind) if kind.is_dir() => todo.push((path, inner)),
                    Ok(kind) if kind.is_file() && is_candidate(&path) => self.file(path, inner, false),
                    Ok(kind) if kind.is_symlink() && name.as_encoded_bytes().starts_with(b"..") => {
                        self.links.push(path);
                    }
                    Ok(kind) if kind.is_symlink() => match self.link(&path) {
                        Ok((metadata, target)) if metadata.is_dir() => todo.push((path, target)),
                        Ok((metadata, target)) if metadata.is_file() && is_candidate(&path) => {
                            self.file(path, target, false);
                        }
                        // A dangling link is reported only if its name is that of an input.
                        Err(error) if is_candidate(&path) => self.unreadable.push((path, describe(&error))),
                        _ => {}
                    },
                    // Other files, pipes and devices.
                    Ok(_) => {}
                }
            }
        }
    }
}

/// Whether a file with this name is read in a folder.
pub(crate) fn is_candidate(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()) else { return false };
    if name == record::NAME {
        return false;
    }
    let name = COMPRESSED.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
    SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
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
    fn the_order_of_arguments_makes_no_difference_and_nothing_comes_twice() -> std::io::Result<()> {
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
            let gathered = gather(&arguments, None);
            // `-` is relative and therefore stands behind absolute paths.
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
        let gathered = gather(&[root.to_owned()], None);
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
        assert_eq!(names(&gather(std::slice::from_ref(&root), Some(&root.join("out"))), &root), ["a.yaml"]);
        Ok(())
    }
}
