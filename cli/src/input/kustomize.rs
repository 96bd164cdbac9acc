//! `kustomize:FOLDER`: what kustomize builds of a folder, as far as projects of kubebuilder need it.
//!
//! Resources, patches and labels are applied here. Everything else that a kustomization says is an error that names
//! it, so that nothing is left out. Nothing is downloaded and no program is started.

mod patch;
mod read;
mod target;
#[cfg(test)]
mod tests;

use super::{Input, Source};
use crate::args::Format;
use crate::error::describe;
use crate::output::format::Formatter;
use bytes::Bytes;
use kubeshape_input::{Code, Document, Finding, KUSTOMIZATIONS, Limits, Note};
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};
use kubeshape_structural::read::expand_list;
use kubeshape_yaml::{Kind, Node};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The prefix of such an input.
const PREFIX: &str = "kustomize:";
/// What to do about a kustomization that says more.
const INSTEAD: &str = "build it: `kubectl kustomize FOLDER | kubeshape check -`";

/// The most folders that may include each other.
const MAX_DEPTH: usize = 32;
/// The most kustomizations and other files that are read, and their bytes.
const MAX_FOLDERS: usize = 1_000;
const MAX_FILES: usize = 20_000;
const MAX_BYTES: usize = 256 << 20;
/// The most members and items that patches may read and write.
const MAX_WORK: usize = 10_000_000;

/// Returns the folder in an argument; `None` if it names a file.
pub(crate) fn folder_of(argument: &Path) -> Option<&str> {
    argument.to_str()?.strip_prefix(PREFIX)
}

/// Returns the argument for a folder.
pub(crate) fn argument(folder: &str) -> String {
    format!("{PREFIX}{folder}")
}

/// Returns the manifests that the kustomization of a folder builds: unchanged files as they are, and in memory those that
/// a patch or the reading of kustomize changes.
///
/// # Errors
/// A file cannot be read, or the kustomization says something that is not known here.
pub(super) fn inputs(folder: &str) -> Result<Vec<Input>, String> {
    let arena = Bump::new();
    let mut build = Build {
        arena: &arena,
        files: Vec::new(),
        objects: Vec::new(),
        by_id: BTreeMap::new(),
        folders: 0,
        bytes: 0,
        work: 0,
    };
    let path = Path::new(if folder.is_empty() { "." } else { folder });
    let canonical = path.canonicalize().map_err(|error| describe(&error))?;
    if !canonical.is_dir() {
        return Err(format!("found a file, expected the folder of a kustomization: {PREFIX}FOLDER"));
    }
    build.folder(&Folder { path: path.to_owned(), canonical }, &mut Vec::new())?;
    build.inputs()
}

/// A folder with a kustomization.
#[derive(Clone, Debug)]
struct Folder {
    /// The path in messages.
    path: PathBuf,
    /// The path without links.
    canonical: PathBuf,
}

/// A file with resources.
#[derive(Debug)]
struct File {
    path: PathBuf,
    canonical: PathBuf,
    is_changed: bool,
}

/// A resource.
#[derive(Clone, Copy, Debug)]
struct Object<'a> {
    value: Value<'a>,
    /// The number of its file.
    file: usize,
}

/// What a patch without a target names: `apiVersion`, kind, namespace and name.
type Id<'a> = [&'a str; 4];

/// Returns what identifies a resource. kustomize takes no namespace as `default`.
fn id(value: Value<'_>) -> Id<'_> {
    fn of(value: Option<Value<'_>>) -> &str {
        value.and_then(Value::as_str).unwrap_or_default()
    }
    let own = |name: &str| of(value.get("metadata").and_then(|metadata| metadata.get(name)));
    let namespace = match own("namespace") {
        "" => "default",
        namespace => namespace,
    };
    [of(value.get("apiVersion")), of(value.get("kind")), namespace, own("name")]
}

fn name_of([api_version, kind, _, name]: Id<'_>) -> String {
    format!("{kind} {name} ({api_version})")
}

/// What has been read so far.
struct Build<'a> {
    arena: &'a Bump,
    files: Vec<File>,
    /// The resources in order; `None` after a patch deleted one.
    objects: Vec<Option<Object<'a>>>,
    by_id: BTreeMap<Id<'a>, usize>,
    folders: usize,
    bytes: usize,
    work: usize,
}

/// A document of a kustomization or a patch, for messages.
#[derive(Clone, Copy)]
struct Place<'d>(&'d Document);

impl Place<'_> {
    fn wrong(self, node: Node<'_>, why: impl Into<String>) -> String {
        let why: String = why.into();
        said(&self.0.resolver().finding(&Note::new(Code::Unreadable, node.index(), why)))
    }
}

/// Returns a finding in one line.
fn said(finding: &Finding) -> String {
    let place = finding.place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
    format!("{}{place}: {}", finding.input.as_deref().unwrap_or_default(), finding.detail)
}

/// Returns whether a value says nothing.
fn is_empty(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Null | Kind::False => true,
        Kind::Map | Kind::Seq => node.is_empty(),
        Kind::Str => node.text().is_empty(),
        _ => false,
    }
}

/// Returns whether a path leads to another machine.
fn is_remote(path: &str) -> bool {
    ["://", "?ref=", "git@", "git::", ".git//"].iter().any(|part| path.contains(part))
        || ["github.com/", "gitlab.com/", "bitbucket.org/"].iter().any(|host| path.starts_with(host))
}

impl<'a> Build<'a> {
    /// Reads the kustomization of a folder, with those that it includes. `above` are the folders that include it.
    fn folder(&mut self, folder: &Folder, above: &mut Vec<PathBuf>) -> Result<(), String> {
        if above.contains(&folder.canonical) {
            let path = folder.path.display();
            return Err(format!("{path}: the kustomization includes itself"));
        }
        if above.len() >= MAX_DEPTH {
            return Err(format!("{}: more than {MAX_DEPTH} kustomizations include each other", folder.path.display()));
        }
        self.folders += 1;
        if self.folders > MAX_FOLDERS {
            return Err(format!("{}: more than {MAX_FOLDERS} kustomizations are read", folder.path.display()));
        }
        let names: Vec<&str> = KUSTOMIZATIONS.into_iter().filter(|name| folder.canonical.join(name).exists()).collect();
        let [name] = names.as_slice() else {
            let path = folder.path.display();
            return Err(match names.as_slice() {
                [] => format!("{path}: found no kustomization.yaml in the folder"),
                several => format!("{path}: found {}, expected one of them", several.join(" and ")),
            });
        };
        let (path, _, bytes) =
            self.bytes_of(folder, name).map_err(|why| format!("{}: {why}", folder.path.display()))?;
        let documents = documents(&path, &bytes)?;
        let [document] = documents.as_slice() else {
            return Err(format!("{}: found {} documents, expected one", path.display(), documents.len()));
        };
        above.push(folder.canonical.clone());
        self.kustomization(folder, document, above)?;
        above.pop();
        Ok(())
    }

    /// Does what a kustomization says.
    fn kustomization(&mut self, folder: &Folder, document: &Document, above: &mut Vec<PathBuf>) -> Result<(), String> {
        let (root, place) = (document.root(), Place(document));
        if root.kind() != Kind::Map {
            return Err(place.wrong(root, "found no mapping, expected a kustomization"));
        }
        if let Some(kind) = root.get("kind").filter(|kind| !matches!(kind.text(), "Kustomization" | "")) {
            return Err(place.wrong(kind, format!("found a {}, expected a Kustomization: {INSTEAD}", kind.text())));
        }
        for (key, value) in root.pairs() {
            let is_known = matches!(
                key.text(),
                "apiVersion"
                    | "kind"
                    | "metadata"
                    | "resources"
                    | "bases"
                    | "patches"
                    | "patchesStrategicMerge"
                    | "patchesJson6902"
                    | "labels"
                    | "configurations"
                    // They say something about generated resources, and about the order of the output.
                    | "generatorOptions"
                    | "sortOptions"
            );
            if !is_known && !is_empty(value) {
                return Err(place.wrong(key, format!("`{}` is not known here; {INSTEAD}", key.text())));
            }
        }
        let items = |name: &str| -> Result<Vec<Node<'_>>, String> {
            match root.get(name) {
                None => Ok(Vec::new()),
                Some(list) if matches!(list.kind(), Kind::Seq | Kind::Null) => Ok(list.items().collect()),
                Some(other) => Err(place.wrong(other, format!("expected a list of {name}"))),
            }
        };
        let first = self.objects.len();
        for item in items("resources")?.into_iter().chain(items("bases")?) {
            let path = text(item, place)?;
            self.resource(folder, path, above).map_err(|why| place.wrong(item, why))?;
        }
        // Their rules are about changes that are refused here, so it only matters that they exist.
        for item in items("configurations")? {
            self.bytes_of(folder, text(item, place)?).map_err(|why| place.wrong(item, why))?;
        }
        // In kustomize's order.
        for item in items("patchesStrategicMerge")? {
            self.strategic(folder, item, place, first)?;
        }
        for item in items("patches")? {
            self.patch(folder, item, place, first)?;
        }
        for item in items("labels")? {
            self.labels(item, place, first)?;
        }
        for item in items("patchesJson6902")? {
            self.patch(folder, item, place, first)?;
        }
        Ok(())
    }

    /// Reads a resource: a file, or a folder with a kustomization.
    fn resource(&mut self, folder: &Folder, path: &str, above: &mut Vec<PathBuf>) -> Result<(), String> {
        if is_remote(path) {
            return Err(format!("{path:?} is on another machine, and nothing is downloaded: {INSTEAD}"));
        }
        let at = folder.path.join(path);
        let canonical =
            folder.canonical.join(path).canonicalize().map_err(|error| format!("{path:?}: {}", describe(&error)))?;
        if canonical.is_dir() {
            return self.folder(&Folder { path: at, canonical }, above);
        }
        let (path, canonical, bytes) = self.bytes_of(folder, path)?;
        let file = self.files.len();
        let mut is_changed = false;
        for mut document in documents(&path, &bytes)? {
            is_changed |= read::scalars(&mut document)?;
            for node in expand_list(document.root()).into_iter().filter(|node| !node.is_null()) {
                if node.kind() != Kind::Map {
                    return Err(Place(&document).wrong(node, "found no object"));
                }
                let value = Value::from_node(node, &Bump::new()).copy_into(self.arena);
                let annotated = read::annotated(value, node, self.arena);
                is_changed |= annotated.is_some();
                let value = annotated.unwrap_or(value);
                let id = id(value);
                let number = self.objects.len();
                self.objects.push(Some(Object { value, file }));
                if self.by_id.insert(id, number).is_some() {
                    return Err(Place(&document).wrong(node, format!("{} is there twice", name_of(id))));
                }
            }
        }
        self.files.push(File { path, canonical, is_changed });
        Ok(())
    }

    /// Returns a file of a folder: its path in messages, its path without links, and its bytes.
    fn bytes_of(&mut self, folder: &Folder, path: &str) -> Result<(PathBuf, PathBuf, Bytes), String> {
        if is_remote(path) {
            return Err(format!("{path:?} is on another machine, and nothing is downloaded: {INSTEAD}"));
        }
        let failed = |error| format!("{path:?}: {}", describe(&error));
        let canonical = folder.canonical.join(path).canonicalize().map_err(failed)?;
        if !canonical.starts_with(&folder.canonical) {
            return Err(format!("{path:?} is outside of the folder of the kustomization; kustomize refuses it, too"));
        }
        let (file, metadata) =
            super::open_file(&canonical).map_err(failed)?.ok_or_else(|| format!("{path:?} is not a file"))?;
        let limit = Limits::default().bytes;
        if metadata.len() > limit as u64 {
            return Err(format!("{path:?} has {} bytes; the limit is {limit}", metadata.len()));
        }
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, limit as u64), &mut bytes).map_err(failed)?;
        self.bytes += bytes.len();
        if self.bytes > MAX_BYTES || self.files.len() >= MAX_FILES {
            return Err(format!("{path:?}: more than {MAX_FILES} files or {MAX_BYTES} bytes are read"));
        }
        Ok((folder.path.join(path), canonical, Bytes::from(bytes)))
    }

    /// Counts work.
    fn spend(&mut self, members: usize) -> Result<(), String> {
        self.work = self.work.saturating_add(members);
        if self.work > MAX_WORK {
            return Err(format!("the patches read and write more than {MAX_WORK} members: {INSTEAD}"));
        }
        Ok(())
    }

    /// Replaces a resource, or deletes it.
    fn replace(&mut self, number: usize, value: Option<Value<'a>>) {
        let Some(object) = self.objects.get_mut(number) else { return };
        let Some(old) = *object else { return };
        if let Some(file) = self.files.get_mut(old.file) {
            file.is_changed = true;
        }
        if value.is_none() {
            self.by_id.remove(&id(old.value));
        }
        *object = value.map(|value| Object { value, ..old });
    }

    /// Adds the labels of an entry of `labels`.
    fn labels(&mut self, entry: Node<'_>, place: Place<'_>, first: usize) -> Result<(), String> {
        let mut pairs = Vec::new();
        for (key, value) in entry.pairs() {
            match key.text() {
                "pairs" => {
                    for (name, value) in value.pairs() {
                        pairs.push((
                            &*self.arena.alloc_str(name.text()),
                            Value::String(self.arena.alloc_str(text(value, place)?)),
                        ));
                    }
                }
                _ if is_empty(value) => {}
                other => return Err(place.wrong(key, format!("`{other}` of labels is not known here; {INSTEAD}"))),
            }
        }
        let labels = Value::Map(Map::from_entries(pairs, self.arena));
        let patch = [("metadata", Value::Map(Map::from_entries(vec![("labels", labels)], self.arena)))];
        let patch = Value::Map(Map::from_entries(patch.to_vec(), self.arena));
        for number in first..self.objects.len() {
            self.merge(number, patch).map_err(|why| place.wrong(entry, why))?;
        }
        Ok(())
    }

    /// Returns the files.
    fn inputs(self) -> Result<Vec<Input>, String> {
        let mut by_file: Vec<Vec<Value<'a>>> = vec![Vec::new(); self.files.len()];
        for object in self.objects.into_iter().flatten() {
            if let Some(values) = by_file.get_mut(object.file) {
                values.push(object.value);
            }
        }
        let mut out = Vec::new();
        for (file, values) in self.files.into_iter().zip(by_file) {
            let source = if file.is_changed {
                if values.is_empty() {
                    continue;
                }
                let path = PathBuf::from(argument(&file.path.to_string_lossy()));
                Source::Memory(path, Bytes::from(yaml(&values)?))
            } else {
                Source::File(file.path)
            };
            out.push(Input { source, canonical: file.canonical, named: false, in_chart: false });
        }
        Ok(out)
    }
}

/// Returns objects as YAML documents.
fn yaml(values: &[Value<'_>]) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    for value in values {
        if !out.is_empty() {
            out.extend_from_slice(b"---\n");
        }
        let mut json = Vec::new();
        value.write_go_json(&mut json);
        let text = Formatter::formatted(json, Format::Yaml, false, &mut Vec::new());
        out.extend(text.ok_or("an object cannot be written as YAML")?);
    }
    Ok(out)
}

/// Returns the documents of a file.
fn documents(path: &Path, bytes: &[u8]) -> Result<Vec<Document>, String> {
    let read = kubeshape_input::read(path.to_string_lossy().into_owned(), bytes, Limits::default());
    match read.findings.iter().find(|finding| finding.code.kind() == kubeshape_input::NoteKind::Error) {
        Some(finding) => Err(said(finding)),
        None => Ok(read.documents),
    }
}

fn text<'n>(node: Node<'n>, place: Place<'_>) -> Result<&'n str, String> {
    node.as_str().ok_or_else(|| place.wrong(node, "expected a string"))
}
