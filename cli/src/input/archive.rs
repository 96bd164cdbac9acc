//! Archives of files (`.tgz`, `.tar.gz`), such as packed Helm charts. One that is named is read like a folder.

use super::build::LARGEST;
use super::chart::{CHART, Charts, TEMPLATES};
use super::filter::View;
use super::read::open_file;
use super::{Input, Source};
use crate::error::describe;
use bytes::Bytes;
use kubeshape_input::BuildFile;
use kubeshape_input::Limits;
use memchr::memmem;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The names of archives.
const ENDINGS: [&str; 2] = [".tgz", ".tar.gz"];
/// The folder of a chart that holds the charts that it depends on, packed or not.
const CHARTS: &str = "charts";
/// The limits of an archive with those in it.
const BUDGET: Budget = Budget { bytes: 256 << 20, members: 20_000 };
/// The longest name of a member, in bytes, and the most folders in it.
const MAX_NAME: usize = 1_024;
const MAX_FOLDERS: usize = 64;
/// How deep archives may nest.
const MAX_DEPTH: usize = 4;

/// What may still be read, uncompressed.
#[derive(Clone, Copy, Debug)]
struct Budget {
    bytes: u64,
    members: usize,
}

/// What was found in an archive.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) inputs: Vec<Input>,
    /// Skipped files from which manifests are built.
    pub(super) passed: Vec<BuildFile>,
    /// Members that are not read, with the reason.
    pub(super) unreadable: Vec<(PathBuf, String)>,
}

/// Returns whether a file is an archive, by its name.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns the inputs in an archive. `path` is its name in messages.
///
/// # Errors
/// It cannot be read, is no archive, exceeds a limit, or has a member outside of it.
pub(super) fn inputs(path: &Path, canonical: &Path, view: &View<'_>, charts: &mut Charts) -> Result<Found, String> {
    let limit = Limits::default().bytes as u64;
    let opened = open_file(canonical).map_err(|error| describe(&error))?;
    let (file, metadata) = opened.ok_or("it is not a file")?;
    if metadata.len() > limit {
        return Err(format!("it has {} bytes; the limit is {limit}", metadata.len()));
    }
    let mut members = Vec::new();
    read(file, Path::new(""), 0, &mut { BUDGET }, &mut members)?;
    Ok(selected(path, canonical, members, view, charts))
}

/// Reads the files of an archive. Their names begin with `above`.
fn read(
    packed: impl Read,
    above: &Path,
    depth: usize,
    budget: &mut Budget,
    out: &mut Vec<(PathBuf, Member)>,
) -> Result<(), String> {
    let mut counted = Counted { source: flate2::read::MultiGzDecoder::new(packed), left: budget.bytes };
    let mut archive = tar::Archive::new(&mut counted);
    let mut packed_charts = Vec::new();
    let broken = |error: io::Error| format!("it is not a proper archive (tar.gz): {}", describe(&error));
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        budget.members =
            budget.members.checked_sub(1).ok_or_else(|| format!("it has more than {} members", BUDGET.members))?;
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind == tar::EntryType::XGlobalHeader {
            continue;
        }
        let name = entry.path().map_err(broken)?.into_owned();
        let name = above.join(inside(&name)?);
        if !kind.is_file() {
            out.push((name, Member::Other));
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(broken)?;
        if is_archive(&name) && name.parent().is_some_and(|folder| folder.ends_with(CHARTS)) {
            packed_charts.push((name, bytes));
        } else {
            out.push((name, Member::File(Bytes::from(bytes))));
        }
    }
    budget.bytes = counted.left;
    for (name, bytes) in packed_charts {
        if depth + 1 >= MAX_DEPTH {
            return Err(format!("archives nest more than {MAX_DEPTH} levels: {}", name.display()));
        }
        read(&bytes[..], &name, depth + 1, budget, out).map_err(|why| format!("{}: {why}", name.display()))?;
    }
    Ok(())
}

/// A member of an archive.
enum Member {
    File(Bytes),
    /// A link or a device.
    Other,
}

/// Returns a name without `.`.
///
/// # Errors
/// It leads out of the archive, or is too long: each folder in it is asked whether it is read.
fn inside(name: &Path) -> Result<PathBuf, String> {
    if name.as_os_str().len() > MAX_NAME || name.components().count() > MAX_FOLDERS {
        let beginning: String = name.to_string_lossy().chars().take(60).collect();
        let limits = format!("{MAX_NAME} bytes or {MAX_FOLDERS} folders");
        return Err(format!("it has a member whose name has more than {limits}: {beginning:?}…"));
    }
    let mut out = PathBuf::new();
    for part in name.components() {
        match part {
            Component::Normal(part) => out.push(part),
            Component::CurDir => {}
            _ => return Err(format!("it has a member outside of it: {:?}", name.to_string_lossy())),
        }
    }
    // Windows separates names by `\`, too.
    if name.to_string_lossy().contains(['\\', '\0']) {
        return Err(format!("it has a member whose name no system agrees on: {:?}", name.to_string_lossy()));
    }
    Ok(out)
}

/// Returns the members that are read, as those of a folder are.
fn selected(
    path: &Path,
    canonical: &Path,
    members: Vec<(PathBuf, Member)>,
    view: &View<'_>,
    charts: &mut Charts,
) -> Found {
    let of_charts: BTreeSet<PathBuf> = members
        .iter()
        .filter(|(name, _)| name.file_name().is_some_and(|name| name == CHART))
        .filter_map(|(name, _)| name.parent().map(Path::to_owned))
        .collect();
    let mut found = Found::default();
    let mut seen = BTreeSet::new();
    for (name, member) in members {
        let place = canonical.join(&name);
        let mut folders = name.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        let is_taken = view.takes(&place, false, None)
            && folders.all(|folder| is_archive(folder) || view.takes(&canonical.join(folder), true, None));
        if !is_taken {
            continue;
        }
        if !seen.insert(name.clone()) {
            found.unreadable.push((path.join(&name), "the archive has several members with this name".to_owned()));
            continue;
        }
        let Member::File(bytes) = member else {
            let why = "it is a link or a device; of an archive, only files are read".to_owned();
            found.unreadable.push((path.join(&name), why));
            continue;
        };
        let templates =
            name.ancestors().skip(1).filter(|folder| folder.file_name().is_some_and(|name| name == TEMPLATES));
        let chart = templates.filter_map(Path::parent).filter(|chart| of_charts.contains(*chart)).last();
        if chart.is_some() && memmem::find(&bytes, b"{{").is_some() {
            charts.add(path, place);
            continue;
        }
        let text = name.file_name().unwrap_or_default().to_string_lossy();
        let is_small = bytes.len() as u64 <= LARGEST;
        if let Some(kind) =
            Some(()).filter(|()| is_small).and_then(|()| BuildFile::of_file(&text, &bytes, Limits::default()))
        {
            found.passed.push(kind);
            continue;
        }
        let source = Source::Memory(path.join(&name), bytes);
        found.inputs.push(Input { source, canonical: place, named: false, in_chart: chart.is_some() });
    }
    found
}

/// Reads at most `left` bytes; more are an error.
struct Counted<R> {
    source: R,
    left: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.left = self
            .left
            .checked_sub(count as u64)
            .ok_or_else(|| io::Error::other(format!("uncompressed it has more than {} bytes", BUDGET.bytes)))?;
        Ok(count)
    }
}
