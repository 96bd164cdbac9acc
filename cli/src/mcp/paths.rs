//! Files that a program may name.

use crate::input::Reader;
use kubeshape_input::Limits;
use std::path::Path;

/// The maximum size of a file, in bytes.
const LARGEST: usize = 16 << 20;

/// Returns a file of the current folder.
///
/// # Errors
/// It is elsewhere, also by a link, or cannot be read.
pub(super) fn read(path: &str) -> Result<Vec<u8>, String> {
    let outside = || format!("{path} is not a file in the current folder");
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).map_err(|_| outside())?;
    let canonical = Path::new(path).canonicalize().map_err(|_| outside())?;
    if !canonical.starts_with(&here) {
        return Err(outside());
    }
    let limits = Limits { bytes: LARGEST, ..Limits::default() };
    match Reader::default().read_file(&canonical, &limits) {
        Ok(Some(bytes)) => Ok(bytes.to_vec()),
        Ok(None) => Err(outside()),
        Err(finding) => Err(finding.in_input(path).to_string()),
    }
}
