//! Reads recorded answers.
#![allow(clippy::format_push_string, clippy::format_collect)]

pub use kubeshape_conformance_cel::first_difference;
use serde::Deserialize;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Returns a file's bytes, decompressed by its name: `.gz`, `.zst` or neither.
///
/// # Errors
/// The file cannot be read or decompressed.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = fs::read(path)?;
    let mut out = Vec::new();
    match path.extension().and_then(|e| e.to_str()) {
        Some("gz") => {
            flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut out)?;
        }
        Some("zst") => {
            let mut decoder = ruzstd::decoding::StreamingDecoder::new(bytes.as_slice()).map_err(io::Error::other)?;
            decoder.read_to_end(&mut out)?;
        }
        _ => return Ok(bytes),
    }
    Ok(out)
}

/// All files below a folder, sorted by path.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { out.push(path) }
        }
    }
    out.sort();
    out
}

/// Returns where two strings first differ, with some of the contents there.
pub fn first_byte_difference(ours: &[u8], theirs: &[u8]) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let at = ours.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
    let from = at.saturating_sub(60);
    let part =
        |bytes: &[u8]| String::from_utf8_lossy(&bytes[from.min(bytes.len())..(at + 60).min(bytes.len())]).into_owned();
    Some(format!("byte {at}: …{}… theirs …{}…", part(ours), part(theirs)))
}

/// The upper-case hexadecimal SHA-512 of a document: its ETag.
pub fn etag(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha512};
    Sha512::digest(bytes).iter().map(|byte| format!("{byte:02X}")).collect()
}

/// The lower-case hexadecimal SHA-256 of bytes.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the records of a file, or none if there is no such file.
pub(crate) fn lines<T: for<'a> Deserialize<'a>>(file: &Path) -> Result<Vec<T>, String> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let text = read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let lines = text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(|error| format!("{}: {error}", file.display()))).collect()
}
