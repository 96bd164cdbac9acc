//! Objects that stand in files.

use super::{Filter, Reader, gather};
use crate::error::Fatal;
use kubeshape_input::{Finding, Limits};
use kubeshape_registry::Object;
use std::path::PathBuf;

/// Reads the objects of files and folders, with their positions. `tell` gets what is wrong with single ones.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn objects(
    paths: &[PathBuf],
    filter: &Filter,
    mut tell: impl FnMut(&Finding),
) -> Result<Vec<Object>, Fatal> {
    let mut out = Vec::new();
    let mut reader = Reader::default();
    for path in paths {
        let gathered = gather(std::slice::from_ref(path), None, filter);
        gathered.findings.iter().for_each(&mut tell);
        if let Some((path, message)) = gathered.unreadable.into_iter().next() {
            return Err(Fatal::Read { path, message });
        }
        for input in &gathered.inputs {
            let bytes = reader.read(input, &Limits::default());
            let bytes =
                bytes.map_err(|finding| Fatal::Read { path: input.path().to_owned(), message: finding.detail })?;
            let (objects, findings) = Object::read_all(input.name(), bytes);
            findings.iter().for_each(&mut tell);
            out.extend(objects);
        }
    }
    Ok(out)
}
