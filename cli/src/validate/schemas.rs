//! The inputs of `--schemas`. A file with nothing but definitions waits until an object comes of a kind that it defines.

use crate::error::Fatal;
use crate::input::{Filter, Input, Reader, Source, gather};
use kubeshape_input::{Code, Finding, Limits, skim};
use kubeshape_registry::{Gvk, Location, Registry};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// What the inputs define.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    /// Of the inputs that are read.
    registry: Registry,
    /// By group and kind: the files that are read when an object of it comes. No definition of these kinds is read yet.
    waiting: BTreeMap<String, BTreeMap<String, Waiting>>,
    /// Inputs so far.
    count: usize,
}

/// The files that define a kind.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// With their numbers among all inputs.
    files: Vec<(usize, Arc<Input>)>,
    read: OnceLock<Read>,
}

/// What the files of a kind hold.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) registry: Registry,
    /// What is to be told about a file, by its number.
    pub(super) findings: Vec<(usize, Finding)>,
    /// Whether one could not be read.
    pub(super) unread: bool,
}

/// A file, or what was found in it without reading it: groups and kinds.
enum Found {
    Read(kubeshape_input::Input),
    Skimmed(Vec<(String, String)>),
}

impl Schemas {
    /// Adds a file or a folder. Tells what is wrong with it, and returns whether it defines anything, and whether a part of
    /// it could not be read.
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
        let (found, unread) = each(std::slice::from_ref(path), filter, threads, &mut tell, |input, bytes, limits| {
            let skimmed = if input.source == Source::Stdin { None } else { skim(bytes) };
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
                    let (findings, has_kinds) = set(&mut self.registry, number, read);
                    findings.iter().for_each(&mut tell);
                    is_used |= has_kinds;
                }
                Found::Skimmed(kinds) => {
                    is_used |= !kinds.is_empty();
                    let input = Arc::new(input);
                    for (group, kind) in kinds {
                        let waiting = self.waiting.entry(group).or_default().entry(kind).or_default();
                        if waiting.files.last().is_none_or(|(last, _)| *last != number) {
                            waiting.files.push((number, Arc::clone(&input)));
                        }
                    }
                }
            }
        }
        Ok((is_used, unread))
    }

    /// Reads the files of kinds that are defined by inputs that are read, too: which of the definitions counts depends on
    /// all of them. Tells what is wrong with them, and returns whether one could not be read.
    pub(super) fn settle(&mut self, mut tell: impl FnMut(&Finding)) -> bool {
        let mut unread = false;
        let mut reader = Reader::default();
        let mut known = BTreeSet::new();
        loop {
            let Schemas { registry, waiting, .. } = self;
            let custom = registry.kinds().filter(|kind| kind.definition().is_custom_resource());
            let taken: Vec<(usize, Arc<Input>)> = custom
                .filter_map(|kind| waiting.get_mut(kind.group())?.remove(kind.kind()))
                .flat_map(|waiting| waiting.files)
                .collect();
            if taken.is_empty() {
                return unread;
            }
            for (number, input) in taken {
                if known.insert(number) {
                    let (read, is_unread) = read(&mut reader, &input);
                    unread |= is_unread;
                    let (findings, _) = set(&mut self.registry, number, read);
                    findings.iter().for_each(&mut tell);
                }
            }
        }
    }

    /// What is read already.
    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The kinds whose files wait, with their groups.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&str, &str, &Waiting)> {
        self.waiting.iter().flat_map(|(group, kinds)| {
            kinds.iter().map(move |(kind, waiting)| (group.as_str(), kind.as_str(), waiting))
        })
    }

    /// The definitions of a kind whose files waited. They are read now, if they are not yet.
    pub(super) fn of(&self, gvk: Gvk<'_>) -> Option<&Read> {
        Some(self.waiting.get(gvk.group())?.get(gvk.kind())?.read())
    }
}

impl Waiting {
    /// What the files hold. They are read at the first call.
    pub(super) fn read(&self) -> &Read {
        self.read.get_or_init(|| {
            let mut out = Read::default();
            let mut reader = Reader::default();
            for (number, input) in &self.files {
                let (input, unread) = read(&mut reader, input);
                out.unread |= unread;
                let (findings, _) = set(&mut out.registry, *number, input);
                out.findings.extend(findings.into_iter().map(|finding| (*number, finding)));
            }
            out
        })
    }
}

/// Reads a file. If that fails, it holds nothing but the finding; tells whether it did.
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

/// Adds an input to a registry. Returns what is wrong with it, and whether it defines anything.
fn set(registry: &mut Registry, number: usize, input: kubeshape_input::Input) -> (Vec<Finding>, bool) {
    // Inputs count in the order in which they are given.
    let name = format!("{number:09}");
    let parts = input.documents.into_iter().map(|document| Location::root(Arc::new(document)));
    let is_used = registry.set(name.as_str(), parts, Vec::new());
    let mut findings = input.findings;
    findings.extend(registry.text_findings(&name).cloned());
    (findings, is_used)
}

/// Files and folders, each file turned into something on all threads, in their order. Tells what is wrong, and returns
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
