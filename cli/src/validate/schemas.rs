//! The inputs of `--schemas`. A file that contains only definitions is read when the first object of a kind that it
//! defines comes.

use crate::error::Fatal;
use crate::input::{Filter, Input, Reader, gather};
use kubeshape_input::{Code, Document, Finding, Limits, skim};
use kubeshape_lifecycle::entries;
use kubeshape_lifecycle::warn::Schemas as Lifecycles;
use kubeshape_registry::{Gvk, Kind, Location, Registry, Release, Requests, Settings};
use petgraph::unionfind::UnionFind;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// What the inputs define.
#[derive(Clone, Debug)]
pub(crate) struct Schemas {
    /// The registry of the inputs that are read.
    registry: Registry,
    /// The lifecycles of fields in these inputs.
    lifecycles: Lifecycles,
    /// The documents of these inputs, with the numbers of the inputs.
    inputs: Vec<(usize, Vec<Arc<Document>>)>,
    /// The files that are not read yet, with their numbers among all inputs, and the kinds that each of them defines.
    files: Vec<(usize, Arc<Input>, Vec<Name>)>,
    /// By group and kind: the files that are read when an object of the kind comes. No definition of these kinds is
    /// read yet.
    waiting: BTreeMap<String, BTreeMap<String, Arc<Waiting>>>,
    release: Release,
    /// Whether all files are read immediately.
    is_eager: bool,
    /// The number of inputs so far.
    count: usize,
}

/// A group and a kind.
type Name = (String, String);

/// Files that are read together, because they define the same kinds.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    files: Vec<(usize, Arc<Input>)>,
    /// Their kinds, each once, in order.
    kinds: Vec<Name>,
    release: Release,
    read: OnceLock<Read>,
}

/// The content of files that are read together.
#[derive(Debug)]
pub(super) struct Read {
    held: Held,
    /// The lifecycles of fields in these files.
    pub(super) lifecycles: Lifecycles,
    /// What to report about a file, by its number.
    pub(super) findings: Vec<(usize, Finding)>,
    /// Whether one could not be read.
    pub(super) unread: bool,
}

/// What is kept of these files.
#[derive(Debug)]
enum Held {
    /// They define one kind, which is prepared. Their texts are dropped.
    Kind(Versions),
    /// They define several kinds. Each is prepared when an object of it comes.
    Registry(Registry),
}

/// The versions of a kind by API version.
pub(super) type Versions = BTreeMap<String, Version>;

/// A version of a kind.
#[derive(Clone, Debug)]
pub(super) struct Version {
    /// What judges its objects. `None` if they cannot be judged.
    pub(super) requests: Option<Requests>,
    /// The server's warning, if the version is deprecated.
    pub(super) deprecated: Option<String>,
}

/// Returns the prepared versions of a kind.
pub(super) fn versions(registry: &Registry, group: &str, kind: &str) -> Versions {
    let version = |known: &Kind| Version { requests: known.requests(), deprecated: registry.deprecation(known) };
    registry.versions(group, kind).map(|known| (known.api_version().to_owned(), version(known))).collect()
}

/// A file, or what was found in it without parsing it: groups and kinds.
enum Found {
    Read(kubeshape_input::Input),
    Skimmed(Vec<Name>),
}

impl Schemas {
    /// Returns a value without inputs. Objects are judged by the rules of this release. If all kinds are needed
    /// together, files are read immediately.
    pub(super) fn new(release: Release, is_eager: bool) -> Schemas {
        Schemas {
            registry: of_release(release),
            lifecycles: Lifecycles::default(),
            inputs: Vec::new(),
            files: Vec::new(),
            waiting: BTreeMap::new(),
            release,
            is_eager,
            count: 0,
        }
    }

    /// Returns the same inputs for the rules of another release. They are not read again. Must be called before
    /// [`settle`](Self::settle).
    pub(super) fn in_release(&self, release: Release) -> Schemas {
        let mut out = Schemas::new(release, self.is_eager);
        for (number, documents) in &self.inputs {
            add_to(&mut out.registry, *number, documents);
        }
        out.lifecycles = self.lifecycles.clone();
        out.inputs.clone_from(&self.inputs);
        out.files.clone_from(&self.files);
        out.count = self.count;
        out
    }

    /// Adds a file or a folder. Reports what is wrong with it, and returns whether it defines anything, and whether a
    /// part of it could not be read.
    ///
    /// # Errors
    /// Threads cannot be started.
    pub(super) fn add(
        &mut self,
        path: &PathBuf,
        filter: &Filter,
        threads: usize,
        mut tell: impl FnMut(&Finding),
    ) -> Result<(bool, bool), Fatal> {
        let is_eager = self.is_eager;
        let (found, unread) = each(std::slice::from_ref(path), filter, threads, &mut tell, |input, bytes, limits| {
            // A skimmed file is read again when one of its kinds is needed.
            let skimmed = if input.is_file() && !is_eager { skim(bytes) } else { None };
            let owned = |defined: kubeshape_input::Defined<'_>| (defined.group.to_owned(), defined.kind.to_owned());
            match skimmed {
                Some(kinds) => Found::Skimmed(kinds.into_iter().map(owned).collect()),
                None => Found::Read(kubeshape_input::read(input.name(), bytes, limits)),
            }
        })?;
        let mut is_used = false;
        for (input, found) in found {
            let number = self.count;
            self.count += 1;
            match found {
                Found::Read(read) => {
                    let Added { findings, has_kinds, documents } =
                        set(&mut self.registry, &mut self.lifecycles, number, read);
                    findings.iter().for_each(&mut tell);
                    is_used |= has_kinds;
                    self.inputs.push((number, documents));
                }
                Found::Skimmed(kinds) => {
                    is_used |= !kinds.is_empty();
                    self.files.push((number, Arc::new(input), kinds));
                }
            }
        }
        Ok((is_used, unread))
    }

    /// Adds an input that is in memory. Returns what is wrong with it.
    pub(super) fn add_text(&mut self, name: &str, bytes: &[u8]) -> Vec<Finding> {
        self.put_text(None, name, bytes)
    }

    /// Adds an input that is in memory, in place of the input with a number. Must be called before
    /// [`settle`](Self::settle). Returns what is wrong with it.
    pub(super) fn put_text(&mut self, number: Option<usize>, name: &str, bytes: &[u8]) -> Vec<Finding> {
        let number = number.unwrap_or(self.count);
        self.count = self.count.max(number + 1);
        self.registry.remove(&input_name(number));
        self.files.retain(|(other, ..)| *other != number);
        self.inputs.retain(|(other, _)| *other != number);
        let read = kubeshape_input::read(name, bytes, Limits::default());
        let Added { findings, documents, .. } = set(&mut self.registry, &mut self.lifecycles, number, read);
        self.inputs.push((number, documents));
        findings
    }

    /// Adds a file with these bytes. Returns its number, and what is wrong with it.
    pub(super) fn add_file(&mut self, input: Input, bytes: &[u8]) -> (usize, Vec<Finding>) {
        let number = self.count;
        let skimmed = if self.is_eager || !input.is_file() { None } else { skim(bytes) };
        let Some(kinds) = skimmed else { return (number, self.put_text(None, &input.name(), bytes)) };
        self.count += 1;
        let owned = |defined: kubeshape_input::Defined<'_>| (defined.group.to_owned(), defined.kind.to_owned());
        self.files.push((number, Arc::new(input), kinds.into_iter().map(owned).collect()));
        (number, Vec::new())
    }

    /// Finds out which files are read together. Files with kinds that are also defined by inputs already read are read
    /// now, because which definition counts depends on all of them. Reports what is wrong with them, and returns
    /// whether one could not be read.
    pub(super) fn settle(&mut self, mut tell: impl FnMut(&Finding)) -> bool {
        let mut unread = false;
        let mut reader = Reader::default();
        for waiting in together(std::mem::take(&mut self.files), self.release) {
            let is_read = |(group, kind): &Name| {
                self.registry.versions(group, kind).any(|kind| kind.definition().is_custom_resource())
            };
            if !waiting.kinds.iter().any(is_read) {
                let waiting = Arc::new(waiting);
                for (group, kind) in &waiting.kinds {
                    self.waiting.entry(group.clone()).or_default().insert(kind.clone(), Arc::clone(&waiting));
                }
                continue;
            }
            for (number, input) in waiting.files {
                let (read, is_unread) = read(&mut reader, &input);
                unread |= is_unread;
                let added = set(&mut self.registry, &mut self.lifecycles, number, read);
                added.findings.iter().for_each(&mut tell);
            }
        }
        unread
    }

    /// Returns the release whose rules judge objects.
    pub(super) fn release(&self) -> Release {
        self.release
    }

    /// Returns the release of the cluster that the inputs come from, the newest if there are several. `None` if they
    /// name none.
    pub(super) fn server_release(&self) -> Option<Release> {
        let documents = self.inputs.iter().flat_map(|(_, documents)| documents);
        documents.filter_map(|document| document.server_release()).max()
    }

    /// Returns the same inputs for the rules of the cluster that they come from, if they name its release.
    pub(super) fn in_own_release(self) -> Schemas {
        match self.server_release() {
            Some(release) if release != self.release => self.in_release(release),
            _ => self,
        }
    }

    /// Returns the registry of what is already read.
    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns what is known about the lifecycles of a kind's fields.
    pub(super) fn lifecycles(&self, gvk: Gvk<'_>) -> Option<&Lifecycles> {
        let has = |known: &&Lifecycles| !known.is_empty() && known.has(gvk.api_version(), gvk.kind());
        let read = self.of(gvk).map(|read| &read.lifecycles).filter(has);
        read.or_else(|| Some(&self.lifecycles).filter(has))
    }

    /// Returns the kinds whose files are not read yet, with their groups.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&str, &str, &Arc<Waiting>)> {
        self.waiting.iter().flat_map(|(group, kinds)| {
            kinds.iter().map(move |(kind, waiting)| (group.as_str(), kind.as_str(), waiting))
        })
    }

    /// Returns the definitions of a kind whose files waited. Reads them now if necessary.
    pub(super) fn of(&self, gvk: Gvk<'_>) -> Option<&Read> {
        Some(self.waiting_of(gvk)?.read())
    }

    /// Returns the files of a kind, if they waited.
    pub(super) fn waiting_of(&self, gvk: Gvk<'_>) -> Option<&Arc<Waiting>> {
        self.waiting.get(gvk.group())?.get(gvk.kind())
    }
}

impl Waiting {
    /// Returns the kinds of the files, read again: their texts are not kept.
    pub(super) fn registry(&self) -> Registry {
        let (mut registry, mut lifecycles) = (of_release(self.release), Lifecycles::default());
        let mut reader = Reader::default();
        for (number, input) in &self.files {
            set(&mut registry, &mut lifecycles, *number, read(&mut reader, input).0);
        }
        registry
    }

    /// Returns the content of the files. They are read at the first call.
    pub(super) fn read(&self) -> &Read {
        self.read.get_or_init(|| {
            let (mut registry, mut lifecycles) = (of_release(self.release), Lifecycles::default());
            let (mut findings, mut unread) = (Vec::new(), false);
            let mut reader = Reader::default();
            for (number, input) in &self.files {
                let (input, is_unread) = read(&mut reader, input);
                unread |= is_unread;
                let found = set(&mut registry, &mut lifecycles, *number, input).findings;
                findings.extend(found.into_iter().map(|finding| (*number, finding)));
            }
            let held = match self.kinds.as_slice() {
                [(group, kind)] => Held::Kind(versions(&registry, group, kind)),
                _ => Held::Registry(registry),
            };
            Read { held, lifecycles, findings, unread }
        })
    }
}

impl Read {
    /// Returns the versions of a kind. The call may prepare them.
    pub(super) fn versions(&self, group: &str, kind: &str) -> Versions {
        match &self.held {
            Held::Kind(versions) => versions.clone(),
            Held::Registry(registry) => versions(registry, group, kind),
        }
    }
}

fn of_release(release: Release) -> Registry {
    Registry::new(Settings::of(release))
}

/// Groups the files that have kinds in common, directly or through other files, in the order of their first files.
fn together(files: Vec<(usize, Arc<Input>, Vec<Name>)>, release: Release) -> Vec<Waiting> {
    let mut sets = UnionFind::new(files.len());
    let mut first: BTreeMap<Name, usize> = BTreeMap::new();
    for (at, (_, _, kinds)) in files.iter().enumerate() {
        for kind in kinds {
            let known = *first.entry(kind.clone()).or_insert(at);
            sets.union(known, at);
        }
    }
    let mut out: BTreeMap<usize, Waiting> = BTreeMap::new();
    let mut names: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, (number, input, kinds)) in files.into_iter().enumerate() {
        let name = *names.entry(sets.find_mut(at)).or_insert(at);
        let waiting = out.entry(name).or_insert_with(|| Waiting { release, ..Waiting::default() });
        waiting.files.push((number, input));
        waiting.kinds.extend(kinds);
    }
    let mut out: Vec<Waiting> = out.into_values().collect();
    for waiting in &mut out {
        waiting.kinds.sort_unstable();
        waiting.kinds.dedup();
    }
    out
}

/// Reads a file. If that fails, the result holds only the finding. Returns whether it failed.
fn read(reader: &mut Reader, input: &Input) -> (kubeshape_input::Input, bool) {
    let limits = Limits::default();
    match reader.read(input, &limits) {
        Ok(bytes) => (kubeshape_input::read(input.name(), bytes, limits), false),
        Err(finding) => {
            let unread = finding.code == Code::Unreadable;
            (kubeshape_input::Input { documents: Vec::new(), findings: vec![*finding] }, unread)
        }
    }
}

/// What was added to a registry.
struct Added {
    findings: Vec<Finding>,
    /// Whether it defines anything.
    has_kinds: bool,
    documents: Vec<Arc<Document>>,
}

/// Adds an input to a registry.
fn set(registry: &mut Registry, lifecycles: &mut Lifecycles, number: usize, input: kubeshape_input::Input) -> Added {
    let mut findings = input.findings;
    for document in &input.documents {
        lifecycles.add_annotated(document);
        findings.extend(entries::findings(document));
    }
    let documents: Vec<Arc<Document>> = input.documents.into_iter().map(Arc::new).collect();
    let (name, has_kinds) = add_to(registry, number, &documents);
    findings.extend(registry.text_findings(&name).cloned());
    Added { findings, has_kinds, documents }
}

/// Returns the name of an input in the registry.
fn input_name(number: usize) -> String {
    format!("{number:09}")
}

/// Adds the documents of an input to a registry. Returns the name of the input, and whether it defines anything.
fn add_to(registry: &mut Registry, number: usize, documents: &[Arc<Document>]) -> (String, bool) {
    // The order of the inputs is significant.
    let name = input_name(number);
    let parts = documents.iter().map(|document| Location::root(Arc::clone(document)));
    let has_kinds = registry.set(name.as_str(), parts, Vec::new());
    (name, has_kinds)
}

/// Calls a function for each file, on all threads, and returns the results in order. Reports what is wrong, and returns
/// whether something could not be read.
///
/// # Errors
/// Threads cannot be started.
pub(super) fn each<T: Send>(
    paths: &[PathBuf],
    filter: &Filter,
    threads: usize,
    mut tell: impl FnMut(&Finding),
    make: impl Fn(&Input, &[u8], Limits) -> T + Sync,
) -> Result<(Vec<(Input, T)>, bool), Fatal> {
    let gathered = gather(paths, None, filter);
    gathered.tell(&mut tell);
    let mut unread = !gathered.unreadable.is_empty();
    let one = |reader: &mut Reader, input: Input| {
        let limits = Limits::default();
        let made = reader.read(&input, &limits).map(|bytes| make(&input, bytes, limits));
        made.map(|made| (input, made))
    };
    let pool = crate::convert::pool(threads)?;
    let read: Vec<_> = pool.install(|| gathered.inputs.into_par_iter().map_init(Reader::default, one).collect());
    let mut out = Vec::with_capacity(read.len());
    for result in read {
        match result {
            Ok(made) => out.push(made),
            Err(finding) => {
                unread |= finding.code == Code::Unreadable;
                tell(&finding);
            }
        }
    }
    Ok((out, unread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_common_kinds_are_read_together() {
        let kinds =
            |numbers: &[usize]| numbers.iter().map(|n| ("g".to_owned(), format!("K{n}"))).collect::<Vec<Name>>();
        let file = |at: usize, numbers: &[usize]| {
            let (source, canonical) = (crate::input::Source::File(PathBuf::from("a")), PathBuf::from("a"));
            (at, Arc::new(Input { source, canonical, named: false, in_chart: false }), kinds(numbers))
        };
        // Each file has a kind in common with the next one, and the last file joins the ends of the chain.
        let chain = (0..1_000).map(|n| file(n, &[n, n + 1]));
        let others = [file(1_000, &[5_000, 5_000]), file(1_001, &[]), file(1_002, &[1_000, 0]), file(1_003, &[5_000])];
        let together = together(chain.chain(others).collect(), Release::default());
        let counts: Vec<(usize, usize)> = together.iter().map(|one| (one.files.len(), one.kinds.len())).collect();
        assert_eq!(counts, [(1_001, 1_001), (2, 1), (1, 0)]);
        let numbers: Vec<usize> = together[1].files.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1_000, 1_003]);
    }
}
