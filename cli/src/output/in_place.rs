//! Edits files of the user.

use super::Stage;
use crate::error::describe;
use crate::input::{Gathered, Input};
use std::fs;

/// Returns why an input must not be edited: a link in a folder leads to it.
pub(crate) fn is_outside(input: &Input, gathered: &Gathered) -> Option<&'static str> {
    let is_inside = input.named || gathered.roots.iter().any(|root| input.canonical.starts_with(&root.canonical));
    (!is_inside).then_some("a link leads to it, out of the folder on the command line")
}

/// Writes a file whose bytes must still be those that were read.
///
/// # Errors
/// Returns why it is not written. It is unchanged.
pub(crate) fn edit(stage: &Stage, input: &Input, old: &[u8], new: &[u8]) -> Result<(), String> {
    let path = input.path();
    let metadata = fs::metadata(path).map_err(|error| describe(&error))?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if metadata.permissions().readonly() {
        return Err("it is read-only".to_owned());
    }
    let staged = stage.write_named(path, new).map_err(|error| error.to_string())?;
    let is_changed = !fs::read(path).is_ok_and(|bytes| bytes == old);
    if is_changed {
        stage.discard(staged);
        return Err("it was changed after it was read".to_owned());
    }
    stage.finish(staged).map_err(|error| error.to_string())
}
