//! Files for results: one per input.

use crate::error::Fatal;
use crate::input::Gathered;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the file of each input's result for `-o`; an input without one goes to standard output. `does` is what the
/// command does with inputs, in one word.
///
/// # Errors
/// Results would have the same file, or there are several and no folder.
pub(crate) fn targets<'g>(
    output: Option<&Path>,
    gathered: &'g Gathered,
    does: &str,
) -> Result<BTreeMap<&'g Path, PathBuf>, Fatal> {
    let Some(output) = output else {
        return match gathered.inputs.len() {
            0 | 1 => Ok(BTreeMap::new()),
            several => {
                Err(Fatal::Usage(format!("{several} documents need a folder for their results: give -o FOLDER")))
            }
        };
    };
    let is_named_so = output.as_os_str().as_encoded_bytes().ends_with(b"/");
    let is_folder = is_named_so || output.is_dir() || !gathered.roots.is_empty() || gathered.inputs.len() > 1;
    if output.as_os_str() == "-" {
        return Err(Fatal::Usage("standard output is the default: leave -o out".to_owned()));
    }
    let mut out = BTreeMap::new();
    let mut taken: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    for input in &gathered.inputs {
        let path = input.path();
        if !is_folder {
            out.insert(path, output.to_owned());
            continue;
        }
        let root = gathered.roots.iter().find_map(|root| path.strip_prefix(&root.path).ok());
        let name = root.or_else(|| path.file_name().map(Path::new)).unwrap_or(path);
        let target = output.join(name);
        if let Some(other) = taken.insert(target.clone(), path) {
            let message = format!(
                "{} and {} would have one result, {}; {does} them in two runs",
                other.display(),
                path.display(),
                target.display()
            );
            return Err(Fatal::Usage(message));
        }
        out.insert(path, target);
    }
    Ok(out)
}
