//! The project's own scenarios with their recorded answers. Needs only the checkout.

use crate::Verdict;
use crate::generated::replay_lines;
use kubeshape_smd::value::Compat;
use serde_json::Value as Json;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The recorded answers.
#[must_use]
pub fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/recorded/smd.ndjson.gz")
}

/// Replays the answers.
///
/// # Errors
/// They cannot be read.
pub fn replay(report: &mut dyn FnMut(&str, &str, Verdict, &Json)) -> Result<(), String> {
    let file = file();
    let packed = std::fs::File::open(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    replay_lines(BufReader::new(flate2::read::MultiGzDecoder::new(packed)), "scenarios", Compat::default(), report)
}
