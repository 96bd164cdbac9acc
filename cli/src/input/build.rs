//! Files from which manifests are built, and that no server receives: kustomizations, patches, values of charts.

use kubeshape_input::{BuildFile, Code, Finding, KUSTOMIZATIONS, Limits, listed, read};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Larger files are always read as manifests, in bytes.
pub(super) const LARGEST: u64 = 64 << 10;

/// The suffixes of such files.
const ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];

/// The files that kustomizations list as something else than resources, by path without links.
#[derive(Debug, Default)]
pub(super) struct Listed(BTreeMap<PathBuf, BuildFile>);

impl Listed {
    /// Adds the files that the kustomization of a folder lists, if it has one.
    pub(super) fn enter(&mut self, folder: &Path, has: impl Fn(&str) -> bool) {
        let Some(name) = KUSTOMIZATIONS.into_iter().find(|name| has(name)) else { return };
        let Some(bytes) = small(&folder.join(name)) else { return };
        let input = read(name, &bytes, Limits::default());
        for (path, kind) in input.documents.iter().flat_map(|document| listed(document.root())) {
            // Inline patches and addresses are not files.
            if let Ok(canonical) = folder.join(path).canonicalize() {
                self.0.insert(canonical, kind);
            }
        }
    }

    /// Returns the kind of a file in a folder; `None` if it may contain manifests.
    pub(super) fn kind(&self, path: &Path, canonical: &Path) -> Option<BuildFile> {
        if let Some(kind) = self.0.get(canonical) {
            return Some(*kind);
        }
        let name = path.file_name()?.to_string_lossy();
        if !ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            return None;
        }
        BuildFile::of_file(&name, &small(path)?, Limits::default())
    }
}

/// Returns the bytes of a small file.
fn small(path: &Path) -> Option<Vec<u8>> {
    // An unreadable file is reported by the command that reads it.
    let is_small = fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LARGEST);
    if is_small { fs::read(path).ok() } else { None }
}

/// Returns the finding about the skipped files of a folder.
pub(crate) fn finding(folder: &str, kinds: impl IntoIterator<Item = BuildFile>) -> Option<Finding> {
    let mut counts: BTreeMap<BuildFile, usize> = BTreeMap::new();
    for kind in kinds {
        *counts.entry(kind).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(kind, count)| {
            let (one, several) = kind.names();
            format!("{count} {}", if count == 1 { one } else { several })
        })
        .collect();
    let detail = match parts.split_last()? {
        (last, []) => last.clone(),
        (last, others) => format!("{} and {last}", others.join(", ")),
    };
    Some(Finding::new(Code::BuildFiles, detail).in_input(folder))
}
