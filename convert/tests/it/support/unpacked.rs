//! Reads recorded files, which are compressed.

use std::error::Error;
use std::io::Read;
use std::path::Path;

/// A file's bytes, decompressed by its name.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let packed = std::fs::read(path)?;
    let mut out = Vec::new();
    match path.extension().and_then(|e| e.to_str()) {
        Some("gz") => {
            flate2::read::MultiGzDecoder::new(packed.as_slice()).read_to_end(&mut out)?;
        }
        Some("zst") => {
            ruzstd::decoding::StreamingDecoder::new(packed.as_slice())?.read_to_end(&mut out)?;
        }
        _ => return Ok(packed),
    }
    Ok(out)
}
